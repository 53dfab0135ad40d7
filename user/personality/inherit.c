/* SPDX-License-Identifier: MIT
 *
 * Descriptors of children: see inherit.h.
 */
#include <base/str.h>
#include <user/personality/cwd.h>
#include <user/personality/inherit.h>
#include <user/personality/process.h>
#include <user/personality/usage.h>

/* Number `o` has in the offer: it is put there if it is not yet. */
static uint16_t
number_of(struct inherit *b, uint32_t *handles, const struct opened *o)
{
	uint32_t i = 0;

	if (!files_is_served(o->kind))
		return (uint16_t)o->handle;
	while (i < b->offered && handles[i] != o->handle)
		i++;
	if (i == b->offered)
		handles[b->offered++] = o->handle;
	return (uint16_t)i;
}

static int
list_descriptors(const struct handler_event *c, struct inherit *b, uint32_t *handles,
	bool with_cloexec)
{
	struct opened *o;
	uint32_t at = 0, fd;
	bool is_cloexec;

	while ((o = files_next(c, &at, &fd, &is_cloexec)) != NULL) {
		if (is_cloexec && !with_cloexec)
			continue;
		if (b->entries == INHERIT_ENTRIES)
			return -E_MFILE;
		b->entry[b->entries++] = (struct inherit_entry){.fd = (uint16_t)fd, .kind = o->kind,
			.flags = o->flags, .number = number_of(b, handles, o),
			.is_cloexec = is_cloexec};
	}
	return 0;
}

static void
put_cwd(const struct handler_event *c, struct inherit *b)
{
	const char *cwd = cwd_get(c);

	b->cwd_bytes = cwd[1] == 0 ? 0 : (uint32_t)str_len(cwd) + 1;
	memcpy(&b->entry[b->entries], cwd, b->cwd_bytes);
}

__attribute__((noinline)) int
inherit_offer(const struct handler_event *c, struct inherit *b, enum inherit_how how)
{
	uint32_t handles[INHERIT_ENTRIES];
	int result;

	b->token = 0;
	b->magic = INHERIT_MAGIC;
	b->offered = b->entries = 0;
	b->mask = thread_record(c)->mask;
	b->ignored = process_ignored(thread_record(c));
	b->stops = personality_info.stops;
	b->used = b->used_children = 0;
	files_lock();
	b->umask_changed = __atomic_load_n(&kept.umask_changed, __ATOMIC_RELAXED);
	result = list_descriptors(c, b, handles, how == INHERIT_ALL);
	put_cwd(c, b);
	limits_put(b);
	if (result == 0 && b->offered > 0)
		result = files_offer(handles, b->offered, how == INHERIT_KEPT, &b->token);
	files_unlock();
	return result;
}

long
inherit_call(const struct handler_event *c)
{
	struct inherit *b = (struct inherit *)arg(c, 0);
	int result;

	if (arg(c, 1) < sizeof(*b))
		return -E_INVAL;
	result = inherit_offer(c, b, INHERIT_KEPT);
	return result < 0 ? result : (long)inherit_bytes(b);
}

void
inherit_withdraw(const struct inherit *b)
{
	struct file_request q = {.op = FILE_WITHDRAW, .offset = b->token};
	struct file_reply r;

	if (b->offered == 0)
		return;
	files_lock();
	files_ask(&q, &r);
	files_unlock();
}

/*
 * One entry for each description, and its descriptors. What could not be claimed is lost: the
 * server has ended since it was offered.
 */
static void
attach_all(const struct handler_event *c, const struct inherit *b,
	const struct file_claimed *claimed, uint32_t count)
{
	for (uint32_t i = 0; i < b->entries; i++) {
		const struct inherit_entry *e = &b->entry[i];
		uint32_t handle = e->number;
		struct opened *o;

		if (files_is_served(e->kind))
			handle = e->number < count ? claimed[e->number].handle : FILE_HANDLE_LOST;
		o = files_by_handle(e->kind, handle);
		if (o == NULL)
			o = files_new();
		if (o == NULL)
			return;
		if (o->kind == OPENED_NONE)
			*o = (struct opened){.handle = handle, .kind = e->kind,
				.flags = e->flags};
		if (e->fd < FD_LIMIT)
			files_begin(c, o, (struct files_first){e->fd, e->is_cloexec});
	}
}

const struct inherit *
inherit_carried(void)
{
	const struct inherit *b = (const struct inherit *)personality_info.inherit;
	uint32_t bytes = personality_info.inherit_bytes;

	return bytes < offsetof(struct inherit, entry) || b->magic != INHERIT_MAGIC ||
		b->entries > INHERIT_ENTRIES || b->cwd_bytes > FILE_PATH_MAX ||
		inherit_bytes(b) != bytes ? NULL : b;
}

__attribute__((noinline)) void
inherit_claim(const struct handler_event *c, const struct inherit *b)
{
	struct file_claimed claimed[INHERIT_ENTRIES];
	int count = 0;

	files_lock();
	__atomic_store_n(&kept.umask_changed, b->umask_changed, __ATOMIC_RELAXED);
	if (b->cwd_bytes > 0 && str_len_max(inherit_cwd(b), b->cwd_bytes) < b->cwd_bytes)
		cwd_begin_all(c, inherit_cwd(b));
	usage_take(b);
	limits_take(c, b);
	if (b->offered > 0)
		count = files_claim(b->token, claimed, INHERIT_ENTRIES);
	attach_all(c, b, claimed, count > 0 ? (uint32_t)count : 0);
	files_unlock();
}
