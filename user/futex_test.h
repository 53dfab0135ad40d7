/* SPDX-License-Identifier: MIT
 *
 * For unit tests: kfutex_wait and kfutex_wake among threads of this host, exact like the kernel's:
 * who is woken is counted once, the oldest first. It knows when all threads sleep, and can tell
 * what nobody would wake any more. Deadlines other than 0 and 1 are for ever here; 1 is a short
 * while. Instead of user/channel_words.h, for the thread sanitizer knows no fences.
 */
#ifndef USER_FUTEX_TEST_H
#define USER_FUTEX_TEST_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <abi/errors.h>
#include <abi/limits.abi.h>

#define USER_CHANNEL_WORDS_H
static uint32_t fence_word;
#define word_look(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define word_put(word, value) __atomic_store_n((word), (value), __ATOMIC_SEQ_CST)
#define word_peek(word) __atomic_load_n((word), __ATOMIC_RELAXED)
#define word_swap(word, old, value) \
	__extension__({ uint32_t expected_ = (old); __atomic_compare_exchange_n((word), \
		&expected_, (value), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); })
#define word_swap_quickly word_swap
#define word_exchange(word, value) __atomic_exchange_n((word), (value), __ATOMIC_SEQ_CST)
#define words_fence() ((void)__atomic_fetch_add(&fence_word, 0, __ATOMIC_SEQ_CST))
#define bytes_publish(bytes, count) ((void)(bytes), (void)(count))
#define bytes_acquire(bytes, count) ((void)(bytes), (void)(count))

#define TUBE_PLACES_ALIGNED 16

#define FAKE_NOW 1000
#define FAKE_WHILE 1			/* as a deadline */

struct fake_sleeper {
	struct fake_sleeper *next;
	unsigned long key;
	bool woken;
	pthread_cond_t cond;
};

static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_sleeper *fake_first;
static unsigned fake_slept, fake_woken;

static void
fake_remove(const struct fake_sleeper *s)
{
	struct fake_sleeper **at = &fake_first;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
}

static void
fake_add(struct fake_sleeper *s)
{
	struct fake_sleeper **at = &fake_first;

	while (*at != NULL)
		at = &(*at)->next;
	*at = s;
	fake_slept++;
}

long
kfutex_wait(unsigned long addr, uint32_t value, uint64_t until)
{
	struct fake_sleeper s = {.key = addr, .cond = PTHREAD_COND_INITIALIZER};
	uint32_t *word = (uint32_t *)(addr & ~(unsigned long)FUTEX_SHARED);

	/* who has the lock of a segment is not waited for longer, either */
	if (until == FAKE_NOW + 300000000)
		until = FAKE_WHILE;
	pthread_mutex_lock(&fake_lock);
	if (word_look(word) != value) {
		pthread_mutex_unlock(&fake_lock);
		return -E_AGAIN;
	}
	fake_add(&s);
	for (int n = 0; !s.woken && (until != FAKE_WHILE || n < 20); n++) {
		if (until != FAKE_WHILE) {
			pthread_cond_wait(&s.cond, &fake_lock);
			continue;
		}
		pthread_mutex_unlock(&fake_lock);
		sched_yield();
		pthread_mutex_lock(&fake_lock);
	}
	if (!s.woken)
		fake_remove(&s);
	pthread_mutex_unlock(&fake_lock);
	return s.woken ? 0 : -E_TIMEDOUT;
}

long
kfutex_wake(unsigned long addr, int count)
{
	struct fake_sleeper *s, *next;
	long woken = 0;

	pthread_mutex_lock(&fake_lock);
	for (s = fake_first; s != NULL && woken < count; s = next) {
		next = s->next;
		if (s->key != addr)
			continue;
		fake_remove(s);
		s->woken = true;
		fake_woken++;
		woken++;
		pthread_cond_signal(&s->cond);
	}
	pthread_mutex_unlock(&fake_lock);
	return woken;
}

long
kclock(void *ns)
{
	*(uint64_t *)ns = FAKE_NOW;
	return 0;
}

/* How many sleep. */
static inline unsigned
fake_sleepers(void)
{
	unsigned n = 0;

	for (const struct fake_sleeper *s = fake_first; s != NULL; s = s->next)
		n++;
	return n;
}

#endif
