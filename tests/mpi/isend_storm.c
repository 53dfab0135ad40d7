/* SPDX-License-Identifier: MIT
 *
 * Many non-blocking sends and receives at once, between all pairs, of sizes of all protocols;
 * completed by Waitall, Testall and Waitany.
 */
#include "check.h"

#define EACH 12
#define ROUNDS 4

static const int sizes[] = {0, 8, 97, 5000, 70000, 32};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define LARGEST 70000

struct storm {
	struct check *c;
	int n;				/* messages to and from each rank together */
	unsigned char *out;
	unsigned char *in;
	MPI_Request *requests;		/* receives, then sends */
};

static int
size_of(int i)
{
	return sizes[i % SIZES];
}

static void
start(struct storm *s)
{
	for (int i = 0; i < s->n; i++) {
		int peer = i / EACH;

		MPI_Irecv(s->in + (size_t)i * LARGEST, size_of(i % EACH), MPI_BYTE, peer, i % EACH,
			MPI_COMM_WORLD, &s->requests[i]);
	}
	for (int i = 0; i < s->n; i++) {
		int peer = i / EACH;

		check_fill(s->out + (size_t)i * LARGEST, (size_t)size_of(i % EACH), s->c->rank,
			i % EACH);
		MPI_Isend(s->out + (size_t)i * LARGEST, size_of(i % EACH), MPI_BYTE, peer, i % EACH,
			MPI_COMM_WORLD,
			&s->requests[s->n + i]);
	}
}

static void
finish(struct storm *s, int how)
{
	int flag = 0, left = 2 * s->n, index;

	if (how == 0)
		MPI_Waitall(2 * s->n, s->requests, MPI_STATUSES_IGNORE);
	while (how == 1 && !flag)
		MPI_Testall(2 * s->n, s->requests, &flag, MPI_STATUSES_IGNORE);
	for (; how == 2 && left > 0; left--)
		MPI_Waitany(2 * s->n, s->requests, &index, MPI_STATUS_IGNORE);
	for (int i = 0; how == 3 && i < 2 * s->n; i++)
		for (flag = 0; !flag;)
			MPI_Test(&s->requests[i], &flag, MPI_STATUS_IGNORE);
	for (int i = 0; i < 2 * s->n; i++)
		CHECK(s->c, s->requests[i] == MPI_REQUEST_NULL);
}

static void
verify(struct storm *s)
{
	for (int i = 0; i < s->n; i++)
		CHECK(s->c, check_same(s->in + (size_t)i * LARGEST, (size_t)size_of(i % EACH),
			i / EACH, i % EACH));
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	struct storm s = {.c = &c, .n = c.size * EACH};

	s.out = malloc((size_t)s.n * LARGEST);
	s.in = malloc((size_t)s.n * LARGEST);
	s.requests = malloc(2 * (size_t)s.n * sizeof(MPI_Request));
	for (int round = 0; round < ROUNDS; round++) {
		memset(s.in, 0, (size_t)s.n * LARGEST);
		start(&s);
		finish(&s, round);
		verify(&s);
	}
	free(s.requests);
	free(s.in);
	free(s.out);
	return check_end(&c);
}
