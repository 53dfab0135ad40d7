/* SPDX-License-Identifier: MIT
 *
 * Buffer: pairs of threads, a producer and a consumer each, pass objects through a ring buffer of
 * their own: two semaphores for its free and its filled slots, a mutex around its indexes. Giving
 * is always a kernel call, taking only if the value is zero (in the source every operation is a
 * call), so what is measured is how the kernel core serves several pairs at once. Window 0: all
 * transfers. usage: buffer [--pairs N] [--objects N] [--bytes N] Source: seed 000 IV-A, seed 001
 * III.
 */
#include "kit.h"

#define SLOTS 4
#define OBJECT_MAX 8192
#define PAIRS_MAX 8

struct pair {
	struct semaphore free, filled, mutex;
	uint32_t head, tail;
	uint32_t wrong;
	unsigned char slot[SLOTS][OBJECT_MAX];
	unsigned char source[OBJECT_MAX], target[OBJECT_MAX];
};

static struct pair pairs[PAIRS_MAX] __attribute__((aligned(64)));
static struct gate gate;
static uint32_t objects, words;

static void
copy(void *to, const void *from)
{
	volatile uint32_t *t = to;
	const volatile uint32_t *f = from;

	for (uint32_t i = 0; i < words; i++)
		t[i] = f[i];
}

/* Take the next index of the ring, in turn with the other side. */
static uint32_t
next(struct pair *p, uint32_t *index)
{
	uint32_t slot;

	mutex_lock(&p->mutex);
	slot = (*index)++ % SLOTS;
	mutex_unlock(&p->mutex);
	return slot;
}

static void
produce(void *arg)
{
	struct pair *p = arg;

	gate_pass(&gate);
	for (uint32_t i = 0; i < objects; i++) {
		*(volatile uint32_t *)p->source = i;
		semaphore_down(&p->free);
		copy(p->slot[next(p, &p->head)], p->source);
		semaphore_up(&p->filled);
	}
}

static void
consume(void *arg)
{
	struct pair *p = arg;

	gate_pass(&gate);
	for (uint32_t i = 0; i < objects; i++) {
		semaphore_down(&p->filled);
		copy(p->target, p->slot[next(p, &p->tail)]);
		semaphore_up(&p->free);
		p->wrong += *(volatile uint32_t *)p->target != i;
	}
}

int
main(int argc, char **argv)
{
	long count = number(argc, argv, "--pairs", 1), bytes = number(argc, argv, "--bytes", 1024);
	int team[2 * PAIRS_MAX];
	uint64_t begin, ns;

	objects = (uint32_t)number(argc, argv, "--objects", 32);
	words = (uint32_t)bytes / 4;
	if (count < 1 || count > PAIRS_MAX || bytes < 4 || bytes > OBJECT_MAX)
		give_up("--pairs must be from 1 to 8, --bytes from 4 to 8192", count);
	for (long i = 0; i < count; i++) {
		pairs[i].free.value = SLOTS;
		pairs[i].mutex.value = 1;
		team[2 * i] = start(produce, &pairs[i]);
		team[2 * i + 1] = start(consume, &pairs[i]);
	}
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
	row("buffer", ns, objects, "");
	row_number("buffer_bandwidth",
		(uint64_t)count * objects * words * 4 * 1000 / (ns / 1000 + 1), "kB/s", "");
	return 0;
}
