/* SPDX-License-Identifier: MIT
 *
 * Threads of the program as guests: see <atoll/guest.h>. The kernel must be told before such a
 * thread ends; a destructor of thread-specific data does it, which runs however the thread ends.
 */
#include <pthread.h>
#include <stddef.h>
#include <abi/errors.h>
#include <abi/guest.h>
#include <abi/limits.abi.h>
#include <abi/startup.h>
#include <atoll/guest.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <user/libc/hosted/watch.h>
#include <usercpu/kcall.h>

#define GUESTS_PER_RANK 2	/* at least: one that waits for the first thread, one that works */

#pragma weak pthread_create

static int first_handle;		/* the system's handle of the first thread */
static pthread_t first;
static bool can_make_threads;
static pthread_key_t on_exit_of_thread;
static __thread struct guest_entry entry;
static __thread bool known;		/* to the kernel */

static void
guest_leave(void *unused)
{
	(void)unused;
	known = false;
	entry.leave();
}

__attribute__((constructor(102))) static void
find_first_thread(void)
{
	if (atoll_startup() == NULL)
		return;
	first = pthread_self();
	first_handle = (int)kthread_self();
	can_make_threads = pthread_create != NULL &&
		pthread_key_create(&on_exit_of_thread, guest_leave) == 0;
}

bool
guest_is_first_thread(void)
{
	return first != NULL && pthread_self() == first;
}

bool
guests_admit(unsigned ranks)
{
	uint64_t guests = 0;

	if (atoll_startup() == NULL)
		return true;
	if (kstats(STATS_GUESTS_MAX, &guests) < 0 || guests < GUESTS_PER_RANK * ranks)
		return false;
	return !can_make_threads || watch_start(first, first_handle);
}

int
guest_enter(void)
{
	long result = 0;

	if (known)
		return 0;
	if (atoll_startup() != NULL && kthread_self() == -E_PERM) {
		result = kcall2(GUEST_ENTER, (unsigned long)atoll_startup()->image_base,
			(unsigned long)&entry);
		if (result < 0)
			return (int)result;
		if (can_make_threads)
			pthread_setspecific(on_exit_of_thread, &entry);
		kthread_yield();	/* a message that came before it was a guest for good */
	}
	known = true;
	return 0;
}
