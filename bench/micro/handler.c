/* SPDX-License-Identifier: MIT
 *
 * What a thread handles itself, from user to user: a call that is not the kernel's, and a fault; a
 * fault that another process handles; and one that the kernel serves with a page of lazy memory.
 * The handlers do nothing but return: after the fault the thread goes on behind the access. usage:
 * handler [--calls N]
 */
#include <atoll/handler.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <context.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WINDOWS 10
#define FOREIGN_CALL 4000
#define STACK_BYTES 32768
#define STACK_PAGES 8
#define BIT 3

static unsigned long page_bytes;
static unsigned char stack[STACK_BYTES] __attribute__((aligned(64)));

HANDLER_ENTRY(null_handler, serve_null)

long
serve_null(const struct handler_event *e)
{
	return (long)e->args[0];
}

extern char after_counted[], after_timed[];
static const char *volatile go_on_at;

HANDLER_ENTRY(skip_handler, serve_skip)

long
serve_skip(const struct handler_event *e)
{
	(void)e;
	return (long)go_on_at;
}

static void
call_counted(void)
{
	hal_mark(MARK_BEGIN);
	kcall1(FOREIGN_CALL, 1);
	hal_mark(MARK_END);
}

static void
call_timed(void)
{
	kcall1(FOREIGN_CALL, 1);
}

#define ABSENT ((const volatile uint32_t *)64)

static __attribute__((noinline)) void
fault_counted(void)
{
	go_on_at = after_counted;
	hal_mark(MARK_BEGIN);
	(void)*ABSENT;
	__asm__ volatile(".globl after_counted\nafter_counted:" : : : "memory");
	hal_mark(MARK_END);
}

static __attribute__((noinline)) void
fault_timed(void)
{
	go_on_at = after_timed;
	(void)*ABSENT;
	__asm__ volatile(".globl after_timed\nafter_timed:" : : : "memory");
}

static void
measure(const char *name, void (*counted)(void), void (*timed)(void), long times)
{
	double start;

	for (int i = 0; i < WINDOWS; i++)
		timed();
	for (int i = 0; i < WINDOWS; i++)
		counted();
	start = MPI_Wtime();
	for (long i = 0; i < times; i++)
		timed();
	start = MPI_Wtime() - start;
	kthread_handler(HANDLE_CALLS | HANDLE_FAULTS, 0, 0);
	row(name, start / (double)times * 1e9, "ns", "");
}

/* --- the other process: its only page of code is a copy of this function --- */

extern const char __start_faulter_code[], __stop_faulter_code[];
extern const char after_far[];

__attribute__((section("faulter_code"), noinline, used, noreturn)) static void
faulter(void)
{
	for (;;) {
		hal_mark(LABEL + 2);
		hal_mark(MARK_BEGIN);
		(void)*ABSENT;
		__asm__ volatile(".globl after_far\nafter_far:" : : : "memory");
		hal_mark(MARK_END);
	}
}

/* Map memory at an address that is free in a process; the address, 0: that failed. */
static unsigned long
map_in(int proc, int memory, int pages, int prot)
{
	uint64_t at;

	if (kmem_alloc(proc, (unsigned long)pages * page_bytes, PAGE_READ, &at) != 0 ||
		kpage_unmap(proc, (unsigned long)at, pages) != 0 ||
		kpage_map(proc, (unsigned long)at, memory, 0, pages, prot) != 0)
		return 0;
	return (unsigned long)at;
}

/* Make a process that does nothing but fault. */
static void
faulter_start(int proc)
{
	int code = (int)kmemory_create(1), pages = (int)kmemory_create(STACK_PAGES);
	unsigned long here = map_in(SELF, code, 1, PAGE_READ | PAGE_WRITE);
	unsigned long at = map_in(proc, code, 1, PAGE_READ | PAGE_EXEC);
	unsigned long bottom = map_in(proc, pages, STACK_PAGES, PAGE_READ | PAGE_WRITE);
	struct context ctx;

	if (here == 0 || at == 0 || bottom == 0) {
		fprintf(stderr, "handler: no other process\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	memcpy((void *)here, __start_faulter_code,
		(size_t)(__stop_faulter_code - __start_faulter_code));
	context_init(&ctx, at, bottom + STACK_PAGES * page_bytes - 16, 0, 0);
	kproc_start(proc, &ctx, ANY_CORE);
}

/* Let the stopped thread go on behind its access, and wait for its next fault. */
static void
serve_far(int proc, struct crash_info *info)
{
	unsigned long behind = info->tid == 0 ? 0 : (unsigned long)info->pc +
		(unsigned long)(after_far - __start_faulter_code) -
		(unsigned long)info->pc % page_bytes;

	kfault_next(proc, (uint32_t)info->tid, behind, info, FOREVER);
}

static void
measure_far(long times)
{
	int proc = (int)kproc_create();
	struct crash_info info = {.tid = 0};
	double start;

	kevent_bind(EVENT_FAULT, proc, BIT);
	faulter_start(proc);
	for (int i = 0; i < WINDOWS; i++)
		serve_far(proc, &info);
	start = MPI_Wtime();
	for (long i = 0; i < times; i++)
		serve_far(proc, &info);
	start = MPI_Wtime() - start;
	kproc_kill(proc, 0);
	row("fault_far", start / (double)times * 1e9, "ns", "");
}

/* --- pages that come when they are touched --- */

#define AT_ONCE 64

static char *
lazy_pages(void)
{
	uint64_t at = 0;

	kmem_alloc(SELF, AT_ONCE * page_bytes, PAGE_READ | PAGE_WRITE | PAGE_LAZY, &at);
	return (char *)(uintptr_t)at;
}

static void
touch(char *pages, long count)
{
	for (long i = 0; i < count; i++)
		*(volatile char *)(pages + (unsigned long)i * page_bytes) = 1;
}

static void
measure_touch(long times)
{
	double sum = 0, start;
	char *pages = lazy_pages();

	touch(pages, 1);	/* its table comes, too */
	for (int i = 1; i <= WINDOWS; i++) {
		volatile char *page = pages + (unsigned long)i * page_bytes;

		hal_mark(MARK_BEGIN);
		*page = 1;
		hal_mark(MARK_END);
	}
	kpage_unmap(SELF, (unsigned long)pages, AT_ONCE);
	for (long done = 0; done < times; done += AT_ONCE) {
		pages = lazy_pages();
		start = MPI_Wtime();
		touch(pages, AT_ONCE);
		sum += MPI_Wtime() - start;
		kpage_unmap(SELF, (unsigned long)pages, AT_ONCE);
	}
	row("touch", sum / (double)((times + AT_ONCE - 1) / AT_ONCE * AT_ONCE) * 1e9, "ns", "");
}

/* A private page of a memory object, which keeps the page that is there. */
static void
count_copies(void)
{
	int memory = (int)kmemory_create(WINDOWS + 1);
	volatile char *pages = NULL;
	uint64_t at = 0;

	kmem_alloc(SELF, (WINDOWS + 1) * page_bytes, 0, &at);
	kpage_map(SELF, (unsigned long)at, memory, 0, WINDOWS + 1,
		PAGE_READ | PAGE_WRITE | PAGE_PRIVATE);
	pages = (volatile char *)(uintptr_t)at;
	*pages = 1;
	for (unsigned long i = 1; i <= WINDOWS; i++) {
		hal_mark(MARK_BEGIN);
		pages[i * page_bytes] = 1;
		hal_mark(MARK_END);
	}
	kpage_unmap(SELF, (unsigned long)at, WINDOWS + 1);
	khandle_close(memory);
}

int
main(int argc, char **argv)
{
	long calls = number(argc, argv, "--calls", 100000);
	struct cluster_info here;

	MPI_Init(&argc, &argv);
	MPI_Wtime();
	kcluster_info(&here);
	page_bytes = here.page_bytes;
	kthread_handler(HANDLE_CALLS, (unsigned long)null_handler,
		(unsigned long)stack + STACK_BYTES);
	hal_mark(LABEL);
	measure("reflect", call_counted, call_timed, calls);
	kthread_handler(HANDLE_FAULTS, (unsigned long)skip_handler,
		(unsigned long)stack + STACK_BYTES);
	hal_mark(LABEL + 1);
	measure("fault", fault_counted, fault_timed, calls);
	measure_far(calls);
	hal_mark(LABEL + 3);
	measure_touch(calls);
	hal_mark(LABEL + 4);
	count_copies();
	MPI_Finalize();
	return 0;
}
