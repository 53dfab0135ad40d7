// SPDX-License-Identifier: MIT
//
// The cluster: N cores around one shared memory. 2N Wishbone masters (instructions and data of each core) share one bus under a
// round-robin arbiter; every write that the memory acknowledges is snooped by all cores. Devices as in abi/codesign.h. What leaves
// the module is for the simulator: console, exit, and what each core does. With CLUSTERS > 1 it is one of several behind a network: a
// network interface answers for the windows of the others, and is one more master for what they ask of this one (netif.sv, chip.sv).

module cluster #(
	parameter int N = 4,
	parameter logic [16*N-1:0] CFG = '0,	// of core c: bits 16 * c + 15 ... 16 * c
	parameter int WORDS = 1 << 22,
	parameter int CLUSTERS = 1,
	parameter int NUMBER = 0,		// of this cluster
	localparam bit NET = CLUSTERS > 1,
	localparam int FIRST = NUMBER * N,	// number of its first core
	localparam int M = 2 * N + int'(NET),
	localparam int MW = $clog2(M),
	localparam int W = N > 1 ? $clog2(N) : 1
) (
	input  logic clk,
	input  logic rst,
	input  logic [7:0] latency,
	input  logic [31:0] ram_bytes,		// at most 4 * WORDS
	input  logic [31:0] seed,
	input  logic [N-1:0] hold,		// the core stays in reset
	// with a network: bytes of a cluster's own memory, which lies at NUMBER times that; the windows of all clusters, bytes of one
	input  logic [31:0] own_bytes,
	input  logic [31:0] noc_at,
	input  logic [31:0] window_bytes,
	output logic [1:0] out_valid,		// packets: 0 requests, 1 replies
	output logic [1:0][32:0] out_flit,
	input  logic [1:0] out_ready,
	input  logic [1:0] in_valid,
	input  logic [1:0][32:0] in_flit,
	output logic [1:0] in_ready,

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
	logic [N-1:0] m_atomic, m_msync;
	logic [N-1:0][1:0][31:0] m_adr, m_wdata;
	logic [N-1:0][1:0][3:0] m_sel;
	logic [N-1:0][1:0][2:0] m_cti;

	logic active, last;
	logic [MW-1:0] owner;
	logic [W-1:0] owner_core;
	logic stb, we, ack, err, none_err;
	logic [31:0] adr, wdata, rdata;
	logic [3:0] sel;
	logic [2:0] cti;

	logic [N-1:0] ipi, timer_pending, drop;
	logic [31:0] drop_adr;
	logic snoop_en;
	logic [31:0] snoop_adr;

	// the network's master is the last one
	logic net_stb, net_we, net_lock, by_net, net_hold;
	logic [31:0] net_adr, net_wdata;
	logic [3:0] net_sel;
	logic [2*N-1:0] blocked;
	logic [M-1:0] req;

	arbiter #(.M(M)) arb (.clk, .rst, .req, .last(last & ~(by_net & net_lock)), .active, .owner);

	logic [M-1:0] flat_we;
	logic [M-1:0][31:0] flat_adr, flat_wdata;
	logic [M-1:0][3:0] flat_sel;
	logic [M-1:0][2:0] flat_cti;
	assign req = M'({net_stb, m_stb & ~blocked});
	assign flat_we = M'({net_we, m_we});
	assign flat_adr = (32*M)'({net_adr, m_adr});
	assign flat_wdata = (32*M)'({net_wdata, m_wdata});
	assign flat_sel = (4*M)'({net_sel, m_sel});
	assign flat_cti = (3*M)'({3'd0, m_cti});
	assign by_net = NET & (owner == MW'(2 * N));

	assign owner_core = W'(owner >> 1);
	assign stb = active & ~net_hold;
	assign we = flat_we[owner];
	assign adr = flat_adr[owner];
	assign wdata = flat_wdata[owner];
	assign sel = flat_sel[owner];
	assign cti = flat_cti[owner];
	assign last = (ack & ((cti != 3'b010) | we)) | err;

	always_comb begin
		m_ack = '0;
		m_err = '0;
		m_ack[owner_core][owner[0]] = ack & stb & ~by_net;
		m_err[owner_core][owner[0]] = err & stb & ~by_net;
	end

	// who answers
	logic at_ram, at_uart, at_exit, at_ompic, at_perf, at_none, at_device, at_net, at_drop;
	logic ram_ack, dev_ack, dev_go, net_ack, net_err, drop_ack;
	logic [31:0] ram_rdata, ompic_rdata, console_rdata, perf_rdata, net_rdata;

	assign at_ram = ~adr[31] & (adr < ram_bytes) & here;
	assign at_uart = adr[31:8] == 24'h900000;
	assign at_exit = adr[31:8] == 24'h960000;
	assign at_ompic = adr[31:12] == 20'h98000;
	assign at_perf = adr[31:16] == 16'h9900;
	assign at_device = at_uart | at_exit | at_ompic | at_perf;
	assign at_none = ~at_ram & ~at_device & ~at_net;
	assign at_drop = at_perf & we & (adr[15:3] == 13'h007);
	assign dev_go = stb & at_device & ~dev_ack & ~at_drop & ~at_net;

	always_ff @(posedge clk) begin
		dev_ack <= dev_go & ~rst;
		none_err <= stb & at_none & ~none_err & ~rst;
	end

	assign ack = (ram_ack & at_ram) | dev_ack | drop_ack | net_ack;
	assign err = none_err | net_err;
	// the devices that were not asked answer 0
	assign rdata = at_ram ? ram_rdata : at_net ? net_rdata : ompic_rdata | console_rdata | perf_rdata;

	// which of the memory's addresses are this cluster's, and what is beyond the network
	logic here, at_far_core;
	logic [N-1:0] cancel;
	logic [31:0] own_at;
	logic [13:0] to_core;
	assign own_at = 32'(NUMBER) * own_bytes;
	assign to_core = wdata[29:16];

	if (NET) begin : network
		localparam int CW = $clog2(CLUSTERS);
		logic in_windows;
		logic [CW-1:0] window, cluster_of_core;

		always_comb begin
			window = '0;
			cluster_of_core = '0;
			for (int c = 1; c < CLUSTERS; c++) begin
				if (adr >= noc_at + 32'(c) * window_bytes)
					window = CW'(c);
				if (to_core >= 14'(c * N))
					cluster_of_core = CW'(c);
			end
		end
		assign in_windows = (adr >= noc_at) & (adr < noc_at + 32'(CLUSTERS) * window_bytes);
		// its own memory and window; for reading also what was loaded at the start: its first megabyte, and what lies behind the windows
		assign here = in_windows ? window == CW'(NUMBER) :
			(adr - own_at < own_bytes) | (~we & ((adr < 32'h00100000) | (adr >= noc_at)));
		assign at_far_core = at_ompic & we & wdata[30] & (cluster_of_core != CW'(NUMBER)) & (to_core < 14'(CLUSTERS * N));
		// the clusters' memories end alike: what is beyond the end is an error here, before it becomes a packet
		assign at_net = (in_windows & (window != CW'(NUMBER)) & (adr < ram_bytes)) | at_far_core;

		netif #(.N(N), .CLUSTERS(CLUSTERS), .NUMBER(NUMBER)) ni (.clk, .rst,
			.go(active & ~net_ack & ~err & ~by_net), .beyond(at_net), .we, .atomic(m_atomic[owner_core]), .sel, .adr, .wdata,
			.who(($clog2(2*N))'(owner)), .dest(at_far_core ? cluster_of_core : window), .msync(m_msync),
			.ack(net_ack), .err(net_err), .rdata(net_rdata), .hold(net_hold), .blocked, .cancel,
			.bus_stb(net_stb), .bus_we(net_we), .bus_lock(net_lock), .bus_adr(net_adr), .bus_sel(net_sel), .bus_wdata(net_wdata),
			.bus_ack(ack & by_net & stb), .bus_err(none_err & by_net & stb), .bus_rdata(rdata),
			.out_valid, .out_flit, .out_ready, .in_valid, .in_flit, .in_ready);
	end else begin : alone
		assign here = 1'b1;
		assign at_net = 1'b0;
		assign {net_ack, net_err, net_hold, net_rdata, blocked, cancel, at_far_core} = '0;
		assign {net_stb, net_we, net_lock, net_adr, net_sel, net_wdata} = '0;
		assign {out_valid, out_flit, in_ready} = '0;
		logic unused;
		assign unused = &{1'b0, own_at, to_core, noc_at, window_bytes, out_ready, in_valid, in_flit, m_atomic, m_msync};
	end

	ram #(.WORDS(WORDS)) memory (.clk, .rst, .latency, .stb(stb & at_ram), .we, .adr, .sel, .cti, .wdata, .rdata(ram_rdata), .ack(ram_ack));

	// a word for a core beyond the network is written here too, as it leaves: it may acknowledge, and can be read
	ompic #(.N(N), .FIRST(FIRST), .CORES(CLUSTERS * N)) ompic (.clk, .rst, .go((dev_go & at_ompic) | (net_ack & at_far_core)), .we,
		.adr(adr[11:0]), .wdata, .rdata(ompic_rdata), .irq(ipi));

	console console (.clk, .rst, .go_uart(dev_go & at_uart), .go_exit(dev_go & at_exit), .we, .adr, .sel, .wdata, .rdata(console_rdata),
		.char_valid, .char_code, .exit_valid, .exit_status);

	assign snoop_en = ram_ack & at_ram & stb & we;
	assign snoop_adr = {adr[31:2], 2'b00};

	logic [N-1:0] dropping;
	logic inval_write;
	assign inval_write = dev_go & at_perf & we & (adr[15:6] == 10'd0);
	invalidate #(.N(N)) inval (.clk, .rst, .set_base(inval_write & (adr[5:2] == 4'hb)), .set_bytes(inval_write & (adr[5:2] == 4'hc)),
		.set_mask(inval_write & (adr[5:2] == 4'hd)), .wdata, .hold(ack | drop_go | (|cancel)), .busy(dropping), .snoop(swept),
		.snoop_adr(swept_adr));

	logic drop_go;
	logic [N-1:0] swept, others;
	logic [31:0] swept_adr, others_adr;
	assign drop_go = stb & at_drop;
	dropper #(.N(N)) dropper (.clk, .rst, .go(drop_go & ~drop_ack), .who(owner_core), .own(adr[2]), .wdata,
		.ack(drop_ack), .snoop(others), .snoop_adr(others_adr));

	// to the snoop ports: the sweeping, the dropping, and a store of l.swa that the network refuses
	assign drop = swept | others | cancel;
	assign drop_adr = |cancel ? {adr[31:2], 2'b00} : |others ? others_adr : swept_adr;

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
			.clk, .rst(rst | hold[c]), .number(32'(FIRST + c)), .cores(32'(CLUSTERS * N)), .irq({30'd0, ipi[c], 1'b0}),
			.wb_stb(m_stb[c]), .wb_we(m_we[c]), .wb_adr(m_adr[c]), .wb_sel(m_sel[c]), .wb_cti(m_cti[c]), .wb_wdata(m_wdata[c]),
			.wb_atomic(m_atomic[c]), .msync(m_msync[c]),
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
			active & last & ~by_net & (owner_core == W'(c)),
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
