/* SPDX-License-Identifier: MIT
 *
 * Unit tests of the cache of far memory: random reads, writes, flushes and drops by each policy
 * against plain memory, and against a naive cache, which knows of each page all that a policy may
 * ask for. The server is the one of servers/rmem without its channel: it has bytes, and may end.
 *
 * usage: rmem_test [OPERATIONS]
 *
 * sanitize: address
 * needs: base/str.c
 * gate: 20000
 */
#include <stdlib.h>
#include <string.h>
#include <abi/layout.h>
#include <base/test.h>
#include <user/rmem.c>

#define REGION 40			/* pages */
#define FIRST (3 * RMEM_REGION_PAGES)
#define BASE ((uint64_t)FIRST * RMEM_PAGE)
#define BYTES (REGION * RMEM_PAGE)
#define FRAMES_MOST 12

static unsigned long operations = 60000;
static uint32_t state = 1;

static uint32_t
draw(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)state * below >> 32);
}

/* --- the kernel and the server --- */

static unsigned char store[BYTES];
static bool is_dead;			/* the server */
static int said;			/* what it says to anything; 0: what is right */

long
kcluster_info(void *info)
{
	*(struct cluster_info *)info = (struct cluster_info){.page_bytes = 4096};
	return 0;
}

long
kmem_alloc(int proc, unsigned long len, int prot, void *addr)
{
	void *memory = calloc(1, len);

	(void)proc;
	(void)prot;
	memcpy(addr, &(uint64_t){(uintptr_t)memory}, sizeof(uint64_t));
	return memory == NULL ? -E_NOMEM : 0;
}

long
kpage_unmap(int proc, unsigned long addr, int count)
{
	(void)proc;
	(void)count;
	free((void *)addr);
	return 0;
}

int
service_open_all(struct channel *ch, struct service_opening *o)
{
	(void)ch;
	expect_eq(o->kind->port, RMEM_PORT);
	expect(o->kind->message >= RMEM_PAGE + sizeof(struct rmem_request));
	return is_dead ? -E_NOSPC : 0;
}

int
channel_end(struct channel *ch)
{
	(void)ch;
	return 0;
}

static unsigned char *
stored(uint32_t page)
{
	expect(page >= FIRST && page < FIRST + REGION);
	return store + (size_t)(page - FIRST) * RMEM_PAGE;
}

int
service_call(struct channel *ch, const struct service_part request[2],
	const struct service_part answer[2])
{
	const struct rmem_request *q = request[0].at;
	struct rmem_reply r = {.result = said, .page = q->op == RMEM_ALLOC ? FIRST : REGION};

	(void)ch;
	if (is_dead)
		return -E_PIPE;
	expect_eq(request[0].bytes, sizeof(*q));
	if (q->op == RMEM_MOVE && said == 0) {
		expect_eq(request[1].bytes, q->put != 0 ? RMEM_PAGE : 0);
		expect_eq(answer[1].bytes, q->get != 0 ? RMEM_PAGE : 0);
		if (q->put != 0)
			memcpy(stored(q->put), request[1].at, RMEM_PAGE);
		if (q->get != 0)
			memcpy(answer[1].at, stored(q->get), RMEM_PAGE);
	}
	memcpy(answer[0].at, &r, sizeof(r));
	return q->op == RMEM_MOVE && q->get != 0 && said == 0 ? RMEM_PAGE : 0;
}

/* --- the naive cache: frames in the order in which they were first used --- */

static struct line {
	uint32_t page;			/* 0: none */
	unsigned long came, used;	/* when */
	unsigned long uses;
	double age;
	bool was_used;
} line[FRAMES_MOST];
static uint32_t lines, lines_most, hand;
static unsigned long now, comes, naive_hits;

static bool
goes_before(enum rmem_policy p, const struct line *a, const struct line *b)
{
	switch (p) {
	case RMEM_FIFO: return a->came < b->came;
	case RMEM_LIFO: return a->came > b->came;
	case RMEM_LRU: return a->used < b->used;
	case RMEM_NFU: return a->uses < b->uses;
	default: return a->age < b->age;
	}
}

static uint32_t
naive_victim(enum rmem_policy p)
{
	uint32_t best = 0;

	if (lines < lines_most)
		return lines++;
	for (uint32_t i = 0; i < lines; i++)
		if (line[i].page == 0 && p != RMEM_CLOCK)
			return i;
	if (p == RMEM_CLOCK)
		for (;;) {
			best = hand;
			hand = (hand + 1) % lines;
			if (line[best].page == 0 || !line[best].was_used)
				return best;
			line[best].was_used = false;
		}
	for (uint32_t i = 1; i < lines; i++)
		if (goes_before(p, &line[i], &line[best]))
			best = i;
	return best;
}

/* Ages are numbers below 2: half of what they were, and 1 for a use, of which 31 bits are kept. */
static void
naive_ages(void)
{
	for (uint32_t i = 0; i < lines; i++) {
		uint64_t bits = (uint64_t)(line[i].age * (double)(1u << 31));

		line[i].age = (double)(bits / 2) / (double)(1u << 31) + (line[i].was_used ? 1 : 0);
		line[i].was_used = false;
	}
}

static void
naive_use(enum rmem_policy p, uint32_t page)
{
	uint32_t i = 0;

	now++;
	while (i < lines && line[i].page != page)
		i++;
	if (i < lines) {
		naive_hits++;
		line[i].used = now;
		line[i].uses++;
		line[i].was_used = true;
		return;
	}
	i = naive_victim(p);
	comes++;
	line[i] = (struct line){page, now, now, 1, 1, p == RMEM_CLOCK};
	if (p == RMEM_AGING && comes % 8 == 0)
		naive_ages();
}

/* --- what is used at random --- */

static unsigned char mirror[BYTES], text[2 * RMEM_PAGE];

static void
use(struct rmem *r, uint32_t from, uint32_t n)
{
	uint32_t p = from / RMEM_PAGE;

	for (; n > 0 && p <= (from + n - 1) / RMEM_PAGE; p++)
		naive_use(r->policy, FIRST + p);
	if (draw(2) == 0) {
		expect_eq(rmem_read(r, BASE + from, text, n), 0);
		expect(memcmp(text, mirror + from, n) == 0);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		mirror[from + i] = (unsigned char)draw(256);
	expect_eq(rmem_write(r, BASE + from, mirror + from, n), 0);
}

static void
use_page(struct rmem *r, uint32_t page)
{
	bool is_written = draw(2) == 0;
	void *at = NULL;

	if (r->policy == RMEM_BYPASS) {
		expect_eq(rmem_page(r, BASE, false, &at), -E_INVAL);
		return;
	}
	naive_use(r->policy, FIRST + page);
	expect_eq(rmem_page(r, BASE + (uint64_t)page * RMEM_PAGE + draw(RMEM_PAGE), is_written,
		&at), 0);
	expect(memcmp(at, mirror + (size_t)page * RMEM_PAGE, RMEM_PAGE) == 0);
	if (is_written)
		((unsigned char *)at)[7] = ++mirror[(size_t)page * RMEM_PAGE + 7];
}

static void
drop(struct rmem *r)
{
	expect_eq(rmem_flush(r), 0);
	expect(memcmp(store, mirror, BYTES) == 0);
	rmem_drop(r);
	for (uint32_t i = 0; i < lines; i++)
		line[i].page = 0;
}

static void
step(struct rmem *r)
{
	uint32_t from = draw(3) != 0 ? draw(6 * RMEM_PAGE) : draw(BYTES);
	uint32_t n = draw(4) != 0 ? draw(100) : draw(2 * RMEM_PAGE);

	if (draw(6) == 0) {
		from -= from % RMEM_PAGE;
		n = RMEM_PAGE;
	}
	n = n < BYTES - from ? n : BYTES - from;
	if (draw(300) == 0)
		drop(r);
	else if (draw(5) == 0)
		use_page(r, from / RMEM_PAGE);
	else
		use(r, from, n);
}

static void
begin(struct rmem *r, enum rmem_policy policy, uint32_t frames)
{
	uint64_t at = 0;

	is_dead = false;
	said = 0;
	lines = hand = 0;
	now = comes = naive_hits = 0;
	lines_most = policy == RMEM_BYPASS ? 1 : frames;
	memset(store, 0, sizeof(store));
	memset(mirror, 0, sizeof(mirror));
	expect_eq(rmem_open(r, &(struct rmem_setup){.policy = policy, .frames = frames}), 0);
	expect_eq(rmem_alloc(r, REGION, &at), 0);
	expect(at == BASE);
}

TEST(each_policy_keeps_what_the_naive_cache_keeps)
{
	struct rmem r;

	for (int p = RMEM_BYPASS; p < RMEM_POLICIES; p++)
		for (uint32_t frames = 1; frames <= FRAMES_MOST; frames += frames < 4 ? 1 : 4) {
			begin(&r, (enum rmem_policy)p, frames);
			for (unsigned long i = 0; i < operations / 40 &&
				test_state.wrong == 0; i++)
				step(&r);
			expect_eq(r.counts.hits, p == RMEM_BYPASS ? 0 : naive_hits);
			drop(&r);
			rmem_close(&r);
		}
}

TEST(what_is_wrong_is_refused)
{
	struct rmem r;
	uint64_t at;
	uint32_t pages;
	void *page;

	expect_eq(rmem_open(&r, &(struct rmem_setup){.policy = RMEM_POLICIES, .frames = 1}),
		-E_INVAL);
	expect_eq(rmem_open(&r, &(struct rmem_setup){.frames = 0}), -E_INVAL);
	begin(&r, RMEM_LRU, 2);
	expect_eq(rmem_read(&r, BASE - 1, text, 1), -E_INVAL);
	expect_eq(rmem_write(&r, BASE + BYTES, text, RMEM_PAGE), -E_INVAL);
	expect_eq(rmem_write(&r, BASE + BYTES - 1, text, 2), -E_INVAL);
	expect_eq(rmem_page(&r, UINT64_MAX, true, &page), -E_INVAL);
	expect_eq(rmem_free(&r, BASE + RMEM_PAGE), -E_INVAL);
	expect_eq(rmem_attach(&r, BASE + 1, &pages), -E_INVAL);
	expect_eq(rmem_free(&r, BASE), 0);
	expect_eq(rmem_free(&r, BASE), -E_INVAL);
	expect_eq(rmem_read(&r, BASE, text, 1), -E_INVAL);
	expect_eq(rmem_attach(&r, BASE, &pages), 0);
	expect_eq(pages, REGION);
	said = 5;		/* no server says so */
	expect_eq(rmem_read(&r, BASE, text, 1), -E_IO);
	said = -E_NOMEM;
	expect_eq(rmem_alloc(&r, 1, &at), -E_NOMEM);
	rmem_close(&r);
}

/* A page that cannot be stored stays, and so does what others have; nothing waits. */
TEST(a_server_that_ends_says_so_from_then_on)
{
	struct rmem r;

	begin(&r, RMEM_FIFO, 2);
	expect_eq(rmem_write(&r, BASE, "a", 1), 0);
	said = -E_INVAL;
	expect_eq(rmem_flush(&r), -E_INVAL);
	said = 0;
	expect_eq(rmem_flush(&r), 0);
	expect_eq(store[0], 'a');
	expect_eq(rmem_write(&r, BASE, "b", 1), 0);
	is_dead = true;
	expect_eq(rmem_flush(&r), -E_PIPE);
	is_dead = false;
	expect_eq(rmem_flush(&r), -E_PIPE);
	expect_eq(rmem_read(&r, BASE + RMEM_PAGE, text, 1), -E_PIPE);
	expect_eq(rmem_free(&r, BASE), -E_PIPE);
	expect_eq(store[0], 'a');
	expect_eq(rmem_read(&r, BASE, text, 1), 0);
	expect_eq(text[0], 'b');
	rmem_close(&r);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		operations = strtoul(argv[1], NULL, 0);
	RUN(each_policy_keeps_what_the_naive_cache_keeps);
	RUN(what_is_wrong_is_refused);
	RUN(a_server_that_ends_says_so_from_then_on);
	return TEST_FAILED;
}
