// SPDX-License-Identifier: MIT
//
// Several equal clusters on a line: each with its own memory, network interface and two routers (requests, replies), a link to each neighbour.
// What leaves the module is for the simulator, cluster by cluster.

module chip #(
	parameter int CLUSTERS = 2,
	parameter int N = 4,
	parameter logic [16*N-1:0] CFG = '0,	// of core c of every cluster: bits 16 * c + 15 ... 16 * c
	parameter int WORDS = 1 << 22,
	localparam int T = CLUSTERS * N
) (
	input  logic clk,
	input  logic rst,
	input  logic [7:0] latency,
	input  logic [31:0] ram_bytes,
	input  logic [31:0] own_bytes,
	input  logic [31:0] noc_at,
	input  logic [31:0] window_bytes,
	input  logic [31:0] seed,
	input  logic [T-1:0] hold,

	output logic [CLUSTERS-1:0] char_valid,
	output logic [8*CLUSTERS-1:0] char_code,
	output logic [CLUSTERS-1:0] exit_valid,
	output logic [16*CLUSTERS-1:0] exit_status,
	output logic [CLUSTERS-1:0] flits,	// requests that leave a cluster

	output logic [T-1:0] doze,
	output logic [T-1:0] gated,
	output logic [T-1:0] retired,
	output logic [T-1:0][31:0] retired_pc,
	output logic [T-1:0][31:0] retired_insn,
	output logic [T-1:0] taken,
	output logic [T-1:0][3:0] taken_vector,
	output logic [T-1:0][31:0] taken_pc,
	output logic [T-1:0][31:0] taken_insn,
	output logic [T-1:0] taken_user,
	output logic [T-1:0] mispredict,
	output logic [T-1:0] ifill,
	output logic [T-1:0] dfill
);

	// link l lies between the clusters l - 1 and l; up towards higher numbers. The outermost ones lead nowhere.
	logic [CLUSTERS:0][1:0] up_valid, up_ready, down_valid, down_ready;
	logic [CLUSTERS:0][1:0][32:0] up_flit, down_flit;

	assign up_valid[0] = '0;
	assign up_flit[0] = '0;
	assign up_ready[CLUSTERS] = '1;
	assign down_valid[CLUSTERS] = '0;
	assign down_flit[CLUSTERS] = '0;
	assign down_ready[0] = '1;

	for (genvar c = 0; c < CLUSTERS; c++) begin : tiles
		logic [1:0] out_valid, out_ready, in_valid, in_ready;
		logic [1:0][32:0] out_flit, in_flit;

		cluster #(.N(N), .CFG(CFG), .WORDS(WORDS), .CLUSTERS(CLUSTERS), .NUMBER(c)) tile (
			.clk, .rst, .latency, .ram_bytes, .seed, .hold(hold[N*c +: N]), .own_bytes, .noc_at, .window_bytes,
			.out_valid, .out_flit, .out_ready, .in_valid, .in_flit, .in_ready,
			.char_valid(char_valid[c]), .char_code(char_code[8*c +: 8]), .exit_valid(exit_valid[c]), .exit_status(exit_status[16*c +: 16]),
			.doze(doze[N*c +: N]), .gated(gated[N*c +: N]), .retired(retired[N*c +: N]), .retired_pc(retired_pc[N*c +: N]),
			.retired_insn(retired_insn[N*c +: N]), .taken(taken[N*c +: N]), .taken_vector(taken_vector[N*c +: N]),
			.taken_pc(taken_pc[N*c +: N]), .taken_insn(taken_insn[N*c +: N]), .taken_user(taken_user[N*c +: N]),
			.mispredict(mispredict[N*c +: N]), .ifill(ifill[N*c +: N]), .dfill(dfill[N*c +: N])
		);
		assign flits[c] = out_valid[0] & out_ready[0];

		for (genvar n = 0; n < 2; n++) begin : networks
			router #(.NUMBER(c)) router (.clk, .rst,
				.in_valid({down_valid[c+1][n], up_valid[c][n], out_valid[n]}),
				.in_flit({down_flit[c+1][n], up_flit[c][n], out_flit[n]}),
				.in_ready({down_ready[c+1][n], up_ready[c][n], out_ready[n]}),
				.out_valid({up_valid[c+1][n], down_valid[c][n], in_valid[n]}),
				.out_flit({up_flit[c+1][n], down_flit[c][n], in_flit[n]}),
				.out_ready({up_ready[c+1][n], down_ready[c][n], in_ready[n]}));
		end
	end

endmodule
