/* SPDX-License-Identifier: MIT
 *
 * Schedules: how they are written. Those that are over are kept with their memory for the next
 * ones.
 */
#include <stdlib.h>
#include <mpi/coll/sched.h>
#include <mpi/core/request.h>

#define STEPS_FIRST 16
#define SPARE_STEPS_MAX 4096		/* longer ones are not kept */

/* behind it, the memory that it stands for */
struct scratch {
	_Alignas(16) struct scratch *next;
};

struct sched *
mpi_sched_new(struct mpi_rank *self, struct comm *c)
{
	struct sched *s = self->spare_scheds;

	if (s != NULL)
		self->spare_scheds = s->next_spare;
	else if ((s = malloc(sizeof(*s))) == NULL)
		return NULL;
	else
		*s = (struct sched){.self = self};
	*s = (struct sched){.self = self, .c = c, .rank = c->rank, .size = c->size, .stride = 1,
		.tag = (int32_t)(c->collectives++ & TAG_NUMBER),
		.steps = s->steps, .capacity = s->capacity, .requests = s->requests,
			.request_capacity = s->request_capacity};
	list_init(&s->pending.link);
	return s;
}

static void
sched_drop(struct sched *s)
{
	free(s->requests);
	free(s->steps);
	free(s);
}

void
mpi_sched_free(struct sched *s)
{
	struct scratch *next;

	for (; s->scratch != NULL; s->scratch = next) {
		next = s->scratch->next;
		free(s->scratch);
	}
	mpi_op_release(&s->op);
	for (unsigned i = 0; i < s->held_count; i++)
		span_type_release(s->held[i]);
	free(s->held);
	if (s->capacity > SPARE_STEPS_MAX) {
		sched_drop(s);
		return;
	}
	s->next_spare = s->self->spare_scheds;
	s->self->spare_scheds = s;
}

void
mpi_sched_exit(struct mpi_rank *self)
{
	struct sched *s;

	while ((s = self->spare_scheds) != NULL) {
		self->spare_scheds = s->next_spare;
		sched_drop(s);
	}
}

static struct step *
add(struct sched *s, enum step_kind kind)
{
	if (s->count == s->capacity) {
		unsigned capacity = s->capacity > 0 ? 2 * s->capacity : STEPS_FIRST;
		struct step *steps = realloc(s->steps, capacity * sizeof(*steps));

		if (steps == NULL) {
			s->broken = MPI_ERR_NO_MEM;
			return NULL;
		}
		s->steps = steps;
		s->capacity = capacity;
	}
	s->steps[s->count] = (struct step){.kind = (uint8_t)kind, .local = s->local};
	return &s->steps[s->count++];
}

static void
message(struct sched *s, enum step_kind kind, struct span span, int peer)
{
	struct step *step = add(s, kind);

	if (step == NULL)
		return;
	step->peer = s->map ? s->map[peer] : s->first + peer * s->stride;
	step->span = span;
	if (++s->messages > s->most)
		s->most = s->messages;
}

void
mpi_sched_send(struct sched *s, struct span data, int peer)
{
	message(s, STEP_SEND, data, peer);
}

void
mpi_sched_recv(struct sched *s, struct span room, int peer)
{
	message(s, STEP_RECV, room, peer);
}

static void
local_step(struct sched *s, enum step_kind kind, struct span to, struct span from)
{
	struct step *step = add(s, kind);

	if (step == NULL)
		return;
	step->span = to;
	step->from = from;
}

void
mpi_sched_copy(struct sched *s, struct span to, struct span from)
{
	if (to.count > 0 && from.count > 0 && (to.at != from.at || to.type != from.type))
		local_step(s, STEP_COPY, to, from);
}

void
mpi_sched_rows(struct sched *s, const struct rows *rows)
{
	struct rows *kept = rows->bytes > 0 &&
		rows->count > 0 ? mpi_sched_scratch(s, sizeof(*kept)) : NULL;

	if (kept == NULL)
		return;
	*kept = *rows;
	local_step(s, STEP_ROWS, span_bytes(rows->to, 0), span_bytes(kept, 0));
}

void
mpi_sched_reduce(struct sched *s, struct span in, struct span inout)
{
	if (in.count > 0)
		local_step(s, STEP_REDUCE, inout, in);
}

void
mpi_sched_deal(struct sched *s, struct span out, struct span all, const MPI_Count *counts)
{
	MPI_Count first = 0;

	if (s->rank != 0)
		mpi_sched_recv(s, out, 0);
	for (int i = 0; s->rank == 0 && i < s->size; first += counts[i++])
		if (i == 0)
			mpi_sched_copy(s, out, span_slice(all, 0, counts[0]));
		else
			mpi_sched_send(s, span_slice(all, first, counts[i]), i);
	mpi_sched_round(s);
}

void
mpi_sched_round(struct sched *s)
{
	if (s->count == s->round)
		return;
	s->steps[s->count - 1].last = true;
	s->round = s->count;
	s->messages = 0;
}

void *
mpi_sched_scratch(struct sched *s, size_t bytes)
{
	struct scratch *new = malloc(sizeof(*new) + bytes);

	if (new == NULL) {
		s->broken = MPI_ERR_NO_MEM;
		return NULL;
	}
	new->next = s->scratch;
	s->scratch = new;
	return new + 1;
}

struct span
mpi_sched_room(struct sched *s, MPI_Count count, const struct type *type)
{
	MPI_Count begin;
	size_t bytes = (size_t)mpi_type_span(type, count, &begin),
		whole = (size_t)(count * type->extent);

	/* operations touch elements with their padding, also the last one */
	if (begin == 0 && bytes < whole)
		bytes = whole;
	return (struct span){span_shift(mpi_sched_scratch(s, bytes), -begin), count, type};
}

void
mpi_sched_among(struct sched *s, const int *map, int size, int rank)
{
	s->map = map;
	s->size = size;
	s->rank = rank;
}

void
mpi_sched_among_every(struct sched *s, int first, int stride, int size, int rank)
{
	mpi_sched_among(s, NULL, size, rank);
	s->first = first;
	s->stride = stride;
}

void
mpi_sched_all(struct sched *s)
{
	mpi_sched_among_every(s, 0, 1, s->c->size, s->c->rank);
}

void
mpi_sched_local(struct sched *s, bool local)
{
	s->local = local;
}

void
mpi_sched_hold(struct sched *s, const struct type *type)
{
	const struct type **held;

	if (!span_type_needs_hold(type) || (s->held_count > 0 &&
		s->held[s->held_count - 1] == type))
		return;
	held = realloc(s->held, (s->held_count + 1) * sizeof(*held));
	if (held == NULL) {
		s->broken = MPI_ERR_NO_MEM;
		return;
	}
	s->held = held;
	s->held[s->held_count++] = type;
	span_type_hold(type);
}
