/* SPDX-License-Identifier: MIT
 *
 * Matching, against a naive version: one list of receives and one of messages, both searched from
 * the oldest.
 * usage: match_test [STEPS]
 * needs: mpi/core/matcher.c mpi/pt2pt/match.c
 * gate: 20000
 */
#include <base/test.h>
#include <stdlib.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/match.h>

#define LIVE 400

static unsigned long steps = 200000;

/* The naive version: arrays in order of age. */
struct naive {
	struct request *receives[LIVE];
	struct packet messages[LIVE];
	int receive_count;
	int message_count;
};

static bool
naive_fits(const struct request *r, const struct packet *p)
{
	return r->context == p->context && (r->source == MPI_ANY_SOURCE ||
		r->source == p->source) &&
		(r->tag == MPI_ANY_TAG || r->tag == p->tag);
}

static struct request *
naive_arrived(struct naive *n, const struct packet *p)
{
	for (int i = 0; i < n->receive_count; i++) {
		struct request *r = n->receives[i];

		if (!naive_fits(r, p))
			continue;
		memmove(&n->receives[i], &n->receives[i + 1],
			sizeof(r) * (size_t)(--n->receive_count - i));
		return r;
	}
	n->messages[n->message_count++] = *p;
	return NULL;
}

/* Number (in bytes) of the message that the receive takes, or -1. */
static long
naive_posted(struct naive *n, struct request *r)
{
	for (int i = 0; i < n->message_count; i++) {
		long number = (long)n->messages[i].bytes;

		if (!naive_fits(r, &n->messages[i]))
			continue;
		memmove(&n->messages[i], &n->messages[i + 1], sizeof(n->messages[0]) *
			(size_t)(--n->message_count - i));
		return number;
	}
	n->receives[n->receive_count++] = r;
	return -1;
}

static int
pick(unsigned *seed, int n)
{
	return (int)(rand_r(seed) / 7u % (unsigned)n);
}

static void
one_arrives(struct matcher *m, struct naive *n, unsigned *seed, uint64_t number)
{
	struct packet p = {.kind = PACKET_NEAR, .context = pick(seed, 2), .source = pick(seed, 5),
		.tag = pick(seed, 3), .bytes = number};
	struct request *want, *have;

	if (n->message_count == LIVE)
		return;
	want = naive_arrived(n, &p);
	have = mpi_match_arrived(m, &p);
	expect(have == want);
	if (have == NULL)
		expect_eq(mpi_match_keep(m, &p), 0);
	free(have);
}

static void
one_is_posted(struct matcher *m, struct naive *n, unsigned *seed)
{
	struct request *r = calloc(1, sizeof(*r));
	struct unexpected *u;
	long want;

	r->context = pick(seed, 2);
	r->source = pick(seed, 3) ? pick(seed, 5) : MPI_ANY_SOURCE;
	r->tag = pick(seed, 3) ? pick(seed, 3) : MPI_ANY_TAG;
	if (n->receive_count == LIVE) {
		free(r);
		return;
	}
	want = naive_posted(n, r);
	u = mpi_match_find(m, r->context, r->source, r->tag);
	expect_eq(u ? (long)u->packet.bytes : -1, want);
	if (u == NULL) {
		mpi_match_post(m, r);
	} else {
		mpi_match_remove(m, u);
		free(r);
	}
}

static void
compare(unsigned seed, int bias)
{
	struct matcher m;
	struct naive *n = calloc(1, sizeof(*n));

	mpi_match_init(&m);
	for (uint64_t i = 0; i < steps && test_state.wrong == 0; i++) {
		if (pick(&seed, 100) < bias)
			one_arrives(&m, n, &seed, i);
		else
			one_is_posted(&m, n, &seed);
		expect_eq(m.posted_count, n->receive_count);
		expect_eq(m.unexpected_count, n->message_count);
	}
	for (int i = 0; i < n->receive_count; i++)
		free(n->receives[i]);
	mpi_match_exit(&m);
	free(n);
}

TEST(messages_and_receives_meet_as_in_the_naive_version)
{
	for (unsigned seed = 1; seed <= 3; seed++)
		compare(seed, 50);
}

TEST(so_they_do_with_many_messages_waiting)
{
	compare(11, 60);
}

TEST(so_they_do_with_many_receives_waiting)
{
	compare(12, 40);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		steps = strtoul(argv[1], NULL, 0);
	RUN(messages_and_receives_meet_as_in_the_naive_version);
	RUN(so_they_do_with_many_messages_waiting);
	RUN(so_they_do_with_many_receives_waiting);
	return TEST_FAILED;
}
