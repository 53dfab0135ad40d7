// SPDX-License-Identifier: MIT
//
// Network interface of a cluster. What its cores load and store beyond the network becomes a packet to the cluster that has it, and the other
// way round: a packet that arrives becomes a transaction of this interface on the cluster's own bus, snooped like any other.
//
// A store is posted: it ends when its packet is taken, and packets of one cluster to another keep their order. A load waits for its reply, and
// so does the store of an l.swa, which travels as compare-and-store with what the core's last l.lwa loaded; if the comparison fails, the
// core's reservation is taken away (`cancel`) just before the store is acknowledged. One of those is under way at a time. Who waits is kept
// away from the bus meanwhile (`blocked`), so that two clusters never wait for each other's bus. A load or a comparison that meets a bus
// error at the owner ends with that error.
//
// Memory order: a posted store may still be under way (`posted`) when its core goes on. What the core does next must not overtake it if it
// is a store to another place, or anything behind an l.msync. Such a transaction is held (`hold`) while a packet without an effect
// follows the store; the reply says that the store is done. Every load beyond the network follows the stores too, and its reply says the same.
//
// Requests and replies have a network each: a reply is always taken, so the requests before it go on.

module netif #(
	parameter int N = 4,
	parameter int CLUSTERS = 2,
	parameter int NUMBER = 0,
	localparam int MW = $clog2(2 * N),
	localparam int CW = $clog2(CLUSTERS)
) (
	input  logic clk,
	input  logic rst,

	// a master's transaction on the bus
	input  logic go,		// it is not acknowledged yet
	input  logic beyond,		// its address lies beyond the network
	input  logic we,
	input  logic atomic,		// a load is that of l.lwa, a store that of l.swa
	input  logic [3:0] sel,
	input  logic [31:0] adr,
	input  logic [31:0] wdata,
	input  logic [MW-1:0] who,
	input  logic [CW-1:0] dest,
	input  logic [N-1:0] msync,	// the core is in an l.msync
	output logic ack,
	output logic err,
	output logic [31:0] rdata,
	output logic hold,		// nobody may answer: a posted store comes first
	output logic [2*N-1:0] blocked,
	output logic [N-1:0] cancel,

	// this interface as a master
	output logic bus_stb,
	output logic bus_we,
	output logic bus_lock,		// the transaction that follows is part of this one
	output logic [31:0] bus_adr,
	output logic [3:0] bus_sel,
	output logic [31:0] bus_wdata,
	input  logic bus_ack,
	input  logic bus_err,
	input  logic [31:0] bus_rdata,

	// packets in flits of 32 bits; bit 32 marks the last. 0 requests, 1 replies
	output logic [1:0] out_valid,
	output logic [1:0][32:0] out_flit,
	input  logic [1:0] out_ready,
	input  logic [1:0] in_valid,
	input  logic [1:0][32:0] in_flit,
	output logic [1:0] in_ready
);

	// the first flit: destination, source, kind, byte lanes; of a reply: destination, source, whether the comparison held, bus error
	localparam logic [1:0] STORE = 2'd0, LOAD = 2'd1, COMPARE = 2'd2, FENCE = 2'd3;

	// ---- requests of this cluster
	logic [3:0] send;		// flits still to be sent, the highest first
	logic [31:0] head, to, value, next;
	logic waiting, refused, failed;
	logic [1:0] wanted;		// the kind of the request whose reply is awaited
	logic linking;			// and it is an l.lwa
	logic [MW-1:0] waiter;
	logic [31:0] linked [N];	// what each core's last l.lwa beyond the network loaded
	logic [N-1:0] posted;		// the core has stores under way,
	logic [CW-1:0] posted_to [N];	// to that cluster,
	logic [N-1:0] fenced;		// and has come past an l.msync since
	logic free, mine, is_post;
	logic [1:0] kind;
	logic [MW-2:0] core, waiting_core;

	assign core = who[MW-1:1];
	assign waiting_core = waiter[MW-1:1];
	assign hold = who[0] & posted[core] & (beyond ? dest != posted_to[core] : we | fenced[core]);
	assign kind = hold ? FENCE : ~we ? LOAD : atomic ? COMPARE : STORE;
	assign is_post = kind == STORE;
	assign free = send == 0;
	assign mine = waiting & (who == waiter);

	assign out_valid[0] = ~free;
	always_comb
		if (send[3])
			out_flit[0] = {~|send[2:0], head};
		else if (send[2])
			out_flit[0] = {~|send[1:0], to};
		else if (send[1])
			out_flit[0] = {~send[0], value};
		else
			out_flit[0] = {1'b1, next};

	always_ff @(posedge clk) begin
		ack <= 1'b0;
		err <= 1'b0;
		cancel <= '0;
		fenced <= posted & (fenced | msync);
		if (free)
			blocked <= waiting ? blocked & ((2*N)'(1) << waiter) : '0;
		if (~free & out_ready[0])
			send <= send[3] ? send & 4'h7 : send[2] ? send & 4'h3 : send[1] ? send & 4'h1 : 4'h0;
		if (go & mine) begin
			// its reply has come
			refused <= 1'b0;
			if (refused)
				cancel[core] <= 1'b1;
			else begin
				ack <= ~failed;
				err <= failed;
				waiting <= 1'b0;
			end
		end else if (go & (beyond | hold) & free & (is_post | ~waiting)) begin
			head <= {6'(hold ? posted_to[core] : dest), 6'(NUMBER), kind, sel, 14'd0};
			to <= adr;
			value <= kind == COMPARE ? linked[core] : wdata;
			next <= wdata;
			send <= kind == COMPARE ? 4'hf : kind == STORE ? 4'he : kind == LOAD ? 4'hc : 4'h8;
			ack <= is_post;
			if (is_post) begin
				posted[core] <= 1'b1;
				posted_to[core] <= dest;
			end else begin
				waiting <= 1'b1;
				waiter <= who;
				wanted <= kind;
				linking <= atomic & who[0];
				blocked[who] <= 1'b1;
			end
		end else if (go & (beyond | hold))
			blocked[who] <= 1'b1;
		if (got) begin
			blocked[waiter] <= 1'b0;
			refused <= (wanted == COMPARE) & ~in_flit[1][19] & ~reply_failed;
			failed <= reply_failed;
			if (wanted == FENCE)
				waiting <= 1'b0;
			if (waiter[0])
				posted[waiting_core] <= 1'b0;
			if (~reply_first) begin
				rdata <= in_flit[1][31:0];
				if (linking)
					linked[waiting_core] <= in_flit[1][31:0];
			end
		end
		if (rst) begin
			send <= '0;
			waiting <= 1'b0;
			refused <= 1'b0;
			failed <= 1'b0;
			blocked <= '0;
			posted <= '0;
			fenced <= '0;
		end
	end

	// ---- replies to this cluster: two flits for what was loaded, otherwise one
	logic reply_first, got, reply_failed;

	assign in_ready[1] = 1'b1;
	assign got = in_valid[1] & in_flit[1][32];
	assign reply_failed = reply_first & in_flit[1][18];
	always_ff @(posedge clk)
		if (rst)
			reply_first <= 1'b1;
		else if (in_valid[1])
			reply_first <= in_flit[1][32];

	// ---- requests of other clusters: taken flit by flit, then carried out
	logic [2:0] taken;
	logic working, second, replying, reply_data, reply_short;
	logic [31:0] in_head, in_to, in_value, in_next, answer;
	logic held, wrong;
	logic [1:0] in_kind;

	assign in_kind = in_head[19:18];
	assign in_ready[0] = ~working & ~replying;
	assign bus_stb = working & (in_kind != FENCE);
	assign bus_adr = in_to;
	assign bus_sel = in_kind == STORE ? in_head[17:14] : 4'hf;
	assign bus_we = (in_kind == STORE) | second;
	assign bus_wdata = second ? in_next : in_value;
	assign bus_lock = (in_kind == COMPARE) & ~second & ~bus_err & (bus_rdata == in_value);

	assign reply_short = (in_kind != LOAD) | wrong;
	assign out_valid[1] = replying;
	assign out_flit[1] = reply_data ? {1'b1, answer} : {reply_short, in_head[25:20], 6'(NUMBER), held, wrong, 18'd0};

	always_ff @(posedge clk) begin
		if (in_valid[0] & in_ready[0]) begin
			case (taken)
			3'd0: in_head <= in_flit[0][31:0];
			3'd1: in_to <= in_flit[0][31:0];
			3'd2: in_value <= in_flit[0][31:0];
			default: in_next <= in_flit[0][31:0];
			endcase
			taken <= in_flit[0][32] ? 3'd0 : taken + 1'b1;
			working <= in_flit[0][32];
			second <= 1'b0;
		end
		if (working & (bus_ack | bus_err | (in_kind == FENCE))) begin
			answer <= bus_rdata;
			held <= second & ~bus_err;
			wrong <= bus_err;
			if (bus_lock)
				second <= 1'b1;
			else begin
				working <= 1'b0;
				second <= 1'b0;
				replying <= in_kind != STORE;
			end
		end
		if (replying & out_ready[1]) begin
			reply_data <= ~reply_short & ~reply_data;
			replying <= ~reply_short & ~reply_data;
		end
		if (rst) begin
			taken <= '0;
			working <= 1'b0;
			second <= 1'b0;
			replying <= 1'b0;
			reply_data <= 1'b0;
		end
	end

endmodule
