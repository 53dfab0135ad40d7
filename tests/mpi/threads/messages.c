/* SPDX-License-Identifier: MIT
 *
 * Messages, by all modes of sending and all ways of receiving.
 */
#include "stress.h"

#define BURST 5

enum mode { STANDARD, SYNCHRONOUS, BUFFERED, READY_MODE };

static MPI_Comm
comm_of(const struct worker *w, int channel)
{
	return channel == RING || channel == PAIR ? MPI_COMM_WORLD : w->comm;
}

static int
tag_of(const struct worker *w, int channel)
{
	return (channel == PAIR || channel == PAIR_OWN ? TAG_PAIR : 0) + w->number;
}

void
fill(const struct worker *w, unsigned char *data, const struct entry *e)
{
	uint32_t start = (uint32_t)e->source * 31 + (uint32_t)w->number * 57 +
		(uint32_t)e->channel * 11 + e->number * 7;

	for (int i = 0; i < e->length; i++)
		data[i] = (unsigned char)(start + (uint32_t)i * 13 % 251);
}

void
expect_message(struct worker *w, const struct entry *e, const MPI_Status *status)
{
	unsigned char *should = malloc((size_t)e->length + 1);
	int count = e->length;

	if (status != NULL) {
		MPI_Get_count(status, MPI_BYTE, &count);
		expect(w, "source", status->MPI_SOURCE, e->source);
		expect(w, "tag", status->MPI_TAG, e->tag);
	}
	expect(w, "length", count, e->length);
	fill(w, should, e);
	for (int i = 0; i < e->length; i++)
		if (e->data[i] != should[i]) {
			wrong(w, "byte of a message", e->data[i], should[i]);
			break;
		}
	free(should);
}

/* The next message of a channel, to or from this worker. */
static void
number(struct worker *w, struct entry *e, int channel, int length, int is_sent)
{
	e->channel = channel;
	e->tag = tag_of(w, channel);
	e->source = w->all->rank;
	e->number = is_sent ? w->sent[channel]++ : w->received[channel]++;
	e->length = length;
	e->data = calloc(1, (size_t)length + 1);
	if (is_sent)
		fill(w, e->data, e);
	else
		e->source = channel == PAIR || channel == PAIR_OWN ? w->all->rank ^ 1 : before(w);
}

static void
start_send(struct worker *w, int channel, int length, enum mode mode)
{
	static int (*const once[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
		MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
	static int (*const often[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
		MPI_Request *) = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
	MPI_Request *r;
	struct entry *e = flight_add(w, SENT, &r);

	number(w, e, channel, length, 1);
	e->persistent = draw(&w->own, 3) == 0;
	(e->persistent ? often : once)[mode](e->data, length, MPI_BYTE, next(w), e->tag,
		comm_of(w, channel), r);
	if (e->persistent)
		MPI_Start(r);
}

static int
draw_source(struct worker *w, const struct entry *e)
{
	return draw(&w->own, 3) ? e->source : MPI_ANY_SOURCE;
}

static void
post(struct worker *w, int channel, int length)
{
	MPI_Request *r;
	struct entry *e = flight_add(w, RECEIVED, &r);

	number(w, e, channel, length, 0);
	e->persistent = draw(&w->own, 3) == 0;
	if (!e->persistent) {
		MPI_Irecv(e->data, length, MPI_BYTE, draw_source(w, e), e->tag,
			comm_of(w, channel), r);
		return;
	}
	MPI_Recv_init(e->data, length, MPI_BYTE, draw_source(w, e), e->tag, comm_of(w, channel), r);
	MPI_Startall(1, r);
}

/* Matched before it is received. */
static void
probe(struct worker *w, int channel, int length)
{
	int flag = 0, waits = (int)draw(&w->own, 2), source;
	MPI_Message message;
	MPI_Request *r;
	MPI_Status status;
	struct entry *e = flight_add(w, RECEIVED, &r);

	number(w, e, channel, length, 0);
	source = draw_source(w, e);
	w->call = waits ? "MPI_Mprobe" : "MPI_Improbe";
	if (waits)
		MPI_Mprobe(source, e->tag, comm_of(w, channel), &message, &status);
	while (!waits && !flag)
		MPI_Improbe(source, e->tag, comm_of(w, channel), &flag, &message, &status);
	MPI_Imrecv(e->data, length, MPI_BYTE, &message, r);
}

/* Some receives first, the sends, the other receives; ready sends when all are posted. */
void
add_messages(struct worker *w)
{
	int channel = (int)draw(&w->common, 2), n = 1 + (int)draw(&w->common, BURST), length[BURST];
	int ready = draw(&w->common, 5) == 0;
	int first = ready ? n : (int)draw(&w->own, (uint32_t)n + 1);

	for (int i = 0; i < n; i++)
		length[i] = draw_length(w);
	for (int i = 0; i < first; i++)
		post(w, channel, length[i]);
	w->call = "MPI_Barrier before ready sends";
	if (ready)
		MPI_Barrier(w->comm);
	for (int i = 0; i < n; i++)
		start_send(w, channel, length[i], ready ? READY_MODE : (enum mode)draw(&w->own, 3));
	for (int i = first; i < n; i++) {
		if (draw(&w->own, 2))
			post(w, channel, length[i]);
		else
			probe(w, channel, length[i]);
	}
}

static void
send_now(struct worker *w, struct entry *e, int partner)
{
	static int (*const send[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {
		MPI_Send, MPI_Ssend, MPI_Bsend};

	w->call = "a blocking send";
	send[draw(&w->own, 3)](e->data, e->length, MPI_BYTE, partner, e->tag,
		comm_of(w, e->channel));
}

static void
receive_now(struct worker *w, struct entry *e)
{
	MPI_Comm comm = comm_of(w, e->channel);
	MPI_Message message;
	MPI_Status status;
	int way = (int)draw(&w->own, 3);

	w->call = way == 0 ? "MPI_Recv" : way == 1 ? "MPI_Probe, MPI_Recv" : "MPI_Mprobe";
	if (way == 1)
		MPI_Probe(e->source, e->tag, comm, &status);
	if (way < 2) {
		MPI_Recv(e->data, e->length, MPI_BYTE, draw_source(w, e), e->tag, comm,
			&status);
	} else {
		MPI_Mprobe(draw_source(w, e), e->tag, comm, &message, &status);
		MPI_Mrecv(e->data, e->length, MPI_BYTE, &message, &status);
	}
	expect_message(w, e, &status);
}

/* Pairs of ranks: first one way, then the other, or both at a time. */
void
take_turns(struct worker *w)
{
	int channel = PAIR + (int)draw(&w->common, 2), partner = w->all->rank ^ 1;
	int there = draw_length(w), back = draw_length(w), at_once = draw(&w->common, 3) == 0;
	int sends_first = w->all->rank % 2 == 0;
	struct entry out = {.kind = SENT}, in = {.kind = RECEIVED};
	MPI_Status status;

	if (partner >= w->all->size)
		return;
	number(w, &out, channel, sends_first ? there : back, 1);
	number(w, &in, channel, sends_first ? back : there, 0);
	w->call = "MPI_Sendrecv";
	if (at_once)
		MPI_Sendrecv(out.data, out.length, MPI_BYTE, partner, out.tag, in.data, in.length,
			MPI_BYTE, partner, in.tag, comm_of(w, channel), &status);
	if (at_once)
		expect_message(w, &in, &status);
	if (!at_once && sends_first)
		send_now(w, &out, partner);
	if (!at_once)
		receive_now(w, &in);
	if (!at_once && !sends_first)
		send_now(w, &out, partner);
	free(out.data);
	free(in.data);
}
