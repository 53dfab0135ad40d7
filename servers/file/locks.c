/* SPDX-License-Identifier: MIT
 *
 * Locks of files: those of a range of bytes, which are a client's (fcntl) or a description's
 * (F_OFD_SETLK), and those of a whole file, which are a description's (flock). Ranges and whole
 * files do not see each other. They lie in a table and end with their owner. Who has to wait is
 * answered LATER, and told when a lock of any file goes.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/locks.h>
#include <servers/file/share.h>

#define CHAIN_MAX 16			/* clients that wait for each other, as far as is looked */

/* Which file: a node, or what a host calls it. */
static uint64_t
file_of(const struct tree *t, const struct description *d)
{
	return d->is_host ? share_file(t, d) : d->is_pipe ? ~(uint64_t)d->object : d->object;
}

static uint8_t
share_of(const struct description *d)
{
	return d->is_host ? (uint8_t)(1 + d->object / SHARE_FIDS) : 0;
}

static bool
is_same_owner(const struct file_lock *a, const struct file_lock *b)
{
	return a->is_whole == b->is_whole && a->is_open == b->is_open && a->owner == b->owner;
}

static bool
meets(const struct file_lock *a, const struct file_lock *b)
{
	return a->file == b->file && a->share == b->share && a->is_whole == b->is_whole &&
		a->first < b->end && b->first < a->end;
}

static bool
conflicts(const struct file_lock *a, const struct file_lock *b)
{
	return meets(a, b) && !is_same_owner(a, b) && (a->is_exclusive || b->is_exclusive);
}

/* The first one from `l` on that is in the way; NULL: there is none. */
static struct file_lock *
in_the_way(struct tree *t, const struct file_lock *of, struct file_lock *l)
{
	for (; l < t->lock + t->locks; l++)
		if (l->is_used && conflicts(of, l))
			return l;
	return NULL;
}

static struct file_lock *
find_free(struct tree *t)
{
	for (uint32_t i = 0; i < LOCKS_MAX; i++)
		if (!t->lock[i].is_used) {
			t->locks = i < t->locks ? t->locks : i + 1;
			return &t->lock[i];
		}
	return NULL;
}

static uint32_t
count_free(const struct tree *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < LOCKS_MAX; i++)
		n += !t->lock[i].is_used;
	return n;
}

static void
tell_all(struct tree *t)
{
	for (uint32_t i = 0; i < CLIENTS_MAX; i++)
		if (t->lock_wait[i] != 0 && t->wanted[t->lock_wait[i] - 1].is_used)
			client_tell(i);
}

/* What the owner has of this range is cut out of its locks. */
static void
lock_cut(struct tree *t, const struct file_lock *range)
{
	for (uint32_t i = 0; i < t->locks; i++) {
		struct file_lock *l = &t->lock[i], *rest;

		if (!l->is_used || !is_same_owner(l, range) || !meets(l, range))
			continue;
		if (l->first < range->first && l->end > range->end &&
			(rest = find_free(t)) != NULL) {
			*rest = *l;
			rest->first = range->end;
		}
		if (l->first < range->first)
			l->end = range->first;
		else if (l->end > range->end)
			l->first = range->end;
		else
			l->is_used = false;
	}
}

/* It takes in those of its owner that touch it and are of its kind. There is a place for it. */
static void
lock_put(struct tree *t, struct file_lock lock)
{
	struct file_lock *place;

	for (uint32_t i = 0; i < t->locks; i++) {
		struct file_lock *l = &t->lock[i];

		if (!l->is_used || !is_same_owner(l, &lock) || l->file != lock.file ||
			l->share != lock.share || l->is_exclusive != lock.is_exclusive ||
			l->end < lock.first || l->first > lock.end)
			continue;
		lock.first = l->first < lock.first ? l->first : lock.first;
		lock.end = l->end > lock.end ? l->end : lock.end;
		l->is_used = false;
	}
	place = find_free(t);
	if (place != NULL)
		*place = lock;
}

/* --- who waits --- */

static void
wait_end(struct tree *t, uint32_t client)
{
	if (t->lock_wait[client] != 0)
		t->wanted[t->lock_wait[client] - 1].is_used = false;
	t->lock_wait[client] = 0;
}

/* Whose turn it is to unlock is not known of a description. */
static bool
is_of_client(const struct file_lock *l)
{
	return !l->is_whole && !l->is_open;
}

/* Does what is in the way of this wait for that client, itself or by others? */
static bool
waits_for(struct tree *t, const struct file_lock *wanted, uint32_t client, uint32_t depth)
{
	struct file_lock *l = t->lock;

	while (is_of_client(wanted) && depth < CHAIN_MAX &&
		(l = in_the_way(t, wanted, l)) != NULL) {
		if (is_of_client(l) && (l->owner == client || (t->lock_wait[l->owner] != 0 &&
			waits_for(t, &t->wanted[t->lock_wait[l->owner] - 1], client, depth + 1))))
			return true;
		l++;
	}
	return false;
}

static int
wait_begin(struct tree *t, uint32_t client, const struct file_lock *wanted)
{
	if (waits_for(t, wanted, client, 0))
		return -FILE_EDEADLK;
	for (uint32_t i = 0; i < LOCK_WAITS; i++)
		if (!t->wanted[i].is_used) {
			t->wanted[i] = *wanted;
			t->lock_wait[client] = (uint8_t)(i + 1);
			return -FILE_LATER;
		}
	return -FILE_ENOLCK;
}

/* --- requests --- */

static int
lock_set(struct tree *t, uint32_t client, const struct file_lock *lock, uint32_t how)
{
	if (count_free(t) < 2)
		return -FILE_ENOLCK;
	if ((how & FILE_LOCK_KIND) != FILE_LOCK_NONE && in_the_way(t, lock, t->lock) != NULL) {
		/* a description gives up what it has before it waits for another kind */
		if (lock->is_whole)
			lock_cut(t, lock);
		return (how & FILE_LOCK_WAITS) != 0 ? wait_begin(t, client, lock) : -E_AGAIN;
	}
	lock_cut(t, lock);
	if ((how & FILE_LOCK_KIND) != FILE_LOCK_NONE)
		lock_put(t, *lock);
	tell_all(t);
	return 0;
}

/* One that is in the way; or that nothing is. */
static void
lock_test(struct tree *t, const struct file_lock *lock, struct file_range *range)
{
	const struct file_lock *l = in_the_way(t, lock, t->lock);

	range->kind = FILE_LOCK_NONE;
	if (l == NULL)
		return;
	*range = (struct file_range){l->first, l->end, l->pid,
		l->is_exclusive ? FILE_LOCK_EXCLUSIVE : FILE_LOCK_SHARED};
}

int
lock_serve(struct serving *s, const struct description *d)
{
	uint32_t how = s->r->arg;
	bool is_of_description = (how & (FILE_LOCK_WHOLE | FILE_LOCK_OPEN)) != 0;
	struct file_range range;
	struct file_lock lock;

	if (s->data_bytes < sizeof(range))
		return -E_INVAL;
	memcpy(&range, s->data, sizeof(range));
	wait_end(s->t, s->client);
	if ((how & FILE_LOCK_FORGET) != 0)
		return 0;
	if (range.first >= range.end || (how & FILE_LOCK_KIND) > FILE_LOCK_EXCLUSIVE)
		return -E_INVAL;
	lock = (struct file_lock){.file = file_of(s->t, d), .share = share_of(d),
		.first = range.first, .end = range.end,
		.pid = range.pid, .is_used = true, .is_whole = (how & FILE_LOCK_WHOLE) != 0,
		.is_exclusive = (how & FILE_LOCK_KIND) == FILE_LOCK_EXCLUSIVE,
		.is_open = (how & (FILE_LOCK_WHOLE | FILE_LOCK_OPEN)) == FILE_LOCK_OPEN,
		.owner = is_of_description ? (uint16_t)(d - s->t->description) :
			(uint16_t)s->client};
	if (lock.is_whole) {
		lock.first = 0;
		lock.end = UINT64_MAX;
	}
	if ((how & FILE_LOCK_TEST) == 0)
		return lock_set(s->t, s->client, &lock, how);
	lock_test(s->t, &lock, &range);
	memcpy(s->out, &range, sizeof(range));
	s->out_bytes = sizeof(range);
	return 0;
}

static void
drop(struct tree *t, const struct file_lock *of, bool is_any_file)
{
	bool has_gone = false;

	for (uint32_t i = 0; i < t->locks; i++) {
		struct file_lock *l = &t->lock[i];

		if (!l->is_used || !is_same_owner(l, of) ||
			(!is_any_file && (l->file != of->file || l->share != of->share)))
			continue;
		l->is_used = false;
		has_gone = true;
	}
	if (has_gone)
		tell_all(t);
}

void
locks_close(struct tree *t, uint32_t client, const struct description *d)
{
	if (t->locks > 0)
		drop(t, &(struct file_lock){.file = file_of(t, d), .share = share_of(d),
			.owner = (uint16_t)client}, false);
}

void
locks_end(struct tree *t, const struct description *d)
{
	struct file_lock of = {.is_whole = true, .owner = (uint16_t)(d - t->description)};

	if (t->locks == 0)
		return;
	drop(t, &of, true);
	of.is_whole = false;
	of.is_open = true;
	drop(t, &of, true);
}

void
locks_forget(struct tree *t, uint32_t client)
{
	if (t->locks == 0)
		return;
	wait_end(t, client);
	drop(t, &(struct file_lock){.owner = (uint16_t)client}, true);
}
