/* SPDX-License-Identifier: MIT
 *
 * Server: requests are put into a buffer, and for each a thread is created that takes one out,
 * serves it and ends. Creating and joining threads and the locks of the buffer are kernel calls. At
 * most `--living N` threads exist at a time. Window 0: all requests. usage: server [--requests N]
 * [--living N]. Source: seed 001 III.
 */
#include "kit.h"

#define BUFFER 16

static struct semaphore mutex = {1}, waiting, room = {BUFFER};
static uint32_t buffer[BUFFER];
static uint32_t put, got;
static uint64_t answers;

static void
serve(void *arg)
{
	uint32_t request;

	(void)arg;
	semaphore_down(&waiting);
	mutex_lock(&mutex);
	request = buffer[got++ % BUFFER];
	mutex_unlock(&mutex);
	semaphore_up(&room);
	mutex_lock(&mutex);
	answers += request;
	mutex_unlock(&mutex);
}

static void
request(uint32_t what)
{
	semaphore_down(&room);
	mutex_lock(&mutex);
	buffer[put++ % BUFFER] = what;
	mutex_unlock(&mutex);
	semaphore_up(&waiting);
}

/* Stacks are used again: one per living thread. */
static struct server {
	int tid;
	unsigned char stack[1024 + CONTEXT_INTERRUPT_BYTES] __attribute__((aligned(16)));
} servers[BUFFER];

static int
start_thread(struct server *s)
{
	int tid = thread_start_on(serve, NULL, ANY_CORE, s->stack, sizeof(s->stack));

	if (tid < 0)
		give_up("cannot start a thread", tid);
	return tid;
}

int
main(int argc, char **argv)
{
	uint32_t requests = (uint32_t)number(argc, argv, "--requests", 32),
		living = (uint32_t)number(argc, argv, "--living", 2);
	uint64_t begin, ns;

	if (living < 1 || living > BUFFER)
		give_up("--living must be from 1 to 16", (long)living);
	begin = now_ns();
	window_open(0);
	for (uint32_t i = 0; i < requests; i++) {
		struct server *s = &servers[i % living];

		if (i >= living)
			join(s->tid);
		request(i);
		s->tid = start_thread(s);
	}
	for (uint32_t i = 0; i < living && i < requests; i++)
		join(servers[i].tid);
	window_close(0);
	ns = now_ns() - begin;
	if (answers != (uint64_t)requests * (requests - 1) / 2)
		give_up("requests were lost", (long)answers);
	row("server", ns, requests, "");
	return 0;
}
