// SPDX-License-Identifier: MIT
//
// A router of a line of clusters: ports 0 local, 1 towards lower numbers, 2 towards higher ones. Packets are worms: the first flit names the
// destination in its upper six bits, the flit with bit 32 set is the last, and a packet keeps its output until then. Each input holds up
// to DEPTH flits. An output serves its inputs in turn, so every packet advances; packets with the same way keep their order.

module router #(
	parameter int NUMBER = 0,
	parameter int DEPTH = 4
) (
	input  logic clk,
	input  logic rst,
	input  logic [2:0] in_valid,
	input  logic [2:0][32:0] in_flit,
	output logic [2:0] in_ready,
	output logic [2:0] out_valid,
	output logic [2:0][32:0] out_flit,
	input  logic [2:0] out_ready
);

	localparam int A = $clog2(DEPTH);

	logic [2:0] there;		// the input has a flit
	logic [2:0][32:0] first;
	logic [2:0][1:0] wants;		// and it goes there
	logic [2:0] taken;

	for (genvar i = 0; i < 3; i++) begin : inputs
		logic [32:0] flit [DEPTH];
		logic [A:0] put, got;
		logic middle;		// a packet
		logic [1:0] way;	// of that
		logic [5:0] dest;

		assign in_ready[i] = (A+1)'(put - got) != (A+1)'(DEPTH);
		assign there[i] = put != got;
		assign first[i] = flit[got[A-1:0]];
		assign dest = first[i][31:26];
		assign wants[i] = middle ? way : dest == 6'(NUMBER) ? 2'd0 : dest > 6'(NUMBER) ? 2'd2 : 2'd1;

		always_ff @(posedge clk) begin
			if (in_valid[i] & in_ready[i]) begin
				flit[put[A-1:0]] <= in_flit[i];
				put <= put + 1'b1;
			end
			if (taken[i]) begin
				got <= got + 1'b1;
				middle <= ~first[i][32];
				way <= wants[i];
			end
			if (rst) begin
				put <= '0;
				got <= '0;
				middle <= 1'b0;
			end
		end
	end

	logic [2:0][2:0] takes;		// output, input

	for (genvar o = 0; o < 3; o++) begin : outputs
		logic [2:0] ask;
		logic active, moves;
		logic [1:0] owner;

		for (genvar i = 0; i < 3; i++) begin : asks
			assign ask[i] = there[i] & (wants[i] == 2'(o));
			assign takes[o][i] = moves & (owner == 2'(i));
		end

		// an input whose packet has begun keeps the output although its next flit is not there yet
		logic [2:0] keep;
		for (genvar i = 0; i < 3; i++) begin : keeps
			assign keep[i] = ask[i] | (inputs[i].middle & (inputs[i].way == 2'(o)));
		end

		arbiter #(.M(3)) arb (.clk, .rst, .req(keep), .last(moves & first[owner][32]), .active, .owner);

		assign out_valid[o] = active & there[owner] & ask[owner];
		assign out_flit[o] = first[owner];
		assign moves = out_valid[o] & out_ready[o];
	end

	assign taken = takes[0] | takes[1] | takes[2];

endmodule
