/* SPDX-License-Identifier: MIT
 *
 * A rank for the tests of the hosted port. The argument says what it does:
 *
 *	named		links a name and finds those of all others, then as hang
 *	far		keeps something in the memory of each other cluster, then as hang
 *	hang, spin	say "ready", then wait in the host for ever, or compute for ever
 *	fault R		rank R writes to address 0x1230, the others spin
 *	private		check that globals, thread-local data, heap and stdio belong to this rank
 *			alone, with many yields
 *	stranger	a thread that the program made itself calls the kernel and is refused
 *	badthread	a thread that the program made itself faults
 *	group		end the Linux process behind the runtime's back
 *	abort R		rank R raises SIGABRT, the others spin
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/rmem.h>
#include <atoll/startup.h>
#include <servers/name/client.h>

#define YIELDS 200
#define BLOCK 5000

static int rank;
static int counter;			/* private to the rank, like all globals */
static __thread int own = 42;

static void
spin(void)
{
	for (;;)
		__asm__ volatile("" : : : "memory");
}

static void
ready(void)
{
	printf("ready %d\n", rank);
	fflush(stdout);
}

static int
check_private(void)
{
	unsigned char *block = malloc(BLOCK);
	int wrong = own != 42 || counter != 0;

	memset(block, rank, BLOCK);
	own += rank;
	for (int i = 0; i < YIELDS; i++) {
		counter++;
		kthread_yield();
		wrong += own != 42 + rank || counter != i + 1 || block[i] != (unsigned char)rank;
	}
	free(block);
	if (wrong)
		printf("FAIL rank %d: %d of its own data were wrong\n", rank, wrong);
	return wrong != 0;
}

static void *
call_kernel(void *result)
{
	*(long *)result = kthread_self();
	return NULL;
}

__attribute__((noinline)) static void *
write_wild(void *address)
{
	*(volatile int *)address = 1;
	return NULL;
}

static int
in_own_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, fn, arg) != 0 || pthread_join(thread, NULL) != 0;
}

static int
check_stranger(void)
{
	long result = 0;

	return in_own_thread(call_kernel, &result) || result != -E_PERM || kthread_self() < 0;
}

/* Whatever an earlier job on this machine had linked when its cluster died is gone. */
static void
find_all(void)
{
	const struct startup *s = atoll_startup();
	const struct placement *place = (const struct placement *)(uintptr_t)s->placement;
	struct name_client c;
	struct name_place at = {0};
	char name[16];
	int result = name_open(&c, 4);

	snprintf(name, sizeof(name), "named%u", s->rank);
	if (result == 0)
		result = name_link(&c, name, s->base_port + s->local_rank, 0);
	for (uint32_t r = 0; r < s->ranks && result == 0; r++) {
		snprintf(name, sizeof(name), "named%u", r);
		result = name_lookup(&c, name, NAME_WAIT, &at);
		if (result == 0 && (at.cluster != place[r].cluster ||
			at.port != s->base_port + place[r].local_rank))
			result = -E_IO;
	}
	if (result != 0)
		printf("FAIL rank %u: %s: %s\n", s->rank, name, error_text(result));
}

/* The page is zeros, whatever the cluster's life before has given, and is what was written then. */
static int
keep_there(int cluster)
{
	struct rmem far;
	uint64_t at;
	char word[5] = {0};
	int result = rmem_open(&far, &(struct rmem_setup){.cluster = cluster, .bit = 4,
		.policy = RMEM_LRU, .frames = 1});

	if (result == 0)
		result = rmem_alloc(&far, 2, &at);
	if (result == 0)
		result = rmem_read(&far, at, word, sizeof(word));
	if (result == 0)
		result = word[0] != 0 ? -E_IO : rmem_write(&far, at, "word", 5);
	if (result == 0)
		result = rmem_read(&far, at + RMEM_PAGE, word, sizeof(word));
	if (result == 0)
		result = rmem_read(&far, at, word, sizeof(word));
	return result != 0 ? result : strcmp(word, "word") == 0 ? 0 : -E_IO;
}

static void
keep_everywhere(void)
{
	struct cluster_info here;

	kcluster_info(&here);
	for (int c = 0; c < (int)here.clusters; c++) {
		int result = c == (int)here.cluster ? 0 : keep_there(c);

		if (result != 0)
			printf("FAIL rank %d: memory of cluster %d: %s\n", rank, c,
				error_text(result));
	}
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int victim = argc > 2 ? atoi(argv[2]) : 0;

	rank = atoll_startup() == NULL ? 0 : (int)atoll_startup()->rank;
	if (strcmp(what, "private") == 0)
		return check_private();
	if (strcmp(what, "stranger") == 0)
		return check_stranger();
	if (strcmp(what, "badthread") == 0)
		return in_own_thread(write_wild, (void *)0x1230);
	if (strcmp(what, "group") == 0)
		syscall(SYS_exit_group, 5);
	if (strcmp(what, "named") == 0)
		find_all();
	if (strcmp(what, "far") == 0)
		keep_everywhere();
	ready();
	if (strcmp(what, "hang") == 0 || strcmp(what, "named") == 0 || strcmp(what, "far") == 0)
		for (;;)
			pause();
	if (strcmp(what, "fault") == 0 && rank == victim)
		write_wild((void *)0x1230);
	if (strcmp(what, "abort") == 0 && rank == victim)
		raise(SIGABRT);
	spin();
}
