// SPDX-License-Identifier: MIT
//
// The cluster: N cores around one shared memory. 2N Wishbone masters (instructions and data of each core) share one bus under a
// round-robin arbiter; every write that the memory acknowledges is snooped by all cores. Devices as in abi/codesign.h. What leaves
// the module is for the simulator: console, exit, and what each core does.

module cluster #(
	parameter int N = 4,
	parameter logic [16*N-1:0] CFG = '0,	// of core c: bits 16 * c + 15 ... 16 * c
	parameter int WORDS = 1 << 22,
	localparam int M = 2 * N,
	localparam int MW = $clog2(M),
	localparam int W = N > 1 ? $clog2(N) : 1
) (
	input  logic clk,
	input  logic rst,
	input  logic [7:0] latency,
	input  logic [31:0] ram_bytes,		// at most 4 * WORDS
	input  logic [31:0] seed,
	input  logic [N-1:0] hold,		// the core stays in reset

	output logic char_valid,
	output logic [7:0] char_code,
	output logic exit_valid,
	output logic [15:0] exit_status,

	output logic [N-1:0] doze,
	output logic [N-1:0] gated,
	output logic [N-1:0] retired,
	output logic [N-1:0][31:0] retired_pc,
	output logic [N-1:0][31:0] retired_insn,
	output logic [N-1:0] taken,
	output logic [N-1:0][3:0] taken_vector,
	output logic [N-1:0][31:0] taken_pc,
	output logic [N-1:0][31:0] taken_insn,
	output logic [N-1:0] taken_user,
	output logic [N-1:0] mispredict,
	output logic [N-1:0] ifill,		// the core begins to fill a line of its instruction cache
	output logic [N-1:0] dfill
);

	// masters 2c: instructions, 2c + 1: data of core c
	logic [N-1:0][1:0] m_stb, m_we, m_ack, m_err;
	logic [N-1:0][1:0][31:0] m_adr, m_wdata;
	logic [N-1:0][1:0][3:0] m_sel;
	logic [N-1:0][1:0][2:0] m_cti;

	logic active, last;
	logic [MW-1:0] owner;
	logic [W-1:0] owner_core;
	logic stb, we, ack, err;
	logic [31:0] adr, wdata, rdata;
	logic [3:0] sel;
	logic [2:0] cti;

	logic [N-1:0] ipi, timer_pending, drop;
	logic [31:0] drop_adr;
	logic snoop_en;
	logic [31:0] snoop_adr;

	arbiter #(.M(M)) arb (.clk, .rst, .req(m_stb), .last, .active, .owner);

	logic [M-1:0] flat_we;
	logic [M-1:0][31:0] flat_adr, flat_wdata;
	logic [M-1:0][3:0] flat_sel;
	logic [M-1:0][2:0] flat_cti;
	assign flat_we = m_we;
	assign flat_adr = m_adr;
	assign flat_wdata = m_wdata;
	assign flat_sel = m_sel;
	assign flat_cti = m_cti;

	assign owner_core = W'(owner >> 1);
	assign stb = active;
	assign we = flat_we[owner];
	assign adr = flat_adr[owner];
	assign wdata = flat_wdata[owner];
	assign sel = flat_sel[owner];
	assign cti = flat_cti[owner];
	assign last = (ack & ((cti != 3'b010) | we)) | err;

	always_comb begin
		m_ack = '0;
		m_err = '0;
		m_ack[owner_core][owner[0]] = ack & stb;
		m_err[owner_core][owner[0]] = err & stb;
	end

	// who answers
	logic at_ram, at_uart, at_exit, at_ompic, at_perf, at_none, at_device;
	logic ram_ack, dev_ack, dev_go;
	logic [31:0] ram_rdata, ompic_rdata, console_rdata, perf_rdata;

	assign at_ram = ~adr[31] & (adr < ram_bytes);
	assign at_uart = adr[31:8] == 24'h900000;
	assign at_exit = adr[31:8] == 24'h960000;
	assign at_ompic = adr[31:12] == 20'h98000;
	assign at_perf = adr[31:16] == 16'h9900;
	assign at_device = at_uart | at_exit | at_ompic | at_perf;
	assign at_none = ~at_ram & ~at_device;
	assign dev_go = stb & at_device & ~dev_ack;

	always_ff @(posedge clk) begin
		dev_ack <= dev_go & ~rst;
		err <= stb & at_none & ~err & ~rst;
	end

	assign ack = (ram_ack & at_ram) | dev_ack;
	// the devices that were not asked answer 0
	assign rdata = at_ram ? ram_rdata : ompic_rdata | console_rdata | perf_rdata;

	ram #(.WORDS(WORDS)) memory (.clk, .rst, .latency, .stb(stb & at_ram), .we, .adr, .sel, .cti, .wdata, .rdata(ram_rdata), .ack(ram_ack));

	ompic #(.N(N)) ompic (.clk, .rst, .go(dev_go & at_ompic), .we, .adr(adr[11:0]), .wdata, .rdata(ompic_rdata), .irq(ipi));

	console console (.clk, .rst, .go_uart(dev_go & at_uart), .go_exit(dev_go & at_exit), .we, .adr, .sel, .wdata, .rdata(console_rdata),
		.char_valid, .char_code, .exit_valid, .exit_status);

	assign snoop_en = ram_ack & at_ram & stb & we;
	assign snoop_adr = {adr[31:2], 2'b00};

	logic [N-1:0] dropping;
	logic inval_write;
	assign inval_write = dev_go & at_perf & we & (adr[15:6] == 10'd0);
	invalidate #(.N(N)) inval (.clk, .rst, .set_base(inval_write & (adr[5:2] == 4'hb)), .set_bytes(inval_write & (adr[5:2] == 4'hc)),
		.set_mask(inval_write & (adr[5:2] == 4'hd)), .wdata, .hold(ack), .busy(dropping), .snoop(drop), .snoop_adr(drop_adr));

	// counters
	logic [N-1:0][14:0] events;
	logic [N-1:0][8:0] toggles;
	logic [N-1:0] filling_i, filling_d;

	perf #(.N(N)) perf (.clk, .rst, .go(dev_go & at_perf & ~we), .adr, .core(8'(owner_core)), .ram_bytes, .latency, .seed,
		.waking({timer_pending[owner_core], 29'd0, ipi[owner_core], 1'b0}), .dropping, .event_i(events), .toggles, .rdata(perf_rdata));

	for (genvar c = 0; c < N; c++) begin : cores
		logic load, store, branch;
		logic [5:0] op;

		core #(.CFG(CFG[16*c +: 16])) core (
			.clk, .rst(rst | hold[c]), .number(32'(c)), .cores(32'(N)), .irq({30'd0, ipi[c], 1'b0}),
			.wb_stb(m_stb[c]), .wb_we(m_we[c]), .wb_adr(m_adr[c]), .wb_sel(m_sel[c]), .wb_cti(m_cti[c]), .wb_wdata(m_wdata[c]),
			.wb_rdata(rdata), .wb_ack(m_ack[c]), .wb_err(m_err[c]),
			.snoop_en, .snoop_adr, .drop_en(drop[c]), .drop_adr,
			.doze(doze[c]), .gated(gated[c]), .timer_pending(timer_pending[c]),
			.retired(retired[c]), .retired_pc(retired_pc[c]), .retired_insn(retired_insn[c]),
			.taken(taken[c]), .taken_vector(taken_vector[c]), .taken_pc(taken_pc[c]), .taken_insn(taken_insn[c]), .taken_user(taken_user[c]),
			.mispredict(mispredict[c]), .toggles(toggles[c])
		);

		// a burst begins: a line is filled
		always_ff @(posedge clk) begin
			filling_i[c] <= m_stb[c][0];
			filling_d[c] <= m_stb[c][1] & (m_cti[c][1] == 3'b010);
		end
		assign ifill[c] = m_stb[c][0] & (m_cti[c][0] == 3'b010) & ~filling_i[c];
		assign dfill[c] = m_stb[c][1] & (m_cti[c][1] == 3'b010) & ~m_we[c][1] & ~filling_d[c];

		assign op = retired_insn[c][31:26];
		assign load = (op == 6'h1b) | (op >= 6'h20 & op <= 6'h26);
		assign store = op >= 6'h33 & op <= 6'h37;
		assign branch = (op == 6'h03) | (op == 6'h04);

		assign events[c] = {
			gated[c],
			taken[c] & ((taken_vector[c] == 4'h9) | (taken_vector[c] == 4'ha)),
			taken[c],
			(m_stb[c][0] & ~(active & (owner == MW'(2*c)))) | (m_stb[c][1] & ~(active & (owner == MW'(2*c + 1)))),
			dfill[c],
			retired[c] & branch,
			doze[c],
			active & last & (owner_core == W'(c)),
			retired[c] & store,
			retired[c] & load,
			~retired[c] & ~doze[c],
			mispredict[c],
			ifill[c],
			retired[c],
			1'b1
		};
	end

endmodule
