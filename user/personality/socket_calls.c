/* SPDX-License-Identifier: MIT
 *
 * Linux's calls on sockets, of the family AF_UNIX alone. Calls that wait do so without the lock,
 * and find their descriptor anew then.
 */
#include <base/str.h>
#include <user/personality/reach.h>
#include <user/personality/socket.h>

#define AF_UNSPEC 0
#define AF_UNIX 1
#define FAMILIES 46
#define TYPE_MASK 15
#define TYPES 11
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_RAW 3
#define SOCK_SEQPACKET 5
#define LINUX_O_NONBLOCK 04000
#define LINUX_O_CLOEXEC 02000000
#define FAMILY_BYTES 2
#define LINUX_EPROTONOSUPPORT 93
#define LINUX_ESOCKTNOSUPPORT 94
#define LINUX_EAFNOSUPPORT 97

struct linux_address {
	uint16_t family;
	char path[FILE_ADDRESS_MAX];
};

struct opened *
socket_find(const struct handler_event *c, unsigned long fd, int *wrong)
{
	struct opened stream, *o = files_find(c, fd, &stream);

	*wrong = o == NULL ? -E_BADF : o->kind != OPENED_SOCKET ? -FILE_ENOTSOCK : 0;
	return *wrong == 0 ? o : NULL;
}

/* --- names --- */

int
socket_address(const struct handler_event *c, unsigned long from, uint64_t bytes,
	struct file_address *a)
{
	const struct linux_address *l = (const struct linux_address *)from;
	uint32_t len = (uint32_t)bytes - FAMILY_BYTES;
	char path[FILE_ADDRESS_MAX + 1] = "";
	struct file_named q;
	int result;

	memset(a, 0, sizeof(*a));
	if ((uint32_t)bytes <= FAMILY_BYTES || (uint32_t)bytes > sizeof(*l))
		return -E_INVAL;
	if (reach_read(from, (uint32_t)bytes) != 0)
		return -E_FAULT;
	if (l->family != AF_UNIX)
		return -E_INVAL;
	memcpy(a->name.at, l->path, len);
	a->name.bytes = (uint16_t)(l->path[0] == 0 ? len : str_len_max(a->name.at, len));
	if (l->path[0] == 0)
		return 0;
	/* a path of all bytes has no zero behind it */
	memcpy(path, a->name.at, a->name.bytes);
	result = file_put_path(c, &q, 0, AT_FDCWD, (unsigned long)path);
	if (result > FILE_ADDRESS_PATH)
		return -FILE_ENAMETOOLONG;
	if (result > 0)
		memcpy(a->path, q.path, (size_t)result);
	return result < 0 ? result : 0;
}

int
socket_tell_name(const struct file_name *name, unsigned long to, uint32_t *bytes, bool is_unnamed)
{
	struct linux_address l = {.family = AF_UNIX};
	uint32_t len = FAMILY_BYTES + name->bytes;

	memcpy(l.path, name->at, name->bytes);
	if (name->bytes > 0 && name->at[0] != 0)
		len++;
	if (name->bytes == 0 && !is_unnamed)
		len = 0;
	if (reach_write(to, len < *bytes ? len : *bytes) != 0)
		return -E_FAULT;
	memcpy((void *)to, &l, len < *bytes ? len : *bytes);
	*bytes = len;
	return 0;
}

/* Where a call wants a name: its result is that of the call. */
static long
tell_name_to(const struct file_name *name, unsigned long to, unsigned long bytes)
{
	uint32_t *room = (uint32_t *)bytes;

	if (reach_write(bytes, sizeof(*room)) != 0)
		return -E_FAULT;
	return (int32_t)*room < 0 ? -E_INVAL : socket_tell_name(name, to, room, true);
}

/* --- descriptors --- */

/* Of a new socket; 0: it may be made. */
static int
check_new(const struct handler_event *c)
{
	uint32_t type = (uint32_t)arg(c, 1) & TYPE_MASK;
	uint32_t known = TYPE_MASK | LINUX_O_NONBLOCK | LINUX_O_CLOEXEC;

	if (((uint32_t)arg(c, 1) & ~known) != 0)
		return -E_INVAL;
	if ((uint32_t)arg(c, 0) >= FAMILIES || (type < TYPES && (uint32_t)arg(c, 0) != AF_UNIX))
		return -LINUX_EAFNOSUPPORT;
	if (type >= TYPES)
		return -E_INVAL;
	if (arg(c, 2) != 0 && (uint32_t)arg(c, 2) != AF_UNIX)
		return -LINUX_EPROTONOSUPPORT;
	return (type >= SOCK_STREAM && type <= SOCK_RAW) || type == SOCK_SEQPACKET ? 0 :
		-LINUX_ESOCKTNOSUPPORT;
}

static long
call_socket(const struct handler_event *c, bool is_pair)
{
	uint32_t type = (uint32_t)arg(c, 1) & TYPE_MASK;
	struct file_request q = {.op = FILE_SOCKET, .arg = type == SOCK_RAW ? SOCK_DGRAM : type,
		.more = ((arg(c, 1) & LINUX_O_NONBLOCK) != 0 ? FILE_NONBLOCK : 0) |
		(is_pair ? FILE_PAIR : 0), .offset = (uint64_t)personality_info.pid};
	bool is_cloexec = (arg(c, 1) & LINUX_O_CLOEXEC) != 0;
	struct file_claimed end[2];
	struct file_reply r;
	int result = check_new(c);

	if (result == 0)
		result = files_ask_for(&q, &r, end, sizeof(end));
	if (result < 0)
		return result;
	return is_pair ? files_attach_pair(c, end, is_cloexec, (int32_t *)arg(c, 3)) :
		files_attach_claimed(c, &end[0], is_cloexec);
}

static __attribute__((noinline)) long
call_bind(const struct handler_event *c)
{
	const struct linux_address *l = (const struct linux_address *)arg(c, 1);
	struct file_request q = {.op = FILE_BIND, .more = self_mode(0777)};
	struct file_address a = {0};
	struct file_reply r;
	int result;
	struct opened *o = socket_find(c, arg(c, 0), &result);

	if (o == NULL || ((uint32_t)arg(c, 2) == FAMILY_BYTES &&
		reach_read(arg(c, 1), FAMILY_BYTES) != 0))
		return o == NULL ? result : -E_FAULT;
	if ((uint32_t)arg(c, 2) != FAMILY_BYTES || l->family != AF_UNIX)
		result = socket_address(c, arg(c, 1), arg(c, 2), &a);
	q.handle = o->handle;
	if (result == 0)
		result = files_call(&q, (struct service_part){&a, sizeof(a)}, &r,
			(struct service_part){NULL, 0});
	return result < 0 ? result : 0;
}

static long
call_listen(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_LISTEN, .arg = (uint32_t)arg(c, 1),
		.offset = (uint64_t)personality_info.pid};
	struct file_reply r;
	int result;
	struct opened *o = socket_find(c, arg(c, 0), &result);

	if (o == NULL)
		return result;
	q.handle = o->handle;
	return files_ask(&q, &r);
}

/* Once. */
static __attribute__((noinline)) long
connect_once(const struct handler_event *c)
{
	const struct linux_address *l = (const struct linux_address *)arg(c, 1);
	struct file_request q = {.op = FILE_CONNECT};
	struct file_address a = {0};
	struct file_reply r;
	int result;
	struct opened *o = socket_find(c, arg(c, 0), &result);

	if (o == NULL)
		return result;
	if ((uint32_t)arg(c, 2) < FAMILY_BYTES)
		return -E_INVAL;
	if (reach_read(arg(c, 1), FAMILY_BYTES) != 0)
		return -E_FAULT;
	if (l->family != AF_UNSPEC || (o->flags & OPENED_WHOLE) == 0)
		result = socket_address(c, arg(c, 1), arg(c, 2), &a);
	q.handle = o->handle;
	if (result == 0)
		result = files_call(&q, (struct service_part){&a, sizeof(a)}, &r,
			(struct service_part){NULL, 0});
	return result < 0 ? result : 0;
}

/* A connection that has come: its descriptor. */
static __attribute__((noinline)) long
accept_once(const struct handler_event *c, unsigned long flags)
{
	struct file_request q = {.op = FILE_ACCEPT,
		.more = (flags & LINUX_O_NONBLOCK) != 0 ? FILE_NONBLOCK : 0};
	struct file_accepted a;
	struct file_reply r;
	int result;
	struct opened *o = socket_find(c, arg(c, 0), &result);
	long fd;

	if (o == NULL)
		return result;
	q.handle = o->handle;
	result = files_ask_for(&q, &r, &a, sizeof(a));
	if (result < 0)
		return result;
	fd = files_attach_claimed(c, &a.end, (flags & LINUX_O_CLOEXEC) != 0);
	if (fd >= 0 && arg(c, 1) != 0) {
		result = (int)tell_name_to(&a.name, arg(c, 1), arg(c, 2));
		if (result < 0)
			files_detach(c, (unsigned long)fd);
	}
	return result < 0 ? result : fd;
}

static long
call_accept(const struct handler_event *c, unsigned long flags)
{
	uint64_t until = socket_until(c, OPENED_READ);
	long result;

	if ((flags & ~(unsigned long)(LINUX_O_NONBLOCK | LINUX_O_CLOEXEC)) != 0)
		return -E_INVAL;
	do
		result = accept_once(c, flags);
	while (result == -FILE_LATER && (result = socket_wait(c, until)) == 0);
	return result;
}

static long
call_connect(const struct handler_event *c)
{
	uint64_t until = socket_until(c, OPENED_WRITE);
	long result;

	do
		result = connect_once(c);
	while (result == -FILE_LATER && (result = socket_wait(c, until)) == 0);
	return result;
}

/* --- what is known of one --- */

int
socket_know(const struct handler_event *c, uint32_t change, struct file_endpoint *e)
{
	struct file_request q = {.op = FILE_ENDPOINT, .arg = change};
	struct file_reply r;
	int result;
	struct opened *o = socket_find(c, arg(c, 0), &result);

	if (o == NULL)
		return result;
	q.handle = o->handle;
	result = files_ask_for(&q, &r, e, sizeof(*e));
	return result < 0 ? result : 0;
}

__attribute__((noinline)) bool
socket_is_connected(const struct handler_event *c)
{
	struct file_endpoint e;

	return socket_know(c, 0, &e) == 0 && e.has_peer;
}

static __attribute__((noinline)) long
call_name(const struct handler_event *c, bool of_peer)
{
	struct file_endpoint e;
	int result = socket_know(c, 0, &e);

	if (result == 0 && of_peer && !e.has_peer)
		result = -FILE_ENOTCONN;
	return result != 0 ? result :
		tell_name_to(of_peer ? &e.peer : &e.name, arg(c, 1), arg(c, 2));
}

static long
call_shutdown(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_SHUTDOWN, .arg = (uint32_t)arg(c, 1) + 1};
	struct file_reply r;
	int result;
	struct opened *o = socket_find(c, arg(c, 0), &result);

	if (o == NULL)
		return result;
	q.handle = o->handle;
	return files_ask(&q, &r);
}

static long
socket_serve(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_socket: return call_socket(c, false);
	case SYS_socketpair: return call_socket(c, true);
	case SYS_bind: return call_bind(c);
	case SYS_listen: return call_listen(c);
	case SYS_accept: return call_accept(c, 0);
	case SYS_accept4: return call_accept(c, arg(c, 3));
	case SYS_connect: return call_connect(c);
	case SYS_getsockname: return call_name(c, false);
	case SYS_getpeername: return call_name(c, true);
	case SYS_setsockopt: return socket_option_set(c);
	case SYS_getsockopt: return socket_option_get(c);
	case SYS_shutdown: return call_shutdown(c);
	case SYS_sendto:
	case SYS_sendmsg: return socket_send_call(c, nr);
	default: return socket_receive_call(c, nr);
	}
}

long
socket_call(const struct handler_event *c, unsigned long nr)
{
	long result;

	files_lock();
	result = socket_serve(c, nr);
	files_unlock();
	if (result == -SOCKET_BROKEN) {
		signal_pend_self(SIGPIPE);
		return -E_PIPE;
	}
	return result;
}
