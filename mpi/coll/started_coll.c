/* SPDX-License-Identifier: MIT
 *
 * Non-blocking collectives with flags: the patterns of coll/passage.h, step by step, on a board of
 * their own (coll/rounds.h). A small broadcast that finds all that it needs at its start is over
 * there, in the same rounds (coll/flags_fast.h).
 *
 * A call has its rounds from its start on, and a rank shows its rounds in order; what a step needs,
 * flags of others or room, it does not wait for: progress goes on with it when that is there.
 *
 * No wake-up is lost: a rank that is about to sleep says so by `has_sleepers`, and looks once more;
 * one that has shown something looks at `has_sleepers` after that (all in total order).
 */
#include <stdlib.h>
#include <mpi/coll/flags_fast.h>
#include <mpi/coll/passage.h>
#include <mpi/coll/rounds.h>
#include <mpi/core/request.h>
#include <mpi/transport/transport.h>

#define ROUNDS_MAX FLAGS_BUFFERS		/* of one call; larger data goes in messages */
#define ROUNDS_ZEROCOPY 3

/* what comes next: show the own data, combine a slice, take what is there, see all leave */
enum stage { GIVE, FOLD, TAKE, PART };

struct started {
	struct pending pending;
	struct list open;		/* in locality.open */
	struct passage p;
	struct collective k;		/* what p says */
	enum stage stage;
	bool zerocopy;			/* ranks show where their data lies, and stay */
	uint32_t needs;			/* the first round whose flags and data it still reads */
	struct request *outer;
};

/* All rounds before this one are over here: all but those that open calls need. */
static uint32_t
over_before(const struct flags *g)
{
	const struct list *first = g->v->open.next;

	return first == &g->v->open ? g->b->round + 1 :
		list_entry(first, const struct started, open)->needs;
}

static void
show_over(const struct flags *g)
{
	rounds_show_over(g, over_before(g));
}

/* Does each rank wait for the flags of all others, in the first round of a part? */
ALWAYS_INLINE bool
all_wait_for_all(enum coll_kind kind)
{
	return patterns[kind].takes == EVERYBODY && patterns[kind].gives != THE_ROOT &&
		!patterns[kind].prefix;
}

/* What programs start most is compiled by itself, as blocking calls are. */
#define BY_KIND(kind, function, ...) \
	((kind) == COLL_ALLREDUCE ? function(COLL_ALLREDUCE, __VA_ARGS__) : \
	(kind) == COLL_ALLTOALL ? function(COLL_ALLTOALL, __VA_ARGS__) : \
	(kind) == COLL_BCAST ? function(COLL_BCAST, __VA_ARGS__) : function(kind, __VA_ARGS__))

/* --- one call --- */

/* Do ranks show where their data lies, and stay? Only in an allreduce. */
ALWAYS_INLINE bool
is_zerocopy(enum coll_kind kind, const struct started *s)
{
	return kind == COLL_ALLREDUCE && s->zerocopy;
}

ALWAYS_INLINE bool
givers_have_come(enum coll_kind kind, const struct started *s)
{
	const struct pattern *is = &patterns[kind];
	const struct flags *g = &s->p.g;

	if (!s->p.takes)
		return true;
	if (is->gives == THE_ROOT)
		return rounds_is_shown(g, s->k.root);
	return rounds_are_shown(g, is->prefix ? g->me : g->n);
}

/* Is there room for what this rank gives, in this round? */
ALWAYS_INLINE bool
can_give(enum coll_kind kind, const struct started *s)
{
	size_t bytes = is_zerocopy(kind, s) ? FLAGS_SMALL : laid(&s->p, kind);

	return s->p.g.v->shown + 1 == s->p.g.round &&
		(!s->p.gives || rounds_buffer_is_free(&s->p.g, bytes));
}

/* Have all given, and is there room for the slice, in the next round? */
static bool
can_fold(const struct started *s)
{
	struct flags next = s->p.g;

	mpi_flags_next(&next);
	return rounds_are_shown(&s->p.g, next.n) &&
		(s->zerocopy || rounds_buffer_is_free(&next, s->p.bytes));
}

ALWAYS_INLINE bool
can_go_on(enum coll_kind kind, const struct started *s)
{
	if (s->stage == GIVE)
		return can_give(kind, s);
	if (s->stage == TAKE)
		return givers_have_come(kind, s);
	/* only an allreduce has the other two */
	return kind == COLL_ALLREDUCE &&
		(s->stage == FOLD ? can_fold(s) : rounds_are_shown(&s->p.g, s->p.g.n));
}

static struct address_list
addresses_of_all(const struct started *s)
{
	return (struct address_list){flags_of(&s->p.g, s->needs, 0)->small,
		FLAGS_IN_FLIGHT * sizeof(struct flag), s->p.g.n};
}

ALWAYS_INLINE void
give(enum coll_kind kind, struct started *s)
{
	struct passage *p = &s->p;
	bool zerocopy = is_zerocopy(kind, s), slices = goes_in_slices(p, kind);
	char *buffer = mpi_flags_data(&p->g, p->g.me, zerocopy ? FLAGS_SMALL : laid(p, kind));

	s->stage = slices || zerocopy ? FOLD : TAKE;
	if (zerocopy)
		*(struct addresses *)(void *)buffer =
			(struct addresses){.in = p->in, .out = p->out};
	else if (slices)
		lay_slices(p, buffer);
	else
		lay(p, kind, buffer);
	/* side by side, as a rank that looks at the flag meanwhile takes its line away */
	rounds_show_over_with_flag(&p->g, over_before(&p->g));
	mpi_flags_show(&p->g);
	if (!slices && !zerocopy)
		keep_own_behind_flag(p, kind);
}

static void
combine_slice(struct started *s)
{
	struct passage *p = &s->p;
	struct slice mine = slice_of(p, p->g.me);
	struct address_list all = addresses_of_all(s);

	s->stage = TAKE;
	p->g.v->over_round = p->g.round;
	mpi_flags_next(&p->g);
	if (s->zerocopy) {
		mpi_zerocopy_combine(&all, &p->op, mine, p->out + mine.from);
		mpi_flags_show(&p->g);
	} else {
		fold_slice(p, s->k.kind, mpi_flags_data(&p->g, p->g.me, p->bytes));
		s->needs = p->g.round;
	}
}

/* Take the slices from where the others have combined them, and say that this is done. */
static void
take_zerocopy_slices(struct started *s)
{
	struct passage *p = &s->p;
	struct address_list all = addresses_of_all(s);

	for (int i = 1; i < p->g.n; i++) {
		int from = (p->g.me + i) % p->g.n;
		struct slice theirs = slice_of(p, from);

		memcpy(p->out + theirs.from, mpi_addresses_of(&all, from)->out + theirs.from,
			theirs.bytes);
	}
	mpi_flags_next(&p->g);
	mpi_flags_show(&p->g);
	s->stage = PART;
}

/* Take the part, and go to the next one. False: there is none. */
ALWAYS_INLINE bool
take_part(enum coll_kind kind, struct started *s)
{
	struct passage *p = &s->p;

	if (all_wait_for_all(kind) && !goes_in_slices(p, kind))
		p->g.v->over_round = p->g.round;
	if (goes_in_slices(p, kind))
		take_slices(p, kind);
	else if (kind != COLL_BARRIER)
		take(p, kind);
	p->at += p->bytes;
	if (p->at >= p->all)
		return false;
	next_part(p, kind);
	mpi_flags_next(&p->g);
	s->needs = p->g.round;
	show_over(&p->g);
	s->stage = GIVE;
	return true;
}

/* False: it is over. */
ALWAYS_INLINE bool
step(enum coll_kind kind, struct started *s)
{
	if (s->stage == GIVE)
		give(kind, s);
	else if (s->stage == TAKE && !is_zerocopy(kind, s))
		return take_part(kind, s);
	else if (s->stage == PART)
		return false;
	else if (s->stage == FOLD)
		combine_slice(s);
	else
		take_zerocopy_slices(s);
	s->p.g.v->shown = s->p.g.round;
	return true;
}

/* Go as far as possible. True if anything moved. */
ALWAYS_INLINE bool
goes_on_as(enum coll_kind kind, struct started *s, bool *over)
{
	bool moved = false;

	for (*over = false; !*over && can_go_on(kind, s); moved = true)
		*over = !step(kind, s);
	return moved;
}

static bool
goes_on(struct started *s, bool *over)
{
	return BY_KIND(s->k.kind, goes_on_as, s, over);
}

/* --- its beginning and its end --- */

static void
put_away(struct locality *v, struct started *s)
{
	if (v->spare == NULL)
		v->spare = s;
	else
		free(s);
}

static struct started *
take_out(struct locality *v)
{
	struct started *s = v->spare;

	v->spare = NULL;
	return s != NULL ? s : malloc(sizeof(*s));
}

/* Types that the program may give back in the meantime. */
static void
for_types(const struct collective *k, void (*hold_or_release)(const struct type *type))
{
	const struct type *types[] = {k->send.type, k->recv.type};

	for (int i = 0; i < 2; i++)
		if (types[i] != NULL && span_type_needs_hold(types[i]))
			hold_or_release(types[i]);
}

static void
finish(struct started *s)
{
	struct locality *v = s->p.g.v;
	struct request *outer = s->outer;

	if (patterns[s->k.kind].combines)
		mpi_op_release(&s->p.op);
	for_types(&s->k, span_type_release);
	list_remove(&s->pending.link);
	list_remove(&s->open);
	show_over(&s->p.g);
	if (list_is_empty(&v->open))
		v->over_most = OVER_SMALL;
	put_away(v, s);
	mpi_request_complete(outer, MPI_SUCCESS);
}

static bool
started_advance(struct pending *p)
{
	struct started *s = list_entry(p, struct started, pending);
	bool over, moved = goes_on(s, &over);

	if (over)
		finish(s);
	return moved;
}

/* Asked by a rank that has said that it sleeps: who shows something after this look wakes it. */
static bool
started_can_move(const struct pending *p)
{
	const struct started *s = list_entry(p, const struct started, pending);
	uint32_t *has_sleepers = &s->p.g.v->segment->sync.all.has_sleepers;

	if (load_total(has_sleepers) == 0)
		exchange_total(has_sleepers, 1);
	return can_go_on(s->k.kind, s);
}

/* The flag that it waits for, or NULL: all that are needed are shown, or it waits for room. */
static const uint32_t *
awaited(const struct started *s)
{
	const struct flags *g = &s->p.g;
	bool from_root = s->stage == TAKE && patterns[s->k.kind].gives == THE_ROOT;

	if (s->stage == GIVE)
		return NULL;
	for (int i = from_root ? s->k.root : 0; i < g->n; i++) {
		if (i != g->me && !rounds_is_shown(g, i))
			return &flags_of(g, g->round, i)->round;
		if (from_root)
			break;
	}
	return NULL;
}

static void
started_spin(struct pending *p)
{
	struct started *s = list_entry(p, struct started, pending);
	const uint32_t *flag;
	bool over;

	while (goes_on(s, &over), !over) {
		flag = awaited(s);
		if (flag == NULL)
			return;
		for (int i = 0; (int32_t)(load_acquire(flag) - s->p.g.round) < 0; i++)
			if (i == FLAGS_SPINS)
				return;
	}
	finish(s);
}

/* Rounds that the call takes, ROUNDS_MAX + 1 if there are more; the same on all ranks. */
ALWAYS_INLINE uint32_t
rounds_of(struct passage *p, enum coll_kind kind)
{
	uint32_t rounds = kind == COLL_BARRIER;

	for (; p->at < p->all && rounds <= ROUNDS_MAX; p->at += p->bytes) {
		next_part(p, kind);
		rounds += goes_in_slices(p, kind) ? 2 : 1;
	}
	p->at = 0;
	return rounds;
}

/*
 * There is room for few rounds of data that does not lie beside the flags: others may wait for what
 * is over here, before this call and while it is open.
 */
static void
started_room(struct started *s)
{
	struct passage *p = &s->p;

	if (s->zerocopy || p->all * (patterns[s->k.kind].each ? (size_t)p->g.n : 1) <= FLAGS_SMALL)
		return;
	p->g.v->over_most = OVER_LARGE;
	show_over(&p->g);
}

/* It has its rounds from now on; the flags are found. */
static void
set_out(struct started *s, uint32_t rounds)
{
	struct passage *p = &s->p;
	bool over = rounds == 0;

	started_room(s);
	p->g.b->round += rounds;
	mpi_flags_next(&p->g);
	s->needs = p->g.round;
	s->stage = GIVE;
	for_types(&s->k, span_type_hold);
	list_init(&s->pending.link);
	list_init(&s->open);
	if (!over) {
		list_push_back(&p->g.v->open, &s->open);
		goes_on(s, &over);
	}
	if (over) {
		finish(s);
		return;
	}
	s->pending.advance = started_advance;
	s->pending.can_move = started_can_move;
	s->pending.spin = started_spin;
	s->outer->pending = &s->pending;
	list_push_back(&p->g.self->pending, &s->pending.link);
}

/* Are there flags, and a buffer, for it? */
ALWAYS_INLINE bool
suits(enum coll_kind kind, struct started *s, const struct comm *c, enum starts how)
{
	const struct locality *v = c->locality;
	struct mpi_rank *self = s->p.g.self;
	struct passage *p = &s->p;

	if (is_zerocopy(kind, s))
		return transport_shares_memory(self) && can_combine(self, &s->k, false);
	if (!passage_describe(p, kind, self, c) ||
		(how == STARTS_LAID_SMALL && p->all > LAID_SMALL_MAX))
		return false;
	return p->all * (patterns[kind].each ? (size_t)c->size : 1) <= FLAGS_SMALL ||
		v->started.buffers != NULL;
}

/* False: it is not for flags, or takes too many rounds. */
ALWAYS_INLINE bool
started_begin(enum coll_kind kind, struct started *s, const struct comm *c, enum starts how)
{
	struct locality *v = c->locality;
	struct mpi_rank *self = s->p.g.self;
	struct passage *p = &s->p;
	uint32_t rounds;

	if (!suits(kind, s, c, how))
		return false;

	p->g = flags_on(self, v, &v->started);
	p->bytes = 0;
	p->op.own = NULL;
	p->count = s->k.recv.count;
	passage_begin(p, kind, self);
	rounds = is_zerocopy(kind, s) ? ROUNDS_ZEROCOPY : rounds_of(p, kind);
	if (rounds > ROUNDS_MAX) {
		mpi_op_release(&p->op);
		return false;
	}
	if (rounds > 1 && !is_zerocopy(kind, s))
		next_part(p, kind);
	set_out(s, rounds);
	return true;
}

bool
mpi_started(struct mpi_rank *self, struct comm *c, const struct collective *k, enum starts how,
	struct request *outer)
{
	struct locality *v = c->locality;
	struct started *s;

	if (how == STARTS_NOT || v == NULL || v->started.flags == NULL)
		return false;
	s = take_out(v);
	if (s == NULL) {
		mpi_request_complete(outer, MPI_ERR_NO_MEM);
		return true;
	}
	s->k = *k;
	s->p.k = &s->k;
	s->p.g.self = self;
	s->outer = outer;
	s->zerocopy = how == STARTS_ZEROCOPY;
	if (BY_KIND(k->kind, started_begin, s, c, how))
		return true;
	put_away(v, s);
	return false;
}

bool
mpi_flags_start(const struct fast_call *s, const struct collective *k, MPI_Request *request)
{
	struct request *r;

	if (!mpi_choose_starts(s->comm, k->kind, s->bytes))
		return false;
	r = mpi_request_new_class(s->self, s->comm, NULL, NULL);
	if (r == NULL)
		return false;
	if (!mpi_started(s->self, s->comm, k, STARTS_LAID, r)) {
		mpi_request_free(s->self, r);
		return false;
	}
	*request = (MPI_Request)r->handle;
	return true;
}
