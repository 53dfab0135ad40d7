/* SPDX-License-Identifier: MIT
 *
 * What is known when a cluster ends by its own fault, or does not end: it goes to stderr, with the
 * functions on the kernel stack, found by the chain of frame pointers and named by the symbols of
 * our own executable. Trusts nothing that it reads, and uses no libc.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <base/elf.h>
#include <base/fmt.h>
#include "hosted.h"

#define FRAMES_MAX 16
#define LINE_MAX 256
#define REPORT ": an error of Atoll, please report it with these lines\n"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* Our own executable; e->bytes is 0 if it cannot be read. */
HOST_RAW static void
open_self(struct elf *e)
{
	struct stat st;
	long fd = host_call3(SYS_open, "/proc/self/exe", O_RDONLY, 0);
	long image;

	e->bytes = 0;
	if (fd < 0 || host_call2(SYS_fstat, fd, &st) != 0)
		return;
	image = host_call6(SYS_mmap, 0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image > 0 && elf_open(e, (const void *)image, (size_t)st.st_size) != 0)
		e->bytes = 0;
}

HOST_RAW static void
print(const char *text, int len)
{
	host_write(2, text, len < LINE_MAX ? (size_t)len : LINE_MAX - 1);
}

HOST_RAW static void
print_place(const struct elf *e, uintptr_t pc)
{
	uintptr_t base = e->bytes != 0 && e->type == ELF_TYPE_DYN ? (uintptr_t)__ehdr_start : 0;
	uint64_t offset = 0;
	const char *name = e->bytes != 0 ? elf_symbol_at(e, pc - base, &offset) : NULL;
	char text[LINE_MAX];

	if (name != NULL)
		print(text, fmt_print(text, sizeof(text), "  at %lx %s+0x%lx\n", (unsigned long)pc,
			name, (unsigned long)offset));
	else
		print(text, fmt_print(text, sizeof(text), "  at %lx\n", (unsigned long)pc));
}

/*
 * The callers, from a frame pointer up: each frame starts with the caller's frame pointer and the
 * return address.
 */
HOST_RAW static void
print_stack(uintptr_t pc, uintptr_t frame)
{
	struct elf e;

	open_self(&e);
	print_place(&e, pc);
	for (int i = 0; i < FRAMES_MAX && frame != 0; i++) {
		uintptr_t link[2];

		if (host_copy(link, (const void *)frame, sizeof(link)) != 0 || link[1] == 0)
			return;
		print_place(&e, link[1] - 1);
		if (link[0] <= frame)
			return;
		frame = link[0];
	}
}

HOST_RAW static void
ring_everybody(void)
{
	const struct boot_record *r = host.machine->record;

	for (unsigned i = 0; i < r->clusters; i++)
		for (unsigned core = 0; core < r->cluster[i].cores; core++)
			hal_notify(i, core);
}

HOST_RAW static _Noreturn void
die(uintptr_t pc, uintptr_t frame)
{
	print_stack(pc, frame);
	hal_noc_mark_dead(host.cluster);
	ring_everybody();
	host_exit(HOST_PANICKED, 1);
}

_Noreturn void
hal_panic(const char *file, int line, const char *what)
{
	char text[LINE_MAX];

	print(text,
		fmt_print(text, sizeof(text), "atoll: cluster %u core %u: panic: %s (%s:%d)" REPORT,
		host.cluster, hal_core_id(), what,
		file, line));
	die((uintptr_t)__builtin_return_address(0) - 1, *(uintptr_t *)__builtin_frame_address(0));
}

HOST_RAW _Noreturn void
host_kernel_fault(int sig, const void *addr, uintptr_t pc, uintptr_t frame)
{
	char text[LINE_MAX];

	print(text,
		fmt_print(text, sizeof(text),
		"atoll: cluster %u core %u: panic: signal %d in the kernel, address %lx" REPORT,
		host.cluster, hal_core_id(), sig, (unsigned long)(uintptr_t)addr));
	die(pc, frame);
}

HOST_RAW void
host_dump_ask_others(void)
{
	const struct boot_record *r = host.machine->record;

	for (unsigned i = 0; i < r->cluster[host.cluster].cores + r->cluster[host.cluster].guests;
		i++) {
		uint32_t tid = hal_load32(&host.core[i].tid);

		if (tid != 0 && tid != (uint32_t)host_call1(SYS_gettid, 0))
			host_call3(SYS_tgkill, host.pid, tid, HOST_DUMP);
	}
}

HOST_RAW void
host_dump(bool was_kernel, uintptr_t pc, uintptr_t frame)
{
	const struct host_core *c = host_core_self();
	char text[LINE_MAX];

	if (!was_kernel)
		print(text,
			fmt_print(text, sizeof(text),
			"atoll: cluster %u core %u runs a user thread at %lx\n", host.cluster,
			c->id,
			(unsigned long)pc));
	else if (hal_load32(&c->bell->waiting) != 0)
		print(text, fmt_print(text, sizeof(text), "atoll: cluster %u core %u waits\n",
			host.cluster, c->id));
	else
		print(text,
			fmt_print(text, sizeof(text),
			"atoll: cluster %u core %u is in the kernel\n", host.cluster, c->id));
	if (was_kernel && hal_load32(&c->bell->waiting) == 0)
		print_stack(pc, frame);
}
