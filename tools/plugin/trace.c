/* SPDX-License-Identifier: MIT
 *
 * QEMU plugin for riscv64: what the kernel's cores do, one event after the other, without an
 * instruction in the kernel for it. It sees user mode, waits, and which words of the cores' and the
 * processes' records and of the table of kernel calls are touched; what was written there it reads
 * in the machine's memory, which is a file. tools/run/timeline.py gives it all addresses and makes a
 * timeline of what it has written.
 *
 *	-plugin libtrace.so,out=FILE,memory=FILE,NAME=VALUE...,cluster=FIRST:CORES:BASE...
 *
 * The output is a head and then events; it is valid at every moment, also when the emulator is
 * killed. What finds no room there is counted. Time is the host's, in nanoseconds; with `icount`
 * it is 8 ns for each instruction of any core.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "insn.h"
#include "qemu_plugin_api.h"
#include "trace.h"

#define HARTS_MAX 512
#define KERNEL_HALF 0x8000000000000000ull
#define KERNEL_BASE 0xffffffc000000000ull
#define RAM 0x80000000ull
#define NS_PER_INSN 8

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct hart {
	uint64_t base;			/* of its cluster's memory */
	uint32_t core, cores;		/* of its cluster; 0 cores: it is not traced */
	uint32_t in_kernel_once;	/* before that, low addresses are the machine's start */
	uint32_t is_user;
	uint32_t waits;
	uint32_t has_call;		/* since it entered the kernel */
	/* core 0: its cluster's table of processes, once there is one */
	uint64_t procs, procs_bytes;
};

/* Addresses and offsets, by the names that they are given by. */
enum what { SLOTS, SLOT, RECORD, TABLE, CALLS, ENTRY, ACTS, CURRENT_AT, COUNT, TICKS, FAULTS,
	CALL_BUSY, CALL_FN, POST_BUSY, POST_FN, SPREAD_AT, CROWDED_AT, THREAD_TID, THREAD_PROC,
	PROC_ID, PROC_FIRST, PROC_CORES, OF_CLUSTER, PROCS, PROCS_MAX, PROCESS, ICOUNT, WHATS };

static const char *const names[WHATS] = {"slots", "slot", "record", "table", "table_calls",
	"entry", "acts", "current", "count", "ticks", "faults", "call_busy", "call_fn",
	"post_busy", "post_fn", "spread", "crowded", "thread_tid", "thread_proc", "proc_id",
	"proc_first", "proc_cores", "of_cluster", "procs", "procs_max", "process", "icount"};

static struct hart harts[HARTS_MAX];
static uint64_t at[WHATS];
static struct trace_head *out;
static const unsigned char *memory;
static uint64_t memory_bytes, insns;

static uint64_t
now(void)
{
	struct timespec t;

	if (at[ICOUNT] != 0)
		return insns * NS_PER_INSN;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void
emit(unsigned hart, enum trace_kind kind, uint32_t a, uint32_t b)
{
	trace_put(out, &(struct trace_event){.time = now(), .a = a, .b = b, .hart = (uint16_t)hart,
		.kind = (uint16_t)kind});
}

/* What stands at an address of a cluster's kernel; 0 where there is nothing. */
static uint64_t
word(const struct hart *h, uint64_t addr, size_t bytes)
{
	uint64_t offset = addr - KERNEL_BASE + h->base - RAM, value = 0;

	if (addr < KERNEL_BASE || offset > memory_bytes - sizeof(value))
		return 0;
	memcpy(&value, memory + offset, bytes);
	return value;
}

static void
on_current(unsigned hart, const struct hart *h, uint64_t addr)
{
	uint64_t thread = word(h, addr, 8), proc = 0;

	if (thread != 0)
		proc = word(h, thread + at[THREAD_PROC], 8);
	emit(hart, CURRENT, thread == 0 ? 0 : (uint32_t)word(h, thread + at[THREAD_TID], 4),
		proc == 0 ? 0 : (uint32_t)word(h, proc + at[PROC_ID], 4));
}

/* A word of the record of a core of the cluster is written. */
static void
on_store(unsigned hart, const struct hart *h, uint32_t core, uint64_t offset, uint64_t addr)
{
	uint32_t value;

	if (offset == at[CURRENT_AT]) {
		on_current(hart, h, addr);
	} else if (offset == at[CALL_BUSY]) {
		emit(hart, core == h->core ? SEND : REPLY, core, 0);
	} else if (offset == at[POST_BUSY]) {
		value = (uint32_t)word(h, addr, 4);
		emit(hart, core == h->core && value == 0 ? TAKEN : POST, core, 0);
	} else if (offset == at[ACTS]) {
		emit(hart, ROLE, (uint32_t)word(h, addr, 4), core);
	} else if (offset == at[COUNT] + 4 * at[TICKS]) {
		emit(hart, TICK, core, 0);
	} else if (offset == at[COUNT] + 4 * at[FAULTS]) {
		emit(hart, FAULT, core, 0);
	} else if (offset == at[SPREAD_AT]) {
		emit(hart, SPREAD, core, (uint32_t)word(h, addr, 4));
	} else if (offset == at[CROWDED_AT]) {
		emit(hart, CROWDED, core, (uint32_t)word(h, addr, 4));
	}
}

static void
find_procs(struct hart *h)
{
	uint64_t cluster = word(h, at[SLOTS] + at[RECORD] + at[OF_CLUSTER], 8);

	if (cluster == 0)
		return;
	h->procs = word(h, cluster + at[PROCS], 8);
	h->procs_bytes = word(h, cluster + at[PROCS_MAX], 4) * at[PROCESS];
}

/* Home stores: is it how many cores a process may be on? Which is the first was stored before. */
static void
on_home_store(unsigned hart, struct hart *h, uint64_t addr)
{
	uint64_t offset, process = addr - at[PROC_CORES];

	if (h->procs == 0)
		find_procs(h);
	offset = addr - h->procs;
	if (h->procs == 0 || offset >= h->procs_bytes || offset % at[PROCESS] != at[PROC_CORES])
		return;
	emit(hart, PLACED, (uint32_t)word(h, process + at[PROC_ID], 4),
		(uint32_t)(word(h, addr, 4) << 16 | word(h, process + at[PROC_FIRST], 4)));
}

static void
on_memory(unsigned hart, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
	struct hart *h = &harts[hart];
	uint64_t offset = addr - at[SLOTS], in_slot;
	uint32_t core;

	(void)data;
	if (addr - at[TABLE] < at[CALLS] * at[ENTRY] && !h->has_call) {
		h->has_call = 1;
		emit(hart, CALL, (uint32_t)((addr - at[TABLE]) / at[ENTRY]), 0);
	}
	if (h->core == 0 && h->cores > 0 && qemu_plugin_mem_is_store(info))
		on_home_store(hart, h, addr);
	if (offset >= h->cores * at[SLOT])
		return;
	core = (uint32_t)(offset / at[SLOT]);
	in_slot = offset % at[SLOT] - at[RECORD];
	if (qemu_plugin_mem_is_store(info))
		on_store(hart, h, core, in_slot, addr);
	else if (in_slot == at[CALL_FN] && h->core == 0 && core != 0)
		emit(hart, SERVE, core, 0);
	else if (in_slot == at[POST_FN] && core == h->core)
		emit(hart, TAKE, core, 0);
}

/* A block of instructions begins: of how many, and is it the user's? */
static void
on_block(unsigned hart, void *data)
{
	struct hart *h = &harts[hart];
	uint32_t is_user = (uintptr_t)data & 1;

	insns += at[ICOUNT] != 0 ? (uintptr_t)data >> 1 : 0;
	h->in_kernel_once |= !is_user;
	if (h->cores == 0 || !h->in_kernel_once)
		return;
	if (h->waits) {
		h->waits = 0;
		emit(hart, WAKE, 0, 0);
	}
	if (is_user == h->is_user)
		return;
	h->is_user = is_user;
	h->has_call = 0;
	emit(hart, is_user ? USER : KERNEL, 0, 0);
}

static void
on_wait(unsigned hart, void *data)
{
	struct hart *h = &harts[hart];

	(void)data;
	if (h->cores == 0 || h->waits)
		return;
	h->waits = 1;
	emit(hart, WAIT, 0, 0);
}

static void
on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	uint64_t first = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	bool is_user = first < KERNEL_HALF;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
		(void *)(uintptr_t)(n << 1 | is_user));
	for (size_t i = 0; i < n && !is_user; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (insn_word(insn) == WFI)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_wait,
				QEMU_PLUGIN_CB_NO_REGS, NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, on_memory, QEMU_PLUGIN_CB_NO_REGS,
			QEMU_PLUGIN_MEM_RW, NULL);
	}
}

static void *
map(const char *path, int flags, int prot, uint64_t *bytes)
{
	int fd = open(path, flags);
	struct stat s;
	void *p;

	if (fd < 0 || fstat(fd, &s) < 0)
		return NULL;
	p = mmap(NULL, (size_t)s.st_size, prot, MAP_SHARED, fd, 0);
	close(fd);
	*bytes = (uint64_t)s.st_size;
	return p == MAP_FAILED ? NULL : p;
}

static void
cluster_option(const char *text)
{
	unsigned first, cores;
	unsigned long long base;

	if (sscanf(text, "%u:%u:%llx", &first, &cores, &base) != 3 || first > HARTS_MAX ||
		cores > HARTS_MAX - first)
		return;
	for (unsigned i = 0; i < cores; i++)
		harts[first + i] = (struct hart){.base = base, .core = i, .cores = cores};
}

static void
option(const char *text)
{
	uint64_t bytes = 0;
	size_t len;

	if (strncmp(text, "out=", 4) == 0)
		out = map(text + 4, O_RDWR, PROT_READ | PROT_WRITE, &bytes);
	if (strncmp(text, "memory=", 7) == 0)
		memory = map(text + 7, O_RDONLY, PROT_READ, &memory_bytes);
	if (strncmp(text, "cluster=", 8) == 0)
		cluster_option(text + 8);
	for (int i = 0; i < WHATS; i++) {
		len = strlen(names[i]);
		if (strncmp(text, names[i], len) == 0 && text[len] == '=')
			at[i] = strtoull(text + len + 1, NULL, 0);
	}
}

int
qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		option(argv[i]);
	if (out == NULL || memory == NULL || at[SLOT] == 0 || at[ENTRY] == 0 || at[PROCESS] == 0 ||
		strcmp(info->target_name, "riscv64") != 0) {
		fprintf(stderr, "libtrace: for qemu-system-riscv64; tools/run/timeline.py says what "
			"it needs\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
