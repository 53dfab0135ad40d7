/* SPDX-License-Identifier: MIT
 *
 * What is sent to sockets and received from them, in pieces of memory and with descriptors, and
 * the options of sockets. With the lock held.
 */
#include <base/str.h>
#include <user/personality/reach.h>
#include <user/personality/socket.h>

#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define SCM_CREDENTIALS 2
#define MSG_OOB 1
#define MSG_PEEK 2
#define MSG_CTRUNC 8
#define MSG_TRUNC 0x20
#define MSG_DONTWAIT 0x40
#define MSG_WAITALL 0x100
#define MSG_NOSIGNAL 0x4000
#define MSG_CMSG_CLOEXEC 0x40000000
#define PIECES_MAX 1024
#define LINUX_ENOPROTOOPT 92
#define SOCKET_BUFFER 212992		/* that Linux says */

/* Linux's struct msghdr and struct cmsghdr. */
struct linux_message {
	uint64_t name;
	uint32_t name_bytes, pad;
	uint64_t piece, pieces;
	uint64_t control, control_bytes;
	uint32_t flags, pad2;
};

struct linux_control {
	uint64_t bytes;
	int32_t level, type;
	int32_t fd[];			/* of SCM_CREDENTIALS: pid, uid, gid */
};

#define CREDENTIALS 3			/* numbers */

#define TIMED_MAX 8
#define NS_PER_US 1000ull
#define US_PER_S 1000000ll
#define TIME_MAX_S (1ll << 40)
#define LINUX_EDOM 33

static bool has_times;

/* Sockets of which calls do not wait for ever, by their handles: microseconds; 0: for ever. */
static struct {
	uint32_t handle;
	uint64_t span[2];		/* to read, to write */
} timed[TIMED_MAX];

/* The place of a handle, or a free one, NULL: none; those that are gone are free. */
static uint64_t *
times_of(uint32_t handle, bool is_new)
{
	int found = -1;

	for (int i = 0; i < TIMED_MAX; i++) {
		if (timed[i].handle == handle)
			return timed[i].span;
		if (files_by_handle(OPENED_SOCKET, timed[i].handle) == NULL)
			found = i;
	}
	if (!is_new || found < 0)
		return NULL;
	timed[found].handle = handle;
	timed[found].span[0] = timed[found].span[1] = 0;
	return timed[found].span;
}

uint64_t
socket_until(const struct handler_event *c, uint8_t use)
{
	static const uint64_t forever[2];
	struct opened stream, *o = has_times ? files_find(c, arg(c, 0), &stream) : NULL;
	const uint64_t *span = o != NULL && o->kind == OPENED_SOCKET ?
		times_of(o->handle, false) : NULL;
	uint64_t now = 0;

	span = span != NULL ? span : forever;
	if (span[use == OPENED_WRITE] == 0)
		return FOREVER;
	kclock(&now);
	return now + span[use == OPENED_WRITE] * NS_PER_US;
}

long
socket_wait(const struct handler_event *c, uint64_t until)
{
	long result = files_wait(c, until);

	switch (result) {
	case 0: return 0;
	case -E_TIMEDOUT: return -E_AGAIN;
	case -E_INTR: return until == FOREVER ? -CALL_RESTART : -CALL_INTERRUPTED;
	default: return -E_IO;
	}
}

/* 1: ask again. */
static long
wait_more(const struct handler_event *c, uint64_t until)
{
	long result = socket_wait(c, until);

	return result == 0 ? 1 : result;
}

static uint64_t
all_bytes(const struct linux_message *m)
{
	const struct iovec *v = (const struct iovec *)m->piece;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < m->pieces; i++)
		sum += v[i].len;
	return sum;
}

/* The message of a call with one piece of memory. */
static struct linux_message
message_of(const struct handler_event *c, struct iovec *piece)
{
	*piece = (struct iovec){arg(c, 1), arg(c, 2)};
	return (struct linux_message){.name = arg(c, 4), .piece = (uint64_t)piece, .pieces = 1};
}

/* --- send --- */

/* Bytes [from, from + len) of the pieces are for the next request. */
static int
stage(const struct linux_message *m, uint64_t from, uint64_t len)
{
	const struct iovec *v = (const struct iovec *)m->piece;
	int result = 0;

	for (uint64_t i = 0; i < m->pieces && len > 0 && result == 0; i++) {
		uint64_t n = v[i].len > from ? v[i].len - from : 0;

		n = n < len ? n : len;
		if (n > 0)
			result = files_stage((const char *)v[i].base + from, n);
		from = v[i].len > from ? 0 : from - v[i].len;
		len -= n;
	}
	return result;
}

/* A request to send, and what follows it. */
struct sending {
	struct file_request q;
	struct {
		struct file_address address;
		uint32_t right[FILE_RIGHTS_MAX];
	} more;
	uint32_t signal_free;
};

/* Descriptors that come with it. */
static int
take_rights(const struct handler_event *c, const struct linux_control *k, struct sending *s)
{
	uint64_t count = (k->bytes - sizeof(*k)) / sizeof(int32_t);

	if (count > FILE_RIGHTS_MAX - s->q.more)
		return -E_INVAL;
	for (uint64_t i = 0; i < count; i++) {
		struct opened stream, *o = files_find(c, (unsigned long)k->fd[i], &stream);

		if (o == NULL || !files_is_served(o->kind))
			return o == NULL ? -E_BADF : -FILE_EOPNOTSUPP;
		/* it has to be known where the message is */
		if (FILE_SERVER_OF(o->handle) != 0)
			return -FILE_EXDEV;
		s->more.right[s->q.more++] = o->handle;
	}
	return 0;
}

/* Who the sender says that it is must be true. */
static int
check_credentials(const struct linux_control *k)
{
	if (k->bytes != sizeof(*k) + CREDENTIALS * sizeof(int32_t))
		return -E_INVAL;
	return k->fd[0] == personality_info.pid && k->fd[1] == 0 && k->fd[2] == 0 ? 0 : -E_PERM;
}

/* What comes beside the bytes. */
static int
take_control(const struct handler_event *c, const struct linux_message *m, struct sending *s)
{
	uint64_t at = 0, left = m->control_bytes;
	int result = 0;

	if (left >= sizeof(struct linux_control) && reach_read(m->control, left) != 0)
		return -E_FAULT;
	while (result == 0 && left >= sizeof(struct linux_control)) {
		const struct linux_control *k = (const struct linux_control *)(m->control + at);
		uint64_t bytes = (k->bytes + 7) & ~(uint64_t)7;

		if (k->bytes < sizeof(*k) || k->bytes > left)
			return -E_INVAL;
		if (k->level == SOL_SOCKET)
			result = k->type == SCM_RIGHTS ? take_rights(c, k, s) :
				k->type == SCM_CREDENTIALS ? check_credentials(k) : -E_INVAL;
		at += bytes;
		left -= bytes < left ? bytes : left;
	}
	return result;
}

/* As much as goes in one piece from `done` on: how much, or an error. */
static long
send_once(const struct handler_event *c, const struct linux_message *m, struct sending *s,
	uint64_t done)
{
	uint64_t left = all_bytes(m) - done;
	struct file_reply r;
	int result;
	struct opened *o = socket_find(c, arg(c, 0), &result);
	uint32_t rights = done == 0 ? s->q.more : 0;

	if (o == NULL)
		return result;
	if ((o->flags & OPENED_WHOLE) == 0 && left > FILE_PIECE_MAX)
		left = FILE_PIECE_MAX;
	if (left > FILE_STAGED_MAX)
		return -FILE_EMSGSIZE;
	result = stage(m, done, left);
	s->q.handle = o->handle;
	s->q.more = rights;
	if (result == 0)
		result = files_call(&s->q, (struct service_part){&s->more,
			(uint32_t)(sizeof(s->more.address) + rights * sizeof(uint32_t))}, &r,
			(struct service_part){NULL, 0});
	s->signal_free = (o->flags & OPENED_WHOLE) != 0;
	return result < 0 ? result : (long)r.count;
}

static long
send_all(const struct handler_event *c, const struct linux_message *m, struct sending *s)
{
	uint64_t done = 0, len = all_bytes(m), until = socket_until(c, OPENED_WRITE);
	long result;

	do {
		result = send_once(c, m, s, done);
		if (result > 0)
			done += (uint64_t)result;
		else if (result == -FILE_LATER)
			result = wait_more(c, until);
	} while (result > 0 && done < len);
	return done > 0 ? (long)done : result;
}

static __attribute__((noinline)) long
send_message(const struct handler_event *c, const struct linux_message *m, uint32_t flags)
{
	struct sending s = {.q = {.op = FILE_SEND, .offset = (flags & MSG_DONTWAIT) != 0 ?
		FILE_DONT_WAIT : 0}};
	int wrong;
	struct opened *o = socket_find(c, arg(c, 0), &wrong);
	long result = 0;

	if (o == NULL)
		return wrong;
	if ((flags & MSG_OOB) != 0)
		return -FILE_EOPNOTSUPP;
	if (m->name != 0 && m->name_bytes != 0) {
		result = socket_address(c, m->name, m->name_bytes, &s.more.address);
		if ((o->flags & OPENED_WHOLE) == 0)
			result = socket_is_connected(c) ? -FILE_EISCONN : -FILE_EOPNOTSUPP;
	}
	s.q.offset |= (uint64_t)(uint32_t)personality_info.pid << 32;
	if (result == 0 && m->control != 0)
		result = take_control(c, m, &s);
	if (result == 0)
		result = send_all(c, m, &s);
	return result == -E_PIPE && (flags & MSG_NOSIGNAL) == 0 && !s.signal_free ?
		-SOCKET_BROKEN : result;
}

/* A struct msghdr, whose pieces can be reached. */
static int
read_message(uint64_t from, struct linux_message *m)
{
	if (reach_read(from, sizeof(*m)) != 0)
		return -E_FAULT;
	memcpy(m, (const void *)from, sizeof(*m));
	return m->pieces > PIECES_MAX ? -FILE_EMSGSIZE :
		reach_read(m->piece, m->pieces * sizeof(struct iovec));
}

long
socket_send_call(const struct handler_event *c, unsigned long nr)
{
	struct iovec piece;
	struct linux_message m;
	int result;

	if (nr == SYS_sendmsg) {
		result = (int32_t)arg(c, 2) < 0 ? -E_INVAL : read_message(arg(c, 1), &m);
		return result != 0 ? result : send_message(c, &m, (uint32_t)arg(c, 2));
	}
	m = message_of(c, &piece);
	m.name_bytes = (uint32_t)arg(c, 5);
	return send_message(c, &m, (uint32_t)arg(c, 3));
}

/* --- receive --- */

/*
 * A piece of what comes beside the bytes, with so many numbers, behind the `used` bytes that are
 * there: where it lies, and for how many there is room. NULL: for none.
 */
static struct linux_control *
control_place(const struct linux_message *m, uint64_t used, uint64_t *numbers)
{
	struct linux_control *k = (struct linux_control *)(m->control + used);
	uint64_t room = m->control == 0 || m->control_bytes < used + sizeof(*k) ? 0 :
		(m->control_bytes - used - sizeof(*k)) / sizeof(int32_t);

	if (room > *numbers)
		room = *numbers;
	if (room > 0 && reach_write((uint64_t)k, sizeof(*k) + room * sizeof(int32_t)) != 0)
		room = 0;
	*numbers = room;
	return room > 0 ? k : NULL;
}

/* The bytes that are used then. */
static uint64_t
control_end(struct linux_control *k, int type, uint64_t numbers)
{
	k->level = SOL_SOCKET;
	k->type = type;
	k->bytes = sizeof(*k) + numbers * sizeof(int32_t);
	return (k->bytes + 7) & ~(uint64_t)7;
}

/* Who has sent it. Bytes that are used. */
static uint64_t
put_credentials(struct linux_message *m, const struct file_received *got)
{
	uint64_t room = CREDENTIALS;
	struct linux_control *k = got->pid == 0 ? NULL : control_place(m, 0, &room);

	if (got->pid != 0 && room < CREDENTIALS)
		m->flags |= MSG_CTRUNC;
	if (k == NULL || room < CREDENTIALS)
		return 0;
	k->fd[0] = got->pid;
	k->fd[1] = k->fd[2] = 0;
	return control_end(k, SCM_CREDENTIALS, CREDENTIALS);
}

/* Descriptors that have come become the caller's, as many as there is room for. */
static void
put_rights(const struct handler_event *c, struct linux_message *m,
	const struct file_received *got, bool is_cloexec)
{
	uint64_t used = put_credentials(m, got), room = FILE_RIGHTS_MAX;
	struct linux_control *k = control_place(m, used, &room);
	uint32_t given = 0;

	for (uint32_t i = 0; i < got->rights; i++) {
		long fd;

		if (given == room || (m->flags & MSG_CTRUNC) != 0) {
			m->flags |= MSG_CTRUNC;
			files_close(got->right[i].handle);
			continue;
		}
		fd = files_attach_claimed(c, &got->right[i], is_cloexec);
		if (fd < 0)
			m->flags |= MSG_CTRUNC;
		else
			k->fd[given++] = (int32_t)fd;
	}
	m->control_bytes = used + (given > 0 ? control_end(k, SCM_RIGHTS, given) : 0);
}

/* What the last request has left goes into the pieces, from byte `done` on. */
static void
take_rest(const struct linux_message *m, uint64_t done, uint64_t len)
{
	const struct iovec *v = (const struct iovec *)m->piece;

	for (uint64_t i = 0; i < m->pieces && len > 0; i++) {
		uint64_t n = v[i].len > done ? v[i].len - done : 0;

		n = n < len ? n : len;
		if (n > 0)
			files_rest((char *)v[i].base + done, n);
		done = v[i].len > done ? 0 : done - v[i].len;
		len -= n;
	}
}

/* One message, or what there is of a stream: bytes, or an error. */
static __attribute__((noinline)) long
receive_once(const struct handler_event *c, struct linux_message *m, uint32_t flags, uint64_t done)
{
	struct file_request q = {.op = FILE_RECEIVE,
		.more = ((flags & MSG_PEEK) != 0 ? FILE_PEEK : 0) |
		((flags & MSG_DONTWAIT) != 0 ? FILE_DONT_WAIT : 0) |
		(c->number == SYS_recvmsg ? FILE_WITH_RIGHTS : 0)};
	uint64_t room = all_bytes(m) - done;
	struct file_received got;
	struct file_reply r;
	int result;
	struct opened *o = socket_find(c, arg(c, 0), &result);

	if (o == NULL)
		return result;
	q.handle = o->handle;
	q.arg = room < INT32_MAX ? (uint32_t)room : INT32_MAX;
	got.name.bytes = 0;
	got.pid = 0;
	got.rights = got.is_cut = 0;
	result = files_ask_for(&q, &r, &got, sizeof(got));
	if (result < 0)
		return result;
	take_rest(m, done, r.more);
	if (got.is_cut)
		m->flags |= MSG_TRUNC;
	if (m->name != 0 && done == 0)
		socket_tell_name(&got.name, m->name, &m->name_bytes, false);
	else
		m->name_bytes = 0;
	if (c->number == SYS_recvmsg && done == 0)
		put_rights(c, m, &got, (flags & MSG_CMSG_CLOEXEC) != 0);
	return got.is_cut && (flags & MSG_TRUNC) != 0 ? (long)r.value : (long)r.more;
}

static long
receive_message(const struct handler_event *c, struct linux_message *m, uint32_t flags)
{
	bool wants_all = (flags & (MSG_WAITALL | MSG_PEEK | MSG_DONTWAIT)) == MSG_WAITALL;
	uint64_t done = 0, len = all_bytes(m), until = socket_until(c, OPENED_READ);
	uint32_t name_bytes = m->name_bytes;
	int wrong;
	struct opened *o = socket_find(c, arg(c, 0), &wrong);
	long result;

	if (o == NULL)
		return wrong;
	if ((flags & MSG_OOB) != 0)
		return (o->flags & OPENED_WHOLE) != 0 ? -FILE_EOPNOTSUPP : -E_INVAL;
	wants_all &= (o->flags & OPENED_WHOLE) == 0;
	m->flags = 0;
	do {
		result = receive_once(c, m, flags, done);
		if (result > 0 && done == 0)
			name_bytes = m->name_bytes;
		if (result > 0)
			done += (uint64_t)result;
		else if (result == -FILE_LATER)
			result = wait_more(c, until);
		else
			name_bytes = done == 0 ? m->name_bytes : name_bytes;
	} while (result > 0 && (done == 0 || (wants_all && done < len)));
	m->name_bytes = name_bytes;
	return done > 0 ? (long)done : result;
}

long
socket_receive_call(const struct handler_event *c, unsigned long nr)
{
	struct iovec piece;
	struct linux_message m, *to = (struct linux_message *)arg(c, 1);
	long result;

	if (nr == SYS_recvmsg) {
		result = (int32_t)arg(c, 2) < 0 ? -E_INVAL : read_message(arg(c, 1), &m);
		if (result != 0)
			return result;
		result = receive_message(c, &m, (uint32_t)arg(c, 2));
		if (result >= 0 && reach_write(arg(c, 1), sizeof(m)) != 0)
			return -E_FAULT;
		if (result >= 0)
			memcpy(to, &m, sizeof(m));
		return result;
	}
	m = message_of(c, &piece);
	if (m.name != 0 && reach_write(arg(c, 5), sizeof(uint32_t)) != 0)
		return -E_FAULT;
	if (m.name != 0)
		m.name_bytes = *(const uint32_t *)arg(c, 5);
	result = receive_message(c, &m, (uint32_t)arg(c, 3));
	if (result >= 0 && m.name != 0)
		*(uint32_t *)arg(c, 5) = m.name_bytes;
	return result;
}

/* readv and writev of what keeps messages whole. */
long
socket_pieces_call(const struct handler_event *c, uint8_t use)
{
	struct linux_message m = {.piece = arg(c, 1), .pieces = arg(c, 2)};
	long result;

	files_lock();
	result = use == OPENED_READ ? receive_message(c, &m, 0) : send_message(c, &m, 0);
	files_unlock();
	return result;
}

/* --- options --- */

enum option {
	SO_DEBUG = 1, SO_TYPE = 3, SO_ERROR = 4, SO_SNDBUF = 7, SO_RCVBUF = 8, SO_LINGER = 13,
	SO_REUSEPORT = 15, SO_PASSCRED = 16, SO_PEERCRED = 17, SO_RCVLOWAT = 18, SO_SNDLOWAT = 19,
	SO_RCVTIMEO = 20, SO_SNDTIMEO = 21, SO_ACCEPTCONN = 30, SO_PROTOCOL = 38, SO_DOMAIN = 39,
	SO_RCVTIMEO_NEW = 66, SO_SNDTIMEO_NEW = 67
};

static bool
is_time(unsigned long option)
{
	return option == SO_RCVTIMEO || option == SO_SNDTIMEO || option == SO_RCVTIMEO_NEW ||
		option == SO_SNDTIMEO_NEW;
}

/* What it is; its bytes, or an error. */
static int
option_value(const struct file_endpoint *e, unsigned long option, int32_t value[4])
{
	memset(value, 0, 4 * sizeof(value[0]));
	switch (option) {
	case SO_TYPE: value[0] = (int32_t)e->type; return 4;
	case SO_ERROR: value[0] = (int32_t)e->error; return 4;
	case SO_SNDBUF:
	case SO_RCVBUF: value[0] = SOCKET_BUFFER; return 4;
	case SO_RCVLOWAT:
	case SO_SNDLOWAT:
	case SO_DOMAIN: value[0] = 1; return 4;
	case SO_ACCEPTCONN: value[0] = (int32_t)e->listens; return 4;
	case SO_LINGER: return 8;
	case SO_PASSCRED: value[0] = (int32_t)e->tells; return 4;
	case SO_PEERCRED:
		value[0] = e->pid;
		value[1] = value[2] = e->pid != 0 ? 0 : -1;
		return 12;
	default:
		if (is_time(option))
			return 16;
		return (option >= SO_DEBUG && option <= SO_PASSCRED) || option == SO_PROTOCOL ? 4 :
			-LINUX_ENOPROTOOPT;
	}
}

static void
tell_time(const struct handler_event *c, unsigned long option, int64_t *time)
{
	struct opened stream, *o = files_find(c, arg(c, 0), &stream);
	const uint64_t *span = o != NULL ? times_of(o->handle, false) : NULL;
	uint64_t us = span == NULL ? 0 :
		span[option == SO_SNDTIMEO || option == SO_SNDTIMEO_NEW];

	time[0] = (int64_t)(us / US_PER_S);
	time[1] = (int64_t)(us % US_PER_S);
}

__attribute__((noinline)) long
socket_option_get(const struct handler_event *c)
{
	uint32_t *room = (uint32_t *)arg(c, 4);
	struct file_endpoint e;
	_Alignas(8) int32_t value[4];
	int bytes = socket_know(c, (int32_t)arg(c, 2) == SO_ERROR ? FILE_ENDPOINT_ERROR : 0, &e);

	if (bytes != 0)
		return bytes;
	if ((int32_t)arg(c, 1) != SOL_SOCKET)
		return -FILE_EOPNOTSUPP;
	if (reach_write(arg(c, 4), sizeof(*room)) != 0)
		return -E_FAULT;
	if ((int32_t)*room < 0)
		return -E_INVAL;
	bytes = option_value(&e, arg(c, 2), value);
	if (bytes < 0)
		return bytes;
	if (is_time(arg(c, 2)))
		tell_time(c, arg(c, 2), (int64_t *)(void *)value);
	if (*room > (uint32_t)bytes)
		*room = (uint32_t)bytes;
	if (reach_write(arg(c, 3), *room) != 0)
		return -E_FAULT;
	memcpy((void *)arg(c, 3), value, *room);
	return 0;
}

/* A struct timeval: how long calls wait. */
static int
set_time(uint32_t handle, unsigned long option, const int64_t *time)
{
	bool is_read = option == SO_RCVTIMEO || option == SO_RCVTIMEO_NEW;
	uint64_t *span;

	if (time[1] < 0 || time[1] >= US_PER_S)
		return -LINUX_EDOM;
	span = times_of(handle, time[0] != 0 || time[1] != 0);
	has_times |= span != NULL;
	if (span != NULL)
		span[!is_read] = time[0] < 0 ? 1 : time[0] < TIME_MAX_S ?
			(uint64_t)(time[0] * US_PER_S + time[1]) : 0;
	return span == NULL && (time[0] != 0 || time[1] != 0) ? -E_NOMEM : 0;
}

/* Who receives is to hear who sends. */
static __attribute__((noinline)) long
set_tells(const struct handler_event *c, bool tells)
{
	struct file_endpoint e;

	return socket_know(c, tells ? FILE_ENDPOINT_TELLS : FILE_ENDPOINT_TELLS_NOT, &e);
}

/* Sizes of buffers and the like are heard. */
long
socket_option_set(const struct handler_event *c)
{
	const int64_t *time = (const int64_t *)arg(c, 3);
	unsigned long option = arg(c, 2);
	int wrong;
	const struct opened *o = socket_find(c, arg(c, 0), &wrong);

	if (o == NULL)
		return wrong;
	if ((int32_t)arg(c, 1) != SOL_SOCKET)
		return -FILE_EOPNOTSUPP;
	if ((int32_t)arg(c, 4) < (is_time(option) ? 16 : 4))
		return -E_INVAL;
	if (reach_read((uint64_t)time, is_time(option) ? 16 : 4) != 0)
		return -E_FAULT;
	if (is_time(option))
		return set_time(o->handle, option, time);
	if (option == SO_PASSCRED)
		return set_tells(c, *(const int32_t *)time != 0);
	if (option == SO_TYPE || option == SO_ERROR || option == SO_PEERCRED ||
		option == SO_SNDLOWAT || option == SO_ACCEPTCONN || option == SO_PROTOCOL ||
		option == SO_DOMAIN)
		return -LINUX_ENOPROTOOPT;
	return option >= SO_DEBUG && option <= SO_RCVLOWAT ? 0 : -LINUX_ENOPROTOOPT;
}
