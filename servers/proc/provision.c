/* SPDX-License-Identifier: MIT
 *
 * Who has a core of his own: see provision.h.
 */
#include <base/str.h>
#include <servers/proc/provision.h>

#define US_MAX 1000000u			/* of one look: more says no more */

void
provision_begin(struct provision *p)
{
	p->is_still = true;
	for (struct habit *h = p->habit; h < p->habit + MEMBERS_MAX; h++)
		h->is_there = false;
}

static void
count_look(uint8_t *looks, bool is_so)
{
	if (!is_so)
		*looks = 0;
	else if (*looks < UINT8_MAX)
		++*looks;
}

void
provision_see(struct provision *p, uint32_t habit, int32_t pid, const struct thread_counts *counts,
	uint32_t us)
{
	struct habit *h = &p->habit[habit];
	bool is_known = h->pid == pid;
	uint32_t run_us = (uint32_t)(counts->run_ns / 1000), ran = run_us - h->run_us,
		calls = counts->calls - h->calls, put_off = counts->preempted - h->preempted;

	if (!is_known)
		*h = (struct habit){.pid = pid};
	h->is_there = true;
	h->run_us = run_us;
	h->calls = counts->calls;
	h->preempted = counts->preempted;
	h->core = (uint16_t)counts->core;
	h->threads = (uint16_t)counts->threads;
	p->is_still &= is_known;
	if (!is_known || us == 0)
		return;
	us = us < US_MAX ? us : US_MAX;
	ran = ran < us ? ran : us;
	h->share = (uint8_t)(ran * 100 / us);
	p->is_still &= h->share == 0;
	count_look(&h->computes, h->share >= SHARE_COMPUTES || put_off > 0);
	count_look(&h->keeps_calling, h->computes == 0 && h->share <= SHARE_CALLS &&
		calls >= CALLS_LEAST);
	h->is_short = h->computes >= LOOKS_COMPUTES && put_off > 0;
	h->rests -= h->rests > 0;
}

void
provision_end(struct provision *p)
{
	bool any = false;

	for (struct habit *h = p->habit; h < p->habit + MEMBERS_MAX; h++) {
		if (!h->is_there)
			*h = (struct habit){0};
		any |= h->is_short;
	}
	for (uint32_t c = 0; c < p->cores; c++)
		p->place[c].is_made &= p->place[c].role == ROLE_TC;
	p->short_looks = any ? p->short_looks + 1 : 0;
	p->calm_looks = any ? 0 : p->calm_looks + 1;
}

/* --- those that keep calling --- */

/* What those that are gathered on a core need. */
static uint32_t
share_of(const struct provision *p, uint32_t core)
{
	uint32_t share = 0;

	for (const struct habit *h = p->habit; h < p->habit + MEMBERS_MAX; h++)
		if (h->gathered == core + 1)
			share += h->share;
	return share;
}

static bool
is_short_there(const struct provision *p, uint32_t core)
{
	for (const struct habit *h = p->habit; h < p->habit + MEMBERS_MAX; h++)
		if (h->is_short && h->core == core)
			return true;
	return false;
}

/*
 * How well somebody is served if the process leaves its core: 3 a process that shares it and
 * computes; 2 whoever gets the core, which is empty then; 1 nobody before others have left, too; 0:
 * it may not leave.
 */
static uint32_t
use_of(const struct provision *p, const struct habit *h)
{
	const struct place *at = &p->place[h->core];

	if (h->keeps_calling < LOOKS_CALLS || h->rests > 0 || h->gathered != 0 || h->core == 0 ||
		h->core >= p->cores || (at->role != ROLE_AC && at->role != ROLE_TC))
		return 0;
	return is_short_there(p, h->core) ? 3 : at->threads <= h->threads ? 2 : 1;
}

/* The core where it may be gathered that is used least, and 1; 0: there is none. */
static uint32_t
room_for(const struct provision *p, const struct habit *h)
{
	uint32_t best = 0, least = SHARE_FULL + 1;

	for (uint32_t c = 1; c < p->cores; c++) {
		uint32_t share = p->place[c].is_made ? share_of(p, c) + h->share : least;

		if (share >= least)
			continue;
		best = c + 1;
		least = share;
	}
	return best;
}

/*
 * A core becomes a place where processes gather: one that two of them at least will share, and of
 * which nobody is short.
 */
static struct decision
decide_founding(const struct provision *p)
{
	struct decision d = {.kind = DECIDE_NOTHING};
	uint32_t movers = 0;

	for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
		uint32_t use = use_of(p, &p->habit[i]), core = p->habit[i].core;

		movers += use != 0;
		if (use == 0 || use == 3 || p->place[core].role != ROLE_AC)
			continue;
		d = (struct decision){DECIDE_ROLE, i, core, ROLE_TC};
	}
	return movers > 1 ? d : (struct decision){.kind = DECIDE_NOTHING};
}

static struct decision
decide_gathering(const struct provision *p)
{
	struct decision d = {.kind = DECIDE_NOTHING};
	uint32_t most = 0;

	for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
		const struct habit *h = &p->habit[i];
		uint32_t use = use_of(p, h), room = use > most ? room_for(p, h) : 0;

		if (room == 0)
			continue;
		most = use;
		d = (struct decision){.kind = DECIDE_GATHER, .habit = i, .core = room - 1};
	}
	return d.kind != DECIDE_NOTHING ? d : decide_founding(p);
}

/* --- and those that do no more --- */

static struct decision
decide_release(const struct provision *p)
{
	for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
		const struct habit *h = &p->habit[i];

		if (h->gathered != 0 && (p->is_off || h->computes >= LOOKS_COMPUTES ||
			p->calm_looks >= LOOKS_CALM || !p->place[h->gathered - 1].is_made))
			return (struct decision){.kind = DECIDE_RELEASE, .habit = i,
				.core = h->gathered - 1u};
	}
	for (uint32_t c = 1; c < p->cores; c++)
		if (p->place[c].is_made && p->place[c].threads == 0)
			return (struct decision){DECIDE_ROLE, 0, c, ROLE_AC};
	return (struct decision){.kind = DECIDE_NOTHING};
}

struct decision
provision_decide(const struct provision *p)
{
	struct decision d = decide_release(p);

	return d.kind == DECIDE_NOTHING && !p->is_off && p->short_looks >= LOOKS_COMPUTES ?
		decide_gathering(p) : d;
}

void
provision_done(struct provision *p, const struct decision *d)
{
	struct habit *h = &p->habit[d->habit];
	struct place *to = &p->place[d->core];

	if (d->kind == DECIDE_ROLE) {
		to->role = d->role;
		to->is_made = d->role == ROLE_TC;
		return;
	}
	h->gathered = d->kind == DECIDE_GATHER ? (uint16_t)(d->core + 1) : 0;
	h->rests = LOOKS_REST;
	if (d->kind == DECIDE_RELEASE) {
		to->released++;
		return;
	}
	to->gathered++;
	p->place[h->core].threads -= h->core != d->core ? h->threads : 0;
	to->threads += h->core != d->core ? h->threads : 0;
	h->core = (uint16_t)d->core;
}

void
provision_failed(struct provision *p, const struct decision *d)
{
	if (d->kind == DECIDE_ROLE)
		p->place[d->core].is_made = false;
	else
		p->habit[d->habit].gathered = 0;
	p->habit[d->habit].rests = LOOKS_REST;
}

bool
provision_holds(const struct provision *p)
{
	bool holds = false;

	for (uint32_t i = 0; i < MEMBERS_MAX; i++)
		holds |= p->habit[i].gathered != 0;
	for (uint32_t core = 0; core < p->cores; core++)
		holds |= p->place[core].is_made;
	return holds;
}
