/* SPDX-License-Identifier: MIT
 *
 * What a barrier in shared memory costs on many cores, counted: how often a cache line goes from
 * one core to another, and how many of these transfers lie one after the other from the beginning
 * to the end. A line is in one core's cache alone when that writes, and in those of all that have
 * read it since; each transfer takes as long as any other, and a line makes one at a time.
 */
#include <string.h>

static void line_read(const void *at);
static void line_write(const void *at);

/* The words that ranks share are used by these alone (mpi/transport/shared.h). */
#define __atomic_load_n(p, order) (line_read(p), __atomic_load_n(p, order))
#define __atomic_store_n(p, value, order) (line_write(p), __atomic_store_n(p, value, order))
#define __atomic_exchange_n(p, value, order) (line_write(p), __atomic_exchange_n(p, value, order))
#define __atomic_fetch_add(p, n, order) (line_write(p), __atomic_fetch_add(p, n, order))
#define __atomic_compare_exchange_n(p, e, v, w, s, f) \
	(line_write(p), __atomic_compare_exchange_n(p, e, v, w, s, f))

#include "mpi/coll/central.c"
#include "mpi/coll/flags.c"
#include <base/test.h>

#define CORES_MAX 64
#define LINES_MAX 2048
#define ROUNDS 3			/* the last one is counted */

/* --- caches --- */

static struct {
	const char *memory;		/* in which all lines lie */
	uint64_t has[LINES_MAX];	/* cores that have the line */
	int free[LINES_MAX];		/* when its last transfer is over */
	int clock[CORES_MAX];
	int core;			/* the one that runs */
	int transfers;
} cache;

static size_t
line_of(const void *at)
{
	return (size_t)((const char *)at - cache.memory) / CACHE_LINE;
}

static void
transfer(size_t line)
{
	int *clock = &cache.clock[cache.core];

	*clock = (*clock > cache.free[line] ? *clock : cache.free[line]) + 1;
	cache.free[line] = *clock;
	cache.transfers++;
}

static void
line_read(const void *at)
{
	size_t line = line_of(at);

	if ((cache.has[line] >> cache.core & 1) == 0)
		transfer(line);
	cache.has[line] |= 1ull << cache.core;
}

static void
line_write(const void *at)
{
	size_t line = line_of(at);

	if (cache.has[line] != 1ull << cache.core)
		transfer(line);
	cache.has[line] = 1ull << cache.core;
}

/* All begin at the same time. */
static int
line_up(int cores)
{
	int now = 0;

	for (int i = 0; i < cores; i++)
		now = cache.clock[i] > now ? cache.clock[i] : now;
	for (int i = 0; i < cores; i++)
		cache.clock[i] = now;
	cache.transfers = 0;
	return now;
}

/* --- what the sources ask for; nobody waits here --- */

bool
mpi_progress(struct mpi_rank *self)
{
	(void)self;
	abort();
}

void
mpi_idle(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg), const void *arg)
{
	(void)self, (void)idle, (void)ready, (void)arg;
	abort();
}

bool
transport_sleeps_at(const struct mpi_rank *self, unsigned idle)
{
	(void)self, (void)idle;
	abort();
}

void
transport_wake_all(const struct mpi_rank *self)
{
	(void)self;
	abort();
}

struct sync *
transport_sync(const struct mpi_rank *self)
{
	(void)self;
	abort();
}

uint32_t
transport_core(const struct mpi_rank *self, uint32_t peer)
{
	(void)self, (void)peer;
	abort();
}

uint32_t
transport_cores(const struct mpi_rank *self)
{
	(void)self;
	abort();
}

bool
transport_shares_memory(const struct mpi_rank *self)
{
	(void)self;
	abort();
}

size_t
transport_memory_part(const struct mpi_rank *self, unsigned part, size_t most)
{
	(void)self, (void)part, (void)most;
	abort();
}

struct locality *
mpi_locality_of(struct mpi_rank *self, struct comm *c)
{
	(void)self, (void)c;
	abort();
}

char *
mpi_locality_share(struct mpi_rank *self, struct comm *c, struct shared *m, size_t bytes)
{
	(void)self, (void)c, (void)m, (void)bytes;
	abort();
}

/* --- barriers --- */

struct cost {
	int transfers;
	int in_turn;			/* of them, one after the other */
};

static struct sync sync_words;

/*
 * A rank on each core. A rank that has arrived looks at the word of the release, and again after
 * it.
 */
static void
arrive_and_leave(int cores, struct lanes lanes)
{
	struct central m[CORES_MAX];

	for (int i = 0; i < cores; i++) {
		m[i] = (struct central){.sync = &sync_words, .ranks = (uint32_t)cores,
			.lanes = lanes};
		m[i].lanes.own = (uint32_t)i % lanes.count;
		m[i].lanes.ranks = ((uint32_t)cores - m[i].lanes.own + lanes.count - 1) /
			lanes.count;
		cache.core = i;
		if (mpi_central_arrive(&m[i]))
			mpi_central_release(&m[i]);
		else
			expect(!is_released(&m[i]));
	}
	for (int i = 0; i < cores; i++) {
		cache.core = i;
		expect(i == cores - 1 || is_released(&m[i]));
	}
}

static struct cost
cost_of_central(int cores, struct lanes lanes)
{
	struct cost c;
	int begin = 0;

	memset(&cache, 0, sizeof(cache));
	memset(&sync_words, 0, sizeof(sync_words));
	cache.memory = (const char *)&sync_words;
	for (int i = 0; i < ROUNDS; i++) {
		begin = line_up(cores);
		arrive_and_leave(cores, lanes);
	}
	c.transfers = cache.transfers;
	c.in_turn = line_up(cores) - begin;
	return c;
}

static struct {
	struct coll_segment segment;
	_Alignas(CACHE_LINE) struct flag flags[FLAGS_RANKS_MAX * FLAGS_IN_FLIGHT];
} shown;

static struct cost
cost_of_flags(int ranks)
{
	struct locality v = {.segment = &shown.segment, .waits.flags = (char *)shown.flags};
	struct cost c;
	int begin = 0;

	memset(&cache, 0, sizeof(cache));
	memset(&shown, 0, sizeof(shown));
	cache.memory = (const char *)&shown;
	for (uint32_t round = 1; round <= FLAGS_IN_FLIGHT + 1; round++) {
		struct flags g[FLAGS_RANKS_MAX];

		begin = line_up(ranks);
		for (int i = 0; i < ranks; i++) {
			g[i] = (struct flags){.v = &v, .b = &v.waits, .me = i, .n = ranks,
				.round = round};
			cache.core = i;
			mpi_flags_show(&g[i]);
		}
		for (int i = 0; i < ranks; i++) {
			cache.core = i;
			mpi_flags_wait_all(&g[i]);
		}
	}
	c.transfers = cache.transfers;
	c.in_turn = line_up(ranks) - begin;
	return c;
}

static void
say(const char *what, int cores, struct cost c)
{
	printf("# %s, %d cores: %d transfers, %d one after the other\n", what, cores, c.transfers,
		c.in_turn);
}

static void
compare(int cores, int in_turn)
{
	struct cost one = cost_of_central(cores, (struct lanes){.count = 1});
	struct cost lanes = cost_of_central(cores,
		mpi_central_lanes((uint32_t)cores, (uint32_t)cores));

	say("one word", cores, one);
	say("lanes", cores, lanes);
	expect_eq(one.in_turn, 2 * cores);
	expect_eq(lanes.in_turn, in_turn);
	expect(lanes.transfers <= one.transfers + one.transfers / 4);
}

TEST(a_barrier_of_16_cores_takes_half_of_the_time_of_one_word)
{
	compare(16, 15);
}

TEST(a_barrier_of_64_cores_takes_a_quarter_of_the_time_of_one_word)
{
	compare(64, 31);
}

TEST(sixteen_ranks_with_signs_look_at_one_another)
{
	struct cost c = cost_of_flags(16);

	say("flags", 16, c);
	expect_eq(c.in_turn, 30);
	expect_eq(c.transfers, 16 * 16);
}

TEST(a_lane_is_a_core_where_ranks_share_cores)
{
	struct lanes l = mpi_central_lanes(64, 4);

	expect_eq(l.count, 4);
	expect(!l.spread);
	expect_eq(mpi_central_lane(&l, 5, 3), 3);
	expect_eq(mpi_central_lanes(2, 2).count, 1);
	expect_eq(mpi_central_lanes(1000, 100).count, LANES_MAX);
}

int
main(void)
{
	RUN(a_barrier_of_16_cores_takes_half_of_the_time_of_one_word);
	RUN(a_barrier_of_64_cores_takes_a_quarter_of_the_time_of_one_word);
	RUN(sixteen_ranks_with_signs_look_at_one_another);
	RUN(a_lane_is_a_core_where_ranks_share_cores);
	return TEST_FAILED;
}
