/* SPDX-License-Identifier: MIT
 *
 * Portals and pages that are absent: a thread that handles its faults gets its call made again when
 * one of the first pages of its buffer is missing, and neither side notices; a page that is missing
 * further on ends the transfer on both sides, and the next one is whole.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>
#include <usercpu/handler.h>
#include <usercpu/kcall.h>

#define STACK (32 * 1024)
#define PORT 4
#define PAGES 70			/* more than a call looks at first */
#define LOOKED_AT 64
#define RW (PAGE_READ | PAGE_WRITE)

/* The writer's side; the reader's is this thread's. */
static struct side {
	uint64_t at;			/* of its buffer */
	/* bitmap of the first 64 pages: the handler has brought them */
	uint64_t missing;
	uint32_t entered;
} from, to;
static int in, out;
static unsigned long length;

static unsigned char
pattern(unsigned long i)
{
	return (unsigned char)(i * 7 + i / kt_page_bytes() * 13 + 1);
}

static void
fill(struct side *s, unsigned long page)
{
	unsigned char *p = (unsigned char *)(uintptr_t)s->at;

	for (unsigned long i = page * kt_page_bytes(); i < (page + 1) * kt_page_bytes(); i++)
		p[i] = pattern(i);
}

static void
map_page(struct side *s, unsigned long page)
{
	long memory = kmemory_create(1);

	expect(memory > 0);
	expect_eq(kpage_map(SELF, (unsigned long)s->at + page * kt_page_bytes(), (int)memory, 0, 1,
		RW), 0);
	expect_eq(khandle_close((int)memory), 0);
}

HANDLER_ENTRY(handler, bring)

/* The page comes with what belongs there, if it is the writer's. */
long
bring(const struct handler_event *e)
{
	struct side *s = e->addr >= from.at && e->addr < from.at + PAGES * kt_page_bytes() ? &from :
		&to;
	unsigned long page = (unsigned long)(e->addr - s->at) / kt_page_bytes();

	s->entered++;
	expect(page < LOOKED_AT &&
		e->number == (unsigned long)(s == &from ? KC_PORTAL_WRITE : KC_PORTAL_READ));
	s->missing &= ~((uint64_t)1 << page);
	map_page(s, page);
	if (s == &from)
		fill(s, page);
	return 0;
}

static void
handle_faults(void)
{
	uint64_t stack;

	expect_eq(kmem_alloc(SELF, STACK, RW, &stack), 0);
	expect_eq(kthread_handler(HANDLE_FAULTS, (unsigned long)handler,
		(unsigned long)stack + STACK), 0);
}

static void
prepare(struct side *s, uint64_t missing, bool is_writer)
{
	*s = (struct side){.missing = missing};
	expect_eq(kmem_alloc(SELF, PAGES * kt_page_bytes(), RW, &s->at), 0);
	for (unsigned long i = 0; is_writer && i < PAGES; i++)
		fill(s, i);
	for (unsigned long i = 0; i < LOOKED_AT; i++)
		if (missing >> i & 1)
			expect_eq(kpage_unmap(SELF, (unsigned long)s->at + i * kt_page_bytes(), 1),
				0);
}

static void
give_back(struct side *s)
{
	expect_eq(kpage_unmap(SELF, (unsigned long)s->at, PAGES), 0);
}

static unsigned long
writer(unsigned long arg)
{
	(void)arg;
	handle_faults();
	return (unsigned long)kportal_write(out, (unsigned long)from.at, length, FOREVER);
}

/* One transfer: what each side gets. */
static void
transfer(long written, long read)
{
	long tid;

	expect_eq(kportal_allow(in, 0, PORT), 0);
	tid = kt_thread(writer, 0, ANY_CORE);
	expect_eq(kportal_read(in, (unsigned long)to.at, length, FOREVER), read);
	expect_eq(kt_join(tid), written);
}

static bool
arrived(void)
{
	const unsigned char *p = (const unsigned char *)(uintptr_t)to.at;

	for (unsigned long i = 0; i < length; i++)
		if (p[i] != pattern(i))
			return false;
	return true;
}

/*
 * Pages of which side are missing, all of which are looked at first: each is brought once, and
 * nothing else is seen of it.
 */
static void
restarted(uint64_t of_writer, uint64_t of_reader, unsigned long bytes)
{
	uint32_t writers = 0, readers = 0;

	for (unsigned i = 0; i < LOOKED_AT && i * kt_page_bytes() < bytes; i++) {
		writers += of_writer >> i & 1;
		readers += of_reader >> i & 1;
	}
	length = bytes;
	prepare(&from, of_writer, true);
	prepare(&to, of_reader, false);
	transfer((long)bytes, (long)bytes);
	expect(arrived());
	expect_eq(from.entered, writers);
	expect_eq(to.entered, readers);
	expect(from.missing == 0 && to.missing == 0);
	give_back(&from);
	give_back(&to);
}

TEST(a_transfer_starts_again_until_its_first_pages_are_there)
{
	unsigned long page = kt_page_bytes();

	restarted(1, 0, 5 * page);
	restarted(0, 1, 5 * page);
	restarted(1u << 3, 0, 9 * page);
	restarted(0, 1u << 3, 9 * page);
	restarted(0x15, 0x2a, 6 * page - 3);
	restarted(1, 1, 1);
	restarted((uint64_t)1 << 63, (uint64_t)1 << 62, PAGES * page);
}

/*
 * Blocks have been moved when the page is met: -E_FAULT there, -E_PIPE on the other side; it is
 * mapped, and all of it comes again.
 */
static void
ended(struct side *s)
{
	unsigned long missing = LOOKED_AT + 3;

	prepare(&from, 0, true);
	prepare(&to, 0, false);
	length = PAGES * kt_page_bytes();
	expect_eq(kpage_unmap(SELF, (unsigned long)s->at + missing * kt_page_bytes(), 1), 0);
	transfer(s == &from ? -E_FAULT : -E_PIPE, s == &from ? -E_PIPE : -E_FAULT);
	expect_eq(from.entered + to.entered, 0);
	map_page(s, missing);
	if (s == &from)
		fill(s, missing);
	transfer((long)length, (long)length);
	expect(arrived());
	give_back(&from);
	give_back(&to);
}

TEST(a_page_that_is_missing_later_ends_the_transfer_on_both_sides)
{
	ended(&from);
	ended(&to);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	handle_faults();
	in = (int)kportal_create(PORT);
	out = (int)kportal_open(0, PORT, PORT);
	expect(in >= 0 && out >= 0);
	RUN(a_transfer_starts_again_until_its_first_pages_are_there);
	RUN(a_page_that_is_missing_later_ends_the_transfer_on_both_sides);
	kt_end();
}
