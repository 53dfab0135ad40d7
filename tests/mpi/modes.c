/* SPDX-License-Identifier: MIT
 *
 * Ways to send and receive beyond the plain ones: buffered, persistent, replacing, matched,
 * cancelled, generalised. Every rank talks to its neighbours in a ring (with one rank: to itself).
 */
#include "check.h"

#define LONG 20000
static const int sizes[] = {0, 1, 96, 97, 5000, LONG};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

struct ring {
	struct check *c;
	int next;
	int before;
};

static void
test_buffered_sends_return_and_arrive_in_order(const struct ring *r)
{
	int total = SIZES * MPI_BSEND_OVERHEAD, size;
	unsigned char data[LONG], *memory, *back;

	for (int i = 0; i < SIZES; i++)
		total += sizes[i];
	memory = malloc((size_t)total);
	MPI_Buffer_attach(memory, total);
	CHECK(r->c, MPI_Buffer_attach(memory, total) == MPI_ERR_BUFFER);
	for (int i = 0; i < SIZES; i++) {
		MPI_Request request;

		check_fill(data, (size_t)sizes[i], r->c->rank, i);
		if (i % 2 == 0) {
			MPI_Bsend(data, sizes[i], MPI_BYTE, r->next, 1, MPI_COMM_WORLD);
			continue;
		}
		MPI_Ibsend(data, sizes[i], MPI_BYTE, r->next, 1, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	CHECK(r->c, MPI_Bsend(data, LONG, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD) ==
		MPI_SUCCESS);
	for (int i = 0; i < SIZES; i++) {
		MPI_Recv(data, LONG, MPI_BYTE, r->before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(r->c, check_same(data, (size_t)sizes[i], r->before, i));
	}
	MPI_Buffer_flush();
	MPI_Buffer_detach(&back, &size);
	CHECK(r->c, back == memory && size == total);
	CHECK(r->c, MPI_Buffer_detach(&back, &size) == MPI_ERR_BUFFER);
	free(memory);
}

static void
test_a_buffer_that_is_too_small_is_an_error_and_an_automatic_one_never_is(const struct ring *r)
{
	unsigned char data[LONG], memory[MPI_BSEND_OVERHEAD + 100];
	MPI_Request request;
	void *back;
	int size;

	MPI_Buffer_attach(memory, sizeof(memory));
	CHECK(r->c, MPI_Bsend(data, LONG, MPI_BYTE, r->next, 2, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
	MPI_Buffer_detach(&back, &size);
	CHECK(r->c, MPI_Bsend(data, 1, MPI_BYTE, r->next, 2, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
	MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0);
	for (int i = 0; i < 20; i++) {
		check_fill(data, LONG, r->c->rank, i);
		MPI_Bsend(data, LONG, MPI_BYTE, r->next, 2, MPI_COMM_WORLD);
	}
	MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &request);
	for (int i = 0; i < 20; i++) {
		MPI_Recv(data, LONG, MPI_BYTE, r->before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(r->c, check_same(data, LONG, r->before, i));
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &size);
	CHECK(r->c, back == MPI_BUFFER_AUTOMATIC);
}

static void
make_persistent(const struct ring *r, unsigned char out[4][LONG], unsigned char in[4][LONG],
	MPI_Request requests[8])
{
	MPI_Send_init(out[0], LONG, MPI_BYTE, r->next, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Ssend_init(out[1], 10, MPI_BYTE, r->next, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Rsend_init(out[2], 0, MPI_BYTE, r->next, 2, MPI_COMM_WORLD, &requests[2]);
	MPI_Bsend_init(out[3], 100, MPI_BYTE, r->next, 3, MPI_COMM_WORLD, &requests[3]);
	for (int i = 0; i < 4; i++)
		MPI_Recv_init(in[i], LONG, MPI_BYTE, i == 3 ? MPI_ANY_SOURCE : r->before, i,
			MPI_COMM_WORLD, &requests[4 + i]);
}

static void
test_persistent_requests_are_started_again_and_again(const struct ring *r)
{
	static const int lengths[4] = {LONG, 10, 0, 100};
	static unsigned char out[4][LONG], in[4][LONG];
	MPI_Request requests[8];
	MPI_Status statuses[8];
	void *back;
	int flag, size;

	MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
	make_persistent(r, out, in, requests);
	MPI_Test(&requests[0], &flag, &statuses[0]);
	CHECK(r->c, flag && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE &&
		requests[0] != MPI_REQUEST_NULL);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 4; i++)
			check_fill(out[i], LONG, r->c->rank, round + i);
		MPI_Startall(4, &requests[4]);
		CHECK(r->c, MPI_Start(&requests[4]) == MPI_ERR_REQUEST);
		for (int i = 0; i < 4; i++)
			MPI_Start(&requests[i]);
		MPI_Waitall(8, requests, statuses);
		for (int i = 0; i < 4; i++) {
			MPI_Get_count(&statuses[4 + i], MPI_BYTE, &size);
			CHECK(r->c, size == lengths[i] && statuses[4 + i].MPI_SOURCE == r->before &&
				statuses[4 + i].MPI_TAG == i);
			CHECK(r->c, check_same(in[i], (size_t)lengths[i], r->before, round + i));
		}
	}
	for (int i = 0; i < 8; i++)
		MPI_Request_free(&requests[i]);
	CHECK(r->c, requests[7] == MPI_REQUEST_NULL && MPI_Start(&requests[7]) == MPI_ERR_REQUEST);
	MPI_Buffer_detach(&back, &size);
}

static void
test_what_is_replaced_was_sent_before(const struct ring *r)
{
	unsigned char data[LONG];
	MPI_Request request;
	MPI_Status status;

	for (int i = 0; i < SIZES; i++) {
		check_fill(data, (size_t)sizes[i], r->c->rank, i);
		MPI_Sendrecv_replace(data, sizes[i], MPI_BYTE, r->next, 4, r->before, 4,
			MPI_COMM_WORLD, &status);
		CHECK(r->c, status.MPI_SOURCE == r->before &&
			check_same(data, (size_t)sizes[i], r->before, i));
		check_fill(data, (size_t)sizes[i], r->c->rank, i + 1);
		MPI_Isendrecv_replace(data, sizes[i], MPI_BYTE, r->next, 4, r->before, 4,
			MPI_COMM_WORLD, &request);
		MPI_Wait(&request, &status);
		CHECK(r->c, status.MPI_SOURCE == r->before &&
			check_same(data, (size_t)sizes[i], r->before, i + 1));
	}
}

static void
test_isendrecv_moves_both_ways_while_others_wait(const struct ring *r)
{
	static unsigned char out[LONG], in[4][LONG];
	MPI_Request requests[4];
	MPI_Status statuses[4];

	check_fill(out, LONG, r->c->rank, 9);
	for (int i = 0; i < 4; i++)
		MPI_Isendrecv(out, LONG, MPI_BYTE, r->next, i, in[i], LONG, MPI_BYTE, r->before, i,
			MPI_COMM_WORLD, &requests[i]);
	MPI_Waitall(4, requests, statuses);
	for (int i = 0; i < 4; i++)
		CHECK(r->c, statuses[i].MPI_TAG == i && check_same(in[i], LONG, r->before, 9));
}

static void
test_a_matched_message_is_out_of_the_way_of_others(const struct ring *r)
{
	unsigned char data[LONG];
	MPI_Request sends[3], request;
	MPI_Message first, second;
	MPI_Status status;
	int flag = 0, count;

	for (int i = 0; i < 3; i++) {
		static unsigned char out[3][LONG];

		check_fill(out[i], LONG, r->c->rank, i);
		MPI_Isend(out[i], i == 0 ? LONG : 50, MPI_BYTE, r->next, 5, MPI_COMM_WORLD,
			&sends[i]);
	}
	MPI_Mprobe(r->before, 5, MPI_COMM_WORLD, &first, &status);
	MPI_Get_count(&status, MPI_BYTE, &count);
	CHECK(r->c, count == LONG && status.MPI_SOURCE == r->before);
	while (!flag)
		MPI_Improbe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &second, &status);
	MPI_Recv(data, LONG, MPI_BYTE, r->before, 5, MPI_COMM_WORLD, &status);
	CHECK(r->c, check_same(data, 50, r->before, 2));
	MPI_Imrecv(data, LONG, MPI_BYTE, &second, &request);
	CHECK(r->c, second == MPI_MESSAGE_NULL);
	MPI_Wait(&request, &status);
	CHECK(r->c, check_same(data, 50, r->before, 1));
	MPI_Mrecv(data, LONG, MPI_BYTE, &first, &status);
	CHECK(r->c, check_same(data, LONG, r->before, 0));
	CHECK(r->c, MPI_Mrecv(data, LONG, MPI_BYTE, &first, &status) == MPI_ERR_REQUEST);
	first = MPI_MESSAGE_NO_PROC;
	MPI_Mrecv(data, LONG, MPI_BYTE, &first, &status);
	CHECK(r->c, first == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
	MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
}

static void
test_a_cancelled_receive_takes_nothing(const struct ring *r)
{
	unsigned char data[100] = {0};
	MPI_Request request;
	MPI_Status status;
	int flag;

	MPI_Irecv(data, 100, MPI_BYTE, r->before, 6, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &flag);
	CHECK(r->c, flag && request == MPI_REQUEST_NULL);
	/* nobody sends before the receive is cancelled */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Isend(data, 1, MPI_BYTE, r->next, 6, MPI_COMM_WORLD, &request);
	MPI_Recv(data, 100, MPI_BYTE, r->before, 6, MPI_COMM_WORLD, &status);
	MPI_Test_cancelled(&status, &flag);
	CHECK(r->c, !flag && status.MPI_SOURCE == r->before);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
test_some_of_several_are_told_once_each(const struct ring *r)
{
	enum { MANY = 20 };		/* more than are looked up without memory from the heap */
	unsigned char in[MANY], out = 7;
	MPI_Request requests[MANY], sends[MANY];
	MPI_Status statuses[MANY];
	int indices[MANY], seen[MANY] = {0}, n, left = MANY, flag;

	for (int i = 0; i < MANY; i++)
		MPI_Irecv(&in[i], 1, MPI_BYTE, r->before, 100 + i, MPI_COMM_WORLD, &requests[i]);
	MPI_Request_get_status_all(MANY, requests, &flag, statuses);
	for (int i = MANY - 1; i >= 0; i--)
		MPI_Isend(&out, 1, MPI_BYTE, r->next, 100 + i, MPI_COMM_WORLD, &sends[i]);
	while (left > 0) {
		if (left % 2)
			MPI_Waitsome(MANY, requests, &n, indices, statuses);
		else
			MPI_Testsome(MANY, requests, &n, indices, statuses);
		for (int i = 0; i < n; i++) {
			CHECK(r->c, statuses[i].MPI_TAG == 100 + indices[i]);
			seen[indices[i]]++;
		}
		left -= n;
	}
	for (int i = 0; i < MANY; i++)
		CHECK(r->c, seen[i] == 1 && requests[i] == MPI_REQUEST_NULL);
	MPI_Waitsome(MANY, requests, &n, indices, statuses);
	CHECK(r->c, n == MPI_UNDEFINED);
	MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
}

static void
test_a_status_can_be_read_without_ending_the_request(const struct ring *r)
{
	MPI_Request requests[2];
	MPI_Status status;
	char in, out = 1;
	int flag = 0, index;

	MPI_Irecv(&in, 1, MPI_CHAR, r->before, 8, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(&out, 1, MPI_CHAR, r->next, 8, MPI_COMM_WORLD, &requests[1]);
	while (!flag)
		MPI_Request_get_status(requests[0], &flag, &status);
	CHECK(r->c, requests[0] != MPI_REQUEST_NULL && status.MPI_SOURCE == r->before);
	MPI_Request_get_status_any(2, requests, &index, &flag, &status);
	CHECK(r->c, flag && index == 0 && status.MPI_TAG == 8);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static int freed;

static int
query(void *extra_state, MPI_Status *status)
{
	MPI_Status_set_source(status, *(int *)extra_state);
	MPI_Status_set_cancelled(status, 0);
	return MPI_SUCCESS;
}

static int
release(void *extra_state)
{
	(void)extra_state;
	freed++;
	return MPI_SUCCESS;
}

static int
cancel(void *extra_state, int complete)
{
	*(int *)extra_state = complete ? 1 : 2;
	return MPI_SUCCESS;
}

static void
test_a_generalised_request_is_completed_by_the_program(const struct ring *r)
{
	MPI_Request request, copy;
	MPI_Status status;
	int state = 42, flag;

	freed = 0;
	MPI_Grequest_start(query, release, cancel, &state, &request);
	MPI_Test(&request, &flag, &status);
	CHECK(r->c, !flag);
	MPI_Grequest_complete(request);
	MPI_Wait(&request, &status);
	CHECK(r->c, status.MPI_SOURCE == 42 && request == MPI_REQUEST_NULL && freed == 1);
	MPI_Grequest_start(query, release, cancel, &state, &request);
	copy = request;
	MPI_Cancel(&request);
	CHECK(r->c, state == 2);
	MPI_Request_free(&request);
	CHECK(r->c, freed == 1);
	MPI_Grequest_complete(copy);
	MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Each of the three may fail; what it returns is what the program gets. */
static int
fail_query(void *extra_state, MPI_Status *status)
{
	(void)status;
	return *(int *)extra_state == 0 ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

static int
fail_release(void *extra_state)
{
	return *(int *)extra_state == 1 ? MPI_ERR_IO : MPI_SUCCESS;
}

static int
fail_cancel(void *extra_state, int complete)
{
	return *(int *)extra_state != 2 ? MPI_SUCCESS : complete ? MPI_ERR_NAME : MPI_ERR_PORT;
}

static void
test_errors_of_callbacks_are_those_of_the_call(const struct ring *r)
{
	static const int wanted[] = {MPI_ERR_BUFFER, MPI_ERR_IO, MPI_SUCCESS};
	MPI_Request request;

	for (int who = 0; who < 3; who++) {
		MPI_Grequest_start(fail_query, fail_release, fail_cancel, &who, &request);
		CHECK(r->c,
			check_class(MPI_Cancel(&request)) == (who == 2 ? MPI_ERR_PORT :
			MPI_SUCCESS));
		MPI_Grequest_complete(request);
		CHECK(r->c,
			check_class(MPI_Cancel(&request)) == (who == 2 ? MPI_ERR_NAME :
			MPI_SUCCESS));
		CHECK(r->c, check_class(MPI_Wait(&request, MPI_STATUS_IGNORE)) == wanted[who]);
		CHECK(r->c, request == MPI_REQUEST_NULL);
	}
}

static void
test_the_status_of_nothing_is_empty(const struct ring *r)
{
	MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int flag = 0, index = 0;

	for (int way = 0; way < 6; way++) {
		MPI_Status s = {.MPI_SOURCE = 5, .MPI_TAG = 5, .MPI_ERROR = MPI_ERR_OTHER};

		switch (way) {
		case 0: MPI_Wait(&none[0], &s); break;
		case 1: MPI_Test(&none[0], &flag, &s); break;
		case 2: MPI_Waitany(2, none, &index, &s); break;
		case 3: MPI_Testany(2, none, &index, &flag, &s); break;
		case 4: MPI_Request_get_status(none[0], &flag, &s); break;
		default: MPI_Request_get_status_any(2, none, &index, &flag, &s); break;
		}
		CHECK(r->c, s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG &&
			s.MPI_ERROR == MPI_SUCCESS);
	}
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	struct ring r = {&c, (c.rank + 1) % c.size, (c.rank + c.size - 1) % c.size};

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	test_buffered_sends_return_and_arrive_in_order(&r);
	MPI_Barrier(MPI_COMM_WORLD);
	test_a_buffer_that_is_too_small_is_an_error_and_an_automatic_one_never_is(&r);
	test_persistent_requests_are_started_again_and_again(&r);
	test_what_is_replaced_was_sent_before(&r);
	test_isendrecv_moves_both_ways_while_others_wait(&r);
	test_a_matched_message_is_out_of_the_way_of_others(&r);
	test_a_cancelled_receive_takes_nothing(&r);
	test_some_of_several_are_told_once_each(&r);
	test_a_status_can_be_read_without_ending_the_request(&r);
	test_a_generalised_request_is_completed_by_the_program(&r);
	test_errors_of_callbacks_are_those_of_the_call(&r);
	test_the_status_of_nothing_is_empty(&r);
	return check_end(&c);
}
