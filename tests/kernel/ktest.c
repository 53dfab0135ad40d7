/* SPDX-License-Identifier: MIT
 *
 * Frame of the tests that run as init: see ktest.h.
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>
#include <usercpu/start.h>

#define STACK_BYTES (16 * 1024)

struct begin {
	unsigned long (*fn)(unsigned long arg);
	unsigned long arg;
};

static struct {
	const char *name;
	int wrong;
	int failed;
	int passed;
} kt;

void
kt_compare(const char *what, int line, long have, long want)
{
	if (have == want)
		return;
	kt.wrong++;
	console_print("FAIL %s: line %d: %s is %ld, not %ld\n", kt.name, line, what, have, want);
}

void
kt_run(const char *name, void (*test)(void))
{
	kt.name = name;
	kt.wrong = 0;
	test();
	if (kt.wrong == 0) {
		kt.passed++;
		console_print("ok %s\n", name);
	} else {
		kt.failed++;
	}
}

void
kt_end(void)
{
	console_print("%d passed, %d failed\n", kt.passed, kt.failed);
	kmachine_halt(kt.failed != 0);
	for (;;)
		kthread_yield();
}

static void
begin(uintptr_t at)
{
	struct begin *b = (struct begin *)at;

	for (;;)
		kthread_exit(b->fn(b->arg));
}

/* A stack in process `proc`, filled as seen by it; returns the context. */
static long
prepare(int proc, struct begin b, struct context *ctx)
{
	uint64_t stack;
	uintptr_t top, at;
	long e = kmem_alloc(proc, STACK_BYTES, PAGE_READ | PAGE_WRITE, &stack);

	if (e < 0)
		return e;
	top = (uintptr_t)stack + STACK_BYTES;
	at = top - sizeof(b);
	if (proc == SELF) {
		*(struct begin *)at = b;
	} else {
		struct page_info info;
		uint64_t window;

		if ((e = kpage_query(proc, top - 4096, &info)) < 0 || (e = kmem_alloc(SELF, 4096, 0, &window)) < 0)
			return e;
		if ((e = kpage_map(SELF, (unsigned long)window, info.frame, 1, PAGE_READ | PAGE_WRITE)) < 0)
			return e;
		*(struct begin *)(uintptr_t)(window + 4096 - sizeof(b)) = b;
		kpage_unmap(SELF, (unsigned long)window, 1);
	}
	context_init(ctx, (uintptr_t)begin, (at & ~(uintptr_t)15) - CONTEXT_CALL_BYTES, at, 0);
	return 0;
}

long
kt_thread(unsigned long (*fn)(unsigned long arg), unsigned long arg, int core)
{
	struct context ctx;
	long e = prepare(SELF, (struct begin){fn, arg}, &ctx);

	return e < 0 ? e : kthread_create(&ctx, core);
}

long
kt_child(int proc, unsigned long (*fn)(unsigned long arg), unsigned long arg, int core)
{
	struct context ctx;
	long e = prepare(proc, (struct begin){fn, arg}, &ctx);

	return e < 0 ? e : kproc_start(proc, &ctx, core);
}

/* Copy one page of ours to the same address of the child. */
static long
copy_page(int proc, uintptr_t addr, int prot)
{
	long frame = kframe_alloc(1);
	uint64_t window;
	long e;

	if (frame < 0)
		return frame;
	e = kmem_alloc(SELF, 4096, 0, &window);
	if (e == 0)
		e = kpage_map(SELF, (unsigned long)window, (int)frame, 1, PAGE_READ | PAGE_WRITE);
	if (e == 0) {
		memcpy((void *)(uintptr_t)window, (const void *)addr, 4096);
		e = kpage_unmap(SELF, (unsigned long)window, 1);
	}
	if (e == 0)
		e = kpage_map(proc, addr, (int)frame, 1, prot);
	kframe_free((int)frame, 1);
	return e;
}

long
kt_fork(void)
{
	const struct startup *s = atoll_startup();
	long proc = kproc_create();
	uintptr_t record = (uintptr_t)s & ~(uintptr_t)4095;
	long e;

	if (proc < 0)
		return proc;
	for (uintptr_t at = (uintptr_t)s->image_base; at < s->image_base + s->image_bytes; at += 4096) {
		struct page_info info;

		if (kpage_query(SELF, at, &info) == 0 && (e = copy_page((int)proc, at, (int)info.prot)) < 0)
			return e;
	}
	e = copy_page((int)proc, record, PAGE_READ);
	return e < 0 ? e : proc;
}

long
kt_join(long tid)
{
	uint64_t value;

	return kthread_join((int)tid, &value) < 0 ? -1 : (long)value;
}

uint64_t
kt_stats(int what)
{
	uint64_t value = 0;

	kstats(what, &value);
	return value;
}
