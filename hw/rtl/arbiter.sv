// SPDX-License-Identifier: MIT
//
// Round-robin arbiter over M masters. The owner keeps the bus until the cycle in which `last` says that its transaction ends, or until
// it takes its request back. A free bus is granted in the same cycle, to the next requester behind the last owner:
// a master that keeps its request waits for at most M - 1 transactions of others.

module arbiter #(
	parameter int M = 2,
	localparam int W = M > 1 ? $clog2(M) : 1
) (
	input  logic clk,
	input  logic rst,
	input  logic [M-1:0] req,
	input  logic last,
	output logic active,		// somebody owns the bus in this cycle
	output logic [W-1:0] owner
);

	logic busy;
	logic [W-1:0] held;		// the owner while busy, the last owner otherwise

	// requests rotated so that bit 0 is the master behind the last owner; the lowest set bit is next
	logic [2*M-1:0] twice;
	logic [M-1:0] rotated;
	logic [W:0] next;

	assign twice = {req, req} >> (held + 1'b1);
	assign rotated = twice[M-1:0];

	always_comb begin
		next = '0;
		for (int i = M - 1; i >= 0; i--)
			if (rotated[i])
				next = (W+1)'(i);
		next = next + (W+1)'(held) + 1'b1;
		if (next >= (W+1)'(M))
			next = next - (W+1)'(M);
	end

	assign active = busy ? req[held] : |req;
	assign owner = busy ? held : next[W-1:0];

	always_ff @(posedge clk)
		if (rst) begin
			busy <= 1'b0;
			held <= W'(M - 1);
		end else begin
			busy <= active & ~last;
			if (active)
				held <= owner;
		end

endmodule
