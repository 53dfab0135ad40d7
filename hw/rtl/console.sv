// SPDX-License-Identifier: MIT
//
// Console and end of the run. The console is the part of a 16550 that polling output needs: byte register 0 sends, register 5 (line
// status) always says that there is room; nothing ever arrives. The exit register takes a word: 0x5555 ends with status 0,
// STATUS << 16 | 0x3333 with STATUS. Both only tell the simulator.

module console (
	input  logic clk,
	input  logic rst,
	input  logic go_uart,		// one cycle per access
	input  logic go_exit,
	input  logic we,
	input  logic [31:0] adr,
	input  logic [3:0] sel,
	input  logic [31:0] wdata,
	output logic [31:0] rdata,	// one cycle later
	output logic char_valid,
	output logic [7:0] char_code,
	output logic exit_valid,
	output logic [15:0] exit_status
);

	logic word0, word1;

	assign word0 = adr[7:2] == 6'd0;
	assign word1 = adr[7:2] == 6'd1;

	always_ff @(posedge clk) begin
		rdata <= go_uart & word1 ? 32'h00600000 : '0;
		char_valid <= go_uart & we & word0 & sel[3] & ~rst;
		char_code <= wdata[31:24];
		if (rst)
			exit_valid <= 1'b0;
		else if (~exit_valid & go_exit & we & (adr[7:2] == 6'd0) & ((wdata[15:0] == 16'h5555) | (wdata[15:0] == 16'h3333))) begin
			exit_valid <= 1'b1;
			exit_status <= wdata[15:0] == 16'h5555 ? 16'd0 : wdata[31:16];
		end
	end

endmodule
