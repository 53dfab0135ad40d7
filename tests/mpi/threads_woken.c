/* SPDX-License-Identifier: MIT
 *
 * A thread that waits in MPI goes on when what it waits for is there, whoever brought that about:
 * another thread of the rank, by a call that moves no message, or a peer, while a third thread
 * looks for messages. usage: threads_woken [CASE...]
 *
 * The others give the one that waits time to fall asleep first. That makes a lost wake-up likely to
 * show; no result depends on it.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include "check.h"

#define ROUNDS 12
#define PARTS 3
#define OBJECTS 4000

enum { TAG_GO = 1, TAG_FIRST, TAG_SECOND, TAG_ANSWER };

/* What a second thread does, and what it needs. */
struct helper {
	struct check check;
	MPI_Request request;
	MPI_Comm comm;
	int round;
	int value;
	pthread_t thread;
};

/* From nothing to some milliseconds. */
static void
let_others_wait(int round)
{
	struct timespec time = {0, (long)(round * round % 7) * 2000000};

	if (time.tv_nsec > 0)
		nanosleep(&time, NULL);
}

static void
begin(struct helper *h, void *(*work)(void *))
{
	if (pthread_create(&h->thread, NULL, work, h) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void
end(struct helper *h, struct check *c)
{
	pthread_join(h->thread, NULL);
	c->errors += h->check.errors;
}

static int
query(void *extra, MPI_Status *status)
{
	(void)extra;
	MPI_Status_set_elements(status, MPI_BYTE, 5);
	MPI_Status_set_cancelled(status, 0);
	return MPI_SUCCESS;
}

static int
nothing(void *extra)
{
	(void)extra;
	return MPI_SUCCESS;
}

static int
not_cancelled(void *extra, int complete)
{
	(void)extra;
	(void)complete;
	return MPI_SUCCESS;
}

static void *
complete(void *arg)
{
	struct helper *h = arg;

	let_others_wait(h->round);
	MPI_Grequest_complete(h->request);
	return NULL;
}

/* Alone, and while another thread looks for messages. */
static void
test_a_generalised_request_is_completed_by_another_thread(struct check *c)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct helper h = {.check = {c->rank, c->size, 0}, .round = round};
		MPI_Request request;
		MPI_Status status;
		int count = 0;

		MPI_Grequest_start(query, nothing, not_cancelled, NULL, &request);
		h.request = request;
		begin(&h, complete);
		MPI_Wait(&request, &status);
		MPI_Get_count(&status, MPI_BYTE, &count);
		CHECK(c, count == 5 && request == MPI_REQUEST_NULL);
		end(&h, c);
	}
}

static void *
cancel(void *arg)
{
	struct helper *h = arg;

	let_others_wait(h->round);
	MPI_Cancel(&h->request);
	return NULL;
}

static void
test_a_receive_is_cancelled_by_another_thread(struct check *c)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct helper h = {.check = {c->rank, c->size, 0}, .round = round};
		int value = 0, cancelled = 0;
		MPI_Request request;
		MPI_Status status;

		MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG_FIRST, MPI_COMM_SELF, &request);
		h.request = request;
		begin(&h, cancel);
		MPI_Wait(&request, &status);
		MPI_Test_cancelled(&status, &cancelled);
		CHECK(c, cancelled);
		end(&h, c);
	}
}

static void *
make_ready(void *arg)
{
	struct helper *h = arg;

	for (int i = 0; i < PARTS; i++) {
		let_others_wait(h->round + i);
		MPI_Pready(i, h->request);
	}
	return NULL;
}

static void
receive_parts(struct check *c, MPI_Request recv, const int in[])
{
	for (int round = 0; round < ROUNDS; round++) {
		MPI_Start(&recv);
		MPI_Wait(&recv, MPI_STATUS_IGNORE);
		CHECK(c, in[0] == 1 && in[1] == 2 && in[2] == 3);
	}
	MPI_Request_free(&recv);
}

static void
send_parts(struct check *c, MPI_Request send)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct helper h = {.check = {c->rank, c->size, 0}, .round = round, .request = send};

		MPI_Start(&send);
		begin(&h, make_ready);
		MPI_Wait(&send, MPI_STATUS_IGNORE);
		end(&h, c);
	}
	MPI_Request_free(&send);
}

/* The pieces fit into packets: each has gone when MPI_Pready returns, and nothing comes back. */
static void
test_partitions_become_ready_in_another_thread(struct check *c)
{
	int partner = c->rank ^ 1, parts[PARTS] = {1, 2, 3};
	MPI_Request request;

	if (partner >= c->size)
		return;
	if (c->rank % 2 == 0) {
		MPI_Psend_init(parts, PARTS, 1, MPI_INT, partner, TAG_FIRST, MPI_COMM_WORLD,
			MPI_INFO_NULL, &request);
		send_parts(c, request);
	} else {
		MPI_Precv_init(parts, PARTS, 1, MPI_INT, partner, TAG_FIRST, MPI_COMM_WORLD,
			MPI_INFO_NULL, &request);
		receive_parts(c, request, parts);
	}
}

static void *
let_go(void *arg)
{
	struct helper *h = arg;

	let_others_wait(h->round);
	MPI_Wait(&h->request, MPI_STATUS_IGNORE);
	CHECK(&h->check, h->value == h->round);
	return NULL;
}

static void
test_a_communicator_is_let_go_by_another_thread(struct check *c)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct helper h = {.check = {c->rank, c->size, 0}, .round = round, .value = -1};
		int flag = 0;

		MPI_Comm_dup(MPI_COMM_SELF, &h.comm);
		MPI_Irecv(&h.value, 1, MPI_INT, 0, TAG_FIRST, h.comm, &h.request);
		MPI_Send(&round, 1, MPI_INT, 0, TAG_FIRST, h.comm);
		while (!flag)
			MPI_Request_get_status(h.request, &flag, MPI_STATUS_IGNORE);
		begin(&h, let_go);
		MPI_Comm_disconnect(&h.comm);
		CHECK(c, h.comm == MPI_COMM_NULL);
		end(&h, c);
	}
}

static void *
send_both(void *arg)
{
	struct helper *h = arg;
	int partner = h->check.rank + 1;

	let_others_wait(h->round);
	MPI_Ssend(&h->value, 1, MPI_INT, partner, TAG_FIRST, MPI_COMM_WORLD);
	MPI_Send(&h->value, 1, MPI_INT, partner, TAG_SECOND, MPI_COMM_WORLD);
	return NULL;
}

/*
 * A receive in one thread looks for messages; the other thread's synchronous send is completed by
 * the peer, who needs no packet to do so.
 */
static void
test_a_synchronous_send_completes_while_another_thread_receives(struct check *c)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct helper h = {.check = {c->rank, c->size, 0}, .round = round, .value = round};
		int partner = c->rank ^ 1, value = -1;

		if (partner >= c->size)
			return;
		if (c->rank % 2 == 0) {
			begin(&h, send_both);
			MPI_Recv(&value, 1, MPI_INT, partner, TAG_ANSWER, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
			CHECK(c, value == round);
			end(&h, c);
			continue;
		}
		let_others_wait(round + 3);
		MPI_Recv(&value, 1, MPI_INT, partner, TAG_FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(&value, 1, MPI_INT, partner, TAG_SECOND, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		CHECK(c, value == round);
		MPI_Send(&value, 1, MPI_INT, partner, TAG_ANSWER, MPI_COMM_WORLD);
	}
}

/* As many as make the table of types grow, again and again. */
static void *
make_types(void *arg)
{
	MPI_Datatype *types = malloc(OBJECTS * sizeof(*types));

	(void)arg;
	for (int i = 0; i < OBJECTS; i++)
		MPI_Type_contiguous(1 + i % 5, MPI_INT, &types[i]);
	for (int i = 0; i < OBJECTS; i++)
		MPI_Type_free(&types[i]);
	free(types);
	return NULL;
}

static void
test_handles_are_numbers_while_others_are_made(struct check *c)
{
	struct helper h = {.check = {c->rank, c->size, 0}};
	MPI_Datatype mine;
	int wrong = 0;

	MPI_Type_contiguous(3, MPI_INT, &mine);
	begin(&h, make_types);
	for (int i = 0; i < OBJECTS; i++)
		wrong += MPI_Type_fromint(MPI_Type_toint(mine)) != mine;
	CHECK(c, wrong == 0);
	MPI_Type_free(&mine);
	end(&h, c);
}

static void *
look_at_the_clock(void *arg)
{
	double *seconds = arg;

	*seconds = MPI_Wtime();
	return NULL;
}

static void
test_all_threads_have_one_clock(struct check *c)
{
	for (int round = 0; round < ROUNDS; round++) {
		double before = MPI_Wtime(), there = 0, after;
		pthread_t thread;

		pthread_create(&thread, NULL, look_at_the_clock, &there);
		pthread_join(thread, NULL);
		after = MPI_Wtime();
		CHECK(c, before <= there && there <= after);
	}
}

static const struct {
	const char *name;
	void (*test)(struct check *c);
} cases[] = {
	{"grequest", test_a_generalised_request_is_completed_by_another_thread},
	{"cancel", test_a_receive_is_cancelled_by_another_thread},
	{"pready", test_partitions_become_ready_in_another_thread},
	{"disconnect", test_a_communicator_is_let_go_by_another_thread},
	{"ssend", test_a_synchronous_send_completes_while_another_thread_receives},
	{"fromint", test_handles_are_numbers_while_others_are_made},
	{"clock", test_all_threads_have_one_clock},
};

static int
is_asked_for(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return 1;
	return argc <= 1;
}

int
main(int argc, char **argv)
{
	struct check c = {0};
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c.size);
	CHECK(&c, provided == MPI_THREAD_MULTIPLE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (is_asked_for(cases[i].name, argc, argv))
			cases[i].test(&c);
	return check_end(&c);
}
