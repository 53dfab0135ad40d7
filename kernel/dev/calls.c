/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on the console and on the cluster as a whole. For devices see device.c.
 */
#include <hal/perf.h>
#include <hal/timer.h>
#include <kernel/ikc/channel.h>
#include <kernel/proc/proc.h>

/*
 * kc_console_write: append text to the console; lines stay whole. Runs: home. Returns 0; -E_AGAIN:
 * no room now, nothing was taken.
 */
long
kc_console_write(struct thread *caller, const void *text, uint32_t text_len)
{
	return console_append(caller->cluster, caller->tid, text, text_len);
}

/* kc_cluster_info: what this cluster is. Runs: calling core. Returns 0. */
long
kc_cluster_info(struct thread *caller, void *info)
{
	struct cluster *c = caller->cluster;
	struct cluster_info *out = info;

	*out = (struct cluster_info){
		.cluster = c->id,
		.clusters = c->record->clusters,
		.core = core_self()->id,
		.cores = c->cores,
		.page_bytes = HAL_PAGE_BYTES,
		.large_page_bytes = HAL_LARGE_BYTES,
		.mailbox_ports = c->record->mailbox_ports,
		.portal_ports = c->record->portal_ports,
		.first_core = c->record->cluster[c->id].first_core,
	};
	return 0;
}

/* kc_clock: nanoseconds since the machine started. Runs: calling core. Returns 0. */
long
kc_clock(struct thread *caller, void *ns)
{
	uint64_t now = hal_clock_ns();

	(void)caller;
	__builtin_memcpy(KCALL_OUT_WORD(ns), &now, sizeof(now));
	return 0;
}

/*
 * kc_core_count: what the calling core counted since it started (COUNT_*). Runs: calling core.
 * Returns 0; -E_INVAL: no such counter. Source: seed 001 III (performance counters).
 */
long
kc_core_count(struct thread *caller, int what, void *value)
{
	uint64_t count;

	(void)caller;
	if (what == COUNT_TICKS)
		count = hal_peek32(&core_self()->count[CORE_TICKS]);
	else if (what == COUNT_SHOT_DOWN)
		count = hal_peek32(&core_self()->count[CORE_SHOT_DOWN]);
	else if (what == COUNT_REFILLS_DATA || what == COUNT_REFILLS_CODE)
		count = hal_refills(what == COUNT_REFILLS_CODE);
	else
		return -E_INVAL;
	__builtin_memcpy(KCALL_OUT_WORD(value), &count, sizeof(count));
	return 0;
}

/*
 * kc_machine_halt: power the machine off, by an authority (RIGHT_END). Runs: home. Returns only
 * -E_BADF; -E_ACCES.
 */
long
kc_machine_halt(struct thread *caller, int authority, int status)
{
	int e = authority_check(caller, authority, RIGHT_END);

	if (e != 0)
		return e;
	console_flush(caller->cluster);
	hal_machine_halt(status);
}

/* kc_stats: a number of this cluster, STATS_*. Runs: home. Returns 0; -E_INVAL. */
long
kc_stats(struct thread *caller, int what, void *value)
{
	struct cluster *c = caller->cluster;
	const uint64_t values[] = {
		[STATS_FRAMES_FREE] = c->frames.free +
			(c->clearing.under_way != NULL ? CLEAR_STEP : 0),
		[STATS_FRAMES_TOTAL] = c->frames.total - c->frames.first,
		[STATS_THREADS] = c->threads_live,
		[STATS_PROCS] = c->procs_live,
		[STATS_MAILBOXES] = ikc_ends(&c->ikc, CLASS_MAILBOX),
		[STATS_PORTALS] = ikc_ends(&c->ikc, CLASS_PORTAL),
		[STATS_SYNCS] = ikc_ends(&c->ikc, CLASS_SYNC),
		[STATS_REMOTE_CALLS] = c->am.served,
		[STATS_GUESTS_MAX] = c->guests,
		[STATS_PIECE_PAGES] = c->slab.pages,
		[STATS_CHANNEL_PAGES] = what == STATS_CHANNEL_PAGES ? channel_pages(c) : 0,
		[STATS_KEPT_MESSAGES] = c->ikc.kept,
		[STATS_HOME_TICKS] = hal_peek32(&core_at(c, KERNEL_CORE)->count[CORE_TICKS]),
	};

	uint32_t of_domain = (uint32_t)what - STATS_DOMAIN;
	uint64_t out;

	if (what >= 0 && (size_t)what < sizeof(values) / sizeof(values[0]))
		out = values[what];
	else if (of_domain / DOMAIN_WORDS <= c->frames.policy->last_domain)
		out = c->frames.domain[of_domain / DOMAIN_WORDS].stat[of_domain % DOMAIN_WORDS];
	else
		return -E_INVAL;
	__builtin_memcpy(KCALL_OUT_WORD(value), &out, sizeof(out));
	return 0;
}
