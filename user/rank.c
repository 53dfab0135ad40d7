/* SPDX-License-Identifier: MIT
 *
 * How a rank ends (struct job_control in abi/startup.h).
 */
#include <stddef.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <user/rank.h>

static _Noreturn void
end_process(int status)
{
	for (;;)
		kproc_exit(status);
}

void
rank_end(struct job_control *c, uint32_t local, int status)
{
	uint32_t none = 0;

	c->rank[local].status = status;
	if (status != 0)
		__atomic_compare_exchange_n(&c->status, &none, (uint32_t)status, 0,
			__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	if (__atomic_add_fetch(&c->ended, 1, __ATOMIC_ACQ_REL) == c->ranks)
		end_process((int)__atomic_load_n(&c->status, __ATOMIC_ACQUIRE));
	/*
	 * not thread_exit: a process ends with its last thread, and ranks that have yet to be
	 * started must find it alive
	 */
	for (;;)
		kthread_sleep(WAKE_ANY, FOREVER);
}

bool
rank_breaks_job(struct job_control *c, uint32_t local)
{
	if (__atomic_load_n(&c->rank[local].held, __ATOMIC_ACQUIRE) == 0)
		return false;
	if (__atomic_exchange_n(&c->broken, 1, __ATOMIC_ACQ_REL) == 0)
		return true;
	for (;;)
		kthread_sleep(WAKE_ANY, FOREVER);
}

void
rank_hold(bool held)
{
	const struct startup *s = atoll_startup();
	struct job_control *c = s != NULL ? (struct job_control *)(uintptr_t)s->control : NULL;

	if (c != NULL)
		__atomic_store_n(&c->rank[s->local_rank].held, held, __ATOMIC_RELEASE);
}

void
rank_exit(int status)
{
	const struct startup *s = atoll_startup();

	if (s == NULL || s->control == 0)
		end_process(status);
	rank_end((struct job_control *)(uintptr_t)s->control, s->local_rank, status);
}

void
job_abort(int status)
{
	end_process((status & 255) != 0 ? status & 255 : 1);
}
