/* SPDX-License-Identifier: MIT
 *
 * Waits in Linux of ranks whose cores the kernel interrupts. All signals are blocked, as far as a
 * program can. The argument says what the ranks do:
 *
 *	storm		each has a thread that sends its first thread the signal of a doorbell,
 *			again and again: no wait ends early
 *	ticks		rank 0 computes, the others wait: no wait ends early
 *	pipe		rank 1 reads from Linux what rank 0 writes, which has its turns meanwhile
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <abi/guest.h>
#include <atoll/startup.h>

#define WAIT_MS 30
#define WAITS 4
#define EXCHANGES 200

/* In memory that the ranks share; zero at first. */
struct meeting {
	uint32_t done;			/* ranks that have done their part */
	uint32_t asks;			/* pipe: letters that rank 1 waits for */
	int pipe[2];
};

static const struct startup *self;
static struct meeting *meeting;
static int failures;
static uint32_t over;			/* the storm may end */
static long first_tid;

#define expect(condition) ((condition) ? (void)0 : wrong(__LINE__, #condition))

static void
wrong(int line, const char *what)
{
	failures++;
	printf("FAIL rank %u line %d: %s (errno %d)\n", self->rank, line, what, errno);
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int
wait_by(int way)
{
	struct timespec time = {0, WAIT_MS * 1000000};
	struct timeval val = {0, WAIT_MS * 1000};
	struct pollfd none = {.fd = -1};
	struct epoll_event event;
	int set, result;

	switch (way) {
	case 0: return nanosleep(&time, NULL);
	case 1: return usleep(WAIT_MS * 1000);
	case 2: return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	case 3: return poll(&none, 1, WAIT_MS);
	case 4: return ppoll(&none, 1, &time, NULL);
	case 5: return select(0, NULL, NULL, NULL, &val);
	case 6: return pselect(0, NULL, NULL, NULL, &time, NULL);
	default:
		set = epoll_create1(0);
		result = epoll_wait(set, &event, 1, WAIT_MS);
		close(set);
		return result;
	}
}

/* A program that blocks all signals is stopped all the same. */
static void
block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	expect(sigprocmask(SIG_BLOCK, &all, NULL) == 0);
}

static void *
storm(void *arg)
{
	while (__atomic_load_n(&over, __ATOMIC_RELAXED) == 0) {
		syscall(SYS_tgkill, getpid(), first_tid, GUEST_SIGNAL_DOORBELL);
		usleep(100);
	}
	return arg;
}

static void
waits(void)
{
	for (int way = 0; way < 8; way++)
		for (int i = 0; i < WAITS; i++) {
			uint64_t begin = now_ns();

			errno = 0;
			expect(wait_by(way) == 0);
			expect(now_ns() - begin >= WAIT_MS * 1000000);
		}
}

static void
waits_in_a_storm(void)
{
	pthread_t thread;

	first_tid = syscall(SYS_gettid);
	expect(pthread_create(&thread, NULL, storm, NULL) == 0);
	waits();
	over = 1;
	expect(pthread_join(thread, NULL) == 0);
}

static void
compute_until_done(void)
{
	while (__atomic_load_n(&meeting->done, __ATOMIC_ACQUIRE) < self->ranks - 1)
		__asm__ volatile("" : : : "memory");
}

static void
exchange(void)
{
	char letter;

	if (self->rank == 1)
		expect(pipe(meeting->pipe) == 0);
	for (uint32_t i = 1; i <= EXCHANGES; i++)
		if (self->rank == 1) {
			__atomic_store_n(&meeting->asks, i, __ATOMIC_RELEASE);
			expect(read(meeting->pipe[0], &letter, 1) == 1 && letter == (char)i);
		} else {
			while (__atomic_load_n(&meeting->asks, __ATOMIC_ACQUIRE) != i)
				__asm__ volatile("" : : : "memory");
			letter = (char)i;
			expect(write(meeting->pipe[1], &letter, 1) == 1);
		}
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	self = atoll_startup();
	meeting = (struct meeting *)(uintptr_t)self->shared;
	block_signals();
	if (strcmp(what, "storm") == 0)
		waits_in_a_storm();
	else if (strcmp(what, "pipe") == 0)
		exchange();
	else if (self->rank == 0)
		compute_until_done();
	else
		waits();
	__atomic_add_fetch(&meeting->done, 1, __ATOMIC_ACQ_REL);
	return failures != 0;
}
