/* SPDX-License-Identifier: MIT
 *
 * The table that programs read: a naive list of names beside it, and a reader that finds only what
 * was written together, under the thread sanitizer.
 *
 * sanitize: address thread
 * libs: -lpthread
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <base/test.h>

/* Instead of cache_words.h: the sanitizer knows no fences. */
#define SERVERS_NAME_CACHE_WORDS_H
#define slot_look(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define slot_put(word, value) __atomic_store_n((word), (value), __ATOMIC_SEQ_CST)
#define version_look(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define version_put(word, value) __atomic_store_n((word), (value), __ATOMIC_SEQ_CST)
#define slot_read_begins(slot) ((void)(slot))
#define slot_read_ends(slot) ((void)(slot))
#define slot_write_begins(slot) ((void)(slot))
#define slot_write_ends(slot) ((void)(slot))
#include <servers/name/cache.c>

#define BYTES 1024
#define NAMES 40

static _Alignas(64) unsigned char memory[BYTES];
static struct name_cache *cache = (struct name_cache *)(void *)memory;

static struct name_key
key_of(uint32_t n)
{
	char name[NAME_LENGTH_MAX + 1];
	struct name_key k;

	/* of all lengths, with what differs at the end */
	memset(name, 'k', sizeof(name));
	snprintf(name + n % 60, 4, "%u", n % 1000);
	expect(name_key_make(&k, name));
	return k;
}

static void
begin(void)
{
	memset(memory, 0, sizeof(memory));
	name_cache_begin(cache, BYTES);
	expect(cache->slots > 8);
}

TEST(only_names_have_keys)
{
	char name[NAME_LENGTH_MAX + 2];
	struct name_key k, other;

	expect(!name_key_make(&k, ""));
	memset(name, 'x', sizeof(name));
	name[NAME_LENGTH_MAX + 1] = 0;
	expect(!name_key_make(&k, name));
	name[NAME_LENGTH_MAX] = 0;
	expect(name_key_make(&k, name));
	expect_eq(k.words, NAME_WORDS);
	name[7] = 0;
	expect(name_key_make(&k, name));
	name[7] = 'x';
	name[8] = 0;
	expect(name_key_make(&other, name));
	expect(k.words == 1 && other.words == 2);
}

/* What is found was put last, and was not dropped; most of what was put is found. */
TEST(as_a_naive_list)
{
	uint32_t port[NAMES] = {0}, found = 0;

	begin();
	srand(1);
	for (uint32_t turn = 1; turn < 20000; turn++) {
		uint32_t n = (uint32_t)rand() % NAMES;
		struct name_key k = key_of(n);
		struct name_place p = {n, turn % 60000 + 1}, at;

		if (rand() % 4 == 0) {
			name_cache_drop(cache, &k);
			port[n] = 0;
		} else if (rand() % 2) {
			name_cache_put(cache, &k, &p);
			port[n] = p.port;
			expect(name_cache_find(cache, &k, &at));
		}
		if (!name_cache_find(cache, &k, &at))
			continue;
		found++;
		expect(at.cluster == n && at.port == port[n]);
	}
	expect(found > 5000);
}

static uint32_t is_over;

static void *
read_all(void *arg)
{
	uint32_t *found = arg;

	while (__atomic_load_n(&is_over, __ATOMIC_ACQUIRE) == 0)
		for (uint32_t n = 0; n < NAMES; n++) {
			struct name_key k = key_of(n);
			struct name_place at;

			if (!name_cache_find(cache, &k, &at))
				continue;
			__atomic_add_fetch(found, 1, __ATOMIC_RELAXED);
			if (at.cluster != n || at.port % NAMES != n)
				expect(!"a name with another one's place");
		}
	return NULL;
}

TEST(all_can_be_dropped)
{
	struct name_place at;

	begin();
	for (uint32_t n = 0; n < NAMES; n++) {
		struct name_key k = key_of(n);

		name_cache_put(cache, &k, &(struct name_place){n, n});
	}
	name_cache_drop_all(cache);
	for (uint32_t n = 0; n < NAMES; n++) {
		struct name_key k = key_of(n);

		expect(!name_cache_find(cache, &k, &at));
	}
}

TEST(a_reader_finds_what_was_written_together)
{
	uint32_t found = 0;
	pthread_t reader;

	begin();
	pthread_create(&reader, NULL, read_all, &found);
	for (uint32_t turn = 0; turn < 50000 ||
		(turn < 5000000 && __atomic_load_n(&found, __ATOMIC_RELAXED) == 0); turn++) {
		uint32_t n = turn % NAMES;
		struct name_key k = key_of(n);
		const struct name_place p = {n, n + NAMES * (turn % 100)};

		if (turn % 3 == 0)
			name_cache_drop(cache, &k);
		else
			name_cache_put(cache, &k, &p);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	expect(found > 0);
}

int
main(void)
{
	RUN(only_names_have_keys);
	RUN(as_a_naive_list);
	RUN(all_can_be_dropped);
	RUN(a_reader_finds_what_was_written_together);
	return TEST_FAILED;
}
