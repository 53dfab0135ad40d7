// SPDX-License-Identifier: MIT
//
// One core of the cluster: a mor1kx (pipeline CAPPUCCINO, taken unmodified from its package) in the configuration that CFG says, its doze state
// and clock gate, and what the outside may see of it. CFG, 16 bits: 1:0 branch predictor (0 simple, 1 saturating counter, 2 gshare),
// 2 barrel shifter, 3 divider, 4 multiplier, 5 FPU, 7:6 log2 of the ways of the 8 KB instruction cache, 8 data cache (8 KB, 2 ways, write-through),
// 9 the data cache is kept coherent by snooping, 10 TLB refill in hardware.
//
// Doze: a load from CD_PERF_WAIT is kept from the bus until an interrupt line or the tick timer is pending. The pipeline stands on
// that load meanwhile, so the clock may stop; it goes on for an instruction fetch in progress, a running tick timer, and snoops of the
// data cache. Without a data cache it goes on for one cycle when somebody stores to the word that the core has reserved.

module core #(
	parameter logic [15:0] CFG = 16'h005c,
	parameter logic [31:0] WAIT_ADR = 32'h99000028
) (
	input  logic clk,
	input  logic rst,
	input  logic [31:0] number,
	input  logic [31:0] cores,
	input  logic [31:0] irq,

	// Wishbone masters: instructions, data
	output logic [1:0] wb_stb,
	output logic [1:0] wb_we,
	output logic [1:0][31:0] wb_adr,
	output logic [1:0][3:0] wb_sel,
	output logic [1:0][2:0] wb_cti,
	output logic [1:0][31:0] wb_wdata,
	output logic wb_atomic,		// the store is that of l.swa, the load that of l.lwa
	output logic msync,		// an l.msync waits, or ends
	input  logic [31:0] wb_rdata,
	input  logic [1:0] wb_ack,
	input  logic [1:0] wb_err,

	input  logic snoop_en,		// a write on the bus
	input  logic [31:0] snoop_adr,
	input  logic drop_en,		// a line to drop from the data cache
	input  logic [31:0] drop_adr,

	output logic doze,
	output logic gated,		// the clock stands still in this cycle
	output logic timer_pending,
	output logic retired,		// an instruction, registered
	output logic [31:0] retired_pc,
	output logic [31:0] retired_insn,
	output logic taken,		// an exception, registered
	output logic [3:0] taken_vector,
	output logic [31:0] taken_pc,
	output logic [31:0] taken_insn,
	output logic taken_user,	// in user mode
	output logic mispredict,
	output logic [8:0] toggles
);

	localparam int WAYS_LOG2 = int'(CFG[7:6]);
	localparam bit HAS_DCACHE = CFG[8];
	localparam bit SNOOPED = CFG[9];

	logic gclk, on, live, enable;
	logic [2:0] settle;
	logic [31:0] iadr, idat, dadr, ddat;
	logic [3:0] isel, dsel;
	logic [2:0] icti, dcti;
	logic [1:0] ibte, dbte;
	logic istb, icyc, iwe, dstb, dcyc, dwe;
	logic trace_valid, trace_jb, trace_jal, trace_jr, trace_wben;
	logic [31:0] trace_pc, trace_insn, trace_target, trace_wbdata;
	logic [4:0] trace_wbreg;
	logic [31:0] du_dat;
	logic du_ack, du_stall;
	logic [31:0] ttmr, atomic_adr;
	logic atomic_live, entering;
	logic waiting, wake, core_snoop_en, reserved_snoop;
	logic [31:0] core_snoop_adr;

	// doze and clock gate
	assign timer_pending = ttmr[28];
	assign waiting = dcyc & dstb & ~dwe & (dadr[31:2] == WAIT_ADR[31:2]);
	assign wake = (|irq) | timer_pending;
	assign doze = waiting & ~wake & ~rst;
	assign reserved_snoop = snoop_en & atomic_live & (snoop_adr == atomic_adr);
	assign enable = rst | ~doze | (|ttmr[31:30]) | icyc | (HAS_DCACHE & core_snoop_en) | reserved_snoop | (|settle);
	assign gated = ~on;

	clockgate gate (.clk, .enable, .on, .gclk);

	always_ff @(posedge clk) begin
		live <= on;
		if (rst)
			settle <= '0;
		else if (~doze | (HAS_DCACHE & core_snoop_en))
			settle <= 3'd4;
		else if (|settle)
			settle <= settle - 1'b1;
	end

	// Without snooping of the data cache only the reservation of l.lwa is snooped.
	always_comb begin
		core_snoop_en = snoop_en & (~HAS_DCACHE | SNOOPED | reserved_snoop);
		core_snoop_adr = snoop_adr;
		if (drop_en) begin
			core_snoop_en = 1'b1;
			core_snoop_adr = drop_adr;
		end
	end

	assign wb_stb = {dcyc & dstb & ~doze, icyc & istb};
	assign wb_we = {dwe, iwe};
	assign wb_adr[0] = iadr;
	assign wb_adr[1] = dadr;
	assign wb_sel[0] = isel;
	assign wb_sel[1] = dsel;
	assign wb_cti[0] = icti;
	assign wb_cti[1] = dcti;
	assign wb_wdata[0] = idat;
	assign wb_wdata[1] = ddat;

	mor1kx #(
		.OPTION_CPU0("CAPPUCCINO"),
		.FEATURE_BRANCH_PREDICTOR(CFG[1:0] == 2'd2 ? "GSHARE" : CFG[1:0] == 2'd1 ? "SAT_COUNTER" : "SIMPLE"),
		.OPTION_SHIFTER(CFG[2] ? "BARREL" : "SERIAL"),
		.FEATURE_DIVIDER(CFG[3] ? "SERIAL" : "NONE"),
		.FEATURE_MULTIPLIER(CFG[4] ? "THREESTAGE" : "NONE"),
		.FEATURE_FPU(CFG[5] ? "ENABLED" : "NONE"),
		.FEATURE_INSTRUCTIONCACHE("ENABLED"),
		.OPTION_ICACHE_BLOCK_WIDTH(5),
		.OPTION_ICACHE_SET_WIDTH(8 - WAYS_LOG2),
		.OPTION_ICACHE_WAYS(1 << WAYS_LOG2),
		.OPTION_ICACHE_LIMIT_WIDTH(32),
		.FEATURE_IMMU("ENABLED"),
		.FEATURE_IMMU_HW_TLB_RELOAD(CFG[10] ? "ENABLED" : "NONE"),
		.FEATURE_DATACACHE(HAS_DCACHE ? "ENABLED" : "NONE"),
		.OPTION_DCACHE_BLOCK_WIDTH(5),
		.OPTION_DCACHE_SET_WIDTH(7),
		.OPTION_DCACHE_WAYS(2),
		.OPTION_DCACHE_LIMIT_WIDTH(31),
		.OPTION_DCACHE_SNOOP("ENABLED"),
		.FEATURE_DMMU("ENABLED"),
		.FEATURE_DMMU_HW_TLB_RELOAD(CFG[10] ? "ENABLED" : "NONE"),
		.OPTION_PIC_TRIGGER("LEVEL"),
		.OPTION_RF_NUM_SHADOW_GPR(1),
		.FEATURE_MULTICORE("ENABLED"),
		.FEATURE_TRACEPORT_EXEC("ENABLED"),
		.IBUS_WB_TYPE("B3_REGISTERED_FEEDBACK"),
		.DBUS_WB_TYPE("B3_REGISTERED_FEEDBACK")
	) cpu (
		.clk(gclk), .rst,
		.iwbm_adr_o(iadr), .iwbm_stb_o(istb), .iwbm_cyc_o(icyc), .iwbm_sel_o(isel), .iwbm_we_o(iwe), .iwbm_cti_o(icti),
		.iwbm_bte_o(ibte), .iwbm_dat_o(idat), .iwbm_err_i(wb_err[0]), .iwbm_ack_i(wb_ack[0]), .iwbm_dat_i(wb_rdata), .iwbm_rty_i(1'b0),
		.dwbm_adr_o(dadr), .dwbm_stb_o(dstb), .dwbm_cyc_o(dcyc), .dwbm_sel_o(dsel), .dwbm_we_o(dwe), .dwbm_cti_o(dcti),
		.dwbm_bte_o(dbte), .dwbm_dat_o(ddat), .dwbm_err_i(wb_err[1]), .dwbm_ack_i(wb_ack[1]), .dwbm_dat_i(wb_rdata), .dwbm_rty_i(1'b0),
		.irq_i(irq),
		.du_addr_i(16'd0), .du_stb_i(1'b0), .du_dat_i(32'd0), .du_we_i(1'b0), .du_dat_o(du_dat), .du_ack_o(du_ack),
		.du_stall_i(1'b0), .du_stall_o(du_stall),
		.traceport_exec_valid_o(trace_valid), .traceport_exec_pc_o(trace_pc), .traceport_exec_jb_o(trace_jb),
		.traceport_exec_jal_o(trace_jal), .traceport_exec_jr_o(trace_jr), .traceport_exec_jbtarget_o(trace_target),
		.traceport_exec_insn_o(trace_insn), .traceport_exec_wbdata_o(trace_wbdata), .traceport_exec_wbreg_o(trace_wbreg),
		.traceport_exec_wben_o(trace_wben),
		.multicore_coreid_i(number), .multicore_numcores_i(cores),
		.snoop_adr_i(core_snoop_adr), .snoop_en_i(core_snoop_en)
	);

	// What no port of the core shows is read where it is; the names are the same in versions 5.0 and 5.2 of the core.
	assign ttmr = cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_ctrl_cappuccino.spr_ttmr;
	assign atomic_adr = cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_lsu_cappuccino.atomic_addr;
	assign atomic_live = cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_lsu_cappuccino.atomic_reserve;
	assign wb_atomic = dwe ? cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_lsu_cappuccino.dbus_atomic :
		cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_lsu_cappuccino.ctrl_op_lsu_load_i &
		cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_lsu_cappuccino.ctrl_op_lsu_atomic_i;
	assign msync = cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_lsu_cappuccino.ctrl_op_msync_i;
	assign entering = cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_ctrl_cappuccino.exception_re & on;
	assign mispredict = cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.branch_mispredict_o & cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.padv_decode_o & on;
	assign taken_vector = cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_ctrl_cappuccino.exception_pc_addr[11:8];
	assign taken_pc = cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_ctrl_cappuccino.spr_epcr;
	assign taken_user = ~cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_ctrl_cappuccino.spr_esr[0];

	assign retired = trace_valid & live;
	assign retired_pc = trace_pc;
	assign retired_insn = trace_insn;

	always_ff @(posedge clk) begin
		taken <= entering & ~rst;
		if (entering)
			taken_insn <= cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.traceport_stage_exec_insn;
	end

	// activity: bits that changed at the ports since the cycle before
	logic [191:0] ports, ports_before;
	assign ports = {trace_pc, trace_insn, trace_wbdata, iadr, dadr, ddat};
	assign toggles = 9'($countones(ports ^ ports_before));
	always_ff @(posedge clk)
		ports_before <= ports;

endmodule
