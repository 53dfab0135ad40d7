/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: address spaces as tables in software. Three levels of 512 entries in pages
 * from the kernel; an entry holds the address of the next table or of a page (large pages: in the
 * second level) and its protection.
 */
#include <string.h>
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <hal/each.h>
#include "internal.h"

int coro_user_access(uintptr_t addr, void *host, size_t len, bool write);

#define ENTRIES 512
#define LEVELS 3
#define VALID 0x100
/* PAGE_*, and the same shifted by HAL_MAY: the mapping's maximum */
#define PROT 0xff
#define LEAF 0x10		/* of those bits none of theirs: a page, which may have no rights */
#define RIGHTS (PAGE_READ | PAGE_WRITE | PAGE_EXEC)
#define ADDRESS (~(uint64_t)(HAL_PAGE_BYTES - 1))
#define FIRST ((uintptr_t)1 << 16)
#define LIMIT ((uintptr_t)1 << 38)

static unsigned
index_of(uintptr_t addr, int level)
{
	return addr >> (HAL_PAGE_SHIFT + 9 * level) & (ENTRIES - 1);
}

static uint64_t *
table_at(uint64_t entry)
{
	return (uint64_t *)(uintptr_t)(entry & ADDRESS);
}

static int
leaf_level(int prot)
{
	return prot & PAGE_LARGE ? 1 : 0;
}

static size_t
page_bytes(int prot)
{
	return prot & PAGE_LARGE ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
}

int
hal_space_init(struct hal_space *s, const struct hal_page_source *src)
{
	*s = (struct hal_space){.first = FIRST, .limit = LIMIT, .take = src->take,
		.give = src->give, .ctx = src->ctx};
	s->root = s->take(s->ctx);
	return s->root == NULL ? -E_NOMEM : 0;
}

/* Give back one table below which there is none. */
static void
give_one(struct hal_space *s, uint64_t *table, int level)
{
	for (unsigned i = 0; i < ENTRIES && level > 0; i++) {
		uint64_t *below = table_at(table[i]);

		if (!(table[i] & VALID) || (table[i] & PROT))
			continue;
		if (level > 1)
			for (unsigned j = 0; j < ENTRIES; j++)
				if ((below[j] & VALID) && !(below[j] & PROT)) {
					give_one(s, below, level - 1);
					return;
				}
		table[i] = 0;
		s->give(s->ctx, below);
		return;
	}
	s->give(s->ctx, table);
	s->root = NULL;
}

bool
hal_space_destroy(struct hal_space *s)
{
	give_one(s, s->root, LEVELS - 1);
	return s->root == NULL;
}

/* The entry that maps addr, and its level; NULL if there is none. */
static uint64_t *
find_leaf(const struct hal_space *s, uintptr_t addr, int *level)
{
	uint64_t *table = s->root;

	if (addr < s->first || addr >= s->limit)
		return NULL;
	for (*level = LEVELS - 1; *level >= 0; (*level)--) {
		uint64_t *e = &table[index_of(addr, *level)];

		if (!(*e & VALID))
			return NULL;
		if (*e & PROT)
			return e;
		table = table_at(*e);
	}
	return NULL;
}

/*
 * The entry of addr at a level, with the tables above it made if `make`; NULL: no memory, or no
 * table. *blocked: a large page is there.
 */
static uint64_t *
find_entry(struct hal_space *s, uintptr_t addr, int level, bool *blocked)
{
	uint64_t *table = s->root;

	*blocked = false;
	for (int l = LEVELS - 1; l > level; l--) {
		uint64_t *e = &table[index_of(addr, l)];

		if ((*e & VALID) && (*e & PROT)) {
			*blocked = true;
			return NULL;
		}
		if (!(*e & VALID)) {
			void *page = s->take(s->ctx);

			if (page == NULL)
				return NULL;
			*e = (uintptr_t)page | VALID;
		}
		table = table_at(*e);
	}
	return &table[index_of(addr, level)];
}

static bool
range_ok(const struct hal_space *s, uintptr_t addr, size_t count, size_t page)
{
	return addr % page == 0 && addr >= s->first && addr < s->limit &&
		count <= (s->limit - addr) / page;
}

static bool
table_is_empty(const uint64_t *table)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		if (table[i] & VALID)
			return false;
	return true;
}

/* Give back the tables on the way to addr that hold nothing. */
static void
prune(struct hal_space *s, uintptr_t addr)
{
	uint64_t *way[LEVELS] = {NULL, NULL, s->root};
	int level = LEVELS - 1;

	while (level > 0) {
		uint64_t e = way[level][index_of(addr, level)];

		if (!(e & VALID) || (e & PROT))
			break;
		way[--level] = table_at(e);
	}
	for (; level < LEVELS - 1 && table_is_empty(way[level]); level++) {
		way[level + 1][index_of(addr, level + 1)] = 0;
		s->give(s->ctx, way[level]);
	}
}

/* Remove what maps `count` small pages, all of which may be missing. */
static void
clear(struct hal_space *s, uintptr_t addr, size_t count)
{
	uintptr_t end = addr + count * HAL_PAGE_BYTES;
	int level;

	while (addr < end) {
		uint64_t *e = find_leaf(s, addr, &level);

		if (e != NULL)
			*e = 0;
		prune(s, addr);
		addr += e != NULL && level == 1 ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
	}
}

/* Make the tables for pages of this size, if nothing is mapped there. */
static int
make_room(struct hal_space *s, uintptr_t addr, size_t count, int level)
{
	size_t page = level == 1 ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;

	for (size_t i = 0; i < count; i++) {
		bool blocked;
		uint64_t *e = find_entry(s, addr + i * page, level, &blocked);

		if (e != NULL && !(*e & VALID))
			continue;
		for (size_t j = 0; j <= i; j++)
			prune(s, addr + j * page);
		return e == NULL && !blocked ? -E_NOMEM : -E_EXIST;
	}
	return 0;
}

int
hal_map(struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, int prot)
{
	size_t page = page_bytes(prot);
	int level = leaf_level(prot), error;
	bool blocked;

	if (!range_ok(s, addr, count, page) || paddr % page != 0)
		return -E_INVAL;
	error = make_room(s, addr, count, level);
	if (error != 0)
		return error;
	coro_op(OP_POINT, __FILE__, __LINE__, 0);	/* other cores see each change of a table */
	for (size_t i = 0; i < count; i++)
		*find_entry(s, addr + i * page, level, &blocked) = (paddr + i * page) | VALID |
			LEAF | (unsigned)(prot | HAL_MAY(prot & RIGHTS));
	return 0;
}

/* Is every page of the range mapped, and no large page cut by its ends? */
static bool
all_mapped(struct hal_space *s, uintptr_t addr, size_t count)
{
	uintptr_t end = addr + count * HAL_PAGE_BYTES;
	int level;

	if (!range_ok(s, addr, count, HAL_PAGE_BYTES))
		return false;
	while (addr < end) {
		if (find_leaf(s, addr, &level) == NULL)
			return false;
		if (level == 1 && (addr % HAL_LARGE_BYTES != 0 || end - addr < HAL_LARGE_BYTES))
			return false;
		addr += level == 1 ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
	}
	return true;
}

int
hal_unmap_ready(struct hal_space *s, uintptr_t addr, size_t count)
{
	(void)s;
	(void)addr;
	(void)count;
	return 0;
}

int
hal_unmap(struct hal_space *s, uintptr_t addr, size_t count)
{
	if (!all_mapped(s, addr, count))
		return -E_INVAL;
	coro_op(OP_POINT, __FILE__, __LINE__, 0);
	clear(s, addr, count);
	return 0;
}

int
hal_protect(struct hal_space *s, uintptr_t addr, size_t count, int prot)
{
	uintptr_t end = addr + count * HAL_PAGE_BYTES;
	int level;

	prot &= RIGHTS;
	if (!all_mapped(s, addr, count))
		return -E_INVAL;
	for (uintptr_t a = addr; a < end; a += level == 1 ? HAL_LARGE_BYTES : HAL_PAGE_BYTES)
		if (HAL_MAY(prot) & ~*find_leaf(s, a, &level))
			return -E_ACCES;
	for (; addr < end; addr += level == 1 ? HAL_LARGE_BYTES : HAL_PAGE_BYTES) {
		uint64_t *e = find_leaf(s, addr, &level);

		*e = (*e & ~(uint64_t)RIGHTS) | (unsigned)prot;
	}
	return 0;
}

int
hal_remap(struct hal_space *s, uintptr_t addr, uint64_t was, uint64_t paddr, int prot)
{
	int level;
	uint64_t *e = find_leaf(s, addr, &level);

	if (e == NULL || level != 0 || (*e & PAGE_WRITE) != 0 || (*e & ADDRESS) != was)
		return -E_EXIST;
	coro_op(OP_POINT, __FILE__, __LINE__, 0);
	*e = paddr | VALID | (*e & PROT & ~(uint64_t)(RIGHTS | PAGE_LARGE)) |
		(unsigned)(prot & RIGHTS);
	return 0;
}

int
hal_split(struct hal_space *s, uintptr_t addr)
{
	int level;
	uint64_t *e = find_leaf(s, addr, &level), *table;

	if (e == NULL || level != 1)
		return -E_INVAL;
	table = s->take(s->ctx);
	if (table == NULL)
		return -E_NOMEM;
	for (unsigned i = 0; i < ENTRIES; i++)
		table[i] = (*e & ~(uint64_t)PAGE_LARGE) + i * HAL_PAGE_BYTES;
	coro_op(OP_POINT, __FILE__, __LINE__, 0);
	*e = (uintptr_t)table | VALID;
	return 0;
}

int
hal_join(struct hal_space *s, uintptr_t addr)
{
	int level;
	bool blocked;
	uint64_t *first = find_leaf(s, addr, &level);

	if (first == NULL || level != 0 || addr % HAL_LARGE_BYTES != 0 ||
		(*first & ADDRESS) % HAL_LARGE_BYTES != 0)
		return -E_INVAL;
	for (unsigned i = 1; i < ENTRIES; i++)
		if (first[i] != first[0] + i * HAL_PAGE_BYTES)
			return -E_INVAL;
	coro_op(OP_POINT, __FILE__, __LINE__, 0);
	*find_entry(s, addr, 1, &blocked) = *first | PAGE_LARGE;
	s->give(s->ctx, first);
	return 0;
}

int
hal_query(struct hal_space *s, uintptr_t addr, uint64_t *paddr, int *prot)
{
	int level;
	uint64_t *e = find_leaf(s, addr, &level);

	if (e == NULL)
		return -E_INVAL;
	*paddr = *e & ADDRESS;
	*prot = (int)(*e & PROT & ~(uint64_t)LEAF);
	return 0;
}

size_t
hal_query_run(struct hal_space *s, uintptr_t addr, size_t count, int alike, uint64_t *paddr,
	int *prot)
{
	return query_each(s, addr, count, alike, paddr, prot);
}

int
hal_share(struct hal_space *s, uintptr_t addr, size_t count, struct hal_space *to, uintptr_t at)
{
	return share_each(s, addr, count, to, at);
}

size_t
hal_hole(const struct hal_space *s, uintptr_t addr, unsigned looks)
{
	int level;

	(void)looks;
	return find_leaf(s, addr, &level) == NULL ? HAL_PAGE_BYTES : 0;
}

static void
forget(void)
{
	memset(coro_now->tlb, 0, sizeof(coro_now->tlb));
	memset(coro_now->walked, 0, sizeof(coro_now->walked));
}

void
hal_space_use(struct hal_space *s)
{
	if (coro_now->space != s)
		forget();
	coro_now->space = s;
}

void
hal_zero_pages(void *kernel, size_t bytes)
{
	memset(kernel, 0, bytes);
}

void
hal_tlb_flush(void)
{
	coro_op(OP_POINT, __FILE__, __LINE__, 0);
	forget();
}

void
coro_user_memory(void *base, size_t len)
{
	struct coro_machine *m = &coro_machine;

	if (m->user_ranges == USER_RANGES_MAX)
		coro_fail("too many ranges of user memory");
	m->user[m->user_ranges].first = (uintptr_t)base;
	m->user[m->user_ranges++].limit = (uintptr_t)base + len;
}

static bool
is_host_memory(uintptr_t addr, size_t len)
{
	for (unsigned i = 0; i < coro_machine.user_ranges; i++)
		if (addr >= coro_machine.user[i].first && addr < coro_machine.user[i].limit)
			return len <= coro_machine.user[i].limit - addr;
	return false;
}

static void
move(char *user, char *host, size_t len, bool write)
{
	if (host == NULL)
		return;
	if (write)
		memcpy(user, host, len);
	else
		memcpy(host, user, len);
}

/* find_leaf, by way of a table that the core knows, if there is one. */
static uint64_t *
walk_to(struct hal_space *s, uintptr_t addr, int *level)
{
	uintptr_t at = addr & ~(uintptr_t)(HAL_LARGE_BYTES - 1);
	uint64_t *e;

	for (unsigned i = 0; i < WALKED; i++) {
		struct walked *w = &coro_now->walked[i];

		if (w->table == NULL || w->at != at)
			continue;
		e = &w->table[index_of(addr, 0)];
		*level = 0;
		return (*e & VALID) && (*e & PROT) ? e : NULL;
	}
	e = find_leaf(s, addr, level);
	if (e != NULL && *level == 0)
		coro_now->walked[coro_now->walked_next++ % WALKED] =
			(struct walked){at, e - index_of(addr, 0)};
	return e;
}

/*
 * What the page table says now, remembered in place of the oldest translation. NULL: not with this
 * right.
 */
static struct translation *
walk(uintptr_t addr, uint64_t right)
{
	struct translation *t = &coro_now->tlb[coro_now->tlb_next++ % TRANSLATIONS];
	int level;
	uint64_t *e = coro_now->space == NULL ? NULL : walk_to(coro_now->space, addr, &level);

	if (e == NULL || !(*e & right))
		return NULL;
	t->bytes = level == 1 ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
	t->page = addr & ~(uintptr_t)(t->bytes - 1);
	t->entry = *e;
	return t;
}

/*
 * What the core believes about addr, true or not; a right that it does not know of is looked up.
 * NULL: none.
 */
static struct translation *
translate(uintptr_t addr, uint64_t right)
{
	for (unsigned i = 0; i < TRANSLATIONS; i++) {
		struct translation *t = &coro_now->tlb[i];

		if (t->entry == 0 || addr - t->page >= t->bytes)
			continue;
		if (t->entry & right)
			return t;
		t->entry = 0;
	}
	return walk(addr, right);
}

/*
 * Copy between user and kernel, page by page; -E_FAULT at the first page without the right. No host
 * memory: only look whether it would do.
 */
int
coro_user_access(uintptr_t addr, void *host, size_t len, bool write)
{
	if (is_host_memory(addr, len)) {
		move((char *)addr, host, len, write);
		return 0;
	}
	while (len > 0) {
		struct translation *t = translate(addr, write ? PAGE_WRITE : PAGE_READ);
		size_t rest, part;

		if (t == NULL) {
			coro_now->unreached =
				(struct hal_trap){.kind = TRAP_FAULT, .cause = CRASH_ACCESS,
				.write = write, .addr = addr};
			return -E_FAULT;
		}
		rest = t->bytes - (addr - t->page);
		part = rest < len ? rest : len;
		move((char *)hal_kaddr(t->entry & ADDRESS) + (addr - t->page), host, part, write);
		addr += part;
		host = host == NULL ? NULL : (char *)host + part;
		len -= part;
	}
	return 0;
}
