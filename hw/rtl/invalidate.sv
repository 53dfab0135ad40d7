// SPDX-License-Identifier: MIT
//
// Selective invalidation: drops the lines of an address range in the data caches of chosen cores through their snoop ports, at most one
// line every second cycle, and never in a cycle in which the bus acknowledges: that is when the bus snoops, and when a core's l.swa
// ends, which the core does not expect together with a snoop (it would lose the outcome). Started by writing a length while it is
// idle; the mask reads as 0 when it is done. A length of 0 does nothing.

module invalidate #(
	parameter int N = 4
) (
	input  logic clk,
	input  logic rst,
	input  logic set_base,		// one cycle: wdata is the first address
	input  logic set_bytes,		// one cycle: wdata is the number of bytes: start
	input  logic set_mask,		// one cycle: wdata names the cores
	input  logic [31:0] wdata,
	input  logic hold,		// the bus acknowledges in this cycle
	output logic [N-1:0] busy,	// the mask while it runs
	output logic [N-1:0] snoop,
	output logic [31:0] snoop_adr
);

	logic [31:0] base, line, end_line;
	logic [N-1:0] mask;
	logic running, rest;

	assign busy = running ? mask : '0;
	assign snoop = running & ~hold & ~rest ? mask : '0;
	assign snoop_adr = line;

	always_ff @(posedge clk) begin
		rest <= |snoop;
		if (set_base)
			base <= wdata;
		if (set_mask & ~running)
			mask <= wdata[N-1:0];
		if (rst) begin
			running <= 1'b0;
			rest <= 1'b0;
		end else if (set_bytes & ~running) begin
			running <= wdata != 0 && mask != 0;
			line <= {base[31:5], 5'd0};
			end_line <= (base + wdata - 32'd1) & ~32'd31;
		end else if (|snoop) begin
			running <= line != end_line;
			line <= line + 32'd32;
		end
	end

endmodule
