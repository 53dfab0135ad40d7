/* SPDX-License-Identifier: MIT
 *
 * What the two tracers write, the plugin of the emulator (trace.c) and the one that is linked into
 * a hosted machine (trace_hosted.c): a head and then events, valid at every moment, also when the
 * machine is killed. tools/run/timeline.py reads them.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdint.h>

/* as tools/run/timeline.py has them */
enum trace_kind { USER, KERNEL, WAIT, WAKE, CURRENT, ROLE, CALL, SEND, SERVE, REPLY, POST, TAKE, TAKEN,
	TICK, FAULT, SPREAD, CROWDED, PLACED };

struct trace_event {
	uint64_t time;
	uint32_t a, b;
	uint16_t hart, kind;
	uint32_t is_whole;		/* written last */
};

struct trace_head {
	uint64_t room;			/* events */
	uint64_t next;
	uint64_t reserved;
	struct trace_event event[];
};

/* Any thread. What finds no room is counted. */
static inline void
trace_put(struct trace_head *out, const struct trace_event *what)
{
	uint64_t place = __atomic_fetch_add(&out->next, 1, __ATOMIC_RELAXED);
	struct trace_event *e = &out->event[place];

	if (place >= out->room)
		return;
	e->time = what->time;
	e->a = what->a;
	e->b = what->b;
	e->hart = what->hart;
	e->kind = what->kind;
	__atomic_store_n(&e->is_whole, 1, __ATOMIC_RELEASE);
}

#endif
