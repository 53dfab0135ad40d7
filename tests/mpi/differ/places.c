/* SPDX-License-Identifier: MIT
 *
 * The communicators that steps choose among, statuses, and the many ways to wait.
 */
#include "differ.h"

int
place_count(const struct place *p)
{
	return p->sizes[0] + (p->inter ? p->sizes[1] : 0);
}

int
place_me(const struct place *p)
{
	return p->rank + (p->side ? p->sizes[0] : 0);
}

int
place_side(const struct place *p, int endpoint)
{
	return p->inter && endpoint >= p->sizes[0];
}

int
place_rank(const struct place *p, int endpoint)
{
	return endpoint - (place_side(p, endpoint) ? p->sizes[0] : 0);
}

static void
describe(struct place *p, const char *name, int side, int salt)
{
	int own, other;

	p->name = name;
	p->salt = salt;
	if (p->comm == MPI_COMM_NULL)
		return;
	MPI_Comm_set_errhandler(p->comm, MPI_ERRORS_RETURN);
	MPI_Comm_test_inter(p->comm, &p->inter);
	MPI_Comm_rank(p->comm, &p->rank);
	MPI_Comm_size(p->comm, &own);
	p->sizes[0] = own;
	if (!p->inter)
		return;
	MPI_Comm_remote_size(p->comm, &other);
	p->side = side;
	p->sizes[side] = own;
	p->sizes[1 - side] = other;
}

void
places_open(struct differ *d)
{
	struct place *p = d->places;
	int color = d->rank < d->size / 3 ? MPI_UNDEFINED : d->rank > d->size / 2;

	p[0].comm = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &p[1].comm);
	MPI_Comm_split(MPI_COMM_WORLD, d->rank % 2, d->rank, &p[2].comm);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -d->rank, &p[3].comm);
	MPI_Comm_split(MPI_COMM_WORLD, color, 0, &p[4].comm);
	p[5].comm = MPI_COMM_NULL;
	if (d->size > 1)
		MPI_Intercomm_create(p[2].comm, 0, MPI_COMM_WORLD, 1 - d->rank % 2, 5, &p[5].comm);
	describe(&p[0], "world", 0, 0);
	describe(&p[1], "copy", 0, 0);
	describe(&p[2], "half", 0, d->rank % 2);
	describe(&p[3], "reversed", 0, 0);
	describe(&p[4], "some", 0, color);
	describe(&p[5], "between", d->rank % 2, 0);
}

void
places_close(struct differ *d)
{
	for (int i = 1; i < PLACES; i++)
		if (d->places[i].comm != MPI_COMM_NULL)
			MPI_Comm_free(&d->places[i].comm);
}

void
status_sum(struct sum *sum, const MPI_Status *s, MPI_Datatype type, int elements)
{
	int count = -1;
	MPI_Count wide = -1;

	sum_number(sum, s->MPI_SOURCE);
	sum_number(sum, s->MPI_TAG);
	if (type == MPI_DATATYPE_NULL)
		return;
	MPI_Get_count(s, type, &count);
	sum_number(sum, count);
	if (!elements)
		return;
	MPI_Get_elements(s, type, &count);
	MPI_Get_elements_c(s, type, &wide);
	sum_number(sum, count);
	sum_number(sum, wide);
}

/* Is it an error? */
static int
failed(const struct differ *d, int result)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	if (result == MPI_SUCCESS)
		return 0;
	if (d->verbose) {
		MPI_Error_string(result, text, &len);
		SAY(d, "completion: %s", text);
	}
	return 1;
}

static int
finish_some(struct differ *d, int n, MPI_Request *r, MPI_Status *s)
{
	int which[64], done = 0, wait = below(&d->own, 2);
	MPI_Status some[64];

	for (;;) {
		int result = wait ? MPI_Waitsome(n, r, &done, which, some) :
			MPI_Testsome(n, r, &done, which, some);

		if (failed(d, result))
			return 1;
		if (done == MPI_UNDEFINED)
			return 0;
		for (int i = 0; i < done; i++)
			s[which[i]] = some[i];
	}
}

static int
finish_any(struct differ *d, int n, MPI_Request *r, MPI_Status *s)
{
	int wait = below(&d->own, 2);

	for (;;) {
		int flag = 1, i = MPI_UNDEFINED, result;
		MPI_Status one;

		result = wait ? MPI_Waitany(n, r, &i, &one) : MPI_Testany(n, r, &i, &flag, &one);
		if (failed(d, result))
			return 1;
		if (flag && i == MPI_UNDEFINED)
			return 0;
		if (flag)
			s[i] = one;
	}
}

static int
finish_each(struct differ *d, int n, MPI_Request *r, MPI_Status *s)
{
	int errors = 0, start = n > 0 ? below(&d->own, n) : 0;

	for (int i = 0; i < n; i++) {
		int at = (i + start) % n, done = 0;

		if (r[at] == MPI_REQUEST_NULL)
			continue;
		if (below(&d->own, 2)) {
			errors += failed(d, MPI_Wait(&r[at], &s[at]));
			continue;
		}
		while (!done)
			errors += failed(d, MPI_Test(&r[at], &done, &s[at]));
	}
	return errors;
}

/* After an error of a library that is not to be trusted: nothing may be left on its way. */
static int
finish_rest(struct differ *d, int errors, MPI_Request *r, int n)
{
	for (int i = 0; errors > 0 && !d->ours && i < n; i++)
		if (r[i] != MPI_REQUEST_NULL)
			MPI_Wait(&r[i], MPI_STATUS_IGNORE);
	return errors;
}

int
finish_collectives(struct differ *d, int n, MPI_Request *r, MPI_Status *s)
{
	int errors;

	switch (n <= 64 ? below(&d->own, 4) : 2) {
	case 0: errors = finish_some(d, n, r, s); break;
	case 1: errors = finish_any(d, n, r, s); break;
	case 2: errors = finish_each(d, n, r, s); break;
	default: errors = failed(d, MPI_Waitall(n, r, s)); break;
	}
	return finish_rest(d, errors, r, n);
}

int
finish_all(struct differ *d, int n, MPI_Request *r, MPI_Status *s)
{
	int done = 0, result = MPI_SUCCESS;

	if (below(&d->own, 5) > 0)
		return finish_collectives(d, n, r, s);
	while (!done && result == MPI_SUCCESS)
		result = MPI_Testall(n, r, &done, s);
	return finish_rest(d, failed(d, result), r, n);
}
