/* SPDX-License-Identifier: MIT
 *
 * Buffer: pairs of threads, a producer and a consumer each, pass objects through a ring buffer of
 * their own: two semaphores for its free and its filled slots, a mutex around its indexes. Giving
 * is always a kernel call; taking only if the value is zero, or with --every 1 always, as in the
 * source. So what is measured is how the kernel core serves several pairs at once. Window 0: all
 * transfers. usage: buffer [--pairs N] [--to N] [--objects N] [--bytes N] [--slots N] [--every 0|1]
 * [--seed N]; --to: with one pair more each time, up to so many. Source: seed 000 IV-A, seed 001
 * III.
 */
#include "kit.h"

#define SLOTS_MAX 16
#define RING_BYTES 32768
#define OBJECT_MAX 8192
#define PAIRS_MAX 8

struct pair {
	struct semaphore free, filled, mutex;
	uint32_t head, tail;
	uint32_t wrong;
	unsigned char ring[RING_BYTES];
	unsigned char source[OBJECT_MAX], target[OBJECT_MAX];
};

static struct pair pairs[PAIRS_MAX] __attribute__((aligned(64)));
static struct gate gate;
static uint32_t objects, words, slots;
static long seed;

static void
copy(void *to, const void *from)
{
	volatile uint32_t *t = to;
	const volatile uint32_t *f = from;

	for (uint32_t i = 0; i < words; i++)
		t[i] = f[i];
}

/* Take the next slot of the ring, in turn with the other side. */
static unsigned char *
next(struct pair *p, uint32_t *index)
{
	uint32_t slot;

	mutex_lock(&p->mutex);
	slot = *index;
	*index = slot + 1 < slots ? slot + 1 : 0;
	mutex_unlock(&p->mutex);
	return p->ring + slot * words * 4;
}

static void
produce(void *arg)
{
	struct pair *p = arg;

	gate_pass(&gate);
	stagger(seed, 2 * (uint32_t)(p - pairs));
	for (uint32_t i = 0; i < objects; i++) {
		*(volatile uint32_t *)p->source = i;
		semaphore_down(&p->free);
		copy(next(p, &p->head), p->source);
		semaphore_up(&p->filled);
	}
}

static void
consume(void *arg)
{
	struct pair *p = arg;

	gate_pass(&gate);
	stagger(seed, 2 * (uint32_t)(p - pairs) + 1);
	for (uint32_t i = 0; i < objects; i++) {
		semaphore_down(&p->filled);
		copy(p->target, next(p, &p->tail));
		semaphore_up(&p->free);
		p->wrong += *(volatile uint32_t *)p->target != i;
	}
}

static void
pair_start(struct pair *p, int *team)
{
	*p = (struct pair){.free.value = slots, .mutex.value = 1};
	team[0] = start(produce, p);
	team[1] = start(consume, p);
}

/* All objects of `count` pairs. */
static void
measure(long count, const char *params)
{
	int team[2 * PAIRS_MAX];
	uint64_t begin, ns;

	gate = (struct gate){0};
	for (long i = 0; i < count; i++)
		pair_start(&pairs[i], &team[2 * i]);
	gate_open(&gate, 2 * (uint32_t)count);
	begin = now_ns();
	window_open(0);
	for (long i = 0; i < 2 * count; i++)
		join(team[i]);
	window_close(0);
	ns = now_ns() - begin;
	for (long i = 0; i < count; i++)
		if (pairs[i].wrong != 0)
			give_up("objects arrived in disorder", (long)pairs[i].wrong);
	row("buffer", ns, objects, params);
	row_number("buffer_bandwidth",
		(uint64_t)count * objects * words * 4 * 1000 / (ns / 1000 + 1), "kB/s", params);
}

int
main(int argc, char **argv)
{
	long count = number(argc, argv, "--pairs", 1), bytes = number(argc, argv, "--bytes", 1024);
	long last = number(argc, argv, "--to", count), wanted = number(argc, argv, "--slots", 4);
	static char params[] = "pairs=0";

	objects = (uint32_t)number(argc, argv, "--objects", 32);
	seed = number(argc, argv, "--seed", 0);
	semaphores_always_call(number(argc, argv, "--every", 0) != 0);
	words = (uint32_t)bytes / 4;
	if (count < 1 || last < count || last > PAIRS_MAX || bytes < 4 || bytes > OBJECT_MAX)
		give_up("--pairs and --to must be from 1 to 8, --bytes from 4 to 8192", count);
	for (slots = 0; slots < SLOTS_MAX && (long)slots < wanted &&
			(slots + 1) * words * 4 <= RING_BYTES;)
		slots++;
	for (; count <= last; count++) {
		params[sizeof(params) - 2] = (char)('0' + count);
		measure(count, params);
	}
	return 0;
}
