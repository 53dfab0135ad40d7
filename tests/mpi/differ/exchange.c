/* SPDX-License-Identifier: MIT
 *
 * An exchange as planned: early receives, sends in all modes, late receives and probes, and
 * completion in any of the ways there are.
 */
#include "exchange.h"

/* One end of a message. */
struct end {
	struct message *m;
	struct made made;
	int count;
	struct space space;
	char *packed;			/* or NULL */
	int packed_size;
	MPI_Request request;
	MPI_Status status;
	int persistent;
	int done;
};

struct part {
	struct differ *d;
	const struct place *p;
	struct end in[MESSAGES];	/* in the order of their turns */
	struct end out[MESSAGES];
	int ins;
	int outs;
};

static int
basic_elements(const struct form *f, int count)
{
	struct made made = type_make(f);
	struct dice shape = dice_of(f->shape, 1, 0);
	int n = f->basic >= 0 ? f->basic : below(&shape, type_basics()), one, elements;

	MPI_Type_size(type_basic(n), &one);
	elements = made.size / one * count;
	type_drop(&made);
	return elements;
}

/* The receiver's type may be any that holds the same basic elements. */
static void
make_other(struct end *e, struct form *f)
{
	struct dice shape = dice_of(f->shape, 1, 0);
	int n = below(&shape, type_basics()), one, elements = basic_elements(f, e->m->count);

	f->basic = n;
	f->shape = mix(f->shape, 5);
	MPI_Type_size(type_basic(n), &one);
	e->made = type_make(f);
	e->count = (elements * one + e->made.size - 1) / e->made.size;
}

static void
open_end(struct part *part, struct end *e, struct message *m, int receives)
{
	struct form f = m->form;

	*e = (struct end){.m = m, .count = m->count, .request = MPI_REQUEST_NULL};
	f.where = mix(f.shape, receives ? 100u + (unsigned)m->target : (unsigned)m->source);
	if (receives && m->in_others)
		make_other(e, &f);
	else
		e->made = type_make(&f);
	e->count += receives ? m->spare : 0;
	e->space = space_make(e->made.type, e->count - 1);
	if (receives ? m->packed_in : m->packed_out) {
		MPI_Pack_size(e->count, e->made.type, part->p->comm, &e->packed_size);
		e->packed = calloc(1, (size_t)e->packed_size + 1);
	}
}

static void
close_end(struct end *e)
{
	if (e->persistent)
		MPI_Request_free(&e->request);
	free(e->packed);
	space_drop(&e->space);
	type_drop(&e->made);
}

static void
open_all(struct part *part, struct plan *plan)
{
	int me = place_me(part->p);

	for (int i = 0; i < plan->n; i++) {
		struct message *m = &plan->of[i];

		SAY(part->d,
			"%s: message %d: %d -> %d tag %d mode %d how %d turn %d early %d any %d %d",
			part->p->name, i, m->source,
			m->target, m->tag, m->mode, m->how, m->turn, m->early, m->any_source,
			m->any_tag);
		SAY(part->d, "count %d size %ld plain %d others %d packed %d %d", m->count, m->size,
			m->form.plain, m->in_others,
			m->packed_out, m->packed_in);
		if (m->source == me)
			open_end(part, &part->out[part->outs++], m, 0);
		if (m->target == me) {
			open_end(part, &part->in[m->turn], m, 1);
			part->ins++;
		}
	}
}

struct envelope {
	void *buffer;
	int count;
	MPI_Datatype type;
	int peer;
	int tag;
	MPI_Comm comm;
};

static struct envelope
envelope_of(const struct part *part, const struct end *e, int receives)
{
	const struct message *m = e->m;
	struct envelope v = {e->space.at, e->count, e->made.type, place_rank(part->p, m->target),
		m->tag, part->p->comm};

	if (e->packed) {
		v.buffer = e->packed;
		v.count = e->packed_size;
		v.type = MPI_PACKED;
	}
	if (receives) {
		v.peer = m->any_source ? MPI_ANY_SOURCE : place_rank(part->p, m->source);
		v.tag = m->any_tag ? MPI_ANY_TAG : m->tag;
	}
	return v;
}

static void
start_send(struct part *part, struct end *e)
{
	struct envelope v = envelope_of(part, e, 0);
	MPI_Request *r = &e->request;
	int position = 0;

	if (e->packed) {
		MPI_Pack(e->space.at, e->count, e->made.type, e->packed, e->packed_size, &position,
			v.comm);
		if (!e->persistent)
			v.count = position;
	}
	if (e->persistent) {
		MPI_Start(r);
		return;
	}
	switch (e->m->mode) {
	case SEND: MPI_Send(v.buffer, v.count, v.type, v.peer, v.tag, v.comm); break;
	case SSEND: MPI_Ssend(v.buffer, v.count, v.type, v.peer, v.tag, v.comm); break;
	case BSEND: MPI_Bsend(v.buffer, v.count, v.type, v.peer, v.tag, v.comm); break;
	case RSEND: MPI_Rsend(v.buffer, v.count, v.type, v.peer, v.tag, v.comm); break;
	case ISEND: MPI_Isend(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, r); break;
	case ISSEND: MPI_Issend(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, r); break;
	case IBSEND: MPI_Ibsend(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, r); break;
	default: MPI_Irsend(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, r); break;
	}
}

static void
init_persistent(struct part *part, struct end *e, int receives)
{
	struct envelope v = envelope_of(part, e, receives);
	MPI_Request *r = &e->request;
	int position = 0;

	if (!receives && e->packed) {
		/* as many bytes as packing gives */
		MPI_Pack(e->space.at, e->count, e->made.type, e->packed, e->packed_size, &position,
			v.comm);
		v.count = position;
	}
	e->persistent = 1;
	if (receives) {
		MPI_Recv_init(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, r);
		return;
	}
	switch (e->m->mode) {
	case SEND_INIT: MPI_Send_init(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, r); break;
	case SSEND_INIT: MPI_Ssend_init(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, r); break;
	case BSEND_INIT: MPI_Bsend_init(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, r); break;
	default: MPI_Rsend_init(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, r); break;
	}
}

/* A receive that says first what there is. */
static void
probed(struct part *part, struct end *e)
{
	struct envelope v = envelope_of(part, e, 1);
	MPI_Message message;
	MPI_Status s;
	int there = 0;

	switch (e->m->how) {
	case PROBE: MPI_Probe(v.peer, v.tag, v.comm, &s); break;
	case IPROBE:
		while (!there)
			MPI_Iprobe(v.peer, v.tag, v.comm, &there, &s);
		break;
	case MPROBE: MPI_Mprobe(v.peer, v.tag, v.comm, &message, &s); break;
	default:
		while (!there)
			MPI_Improbe(v.peer, v.tag, v.comm, &there, &message, &s);
		break;
	}
	MPI_Get_count(&s, v.type, &there);
	SAY(part->d, "turn %d: found source %d tag %d count %d, packed %d", e->m->turn,
		s.MPI_SOURCE, s.MPI_TAG, there, e->m->packed_out);
	status_sum(&part->d->sum, &s, e->packed || e->m->packed_out ? MPI_DATATYPE_NULL : v.type,
		0);
	if (e->m->how == PROBE || e->m->how == IPROBE)
		MPI_Recv(v.buffer, v.count, v.type, s.MPI_SOURCE, s.MPI_TAG, v.comm, &e->status);
	else if (e->m->tag % 2)
		MPI_Mrecv(v.buffer, v.count, v.type, &message, &e->status);
	else
		MPI_Imrecv(v.buffer, v.count, v.type, &message, &e->request);
}

static void
start_receive(struct part *part, struct end *e)
{
	struct envelope v = envelope_of(part, e, 1);

	switch (e->m->how) {
	case RECV: MPI_Recv(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, &e->status); break;
	case IRECV: MPI_Irecv(v.buffer, v.count, v.type, v.peer, v.tag, v.comm, &e->request); break;
	case RECV_INIT: MPI_Start(&e->request); break;
	default: probed(part, e); break;
	}
}

static void
finish(struct part *part)
{
	MPI_Request r[2 * MESSAGES];
	MPI_Status s[2 * MESSAGES];
	struct end *of[2 * MESSAGES];
	int n = 0, at, errors, persistent = 0;

	for (int i = 0; i < part->ins + part->outs; i++) {
		struct end *e = i < part->ins ? &part->in[i] : &part->out[i - part->ins];

		if (e->request == MPI_REQUEST_NULL)
			continue;
		/* in an order of this rank's own */
		persistent |= e->persistent;
		at = below(&part->d->own, n + 1);
		if (at < n) {
			r[n] = r[at];
			of[n] = of[at];
		}
		r[at] = e->request;
		of[at] = e;
		n++;
	}
	errors = persistent ? finish_collectives(part->d, n, r, s) : finish_all(part->d, n, r, s);
	part->d->errors += errors;
	SAY(part->d, "%d requests, %d errors", n, errors);
	for (int i = 0; i < n; i++) {
		of[i]->status = s[i];
		of[i]->request = r[i];
	}
}

static void
note(struct part *part, struct end *e)
{
	int position = 0, uncounted = e->packed || e->m->packed_out;
	uint64_t before = part->d->sum.value;

	if (e->packed)
		MPI_Unpack(e->packed, e->packed_size, &position, e->space.at,
			e->count - e->m->spare, e->made.type, part->p->comm);
	status_sum(&part->d->sum, &e->status, uncounted ? MPI_DATATYPE_NULL : e->made.type,
		!e->made.odd);
	type_say(part->d, "in", &e->made);
	space_say(part->d, "in", &e->space);
	SAY(part->d, "turn %d: before %llx", e->m->turn, (unsigned long long)before);
	SAY(part->d, "turn %d: source %d tag %d, sum of status %llx", e->m->turn,
		e->status.MPI_SOURCE, e->status.MPI_TAG,
		(unsigned long long)part->d->sum.value);
	space_sum(&e->space, &part->d->sum);
	SAY(part->d, "turn %d: sum %llx", e->m->turn, (unsigned long long)part->d->sum.value);
}

static void
one_round(struct part *part, const struct plan *plan, int number)
{
	for (int i = 0; i < part->outs; i++)
		space_fill(&part->out[i].space, mix(part->out[i].m->form.shape, (uint64_t)number));
	for (int i = 0; i < part->ins; i++)
		space_fill(&part->in[i].space,
			mix(part->in[i].m->form.shape, 50 + (uint64_t)number));
	for (int i = 0; i < part->ins; i++)
		if (part->in[i].m->early)
			start_receive(part, &part->in[i]);
	if (plan->ready)
		MPI_Barrier(part->p->comm);
	for (int i = 0; i < part->outs; i++)
		start_send(part, &part->out[i]);
	for (int i = 0; i < part->ins; i++)
		if (!part->in[i].m->early)
			start_receive(part, &part->in[i]);
	finish(part);
	for (int i = 0; i < part->ins; i++)
		note(part, &part->in[i]);
}

void
exchange(struct differ *d, const struct place *p, struct dice *dice)
{
	struct part *part = calloc(1, sizeof(*part));
	struct plan *plan = calloc(1, sizeof(*plan));

	part->d = d;
	part->p = p;
	plan_draw(plan, d, p, dice);
	open_all(part, plan);
	for (int i = 0; i < part->outs; i++)
		if (part->out[i].m->mode >= SEND_INIT)
			init_persistent(part, &part->out[i], 0);
	for (int i = 0; i < part->ins; i++)
		if (part->in[i].m->how == RECV_INIT)
			init_persistent(part, &part->in[i], 1);
	for (int i = 0; i < plan->rounds; i++)
		one_round(part, plan, i);
	for (int i = 0; i < part->ins; i++)
		close_end(&part->in[i]);
	for (int i = 0; i < part->outs; i++)
		close_end(&part->out[i]);
	free(part);
	free(plan);
}

void
step_exchange(struct differ *d, struct dice *dice)
{
	const struct place *p = &d->places[below(dice, PLACES)];

	if (p->comm != MPI_COMM_NULL)
		exchange(d, p, dice);
}
