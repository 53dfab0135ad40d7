/* SPDX-License-Identifier: MIT
 *
 * What threads have done: see counts.h. Source: seed 000 III-B (threads).
 */
#include <hal/timer.h>
#include <kernel/call/kcall_core.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/counts.h>

/* --- its own core --- */

/* NULL: it is not counted, or not yet. */
static struct run_counts *
counts_of(struct thread *t)
{
	if ((thread_upcall(t) & UPCALL_COUNT) == 0)
		return NULL;
	hal_acquire(&t->counts, sizeof(t->counts));
	return t->counts;
}

static uint32_t
check_of(const struct run_counts *c)
{
	return (uint32_t)c->run_ns ^ (uint32_t)(c->run_ns >> 32) ^ (uint32_t)c->since ^
		(uint32_t)(c->since >> 32) ^ c->switches ^ c->calls;
}

static void
write_down(struct run_counts *c)
{
	c->check = check_of(c);
	hal_publish(c, offsetof(struct run_counts, faults));
}

void
counts_begin(struct thread *t)
{
	struct run_counts *c = counts_of(t);

	if (c == NULL)
		return;
	c->since = hal_clock_ns();
	c->switches++;
	write_down(c);
}

void
counts_end(struct thread *t)
{
	struct run_counts *c = counts_of(t);

	if (c == NULL || c->since == 0)
		return;
	c->run_ns += hal_clock_ns() - c->since;
	c->since = 0;
	write_down(c);
}

void
counts_call(struct thread *t)
{
	struct run_counts *c = counts_of(t);

	if (c == NULL)
		return;
	c->calls++;
	write_down(c);
}

/* --- home --- */

/* The counts of a thread, which begin now if nobody has asked for them. NULL: no memory. */
static struct run_counts *
counts_make(struct thread *t)
{
	struct handler_record *made = handler_record(t);

	if (made == NULL || t->counts != NULL)
		return t->counts;
	made->counts.begun_ns = hal_clock_ns();
	hal_publish(&made->counts, sizeof(made->counts));
	t->counts = &made->counts;
	hal_publish(&t->counts, sizeof(t->counts));
	upcall_change(t, UPCALL_COUNT, 0);
	return t->counts;
}

/*
 * kc_thread_stats: what a thread (RIGHT_READ) has done (struct thread_counts) since somebody asked
 * for it first; that call begins to count. What a thread does at the moment counts when a core has
 * taken it up since. Runs: home. Returns 0; -E_BADF; -E_ACCES; -E_SRCH: it has ended; -E_NOMEM;
 * -E_NOSYS: a thread of the host's; -E_AGAIN: its core was writing them down, ask again.
 */
long
kc_thread_stats(struct thread *caller, int thread, void *counts)
{
	struct object *o = handle_get(&caller->proc->handles, thread, OBJECT_THREAD, RIGHT_READ);
	struct thread_counts out;
	struct run_counts *c;
	struct thread *t;

	if (o == NULL)
		return handle_error(&caller->proc->handles, thread, OBJECT_THREAD);
	t = list_entry(o, struct thread, object);
	if (t->state != THREAD_READY && t->state != THREAD_WAITING)
		return -E_SRCH;
	if (t->core->id >= t->cluster->cores)
		return -E_NOSYS;
	c = counts_make(t);
	if (c == NULL)
		return -E_NOMEM;
	hal_acquire(c, offsetof(struct run_counts, faults));
	out = (struct thread_counts){.run_ns = c->run_ns, .begun_ns = c->begun_ns,
		.switches = c->switches, .calls = c->calls, .faults = c->faults, .core = t->core->id};
	if (c->since != 0)
		out.run_ns += hal_clock_ns() - c->since;
	if (c->check != check_of(c))
		return -E_AGAIN;
	__builtin_memcpy(counts, &out, sizeof(out));
	return 0;
}
