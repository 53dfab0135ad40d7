/* SPDX-License-Identifier: MIT
 *
 * See lock.h.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/personality.h>
#include <user/personality/lock.h>

void
lock_wait(struct lock *l)
{
	while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE) != 0)
		if (kfutex_wait((unsigned long)&l->word, 2, FOREVER) == -E_INTR)
			kthread_sleep(1u << PERSONALITY_SIGNAL_BIT, 0);
}

void
lock_wake(struct lock *l)
{
	kfutex_wake((unsigned long)&l->word, 1);
}
