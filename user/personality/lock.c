/* SPDX-License-Identifier: MIT
 *
 * See lock.h.
 */
#include <stdbool.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/personality.h>
#include <user/personality/lock.h>

void
lock_take(struct lock *l)
{
	uint32_t free = 0;

	if (__atomic_compare_exchange_n(&l->word, &free, 1, false, __ATOMIC_ACQUIRE,
		__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE) != 0)
		if (kfutex_wait((unsigned long)&l->word, 2, FOREVER) == -E_INTR)
			kthread_sleep(1u << PERSONALITY_SIGNAL_BIT, 0);
}

void
lock_give(struct lock *l)
{
	if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
		kfutex_wake((unsigned long)&l->word, 1);
}
