/* SPDX-License-Identifier: MIT
 *
 * See files.h.
 */
#include <atoll/service.h>
#include <base/str.h>
#include <servers/file/client.h>
#include <user/personality/files.h>

#define MOVE_MAX 0x7ffff000ull	/* bytes in one call, as in Linux */

struct slot {
	int16_t rank;
	uint16_t fd;
	uint16_t opened;	/* number + 1; 0: free */
	uint16_t reserved;
};

/* One page. */
struct table {
	struct opened opened[OPENED_MAX];
	struct slot slot[SLOTS_MAX];
};

_Static_assert(sizeof(struct table) <= 4096, "a page");

static struct {
	uint32_t lock;		/* 0 free, 1 taken, 2 taken and somebody waits */
	bool is_open;		/* the channel to the server */
	struct channel channel;
	struct table *table;
} files;

void
files_lock(void)
{
	uint32_t free = 0;

	if (__atomic_compare_exchange_n(&files.lock, &free, 1, false, __ATOMIC_ACQUIRE,
		__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&files.lock, 2, __ATOMIC_ACQUIRE) != 0)
		kfutex_wait((unsigned long)&files.lock, 2, FOREVER);
}

void
files_unlock(void)
{
	if (__atomic_exchange_n(&files.lock, 0, __ATOMIC_RELEASE) == 2)
		kfutex_wake((unsigned long)&files.lock, 1);
}

static int
rank_of(const struct handler_event *c)
{
	const struct thread_record *r = thread_record(c);

	return r->borrowed != 0 ? thread_child_rank(r) : r->rank;
}

static struct slot *
slot_of(int rank, unsigned long fd)
{
	struct slot *s = files.table != NULL ? files.table->slot : NULL;

	for (int i = 0; s != NULL && i < SLOTS_MAX; i++)
		if (s[i].opened != 0 && s[i].rank == rank && s[i].fd == fd)
			return &s[i];
	return NULL;
}

struct opened *
files_find(const struct handler_event *c, unsigned long fd, struct opened *stream)
{
	const struct slot *s = fd < FD_LIMIT ? slot_of(rank_of(c), fd) : NULL;

	if (s != NULL)
		return &files.table->opened[s->opened - 1];
	if (fd >= FD_FIRST)
		return NULL;
	*stream = (struct opened){.kind = OPENED_STREAM, .handle = (uint32_t)fd, .refs = 1,
		.flags = fd == 0 ? OPENED_READ : OPENED_WRITE};
	return stream;
}

static bool
has_table(void)
{
	uint64_t addr;

	if (files.table == NULL && kmem_alloc(SELF, 4096, PAGE_READ | PAGE_WRITE, &addr) >= 0)
		files.table = (struct table *)addr;
	return files.table != NULL;
}

struct opened *
files_new(void)
{
	if (!has_table())
		return NULL;
	for (int i = 0; i < OPENED_MAX; i++)
		if (files.table->opened[i].kind == OPENED_NONE) {
			files.table->opened[i] = (struct opened){0};
			return &files.table->opened[i];
		}
	return NULL;
}

static void
release(struct opened *o)
{
	struct file_request q = {.op = FILE_CLOSE, .handle = o->handle};
	struct file_reply r;

	if (--o->refs > 0)
		return;
	if (o->kind != OPENED_STREAM)
		files_ask(&q, 0, &r);
	o->kind = OPENED_NONE;
}

int
files_attach(const struct handler_event *c, struct opened *o, long *fd, unsigned long low)
{
	int rank = rank_of(c);
	struct slot *s = NULL;

	if (*fd >= FD_LIMIT || low >= FD_LIMIT)
		return -E_BADF;
	if (*fd >= 0)
		files_detach(c, (unsigned long)*fd);
	for (int i = 0; i < SLOTS_MAX && s == NULL; i++)
		if (files.table->slot[i].opened == 0)
			s = &files.table->slot[i];
	if (s == NULL)
		return -E_MFILE;
	if (*fd < 0) {
		*fd = (long)(low < FD_FIRST ? FD_FIRST : low);
		while (*fd < FD_LIMIT && slot_of(rank, (unsigned long)*fd) != NULL)
			++*fd;
		if (*fd == FD_LIMIT)
			return -E_MFILE;
	}
	*s = (struct slot){(int16_t)rank, (uint16_t)*fd, (uint16_t)(o - files.table->opened + 1),
		0};
	o->refs++;
	return 0;
}

struct opened *
files_next(const struct handler_event *c, uint32_t *at, uint32_t *fd)
{
	int rank = rank_of(c);

	for (; files.table != NULL && *at < SLOTS_MAX; ++*at) {
		const struct slot *s = &files.table->slot[*at];

		if (s->opened == 0 || s->rank != rank)
			continue;
		*fd = s->fd;
		++*at;
		return &files.table->opened[s->opened - 1];
	}
	return NULL;
}

struct opened *
files_by_handle(uint8_t kind, uint32_t handle)
{
	for (int i = 0; files.table != NULL && i < OPENED_MAX; i++) {
		struct opened *o = &files.table->opened[i];

		if (o->kind != OPENED_NONE && o->handle == handle &&
			(o->kind == OPENED_STREAM) == (kind == OPENED_STREAM))
			return o;
	}
	return NULL;
}

/* One more descriptor for what another one stands for. */
static bool
lend_one(const struct slot *from, int child)
{
	for (int i = 0; i < SLOTS_MAX; i++) {
		struct slot *s = &files.table->slot[i];

		if (s->opened != 0)
			continue;
		*s = *from;
		s->rank = (int16_t)child;
		files.table->opened[s->opened - 1].refs++;
		return true;
	}
	return false;
}

int
files_lend(int rank, int child)
{
	bool is_done = true;

	files_lock();
	for (int i = 0; files.table != NULL && i < SLOTS_MAX && is_done; i++) {
		const struct slot *s = &files.table->slot[i];

		if (s->opened != 0 && s->rank == rank)
			is_done = lend_one(s, child);
	}
	files_unlock();
	if (!is_done)
		files_close_rank(child);
	return is_done ? 0 : -E_MFILE;
}

int
files_detach(const struct handler_event *c, unsigned long fd)
{
	struct slot *s = slot_of(rank_of(c), fd);

	if (s == NULL)
		return fd < FD_FIRST ? 0 : -E_BADF;
	release(&files.table->opened[s->opened - 1]);
	s->opened = 0;
	return 0;
}

void
files_close_rank(int rank)
{
	if (files.table == NULL)
		return;
	files_lock();
	for (int i = 0; i < SLOTS_MAX; i++) {
		struct slot *s = &files.table->slot[i];

		if (s->opened == 0 || s->rank != rank)
			continue;
		release(&files.table->opened[s->opened - 1]);
		s->opened = 0;
	}
	files_unlock();
}

static int
open_channel(void)
{
	static const struct service_kind kind = FILE_SERVICE;
	struct file f;
	int result;

	if (files.is_open)
		return 0;
	if (file_open(FILE_SERVER, &f) != 0)
		return -E_NOENT;
	result = service_open(&files.channel, &kind, PERSONALITY_BIT);
	files.is_open = result == 0;
	return result;
}

/*
 * One request, of a head and the bytes behind it, and its answer. Bytes behind the answer's head,
 * at most as many as there is room for; or a negative error.
 */
static int
call(const struct file_request *q, struct service_part data, struct file_reply *r,
	struct service_part room)
{
	const struct service_part request[2] = {{(void *)(uintptr_t)q, FILE_HEAD}, data};
	const struct service_part answer[2] = {{r, sizeof(*r)}, room};
	int result = open_channel();

	if (result == 0)
		result = service_call(&files.channel, request, answer);
	return result >= 0 && r->error != 0 ? r->error : result;
}

int
files_ask(const struct file_request *q, size_t bytes, struct file_reply *r)
{
	int result = call(q, (struct service_part){(void *)(uintptr_t)q->path, (uint32_t)bytes}, r,
		(struct service_part){NULL, 0});

	return result < 0 ? result : 0;
}

int
files_offer(const uint32_t *handles, uint32_t count, uint64_t *token)
{
	const struct file_request q = {.op = FILE_OFFER, .arg = count};
	struct file_reply r;
	int result = call(&q, (struct service_part){(void *)(uintptr_t)handles,
		count * (uint32_t)sizeof(*handles)}, &r, (struct service_part){NULL, 0});

	*token = r.value;
	return result < 0 ? result : 0;
}

int
files_claim(uint64_t token, struct file_claimed *claimed, uint32_t room)
{
	const struct file_request q = {.op = FILE_CLAIM, .offset = token};
	struct file_reply r;
	int result = call(&q, (struct service_part){NULL, 0}, &r,
		(struct service_part){claimed, room * (uint32_t)sizeof(*claimed)});

	return result < 0 ? result : result / (int)sizeof(*claimed);
}

int
files_list(const struct file_request *q, struct file_reply *r, char *name)
{
	int result = call(q, (struct service_part){NULL, 0}, r,
		(struct service_part){name, FILE_NAME_MAX + 1});

	name[FILE_NAME_MAX] = 0;
	return result < 0 ? result : 0;
}

/* Bytes that are moved, piece by piece. */
struct moving {
	struct file_request q;
	char *memory;
	uint64_t len, done;
	bool is_read;
};

/* One piece. Its bytes or a negative error; more than one piece is moved where the first began. */
static __attribute__((noinline)) long
move_piece(struct moving *m)
{
	uint64_t left = m->len - m->done;
	struct file_reply r = {0};
	struct service_part data;
	int result;

	m->q.arg = left < FILE_DATA_MAX ? (uint32_t)left : FILE_DATA_MAX;
	m->q.more = (uint32_t)(left - m->q.arg);
	data = (struct service_part){m->memory + m->done, m->q.arg};
	result = call(&m->q, m->is_read ? (struct service_part){NULL, 0} : data, &r,
		m->is_read ? data : (struct service_part){NULL, 0});
	if (result < 0)
		return result;
	if (r.count > m->q.arg)
		return -E_IO;
	m->q.offset = r.value + r.count;
	m->done += r.count;
	if (r.more < m->len - m->done)
		m->len = m->done + r.more;
	return (long)r.count;
}

/* The last piece was short: the offset, which has moved over what was to follow, is set back. */
static __attribute__((noinline)) void
set_back(struct moving *m)
{
	struct file_reply r;

	m->q.op = FILE_SEEK;
	m->q.arg = FILE_FROM_START;
	files_ask(&m->q, 0, &r);
}

static long
move_all(struct moving *m)
{
	bool is_shared = m->q.offset == FILE_AT_OFFSET;
	long result = 0;

	if (m->len > MOVE_MAX)
		m->len = MOVE_MAX;
	do {
		uint64_t before = m->done;

		result = move_piece(m);
		if (result < 0 && before == 0)
			return result;
	} while (result > 0 && m->done < m->len);
	if (is_shared && m->done < m->len)
		set_back(m);
	return (long)m->done;
}

long
files_read(const struct opened *o, uint64_t offset, char *to, uint64_t len)
{
	struct moving m = {.q = {.op = FILE_READ, .handle = o->handle, .offset = offset},
		.memory = to, .len = len, .is_read = true};

	return move_all(&m);
}

long
files_write(const struct opened *o, uint64_t offset, const char *from, uint64_t len)
{
	struct moving m = {.q = {.op = FILE_WRITE, .handle = o->handle, .offset = offset},
		.memory = (char *)(uintptr_t)from, .len = len};

	return move_all(&m);
}
