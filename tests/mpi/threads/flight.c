/* SPDX-License-Identifier: MIT
 *
 * Operations in flight, brought to an end by all calls that can do so, in turns.
 */
#include "stress.h"

struct entry *
flight_add(struct worker *w, enum kind kind, MPI_Request **request)
{
	struct flight *f = &w->flight;
	struct entry *e = &f->entry[f->count];

	if (f->count == FLIGHT_MAX)
		MPI_Abort(MPI_COMM_WORLD, 1);
	*e = (struct entry){.kind = kind};
	*request = &f->request[f->count++];
	return e;
}

/* Number i has come to an end. */
static void
ended(struct worker *w, int i, const MPI_Status *status)
{
	struct entry *e = &w->flight.entry[i];

	expect(w, "times that a request ended before", e->ended, 0);
	if (!e->persistent)
		expect(w, "a handle is left", w->flight.request[i] != MPI_REQUEST_NULL, 0);
	e->ended++;
	e->status = *status;
}

static int
draw_open(struct worker *w)
{
	const struct flight *f = &w->flight;
	int i = (int)draw(&w->own, (uint32_t)f->count);

	while (f->entry[i].ended)
		i = (i + 1) % f->count;
	return i;
}

static void
by_wait(struct worker *w)
{
	int i = draw_open(w);
	MPI_Status status;

	w->call = "MPI_Wait";
	MPI_Wait(&w->flight.request[i], &status);
	ended(w, i, &status);
}

static void
by_test(struct worker *w)
{
	int i = draw_open(w), flag = 0;
	MPI_Status status;

	w->call = "MPI_Test";
	MPI_Test(&w->flight.request[i], &flag, &status);
	if (flag)
		ended(w, i, &status);
}

static void
by_any(struct worker *w)
{
	struct flight *f = &w->flight;
	int i = MPI_UNDEFINED, flag = 1, waits = (int)draw(&w->own, 2);
	MPI_Status status;

	w->call = waits ? "MPI_Waitany" : "MPI_Testany";
	if (waits)
		MPI_Waitany(f->count, f->request, &i, &status);
	else
		MPI_Testany(f->count, f->request, &i, &flag, &status);
	if (flag && i == MPI_UNDEFINED)
		wrong(w, "no request is open", 0, 1);
	if (i != MPI_UNDEFINED)
		ended(w, i, &status);
}

static void
by_some(struct worker *w)
{
	struct flight *f = &w->flight;
	int n = 0, index[FLIGHT_MAX], waits = (int)draw(&w->own, 2);
	MPI_Status status[FLIGHT_MAX];

	w->call = waits ? "MPI_Waitsome" : "MPI_Testsome";
	if (waits)
		MPI_Waitsome(f->count, f->request, &n, index, status);
	else
		MPI_Testsome(f->count, f->request, &n, index, status);
	if (n == MPI_UNDEFINED || (waits && n == 0))
		wrong(w, "no request is open", 0, 1);
	for (int i = 0; i < n; i++)
		ended(w, index[i], &status[i]);
}

static void
by_all(struct worker *w)
{
	struct flight *f = &w->flight;
	int flag = 1, waits = (int)draw(&w->own, 2);
	MPI_Status status[FLIGHT_MAX];

	w->call = waits ? "MPI_Waitall" : "MPI_Testall";
	if (waits)
		MPI_Waitall(f->count, f->request, status);
	else
		MPI_Testall(f->count, f->request, &flag, status);
	for (int i = 0; flag && i < f->count; i++)
		if (!f->entry[i].ended)
			ended(w, i, &status[i]);
}

/* Says that it has ended, but does not end it. */
static void
by_status(struct worker *w)
{
	int i = draw_open(w), flag = 0;
	MPI_Request r = w->flight.request[i];
	MPI_Status status;

	w->call = "MPI_Request_get_status";
	expect(w, "the same request", MPI_Request_fromint(MPI_Request_toint(r)) == r, 1);
	MPI_Request_get_status(r, &flag, &status);
	if (!flag)
		return;
	w->call = "MPI_Wait after MPI_Request_get_status";
	MPI_Wait(&w->flight.request[i], &status);
	ended(w, i, &status);
}

static int
is_over(const struct flight *f)
{
	for (int i = 0; i < f->count; i++)
		if (!f->entry[i].ended)
			return 0;
	return 1;
}

static void
check_numbers(struct worker *w, const struct entry *e)
{
	int size = w->all->size;

	if (e->kind == BCAST || e->kind == ALLREDUCE)
		expect(w, "result of a collective", e->numbers[0], e->value);
	for (int i = 0; e->kind == ALLGATHER && i < size; i++)
		expect(w, "block of a collective", e->numbers[i], e->value + i);
}

/* Cancelled, or received after all; then it came from this worker. */
static void
check_cancelled(struct worker *w, struct entry *e)
{
	int cancelled, value = e->numbers[0];
	MPI_Status status;

	MPI_Test_cancelled(&e->status, &cancelled);
	if (cancelled && e->value >= 0)
		MPI_Recv(&value, 1, MPI_INT, 0, e->tag, MPI_COMM_SELF, &status);
	if (cancelled || e->value >= 0)
		expect(w, "what was sent to a receive that may be cancelled", value, e->value);
	else
		wrong(w, "a receive ended without a message", 0, 1);
}

static void
check_entry(struct worker *w, struct entry *e)
{
	int count = 0;

	switch (e->kind) {
	case RECEIVED:
		expect_message(w, e, &e->status);
		break;
	case PARTS_IN:
		expect_message(w, e, NULL);
		break;
	case GENERAL:
		MPI_Get_count(&e->status, MPI_BYTE, &count);
		expect(w, "count of a generalised request", count, e->value);
		break;
	case CANCELLED:
		check_cancelled(w, e);
		break;
	default:
		check_numbers(w, e);
		break;
	}
}

void
flight_end(struct worker *w)
{
	static void (*const calls[])(struct worker *w) = {by_wait, by_test, by_any, by_some, by_all,
		by_status};
	struct flight *f = &w->flight;
	int index = 0, favourite = (int)draw(&w->own, 6);

	while (!is_over(f))
		calls[draw(&w->own, 3) ? favourite : (int)draw(&w->own, 6)](w);
	w->call = "MPI_Waitany of what is over";
	MPI_Waitany(f->count, f->request, &index, MPI_STATUS_IGNORE);
	expect(w, "MPI_Waitany of what is over", index, MPI_UNDEFINED);
	w->call = "the check";
	for (int i = 0; i < f->count; i++) {
		check_entry(w, &f->entry[i]);
		if (f->entry[i].persistent)
			MPI_Request_free(&f->request[i]);
		free(f->entry[i].data);
	}
	f->count = 0;
	w->call = "";
}
