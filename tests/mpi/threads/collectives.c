/* SPDX-License-Identifier: MIT
 *
 * Collectives on a worker's own communicator, and objects whose handles become numbers.
 */
#include "stress.h"

#define OBJECTS 40

/* A non-blocking one; all workers of a number start theirs in the same order. */
void
add_collective(struct worker *w)
{
	int size = w->all->size, rank = w->all->rank, step = w->step;
	enum kind kind = BARRIER + draw(&w->common, 4);
	int root = (int)draw(&w->common, (uint32_t)size);
	MPI_Request *r;
	struct entry *e = flight_add(w, kind, &r);

	e->value = step;
	e->data = malloc(sizeof(int));
	e->numbers[0] = rank == root ? step : -1;
	*(int *)(void *)e->data = rank + step;
	if (kind == ALLREDUCE)
		e->value = size * (size - 1) / 2 + size * step;
	if (kind == BARRIER)
		MPI_Ibarrier(w->comm, r);
	else if (kind == BCAST)
		MPI_Ibcast(e->numbers, 1, MPI_INT, root, w->comm, r);
	else if (kind == ALLREDUCE)
		MPI_Iallreduce(e->data, e->numbers, 1, MPI_INT, MPI_SUM, w->comm, r);
	else
		MPI_Iallgather(e->data, 1, MPI_INT, e->numbers, 1, MPI_INT, w->comm, r);
}

static void
reductions(struct worker *w)
{
	int size = w->all->size, rank = w->all->rank, step = w->step;
	int mine[2] = {rank + step, 1}, all[2], before_me[2];

	w->call = "MPI_Allreduce";
	MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, w->comm);
	expect(w, "sum", all[0], size * (size - 1) / 2 + size * step);
	expect(w, "number of ranks", all[1], size);
	w->call = "MPI_Scan";
	MPI_Scan(mine, before_me, 2, MPI_INT, MPI_SUM, w->comm);
	expect(w, "sum up to this rank", before_me[0], rank * (rank + 1) / 2 + (rank + 1) * step);
}

static void
blocks(struct worker *w)
{
	int root = (int)draw(&w->common, (uint32_t)w->all->size), all[RANKS_MAX], step = w->step;
	int mine = w->all->rank * 7 + step, value = step;

	w->call = "MPI_Allgather";
	MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, w->comm);
	for (int i = 0; i < w->all->size; i++)
		expect(w, "block of MPI_Allgather", all[i], i * 7 + step);
	w->call = "MPI_Bcast";
	MPI_Bcast(&value, 1, MPI_INT, root, w->comm);
	w->call = "MPI_Gather";
	MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, w->comm);
	for (int i = 0; w->all->rank == root && i < w->all->size; i++)
		expect(w, "block of MPI_Gather", all[i], i * 7 + step);
}

static void
large(struct worker *w)
{
	struct entry e = {.channel = CHANNELS};

	e.source = (int)draw(&w->common, (uint32_t)w->all->size);
	e.number = (uint32_t)w->step;
	e.length = draw_length(w);
	e.data = calloc(1, (size_t)e.length + 1);
	if (w->all->rank == e.source)
		fill(w, e.data, &e);
	w->call = "a long MPI_Bcast";
	MPI_Bcast(e.data, e.length, MPI_BYTE, e.source, w->comm);
	expect_message(w, &e, NULL);
	free(e.data);
	w->call = "MPI_Barrier";
	MPI_Barrier(w->comm);
}

void
collectives(struct worker *w)
{
	static void (*const all[])(struct worker *w) = {reductions, blocks, large};

	all[draw(&w->common, 3)](w);
}

/* Objects of each kind, so many that tables grow. */
void
numbers(struct worker *w)
{
	MPI_Datatype type[OBJECTS];
	MPI_Info info[OBJECTS];

	w->call = "MPI_X_fromint";
	for (int i = 0; i < OBJECTS; i++) {
		MPI_Type_contiguous(1 + i, MPI_INT, &type[i]);
		MPI_Info_create(&info[i]);
	}
	for (int i = 0; i < OBJECTS; i++) {
		int size = 0;

		MPI_Type_size(MPI_Type_fromint(MPI_Type_toint(type[i])), &size);
		expect(w, "size of a type", size, (1 + i) * (int)sizeof(int));
		expect(w, "the same info", MPI_Info_fromint(MPI_Info_toint(info[i])) == info[i], 1);
		MPI_Type_free(&type[i]);
		MPI_Info_free(&info[i]);
	}
}
