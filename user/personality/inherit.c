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
static uint8_t
number_of(uint32_t *count, uint32_t *handles, const struct opened *o)
{
	uint32_t i = 0;

	if (!files_is_served(o->kind))
		return (uint8_t)o->handle;
	while (i < *count && handles[i] != o->handle)
		i++;
	if (i == *count)
		handles[(*count)++] = o->handle;
	return (uint8_t)i;
}

/* Descriptors of what one server has are listed, and offered there; streams are the leader's. */
static int
offer_of(const struct handler_event *c, struct inherit *b, enum inherit_how how, uint32_t server)
{
	uint32_t handles[INHERIT_ENTRIES], count = 0, at = 0, fd;
	struct opened *o;
	bool is_cloexec;

	while ((o = files_next(c, &at, &fd, &is_cloexec)) != NULL) {
		if ((is_cloexec && how != INHERIT_ALL) || FILE_SERVER_OF(o->handle) != server)
			continue;
		if (b->entries == INHERIT_ENTRIES)
			return -E_MFILE;
		b->entry[b->entries++] = (struct inherit_entry){.fd = (uint8_t)fd,
			.number = number_of(&count, handles, o), .flags = o->flags,
			.kind = o->kind, .server = (uint8_t)server,
			.is_cloexec = is_cloexec};
	}
	b->offered = (uint16_t)(b->offered + count);
	return count == 0 ? 0 : files_offer(handles, count, how == INHERIT_KEPT,
		&b->token[server]);
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
	int result = 0;

	b->magic = INHERIT_MAGIC;
	b->offered = b->entries = 0;
	b->mask = thread_record(c)->mask;
	b->ignored = process_ignored(thread_record(c));
	b->stops = personality_info.stops;
	b->used = b->used_children = b->timer_bytes = 0;
	b->pending = 0;
	files_lock();
	b->umask_changed = __atomic_load_n(&kept.umask_changed, __ATOMIC_RELAXED);
	for (uint32_t server = 0; server <= personality_info.parts; server++) {
		b->token[server] = 0;
		if (result == 0)
			result = offer_of(c, b, how, server);
	}
	put_cwd(c, b);
	limits_put(b);
	files_unlock();
	if (result != 0)
		inherit_withdraw(b->token);
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
inherit_withdraw(const uint64_t token[FILE_SERVERS])
{
	struct file_request q = {.op = FILE_WITHDRAW};
	struct file_reply r;

	files_lock();
	for (uint32_t i = 0; i <= personality_info.parts; i++) {
		q.offset = token[i];
		q.handle = (uint32_t)q.offset;
		if (q.offset != 0)
			files_ask(&q, &r);
	}
	files_unlock();
}

/*
 * One entry for each description of a server, and its descriptors. What could not be claimed is
 * lost: the server has ended since it was offered.
 */
static void
attach_all(const struct handler_event *c, const struct inherit *b, uint32_t server,
	const struct file_claimed *claimed, uint32_t count)
{
	for (uint32_t i = 0; i < b->entries; i++) {
		const struct inherit_entry *e = &b->entry[i];
		uint32_t handle = e->number;
		struct opened *o;

		if (e->server != server)
			continue;
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
		b->timer_bytes > TIMERS * sizeof(struct timer) ||
		inherit_bytes(b) != bytes ? NULL : b;
}

__attribute__((noinline)) void
inherit_claim(const struct handler_event *c, const struct inherit *b)
{
	struct file_claimed claimed[INHERIT_ENTRIES];

	files_lock();
	__atomic_store_n(&kept.umask_changed, b->umask_changed, __ATOMIC_RELAXED);
	if (b->cwd_bytes > 0 && str_len_max(inherit_cwd(b), b->cwd_bytes) < b->cwd_bytes)
		cwd_begin_all(c, inherit_cwd(b));
	usage_take(b);
	limits_take(c, b);
	signals_take(c, b);
	for (uint32_t i = 0; i <= personality_info.parts; i++) {
		int count = b->token[i] != 0 ? files_claim(b->token[i], claimed, INHERIT_ENTRIES) :
			0;

		attach_all(c, b, i, claimed, count > 0 ? (uint32_t)count : 0);
	}
	files_unlock();
}
