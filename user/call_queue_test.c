/* SPDX-License-Identifier: MIT
 *
 * Unit tests of queues of calls: workers under the thread sanitizer, with few and many places, and
 * a user who sleeps or asks; each call is made once and replied once.
 *
 * usage: call_queue_test [OPERATIONS]
 *
 * sanitize: thread address
 * libs: -lpthread
 * needs: base/str.c
 * gate: 30000
 */
#include <stdio.h>
#include <base/test.h>
#include <user/futex_test.h>
#include <user/segment.c>
#include <user/sem.c>
#include <user/call_queue.c>

#define PLACES_MAX 40
#define WORKERS 3

static _Alignas(64) unsigned char memory[8192];
static struct call_queue q;
static struct queued_call call[PLACES_MAX];
static unsigned long operations = 300000;

static uint32_t
draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)*state * below >> 32);
}

static long
makes(struct queued_call *c)
{
	c->word[1]++;
	return (long)(c->word[0] * 7 + 1);
}

static void *
serves(void *result)
{
	*(int *)result = call_queue_serve(&q);
	return NULL;
}

static pthread_t worker[WORKERS];
static int ended[WORKERS];

static void
begin(unsigned places, unsigned workers)
{
	expect_eq(call_queue_begin(&q, places, memory, sizeof(memory)), 0);
	q.words.looks = 2;
	for (unsigned i = 0; i < workers; i++)
		pthread_create(&worker[i], NULL, serves, &ended[i]);
}

static void
end(unsigned workers)
{
	expect_eq(call_queue_end(&q), 0);
	for (unsigned i = 0; i < workers; i++) {
		pthread_join(worker[i], NULL);
		expect_eq(ended[i], 0);
	}
}

static void
take(uint32_t *is_out, uint64_t until)
{
	struct queued_call *c = NULL;
	int e = call_reply(&q, &c, until);

	if (until == 0 && e == -E_AGAIN)
		return;
	expect_eq(e, 0);
	expect(c >= call && c < call + PLACES_MAX && is_out[c - call] == 1);
	is_out[c - call] = 0;
	expect_eq(c->word[1], 1);
	expect_eq(c->result, (long)(c->word[0] * 7 + 1));
}

/* Submits and takes at random, as many as there are places at most. */
static void
use(unsigned places, unsigned long count, uint32_t seed)
{
	uint32_t is_out[PLACES_MAX] = {0}, out = 0;

	for (unsigned long n = 0; n < count; n++) {
		unsigned i = draw(&seed, places);

		if (!is_out[i] && draw(&seed, 3) != 0) {
			call[i] = (struct queued_call){.make = makes, .word = {n}};
			is_out[i] = 1;
			expect_eq(call_submit(&q, &call[i]), 0);
		} else if (!call_queue_is_idle(&q)) {
			take(is_out, draw(&seed, 2) == 0 ? 0 : FOREVER);
		}
		out = 0;
		for (i = 0; i < places; i++)
			out += is_out[i];
		if (out == places)
			expect_eq(call_submit(&q, &call[0]), -E_AGAIN);
	}
	while (!call_queue_is_idle(&q))
		take(is_out, FOREVER);
}

TEST(each_call_is_made_once_and_replied_once)
{
	static const unsigned places[] = {1, 2, 5, PLACES_MAX};

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (unsigned workers = 1; workers <= WORKERS; workers++) {
			begin(places[i], workers);
			use(places[i], operations / 12, i * WORKERS + workers);
			end(workers);
		}
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		operations = strtoul(argv[1], NULL, 0);
	RUN(each_call_is_made_once_and_replied_once);
	return TEST_FAILED;
}
