/* SPDX-License-Identifier: MIT
 *
 * The critical path of a window, a part of count.c: how many instructions follow one another from
 * its begin to its end, on whatever harts. Each hart has a clock, which its instructions advance by
 * one each; at the begin of a window all clocks stand at 0, so one window at a time has a path. A
 * hart that wakes from `wfi` was woken by another's doorbell (a store behind
 * `fence w, o`): its clock stands at that store's time from then on, if it is behind it. So what a
 * hart does after it has rung another, and what it does before it goes to sleep, counts only where
 * somebody waits for it. The last doorbell of the machine is taken for the one that woke: with
 * several at once the path may come out too long, never too short. Exact under -icount only.
 */
/* when the last doorbell was rung, since the window began */
static uint64_t path_rung;

static uint64_t
path_now(const struct hart *h)
{
	static const uint64_t zero[COUNTERS];

	return insns_of(h->count, zero) + h->waited_for;
}

static void
path_begin(void)
{
	for (unsigned i = 0; i < harts_used; i++)
		harts[i].waited_for -= path_now(&harts[i]);
	path_rung = 0;
}

static void
path_wake(struct hart *h)
{
	uint64_t now = path_now(h);

	if (now < path_rung)
		h->waited_for += path_rung - now;
}

static void
on_path_ring(unsigned vcpu, void *data)
{
	uint64_t now = path_now(&harts[vcpu]);

	(void)data;
	if (now > path_rung)
		path_rung = now;
}
