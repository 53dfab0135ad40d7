/* SPDX-License-Identifier: MIT
 *
 * See names_local.h.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <base/str.h>
#include <servers/name/cache.h>
#include <servers/proc/names_local.h>

#define LOCAL_LEAST 64			/* names of this cluster */
#define CACHE_BYTES 16384		/* of the table, where there is memory for that */
#define CACHE_PART 512			/* of the cluster's free memory */
#define MS 1000000ull

static struct {
	struct local_name *name;	/* NULL: nobody has asked for anything yet */
	uint32_t count;
	uint32_t leaving;		/* that the name server does not know of yet */
} local;

static struct {
	struct name_cache *at;
	uint32_t pages;
	int view;			/* what programs get */
} cache;

/* --- memory --- */

static long
make_cache(uint64_t page)
{
	uint64_t bytes = part_share_of_memory(CACHE_PART, page), addr = 0;
	long memory, result;

	bytes = bytes > CACHE_BYTES ? CACHE_BYTES : bytes < page ? page : bytes;
	cache.pages = (uint32_t)(bytes / page);
	memory = result = kmemory_create((int)cache.pages);
	if (result >= 0)
		result = cache.view = (int)khandle_duplicate((int)memory, SELF, RIGHT_READ |
			RIGHT_GRANT);
	if (result >= 0)
		result = kmem_alloc(SELF, cache.pages * page, 0, &addr);
	if (result >= 0)
		result = kpage_map(SELF, addr, (int)memory, 0, (int)cache.pages, PAGE_READ |
			PAGE_WRITE);
	if (memory >= 0)
		khandle_close((int)memory);
	if (result < 0)
		return result;
	cache.at = (struct name_cache *)(uintptr_t)addr;
	name_cache_begin(cache.at, cache.pages * (uint32_t)page);
	return 0;
}

int
local_begin(const struct agent *a)
{
	uint64_t addr;
	long result = 0;

	if (local.name != NULL)
		return 0;
	if (!a->has_names)
		return -E_NOENT;
	if (cache.at == NULL)
		result = make_cache(a->here.page_bytes);
	local.count = 2 * a->here.mailbox_ports;
	if (local.count < LOCAL_LEAST)
		local.count = LOCAL_LEAST;
	if (result == 0)
		result = kmem_alloc(SELF, local.count * sizeof(*local.name), PAGE_READ |
			PAGE_WRITE, &addr);
	if (result < 0)
		return (int)result;
	local.name = (struct local_name *)(uintptr_t)addr;
	return 0;
}

/* --- the table that programs read --- */

void
known_put(const char *name, const struct name_place *place)
{
	struct name_key key;

	if (name_key_make(&key, name))
		name_cache_put(cache.at, &key, place);
}

void
known_drop(const char *name)
{
	struct name_key key;

	if (name_key_make(&key, name))
		name_cache_drop(cache.at, &key);
}

void
known_drop_all(void)
{
	if (cache.at != NULL)
		name_cache_drop_all(cache.at);
}

bool
known_find(const char *name, struct name_place *place)
{
	struct name_key key;

	return name_key_make(&key, name) && name_cache_find(cache.at, &key, place);
}

long
known_lend(int proc, uint32_t *pages)
{
	*pages = cache.pages;
	return khandle_duplicate(cache.view, proc, RIGHT_READ);
}

uint16_t
known_hash(const char *name)
{
	struct name_key key = {0};

	name_key_make(&key, name);
	return (uint16_t)key.hash;
}

/* --- the names of this cluster --- */

static struct local_name *
end_of_names(void)
{
	return local.name != NULL ? local.name + local.count : NULL;
}

struct local_name *
local_find(const char *name)
{
	for (struct local_name *l = local.name; l < end_of_names(); l++)
		if (l->state != LOCAL_FREE && str_is_equal(l->name, name))
			return l;
	return NULL;
}

struct local_name *
local_add(const char *name)
{
	for (struct local_name *l = local.name; l < end_of_names(); l++)
		if (l->state == LOCAL_FREE) {
			str_copy(l->name, sizeof(l->name), name);
			return l;
		}
	return NULL;
}

void
local_beat(struct local_name *l, uint64_t now)
{
	l->until = now + l->period * MS;
}

uint32_t
local_beat_all(uint32_t badge, uint64_t now)
{
	uint32_t n = 0;

	for (struct local_name *l = local.name; l < end_of_names(); l++)
		if (l->state == LOCAL_LINKED && l->period > 0 && l->badge == badge) {
			local_beat(l, now);
			n++;
		}
	return n;
}

void
local_leave(struct local_name *l)
{
	known_drop(l->name);
	l->state = LOCAL_LEAVING;
	local.leaving++;
}

void
local_forget(uint32_t badge)
{
	for (struct local_name *l = local.name; l < end_of_names(); l++) {
		if (l->badge != badge)
			continue;
		if (l->state == LOCAL_LINKED)
			local_leave(l);
		else if (l->state == LOCAL_LINKING)
			l->state = LOCAL_OVER;
	}
}

uint64_t
local_look_at_beats(uint64_t now)
{
	uint64_t next = FOREVER;

	for (struct local_name *l = local.name; l < end_of_names(); l++) {
		if (l->state != LOCAL_LINKED || l->period == 0)
			continue;
		if (l->until <= now)
			local_leave(l);
		else if (l->until < next)
			next = l->until;
	}
	return next;
}

struct local_name *
local_leaving(void)
{
	if (local.leaving == 0)
		return NULL;
	for (struct local_name *l = local.name; l < end_of_names(); l++)
		if (l->state == LOCAL_LEAVING)
			return l;
	return NULL;
}

void
local_told(void)
{
	local.leaving--;
}

bool
local_is_settled(void)
{
	for (struct local_name *l = local.name; l < end_of_names(); l++)
		if (l->state == LOCAL_OVER)
			return false;
	return local.leaving == 0;
}

void
local_begin_anew(void)
{
	for (struct local_name *l = local.name; l < end_of_names(); l++)
		if (l->state != LOCAL_LINKED)
			l->state = LOCAL_FREE;
	local.leaving = 0;
}

const struct local_name *
local_linked(uint32_t *at)
{
	while (local.name + *at < end_of_names() && local.name[*at].state != LOCAL_LINKED)
		++*at;
	return local.name + *at < end_of_names() ? &local.name[*at] : NULL;
}
