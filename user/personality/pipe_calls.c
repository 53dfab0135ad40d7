/* SPDX-License-Identifier: MIT
 *
 * Linux's calls on pipes, and those that wait for descriptors. A call that waits does so without
 * the lock, and finds its descriptor anew then.
 */
#include <user/personality/files.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>
#include <user/personality/socket.h>

#define LINUX_O_NONBLOCK 04000
#define LINUX_O_CLOEXEC 02000000
#define POLLIN 1
#define POLLOUT 4
#define POLLERR 8
#define POLLHUP 16
#define POLLNVAL 32
#define POLLRDHUP 0x2000

#define SETS 3			/* of pselect6: to read, to write, with something special */
#define SET_WORD 64

struct pollfd {
	int32_t fd;
	int16_t events;
	int16_t revents;
};

struct polled {
	struct pollfd *list;
	unsigned long count;
};

__attribute__((noinline)) long
files_attach_claimed(const struct handler_event *c, const struct file_claimed *end, bool is_cloexec)
{
	struct opened *o = files_new();
	long fd = -1;
	int result = -E_MFILE;

	if (o != NULL) {
		*o = (struct opened){.handle = end->handle, .kind = opened_kind(end->kind),
			.flags = ((end->flags & FILE_READABLE) != 0 ? OPENED_READ : 0) |
				((end->flags & FILE_WRITABLE) != 0 ? OPENED_WRITE : 0) |
				((end->flags & FILE_WHOLE) != 0 ? OPENED_WHOLE : 0)};
		result = files_attach(c, o, &fd, 0);
	}
	if (result == 0) {
		files_set_cloexec(c, (unsigned long)fd, is_cloexec);
		return fd;
	}
	files_close(end->handle);
	if (o != NULL)
		o->kind = OPENED_NONE;
	return result;
}

long
files_attach_pair(const struct handler_event *c, const struct file_claimed end[2],
	bool is_cloexec, int32_t *to)
{
	long first = files_attach_claimed(c, &end[0], is_cloexec), second;

	if (first < 0) {
		files_close(end[1].handle);
		return first;
	}
	second = files_attach_claimed(c, &end[1], is_cloexec);
	if (second < 0) {
		files_detach(c, (unsigned long)first);
		return second;
	}
	to[0] = (int32_t)first;
	to[1] = (int32_t)second;
	return 0;
}

long
pipe_create(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_PIPE};
	struct file_claimed end[2];
	struct file_reply r;
	int result;

	if ((arg(c, 1) & ~(unsigned long)(LINUX_O_NONBLOCK | LINUX_O_CLOEXEC)) != 0)
		return -E_INVAL;
	if ((arg(c, 1) & LINUX_O_NONBLOCK) != 0)
		q.arg = FILE_NONBLOCK;
	result = files_ask_for(&q, &r, end, sizeof(end));
	if (result < 0)
		return result == -E_NOSPC ? -FILE_ENFILE : result;
	return files_attach_pair(c, end, (arg(c, 1) & LINUX_O_CLOEXEC) != 0, (int32_t *)arg(c, 0));
}

/* What is moved at once; of a stream, which is the standard input. */
static long
move_once(const struct handler_event *c, uint8_t use, struct iovec piece, bool *is_quiet,
	bool *is_event)
{
	struct opened stream, *o = files_find(c, arg(c, 0), &stream);

	if (o == NULL || (o->flags & use) == 0)
		return -E_BADF;
	if (o->kind == OPENED_STREAM && (o = files_input(c)) == NULL)
		return 0;
	if (o->kind < OPENED_PIPE || o->kind == OPENED_QUEUE)
		return o->kind == OPENED_QUEUE ? -E_INVAL : -E_BADF;
	*is_event = o->kind >= OPENED_EVENT;
	if (o->kind == OPENED_SIGNALS && use == OPENED_READ)
		return event_take_signals(c, o, piece);
	*is_quiet = (o->flags & OPENED_WHOLE) != 0;
	return use == OPENED_READ ? files_take(o, (char *)piece.base, piece.len) :
		files_put(o, (const char *)piece.base, piece.len);
}

/* Time and signals end this wait, too: 1, or an error. */
static long
await_event(const struct handler_event *c, uint8_t use)
{
	long result;

	files_unlock();
	result = pipe_await(c, arg(c, 0), use == OPENED_READ ? POLLIN : POLLOUT, FOREVER);
	files_lock();
	return result == -E_INTR ? -CALL_RESTART : result;
}

long
pipe_move(const struct handler_event *c, uint8_t use, struct iovec piece)
{
	bool is_quiet = false, is_event = false;
	uint64_t done = 0, until;
	long result;

	files_lock();
	until = socket_until(c, use);
	do {
		result = move_once(c, use, (struct iovec){piece.base + done, piece.len - done},
			&is_quiet, &is_event);
		if (result > 0)
			done += (uint64_t)result;
		else if (result == -FILE_LATER && is_event)
			result = await_event(c, use);
		else if (result == -FILE_LATER && (result = socket_wait(c, until)) == 0)
			result = 1;		/* it may be worth asking again */
	} while (result > 0 && (use == OPENED_READ ? done == 0 : done < piece.len && !is_event));
	files_unlock();
	if (result == -E_PIPE && use == OPENED_WRITE && !is_quiet)
		signal_pend_self(SIGPIPE);
	return done > 0 ? (long)done : result;
}

/* --- buffers --- */

/* What has no descriptor is asked with handle 0, which is nobody's. */
long
pipe_zio_call(const struct handler_event *c)
{
	struct zio_answer *to = (struct zio_answer *)arg(c, 4);
	struct file_request q = {.op = (uint32_t)arg(c, 1), .offset = arg(c, 2),
		.arg = (uint32_t)arg(c, 3), .more = (uint32_t)(arg(c, 3) >> 32)};
	long result;

	files_lock();
	do {
		struct opened stream, *o = files_find(c, arg(c, 0), &stream);

		q.handle = o != NULL && files_is_served(o->kind) ? o->handle : 0;
		result = files_ask_for(&q, &to->head, &to->zio, sizeof(to->zio));
	} while (result == -FILE_LATER && (result = socket_wait(c, FOREVER)) == 0);
	files_unlock();
	return result;
}

/* --- ppoll, pselect6 --- */

static int16_t
linux_events(uint64_t ready)
{
	return (int16_t)((ready & FILE_POLL_READ ? POLLIN : 0) |
		(ready & FILE_POLL_WRITE ? POLLOUT : 0) |
		(ready & FILE_POLL_HUNG_UP ? POLLHUP : 0) |
		(ready & FILE_POLL_BROKEN ? POLLERR : 0) |
		(ready & FILE_POLL_ENDED ? POLLRDHUP : 0));
}

/*
 * What is true of one descriptor. With `watch` the server tells when that changes from nothing;
 * time and signals may change it, too.
 */
static __attribute__((noinline)) int16_t
poll_one(const struct handler_event *c, const struct pollfd *p, uint32_t watch,
	struct file_waits *waits)
{
	struct file_request q = {.op = FILE_POLL, .more = watch,
		.offset = signals_pending(thread_record(c))};
	struct file_waits its = {.until = FOREVER};
	struct opened stream, *o = files_find(c, (unsigned long)p->fd, &stream);
	struct file_reply r;

	if (o == NULL)
		return POLLNVAL;
	if (o->kind == OPENED_STREAM && (o->handle == 0 || o->handle == STREAM_TERMINAL))
		o = files_input(c);
	if (o == NULL || o->kind < OPENED_PIPE)
		return p->events & (POLLIN | POLLOUT);
	q.handle = o->handle;
	q.arg = ((p->events & POLLIN) ? FILE_POLL_READ : 0) |
		((p->events & POLLOUT) ? FILE_POLL_WRITE : 0) |
		((p->events & POLLRDHUP) ? FILE_POLL_ENDED : 0);
	if (files_ask_for(&q, &r, &its, sizeof(its)) < 0)
		return POLLERR;
	if (its.until < waits->until)
		waits->until = its.until;
	waits->signals |= its.signals;
	return linux_events(r.value);
}

/* How many have something; *is_told: the server will tell of others. */
static long
poll_all(const struct handler_event *c, struct polled of, uint32_t watch, bool *is_told,
	struct file_waits *waits)
{
	struct pollfd *p = of.list;
	long ready = 0;

	*is_told = false;
	*waits = (struct file_waits){.until = FOREVER};
	for (unsigned long i = 0; i < of.count; i++) {
		p[i].revents = 0;
		if (p[i].fd < 0)
			continue;
		p[i].revents = poll_one(c, &p[i], ready == 0 ? watch : 0, waits);
		ready += p[i].revents != 0;
		*is_told |= p[i].revents == 0;
	}
	return ready;
}

/* One wait, which signals that are read by a descriptor end, too: then it is worth a look. */
static long
wait_once(const struct handler_event *c, const struct file_waits *waits, uint64_t until)
{
	struct thread_record *r = thread_record(c);
	long result;

	if (waits->signals != 0)
		signals_want(c, waits->signals);
	r->wanted = waits->signals;
	result = files_wait(c, waits->until < until ? waits->until : until);
	r->wanted = 0;
	return (result == -E_INTR && !signal_is_due(c)) ||
		(result == -E_TIMEDOUT && waits->until < until) ? 0 : result;
}

/* How many have something, up to a time, 0: now. 0, -E_INTR. */
static long
poll_until(const struct handler_event *c, struct polled of, uint64_t until)
{
	struct file_waits waits;
	bool is_told;
	long ready, wrong = 0;

	files_lock();
	while ((ready = poll_all(c, of, until != 0 ? FILE_WATCH : 0, &is_told, &waits)) == 0 &&
		until != 0 && is_told && wrong == 0)
		wrong = wait_once(c, &waits, until);
	files_unlock();
	if (ready == 0 && until != 0 && !is_told)
		wrong = time_sleep_until(c, until);
	return ready == 0 && wrong == -E_INTR ? wrong : ready;
}

long
pipe_await(const struct handler_event *c, unsigned long fd, int16_t events, uint64_t until)
{
	struct pollfd one = {.fd = (int32_t)fd, .events = events};

	return poll_until(c, (struct polled){&one, 1}, until);
}

/* The same after a span, NULL: for ever; meanwhile with another mask of signals. */
static long
poll_for(const struct handler_event *c, struct polled of, const uint64_t *span,
	const uint64_t *mask)
{
	uint64_t now = 0;
	long result;

	if (mask != NULL)
		signal_mask_for_now(c, *mask);
	kclock(&now);
	result = poll_until(c, of, span == NULL ? FOREVER :
		span[0] == 0 && span[1] == 0 ? 0 : time_after(now, span));
	return result == -E_INTR ? -CALL_INTERRUPTED : result;
}

long
pipe_poll_call(const struct handler_event *c)
{
	return arg(c, 1) > FD_LIMIT ? -E_INVAL :
		poll_for(c, (struct polled){(struct pollfd *)arg(c, 0), arg(c, 1)},
			(const uint64_t *)arg(c, 2), (const uint64_t *)arg(c, 3));
}

/* Behind these nobody looks into the sets. */
static unsigned long
set_bits(const struct handler_event *c)
{
	return arg(c, 0) < FD_LIMIT ? arg(c, 0) : FD_LIMIT;
}

/* Is a descriptor in one of the sets? */
static bool
is_in(const struct handler_event *c, int set, unsigned long fd)
{
	const uint64_t *words = (const uint64_t *)arg(c, 1 + set);

	return words != NULL && (words[fd / SET_WORD] >> fd % SET_WORD & 1) != 0;
}

/* What is asked about the descriptors of the sets. -E_BADF: one of them is none. */
static long
sets_to_list(const struct handler_event *c, struct polled *to)
{
	struct opened stream;

	for (unsigned long fd = 0; fd < set_bits(c); fd++) {
		int16_t events = (int16_t)((is_in(c, 0, fd) ? POLLIN : 0) |
			(is_in(c, 1, fd) ? POLLOUT : 0));

		if (events == 0 && !is_in(c, 2, fd))
			continue;
		if (files_find(c, fd, &stream) == NULL)
			return -E_BADF;
		to->list[to->count++] = (struct pollfd){.fd = (int32_t)fd, .events = events};
	}
	return 0;
}

/* The sets as they are to be: the descriptors that have something. How many times one is in one. */
static long
list_to_sets(const struct handler_event *c, struct polled from)
{
	long count = 0;

	for (int set = 0; set < SETS; set++)
		for (unsigned long i = 0; arg(c, 1 + set) != 0 && i < set_bits(c); i += SET_WORD)
			((uint64_t *)arg(c, 1 + set))[i / SET_WORD] = 0;
	for (unsigned long i = 0; i < from.count; i++) {
		const struct pollfd *p = &from.list[i];
		int16_t has[SETS] = {p->revents & (POLLIN | POLLHUP | POLLERR),
			p->revents & (POLLOUT | POLLERR), 0};

		for (int set = 0; set < 2; set++) {
			if (has[set] == 0 || (p->events & (set == 0 ? POLLIN : POLLOUT)) == 0)
				continue;
			((uint64_t *)arg(c, 1 + set))[p->fd / SET_WORD] |=
				(uint64_t)1 << p->fd % SET_WORD;
			count++;
		}
	}
	return count;
}

/* Nothing special ever happens to a descriptor. */
long
pipe_select_call(const struct handler_event *c)
{
	/* where the mask lies, and its bytes */
	const uint64_t *mask = (const uint64_t *)arg(c, 5);
	struct polled list = {0};
	uint64_t at = 0;
	long result;

	if ((int32_t)arg(c, 0) < 0)
		return -E_INVAL;
	if (mask != NULL && mask[0] != 0 && reach_read(mask[0], sizeof(uint64_t)) != 0)
		return -E_FAULT;
	result = kmem_alloc(SELF, FD_LIMIT * sizeof(*list.list), PAGE_READ | PAGE_WRITE, &at);
	if (result < 0)
		return result;
	list.list = (struct pollfd *)at;
	files_lock();
	result = sets_to_list(c, &list);
	files_unlock();
	if (result == 0)
		result = poll_for(c, list, (const uint64_t *)arg(c, 4),
			mask != NULL ? (const uint64_t *)mask[0] : NULL);
	if (result >= 0)
		result = list_to_sets(c, list);
	kpage_unmap(SELF, at, 1);
	return result;
}
