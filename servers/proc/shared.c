/* SPDX-License-Identifier: MIT
 *
 * See shared.h. Such memory is a few memory objects, each at least as large as all before it, so
 * that it can grow; this server has all of them mapped. Those who have mapped it keep its frames
 * when it ends here. What is lent is lent through a view, so that it can be taken back. When the
 * file server ends, its memory stays until the next one has claimed what it still knows.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <base/str.h>
#include <servers/proc/limits.h>
#include <servers/proc/shared.h>

#define MEMORIES 64
#define CHUNKS 12
#define PAGES_MAX 4096			/* of all of it */
#define KEEP_PART 8			/* of the cluster's memory that is left to others */
#define SHORT_PART 4			/* with less what is free is not kept for anybody */
#define GONE UINT32_MAX			/* as a client: it has ended */

struct chunk {
	int memory;			/* handle */
	uint32_t pages;
	uint64_t addr;
};

static struct memory {
	uint64_t key;			/* 0: free */
	uint32_t client;		/* the file server that has it, and where that is */
	uint32_t home;
	uint32_t pages;
	uint32_t job;			/* whose limit counts it; 0: nobody's */
	uint32_t chunks;
	int view;			/* handle through which it is lent; 0: it never was */
	struct chunk chunk[CHUNKS];
} *memories;

static uint32_t pages_used;
static uint32_t page_bytes;

/* The first one with a key; 0: that is free. NULL: there is none. */
static struct memory *
memory_find(uint64_t key)
{
	for (uint32_t i = 0; memories != NULL && i < MEMORIES; i++)
		if (memories[i].key == key)
			return &memories[i];
	return NULL;
}

static int
shared_begin(void)
{
	struct cluster_info here;
	uint64_t addr;
	long result;

	if (memories != NULL)
		return 0;
	kcluster_info(&here);
	page_bytes = here.page_bytes;
	result = kmem_alloc(SELF, MEMORIES * sizeof(*memories), PAGE_READ | PAGE_WRITE, &addr);
	if (result >= 0)
		memories = (struct memory *)(uintptr_t)addr;
	return (int)result;
}

static bool
has_memory(const struct memory *m, uint32_t pages)
{
	uint64_t free = 0, total = 0;

	kstats(STATS_FRAMES_FREE, &free);
	kstats(STATS_FRAMES_TOTAL, &total);
	return pages <= PAGES_MAX - pages_used && free >= total / KEEP_PART + pages &&
		pages <= limits_pages(m->job);
}

static int
chunk_make(struct chunk *c, uint32_t pages)
{
	long memory = kmemory_create((int)pages), result;

	if (memory < 0)
		return (int)memory;
	*c = (struct chunk){.memory = (int)memory, .pages = pages};
	result = kmem_alloc(SELF, (uint64_t)pages * page_bytes, 0, &c->addr);
	if (result >= 0) {
		result = kpage_map(SELF, c->addr, c->memory, 0, (int)pages,
			PAGE_READ | PAGE_WRITE);
		if (result < 0)
			kpage_unmap(SELF, c->addr, (int)pages);
	}
	if (result < 0)
		khandle_close(c->memory);
	return (int)result;
}

/* It has so many pages at least. */
static int
memory_grow(struct memory *m, uint32_t pages)
{
	uint32_t more = pages > m->pages ? pages - m->pages : 0;
	int result;

	if (more == 0)
		return 0;
	if (more < m->pages && has_memory(m, m->pages))
		more = m->pages;
	if (m->chunks == CHUNKS || pages > PAGES_MAX || !has_memory(m, more))
		return -E_NOMEM;
	result = chunk_make(&m->chunk[m->chunks], more);
	if (result < 0)
		return result;
	m->chunks++;
	m->pages += more;
	pages_used += more;
	return 0;
}

static int
serve_make(const struct shared_asked *s)
{
	const struct process_request *q = s->q;
	struct memory *m = memory_find(q->told);
	int result = q->told == 0 ? -E_INVAL : shared_begin();

	if (result < 0)
		return result;
	if (m == NULL)
		m = memory_find(0);
	if (m == NULL)
		return -E_NOMEM;
	if (m->key == 0)
		m->job = s->job;
	result = memory_grow(m, q->args);
	if (result == 0) {
		m->key = q->told;
		m->client = s->client;
		m->home = s->home;
		limits_divide(0);
	}
	return result;
}

static void
memory_end(struct memory *m)
{
	if (m->view != 0)
		khandle_close(m->view);
	for (uint32_t i = 0; i < m->chunks; i++) {
		kpage_unmap(SELF, m->chunk[i].addr, (int)m->chunk[i].pages);
		khandle_close(m->chunk[i].memory);
	}
	pages_used -= m->pages;
	*m = (struct memory){0};
	limits_divide(0);
}

/* The chunk that has a page, whose number becomes that in the chunk. */
static const struct chunk *
chunk_of(const struct memory *m, uint32_t *page)
{
	const struct chunk *c = m->chunk;

	while (*page >= c->pages) {
		*page -= c->pages;
		c++;
	}
	return c;
}

/* Bytes that lie together from `offset` on, up to `len`: where, and how many. */
static unsigned char *
piece(const struct memory *m, uint32_t offset, uint32_t *len)
{
	uint32_t page = offset / page_bytes;
	const struct chunk *c = chunk_of(m, &page);
	uint32_t at = page * page_bytes + offset % page_bytes;
	uint32_t room = c->pages * page_bytes - at;

	*len = *len < room ? *len : room;
	return (unsigned char *)(uintptr_t)c->addr + at;
}

/* Read, write or clear `envs` bytes at `args`. */
static int
memory_move(const struct memory *m, const struct shared_asked *s, unsigned char *out)
{
	uint32_t offset = s->q->args, len = s->q->envs, n;
	uint64_t bytes = (uint64_t)m->pages * page_bytes;

	if (offset > bytes || len > bytes - offset)
		return -E_INVAL;
	if (s->q->flags == PROCESS_MEMORY_READ ? len > PROCESS_MEMORY_BYTES :
		s->q->flags == PROCESS_MEMORY_WRITE && len > s->bytes)
		return -E_INVAL;
	for (uint32_t done = 0; done < len; done += n) {
		unsigned char *at;

		n = len - done;
		at = piece(m, offset + done, &n);
		if (s->q->flags == PROCESS_MEMORY_READ)
			memcpy(out + done, at, n);
		else if (s->q->flags == PROCESS_MEMORY_WRITE)
			memcpy(at, (const char *)s->data + done, n);
		else
			memset(at, 0, n);
	}
	return 0;
}

/* A handle of the memory that has page `args`, which is page `pid` there, and `ranks` follow. */
static int
serve_map(const struct memory *m, const struct shared_asked *s, struct process_reply *r)
{
	uint32_t page = s->q->args, rights = RIGHT_READ | (s->q->envs != 0 ? RIGHT_WRITE : 0);
	const struct chunk *c;
	long result;

	if (s->proc < 0 || page >= m->pages)
		return s->proc < 0 ? -E_NOSYS : -E_INVAL;
	c = chunk_of(m, &page);
	result = khandle_duplicate(c->memory, s->proc, rights);
	r->handle = (int32_t)result;
	r->pid = (int32_t)page;
	r->parent = (int32_t)(c->pages - page);
	return result < 0 ? (int)result : 0;
}

static int
serve_lend(struct memory *m, int to, struct process_reply *r)
{
	long result = m->view;

	if (to < 0 || m->chunks != 1)
		return to < 0 ? -E_SRCH : -E_INVAL;
	if (result == 0)
		result = khandle_duplicate(m->chunk[0].memory, SELF, HANDLE_VIEW | RIGHT_READ |
			RIGHT_WRITE | RIGHT_GRANT | RIGHT_REVOKE);
	if (result < 0)
		return (int)result;
	m->view = (int)result;
	result = khandle_duplicate(m->view, to, RIGHT_READ | RIGHT_WRITE);
	r->handle = (int32_t)result;
	return result < 0 ? (int)result : 0;
}

/* It ends when no core can reach it through the view any more. */
static int
serve_revoke(const struct memory *m, bool comes_back, struct process_reply *r)
{
	uint64_t free = 0, total = 0;

	if (comes_back) {
		kstats(STATS_FRAMES_FREE, &free);
		kstats(STATS_FRAMES_TOTAL, &total);
	}
	r->handle = free < total / SHORT_PART;
	return m->view != 0 ? (int)khandle_revoke(m->view) : 0;
}

static int
serve_claim(uint64_t key, uint32_t client, uint32_t home)
{
	struct memory *claimed = key != 0 ? memory_find(key) : NULL;

	if (claimed != NULL)
		claimed->client = client;
	for (struct memory *m = memories; key == 0 && m != NULL && m < memories + MEMORIES; m++)
		if (m->key != 0 && m->home == home && m->client != client)
			memory_end(m);
	return key != 0 && claimed == NULL ? -E_NOENT : 0;
}

uint32_t
shared_pages(uint32_t job)
{
	uint32_t n = 0;

	for (const struct memory *m = memories; m != NULL && m < memories + MEMORIES; m++)
		n += m->key != 0 && m->job == job ? m->pages : 0;
	return n;
}

int
shared_serve(const struct shared_asked *s, struct process_reply *r, void *out,
	uint32_t *out_bytes)
{
	struct memory *m = s->q->told != 0 ? memory_find(s->q->told) : NULL;
	int result;

	if (s->q->flags == PROCESS_MEMORY_MAP)
		return m == NULL ? -E_NOENT : serve_map(m, s, r);
	if (!s->is_server)
		return -E_ACCES;
	if (s->q->flags == PROCESS_MEMORY_MAKE)
		return serve_make(s);
	if (s->q->flags == PROCESS_MEMORY_CLAIM)
		return serve_claim(s->q->told, s->client, s->home);
	if (m == NULL || s->q->flags > PROCESS_MEMORY_REVOKE)
		return m == NULL ? -E_NOENT : -E_INVAL;
	if (s->q->flags == PROCESS_MEMORY_LEND)
		return serve_lend(m, s->to, r);
	if (s->q->flags == PROCESS_MEMORY_REVOKE)
		return serve_revoke(m, s->q->envs != 0, r);
	if (s->q->flags == PROCESS_MEMORY_END) {
		serve_revoke(m, false, r);
		memory_end(m);
		return 0;
	}
	result = memory_move(m, s, out);
	if (result == 0 && s->q->flags == PROCESS_MEMORY_READ)
		*out_bytes = s->q->envs;
	return result;
}

void
shared_client_gone(uint32_t client)
{
	for (struct memory *m = memories; m != NULL && m < memories + MEMORIES; m++)
		if (m->key != 0 && m->client == client)
			m->client = GONE;
}
