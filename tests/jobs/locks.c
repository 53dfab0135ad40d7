/* SPDX-License-Identifier: MIT
 *
 * Mutexes, semaphores and condition variables of a program's libc, over the kernel's futexes: what
 * they do, what they refuse, and many threads at once.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include "expect.h"

#define THREADS 4
#define ROUNDS 300
#define SLOTS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t free_slots, filled_slots;
static long counter, inside, passed, value;

static void
team(void *(*body)(void *), long threads)
{
	pthread_t t[THREADS];

	for (long i = 0; i < threads; i++)
		expect(pthread_create(&t[i], NULL, body, (void *)i), 0, "a thread is created");
	for (long i = 0; i < threads; i++)
		expect(pthread_join(t[i], NULL), 0, "a thread is joined");
}

static struct timespec
soon(void)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

static pthread_mutex_t
mutex_of(int type)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t made;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutex_init(&made, &attr);
	return made;
}

/* --- mutexes --- */

static void
mutex_does_what_it_says(void)
{
	pthread_mutex_t often = mutex_of(PTHREAD_MUTEX_RECURSIVE);
	struct timespec at = soon();

	expect(pthread_mutex_lock(&mutex), 0, "a mutex is locked");
	expect(pthread_mutex_trylock(&mutex), EBUSY, "a locked mutex is busy");
	expect(pthread_mutex_timedlock(&mutex, &at), ETIMEDOUT,
		"a wait for a mutex has a deadline");
	expect(pthread_mutex_unlock(&mutex), 0, "a mutex is unlocked");
	expect(pthread_mutex_trylock(&mutex), 0, "an unlocked mutex is free");
	expect(pthread_mutex_unlock(&mutex), 0, "what trylock has locked is unlocked");
	expect(pthread_mutex_lock(&often), 0, "a recursive mutex is locked");
	expect(pthread_mutex_lock(&often), 0, "a recursive mutex is locked again");
	expect(pthread_mutex_unlock(&often) | pthread_mutex_unlock(&often), 0,
		"a recursive mutex is unlocked as often");
}

static void *
other_owner(void *arg)
{
	pthread_mutex_t *strict = arg;

	expect(pthread_mutex_unlock(strict), EPERM, "another's mutex is not unlocked");
	expect(pthread_mutex_trylock(strict), EBUSY, "another's mutex is busy");
	return NULL;
}

static void
mutex_refuses(void)
{
	pthread_mutex_t strict = mutex_of(PTHREAD_MUTEX_ERRORCHECK);
	pthread_t t;

	expect(pthread_mutex_lock(&strict), 0, "a checking mutex is locked");
	expect(pthread_mutex_lock(&strict), EDEADLK, "the owner cannot lock again");
	pthread_create(&t, NULL, other_owner, &strict);
	pthread_join(t, NULL);
	expect(pthread_mutex_unlock(&strict), 0, "the owner unlocks");
	expect(pthread_mutex_unlock(&strict), EPERM, "an unlocked mutex is not unlocked");
}

static void *
count_locked(void *arg)
{
	for (long i = 0; i < ROUNDS; i++) {
		if ((long)arg % 2 == 0)
			pthread_mutex_lock(&mutex);
		else
			while (pthread_mutex_trylock(&mutex) != 0)
				sched_yield();
		expect(++inside, 1, "one is inside");
		counter++;
		inside--;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* --- semaphores --- */

static void
semaphore_does_what_it_says(void)
{
	struct timespec at = soon();
	sem_t s;
	int have;

	expect(sem_init(&s, 0, 2), 0, "a semaphore begins with a value");
	expect(sem_wait(&s) | sem_trywait(&s), 0, "what is there is taken");
	expect(sem_trywait(&s) == -1 && errno == EAGAIN, 1, "what is not there is not taken");
	expect(sem_timedwait(&s, &at) == -1 && errno == ETIMEDOUT, 1, "a wait has a deadline");
	expect(sem_post(&s) | sem_getvalue(&s, &have), 0, "it is given back");
	expect(have, 1, "the value of a semaphore");
	expect(sem_destroy(&s), 0, "a semaphore is given up");
}

static void
semaphore_refuses(void)
{
	struct timespec bad = {0, 2000000000};
	sem_t s;

	expect(sem_init(&s, 0, (unsigned)SEM_VALUE_MAX + 1) == -1 && errno == EINVAL, 1,
		"a value that is too large");
	sem_init(&s, 0, SEM_VALUE_MAX);
	expect(sem_post(&s) == -1 && errno == EOVERFLOW, 1, "a semaphore that is full");
	sem_init(&s, 0, 0);
	expect(sem_timedwait(&s, &bad) == -1 && errno == EINVAL, 1, "a time that does not exist");
}

/* Two produce, two consume, over SLOTS slots. */
static void *
pass_objects(void *arg)
{
	sem_t *take = (long)arg % 2 ? &filled_slots : &free_slots;
	sem_t *give = (long)arg % 2 ? &free_slots : &filled_slots;

	for (long i = 0; i < ROUNDS; i++) {
		while (i % 3 == 0 ? sem_trywait(take) != 0 : sem_wait(take) != 0)
			sched_yield();
		__atomic_add_fetch(&passed, 1, __ATOMIC_SEQ_CST);
		sem_post(give);
	}
	return NULL;
}

/* --- condition variables --- */

static void
condition_does_what_it_says(void)
{
	struct timespec at = soon();

	expect(pthread_cond_signal(&changed), 0, "a signal without a waiter is no error");
	expect(pthread_cond_broadcast(&changed), 0, "nor is a broadcast");
	pthread_mutex_lock(&mutex);
	expect(pthread_cond_timedwait(&changed, &mutex, &at), ETIMEDOUT,
		"a signal is not remembered, and a wait has a deadline");
	expect(pthread_mutex_trylock(&mutex), EBUSY, "the mutex is locked again after the wait");
	pthread_mutex_unlock(&mutex);
}

static void
condition_refuses(void)
{
	pthread_mutex_t strict = mutex_of(PTHREAD_MUTEX_ERRORCHECK);
	struct timespec bad = {0, 2000000000}, at = soon();

	pthread_mutex_lock(&mutex);
	expect(pthread_cond_timedwait(&changed, &mutex, &bad), EINVAL,
		"a time that does not exist");
	pthread_mutex_unlock(&mutex);
	expect(pthread_cond_timedwait(&changed, &strict, &at), EPERM, "a mutex that is not locked");
}

/* A turn goes round: each waits for its own. */
static void *
take_turns(void *arg)
{
	for (long i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		while (value % THREADS != (long)arg)
			pthread_cond_wait(&changed, &mutex);
		value++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* One signal for one of two: producer and consumer over one value. */
static void *
hand_over(void *arg)
{
	for (long i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		while ((value & 1) != (long)arg)
			pthread_cond_wait(&changed, &mutex);
		value++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int
main(void)
{
	mutex_does_what_it_says();
	mutex_refuses();
	team(count_locked, THREADS);
	expect(counter, THREADS * ROUNDS, "nobody is lost at a mutex");
	semaphore_does_what_it_says();
	semaphore_refuses();
	sem_init(&free_slots, 0, SLOTS);
	sem_init(&filled_slots, 0, 0);
	team(pass_objects, THREADS);
	expect(passed, THREADS * ROUNDS, "nothing is lost at a semaphore");
	condition_does_what_it_says();
	condition_refuses();
	team(take_turns, THREADS);
	expect(value, THREADS * ROUNDS, "nobody misses his turn");
	value = 0;
	team(hand_over, 2);
	expect(value, 2 * ROUNDS, "a signal wakes the one that waits");
	return verdict();
}
