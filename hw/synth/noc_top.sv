// SPDX-License-Identifier: MIT
//
// A cluster's share of the network as the synthesiser sees it: its interface and its two routers, every port led out, in the middle of
// a line of four clusters, so that no port of a router is idle.
module noc_top(
	input logic clk, input logic rst,
	input logic go, input logic beyond, input logic we, input logic atomic, input logic [3:0] sel, input logic [31:0] adr, input logic [31:0] wdata,
	input logic [2:0] who, input logic [1:0] dest, input logic [3:0] msync, output logic ack, output logic err,
	output logic [31:0] rdata, output logic hold, output logic [7:0] blocked, output logic [3:0] cancel,
	output logic bus_stb, output logic bus_we, output logic bus_lock, output logic [31:0] bus_adr, output logic [3:0] bus_sel,
	output logic [31:0] bus_wdata, input logic bus_ack, input logic bus_err, input logic [31:0] bus_rdata,
	input logic [3:0] link_in_valid, input logic [131:0] link_in, output logic [3:0] link_in_ready,
	output logic [3:0] link_out_valid, output logic [131:0] link_out, input logic [3:0] link_out_ready);

	logic [1:0] out_valid, out_ready, in_valid, in_ready;
	logic [1:0][32:0] out_flit, in_flit;

	netif #(.N(4), .CLUSTERS(4), .NUMBER(1)) ni(.clk, .rst, .go, .beyond, .we, .atomic, .sel, .adr, .wdata, .who, .dest, .msync, .ack, .err, .rdata, .hold,
		.blocked, .cancel,
		.bus_stb, .bus_we, .bus_lock, .bus_adr, .bus_sel, .bus_wdata, .bus_ack, .bus_err, .bus_rdata,
		.out_valid, .out_flit, .out_ready, .in_valid, .in_flit, .in_ready);

	for (genvar n = 0; n < 2; n++) begin : networks
		router #(.NUMBER(1)) router(.clk, .rst,
			.in_valid({link_in_valid[2*n +: 2], out_valid[n]}), .in_flit({link_in[66*n +: 66], out_flit[n]}),
			.in_ready({link_in_ready[2*n +: 2], out_ready[n]}),
			.out_valid({link_out_valid[2*n +: 2], in_valid[n]}), .out_flit({link_out[66*n +: 66], in_flit[n]}),
			.out_ready({link_out_ready[2*n +: 2], in_ready[n]}));
	end
endmodule
