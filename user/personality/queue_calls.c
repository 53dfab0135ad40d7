/* SPDX-License-Identifier: MIT
 *
 * Linux's calls on POSIX message queues, which the file server has. Times are of any clock: all
 * run since the machine started.
 */
#include <base/str.h>
#include <user/personality/reach.h>
#include <user/personality/socket.h>

#define LINUX_O_ACCMODE 3
#define LINUX_O_WRONLY 1
#define LINUX_O_CREAT 0100
#define LINUX_O_EXCL 0200
#define LINUX_O_NONBLOCK 04000
#define LINUX_O_CLOEXEC 02000000
#define NAME_BYTES_MAX 255
#define MESSAGES 10			/* where nobody says how many */
#define MESSAGE_BYTES 8192
#define SIGEV_SIGNAL 0
#define SIGEV_NONE 1
#define SIGEV_THREAD 2
#define NS_PER_S 1000000000ull

/* Linux's struct mq_attr and struct sigevent. */
struct linux_queue {
	int64_t flags, messages, bytes, count, reserved[4];
};

struct linux_event {
	uint64_t value;
	int32_t signal, notify;
};

/* The name of a queue has no slash. */
static int
read_name(unsigned long from, struct file_name *name)
{
	const char *text = (const char *)from;
	size_t len = text == NULL ? 0 : str_len_max(text, NAME_BYTES_MAX + 1);

	*name = (struct file_name){.bytes = (uint16_t)len};
	if (text == NULL)
		return -E_FAULT;
	if (len == 0)
		return -E_NOENT;
	if (len > FILE_ADDRESS_MAX)
		return -FILE_ENAMETOOLONG;
	memcpy(name->at, text, len);
	for (size_t i = 0; i < len; i++)
		if (text[i] == '/')
			return -E_ACCES;
	return text[0] == '.' && (len == 1 || (len == 2 && text[1] == '.')) ? -E_ACCES : 0;
}

static __attribute__((noinline)) long
call_open(const struct handler_event *c)
{
	unsigned long flags = arg(c, 1), mode = flags & LINUX_O_ACCMODE;
	const struct linux_queue *l = (const struct linux_queue *)arg(c, 3);
	uint64_t messages = MESSAGES, bytes = MESSAGE_BYTES;
	struct file_request q = {.op = FILE_QUEUE, .more = self_mode(arg(c, 2)),
		.arg = ((flags & LINUX_O_CREAT) != 0 ? FILE_CREATE : 0) |
		((flags & LINUX_O_EXCL) != 0 ? FILE_EXCLUSIVE : 0) |
		((flags & LINUX_O_NONBLOCK) != 0 ? FILE_NONBLOCK : 0) |
		(mode != 0 ? FILE_WRITABLE : 0) | (mode != LINUX_O_WRONLY ? FILE_READABLE : 0)};
	struct file_claimed end;
	struct file_name name;
	struct file_reply r;
	int result = read_name(arg(c, 0), &name);

	if ((flags & LINUX_O_CREAT) != 0 && l != NULL) {
		messages = (uint64_t)l->messages;
		bytes = (uint64_t)l->bytes;
		if (messages > UINT32_MAX || bytes > UINT32_MAX)
			return -E_INVAL;
	}
	q.offset = messages << 32 | bytes;
	if (result == 0)
		result = files_call(&q, (struct service_part){&name, sizeof(name)}, &r,
			(struct service_part){&end, sizeof(end)});
	return result < 0 ? result :
		files_attach_claimed(c, &end, true);
}

static long
call_unlink(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_QUEUE_REMOVE};
	struct file_name name;
	struct file_reply r;
	int result = read_name(arg(c, 0), &name);

	if (result == 0)
		result = files_call(&q, (struct service_part){&name, sizeof(name)}, &r,
			(struct service_part){NULL, 0});
	return result < 0 ? result : 0;
}

static struct opened *
find_queue(const struct handler_event *c)
{
	struct opened stream, *o = files_find(c, arg(c, 0), &stream);

	return o != NULL && o->kind == OPENED_QUEUE ? o : NULL;
}

/* Until when a call waits, of a time that is given; false: that is none. */
static bool
read_time(const uint64_t *t, uint64_t *until)
{
	*until = FOREVER;
	if (t == NULL)
		return true;
	*until = time_after(0, t);
	return (int64_t)t[0] >= 0 && t[1] < NS_PER_S;
}

static __attribute__((noinline)) long
send_once(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_SEND, .arg = (uint32_t)arg(c, 3)};
	struct file_address nobody = {0};
	struct opened *o = find_queue(c);
	struct file_reply r;
	int result;

	if (o == NULL)
		return -E_BADF;
	if (arg(c, 2) > MESSAGE_BYTES)
		return -FILE_EMSGSIZE;
	q.handle = o->handle;
	result = files_stage((const char *)arg(c, 1), arg(c, 2));
	if (result == 0)
		result = files_call(&q, (struct service_part){&nobody, sizeof(nobody)}, &r,
			(struct service_part){NULL, 0});
	return result < 0 ? result : 0;
}

static __attribute__((noinline)) long
receive_once(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_RECEIVE, .arg = arg(c, 2) < INT32_MAX ?
		(uint32_t)arg(c, 2) : INT32_MAX};
	struct opened *o = find_queue(c);
	struct file_received got;
	struct file_reply r;
	int result;

	if (o == NULL)
		return -E_BADF;
	q.handle = o->handle;
	result = files_ask_for(&q, &r, &got, sizeof(got));
	if (result < 0)
		return result;
	if (r.more > 0)
		files_rest((char *)arg(c, 1), r.more);
	if (arg(c, 3) != 0)
		*(uint32_t *)arg(c, 3) = (uint32_t)r.value;
	return r.more;
}

static long
call_move(const struct handler_event *c, bool is_send)
{
	uint64_t until;
	long result;

	if (!read_time((const uint64_t *)arg(c, 4), &until))
		return -E_INVAL;
	while ((result = is_send ? send_once(c) : receive_once(c)) == -FILE_LATER) {
		result = files_wait(c, until);
		if (result != 0)
			return result == -E_INTR ? -CALL_RESTART : result == -E_TIMEDOUT ? result :
				-E_IO;
	}
	return result;
}

static long
call_notify(const struct handler_event *c)
{
	const struct linux_event *e = (const struct linux_event *)arg(c, 1);
	struct file_request q = {.op = FILE_QUEUE_NOTIFY, .arg = UINT32_MAX,
		.offset = (uint64_t)personality_info.pid};
	struct opened *o;
	struct file_reply r;

	if (e != NULL && e->notify != SIGEV_NONE && e->notify != SIGEV_SIGNAL)
		return -E_INVAL;
	if (e != NULL && e->notify == SIGEV_SIGNAL && (e->signal < 1 || e->signal > 64))
		return -E_INVAL;
	o = find_queue(c);
	if (o == NULL)
		return -E_BADF;
	if (e != NULL)
		q.arg = e->notify == SIGEV_NONE ? 0 : (uint32_t)e->signal;
	q.handle = o->handle;
	return files_ask(&q, &r);
}

static __attribute__((noinline)) long
call_state(const struct handler_event *c)
{
	const struct linux_queue *to = (const struct linux_queue *)arg(c, 1);
	struct linux_queue *old = (struct linux_queue *)arg(c, 2);
	struct file_request q = {.op = FILE_QUEUE_STATE}, f = {.op = FILE_SET_FLAGS};
	struct file_queue state;
	int64_t flags = to != NULL ? to->flags : 0;
	struct file_reply r;
	struct opened *o;
	int result;

	if (old != NULL && reach_write((uint64_t)old, sizeof(*old)) != 0)
		return -E_FAULT;
	if ((flags & ~(int64_t)LINUX_O_NONBLOCK) != 0)
		return -E_INVAL;
	o = find_queue(c);
	if (o == NULL)
		return -E_BADF;
	q.handle = f.handle = o->handle;
	result = files_ask_for(&q, &r, &state, sizeof(state));
	if (result >= 0)
		result = files_ask(&f, &r);
	if (result < 0)
		return result;
	if (old != NULL)
		*old = (struct linux_queue){.flags = (r.value & FILE_NONBLOCK) != 0 ?
			LINUX_O_NONBLOCK : 0, .messages = state.messages, .bytes = state.bytes,
			.count = state.count};
	if (to == NULL)
		return 0;
	f.more = FILE_NONBLOCK;
	f.arg = flags != 0 ? FILE_NONBLOCK : 0;
	return files_ask(&f, &r);
}

long
queue_call(const struct handler_event *c, unsigned long nr)
{
	long result;

	files_lock();
	switch (nr) {
	case SYS_mq_open: result = call_open(c); break;
	case SYS_mq_unlink: result = call_unlink(c); break;
	case SYS_mq_timedsend: result = call_move(c, true); break;
	case SYS_mq_timedreceive: result = call_move(c, false); break;
	case SYS_mq_notify: result = call_notify(c); break;
	default: result = call_state(c); break;
	}
	files_unlock();
	return result;
}
