/* SPDX-License-Identifier: MIT
 *
 * See files.h.
 */
#include <abi/startup.h>
#include <base/str.h>
#include <user/personality/files.h>
#include <user/personality/limits.h>

struct slot {
	int16_t rank;
	uint16_t fd;
	uint16_t opened;	/* number + 1; 0: free */
	uint16_t is_cloexec;
};

/* One page. */
struct table {
	struct opened opened[OPENED_MAX];
	struct slot slot[SLOTS_MAX];
};

_Static_assert(sizeof(struct table) <= 4096, "a page");

static struct table *table;

static int
rank_of(const struct handler_event *c)
{
	const struct thread_record *r = thread_record(c);

	return r->borrowed != 0 ? thread_child_rank(r) : r->rank;
}

static struct slot *
slot_of(int rank, unsigned long fd)
{
	struct slot *s = table != NULL ? table->slot : NULL;

	for (int i = 0; s != NULL && i < SLOTS_MAX; i++)
		if (s[i].opened != 0 && s[i].rank == rank && s[i].fd == fd)
			return &s[i];
	return NULL;
}

static struct opened *
opened_of(const struct slot *s)
{
	return &table->opened[s->opened - 1];
}

static bool
is_closed(const struct slot *s)
{
	return opened_of(s)->kind == OPENED_CLOSED;
}

struct opened *
files_find(const struct handler_event *c, unsigned long fd, struct opened *stream)
{
	const struct slot *s = fd < FD_LIMIT ? slot_of(rank_of(c), fd) : NULL;

	if (s != NULL)
		return is_closed(s) ? NULL : opened_of(s);
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

	if (table == NULL && kmem_alloc(SELF, 4096, PAGE_READ | PAGE_WRITE, &addr) >= 0)
		table = (struct table *)addr;
	return table != NULL;
}

struct opened *
files_new(void)
{
	if (!has_table())
		return NULL;
	for (int i = 0; i < OPENED_MAX; i++)
		if (table->opened[i].kind == OPENED_NONE) {
			table->opened[i] = (struct opened){0};
			return &table->opened[i];
		}
	return NULL;
}

int
files_close(uint32_t handle)
{
	const struct file_request q = {.op = FILE_CLOSE, .handle = handle};
	struct file_reply r;

	return files_ask(&q, &r);
}

static void
release(struct opened *o)
{
	if (--o->refs > 0)
		return;
	if (files_is_served(o->kind))
		files_close(o->handle);
	o->kind = OPENED_NONE;
}

static void
give_up(struct slot *s)
{
	release(opened_of(s));
	s->opened = 0;
}

static bool
is_free(int rank, unsigned long fd)
{
	const struct slot *s = slot_of(rank, fd);

	return s != NULL ? is_closed(s) : fd >= FD_FIRST;
}

/* A descriptor that is free for it, of a rank. False: there are too many. */
static bool
put_slot(int rank, unsigned long fd, struct opened *o)
{
	struct slot *s = slot_of(rank, fd);

	if (s != NULL)
		give_up(s);
	for (int i = 0; i < SLOTS_MAX; i++) {
		s = &table->slot[i];
		if (s->opened != 0)
			continue;
		*s = (struct slot){(int16_t)rank, (uint16_t)fd,
			(uint16_t)(o - table->opened + 1), 0};
		o->refs++;
		return true;
	}
	return false;
}

long
files_limit(const struct handler_event *c)
{
	uint64_t limit = limits_now(c, RLIMIT_NOFILE);

	return limit < FD_LIMIT ? (long)limit : FD_LIMIT;
}

int
files_attach(const struct handler_event *c, struct opened *o, long *fd, unsigned long low)
{
	int rank = rank_of(c);

	long limit = files_limit(c);

	if (*fd >= limit)
		return -E_BADF;
	if (*fd < 0) {
		*fd = (long)low;
		while (*fd < limit && !is_free(rank, (unsigned long)*fd))
			++*fd;
		if (*fd >= limit)
			return -E_MFILE;
	}
	return put_slot(rank, (unsigned long)*fd, o) ? 0 : -E_MFILE;
}

static bool
is_first_rank(const struct job_control *j, uint32_t rank)
{
	return ((const struct startup *)j->rank[rank].startup)->rank == 0;
}

void
files_begin(const struct handler_event *c, struct opened *o, struct files_first first)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;

	if (j == NULL || j->ranks == 1) {
		if (put_slot(rank_of(c), first.fd, o))
			files_set_cloexec(c, first.fd, first.is_cloexec);
		return;
	}
	for (uint32_t r = 0; r < j->ranks; r++)
		if (first.fd != 0 || is_first_rank(j, r))
			put_slot((int)r, first.fd, o);
}

struct opened *
files_next(const struct handler_event *c, uint32_t *at, uint32_t *fd, bool *is_cloexec)
{
	int rank = rank_of(c);

	for (; table != NULL && *at < SLOTS_MAX; ++*at) {
		const struct slot *s = &table->slot[*at];

		if (s->opened == 0 || s->rank != rank)
			continue;
		*fd = s->fd;
		*is_cloexec = s->is_cloexec != 0;
		++*at;
		return opened_of(s);
	}
	return NULL;
}

struct opened *
files_by_handle(uint8_t kind, uint32_t handle)
{
	for (int i = 0; table != NULL && i < OPENED_MAX; i++) {
		struct opened *o = &table->opened[i];

		if (o->kind != OPENED_NONE && o->handle == handle && (files_is_served(kind) ?
			files_is_served(o->kind) : o->kind == kind))
			return o;
	}
	return NULL;
}

/* One more descriptor for what another one stands for. */
static bool
lend_one(const struct slot *from, int child)
{
	for (int i = 0; i < SLOTS_MAX; i++) {
		struct slot *s = &table->slot[i];

		if (s->opened != 0)
			continue;
		*s = *from;
		s->rank = (int16_t)child;
		opened_of(s)->refs++;
		return true;
	}
	return false;
}

int
files_lend(int rank, int child)
{
	bool is_done = true;

	files_lock();
	for (int i = 0; table != NULL && i < SLOTS_MAX && is_done; i++) {
		const struct slot *s = &table->slot[i];

		if (s->opened != 0 && s->rank == rank)
			is_done = lend_one(s, child);
	}
	files_unlock();
	if (!is_done)
		files_close_rank(child);
	return is_done ? 0 : -E_MFILE;
}

bool
files_is_cloexec(const struct handler_event *c, unsigned long fd)
{
	const struct slot *s = slot_of(rank_of(c), fd);

	return s != NULL && s->is_cloexec;
}

void
files_set_cloexec(const struct handler_event *c, unsigned long fd, bool is_cloexec)
{
	struct slot *s = slot_of(rank_of(c), fd);

	if (s != NULL)
		s->is_cloexec = is_cloexec;
}

/* A standard stream is not open any more. 0; -E_MFILE: there is no room to write that down. */
static int
close_standard(int rank, unsigned long fd)
{
	struct opened *o = files_by_handle(OPENED_CLOSED, 0);

	if (o == NULL) {
		o = files_new();
		if (o == NULL)
			return -E_MFILE;
		o->kind = OPENED_CLOSED;
	}
	return put_slot(rank, fd, o) ? 0 : -E_MFILE;
}

int
files_detach(const struct handler_event *c, unsigned long fd)
{
	int rank = rank_of(c);
	struct slot *s = slot_of(rank, fd);

	if (s != NULL ? is_closed(s) : fd >= FD_FIRST)
		return -E_BADF;
	if (fd < FD_FIRST)
		return close_standard(rank, fd);
	if (rank >= 0)
		locks_close(opened_of(s));
	give_up(s);
	return 0;
}

void
files_close_rank(int rank)
{
	if (table == NULL)
		return;
	files_lock();
	for (int i = 0; i < SLOTS_MAX; i++) {
		struct slot *s = &table->slot[i];

		if (s->opened != 0 && s->rank == rank)
			give_up(s);
	}
	files_unlock();
}
