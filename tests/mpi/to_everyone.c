/* SPDX-License-Identifier: MIT
 *
 * Every rank sends a block to every other one, too long for the packets between clusters: ranks
 * need a way to each of many others, and have not all of them at a time. usage: to_everyone [BYTES]
 */
#include "check.h"

#define ROUNDS 2

struct blocks {
	int bytes;
	int *counts;
	int *at;
	char *in;
	char *out;
};

static struct blocks
make(const struct check *c, int bytes)
{
	size_t n = (size_t)c->size;
	struct blocks b = {bytes, malloc(n * sizeof(int)), malloc(n * sizeof(int)),
		malloc(n * (size_t)bytes),
		malloc(n * (size_t)bytes)};

	for (int i = 0; i < c->size; i++) {
		b.counts[i] = bytes;
		b.at[i] = i * bytes;
		check_fill(b.in + b.at[i], (size_t)bytes, c->rank, i);
	}
	return b;
}

static void
exchange(struct check *c, const struct blocks *b)
{
	memset(b->out, 0, (size_t)c->size * (size_t)b->bytes);
	MPI_Alltoallv(b->in, b->counts, b->at, MPI_BYTE, b->out, b->counts, b->at, MPI_BYTE,
		MPI_COMM_WORLD);
	for (int i = 0; i < c->size; i++)
		CHECK(c, check_same(b->out + b->at[i], (size_t)b->bytes, i, c->rank));
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	struct blocks b = make(&c, argc > 1 ? atoi(argv[1]) : 1024);

	for (int i = 0; i < ROUNDS; i++)
		exchange(&c, &b);
	free(b.counts);
	free(b.at);
	free(b.in);
	free(b.out);
	return check_end(&c);
}
