/* SPDX-License-Identifier: MIT
 *
 * The critical path of a window, a part of count.c: how many instructions follow one another from
 * its begin to its end, on whatever harts. Each hart has a clock, which its instructions advance
 * by one each; at the begin of a window all clocks stand at 0, so one window at a time has a
 * path. A hart that wakes from `wfi` was woken by another's doorbell (a store behind `fence w, o`
 * to its word of the interrupt controller): its clock stands at that store's time from then on,
 * if it is behind it. So what a hart does after it has rung another, and what it does before it
 * goes to sleep, counts only where somebody waits for it. Of several doorbells of one hart the
 * last is taken for the one that woke it: where it slept for an earlier one, the path may come
 * out too long, never too short. Exact under -icount only.
 */
#define SSWI 0x2f00000			/* of QEMU's `virt`: a word for each hart */
#define PATH_RINGS_MAX 64		/* places in programs from which doorbells are rung */
#define FENCE_W_O 0x0140000f

/* when its doorbell was rung last, since the window began */
static uint64_t path_rung[HARTS_MAX];

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
	memset(path_rung, 0, sizeof(path_rung));
}

static void
path_wake(struct hart *h)
{
	uint64_t now = path_now(h), rung = path_rung[h - harts];

	if (now < rung)
		h->waited_for += rung - now;
}

static void
on_path_ring(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	const struct qemu_plugin_hwaddr *at = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t now = path_now(&harts[vcpu]), to;

	(void)data;
	if (at == NULL || !qemu_plugin_hwaddr_is_io(at))
		return;
	to = (qemu_plugin_hwaddr_phys_addr(at) - SSWI) / sizeof(uint32_t);
	if (to < HARTS_MAX && now > path_rung[to])
		path_rung[to] = now;
}

/*
 * Is this the store of a doorbell? Under -icount the emulator translates an access to a device a
 * second time, alone, when it comes to it, and only there its address can be had.
 */
static bool
path_is_ring(uint64_t vaddr, uint32_t word_before)
{
	static uint64_t known[PATH_RINGS_MAX];
	static unsigned used;

	for (unsigned i = 0; i < used; i++)
		if (known[i] == vaddr)
			return true;
	if (word_before != FENCE_W_O)
		return false;
	if (used == PATH_RINGS_MAX)
		abort();
	known[used++] = vaddr;
	return true;
}
