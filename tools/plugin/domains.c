/* SPDX-License-Identifier: MIT
 *
 * QEMU plugin for riscv64: a model of time on a machine with memory domains. One JSON line for each
 * window, from the marker MARK_BEGIN to the next MARK_END (hal/perf.h), on whatever harts.
 *
 *	-plugin libdomains.so,out=FILE,base=HEX,bytes=HEX,bells=HEX,domains=N,harts=N,miss=N,far=N
 *
 * The model: each hart has a clock. An instruction takes 1. A load or store takes nothing more if
 * its line is in one of the hart's two caches: a small one, direct-mapped by virtual address, empty
 * when the address space changes, and one of CACHE_BYTES, direct-mapped by physical address. Else it
 * takes `miss` more, or, if the line lies in another domain than the hart's, `far` more: hart h of
 * `harts` is of domain h * domains / harts, and the memory from `base` on is cut into `domains` equal
 * parts. Memory outside of it is near to all. A hart that wakes from `wfi` goes on at the time of the last
 * doorbell that was rung at it, if that is later. What fetches of instructions, coherence, and two
 * harts at one memory cost, is not in it. It needs -icount with short turns: how far the clock of
 * one hart is ahead of those of others is bounded by what a hart executes in its turn.
 *
 * `time` is the clock of the hart with the last marker; of all harts together: `insns`, what they
 * executed, `near` and `far`, the lines that they fetched.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "insn.h"
#include "qemu_plugin_api.h"

#define HARTS_MAX 64
#define SFENCE_VMA 0x12000073		/* without its registers */
#define SFENCE_VMA_MASK 0xfe007fff
#define CSR_SATP 0x180
#define SMALL_LINES 256
#define LINE_BITS 6
#define CACHE_BYTES (512 * 1024)
#define LINES (CACHE_BYTES >> LINE_BITS)

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct hart {
	uint64_t insns, near, far;
	uint64_t clock;
	uint64_t rung;			/* when the last doorbell was rung at it */
	uint32_t waited;		/* its last instruction was wfi */
	uint64_t small[SMALL_LINES];	/* virtual lines, plus one */
	uint32_t line[LINES];		/* its number, plus one */
} __attribute__((aligned(64)));

static struct hart harts[HARTS_MAX];
static FILE *out;
static uint64_t base, bytes, bells, miss_cost, far_cost;
static unsigned domains = 1, harts_used = 1;
static bool is_open;

static void
on_wait(unsigned vcpu, void *data)
{
	(void)data;
	harts[vcpu].waited = 1;
}

/* Of a block, which goes on in another one behind wfi. */
static void
on_run(unsigned vcpu, void *data)
{
	struct hart *h = &harts[vcpu];
	uint64_t run = (uint64_t)(uintptr_t)data;

	if (h->waited && h->rung > h->clock)
		h->clock = h->rung;
	h->waited = 0;
	h->insns += run;
	h->clock += run;
}

static bool
is_far(unsigned vcpu, uint64_t paddr)
{
	return paddr - base < bytes &&
		(paddr - base) / (bytes / domains) != (uint64_t)vcpu * domains / harts_used;
}

/*
 * A store to a device: doorbells are a word per hart. QEMU before 8 tells the place in the device,
 * so that a store to the console counts as a doorbell of core 0, which makes it.
 */
static void
ring(const struct hart *h, uint64_t paddr)
{
	uint64_t hart = (paddr < bells ? paddr : paddr - bells) / 4;

	if (hart < harts_used && harts[hart].rung < h->clock)
		harts[hart].rung = h->clock;
}

static void
on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	struct hart *h = &harts[vcpu];
	uint64_t wanted = (vaddr >> LINE_BITS) + 1, *small = &h->small[wanted % SMALL_LINES], paddr;
	const struct qemu_plugin_hwaddr *at;
	uint32_t *line;

	(void)data;
	if (*small == wanted)
		return;
	at = qemu_plugin_get_hwaddr(info, vaddr);
	if (at == NULL)
		return;
	paddr = qemu_plugin_hwaddr_phys_addr(at);
	if (qemu_plugin_hwaddr_is_io(at)) {
		if (qemu_plugin_mem_is_store(info))
			ring(h, paddr);
		return;
	}
	*small = wanted;
	line = &h->line[paddr >> LINE_BITS & (LINES - 1)];
	if (*line == (uint32_t)(paddr >> LINE_BITS) + 1)
		return;
	*line = (uint32_t)(paddr >> LINE_BITS) + 1;
	if (is_far(vcpu, paddr)) {
		h->far++;
		h->clock += far_cost;
	} else {
		h->near++;
		h->clock += miss_cost;
	}
}

/* What its virtual addresses mean changes. */
static void
on_change(unsigned vcpu, void *data)
{
	(void)data;
	memset(harts[vcpu].small, 0, sizeof(harts[vcpu].small));
}

/* All clocks stand at 0: whoever begins has waited for all others. */
static void
window_begin(void)
{
	for (unsigned i = 0; i < harts_used; i++) {
		harts[i].insns = harts[i].near = harts[i].far = 0;
		harts[i].clock = harts[i].rung = 0;
	}
	is_open = true;
}

static void
window_end(const struct hart *end)
{
	uint64_t insns = 0, near = 0, far = 0;

	if (!is_open)
		return;
	is_open = false;
	for (unsigned i = 0; i < harts_used; i++) {
		insns += harts[i].insns;
		near += harts[i].near;
		far += harts[i].far;
	}
	fprintf(out, "{\"time\":%llu,\"insns\":%llu,\"near\":%llu,\"far\":%llu,\"harts\":[",
		(unsigned long long)end->clock, (unsigned long long)insns,
		(unsigned long long)near, (unsigned long long)far);
	for (unsigned i = 0; i < harts_used; i++)
		fprintf(out, "%s%llu", i > 0 ? "," : "", (unsigned long long)harts[i].insns);
	fprintf(out, "]}\n");
	fflush(out);
}

static void
on_mark(unsigned vcpu, void *data)
{
	if ((uintptr_t)data == MARK_BEGIN)
		window_begin();
	else if ((uintptr_t)data == MARK_END)
		window_end(&harts[vcpu]);
}

static bool
is_change(uint32_t word)
{
	/* any of the instructions on control registers */
	bool is_satp = (word & 0x7f) == 0x73 && (word >> 12 & 3) != 0 && word >> 20 == CSR_SATP;

	return is_satp || (word & SFENCE_VMA_MASK) == SFENCE_VMA;
}

/* One callback for the block: what a fault in it cuts off counts all the same. */
static void
on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), run = n;

	(void)id;
	for (size_t i = n; i-- > 0;)
		if (insn_word(qemu_plugin_tb_get_insn(tb, i)) == WFI)
			run = i + 1;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_run, QEMU_PLUGIN_CB_NO_REGS,
		(void *)(uintptr_t)run);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t word = insn_word(insn);

		qemu_plugin_register_vcpu_mem_cb(insn, on_access,
			QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
		if (mark_of(word) != 0)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
				QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)mark_of(word));
		if (is_change(word))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_change,
				QEMU_PLUGIN_CB_NO_REGS, NULL);
		if (word == WFI)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_wait,
				QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static void
option(const char *text)
{
	const char *value = strchr(text, '=');

	if (value == NULL)
		return;
	value++;
	if (strncmp(text, "out=", 4) == 0)
		out = fopen(value, "w");
	else if (strncmp(text, "base=", 5) == 0)
		base = strtoull(value, NULL, 16);
	else if (strncmp(text, "bytes=", 6) == 0)
		bytes = strtoull(value, NULL, 16);
	else if (strncmp(text, "bells=", 6) == 0)
		bells = strtoull(value, NULL, 16);
	else if (strncmp(text, "domains=", 8) == 0)
		domains = (unsigned)strtoul(value, NULL, 10);
	else if (strncmp(text, "harts=", 6) == 0)
		harts_used = (unsigned)strtoul(value, NULL, 10);
	else if (strncmp(text, "miss=", 5) == 0)
		miss_cost = strtoull(value, NULL, 10);
	else if (strncmp(text, "far=", 4) == 0)
		far_cost = strtoull(value, NULL, 10);
}

int
qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		option(argv[i]);
	if (out == NULL || bytes == 0 || domains == 0 || harts_used == 0 || harts_used > HARTS_MAX ||
		strcmp(info->target_name, "riscv64") != 0) {
		fprintf(stderr, "libdomains: for qemu-system-riscv64; needs out, bytes, domains, harts\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
