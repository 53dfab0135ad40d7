/* SPDX-License-Identifier: MIT
 *
 * QEMU plugin for riscv64: counts the instructions that each hart executes between the markers
 * MARK_BEGIN and MARK_END of hal/perf.h (`slti x0, x0, n`) and writes one JSON line per window.
 * Exact: an instruction that faults counts once per attempt, markers do not count, an idle hart
 * (wfi) executes nothing. Use -icount shift=3,sleep=off for repeatable counts over several harts.
 *
 *	-plugin libcount.so,out=FILE[,profile=FILE[,label=N]][,from=HEX,to=HEX,back=HEX...]
 *		[,serve=...]
 *
 * A window belongs to the hart that opened it; "others" is what the other harts executed meanwhile.
 * Rounds of a polling loop, from one MARK_POLL to the next without a longer way in between, count
 * in "polls" and "poll_insns" and nowhere else. A marker from MARK_LABEL on names the hart's next
 * windows. "entries" are ways from user mode into the kernel, "interrupts" those that no `ecall`
 * asked for. "path" is the longest chain of instructions that wait for one another (path.h). The
 * profile says which code ran while any window (with that label) was open: address,
 * instructions from there on, times. Spans, the ways from one hart to another, are in span.h;
 * stretches, in which a kernel core serves nobody else, in stretch.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "insn.h"
#include "qemu_plugin_api.h"

#define HARTS_MAX 512
/* more instructions than this between two polls were work */
#define POLL_ROUND_MAX 64
#define KERNEL_HALF 0x8000000000000000ull

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

enum { USER, KERNEL, POLLS, POLL_INSNS, ENTRIES, INTERRUPTS, COUNTERS };

static const char *const counter_names[COUNTERS] =
	{"user", "kernel", "polls", "poll_insns", "entries", "interrupts"};

struct hart {
	uint64_t count[COUNTERS];
	uint64_t round_start[2];	/* user and kernel counts at the last poll */
	uint32_t polling;		/* the last marker was a poll */
	uint32_t was_user;		/* last instruction */
	uint32_t was_call;		/* it was ecall */
	uint32_t open;
	uint32_t label;
	uint32_t windows;
	uint32_t in_kernel_once;	/* before that, low addresses are the machine start */
	uint32_t waited;		/* last instruction was wfi */
	uint64_t waited_for;		/* what its clock (path.h) is ahead of its count */
	uint64_t (*at_begin)[COUNTERS];	/* of all harts */
} __attribute__((aligned(64)));

static struct hart harts[HARTS_MAX];
static unsigned harts_used;
static FILE *out;

static uint64_t
insns_of(const uint64_t *now, const uint64_t *before)
{
	return now[USER] - before[USER] + now[KERNEL] - before[KERNEL];
}

#include "path.h"
#include "span.h"

/* Consecutive instructions of which only the last may trap. Lives as long as the machine. */
struct run {
	uint64_t vaddr;
	uint64_t hits;			/* while a window was open */
	uint32_t insns;
	uint8_t kernel;
	uint8_t ends_in_call;
	uint8_t ends_in_wait;
	uint8_t stretch_kind;		/* of stretch.h */
	uint16_t stretch_part;
	struct run *next;
};

#include "stretch.h"

static struct run *runs;		/* all, for the profile */
static FILE *profile;
static uint32_t profile_label;		/* 0: all windows */
static uint32_t windows_open;		/* that the profile is about */

static void
on_run(unsigned vcpu, void *data)
{
	struct hart *h = &harts[vcpu];
	struct run *run = data;

	if (h->waited)
		path_wake(h);
	h->waited = run->ends_in_wait;
	if (run->kernel && h->was_user) {
		h->count[ENTRIES]++;
		h->count[INTERRUPTS] += !h->was_call;
	}
	if (!run->kernel && !h->was_user)
		span_user(h);
	h->in_kernel_once |= run->kernel;
	h->count[run->kernel] += h->in_kernel_once ? run->insns : 0;
	h->was_user = !run->kernel && h->in_kernel_once;
	h->was_call = run->ends_in_call;
	run->hits += windows_open != 0;
	if (stretches.of[vcpu] != NULL)
		stretch_run(stretches.of[vcpu], vcpu, run);
}

static struct run *
run_new(uint64_t vaddr, uint32_t insns, uint32_t last_word)
{
	struct run *run = calloc(1, sizeof(*run));

	if (run == NULL)
		abort();
	run->vaddr = vaddr;
	run->insns = insns;
	run->kernel = vaddr >= KERNEL_HALF;
	run->ends_in_call = last_word == 0x73;
	run->ends_in_wait = last_word == WFI;
	stretch_classify(run, last_word);
	do
		run->next = __atomic_load_n(&runs, __ATOMIC_RELAXED);
	while (!__sync_bool_compare_and_swap(&runs, run->next, run));
	return run;
}

static void
print_counters(const uint64_t *now, const uint64_t *before)
{
	for (int i = 0; i < COUNTERS; i++)
		fprintf(out, "%s\"%s\":%llu", i ? "," : "", counter_names[i],
			(unsigned long long)(now[i] - before[i]));
}

static void
print_others(struct hart *h, uint64_t *total)
{
	const char *comma = "";

	fprintf(out, ",\"others\":[");
	for (unsigned i = 0; i < harts_used; i++) {
		uint64_t insns = insns_of(harts[i].count, h->at_begin[i]);

		if (&harts[i] == h ||
			(insns == 0 && harts[i].count[POLLS] == h->at_begin[i][POLLS]))
			continue;
		fprintf(out, "%s{\"hart\":%u,", comma, i);
		print_counters(harts[i].count, h->at_begin[i]);
		fprintf(out, "}");
		comma = ",";
		*total += insns;
	}
	fprintf(out, "]");
}

static void
window_begin(struct hart *h)
{
	if (h->at_begin == NULL)
		h->at_begin = calloc(HARTS_MAX, sizeof(*h->at_begin));
	if (h->at_begin == NULL)
		return;
	if (!h->open && (profile_label == 0 || h->label == profile_label))
		__atomic_fetch_add(&windows_open, 1, __ATOMIC_RELAXED);
	h->open = 1;
	span.opener = h;
	for (unsigned i = 0; i < harts_used; i++)
		memcpy(h->at_begin[i], harts[i].count, sizeof(harts[i].count));
	path_begin();
}

static void
window_end(struct hart *h)
{
	unsigned self = (unsigned)(h - harts);
	uint64_t total;

	if (!h->open)
		return;
	h->open = 0;
	if (profile_label == 0 || h->label == profile_label)
		__atomic_fetch_sub(&windows_open, 1, __ATOMIC_RELAXED);
	total = insns_of(h->count, h->at_begin[self]);
	flockfile(out);
	fprintf(out, "{\"hart\":%u,\"window\":%u,\"label\":%u,\"insns\":%llu,", self, h->windows++,
		h->label,
		(unsigned long long)total);
	print_counters(h->count, h->at_begin[self]);
	print_others(h, &total);
	fprintf(out, ",\"total\":%llu,\"path\":%llu}\n", (unsigned long long)total,
		(unsigned long long)(path_now(h)));
	funlockfile(out);
}

/* The round that ends here, if it was one, moves from user and kernel to the polls. */
static void
poll_round(struct hart *h)
{
	uint64_t insns = insns_of(h->count, h->round_start);

	if (h->polling && insns <= POLL_ROUND_MAX) {
		h->count[POLLS]++;
		h->count[POLL_INSNS] += insns;
		h->count[USER] = h->round_start[USER];
		h->count[KERNEL] = h->round_start[KERNEL];
	}
	h->polling = 1;
	h->round_start[USER] = h->count[USER];
	h->round_start[KERNEL] = h->count[KERNEL];
}

static void
on_mark(unsigned vcpu, void *data)
{
	struct hart *h = &harts[vcpu];
	uintptr_t mark = (uintptr_t)data;

	if (mark != MARK_POLL)
		h->polling = 0;
	if (mark == MARK_BEGIN)
		window_begin(h);
	else if (mark == MARK_END)
		window_end(h);
	else if (mark == MARK_POLL)
		poll_round(h);
	else if (mark >= MARK_LABEL)
		stretch_phase(h->label = (uint32_t)mark);
}

/* Can it fault or trap? Then nothing behind it may be counted before it is through. */
static bool
may_trap(uint32_t insn)
{
	unsigned high = insn >> 13 & 7;

	switch (insn & 3) {
	case 0:				/* compressed loads and stores */
		return high != 0;
	case 1:
		return false;
	case 2:				/* compressed stack loads and stores, ebreak */
		return high != 0;
	}
	switch (insn & 0x7f) {
	case 0x03: case 0x07: case 0x23: case 0x27: case 0x2f: case 0x73:
		return true;
	}
	return false;
}

/* Cut the block into runs in which only the last instruction may trap; one callback per run. */
static void
on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), first = 0;

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i), *start;
		uint32_t word = insn_word(insn), mark = mark_of(word);
		uint32_t insns = (uint32_t)(i - first + (mark == 0)), before;

		span_point_before(insn, first == i);
		if (mark == 0 && i + 1 < n && !may_trap(word) &&
			!span_point_is_at(qemu_plugin_tb_get_insn(tb, i + 1)))
			continue;
		start = qemu_plugin_tb_get_insn(tb, first);
		if (insns != 0)
			qemu_plugin_register_vcpu_insn_exec_cb(start, on_run,
				QEMU_PLUGIN_CB_NO_REGS,
				run_new(qemu_plugin_insn_vaddr(start), insns, word));
		before = i > 0 ? insn_word(qemu_plugin_tb_get_insn(tb, i - 1)) : 0;
		if (path_is_ring(qemu_plugin_insn_vaddr(insn), before))
			qemu_plugin_register_vcpu_mem_cb(insn, on_path_ring,
				QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, NULL);
		span_point_after(insn, before);
		if (mark != 0)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
				QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)mark);
		first = i + 1;
	}
}

static void
at_end(uint64_t id, void *data)
{
	static const uint64_t zero[COUNTERS];

	(void)id;
	(void)data;
	for (unsigned i = 0; i < harts_used; i++) {
		fprintf(out, "{\"exit\":true,\"hart\":%u,\"insns\":%llu,", i,
			(unsigned long long)insns_of(harts[i].count, zero));
		print_counters(harts[i].count, zero);
		fprintf(out, "}\n");
	}
	stretches_print();
	fflush(out);
	for (struct run *run = profile != NULL ? runs : NULL; run != NULL; run = run->next)
		if (run->hits != 0)
			fprintf(profile, "{\"pc\":\"%llx\",\"insns\":%u,\"times\":%llu}\n",
				(unsigned long long)run->vaddr, run->insns,
				(unsigned long long)run->hits);
	if (profile != NULL)
		fflush(profile);
}

int
qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
	harts_used = info->system_emulation && info->system.max_vcpus < HARTS_MAX ?
		(unsigned)info->system.max_vcpus : HARTS_MAX;
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "out=", 4) == 0)
			out = fopen(argv[i] + 4, "w");
		if (strncmp(argv[i], "profile=", 8) == 0)
			profile = fopen(argv[i] + 8, "w");
		if (strncmp(argv[i], "label=", 6) == 0)
			profile_label = (uint32_t)strtoul(argv[i] + 6, NULL, 0);
		span_option(argv[i]);
		stretch_option(argv[i]);
	}
	if (out == NULL || strcmp(info->target_name, "riscv64") != 0) {
		fprintf(stderr,
			"libcount: for qemu-system-riscv64; needs out=FILE that can be written\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, at_end, NULL);
	return 0;
}
