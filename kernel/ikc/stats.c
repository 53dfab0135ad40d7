/* SPDX-License-Identifier: MIT
 *
 * What mailboxes, portals and sync points have moved, and how long that took. Counts are kept
 * always; times are taken only at ends that were asked for, because a clock is slow to read on some
 * machines. Home core.
 */
#include <base/str.h>
#include <hal/timer.h>
#include <kernel/ikc/state.h>

void
latency_start(struct endpoint *ep)
{
	ep->since = hal_clock_ns();
}

void
latency_stop(struct cluster *c, struct endpoint *ep)
{
	uint64_t passed;

	if (ep->since == 0)
		return;
	passed = hal_clock_ns() - ep->since;
	ep->since = 0;
	ep->latency_ns += passed;
	class_of(c, ep->kind)->latency_ns += passed;
}

static bool
reads(const struct endpoint *ep)
{
	return (ep->kind & (MAIL_IN | PORTAL_IN | SYNC_IN)) != 0;
}

/* What one end has done. */
static struct port_stats
stats_of(const struct endpoint *ep)
{
	uint64_t bytes = ep->kind & (MAIL_IN | MAIL_OUT) ?
		(uint64_t)ep->count * MAILBOX_MSG_SIZE : ep->volume;

	return (struct port_stats){
		.volume = bytes,
		.latency_ns = ep->latency_ns,
		.reads = reads(ep) ? ep->count : 0,
		.writes = reads(ep) ? 0 : ep->count,
		.creates = reads(ep),
		.opens = !reads(ep),
	};
}

static struct port_stats
stats_of_class(const struct cluster *c, int class)
{
	const struct port_class *of = &c->ikc.class[class];
	uint64_t messages = (uint64_t)of->reads + of->writes;

	return (struct port_stats){
		.volume = class == CLASS_MAILBOX ? messages * MAILBOX_MSG_SIZE : of->volume,
		.latency_ns = of->latency_ns,
		.reads = of->reads,
		.writes = of->writes,
		.creates = of->creates,
		.opens = of->opens,
		.closes = of->closes,
	};
}

/*
 * kc_port_stats: what a mailbox, portal or end of a sync point has moved, or all of a class in this
 * cluster.
 *
 *   object   a handle of it, whatever its rights, or 0
 *   class    if that is 0: CLASS_MAILBOX, CLASS_PORTAL or CLASS_SYNC
 *   stats    struct port_stats; latency_ns counts what begins after the first call for an end
 *
 * Returns 0; -E_BADF; -E_INVAL: no such class. Source: seed 002 4.3.1; differs: what is asked for
 * comes in one call.
 */
long
kc_port_stats(struct thread *caller, int object, int class, void *stats)
{
	struct endpoint *ep;
	struct port_stats s;
	long wrong;

	if (object == 0 && (class < 0 || class >= CLASSES))
		return -E_INVAL;
	if (object == 0) {
		s = stats_of_class(caller->cluster, class);
	} else {
		wrong = endpoint_find(caller, object, 63, 0, &ep);
		if (wrong != 0)
			return wrong;
		s = stats_of(ep);
		ep->is_measured = !reads(ep);
	}
	memcpy(stats, &s, sizeof(s));
	return 0;
}
