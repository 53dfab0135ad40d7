/* SPDX-License-Identifier: MIT
 *
 * Frame of the tests that run as init: see ktest.h.
 */
#include <base/cpio.h>
#include <base/elf.h>
#include <base/str.h>
#include <tests/kernel/ktest.h>
#include <usercpu/handler.h>
#include <usercpu/start.h>

#define PAGE kt_page_bytes()
#define STACK_BYTES (16 * 1024)

struct begin {
	unsigned long (*fn)(unsigned long arg);
	unsigned long arg;
	uint32_t go;			/* it may begin */
};

static struct {
	const char *name;
	int wrong;
	int failed;
	int passed;
} kt;

size_t
kt_page_bytes(void)
{
	static size_t bytes;
	struct cluster_info info;

	if (bytes == 0 && kcluster_info(&info) == 0)
		bytes = info.page_bytes;
	return bytes;
}

void
kt_compare(const char *what, int line, long have, long want)
{
	if (have == want)
		return;
	kt.wrong++;
	console_print("FAIL %s: line %d: %s is %ld, not %ld\n", kt.name, line, what, have, want);
}

int
kt_failures(void)
{
	return kt.wrong;
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
	kmachine_halt(atoll_startup()->authority, kt.failed != 0);
	/* not cluster 0: its kernel goes on to answer the others, until that ends the machine */
	for (;;)
		kthread_sleep(0, FOREVER);
}

static void
begin(uintptr_t at)
{
	struct begin *b = (struct begin *)at;

	while (!__atomic_load_n(&b->go, __ATOMIC_ACQUIRE))
		kthread_yield();
	for (;;)
		kthread_exit(b->fn(b->arg));
}

static long
begin_thread(const struct begin *what, int core, struct begin **at)
{
	struct context ctx;
	uint64_t stack;
	long e = kmem_alloc(SELF, STACK_BYTES, PAGE_READ | PAGE_WRITE, &stack);

	if (e < 0)
		return e;
	*at = (struct begin *)(uintptr_t)(stack + STACK_BYTES) - 1;
	**at = *what;
	context_init(&ctx, (uintptr_t)begin, ((uintptr_t)*at & ~(uintptr_t)15) - CONTEXT_CALL_BYTES,
		(uintptr_t)*at, 0);
	return kthread_create(&ctx, core);
}

long
kt_thread(unsigned long (*fn)(unsigned long arg), unsigned long arg, int core)
{
	struct begin *b;

	return begin_thread(&(struct begin){fn, arg, 1}, core, &b);
}

/* Kernel calls of a thread that home has answered, or answered with a wait, since first asked. */
static uint32_t
calls_of(long tid)
{
	struct thread_counts counts = {0};

	while (kthread_stats((int)tid, 0, &counts) == -E_AGAIN)
		;
	return counts.calls;
}

long
kt_waiter(unsigned long (*fn)(unsigned long arg), unsigned long arg)
{
	struct begin *b;
	long tid = begin_thread(&(struct begin){fn, arg, 0}, ANY_CORE, &b);
	uint32_t before;

	if (tid < 0)
		return tid;
	before = calls_of(tid);
	__atomic_store_n(&b->go, 1, __ATOMIC_RELEASE);
	while (calls_of(tid) == before)
		kthread_yield();
	return tid;
}

/* Fresh pages at `at` of a process, filled from `from`. */
static long
place(int proc, uintptr_t at, const void *from, size_t len, size_t pages, int prot)
{
	long memory = kmemory_create((int)pages);
	uint64_t window;
	long e;

	if (memory < 0)
		return memory;
	e = kmem_alloc(SELF, pages * PAGE, 0, &window);
	if (e >= 0)
		e = kpage_map(SELF, (unsigned long)window, (int)memory, 0, (int)pages,
			PAGE_READ | PAGE_WRITE);
	if (e >= 0) {
		memcpy((void *)(uintptr_t)(window + at % PAGE), from, len);
		e = kpage_unmap(SELF, (unsigned long)window, (int)pages);
	}
	if (e >= 0)
		e = kpage_map(proc, at & ~(uintptr_t)(PAGE - 1), (int)memory, 0, (int)pages, prot);
	khandle_close((int)memory);
	return e;
}

static struct elf *
own_image(void)
{
	static struct elf e;
	uint64_t span[2];
	struct cpio_file file;

	if (e.image != NULL)
		return &e;
	if (karchive_map(SELF, span) < 0 ||
		cpio_find((const void *)(uintptr_t)span[0], (size_t)span[1], "bin/init", &file) < 0)
		return NULL;
	return elf_open(&e, file.data, file.bytes) < 0 ? NULL : &e;
}

/* Our program, fresh from the archive. */
static long
place_image(int proc, const struct elf *e, uintptr_t base)
{
	long error = 0;

	for (unsigned i = 0; i < e->segments && error >= 0; i++) {
		struct elf_segment s = elf_segment(e, i);
		uintptr_t at = base + (uintptr_t)s.addr;

		if (s.type != ELF_LOAD)
			continue;
		error = place(proc, at, e->image + s.offset, (size_t)s.file_bytes,
			(at % PAGE + (size_t)s.mem_bytes + PAGE - 1) / PAGE,
			(s.flags & ELF_FLAG_READ ? PAGE_READ : 0) |
			(s.flags & ELF_FLAG_WRITE ? PAGE_WRITE : 0) |
			(s.flags & ELF_FLAG_EXEC ? PAGE_EXEC : 0));
	}
	return error;
}

/* Process, its first thread's context. */
static long
prepare(int proc, const struct elf *e, uint32_t role, unsigned long arg, struct context *ctx)
{
	struct startup s = *atoll_startup();
	uint64_t first, limit, base, stack;
	uintptr_t at;
	long error;

	if (elf_span(e, &first, &limit) < 0)
		return -E_INVAL;
	if ((error = kmem_alloc(proc, (unsigned long)limit, 0, &base)) < 0 ||
		(error = place_image(proc, e, (uintptr_t)base)) < 0)
		return error;
	if ((error = kmem_alloc(proc, STACK_BYTES + PAGE, 0, &stack)) < 0)
		return error;
	s.job = role;
	s.shared = arg;
	s.image_base = base;
	at = (uintptr_t)stack + STACK_BYTES;
	if ((error = place(proc, at, &s, sizeof(s), 1, PAGE_READ)) < 0)
		return error;
	if ((error = place(proc, (uintptr_t)stack, "", 1, STACK_BYTES / PAGE,
		PAGE_READ | PAGE_WRITE)) < 0)
		return error;
	context_init(ctx, (uintptr_t)(base + e->entry), at, at, 0);
	return 0;
}

long
kt_spawn(uint32_t role, unsigned long arg, int core)
{
	long proc = kproc_create();

	return proc < 0 ? proc : kt_spawn_in(proc, role, arg, core);
}

long
kt_spawn_in(long proc, uint32_t role, unsigned long arg, int core)
{
	struct elf *e = own_image();
	struct context ctx;
	long error;

	if (e == NULL)
		return -E_NOENT;
	error = prepare((int)proc, e, role, arg, &ctx);
	if (error >= 0)
		error = kproc_start((int)proc, &ctx, core);
	if (error < 0)
		console_print("kt_spawn: error %ld\n", error);
	return error < 0 ? error : proc;
}

int
kt_wait(long proc, uint32_t *cause)
{
	int status = kt_end_of(proc, cause);

	khandle_close((int)proc);
	return status;
}

int
kt_end_of(long proc, uint32_t *cause)
{
	struct proc_status status = {.status = -1};

	if (kproc_wait((int)proc, &status, FOREVER) < 0)
		return -1000;
	if (cause != NULL)
		*cause = status.cause;
	return status.status;
}

long
kt_join(long tid)
{
	uint64_t value;

	return kthread_join((int)tid, &value, FOREVER) < 0 ? -1 : (long)value;
}

void *
kt_bad_place(size_t bytes)
{
	static unsigned turn;
	static uint64_t addr;

	if (addr == 0 && (kmem_alloc(SELF, 4 * PAGE, PAGE_READ | PAGE_WRITE, &addr) != 0
		|| kpage_protect(SELF, (unsigned long)addr, 1, PAGE_READ) != 0 ||
			kpage_unmap(SELF, (unsigned long)(addr + 2 * PAGE), 1) != 0))
		return NULL;
	switch (turn++ % 6) {
	case 0: return (void *)8;
	case 1: return (void *)(uintptr_t)addr;
	case 2: return (void *)(uintptr_t)(addr + PAGE - bytes / 2);
	case 3: return (void *)(uintptr_t)(addr + 2 * PAGE);
	case 4: return (void *)(uintptr_t)(addr + 2 * PAGE - bytes / 2);
	default: break;
	}
	kpage_unmap(SELF, (unsigned long)addr, 2);
	kpage_unmap(SELF, (unsigned long)(addr + 3 * PAGE), 1);
	addr = 0;
	return NULL;
}

uint64_t
kt_stats(int what)
{
	uint64_t value = 0;

	kstats(what, &value);
	return value;
}

void
kt_pause(uint64_t us)
{
	uint64_t now, end;

	kclock(&now);
	for (end = now + us * 1000; now < end; kclock(&now))
		kthread_yield();
}

uint32_t
kt_compute(uint32_t seed, int rounds)
{
	uint32_t a = seed, b = ~seed, c = seed * 5, d = seed ^ 0x55555555, e = 1, f = seed << 7;
	float_register x = (float_register)seed, y = 5;

	for (int i = 0; i < rounds; i++) {
		a += b ^ (c >> 3);
		b = (b << 5 | b >> 27) + d;
		c ^= a + e;
		x = x / 2 + y;
		d += (f >> 1) + a;
		e = e * 3 + (d ^ b);
		f ^= (c << 2) + e;
		y = 100 - x / 8;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ (uint32_t)(int32_t)(x + y);
}

uint64_t
kt_now(void)
{
	uint64_t ns = 0;

	kclock(&ns);
	return ns;
}

struct core_info
kt_core_info(int core)
{
	struct core_info info = {0};

	expect_eq(kcore_info(core, &info), 0);
	return info;
}

int
kt_other_core(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	if (info.cores < 3)
		return -1;
	return info.core == info.cores - 1 ? (int)info.core - 1 : (int)info.cores - 1;
}

int
kt_own_core(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	return (int)info.core;
}

void
kt_arguments(uint32_t *calls, uint32_t *seed)
{
	uint32_t *number[] = {calls, seed};
	struct cpio_file file;
	uint64_t span[2];
	unsigned n = 0;
	bool inside = false;

	if (karchive_map(SELF, span) < 0 ||
		cpio_find((const void *)(uintptr_t)span[0], (size_t)span[1], "etc/args", &file) < 0)
		return;
	for (size_t i = 0; i < file.bytes && n < 2; i++) {
		char c = ((const char *)file.data)[i];
		bool is_digit = c >= '0' && c <= '9';

		if (is_digit)
			*number[n] = (inside ? *number[n] * 10 : 0) + (uint32_t)(c - '0');
		n += inside && !is_digit;
		inside = is_digit;
	}
}
