/* SPDX-License-Identifier: MIT
 *
 * The personality's memory calls against a small address space of its own.
 *
 * cpu: riscv64
 * needs: user/personality/lock.c user/personality/memory.c user/personality/space.c
 */
#include <abi/layout.h>
#include <base/test.h>
#include <user/personality/limits.h>
#include <user/personality/personality.h>

#define PAGE 4096
#define PAGES 64
#define FRAMES 48

enum { NOTHING, RESERVED, MAPPED };

static _Alignas(PAGE) unsigned char arena[PAGES * PAGE];
static int state[PAGES];
static int prot[PAGES];
static int frames_free;

struct personality_info personality_info = {.page_bytes = PAGE};
struct kept kept;

/* Of several, for which nothing is kept: addresses of this test have too many digits for that. */
const struct job_rank *
only_rank(void)
{
	return NULL;
}

bool
limits_allow(const struct handler_event *c, uint64_t bytes)
{
	(void)c, (void)bytes;
	return true;
}

long
kthread_sleep(uint32_t mask, uint64_t deadline)
{
	(void)mask, (void)deadline;
	return 0;
}

long
kfutex_wait(unsigned long addr, uint32_t value, uint64_t deadline)
{
	(void)addr, (void)value, (void)deadline;
	expect(false);
	return 0;
}

long
kfutex_wake(unsigned long addr, int count)
{
	(void)addr, (void)count;
	expect(false);
	return 0;
}

static void
reset(void)
{
	memset(state, 0, sizeof(state));
	memset(arena, 0xee, sizeof(arena));
	frames_free = FRAMES;
}

static unsigned
page_of(unsigned long addr)
{
	return (unsigned)((addr - (unsigned long)arena) / PAGE);
}

static int
is_all(unsigned first, int count, int least)
{
	if (first >= PAGES || count <= 0 || count > (int)(PAGES - first))
		return 0;
	for (unsigned i = first; i < first + (unsigned)count; i++)
		if (state[i] < least)
			return 0;
	return 1;
}

long
kmem_alloc(int proc, unsigned long len, int p, void *addr)
{
	unsigned first = 0, run = 0, pages = (unsigned)((len + PAGE - 1) / PAGE);
	uint64_t at;

	expect_eq(proc, SELF);
	if (p != 0 && (int)pages > frames_free)
		return -E_NOMEM;
	for (; first + run < PAGES && run < pages; run++)
		if (state[first + run] != NOTHING) {
			first += run + 1;
			run = (unsigned)-1;
		}
	if (run < pages)
		return -E_NOMEM;
	for (unsigned i = first; i < first + pages; i++) {
		state[i] = p != 0 ? MAPPED : RESERVED;
		prot[i] = p;
		if (p != 0)
			memset(arena + i * PAGE, 0, PAGE);
	}
	frames_free -= p != 0 ? (int)pages : 0;
	at = (uint64_t)(arena + first * PAGE);
	memcpy(addr, &at, sizeof(at));
	return 0;
}

long
kpage_unmap(int proc, unsigned long addr, int count)
{
	expect_eq(proc, SELF);
	if (!is_all(page_of(addr), count, RESERVED))
		return -E_INVAL;
	for (int i = 0; i < count; i++) {
		frames_free += state[page_of(addr) + (unsigned)i] == MAPPED;
		state[page_of(addr) + (unsigned)i] = NOTHING;
	}
	return 0;
}

long
kpage_protect(int proc, unsigned long addr, int count, int p)
{
	expect_eq(proc, SELF);
	if ((p != 0 && (p & PAGE_READ) == 0) || !is_all(page_of(addr), count, MAPPED))
		return -E_INVAL;
	for (int i = 0; i < count; i++)
		prot[page_of(addr) + (unsigned)i] = p;
	return 0;
}

long
kpage_query(int proc, unsigned long addr, void *info)
{
	expect_eq(proc, SELF);
	memset(info, 0, sizeof(struct page_info));
	return is_all(page_of(addr), 1, MAPPED) ? 0 : -E_INVAL;
}

long
kmemory_create(int count)
{
	expect_eq(count, 1);
	return frames_free > 0 ? 7 : -E_NOMEM;
}

long
kpage_map(int proc, unsigned long addr, int memory, int first, int count, int p)
{
	expect(proc == SELF && memory == 7 && first == 0 && count == 1);
	expect(state[page_of(addr)] != MAPPED);
	state[page_of(addr)] = MAPPED;
	prot[page_of(addr)] = p;
	frames_free -= (p & PAGE_PRIVATE) == 0;
	return 0;
}

long
khandle_close(int handle)
{
	expect_eq(handle, 7);
	return 0;
}

static struct handler_event
call(unsigned long a0, unsigned long a1, unsigned long a2, unsigned long a3)
{
	struct handler_event c = {.args = {a0, a1, a2, a3}};

	return c;
}

static long
map(unsigned long len, unsigned long p)
{
	struct handler_event c = call(0, len, p, 0x22);

	return memory_mmap(&c);
}

TEST(mapped_memory_is_zero_and_goes_away_with_munmap)
{
	unsigned char *p;
	struct handler_event c;

	reset();
	p = (unsigned char *)map(3 * PAGE - 5, 3);
	expect(p >= arena && p[0] == 0 && p[3 * PAGE - 1] == 0);
	expect_eq(prot[page_of((unsigned long)p)], PAGE_READ | PAGE_WRITE);
	expect_eq(frames_free, FRAMES - 3);
	c = call((unsigned long)p, 3 * PAGE - 5, 0, 0);
	expect_eq(memory_munmap(&c), 0);
	expect_eq(frames_free, FRAMES);
	expect_eq(memory_munmap(&c), -E_INVAL);
}

TEST(a_reservation_costs_no_memory_until_it_is_opened)
{
	unsigned long p;
	struct handler_event c;

	reset();
	p = (unsigned long)map(40 * PAGE, 0);
	expect_eq(frames_free, FRAMES);
	c = call(p + PAGE, 8 * PAGE, 3, 0);
	expect_eq(memory_mprotect(&c), 0);
	expect_eq(frames_free, FRAMES - 8);
	expect_eq(state[page_of(p)], RESERVED);
	expect_eq(prot[page_of(p) + 8], PAGE_READ | PAGE_WRITE);
	c = call(p + 4 * PAGE, 10 * PAGE, 1, 0);
	expect_eq(memory_mprotect(&c), 0);
	expect_eq(frames_free, FRAMES - 13);
	expect_eq(prot[page_of(p) + 4], PAGE_READ);
	expect_eq(prot[page_of(p) + 13], PAGE_READ);
	c = call(p, 40 * PAGE, 0, 0);
	expect_eq(memory_mprotect(&c), 0);
	expect_eq(frames_free, FRAMES - 13);
	expect_eq(state[page_of(p)], RESERVED);
	for (unsigned i = 1; i < 14; i++)
		expect(state[page_of(p) + i] == MAPPED && prot[page_of(p) + i] == 0);
}

TEST(memory_without_access_keeps_what_it_has)
{
	unsigned char *p;
	struct handler_event c;

	reset();
	p = (unsigned char *)map(4 * PAGE, 3);
	memset(p, 0x5a, 4 * PAGE);
	c = call((unsigned long)p + PAGE, 2 * PAGE, 0, 0);
	expect_eq(memory_mprotect(&c), 0);
	expect(prot[page_of((unsigned long)p)] == 3 && prot[page_of((unsigned long)p) + 1] == 0);
	c = call((unsigned long)p, 4 * PAGE, 3, 0);
	expect_eq(memory_mprotect(&c), 0);
	expect(prot[page_of((unsigned long)p) + 1] == 3 && p[PAGE] == 0x5a);
	/* in the place of it: no memory of its own */
	c = call((unsigned long)p, 3 * PAGE, 0, 0x32);
	expect_eq(memory_mmap(&c), (long)p);
	expect_eq(frames_free, FRAMES - 1);
	expect_eq(prot[page_of((unsigned long)p) + 2], PAGE_PRIVATE);
	expect_eq(prot[page_of((unsigned long)p) + 3], 3);
}

TEST(what_cannot_be_mapped_is_refused)
{
	struct handler_event c = call(0, PAGE, 3, 0x32);

	reset();
	expect_eq(memory_mmap(&c), -E_INVAL);
	expect_eq(map(0, 3), -E_INVAL);
	expect_eq(map(~0ul, 3), -E_INVAL);
	expect_eq(map((FRAMES + 1) * PAGE, 3), -E_NOMEM);
	c = call(1, PAGE, 0, 0);
	expect_eq(memory_munmap(&c), -E_INVAL);
	expect_eq(memory_mprotect(&c), -E_INVAL);
	expect_eq(memory_mremap(&c), -E_INVAL);
	expect_eq(frames_free, FRAMES);
}

TEST(remapping_keeps_the_contents)
{
	unsigned char *p, *q;
	struct handler_event c;

	reset();
	p = (unsigned char *)map(2 * PAGE, 3);
	memset(p, 0x5a, 2 * PAGE);
	c = call((unsigned long)p, 2 * PAGE, 5 * PAGE, 1);
	q = (unsigned char *)memory_mremap(&c);
	expect(q != p && q[0] == 0x5a && q[2 * PAGE - 1] == 0x5a && q[2 * PAGE] == 0);
	expect_eq(frames_free, FRAMES - 5);
	c = call((unsigned long)q, 5 * PAGE, PAGE, 1);
	expect_eq(memory_mremap(&c), (long)q);
	expect_eq(frames_free, FRAMES - 1);
	c = call((unsigned long)q, PAGE, 2 * PAGE, 0);
	expect_eq(memory_mremap(&c), -E_NOMEM);
	expect_eq(q[0], 0x5a);
}

int
main(void)
{
	RUN(mapped_memory_is_zero_and_goes_away_with_munmap);
	RUN(a_reservation_costs_no_memory_until_it_is_opened);
	RUN(memory_without_access_keeps_what_it_has);
	RUN(what_cannot_be_mapped_is_refused);
	RUN(remapping_keeps_the_contents);
	return TEST_FAILED;
}
