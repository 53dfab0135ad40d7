/* SPDX-License-Identifier: MIT
 *
 * Numbers of communicators: random agreements between ranks that are only their tables.
 * needs: mpi/core/ids.c
 */
#include <base/test.h>
#include <time.h>
#include <mpi/core/ids.h>

#define RANKS 6
#define LIVE_MAX 3000

static unsigned seed;

static unsigned
dice(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

struct live {
	int32_t id;
	unsigned members;		/* bits */
};

/* The members agree as the library does, but at once. Returns the number. */
static int32_t
agree(struct ids ids[RANKS], unsigned members)
{
	for (uint32_t window = 0, next = 0;; window = next) {
		uint64_t all[IDS_WORDS], offer[RANKS][IDS_WORDS];
		int32_t id;

		memset(all, 0xff, sizeof(all));
		next = window + 1;
		for (int r = 0; r < RANKS; r++) {
			if (!(members >> r & 1))
				continue;
			expect(mpi_ids_offer(&ids[r], window, offer[r]));
			for (int w = 0; w < IDS_WORDS; w++)
				all[w] &= offer[r][w];
			next = mpi_ids_next(&ids[r], window) > next ?
				mpi_ids_next(&ids[r], window) : next;
		}
		id = mpi_ids_lowest(window, all);
		for (int r = 0; r < RANKS; r++)
			if (members >> r & 1)
				mpi_ids_settle(&ids[r], window, offer[r], id);
		if (id >= 0)
			return id;
	}
}

TEST(no_member_ever_has_a_number_twice)
{
	struct ids ids[RANKS] = {0};
	struct live *live = calloc(LIVE_MAX, sizeof(*live));
	int count = 0;

	for (int step = 0; step < 20000; step++) {
		if (count < LIVE_MAX && dice(5) < 3) {
			unsigned members = 1 + dice((1 << RANKS) - 1);
			int32_t id = agree(ids, members);

			for (int i = 0; i < count; i++)
				expect(live[i].id != id || !(live[i].members & members));
			live[count++] = (struct live){id, members};
		} else if (count > 0) {
			int i = (int)dice((unsigned)count);

			for (int r = 0; r < RANKS; r++)
				if (live[i].members >> r & 1)
					mpi_ids_give_back(&ids[r], live[i].id);
			live[i] = live[--count];
		}
	}
	for (int r = 0; r < RANKS; r++)
		mpi_ids_exit(&ids[r]);
	free(live);
}

TEST(numbers_are_used_again)
{
	struct ids ids = {0};
	uint64_t offer[IDS_WORDS];

	for (int i = 0; i < 100000; i++) {
		int32_t id;

		mpi_ids_offer(&ids, 0, offer);
		id = mpi_ids_lowest(0, offer);
		expect_eq(id, 0);
		mpi_ids_settle(&ids, 0, offer, id);
		mpi_ids_give_back(&ids, id);
	}
	expect_eq(ids.windows, 1);
	mpi_ids_exit(&ids);
}

TEST(what_is_on_offer_is_not_offered_again)
{
	struct ids ids = {0};
	uint64_t first[IDS_WORDS], second[IDS_WORDS];

	expect(mpi_ids_offer(&ids, 0, first));
	expect(mpi_ids_offer(&ids, 0, second));
	expect_eq(mpi_ids_lowest(0, second), -1);
	expect_eq(mpi_ids_next(&ids, 0), 1);
	mpi_ids_settle(&ids, 0, second, -1);
	mpi_ids_settle(&ids, 0, first, 7);
	expect(mpi_ids_offer(&ids, 0, second));
	expect(!(second[0] >> 7 & 1) && (second[0] >> 8 & 1));
	mpi_ids_exit(&ids);
}

int
main(void)
{
	const char *text = getenv("SEED");

	seed = text ? (unsigned)strtoul(text, NULL, 10) : (unsigned)time(NULL);
	printf("SEED=%u\n", seed);
	RUN(no_member_ever_has_a_number_twice);
	RUN(numbers_are_used_again);
	RUN(what_is_on_offer_is_not_offered_again);
	return TEST_FAILED;
}
