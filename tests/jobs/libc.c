/* SPDX-License-Identifier: MIT
 *
 * What a program may expect of its libc under Atoll: arguments, environment, private globals and
 * thread-local data, memory, output, time, threads. Run with the argument "two words" and the
 * environment GREETING=hello.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>

#define THREADS 3
#define ROUNDS 200

static int failures;
static int global = 5;
static int *pointer = &global;
static int zero[1000];
static __thread int local = 7;
static __thread int local_zero;

static void
expect(int good, const char *what)
{
	if (good)
		return;
	printf("FAIL rank %u: %s\n", atoll_startup()->rank, what);
	failures++;
}

static void
try_startup(int argc, char **argv)
{
	const struct startup *s = atoll_startup();
	const struct placement *place = (const struct placement *)(uintptr_t)s->placement;

	expect(s->version == STARTUP_VERSION && s->rank < s->ranks &&
		s->local_rank < s->local_ranks, "startup record");
	expect(place[s->rank].cluster == s->cluster && place[s->rank].local_rank == s->local_rank,
		"placement table");
	expect(s->shared_bytes > 0 && ((const char *)(uintptr_t)s->shared)[s->shared_bytes - 1] ==
		0, "shared area");
	expect((uintptr_t)&global >= s->image_base &&
		(uintptr_t)&global < s->image_base + s->image_bytes, "image base");
	expect(argc == 2 && strcmp(argv[1], "two words") == 0 && argv[2] == NULL, "arguments");
	expect(getenv("GREETING") != NULL && strcmp(getenv("GREETING"), "hello") == 0,
		"environment");
	setenv("GREETING", "own", 1);
}

/* Text exists once for all ranks of a cluster, data once for each. */
static void
try_sharing(void)
{
	struct page_info text, data;

	expect(kpage_query(SELF, (uintptr_t)try_sharing, &text) >= 0 &&
		(text.prot & PAGE_WRITE) == 0, "text is not writable");
	expect(text.references >= atoll_startup()->local_ranks, "text is shared");
	expect(kpage_query(SELF, (uintptr_t)&global, &data) >= 0 && (data.prot & PAGE_EXEC) == 0,
		"data are not executable");
	/* what the loader had of them comes back in steps of the kernel core */
	while (data.references != 1 && kpage_query(SELF, (uintptr_t)&global, &data) >= 0)
		sched_yield();
}

static void
try_globals(void)
{
	unsigned rank = atoll_startup()->rank;

	expect(global == 5 && *pointer == 5 && local == 7 && local_zero == 0, "initial values");
	for (int i = 0; i < 1000; i++)
		expect(zero[i] == 0, "bss");
	global += (int)rank;
	local += (int)rank;
	local_zero = zero[999] = (int)rank;
	errno = (int)rank;
	srand(rank);
}

static void
check_globals(void)
{
	unsigned rank = atoll_startup()->rank;

	expect(*pointer == 5 + (int)rank && local == 7 + (int)rank && local_zero == (int)rank &&
		zero[999] == (int)rank, "private data");
	expect(strcmp(getenv("GREETING"), "own") == 0, "own environment");
}

static void
try_memory(void)
{
	unsigned char *p[64];
	unsigned char *big = malloc(300000);
	void *volatile huge;

	for (int i = 0; i < 64; i++) {
		p[i] = malloc((size_t)(i * 1237 + 1));
		expect(p[i] != NULL, "malloc");
		memset(p[i], i, (size_t)(i * 1237 + 1));
	}
	for (int i = 0; i < 64; i++) {
		expect(p[i][i * 1237] == i, "malloc keeps its contents");
		free(p[i]);
	}
	expect(big != NULL, "large malloc");
	memset(big, 0x5a, 300000);
	big = realloc(big, 900000);
	expect(big != NULL && big[0] == 0x5a && big[299999] == 0x5a, "realloc");
	big[899999] = 1;
	free(big);
	huge = malloc((size_t)1 << 44);
	expect(huge == NULL, "a malloc beyond all memory fails");
}

/*
 * Blocks that come and go cost page faults once. Where the system counts none, this shows nothing.
 */
static void
try_memory_again(void)
{
	struct rusage before, after;
	static const size_t sizes[] = {20000, 65536, 300000};

	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < ROUNDS; i++) {
		size_t bytes = sizes[i % 3];
		unsigned char *zeros = i % 2 ? calloc(bytes, 1) : malloc(bytes);

		expect(zeros != NULL, "a block that was freed comes again");
		for (size_t k = 0; i % 2 && zeros != NULL && k < bytes; k++)
			if (zeros[k] != 0) {
				expect(0, "calloc clears a block that was used before");
				break;
			}
		if (zeros != NULL)
			memset(zeros, 0x5a, bytes);
		free(zeros);
	}
	getrusage(RUSAGE_SELF, &after);
	/* all of the process: other ranks do the same beside this one */
	expect(after.ru_minflt - before.ru_minflt < 5 * ROUNDS * (long)atoll_startup()->local_ranks,
		"freed blocks are used again");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn;

/* Threads take turns: every hand-over is a wait and a wake-up. */
static void *
take_turns(void *arg)
{
	int own = (int)(intptr_t)arg;

	expect(local == 7, "a thread's own thread-local data");
	local = own;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		while (turn % THREADS != own)
			pthread_cond_wait(&turn_changed, &mutex);
		turn++;
		pthread_cond_broadcast(&turn_changed);
		pthread_mutex_unlock(&mutex);
	}
	expect(local == own, "thread-local data survive");
	return (void *)(intptr_t)(own * 10);
}

static void
try_threads(void)
{
	pthread_t t[THREADS];
	void *value;

	for (intptr_t i = 0; i < THREADS; i++)
		expect(pthread_create(&t[i], NULL, take_turns, (void *)i) == 0, "pthread_create");
	for (intptr_t i = 0; i < THREADS; i++) {
		expect(pthread_join(t[i], &value) == 0, "pthread_join");
		expect((intptr_t)value == i * 10, "a thread's value");
	}
	expect(turn == THREADS * ROUNDS, "every turn was taken");
}

static void
try_time(void)
{
	struct timespec a, b, nap = {0, 2000000};

	expect(clock_gettime(CLOCK_MONOTONIC, &a) == 0, "clock_gettime");
	expect(nanosleep(&nap, NULL) == 0, "nanosleep");
	clock_gettime(CLOCK_MONOTONIC, &b);
	expect((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 2000000,
		"a nap takes its time");
}

static void
try_output(void)
{
	char line[600];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	expect(printf("%s\n", line) == sizeof(line), "a long line");
	expect(fprintf(stderr, "%g %d\n", 1.5, 3) == 6, "stderr");
	expect(write(1, "", 0) == 0, "an empty write");
	expect(write(77, "x", 1) == -1 && errno == EBADF, "a write to nowhere");
	expect(fopen("/no/such/file", "r") == NULL, "a file that does not exist");
}

int
main(int argc, char **argv)
{
	try_startup(argc, argv);
	try_sharing();
	try_globals();
	try_memory();
	try_memory_again();
	try_threads();
	try_time();
	try_output();
	check_globals();
	printf("%s rank %u\n", failures ? "FAIL" : "ok", atoll_startup()->rank);
	return failures != 0;
}
