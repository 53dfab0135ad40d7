// SPDX-License-Identifier: MIT
//
// The cluster's memory: one Wishbone B3 port, single accesses and wrapping bursts of eight words (a cache line). The first word of a
// transaction is acknowledged 1 + latency cycles after the request, each further word of a burst one cycle later.
// A write happens in the cycle of its acknowledgement and as `we` says in that cycle: l.swa takes `we` back when its reservation is lost.

module ram #(
	parameter int WORDS = 1024
) (
	input  logic clk,
	input  logic rst,
	input  logic [7:0] latency,
	input  logic stb,
	input  logic we,
	input  logic [31:0] adr,
	input  logic [3:0] sel,
	input  logic [2:0] cti,
	input  logic [31:0] wdata,
	output logic [31:0] rdata,
	output logic ack
);

	localparam int A = $clog2(WORDS);

	logic [31:0] mem [WORDS] /* verilator public_flat_rw */;
	logic [7:0] waited;
	logic burst;
	logic [A-1:0] word, behind;

	assign burst = ack & stb & ~we & (cti == 3'b010);
	assign word = adr[A+1:2];
	assign behind = {word[A-1:3], word[2:0] + 3'd1};

	always_ff @(posedge clk) begin
		rdata <= mem[burst ? behind : word];
		if (ack & stb & we) begin
			if (sel[3]) mem[word][31:24] <= wdata[31:24];
			if (sel[2]) mem[word][23:16] <= wdata[23:16];
			if (sel[1]) mem[word][15:8] <= wdata[15:8];
			if (sel[0]) mem[word][7:0] <= wdata[7:0];
		end
		ack <= 1'b0;
		waited <= '0;
		if (rst)
			ack <= 1'b0;
		else if (burst)
			ack <= 1'b1;
		else if (stb & ~ack) begin
			if (waited == latency)
				ack <= 1'b1;
			else
				waited <= waited + 1'b1;
		end
	end

endmodule
