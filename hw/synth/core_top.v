// SPDX-License-Identifier: MIT
//
// One core as the synthesiser sees it: the public mor1kx core with every port of it led out, so that nothing is optimised away
// because nobody looks at it. The parameters of the configuration are in core_params.vh, which tools/codesign/synth.py writes.
module core_top(
	input clk, input rst,
	output [31:0] i_adr, output i_stb, output i_cyc, output [3:0] i_sel, output i_we, output [2:0] i_cti, output [1:0] i_bte,
	output [31:0] i_dat_w, input i_err, input i_ack, input [31:0] i_dat_r, input i_rty,
	output [31:0] d_adr, output d_stb, output d_cyc, output [3:0] d_sel, output d_we, output [2:0] d_cti, output [1:0] d_bte,
	output [31:0] d_dat_w, input d_err, input d_ack, input [31:0] d_dat_r, input d_rty,
	input [31:0] irq, input [31:0] core_id, input [31:0] core_count, input [31:0] snoop_adr, input snoop_en,
	output trace_valid, output [31:0] trace_pc, output trace_jb, output trace_jal, output trace_jr, output [31:0] trace_target,
	output [31:0] trace_insn, output [31:0] trace_data, output [4:0] trace_reg, output trace_wben);

	mor1kx #(
`include "core_params.vh"
	) core(
		.clk(clk), .rst(rst),
		.iwbm_adr_o(i_adr), .iwbm_stb_o(i_stb), .iwbm_cyc_o(i_cyc), .iwbm_sel_o(i_sel), .iwbm_we_o(i_we), .iwbm_cti_o(i_cti),
		.iwbm_bte_o(i_bte), .iwbm_dat_o(i_dat_w), .iwbm_err_i(i_err), .iwbm_ack_i(i_ack), .iwbm_dat_i(i_dat_r), .iwbm_rty_i(i_rty),
		.dwbm_adr_o(d_adr), .dwbm_stb_o(d_stb), .dwbm_cyc_o(d_cyc), .dwbm_sel_o(d_sel), .dwbm_we_o(d_we), .dwbm_cti_o(d_cti),
		.dwbm_bte_o(d_bte), .dwbm_dat_o(d_dat_w), .dwbm_err_i(d_err), .dwbm_ack_i(d_ack), .dwbm_dat_i(d_dat_r), .dwbm_rty_i(d_rty),
		.irq_i(irq),
		.du_addr_i(16'b0), .du_stb_i(1'b0), .du_dat_i(32'b0), .du_we_i(1'b0), .du_dat_o(), .du_ack_o(), .du_stall_i(1'b0), .du_stall_o(),
		.traceport_exec_valid_o(trace_valid), .traceport_exec_pc_o(trace_pc), .traceport_exec_jb_o(trace_jb),
		.traceport_exec_jal_o(trace_jal), .traceport_exec_jr_o(trace_jr), .traceport_exec_jbtarget_o(trace_target),
		.traceport_exec_insn_o(trace_insn), .traceport_exec_wbdata_o(trace_data), .traceport_exec_wbreg_o(trace_reg),
		.traceport_exec_wben_o(trace_wben),
		.multicore_coreid_i(core_id), .multicore_numcores_i(core_count), .snoop_adr_i(snoop_adr), .snoop_en_i(snoop_en));
endmodule
