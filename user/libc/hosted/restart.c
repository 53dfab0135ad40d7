/* SPDX-License-Identifier: MIT
 *
 * The kernel stops the first thread of a rank by signals of Linux, which the program knows nothing
 * of. Linux starts most calls that wait again by itself then (SA_RESTART), but not those here: they
 * end with EINTR. So they are taken over at link time, and called again for the time that is left.
 * A thread that the program made is Linux's own: it gets what Linux says. ADR 0060.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <abi/guest.h>
#include <atoll/startup.h>
#include <user/libc/hosted/watch.h>

#define NS_PER_S 1000000000l
#define NS_PER_MS 1000000l
#define MS_PER_S 1000l
#define US_PER_S 1000000l
#define SIGNALS_OF_LIBC 0x380000000ul	/* it hides them */
#define SIGNAL_BIT(n) (1ul << ((n) - 1))
#define SIGSET_BYTES 8

/* Inside of musl. */
long __syscall_cp(long number, long a, long b, long c, long d, long e, long f);
long __syscall_ret(unsigned long result);

static bool
was_stopped(long result)
{
	return result == -EINTR && guest_is_first_thread();
}

/* `wait` behind a time, at most the end of time. */
static struct timespec
time_after(struct timespec begin, const struct timespec *wait)
{
	struct timespec at = {.tv_nsec = begin.tv_nsec + wait->tv_nsec};

	if (__builtin_add_overflow(begin.tv_sec, wait->tv_sec, &at.tv_sec))
		at.tv_sec = LONG_MAX - 1;
	if (at.tv_nsec >= NS_PER_S) {
		at.tv_sec++;
		at.tv_nsec -= NS_PER_S;
	}
	return at;
}

/* What is left of a wait that began then. */
static struct timespec
rest_of(struct timespec begin, const struct timespec *wait)
{
	struct timespec at = time_after(begin, wait);
	struct timespec left = watch_time_left(CLOCK_MONOTONIC, &at);

	return left.tv_sec < 0 ? (struct timespec){0} : left;
}

int
__clock_nanosleep(clockid_t clock, int flags, const struct timespec *wait, struct timespec *left)
{
	clockid_t by = clock == CLOCK_REALTIME && !(flags & TIMER_ABSTIME) ? CLOCK_MONOTONIC :
		clock;
	struct timespec begin, at, rest;
	long result;

	if (clock == CLOCK_THREAD_CPUTIME_ID)
		return EINVAL;
	clock_gettime(by, &begin);
	result = __syscall_cp(SYS_clock_nanosleep, by, flags, (long)wait, (long)&rest, 0, 0);
	if (!was_stopped(result)) {
		if (result == -EINTR && left != NULL && !(flags & TIMER_ABSTIME))
			*left = rest;
		return (int)-result;
	}
	/* `left` may be where `wait` is */
	at = flags & TIMER_ABSTIME ? *wait : time_after(begin, wait);
	do
		result = __syscall_cp(SYS_clock_nanosleep, by, TIMER_ABSTIME, (long)&at, 0, 0, 0);
	while (was_stopped(result));
	return (int)-result;
}

int
clock_nanosleep(clockid_t clock, int flags, const struct timespec *wait, struct timespec *left)
{
	return __clock_nanosleep(clock, flags, wait, left);
}

/* A call whose argument number `at` is the address of how long it waits, or 0. */
static long
call_for(long number, long arg[6], int at)
{
	const struct timespec *wait = (const struct timespec *)arg[at];
	struct timespec begin, left;
	long result;

	if (wait != NULL) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		left = *wait;
		arg[at] = (long)&left;
	}
	while (was_stopped(result = __syscall_cp(number, arg[0], arg[1], arg[2], arg[3], arg[4],
		arg[5])))
		if (wait != NULL)
			left = rest_of(begin, wait);
	return __syscall_ret((unsigned long)result);
}

int
ppoll(struct pollfd *files, nfds_t n, const struct timespec *wait, const sigset_t *mask)
{
	long arg[6] = {(long)files, (long)n, (long)wait, (long)mask, SIGSET_BYTES, 0};

	return (int)call_for(SYS_ppoll, arg, 2);
}

int
poll(struct pollfd *files, nfds_t n, int ms)
{
	struct timespec wait = {ms / MS_PER_S, ms % MS_PER_S * NS_PER_MS};

	return ppoll(files, n, ms < 0 ? NULL : &wait, NULL);
}

int
pselect(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict errors,
	const struct timespec *restrict wait,
	const sigset_t *restrict mask)
{
	long set[2] = {(long)mask, SIGSET_BYTES};
	long arg[6] = {n, (long)in, (long)out, (long)errors, (long)wait, (long)set};

	return (int)call_for(SYS_pselect6, arg, 4);
}

int
select(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict errors,
	struct timeval *restrict time)
{
	struct timespec wait = {0};

	if (time == NULL)
		return pselect(n, in, out, errors, NULL, NULL);
	if (time->tv_sec < 0 || time->tv_usec < 0)
		return (int)__syscall_ret((unsigned long)-EINVAL);
	if (__builtin_add_overflow(time->tv_sec, time->tv_usec / US_PER_S, &wait.tv_sec))
		wait.tv_sec = LONG_MAX - 1;
	wait.tv_nsec = time->tv_usec % US_PER_S * (NS_PER_S / US_PER_S);
	return pselect(n, in, out, errors, &wait, NULL);
}

/* All functions of the libc's file, which would come as a whole. */
int
epoll_create1(int flags)
{
	return (int)syscall(SYS_epoll_create1, flags);
}

int
epoll_create(int size)
{
	return size <= 0 ? (int)__syscall_ret((unsigned long)-EINVAL) : epoll_create1(0);
}

int
epoll_ctl(int set, int what, int file, struct epoll_event *event)
{
	return (int)syscall(SYS_epoll_ctl, set, what, file, event);
}

int
epoll_pwait(int set, struct epoll_event *events, int n, int ms, const sigset_t *mask)
{
	struct timespec begin, wait = {ms / MS_PER_S, ms % MS_PER_S * NS_PER_MS};
	long left = ms, result;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (was_stopped(result = __syscall_cp(SYS_epoll_pwait, set, (long)events, n, left,
			(long)mask, SIGSET_BYTES)))
		if (ms >= 0) {
			struct timespec rest = rest_of(begin, &wait);

			left = rest.tv_sec * MS_PER_S + (rest.tv_nsec + NS_PER_MS - 1) / NS_PER_MS;
		}
	return (int)__syscall_ret((unsigned long)result);
}

int
epoll_wait(int set, struct epoll_event *events, int n, int ms)
{
	return epoll_pwait(set, events, n, ms, NULL);
}

int
pause(void)
{
	long result;

	while (was_stopped(result = __syscall_cp(SYS_pause, 0, 0, 0, 0, 0, 0)))
		;
	return (int)__syscall_ret((unsigned long)result);
}

/* A program that blocks all signals still has its turns on a core, and no more than those. */
int
pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	unsigned long mask = set != NULL ? set->__bits[0] : 0;
	long result;

	if (set != NULL && (unsigned)how - SIG_BLOCK > 2)
		return EINVAL;
	if (how != SIG_UNBLOCK && atoll_startup() != NULL)
		mask &= ~(SIGNAL_BIT(GUEST_SIGNAL_DOORBELL) | SIGNAL_BIT(GUEST_SIGNAL_TICK));
	result = syscall(SYS_rt_sigprocmask, how, set != NULL ? &mask : NULL, old, SIGSET_BYTES);
	if (result < 0)
		return errno;
	if (old != NULL)
		old->__bits[0] &= ~SIGNALS_OF_LIBC;
	return 0;
}
