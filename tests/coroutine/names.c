/* SPDX-License-Identifier: MIT
 *
 * The table of names under the coroutine scheduler, with memory that is stale: one core puts names
 * and takes them away, the others look for them. What is found is the place with which the name was
 * put, and no older one than was found before.
 *
 * usage: names [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <hal/atomic.h>
#include <hal/core.h>
#include <hal/cpu/coroutine/coroutine.h>

/* Instead of servers/name/cache_words.h. */
#define SERVERS_NAME_CACHE_WORDS_H
#define slot_look(word) (hal_acquire((word), sizeof(*(word))), coro_point(), *(word))
#define slot_put(word, value) (*(word) = (value), hal_publish((word), sizeof(*(word))))
#define version_look(word) hal_load32(word)
#define version_put(word, value) hal_store32((word), (value))
#define slot_read_begins(slot) ((void)(slot))
#define slot_read_ends(slot) ((void)(slot), hal_fence())
#define slot_write_begins(slot) ((void)(slot), hal_fence())
#define slot_write_ends(slot) ((void)(slot))
#include <servers/name/cache.c>

#define CORES 3
#define NAMES 3				/* more than there are slots for */
#define WRITES 12
#define READS 24
#define BYTES (sizeof(struct name_cache) + 3 * sizeof(struct name_slot))

static struct boot_record record;
static struct name_cache *cache;

static struct {
	struct name_place last[NAMES];	/* what the writer finds at its end; port 0: nothing */
	unsigned finished;
	uint32_t latest[CORES][NAMES];	/* port that a core has found */
	unsigned found;
} run;

static void
key_of(struct name_key *k, unsigned n)
{
	static const char *const name[NAMES] = {"one", "another one", "a name of several words"};

	coro_check(name_key_make(k, name[n]));
}

static void
finish(void)
{
	if (++run.finished == CORES)
		coro_finish(0);
	for (;;)
		hal_wait(HAL_FOREVER);
}

/* The name of a place is its cluster; ports count. */
static void
write_names(void)
{
	for (uint32_t port = 1; port <= WRITES; port++) {
		unsigned n = coro_random(NAMES);
		struct name_key k;

		key_of(&k, n);
		if (coro_random(4) == 0)
			name_cache_drop(cache, &k);
		else
			name_cache_put(cache, &k, &(struct name_place){n, port});
	}
	for (unsigned n = 0; n < NAMES; n++) {
		struct name_key k;

		key_of(&k, n);
		if (!name_cache_find(cache, &k, &run.last[n]))
			run.last[n].port = 0;
	}
	hal_store32(&cache->reserved[0], 1);
	finish();
}

/* Now all find the same. */
static void
look_at_last(void)
{
	while (hal_load32(&cache->reserved[0]) == 0)
		coro_point();
	for (unsigned n = 0; n < NAMES; n++) {
		struct name_place at = {0};
		struct name_key k;

		key_of(&k, n);
		if (!name_cache_find(cache, &k, &at))
			at.port = 0;
		coro_check(at.port == run.last[n].port);
	}
}

static void
read_names(void *arg)
{
	unsigned core = hal_core_id();

	hal_acquire(arg, BYTES);
	for (unsigned i = 0; i < READS; i++) {
		unsigned n = coro_random(NAMES);
		struct name_place at = {0};
		struct name_key k;

		key_of(&k, n);
		if (!name_cache_find(cache, &k, &at))
			continue;
		run.found++;
		coro_check(at.cluster == n && at.port >= run.latest[core][n]);
		run.latest[core][n] = at.port;
	}
	look_at_last();
	finish();
}

static void
home(const struct boot_record *r, void *memory, size_t bytes)
{
	(void)r;
	(void)bytes;
	cache = memory;
	memset(memory, 0, BYTES);
	name_cache_begin(cache, BYTES);
	hal_shared_region(memory, 4096);
	hal_publish(memory, 4096);
	for (unsigned core = 1; core < CORES; core++)
		hal_core_start(core, memory);
	write_names();
}

int
main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000,
		first = argc > 2 ? strtoul(argv[2], NULL, 0) : 1, found = 0;

	for (unsigned long seed = first; seed < first + count; seed++) {
		struct coro_config config = {.record = &record, .seed = seed, .boot = home,
			.core = read_names};
		struct coro_result result;

		memset(&run, 0, sizeof(run));
		coro_record(&record, 1, CORES);
		if (!coro_run(&config, &result, false)) {
			printf("FAIL what_is_found_was_written_together: seed %lu\n", seed);
			return 1;
		}
		found += run.found;
	}
	if (found < count) {
		printf("FAIL what_is_found_was_written_together: only %lu were found\n", found);
		return 1;
	}
	printf("ok what_is_found_was_written_together (%lu seeds)\n", count);
	return 0;
}
