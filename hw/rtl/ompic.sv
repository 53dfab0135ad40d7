// SPDX-License-Identifier: MIT
//
// Inter-core interrupts, with the registers of the OpenRISC multi-core interrupt controller: per core a control and a status word.
// Writing control of pair s with SEND makes the destination's interrupt pending with source s and 16 bits of data; writing ACK to the
// pair of a core takes its interrupt back. A word written with both sends first. Reads give the word last written, and the status.
//
// Numbers are those of the machine's cores, of which this controller has FIRST to FIRST + N - 1. A word in the pair of a core of another
// cluster comes by the network: it sends, and nothing else.

module ompic #(
	parameter int N = 4,
	parameter int FIRST = 0,
	parameter int CORES = N		// of the machine
) (
	input  logic clk,
	input  logic rst,
	input  logic go,		// one cycle per access
	input  logic we,
	input  logic [11:0] adr,
	input  logic [31:0] wdata,
	output logic [31:0] rdata,	// one cycle later
	output logic [N-1:0] irq
);

	localparam int W = N > 1 ? $clog2(N) : 1;

	logic [31:0] control [N];
	logic [N-1:0] pending;
	logic [13:0] source [N];
	logic [15:0] data [N];

	logic [8:0] from, pair;		// the same core, in the machine and here
	logic [13:0] dest;
	logic known, send, take;

	assign from = adr[11:3];
	assign pair = from - 9'(FIRST);
	assign dest = wdata[29:16] - 14'(FIRST);
	assign known = pair < 9'(N);
	assign send = go & we & (from < 9'(CORES)) & ~adr[2] & wdata[30] & (dest < 14'(N));
	assign take = go & we & known & ~adr[2] & wdata[31];
	assign irq = pending;

	always_ff @(posedge clk) begin
		rdata <= '0;
		if (go & known)
			rdata <= adr[2] ? {1'b0, pending[pair[W-1:0]], source[pair[W-1:0]], data[pair[W-1:0]]} : control[pair[W-1:0]];
		if (go & we & known & ~adr[2])
			control[pair[W-1:0]] <= wdata;
		if (send) begin
			pending[dest[W-1:0]] <= 1'b1;
			source[dest[W-1:0]] <= 14'(from);
			data[dest[W-1:0]] <= wdata[15:0];
		end
		if (take)
			pending[pair[W-1:0]] <= 1'b0;
		if (rst) begin
			pending <= '0;
			for (int i = 0; i < N; i++) begin
				control[i] <= '0;
				source[i] <= '0;
				data[i] <= '0;
			end
		end
	end

endmodule
