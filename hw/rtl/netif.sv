// SPDX-License-Identifier: MIT
//
// Network interface of a cluster. What its cores load and store beyond the network becomes a packet to the cluster that has it, and the other
// way round: a packet that arrives becomes a transaction of this interface on the cluster's own bus, snooped like any other.
//
// A store is posted: it ends when its packet is taken, and packets of one cluster to another keep their order. A load waits for its reply, and
// so does the store of an l.swa, which travels as compare-and-store with what the core loaded last; if the comparison fails, the
// core's reservation is taken away (`cancel`) just before the store is acknowledged. One of those is under way at a time. Who waits is kept
// away from the bus meanwhile (`blocked`), so that two clusters never wait for each other's bus.
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

	// a master's transaction on the bus whose address lies beyond the network
	input  logic go,		// and that is not acknowledged yet
	input  logic we,
	input  logic atomic,
	input  logic [3:0] sel,
	input  logic [31:0] adr,
	input  logic [31:0] wdata,
	input  logic [MW-1:0] who,
	input  logic [CW-1:0] dest,
	output logic ack,
	output logic [31:0] rdata,
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
	input  logic [31:0] bus_rdata,

	// packets in flits of 32 bits; bit 32 marks the last. 0 requests, 1 replies
	output logic [1:0] out_valid,
	output logic [1:0][32:0] out_flit,
	input  logic [1:0] out_ready,
	input  logic [1:0] in_valid,
	input  logic [1:0][32:0] in_flit,
	output logic [1:0] in_ready
);

	// the first flit: destination, source, kind, byte lanes; of a reply: destination, source, whether the comparison held
	localparam logic [1:0] STORE = 2'd0, LOAD = 2'd1, COMPARE = 2'd2;

	// ---- requests of this cluster
	logic [3:0] send;		// flits still to be sent, the highest first
	logic [31:0] head, to, value, next;
	logic waiting, refused;
	logic [MW-1:0] waiter;
	logic [31:0] seen [N];		// what each core loaded last
	logic free, compares, loads, mine;

	assign free = send == 0;
	assign compares = we & atomic;
	assign loads = ~we;
	assign mine = waiting & (who == waiter);

	assign out_valid[0] = ~free;
	always_comb
		if (send[3])
			out_flit[0] = {1'b0, head};
		else if (send[2])
			out_flit[0] = {~|send[1:0], to};
		else if (send[1])
			out_flit[0] = {~send[0], value};
		else
			out_flit[0] = {1'b1, next};

	always_ff @(posedge clk) begin
		ack <= 1'b0;
		cancel <= '0;
		if (free)
			blocked <= waiting ? blocked & ((2*N)'(1) << waiter) : '0;
		if (~free & out_ready[0])
			send <= send[3] ? send & 4'h7 : send[2] ? send & 4'h3 : send[1] ? send & 4'h1 : 4'h0;
		if (go & mine) begin
			// its reply has come
			refused <= 1'b0;
			if (refused)
				cancel[who[MW-1:1]] <= 1'b1;
			else begin
				ack <= 1'b1;
				waiting <= 1'b0;
			end
		end else if (go & free & ((we & ~atomic) | ~waiting)) begin
			head <= {6'(dest), 6'(NUMBER), compares ? COMPARE : loads ? LOAD : STORE, sel, 14'd0};
			to <= adr;
			value <= compares ? seen[who[MW-1:1]] : wdata;
			next <= wdata;
			send <= compares ? 4'hf : loads ? 4'hc : 4'he;
			ack <= we & ~atomic;
			if (loads | compares) begin
				waiting <= 1'b1;
				waiter <= who;
				blocked[who] <= 1'b1;
			end
		end else if (go)
			blocked[who] <= 1'b1;
		if (got) begin
			blocked[waiter] <= 1'b0;
			refused <= ~reply_held & reply_compared;
			if (~reply_compared) begin
				rdata <= in_flit[1][31:0];
				if (waiter[0])
					seen[waiter[MW-1:1]] <= in_flit[1][31:0];
			end
		end
		if (rst) begin
			send <= '0;
			waiting <= 1'b0;
			refused <= 1'b0;
			blocked <= '0;
		end
	end

	// ---- replies to this cluster: a single flit for a comparison, two for a load
	logic reply_first, got, reply_held, reply_compared;

	assign in_ready[1] = 1'b1;
	assign got = in_valid[1] & in_flit[1][32];
	assign reply_compared = reply_first;
	assign reply_held = in_flit[1][19];
	always_ff @(posedge clk)
		if (rst)
			reply_first <= 1'b1;
		else if (in_valid[1])
			reply_first <= in_flit[1][32];

	// ---- requests of other clusters: taken flit by flit, then carried out
	logic [2:0] taken;
	logic working, second, replying, reply_data;
	logic [31:0] in_head, in_to, in_value, in_next, answer;
	logic held;
	logic [1:0] kind;

	assign kind = in_head[19:18];
	assign in_ready[0] = ~working & ~replying;
	assign bus_stb = working;
	assign bus_adr = in_to;
	assign bus_sel = kind == STORE ? in_head[17:14] : 4'hf;
	assign bus_we = (kind == STORE) | second;
	assign bus_wdata = second ? in_next : in_value;
	assign bus_lock = (kind == COMPARE) & ~second & (bus_rdata == in_value);

	assign out_valid[1] = replying;
	assign out_flit[1] = reply_data ? {1'b1, answer} : {kind == COMPARE, in_head[25:20], 6'(NUMBER), held, 19'd0};

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
		if (working & bus_ack) begin
			answer <= bus_rdata;
			held <= second;
			if (bus_lock)
				second <= 1'b1;
			else begin
				working <= 1'b0;
				second <= 1'b0;
				replying <= kind != STORE;
			end
		end
		if (replying & out_ready[1]) begin
			reply_data <= (kind == LOAD) & ~reply_data;
			replying <= (kind == LOAD) & ~reply_data;
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
