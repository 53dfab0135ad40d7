/* SPDX-License-Identifier: MIT
 *
 * The first thread of a rank shares its core with other ranks, for whom another thread of the
 * program may wait in MPI; so it must not wait in Linux. musl waits for other threads in three
 * functions, which are taken over at link time (this library comes before the libc): called on the
 * first thread, they hand the wait over to a thread made for that, the watch, and sleep in the
 * kernel.
 *
 * The hand-over is one word. The watch makes it IDLE when the kernel has taken it as a guest,
 * REFUSED when not. IDLE -> ASKED by the first thread, -> ANSWERED by the watch, -> IDLE by the
 * first thread. The watch then wakes it; a wake-up before the sleep is remembered. Not covered:
 * pthread_barrier_wait by whoever comes first to it.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <atoll/guest.h>
#include <atoll/kcalls.h>
#include <user/libc/hosted/watch.h>

#define STACK_BYTES 32768
#define SPINS 100
#define WOKEN (1u << 30)	/* the bit of the first thread's notification; MPI has others */
#define NS_PER_S 1000000000

enum { UNBORN, IDLE, ASKED, ANSWERED, REFUSED };

/* Inside of musl. */
long __syscall_cp(long number, long a, long b, long c, long d, long e, long f);
int __timedwait(volatile int *addr, int value, clockid_t clock, const struct timespec *at,
	int private);
int __timedwait_cp(volatile int *addr, int value, clockid_t clock, const struct timespec *at,
	int private);
void __wait(volatile int *addr, volatile int *waiters, int value, int private);

static struct watch {
	uint32_t state;
	volatile int *addr;
	int value;
	int operation;
	const struct timespec *timeout;
	long result;
	pthread_t first;
	int first_handle;
} watch;

static long
futex(volatile void *addr, int operation, int value, const struct timespec *timeout)
{
	long result = syscall(SYS_futex, addr, operation, value, timeout, NULL, 0);

	return result < 0 ? -errno : result;
}

static void *
watch_main(void *unused)
{
	struct watch *w = &watch;

	if (guest_enter() != 0) {
		__atomic_store_n(&w->state, REFUSED, __ATOMIC_RELEASE);
		return unused;
	}
	__atomic_store_n(&w->state, IDLE, __ATOMIC_RELEASE);
	for (;;) {
		uint32_t state = __atomic_load_n(&w->state, __ATOMIC_ACQUIRE);

		if (state != ASKED) {
			futex(&w->state, FUTEX_WAIT_PRIVATE, (int)state, NULL);
			continue;
		}
		w->result = futex(w->addr, w->operation, w->value, w->timeout);
		__atomic_store_n(&w->state, ANSWERED, __ATOMIC_RELEASE);
		kthread_wakeup(w->first_handle, WOKEN);
	}
	return unused;
}

static long
hand_over(volatile int *addr, int operation, int value, const struct timespec *timeout)
{
	struct watch *w = &watch;

	w->addr = addr;
	w->operation = operation;
	w->value = value;
	w->timeout = timeout;
	__atomic_store_n(&w->state, ASKED, __ATOMIC_RELEASE);
	futex(&w->state, FUTEX_WAKE_PRIVATE, 1, NULL);
	while (__atomic_load_n(&w->state, __ATOMIC_ACQUIRE) != ANSWERED)
		kthread_sleep(WOKEN, FOREVER);
	__atomic_store_n(&w->state, IDLE, __ATOMIC_RELEASE);
	return w->result;
}

/*
 * Does the kernel take the watch? One that is refused cannot wake anybody: looked at, letting
 * others of the core and of the host run.
 */
static bool
is_admitted(void)
{
	uint32_t state;

	while ((state = __atomic_load_n(&watch.state, __ATOMIC_ACQUIRE)) == UNBORN) {
		kthread_yield();
		syscall(SYS_sched_yield);
	}
	return state != REFUSED;
}

/* what makes no threads shall not contain it */
#pragma weak pthread_create

bool
watch_start(pthread_t first, int handle)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	if (watch.first != NULL)
		return true;
	if (watch.state == REFUSED)
		return false;
	watch.first_handle = handle;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, watch_main, NULL);
	pthread_attr_destroy(&attr);
	if (err != 0 || !is_admitted())
		return false;
	watch.first = first;
	return true;
}

static bool
is_handed_over(void)
{
	return watch.first != NULL && pthread_self() == watch.first;
}

struct timespec
watch_time_left(clockid_t clock, const struct timespec *at)
{
	struct timespec now, left;

	clock_gettime(clock, &now);
	left = (struct timespec){at->tv_sec - now.tv_sec, at->tv_nsec - now.tv_nsec};
	if (left.tv_nsec < 0) {
		left.tv_sec--;
		left.tv_nsec += NS_PER_S;
	}
	return left;
}

/*
 * Wait while *addr is `value`, until `at` at most. 0, also for no reason; EINVAL, ETIMEDOUT,
 * ECANCELED. A cancellation point.
 */
int
__timedwait_cp(volatile int *addr, int value, clockid_t clock, const struct timespec *at,
	int private)
{
	int operation = private ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT;
	const struct timespec *timeout = NULL;
	struct timespec left;
	long result;

	if (at != NULL) {
		if (at->tv_nsec < 0 || at->tv_nsec >= NS_PER_S)
			return EINVAL;
		left = watch_time_left(clock, at);
		if (left.tv_sec < 0)
			return ETIMEDOUT;
		timeout = &left;
	}
	if (is_handed_over())
		result = hand_over(addr, operation, value, timeout);
	else
		result = __syscall_cp(SYS_futex, (long)addr, operation, value, (long)timeout, 0, 0);
	return result == -ETIMEDOUT || result == -ECANCELED ? (int)-result : 0;
}

int
__timedwait(volatile int *addr, int value, clockid_t clock, const struct timespec *at, int private)
{
	int before, result;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	result = __timedwait_cp(addr, value, clock, at, private);
	pthread_setcancelstate(before, NULL);
	return result;
}

/* Wait while *addr is `value`; `waiters` counts who does. */
void
__wait(volatile int *addr, volatile int *waiters, int value, int private)
{
	int operation = private ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT;

	for (int i = 0; i < SPINS && (waiters == NULL || *waiters == 0); i++)
		if (*addr != value)
			return;
	if (waiters != NULL)
		__atomic_fetch_add(waiters, 1, __ATOMIC_SEQ_CST);
	while (*addr == value) {
		if (is_handed_over())
			hand_over(addr, operation, value, NULL);
		else
			syscall(SYS_futex, addr, operation, value, NULL, NULL, 0);
	}
	if (waiters != NULL)
		__atomic_fetch_sub(waiters, 1, __ATOMIC_SEQ_CST);
}

/* To others of the core, too: one of them may be who is waited for. */
int
sched_yield(void)
{
	if (is_handed_over())
		kthread_yield();
	return (int)syscall(SYS_sched_yield);
}
