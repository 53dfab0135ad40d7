/* SPDX-License-Identifier: MIT
 *
 * See limits.h. A limit that nobody has set is no bit of `limits_changed`: all is zeros at first.
 */
#include <abi/startup.h>
#include <base/str.h>
#include <user/personality/files.h>
#include <user/personality/inherit.h>
#include <user/personality/limits.h>
#include <user/personality/signal.h>
#include <user/personality/usage.h>

#define NS_PER_S 1000000000ull

static struct limit
limit_of(const struct handler_event *c, unsigned which)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;
	int rank = thread_record(c)->rank;
	uint64_t all = RLIM_INFINITY;

	if ((kept.limits_changed & 1u << which) != 0)
		return kept.limit[which];
	if (which == RLIMIT_NOFILE)
		all = FD_LIMIT;
	if (which == RLIMIT_STACK && j != NULL && rank >= 0)
		all = j->rank[rank].stack_limit - j->rank[rank].stack_first;
	return (struct limit){all, all};
}

uint64_t
limits_now(const struct handler_event *c, unsigned which)
{
	return (kept.limits_changed & 1u << which) != 0 ? kept.limit[which].now :
		limit_of(c, which).now;
}

bool
limits_allow(const struct handler_event *c, uint64_t bytes)
{
	uint64_t all = limits_now(c, RLIMIT_AS), data = limits_now(c, RLIMIT_DATA), pages = 0,
		own = 0;

	if (all == RLIM_INFINITY && data == RLIM_INFINITY)
		return true;
	for (uint32_t i = 0; i < kept.space.count; i++) {
		const struct space_area *a = &kept.space.area[i];

		pages += a->end - a->first;
		own += a->is_shared ? 0 : a->end - a->first;
	}
	bytes = (bytes + personality_info.page_bytes - 1) / personality_info.page_bytes;
	return pages + bytes <= all / personality_info.page_bytes &&
		own + bytes <= data / personality_info.page_bytes;
}

uint32_t
limits_processes(const struct handler_event *c)
{
	uint64_t most = limits_now(c, RLIMIT_NPROC);

	return most >= UINT32_MAX ? 0 : most == 0 ? 1 : (uint32_t)most;
}

uint64_t
limits_time_left(const struct handler_event *c, const struct usage *u, int *sig)
{
	struct limit l = limit_of(c, RLIMIT_CPU);
	uint64_t most = FOREVER / NS_PER_S;

	*sig = 0;
	if (l.now >= most && l.most >= most)
		return FOREVER;
	if (u->ns / NS_PER_S >= l.most)
		*sig = SIGKILL;
	else if (u->ns / NS_PER_S >= l.now)
		*sig = SIGXCPU;
	if (*sig != 0)
		return NS_PER_S;
	return usage_left(u, (l.now < l.most ? l.now : l.most) * NS_PER_S);
}

/* --- how long files may become --- */

#define NOT_LIMITED ((kept.limits_changed & 1u << RLIMIT_FSIZE) == 0)

/* Who shares the offset, or appends, may come between this and the write. */
long
limits_room(uint32_t handle, uint64_t offset, uint64_t len)
{
	struct file_request q = {.op = FILE_STAT_OPEN, .handle = handle};
	uint64_t most = kept.limit[RLIMIT_FSIZE].now, length;
	struct file_reply r;

	if (NOT_LIMITED || files_ask(&q, &r) != 0 || r.kind != FILE_KIND_FILE)
		return (long)len;
	length = r.value;
	if (len == 0)
		return offset > most && offset > length ? -FILE_EFBIG : 0;
	if (offset == FILE_AT_OFFSET) {
		q.op = FILE_SET_FLAGS;
		files_ask(&q, &r);
		offset = length;
		q.op = FILE_SEEK;
		q.arg = FILE_FROM_OFFSET;
		if ((r.value & FILE_APPEND) == 0 && files_ask(&q, &r) == 0)
			offset = r.value;
	}
	return offset >= most ? -FILE_EFBIG : (long)(len < most - offset ? len : most - offset);
}

long
limits_tell(long result)
{
	if (result == -FILE_EFBIG && !NOT_LIMITED)
		signal_pend_self(SIGXFSZ);
	return result;
}

static int
set(const struct handler_event *c, unsigned which, const struct limit *to)
{
	struct limit old = limit_of(c, which);

	if (to->now > to->most)
		return -E_INVAL;
	if (to->most > old.most || thread_record(c)->borrowed != 0)
		return -E_PERM;
	kept.limit[which] = *to;
	__atomic_fetch_or(&kept.limits_changed, 1u << which, __ATOMIC_RELEASE);
	if (which == RLIMIT_CPU)
		signal_time_limit(c);
	return 0;
}

long
limits_call(const struct handler_event *c)
{
	unsigned long which = arg(c, 1);
	struct limit to, old;

	if (arg(c, 0) != 0 && (int32_t)arg(c, 0) != personality_info.pid)
		return -E_SRCH;
	if (which >= LIMITS)
		return -E_INVAL;
	old = limit_of(c, (unsigned)which);
	if (arg(c, 2) != 0) {
		int result;

		memcpy(&to, (const void *)arg(c, 2), sizeof(to));
		result = set(c, (unsigned)which, &to);
		if (result != 0)
			return result;
	}
	if (arg(c, 3) != 0)
		memcpy((void *)arg(c, 3), &old, sizeof(old));
	return 0;
}

/* --- another program --- */

uint32_t
limits_bytes(uint32_t changed)
{
	return (uint32_t)__builtin_popcount(changed) * (uint32_t)sizeof(struct limit);
}

void
limits_put(struct inherit *b)
{
	char *to = (char *)&b->entry[b->entries] + b->cwd_bytes;

	b->limits_changed = kept.limits_changed;
	for (int i = 0; i < LIMITS; i++)
		if ((b->limits_changed & 1u << i) != 0) {
			memcpy(to, &kept.limit[i], sizeof(struct limit));
			to += sizeof(struct limit);
		}
}

void
limits_take(const struct handler_event *c, const struct inherit *b)
{
	const char *from = inherit_cwd(b) + b->cwd_bytes;

	kept.limits_changed = b->limits_changed;
	for (int i = 0; i < LIMITS; i++)
		if ((b->limits_changed & 1u << i) != 0) {
			memcpy(&kept.limit[i], from, sizeof(struct limit));
			from += sizeof(struct limit);
		}
	if ((b->limits_changed & 1u << RLIMIT_CPU) != 0)
		signal_time_limit(c);
}
