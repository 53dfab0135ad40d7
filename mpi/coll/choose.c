/* SPDX-License-Identifier: MIT
 *
 * Which algorithm a collective uses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi_coll_table.h>
#include <mpi/coll/choose.h>
#include <mpi/coll/locality.h>
#include <mpi/coll/flags.h>
#include <mpi/core/errhandler.h>
#include <mpi/core/info.h>
#include <mpi/transport/transport.h>

#define HINT "atoll_coll"
#define VARIABLE "ATOLL_MPI_COLL"

/*
 * One collective's share. What blocking calls of small data need comes first: they touch nothing
 * else.
 */
struct plan_kind {
	size_t small;			/* bytes up to which this holds */
	const struct algorithm *blocking;
	const struct algorithm *forced;
	const struct choice *rows;	/* those for so many ranks */
	bool strict;			/* the one that is forced, or an error */
};

struct plan {
	struct plan_flags_fast flags_fast;
	struct plan_kind kind[COLL_NEIGHBOR_ALLGATHER];
	/* blocking calls whose blocks differ */
	const struct algorithm *uneven[COLL_ALLTOALL + 1];
};

static const struct algorithm *
named(enum coll_kind kind, const char *name, size_t len)
{
	const char *at = coll_algorithm_names[kind];

	for (int i = 0; *at != '\0'; i++, at += strlen(at) + 1)
		if (strlen(at) == len && memcmp(at, name, len) == 0)
			return coll_algorithms[kind][i];
	return NULL;
}

/* One "collective=algorithm", or "collective=algorithm!". False: there is none such. */
static bool
force(struct plan *p, const char *word, size_t len)
{
	const char *equals = memchr(word, '=', len);
	size_t kind_len = equals ? (size_t)(equals - word) : 0;
	bool strict = len > 0 && word[len - 1] == '!';
	int kind = 0;

	while (kind < COLL_NEIGHBOR_ALLGATHER && (strncmp(coll_kind_names[kind], word, kind_len) !=
			0 || coll_kind_names[kind][kind_len] != '\0'))
		kind++;
	if (equals == NULL || kind == COLL_NEIGHBOR_ALLGATHER)
		return false;
	p->kind[kind].forced = named((enum coll_kind)kind, equals + 1, len - kind_len - 1 - strict);
	p->kind[kind].strict = strict;
	return p->kind[kind].forced != NULL;
}

/* The first word of a list that means nothing, or NULL. */
static const char *
force_all(struct plan *p, const char *list)
{
	while (*list != '\0') {
		size_t len = strcspn(list, ",");

		if (!force(p, list, len))
			return list;
		list += len;
		list += *list == ',';
	}
	return NULL;
}

/* From this row on those for a collective and a mapping stand in order. */
static const struct choice *
rows_among(uint16_t first, int ranks)
{
	const struct choice *row = &coll_rows[first];

	while (row->ranks < ranks)
		row++;
	return row;
}

static const struct choice *
rows_for(enum coll_kind kind, enum mapping mapping, int ranks)
{
	return rows_among(coll_choices[kind][mapping], ranks);
}

static enum mapping
mapping_of(struct mpi_rank *self, const struct locality *v)
{
	if (!transport_shares_memory(self))
		return MAPPING_PROCESS;
	return v->clusters == 1 ? MAPPING_CLUSTER : v->largest == 1 ? MAPPING_SPREAD :
		MAPPING_CLUSTERS;
}

static const struct algorithm *
at(enum coll_kind kind, uint8_t number)
{
	return coll_algorithms[kind][number];
}

/* All ranks find the same. With one block for each rank, they share the line of a flag. */
static size_t
flags_fast_below(enum coll_kind kind, const struct plan_kind *p, int ranks)
{
	bool deals = kind == COLL_SCATTER || kind == COLL_ALLTOALL || kind == COLL_REDUCE_SCATTER;
	size_t most = deals ? FLAGS_SMALL / (size_t)ranks : FLAGS_SMALL;

	if (!p->blocking->flags_fast)
		return 0;
	return 1 + (p->small < most ? p->small : most);
}

static uint32_t
by_flags(enum coll_kind kind, const struct plan_kind *p)
{
	const struct choice *row = p->rows;
	size_t bytes = 0;

	if (p->forced != NULL)
		return 0;
	while (at(kind, row->blocking)->flags_fast && bytes < UINT32_MAX)
		bytes = row++->bytes;
	return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

size_t
mpi_choose_central_fast(const struct comm *c, enum coll_kind kind, size_t most)
{
	const struct plan_kind *p = c->plan ? &c->plan->kind[kind] : NULL;

	if (p == NULL || !p->blocking->central_fast)
		return 0;
	return 1 + (p->small < most ? p->small : most);
}

static void
choose_fill(enum coll_kind kind, struct plan_kind *p, const struct choice *rows)
{
	p->rows = rows;
	p->small = p->forced ? SIZE_MAX : rows->bytes;
	p->blocking = p->forced ? p->forced : at(kind, rows->blocking);
}

/*
 * Few ranks on fewer cores are faster with the fast path of central barriers than with flags. Cores
 * and ranks are counted alike by all.
 */
static void
prefer_central_fast(struct mpi_rank *self, const struct locality *v, struct plan_kind *p,
	enum coll_kind kind)
{
	bool crowd = v->clusters == 1 && (uint32_t)v->ranks >= 2 * v->cores &&
		transport_shares_memory(self);
	const struct algorithm *central = kind == COLL_BARRIER ? &mpi_algorithm_barrier_central
		: &mpi_algorithm_allreduce_central;

	if (!crowd || p->forced != NULL || !p->blocking->flags_fast ||
		(kind != COLL_BARRIER && kind != COLL_ALLREDUCE))
		return;
	p->blocking = central;
	p->small = p->small < FAST_BYTES ? p->small : FAST_BYTES;
}

static void
refuse(struct mpi_rank *self, const char *word)
{
	char message[160];

	snprintf(message, sizeof(message),
		VARIABLE ": there is no such collective or algorithm: %.*s",
		(int)strcspn(word, ","), word);
	mpi_die(self, 2, message);
}

static struct plan *
plan_of(struct mpi_rank *self, struct comm *c)
{
	const char *hint = c->info ? mpi_info_value(c->info, HINT) : NULL,
		*variable = getenv(VARIABLE), *bad;
	struct locality *v = mpi_locality_survey(self, c);
	struct plan *p = v ? calloc(1, sizeof(*p)) : NULL;

	if (p == NULL)
		return NULL;
	bad = variable ? force_all(p, variable) : NULL;
	if (bad != NULL)
		refuse(self, bad);
	if (hint != NULL)
		force_all(p, hint);
	for (int kind = 0; kind < COLL_NEIGHBOR_ALLGATHER; kind++) {
		choose_fill((enum coll_kind)kind, &p->kind[kind], rows_for((enum coll_kind)kind,
			mapping_of(self, v), c->size));
		prefer_central_fast(self, v, &p->kind[kind], (enum coll_kind)kind);
		p->flags_fast.below[kind] = (uint8_t)flags_fast_below((enum coll_kind)kind,
			&p->kind[kind], c->size);
	}
	for (int kind = COLL_BCAST; kind <= COLL_ALLREDUCE; kind++)
		p->flags_fast.by_flags[kind] = by_flags((enum coll_kind)kind, &p->kind[kind]);
	for (int kind = COLL_GATHER; kind <= COLL_ALLTOALL; kind++)
		p->uneven[kind] = at((enum coll_kind)kind,
			rows_among(coll_uneven[kind][mapping_of(self, v)], c->size)->blocking);
	c->plan = p;
	return p;
}

static const struct choice *
row_for(const struct choice *row, size_t bytes)
{
	while (row->bytes < bytes)
		row++;
	return row;
}

/* The one that can do anything. */
static const struct algorithm *
general(enum coll_kind kind)
{
	const struct algorithm *const *a = coll_algorithms[kind];

	while ((*a)->fits != NULL || (*a)->write == NULL)
		a++;
	return *a;
}

size_t
mpi_choose_bytes(const struct comm *c, const struct collective *k)
{
	bool at_root = c->rank == k->root, gives = k->kind == COLL_GATHER ? !at_root : at_root;
	bool sends = gives && (k->kind == COLL_GATHER || k->kind == COLL_SCATTER);
	const struct side *s = sends ? &k->send : &k->recv;
	size_t all = 0;

	if (k->kind == COLL_BARRIER)
		return 0;
	if (k->even || (k->kind != COLL_ALLGATHER && k->kind != COLL_REDUCE_SCATTER))
		return (size_t)(s->count * s->type->size);
	for (int i = 0; i < c->size; i++)
		all += (size_t)numbers_at(s->counts, (size_t)i);
	return all * (size_t)s->type->size / (size_t)c->size;
}

/* Do all ranks see the same size? Not with blocks that differ and which only some ranks know of. */
static bool
size_is_known(const struct collective *k)
{
	return k->even || k->kind == COLL_BCAST || k->kind == COLL_BARRIER ||
		k->kind == COLL_ALLGATHER || k->kind >= COLL_REDUCE;
}

static bool
is_uneven(const struct collective *k)
{
	return !k->even && k->kind >= COLL_GATHER && k->kind <= COLL_ALLTOALL;
}

const struct algorithm *
mpi_choose(struct mpi_rank *self, struct comm *c, const struct collective *k)
{
	struct plan *p = c->plan ? c->plan : plan_of(self, c);
	const struct plan_kind *q = p ? &p->kind[k->kind] : NULL;
	size_t bytes;

	if (q == NULL || q->forced)
		return q == NULL ? NULL : q->forced;
	if (is_uneven(k))
		return p->uneven[k->kind];
	bytes = mpi_choose_bytes(c, k);
	return bytes <= q->small ? q->blocking : at(k->kind, row_for(q->rows, bytes)->blocking);
}

static bool
can(const struct algorithm *a, const struct sched *s, const struct work *w)
{
	return a != NULL && a->write != NULL && (a->fits == NULL || a->fits(s, w));
}

void
mpi_choose_write(struct sched *s, const struct work *w)
{
	struct plan *p = s->c->plan ? s->c->plan : plan_of(s->self, s->c);
	enum coll_kind kind = w->k->kind;
	const struct plan_kind *q = p ? &p->kind[kind] : NULL;
	const struct choice *row;

	if (q == NULL) {
		s->broken = MPI_ERR_NO_MEM;
		return;
	}
	row = size_is_known(w->k) ? row_for(q->rows, mpi_choose_bytes(s->c, w->k)) : NULL;
	if (can(q->forced, s, w))
		q->forced->write(s, w);
	else if (q->strict)
		s->broken = MPI_ERR_UNSUPPORTED_OPERATION;
	else if (row != NULL && s->blocking && can(at(kind, row->blocking), s, w))
		at(kind, row->blocking)->write(s, w);
	else if (row != NULL && can(at(kind, row->started), s, w))
		at(kind, row->started)->write(s, w);
	else
		general(kind)->write(s, w);
}

void
mpi_choose_write_part(struct sched *s, const struct work *w, bool near)
{
	enum coll_kind kind = w->k->kind;
	enum mapping mapping = !near ? MAPPING_SPREAD : transport_shares_memory(s->self)
		? MAPPING_CLUSTER : MAPPING_PROCESS;
	/* parts of a reduce-scatter may differ, its operand does not */
	size_t bytes = kind == COLL_BARRIER ? 0 : kind == COLL_REDUCE_SCATTER
		? span_size(w->in) / (size_t)s->size : span_size(w->out);
	const struct choice *row = row_for(rows_for(kind, mapping, s->size), bytes);

	if (can(at(kind, row->started), s, w))
		at(kind, row->started)->write(s, w);
	else
		general(kind)->write(s, w);
}

bool
mpi_work_is_even(const struct sched *s, const struct work *w)
{
	(void)s;
	return w->even;
}

bool
mpi_work_may_be_cut(const struct sched *s, const struct work *w)
{
	return s->op.own == NULL && w->out.count >= s->size;
}

bool
mpi_work_commutes(const struct sched *s, const struct work *w)
{
	(void)w;
	return mpi_operation_commutes(&s->op);
}
