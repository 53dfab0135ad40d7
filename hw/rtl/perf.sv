// SPDX-License-Identifier: MIT
//
// The performance block (addresses: abi/codesign.h): what the machine is, the cycle counter, WAIT, and 16 counters of 64 bits per
// core. The counters count events that the cores and the bus hand in, one per cycle, except the last, which adds the bits that changed.

module perf #(
	parameter int N = 4,
	parameter int COUNTERS = 16
) (
	input  logic clk,
	input  logic rst,
	input  logic go,		// one cycle per access
	input  logic [31:0] adr,
	input  logic [7:0] core,	// that asks
	input  logic [31:0] ram_bytes,
	input  logic [7:0] latency,
	input  logic [31:0] seed,
	input  logic [31:0] waking,	// interrupt lines of the core that asks
	input  logic [N-1:0] dropping,	// of the invalidation
	input  logic [N-1:0][COUNTERS-2:0] event_i,
	input  logic [N-1:0][8:0] toggles,
	output logic [31:0] rdata	// one cycle later
);

	localparam int I = $clog2(N * COUNTERS);

	logic [63:0] count [N*COUNTERS] /* verilator public_flat_rd */;
	logic [63:0] cycle;
	logic [63:0] chosen;
	logic in_counters;

	assign in_counters = adr[15:12] == 4'd1 && adr[11:8] < 4'(N) && adr[7] == 1'b0;
	assign chosen = count[I'({adr[11:8], adr[6:3]})];

	always_ff @(posedge clk) begin
		rdata <= '0;
		if (go & in_counters)
			rdata <= adr[2] ? chosen[63:32] : chosen[31:0];
		else if (go & (adr[15:8] == 8'd0))
			case (adr[7:2])
			6'h00: rdata <= 32'h41544f4c;
			6'h01: rdata <= 32'd1;
			6'h02: rdata <= 32'(N);
			6'h03: rdata <= ram_bytes;
			6'h04: rdata <= cycle[31:0];
			6'h05: rdata <= cycle[63:32];
			6'h06: rdata <= 32'(latency);
			6'h07: rdata <= 32'd50000000;
			6'h08: rdata <= seed;
			6'h09: rdata <= 32'(core);
			6'h0a: rdata <= waking;
			6'h0d: rdata <= 32'(dropping);
			default: rdata <= '0;
			endcase
	end

	always_ff @(posedge clk)
		if (rst) begin
			cycle <= '0;
			for (int i = 0; i < N * COUNTERS; i++)
				count[i] <= '0;
		end else begin
			cycle <= cycle + 1'b1;
			for (int c = 0; c < N; c++) begin
				for (int e = 0; e < COUNTERS - 1; e++)
					if (event_i[c][e])
						count[c*COUNTERS + e] <= count[c*COUNTERS + e] + 1'b1;
				count[c*COUNTERS + COUNTERS - 1] <= count[c*COUNTERS + COUNTERS - 1] + 64'(toggles[c]);
			end
		end

endmodule
