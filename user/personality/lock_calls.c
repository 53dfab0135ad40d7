/* SPDX-License-Identifier: MIT
 *
 * Locks of files: fcntl (F_GETLK, F_SETLK, F_SETLKW, and the same of F_OFD_) and flock. The file
 * server has them (FILE_LOCK): a range is this process's, or with F_OFD_ the description's; so is a
 * whole file.
 */
#include <base/str.h>
#include <user/personality/files.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>

#define F_GETLK 5
#define F_SETLKW 7
#define F_OFD_GETLK 36
#define F_OFD_SETLKW 38
#define NO_PID (-1)		/* of a lock that is a description's */
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define LINUX_EOVERFLOW 75
#define LINUX_SEEK_END 2

/* Linux's struct flock. */
struct flock {
	int16_t type, whence;
	int64_t start, len;
	int32_t pid;
};

static bool has_ranges;			/* of bytes, which a close gives up */

/* Where a lock's start is counted from, or an error. */
static int64_t
base_of(const struct opened *o, int whence)
{
	struct file_request q = {.op = whence == LINUX_SEEK_END ? FILE_STAT_OPEN : FILE_SEEK,
		.handle = o->handle, .arg = FILE_FROM_OFFSET};
	struct file_reply r;
	int result;

	if (whence == 0)
		return 0;
	if (whence < 0 || whence > LINUX_SEEK_END)
		return -E_INVAL;
	result = files_ask(&q, &r);
	return result < 0 ? result : (int64_t)r.value;
}

/* The bytes that are meant. 0, -E_INVAL, -LINUX_EOVERFLOW. */
static int
range_of(const struct opened *o, const struct flock *l, struct file_range *range)
{
	int64_t first = base_of(o, l->whence), end;

	if (first < 0)
		return (int)first;
	if (__builtin_add_overflow(first, l->start, &first))
		return -LINUX_EOVERFLOW;
	if (l->len == 0)
		end = INT64_MAX;
	else if (__builtin_add_overflow(first, l->len - (l->len > 0), &end))
		return -LINUX_EOVERFLOW;
	if (l->len > 0)
		end = end == INT64_MAX ? end : end + 1;
	if (l->len < 0) {
		int64_t last = first;

		first = end;
		end = last;
	}
	*range = (struct file_range){(uint64_t)first, (uint64_t)end, personality_info.pid, 0};
	return first < 0 ? -E_INVAL : 0;
}

static int
ask_lock(const struct opened *o, uint32_t how, struct file_range *range)
{
	const struct file_request q = {.op = FILE_LOCK, .handle = o->handle, .arg = how};
	struct file_reply r;
	struct service_part at = {range, sizeof(*range)};
	int result = files_call(&q, at, &r, (how & FILE_LOCK_TEST) != 0 ? at :
		(struct service_part){NULL, 0});

	return result < 0 ? result : 0;
}

/* Ask until it is had, or a signal comes. */
static long
lock_get(const struct handler_event *c, uint32_t how, struct file_range *range)
{
	long result, waited = 0;

	for (;;) {
		struct opened stream, *o = files_find(c, arg(c, 0), &stream);

		if (o == NULL || !files_is_served(o->kind))
			return o == NULL ? -E_BADF : -E_INVAL;
		if (waited != 0) {
			ask_lock(o, FILE_LOCK_FORGET, range);
			return waited == -E_INTR ? -CALL_RESTART : waited;
		}
		result = ask_lock(o, how, range);
		if (result != -FILE_LATER)
			return result;
		waited = files_wait(c, FOREVER);
	}
}

static uint32_t
kind_of(int type)
{
	return type == F_UNLCK ? FILE_LOCK_NONE : type == F_RDLCK ? FILE_LOCK_SHARED :
		FILE_LOCK_EXCLUSIVE;
}

/* What Linux says of the lock that is in the way. */
static void
lock_tell(const struct file_range *range, struct flock *l)
{
	l->type = range->kind == FILE_LOCK_NONE ? F_UNLCK : range->kind == FILE_LOCK_SHARED ?
		F_RDLCK : F_WRLCK;
	if (range->kind == FILE_LOCK_NONE)
		return;
	l->whence = 0;
	l->start = (int64_t)range->first;
	l->len = range->end == INT64_MAX ? 0 : (int64_t)(range->end - range->first);
	l->pid = range->pid;
}

long
lock_fcntl(const struct handler_event *c, const struct opened *o)
{
	bool is_open = arg(c, 1) >= F_OFD_GETLK,
		is_test = arg(c, 1) == F_GETLK || arg(c, 1) == F_OFD_GETLK;
	uint32_t how = is_open ? FILE_LOCK_OPEN : 0;
	struct file_range range;
	struct flock l;
	long result;

	if (reach_read(arg(c, 2), sizeof(l)) != 0)
		return -E_FAULT;
	memcpy(&l, (const void *)arg(c, 2), sizeof(l));
	if (l.type < F_RDLCK || l.type > F_UNLCK || (is_test && l.type == F_UNLCK) ||
		(is_open && l.pid != 0) || !files_is_served(o->kind))
		return -E_INVAL;
	how |= kind_of(l.type);
	result = range_of(o, &l, &range);
	if (result < 0)
		return result;
	if (!is_test && ((l.type == F_RDLCK && (o->flags & OPENED_READ) == 0) ||
		(l.type == F_WRLCK && (o->flags & OPENED_WRITE) == 0)))
		return -E_BADF;
	if (is_open)
		range.pid = NO_PID;
	if (!is_test) {
		bool waits = arg(c, 1) == F_SETLKW || arg(c, 1) == F_OFD_SETLKW;

		has_ranges |= !is_open;
		return lock_get(c, how | (waits ? FILE_LOCK_WAITS : 0), &range);
	}
	result = ask_lock(o, how | FILE_LOCK_TEST, &range);
	if (result < 0)
		return result;
	if (reach_write(arg(c, 2), sizeof(l)) != 0)
		return -E_FAULT;
	lock_tell(&range, &l);
	memcpy((void *)arg(c, 2), &l, sizeof(l));
	return 0;
}

long
lock_flock(const struct handler_event *c, const struct opened *o)
{
	struct file_range range = {0, INT64_MAX, 0, 0};
	uint32_t op = (uint32_t)arg(c, 1) & ~(uint32_t)LOCK_NB;

	if (op != LOCK_SH && op != LOCK_EX && op != LOCK_UN)
		return -E_INVAL;
	if (o == NULL)
		return -E_BADF;
	return lock_get(c, FILE_LOCK_WHOLE | (op == LOCK_UN ? FILE_LOCK_NONE : op == LOCK_SH ?
		FILE_LOCK_SHARED : FILE_LOCK_EXCLUSIVE | 0u) |
		((arg(c, 1) & LOCK_NB) == 0 ? FILE_LOCK_WAITS : 0), &range);
}

void
locks_close(const struct opened *o)
{
	struct file_range range = {0, INT64_MAX, 0, 0};

	if (has_ranges && o->refs > 1 && o->kind == OPENED_FILE)
		ask_lock(o, FILE_LOCK_NONE, &range);
}
