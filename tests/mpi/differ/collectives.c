/* SPDX-License-Identifier: MIT
 *
 * Collectives that move data, in all forms, several on their way at the same time, on groups and
 * between groups.
 */
#include "flight.h"

enum kind {
	BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL,
	ALLTOALLV, ALLTOALLW, KINDS
};

#define BLOCK_MAX 60000
#define STRUCT_MAX 4000

int
flight_peer(const struct flight *f, int i)
{
	return f->place->inter && !f->place->side ? f->place->sizes[0] + i : i;
}

void
flight_describe(struct flight *f, const struct place *p)
{
	f->place = p;
	f->comm = p->comm;
	f->peers = p->inter ? p->sizes[1 - p->side] : p->sizes[0];
	f->request = MPI_REQUEST_NULL;
}

void
flight_root(struct flight *f, struct dice *dice)
{
	const struct place *p = f->place;

	f->root_endpoint = below(dice, place_count(p));
	f->at_root = f->root_endpoint == place_me(p);
	f->root = place_rank(p, f->root_endpoint);
	f->takes_part = 1;
	if (p->inter && place_side(p, f->root_endpoint) == p->side) {
		f->root = f->at_root ? MPI_ROOT : MPI_PROC_NULL;
		f->takes_part = 0;
	}
}

/* Seeds of what goes between two endpoints; the same both ways if `same`. */
static uint64_t
pair_seed(uint64_t seed, int from, int to, int same)
{
	return same && from > to ? pair_seed(seed, to, from, 1) :
		mix(seed, (uint64_t)(from * 1000 + to));
}

struct draft {
	uint64_t seed;
	int count;			/* of elements at most */
	int same;			/* there and back */
};

static int
is_vector(int kind)
{
	return kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV || kind == ALLTOALLV ||
		kind == ALLTOALLW;
}

static int
is_rooted(int kind)
{
	return kind == BCAST || kind == GATHER || kind == GATHERV || kind == SCATTER ||
		kind == SCATTERV;
}

/* Elements from one endpoint to another. */
static int
elements(const struct flight *f, const struct draft *draft, int from, int to)
{
	int kind = f->kind;

	if (!is_vector(kind))
		return draft->count;
	if (kind == GATHERV || kind == ALLGATHERV)
		to = 999;
	if (kind == SCATTERV)
		from = 999;
	return (int)(pair_seed(draft->seed, from, to, draft->same) % (uint64_t)(draft->count + 1));
}

/* The blocks that this rank sends (or receives) to each peer, or just one. */
static void
draw_blocks(struct flight *f, const struct draft *draft, int sends, int n)
{
	int me = place_me(f->place), *counts = calloc((size_t)n + 1, sizeof(*counts));
	uint64_t *shapes = calloc((size_t)n + 1, sizeof(*shapes));
	struct blocks_plan plan = {.n = n, .counts = counts, .shapes = shapes,
		.seed = mix(draft->seed, (uint64_t)(me + (sends ? 0 : 5000)))};

	plan.where = mix(draft->seed, (uint64_t)(me + (sends ? 10000 : 20000)));
	plan.layout = n < 2 || !is_vector(f->kind) ? REGULAR : VECTOR;
	plan.layout = f->kind == ALLTOALLW ? BYTES : plan.layout;
	shapes[0] = draft->seed;
	for (int i = 0; i < n; i++) {
		int peer = is_rooted(f->kind) && !f->at_root ? f->root_endpoint : flight_peer(f, i);
		int from = sends ? me : peer, to = sends ? peer : me;

		counts[i] = elements(f, draft, from, to);
		if (f->kind == ALLTOALLW)
			shapes[i] = pair_seed(draft->seed, from, to, draft->same);
	}
	blocks_make(sends ? &f->out : &f->in, &plan);
	free(counts);
	free(shapes);
}

static void
draw_data(struct flight *f, struct draft *draft)
{
	int gathers = f->kind == GATHER || f->kind == GATHERV, scatters = f->kind == SCATTER ||
		f->kind == SCATTERV;
	int one = gathers || f->kind == BCAST || f->kind == ALLGATHER || f->kind == ALLGATHERV;

	if (f->kind == BARRIER)
		return;
	if (!scatters || f->at_root)
		draw_blocks(f, draft, 1, one ? 1 : f->peers);
	if (!gathers || f->at_root)
		draw_blocks(f, draft, 0, scatters || f->kind == BCAST ? 1 : f->peers);
}

static int
is_plain(uint64_t shape)
{
	return shape % 3 > 0;
}

/* MPICH 5.0.2 cannot send structures in several pieces. */
static long
most_bytes(uint64_t shape)
{
	return is_plain(shape) ? BLOCK_MAX : STRUCT_MAX;
}

static void
draw(struct differ *d, struct flight *f, const struct place *p, struct dice *dice)
{
	static const int counts[] = {0, 1, 2, 3, 10, 100, 1000, 20000};
	struct draft draft;
	struct made made;
	int most;

	flight_describe(f, p);
	f->kind = below(dice, KINDS);
	f->form = (enum form_of_call)below(dice, FORMS);
	/* MPICH 5.0.2 sends other data between groups if it need not wait */
	if (p->inter && f->kind == BCAST)
		f->form = BLOCKING;
	flight_root(f, dice);
	f->in_place = below(dice, 3) == 0 && !p->inter && f->kind != BCAST && f->kind != BARRIER;
	draft.same = f->in_place &&
		(f->kind == ALLTOALL || f->kind == ALLTOALLV || f->kind == ALLTOALLW);
	draft.seed = mix(mix(dice->state, d->seed), (uint64_t)p->salt);
	draft.count = counts[below(dice, 8)];
	made = type_make(&(struct form){.shape = draft.seed, .plain = is_plain(draft.seed),
		.basic = -1});
	most = (int)(most_bytes(draft.seed) < d->bytes ? most_bytes(draft.seed) : d->bytes) /
		made.size;
	type_drop(&made);
	draft.count = f->kind == ALLTOALLW ? draft.count % 40 : draft.count > most ? most :
		draft.count;
	draw_data(f, &draft);
}

static void
start_rooted(struct flight *f)
{
	struct blocks *o = &f->out, *i = &f->in;
	MPI_Datatype ot = o->made ? o->types[0] : MPI_DATATYPE_NULL, it = i->made ? i->types[0] :
		MPI_DATATYPE_NULL;
	const void *out = f->in_place && f->at_root ? MPI_IN_PLACE : o->made ? o->space.at : NULL;
	void *in = f->in_place && f->at_root ? MPI_IN_PLACE : i->made ? i->space.at : NULL;
	int on = o->made ? o->counts[0] : 0, n = i->made ? i->counts[0] : 0;

	switch (f->kind) {
	case BCAST:
		if (f->at_root)
			CALL(f, Bcast, Ibcast, o->space.at, on, ot, f->root);
		else
			CALL(f, Bcast, Ibcast, i->space.at, n, it, f->root);
		break;
	case GATHER: CALL(f, Gather, Igather, out, on, ot, i->made ? i->space.at : NULL, n, it,
	f->root); break;
	case GATHERV: CALL(f, Gatherv, Igatherv, out, on, ot, i->made ? i->space.at : NULL,
	i->counts, i->at, it, f->root); break;
	case SCATTER: CALL(f, Scatter, Iscatter, o->made ? o->space.at : NULL, on, ot, in, n, it,
	f->root); break;
	default: CALL(f, Scatterv, Iscatterv, o->made ? o->space.at : NULL, o->counts, o->at, ot,
	in, n, it, f->root); break;
	}
}

static void
barrier(struct flight *f)
{
	if (f->form == BLOCKING) {
		MPI_Barrier(f->comm);
	} else if (f->form == NONBLOCKING) {
		MPI_Ibarrier(f->comm, &f->request);
	} else {
		MPI_Barrier_init(f->comm, MPI_INFO_NULL, &f->request);
		MPI_Start(&f->request);
	}
}

static void
start(struct flight *f)
{
	struct blocks *o = &f->out, *i = &f->in;
	const void *out = f->in_place ? MPI_IN_PLACE : o->space.at;

	if (f->kind == BARRIER) {
		barrier(f);
		return;
	}
	if (is_rooted(f->kind)) {
		start_rooted(f);
		return;
	}
	switch (f->kind) {
	case ALLGATHER: CALL(f, Allgather, Iallgather, out, o->counts[0], o->types[0], i->space.at,
	i->counts[0], i->types[0]); break;
	case ALLGATHERV: CALL(f, Allgatherv, Iallgatherv, out, o->counts[0], o->types[0],
	i->space.at, i->counts, i->at, i->types[0]); break;
	case ALLTOALL: CALL(f, Alltoall, Ialltoall, out, o->counts[0], o->types[0], i->space.at,
	i->counts[0], i->types[0]); break;
	case ALLTOALLV:
		CALL(f, Alltoallv, Ialltoallv, out, o->counts, o->at, o->types[0], i->space.at,
			i->counts, i->at, i->types[0]);
		break;
	default: CALL(f, Alltoallw, Ialltoallw, out, o->counts, o->at, o->types, i->space.at,
	i->counts, i->at, i->types); break;
	}
}

void
squadron_start(struct differ *d, struct squadron *s, const struct place *p, struct dice *dice)
{
	s->n = 1 + below(dice, FLIGHTS);
	s->n = s->n < d->most ? s->n : d->most;
	for (int i = 0; i < s->n; i++) {
		struct flight *f = &s->of[i];
		struct dice own = dice_of(dice->state, 600 + (uint64_t)i, (uint64_t)p->salt);

		*f = (struct flight){0};
		draw(d, f, p, &own);
		SAY(d, "%s: collective %d form %d root %d in place %d out %d x %d, in %d x %d",
			p->name, f->kind, f->form, f->root,
			f->in_place, f->out.n, f->out.made ? f->out.counts[0] : 0, f->in.n,
			f->in.made ? f->in.counts[0] : 0);
		start(f);
	}
}

void
squadron_finish(struct differ *d, struct squadron *s)
{
	MPI_Request r[FLIGHTS];
	MPI_Status statuses[FLIGHTS];
	int n = 0;

	for (int i = 0; i < s->n; i++)
		if (s->of[i].request != MPI_REQUEST_NULL)
			r[n++] = s->of[i].request;
	d->errors += finish_collectives(d, n, r, statuses);
	SAY(d, "%d requests: sum %llx", n, (unsigned long long)d->sum.value);
	for (int i = 0; i < n; i++)
		if (r[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&r[i]);
	for (int i = 0; i < s->n; i++) {
		if (s->of[i].in.made)
			space_sum(&s->of[i].in.space, &d->sum);
		if (s->of[i].out.made)
			space_sum(&s->of[i].out.space, &d->sum);
		for (int k = 0; k < s->of[i].in.made_n; k++)
			type_say(d, "in", &s->of[i].in.made[k]);
		for (int k = 0; k < s->of[i].out.made_n; k++)
			type_say(d, "out", &s->of[i].out.made[k]);
		if (s->of[i].in.made)
			space_say(d, "in", &s->of[i].in.space);
		if (s->of[i].out.made)
			space_say(d, "out", &s->of[i].out.space);
		SAY(d, "collective %d: sum %llx", s->of[i].kind, (unsigned long long)d->sum.value);
		blocks_drop(&s->of[i].in);
		blocks_drop(&s->of[i].out);
	}
}

void
step_collectives(struct differ *d, struct dice *dice)
{
	const struct place *p = &d->places[below(dice, PLACES)];
	struct squadron s;

	if (p->comm == MPI_COMM_NULL)
		return;
	squadron_start(d, &s, p, dice);
	squadron_finish(d, &s);
}

/* Messages while collectives are on their way, over the same communicator. */
void
step_mixed(struct differ *d, struct dice *dice)
{
	const struct place *p = &d->places[below(dice, PLACES)];
	struct squadron s;

	if (p->comm == MPI_COMM_NULL)
		return;
	squadron_start(d, &s, p, dice);
	exchange(d, p, dice);
	squadron_finish(d, &s);
}
