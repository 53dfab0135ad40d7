// SPDX-License-Identifier: MIT
//
// Publishing in hardware: a store to CD_PERF_DROP names lines, and ends when they are gone from the data caches of all other cores. A core's
// stores leave in order, so what it stores next finds no reader with an older copy; nobody waits but that store. The word: address of
// the first line, and in the five low bits how many follow it. CD_PERF_DROP_OWN takes them from the storing core's own cache, in front
// of an l.lwa, and leaves the reservations of others alone. One line every second cycle, while the store keeps the bus: so no core's
// l.swa ends meanwhile (see invalidate.sv).

module dropper #(
	parameter int N = 4,
	localparam int W = N > 1 ? $clog2(N) : 1
) (
	input  logic clk,
	input  logic rst,
	input  logic go,		// the store is on the bus and not yet acknowledged
	input  logic [W-1:0] who,	// the core that stores
	input  logic own,		// only from its own cache
	input  logic [31:0] wdata,
	output logic ack,		// one cycle
	output logic [N-1:0] snoop,
	output logic [31:0] snoop_adr
);

	logic running, rest;
	logic [26:0] line;
	logic [4:0] left;

	assign snoop = ~running | rest ? '0 : own ? N'(1) << who : ~(N'(1) << who);
	assign snoop_adr = {line, 5'd0};

	always_ff @(posedge clk) begin
		ack <= 1'b0;
		rest <= ~rest;
		if (rst)
			running <= 1'b0;
		else if (~running & go) begin
			running <= 1'b1;
			rest <= 1'b1;
			{line, left} <= wdata;
		end else if (running & ~rest) begin
			line <= line + 1'b1;
			left <= left - 1'b1;
			running <= left != 0;
			ack <= left == 0;
		end
	end

endmodule
