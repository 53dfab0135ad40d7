/* SPDX-License-Identifier: MIT
 *
 * What ends by another thread: generalised requests, receives that are cancelled, partitions that
 * become ready, a communicator's last request, and messages within a rank.
 */
#include <sched.h>
#include <time.h>
#include "stress.h"

#define PAUSE_NS 2000000

/* Now and then long enough for the one who waits to fall asleep; no result depends on it. */
static void
dawdle(struct clerk *c)
{
	struct timespec time = {0, (long)draw(&c->random, PAUSE_NS)};

	switch (draw(&c->random, 8)) {
	case 0:
		nanosleep(&time, NULL);
		break;
	case 1:
	case 2:
		for (uint32_t n = draw(&c->random, 50); n > 0; n--)
			sched_yield();
		break;
	default:
		break;
	}
}

/* False: to be done again later. */
static int
work(struct job *j)
{
	int flag = 1;

	switch (j->kind) {
	case COMPLETE:
		MPI_Grequest_complete(j->request);
		break;
	case CANCEL:
		MPI_Cancel(&j->request);
		break;
	case READY:
		MPI_Pready(j->value, j->request);
		break;
	case FINISH:
		MPI_Test(&j->request, &flag, MPI_STATUS_IGNORE);
		break;
	default:
		if (j->value % 2)
			MPI_Send(&j->value, 1, MPI_INT, 0, TAG_SELF + j->value, MPI_COMM_SELF);
		else
			MPI_Ssend(&j->value, 1, MPI_INT, 0, TAG_SELF + j->value, MPI_COMM_SELF);
		break;
	}
	return flag;
}

static void
append(struct clerk *c, struct job job)
{
	if (c->jobs == JOBS_MAX)
		MPI_Abort(MPI_COMM_WORLD, 1);
	c->job[(c->first + c->jobs++) % JOBS_MAX] = job;
}

static void *
clerk_main(void *arg)
{
	struct clerk *c = arg;

	pthread_mutex_lock(&c->lock);
	while (c->jobs > 0 || !c->ends) {
		struct job job;
		int done;

		if (c->jobs == 0) {
			pthread_cond_wait(&c->changed, &c->lock);
			continue;
		}
		job = c->job[c->first];
		c->first = (c->first + 1) % JOBS_MAX;
		c->jobs--;
		pthread_mutex_unlock(&c->lock);
		dawdle(c);
		done = work(&job);
		pthread_mutex_lock(&c->lock);
		if (!done)
			append(c, job);
		else if (--*job.left == 0)
			pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

void
clerk_begin(struct stress *s)
{
	struct clerk *c = &s->clerk;

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	c->random = s->seed * 77 + (uint64_t)s->rank;
	if (pthread_create(&c->thread, NULL, clerk_main, c) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	c->runs = 1;
}

void
clerk_end(struct stress *s)
{
	struct clerk *c = &s->clerk;

	pthread_mutex_lock(&c->lock);
	c->ends = 1;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
}

void
clerk_ask(struct worker *w, struct job job)
{
	struct clerk *c = &w->all->clerk;

	pthread_mutex_lock(&c->lock);
	(*job.left)++;
	append(c, job);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

void
clerk_wait(struct worker *w, const int *left)
{
	struct clerk *c = &w->all->clerk;

	pthread_mutex_lock(&c->lock);
	while (*left > 0)
		pthread_cond_wait(&c->changed, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

static int
query(void *extra, MPI_Status *status)
{
	MPI_Status_set_elements(status, MPI_BYTE, *(int *)extra);
	MPI_Status_set_cancelled(status, 0);
	return MPI_SUCCESS;
}

static int
drop(void *extra)
{
	free(extra);
	return MPI_SUCCESS;
}

static int
not_cancelled(void *extra, int complete)
{
	(void)extra;
	(void)complete;
	return MPI_SUCCESS;
}

void
add_general(struct worker *w)
{
	int *count = malloc(sizeof(*count));
	MPI_Request *r;
	struct entry *e = flight_add(w, GENERAL, &r);

	e->value = *count = (int)draw(&w->own, 1000);
	MPI_Grequest_start(query, drop, not_cancelled, count, r);
	clerk_ask(w, (struct job){COMPLETE, *r, 0, &w->left});
}

/*
 * Without a message, it ends by being cancelled. With one that comes at the same time it may end
 * before, and a request that the program has waited for cannot be cancelled.
 */
void
add_cancelled(struct worker *w)
{
	MPI_Request *r;
	struct entry *e = flight_add(w, CANCELLED, &r);
	int sends = (int)draw(&w->own, 2);

	e->tag = TAG_CANCELLED + w->number;
	e->value = sends ? (int)draw(&w->own, 1000) : -1;
	e->numbers[0] = -1;
	MPI_Irecv(e->numbers, 1, MPI_INT, 0, e->tag, MPI_COMM_SELF, r);
	clerk_ask(w, (struct job){CANCEL, *r, 0, &w->left});
	if (!sends)
		return;
	w->call = "MPI_Send to a receive that may be cancelled";
	MPI_Send(&e->value, 1, MPI_INT, 0, e->tag, MPI_COMM_SELF);
	clerk_wait(w, &w->left);
}

static struct entry *
parts(struct worker *w, enum kind kind, int length, MPI_Request **r)
{
	struct entry *e = flight_add(w, kind, r);

	e->persistent = 1;
	e->channel = PARTS;
	e->source = kind == PARTS_OUT ? w->all->rank : before(w);
	e->number = kind == PARTS_OUT ? w->sent[PARTS]++ : w->received[PARTS]++;
	e->length = length;
	e->tag = TAG_PARTS + w->number;
	e->data = calloc(1, (size_t)length + 1);
	return e;
}

/* Cut in other partitions on both sides. Some become ready by this thread, some by another. */
void
add_parts(struct worker *w)
{
	int out_parts = 1 + (int)draw(&w->common, PARTS_MAX);
	int in_parts = 1 + (int)draw(&w->common, 3);
	int unit = 1 + (int)draw(&w->common, 2) * 200, length = out_parts * in_parts * unit;
	int flag = 0;
	MPI_Request *r_in, *r_out;
	struct entry *in = parts(w, PARTS_IN, length, &r_in);
	struct entry *out = parts(w, PARTS_OUT, length, &r_out);

	fill(w, out->data, out);
	w->call = "MPI_Psend_init, MPI_Precv_init";
	MPI_Precv_init(in->data, in_parts, length / in_parts, MPI_BYTE, before(w), in->tag,
		w->comm, MPI_INFO_NULL, r_in);
	MPI_Psend_init(out->data, out_parts, length / out_parts, MPI_BYTE, next(w), out->tag,
		w->comm, MPI_INFO_NULL, r_out);
	MPI_Start(r_in);
	MPI_Start(r_out);
	for (int i = 0; i < out_parts; i++) {
		if (draw(&w->own, 2))
			clerk_ask(w, (struct job){READY, *r_out, i, &w->left});
		else
			MPI_Pready(i, *r_out);
	}
	w->call = "MPI_Parrived";
	while (draw(&w->own, 4) && !flag)
		MPI_Parrived(*r_in, (int)draw(&w->own, (uint32_t)in_parts), &flag);
}

/*
 * Messages on a new communicator, which another thread brings to an end while this one waits until
 * it may go.
 */
void
duplicate(struct worker *w)
{
	int out = w->all->rank * 100 + w->step, in = -1, idle = (int)draw(&w->common, 2);
	MPI_Request r[2];
	MPI_Comm comm;

	w->call = idle ? "MPI_Comm_idup" : "MPI_Comm_dup";
	if (idle) {
		MPI_Comm_idup(w->comm, &comm, &r[0]);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	} else {
		MPI_Comm_dup(w->comm, &comm);
	}
	expect(w, "the same communicator", MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm, 1);
	MPI_Irecv(&in, 1, MPI_INT, before(w), 0, comm, &r[0]);
	MPI_Issend(&out, 1, MPI_INT, next(w), 0, comm, &r[1]);
	for (int i = 0; i < 2; i++)
		clerk_ask(w, (struct job){FINISH, r[i], 0, &w->left});
	w->call = "MPI_Comm_disconnect";
	MPI_Comm_disconnect(&comm);
	w->call = "the clerk";
	clerk_wait(w, &w->left);
	expect(w, "a message on a new communicator", in, before(w) * 100 + w->step);
}

void
from_clerk(struct worker *w)
{
	int value = 0, should = 2 * w->number + (int)draw(&w->own, 2);

	clerk_ask(w, (struct job){SEND, MPI_REQUEST_NULL, should, &w->left});
	w->call = "MPI_Recv from the clerk";
	MPI_Recv(&value, 1, MPI_INT, 0, TAG_SELF + should, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	expect(w, "a message from the clerk", value, should);
}
