/* SPDX-License-Identifier: MIT
 *
 * Files in memory. MAP_SHARED: the file server says by which key the process server of this cluster
 * knows the contents (FILE_SHARE), and that gives handles of them. MAP_PRIVATE: a copy, made at
 * once. What lies behind the end of the file, beyond its last page, can be touched by nobody until
 * the file, which is shared, has grown. Called with the descriptors' lock held.
 */
#include <atoll/server.h>
#include <servers/proc/client.h>
#include <user/personality/files.h>
#include <user/personality/line.h>
#include <user/personality/process.h>

#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_SHARED_VALIDATE 3
#define MAP_KIND 15
#define MAP_FIXED 0x10
#define LINUX_PROT_WRITE 2

/* What is to be mapped. */
struct mapping {
	uint64_t addr;
	uint64_t pages;
	uint64_t first;			/* page of the file */
	int prot;
	bool may_write;			/* also later, by mprotect */
};

/* Memory of the cluster's, as much of it as lies together: how many pages. */
static long
map_part(struct channel *ch, uint64_t key, const struct mapping *m, uint64_t done)
{
	const struct process_memory ask = {.op = PROCESS_MEMORY_MAP, .key = key,
		.args = (uint32_t)(m->first + done), .envs = m->may_write};
	uint64_t left = m->pages - done;
	struct process_reply r;
	long result = process_memory(ch, &ask, &r);
	int pages;

	if (result < 0)
		return result;
	pages = (uint64_t)r.parent < left ? r.parent : (int)left;
	result = kpage_map(SELF, m->addr + done * personality_info.page_bytes, r.handle, r.pid,
		pages, m->prot);
	khandle_close(r.handle);
	return result < 0 ? result : pages;
}

static long
map_parts(uint64_t key, const struct mapping *m)
{
	int line;
	struct channel *ch = process_line(&line);
	long result = ch == NULL ? line : 0;

	for (uint64_t done = 0; done < m->pages && result >= 0; done += (uint64_t)result)
		result = map_part(ch, key, m, done);
	if (ch != NULL)
		process_line_back(line);
	return result < 0 ? result : 0;
}

static void
say_why_not(void)
{
	static uint32_t said;

	if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0)
		line_say_text("atoll: mmap() fails: the file is memory of another cluster\n");
}

/* So many of the file's pages there are; key 0: of a copy. */
static void
end_behind(const struct mapping *m, uint64_t there, uint64_t key)
{
	uint64_t page = personality_info.page_bytes, done = there > m->first ? there - m->first : 0;
	const struct file_end e = {.key = key, .shift = (uint32_t)(m->addr / page - m->first),
		.prot = (uint32_t)m->prot};

	if (done < m->pages)
		memory_end_file(m->addr + done * page, (m->pages - done) * page, &e);
}

bool
mapped_reach(uint64_t addr, uint32_t right)
{
	uint32_t page = (uint32_t)(addr / personality_info.page_bytes);
	struct space_area a = memory_area(addr);
	const struct file_end *e = &kept.file_end[(a.behind - 1) & SPACE_FILES];
	struct file_request q = {.op = FILE_SHARED, .handle = (uint32_t)e->key, .offset = e->key};
	struct file_reply r;

	return (e->prot & right) != 0 && e->key != 0 && files_ask(&q, &r) == 0 &&
		memory_grow_file(page, r.count + e->shift);
}

static __attribute__((noinline)) long
map_shared(const struct handler_event *c, const struct opened *o, struct mapping *m)
{
	uint64_t bytes = m->pages * personality_info.page_bytes;
	struct file_request q = {.op = FILE_SHARE, .handle = o->handle,
		.offset = (m->first + m->pages) * personality_info.page_bytes};
	struct file_reply r;
	long result = files_ask(&q, &r);

	if (result == -LINUX_ENODEV)
		say_why_not();
	if (result == 0)
		result = memory_place(c, 0, &m->addr);
	if (result < 0)
		return result;
	result = map_parts(r.value, m);
	if (result < 0)
		kpage_unmap(SELF, m->addr, (int)m->pages);
	else
		memory_note(m->addr, bytes, true);
	if (result >= 0)
		end_behind(m, r.count, r.value);
	return result;
}

static __attribute__((noinline)) long
map_copy(const struct handler_event *c, const struct opened *o, struct mapping *m)
{
	uint64_t bytes = m->pages * personality_info.page_bytes;
	long result = memory_place(c, PAGE_READ | PAGE_WRITE, &m->addr), count;

	if (result < 0)
		return result == -E_EXIST ? result : -E_NOMEM;
	count = files_read(o, m->first * personality_info.page_bytes, (char *)m->addr, bytes);
	result = count < 0 ? count : 0;
	if (result >= 0 && m->prot != (PAGE_READ | PAGE_WRITE))
		result = kpage_protect(SELF, m->addr, (int)m->pages, m->prot);
	if (result < 0)
		kpage_unmap(SELF, m->addr, (int)m->pages);
	else
		memory_note(m->addr, bytes, false);
	if (result >= 0)
		end_behind(m, m->first + ((uint64_t)count + personality_info.page_bytes - 1) /
			personality_info.page_bytes, 0);
	return result;
}

static int
check_file(const struct handler_event *c, const struct opened *o)
{
	bool is_shared = (arg(c, 3) & MAP_SHARED) != 0;

	if (arg(c, 1) == 0 || arg(c, 1) > 1ul << 40)
		return arg(c, 1) == 0 ? -E_INVAL : -E_NOMEM;
	if ((arg(c, 3) & MAP_KIND) == 0 || (arg(c, 3) & MAP_KIND) > MAP_SHARED_VALIDATE)
		return -E_INVAL;
	if ((o->flags & OPENED_READ) == 0 || (is_shared && (o->flags & OPENED_WRITE) == 0 &&
		(arg(c, 2) & LINUX_PROT_WRITE) != 0))
		return -E_ACCES;
	if (o->kind != OPENED_FILE)
		return -LINUX_ENODEV;
	return (arg(c, 3) & MAP_FIXED) != 0 && arg(c, 0) % personality_info.page_bytes != 0 ?
		-E_INVAL : 0;
}

long
mapped_mmap(const struct handler_event *c)
{
	struct opened stream, *o = files_find(c, arg(c, 4), &stream);
	uint64_t page = personality_info.page_bytes;
	struct mapping m = {.pages = (arg(c, 1) + page - 1) / page, .first = arg(c, 5) / page,
		.prot = memory_prot(arg(c, 2))};
	long result;

	if (arg(c, 5) % page != 0)
		return -E_INVAL;
	if ((int32_t)arg(c, 4) < 0 || o == NULL)
		return -E_BADF;
	result = check_file(c, o);
	if (result != 0)
		return result;
	if (!memory_is_allowed(c, arg(c, 1)))
		return -E_NOMEM;
	m.may_write = (o->flags & OPENED_WRITE) != 0;
	result = (arg(c, 3) & MAP_SHARED) != 0 ? map_shared(c, o, &m) : map_copy(c, o, &m);
	return result < 0 ? result : (long)m.addr;
}
