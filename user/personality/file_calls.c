/* SPDX-License-Identifier: MIT
 *
 * Linux's calls on files and descriptors. A path is found from the root or from the working
 * directory (cwd.h). Stacks are small here: nothing that holds a request is inlined into something
 * else.
 */
#include <base/str.h>
#include <user/personality/cwd.h>
#include <user/personality/files.h>
#include <user/personality/limits.h>
#include <user/personality/reach.h>
#include <user/personality/socket.h>
#include <user/personality/terminal.h>

#define AT_REMOVEDIR 0x200
#define LINUX_O_ACCMODE 3
#define LINUX_O_WRONLY 1
#define LINUX_O_RDWR 2
#define LINUX_O_CREAT 0100
#define LINUX_O_EXCL 0200
#define LINUX_O_TRUNC 01000
#define LINUX_O_APPEND 02000
#define LINUX_O_NONBLOCK 04000
#define LINUX_O_DIRECTORY 0200000
#define LINUX_O_NOFOLLOW 0400000
#define LINUX_O_CLOEXEC 02000000
#define LINUX_O_NAMELESS 020000000	/* O_TMPFILE, with O_DIRECTORY */
#define MFD_CLOEXEC 1
#define MEMFD_NAME_MAX 249
#define MEMFD_FOLDER "/tmp"
#define CLOSE_RANGE_CLOEXEC 4
#define MODE_KIND 0170000u
#define MODE_FILE 0100000u
#define MODE_PIPE 0010000u
#define MODE_ALL 0777
#define ADVICE_MAX 5
#define F_DUPFD 0
#define F_GETFD 1
#define F_SETFD 2
#define FD_CLOEXEC 1
#define F_SETFL 4
#define F_GETLK 5
#define F_SETLK 6
#define F_SETLKW 7
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#define F_OFD_SETLKW 38
#define F_GETFL 3
#define F_DUPFD_CLOEXEC 1030

/* The path of the directory of a descriptor, to FILE_PATH_MAX bytes. 0 or a negative error. */
static int
directory_path(const struct handler_event *c, unsigned long fd, char *path)
{
	struct opened stream, *o = files_find(c, fd, &stream);

	if (o == NULL || o->kind != OPENED_DIRECTORY)
		return o == NULL ? -E_BADF : -FILE_ENOTDIR;
	return files_where(o->handle, path);
}

int
file_put_path(const struct handler_event *c, struct file_named *q, size_t at, long dir,
	unsigned long from)
{
	const char *path = (const char *)from;
	char base[FILE_PATH_MAX];
	int bytes;

	if (from == 0)
		return -E_FAULT;
	if (path[0] == '/' || (int)dir == AT_FDCWD) {
		bytes = cwd_path(c, path, q->path + at, FILE_PATH_MAX - at);
	} else {
		bytes = directory_path(c, (unsigned long)dir, base);
		if (bytes == 0)
			bytes = path_join(base, path, q->path + at, FILE_PATH_MAX - at);
	}
	return bytes < 0 ? bytes : (int)at + bytes;
}

/* One request on one path. */
static int
ask_path(const struct handler_event *c, struct file_named *q, struct file_reply *r)
{
	int bytes = file_put_path(c, q, 0, (long)arg(c, 0), arg(c, 1));

	return bytes < 0 ? bytes : files_ask_named(q, (size_t)bytes, r);
}

static uint32_t
how_to_open(unsigned long flags)
{
	unsigned long mode = flags & LINUX_O_ACCMODE;

	return ((flags & LINUX_O_CREAT) != 0 ? FILE_CREATE : 0) |
		((flags & LINUX_O_EXCL) != 0 ? FILE_EXCLUSIVE : 0) |
		((flags & LINUX_O_TRUNC) != 0 ? FILE_EMPTY : 0) |
		(mode != 0 ? FILE_WRITABLE : 0) | (mode != LINUX_O_WRONLY ? FILE_READABLE : 0) |
		((flags & LINUX_O_APPEND) != 0 ? FILE_APPEND : 0) |
		((flags & LINUX_O_NONBLOCK) != 0 ? FILE_NONBLOCK : 0) |
		((flags & LINUX_O_NAMELESS) != 0 ? FILE_NAMELESS :
			(flags & LINUX_O_DIRECTORY) != 0 ? FILE_DIRECTORY : 0) |
		((flags & LINUX_O_NOFOLLOW) != 0 ? FILE_NO_FOLLOW : 0);
}

static uint8_t
opened_flags(unsigned long flags)
{
	unsigned long mode = flags & LINUX_O_ACCMODE;

	return (uint8_t)((mode != LINUX_O_WRONLY ? OPENED_READ : 0) |
		(mode != 0 ? OPENED_WRITE : 0));
}

/* What a request to open says is opened, by the file server or here. */
static int
open_entry(const struct handler_event *c, struct file_named *q, int bytes, struct opened *o)
{
	bool is_terminal = str_is_equal(q->path, TERMINAL_PATH);
	struct file_reply r = {.handle = is_terminal ? STREAM_TERMINAL : STREAM_NULL};
	bool is_stream = is_terminal || str_is_equal(q->path, NULL_PATH);
	int result = is_stream ? 0 : files_ask_named(q, (size_t)bytes, &r);

	if (is_terminal && !terminal_is_stream(c, STREAM_TERMINAL))
		return -LINUX_ENXIO;
	if (result == 0)
		*o = (struct opened){.handle = r.handle, .kind = is_stream ? OPENED_STREAM :
			r.kind == FILE_KIND_DIRECTORY ? OPENED_DIRECTORY :
			r.kind == FILE_KIND_PIPE ? OPENED_PIPE : OPENED_FILE};
	return result;
}

/* A pipe with a name is open when its other end is. */
static long
await_other_end(const struct handler_event *c, const struct opened *o)
{
	const struct file_request q = {.op = FILE_OPENED, .handle = o->handle};
	struct file_reply r;
	long result;

	while ((result = files_ask(&q, &r)) == -FILE_LATER &&
		(result = socket_wait(c, FOREVER)) == 0)
		continue;
	return result;
}

/* A descriptor for what a request opens, of which the flags are Linux's. */
static __attribute__((noinline)) long
open_named(const struct handler_event *c, struct file_named *q, int bytes, unsigned long flags)
{
	struct opened *o;
	long fd = -1, result;

	if (bytes < 0)
		return bytes;
	o = files_new();
	if (o == NULL)
		return -E_MFILE;
	result = open_entry(c, q, bytes, o);
	if (result != 0)
		return result;
	o->flags = opened_flags(flags);
	result = o->kind == OPENED_PIPE ? await_other_end(c, o) : 0;
	if (result == 0)
		result = files_attach(c, o, &fd, 0);
	if (result == 0) {
		files_set_cloexec(c, (unsigned long)fd, (flags & LINUX_O_CLOEXEC) != 0);
		return fd;
	}
	if (o->kind != OPENED_STREAM)
		files_close(o->handle);
	o->kind = OPENED_NONE;
	return result;
}

static __attribute__((noinline)) long
call_open(const struct handler_event *c)
{
	unsigned long flags = arg(c, 2);
	struct file_named q;
	int bytes = file_put_path(c, &q, 0, (long)arg(c, 0), arg(c, 1));

	q.head = (struct file_request){.op = FILE_OPEN, .arg = how_to_open(flags),
		.more = self_mode(arg(c, 3))};
	if ((flags & LINUX_O_NAMELESS) != 0 && (flags & LINUX_O_ACCMODE) == 0)
		return -E_INVAL;
	return open_named(c, &q, bytes, flags);
}

/* A file without a name among those in memory. */
static __attribute__((noinline)) long
call_memory_file(const struct handler_event *c)
{
	unsigned long flags = LINUX_O_RDWR | (arg(c, 1) != 0 ? LINUX_O_CLOEXEC : 0);
	struct file_named q;

	if (arg(c, 1) > MFD_CLOEXEC || str_len((const char *)arg(c, 0)) > MEMFD_NAME_MAX)
		return -E_INVAL;
	q.head = (struct file_request){.op = FILE_OPEN,
		.arg = FILE_NAMELESS | how_to_open(flags), .more = MODE_ALL};
	return open_named(c, &q, file_put_path(c, &q, 0, AT_FDCWD, (unsigned long)MEMFD_FOLDER),
		flags);
}

static __attribute__((noinline)) long
call_seek(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_SEEK, .offset = arg(c, 1), .arg = (uint32_t)arg(c, 2)};
	struct file_reply r;
	struct opened stream, *o = files_find(c, arg(c, 0), &stream);
	int result;

	if (o == NULL)
		return -E_BADF;
	if (o->kind == OPENED_STREAM)
		return -LINUX_ESPIPE;
	q.handle = o->handle;
	result = files_ask(&q, &r);
	return result != 0 ? result : (long)r.value;
}

/* The server writes entries as the caller wants them. */
static __attribute__((noinline)) long
call_list(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_LIST, .offset = FILE_AT_OFFSET, .arg = FILE_DATA_MAX};
	struct opened stream, *o = files_find(c, arg(c, 0), &stream);
	struct file_reply r;

	if (o == NULL || o->kind != OPENED_DIRECTORY)
		return o == NULL ? -E_BADF : -FILE_ENOTDIR;
	q.handle = o->handle;
	if (arg(c, 2) < q.arg)
		q.arg = (uint32_t)arg(c, 2);
	if (reach_write(arg(c, 1), q.arg) != 0)
		return -E_FAULT;
	return files_ask_for(&q, &r, (void *)arg(c, 1), q.arg);
}

static __attribute__((noinline)) long
duplicate(const struct handler_event *c, unsigned long from, long to, unsigned long low)
{
	struct opened stream, *o = files_find(c, from, &stream);
	int result;

	if (o == NULL)
		return -E_BADF;
	if (o == &stream) {
		o = files_new();
		if (o == NULL)
			return -E_MFILE;
		*o = stream;
		o->refs = 0;
	}
	result = files_attach(c, o, &to, low);
	if (result != 0 && o->refs == 0)
		o->kind = OPENED_NONE;
	return result != 0 ? result : to;
}

/* The flags of a description, of which `changes` are set or cleared first, as `flags` has them. */
static __attribute__((noinline)) long
flags_of(const struct opened *o, uint32_t flags, uint32_t changes)
{
	struct file_request q = {.op = FILE_SET_FLAGS, .handle = o->handle, .arg = flags,
		.more = changes};
	struct file_reply r = {0};
	long mode = (o->flags & OPENED_WRITE) == 0 ? 0 : (o->flags & OPENED_READ) != 0 ?
		LINUX_O_RDWR : LINUX_O_WRONLY;
	int result = o->kind == OPENED_STREAM ? 0 : files_ask(&q, &r);

	return result != 0 ? result : mode | ((r.value & FILE_APPEND) != 0 ? LINUX_O_APPEND : 0) |
		((r.value & FILE_NONBLOCK) != 0 ? LINUX_O_NONBLOCK : 0);
}

static long
set_flags(const struct opened *o, unsigned long flags)
{
	long result = flags_of(o, ((flags & LINUX_O_APPEND) != 0 ? FILE_APPEND : 0) |
		((flags & LINUX_O_NONBLOCK) != 0 ? FILE_NONBLOCK : 0),
		FILE_APPEND | FILE_NONBLOCK);

	return result < 0 ? result : 0;
}

/* A copy of a descriptor; closed or not when the process gets another program. */
static long
duplicate_flagged(const struct handler_event *c, long to, unsigned long low, bool is_cloexec)
{
	long fd = duplicate(c, arg(c, 0), to, low);

	if (fd >= 0)
		files_set_cloexec(c, (unsigned long)fd, is_cloexec);
	return fd;
}

static long
call_dup3(const struct handler_event *c)
{
	if (arg(c, 0) == arg(c, 1) || (arg(c, 2) & ~(unsigned long)LINUX_O_CLOEXEC) != 0)
		return -E_INVAL;
	return (long)arg(c, 1) < 0 || (long)arg(c, 1) >= files_limit(c) ? -E_BADF :
		duplicate_flagged(c, (long)arg(c, 1), 0, (arg(c, 2) & LINUX_O_CLOEXEC) != 0);
}

static long
call_fcntl(const struct handler_event *c)
{
	struct opened stream, *o = files_find(c, arg(c, 0), &stream);

	if (o == NULL)
		return -E_BADF;
	switch (arg(c, 1)) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC: return arg(c, 2) >= (unsigned long)files_limit(c) ? -E_INVAL :
		duplicate_flagged(c, -1, arg(c, 2), arg(c, 1) == F_DUPFD_CLOEXEC);
	case F_GETFD: return files_is_cloexec(c, arg(c, 0)) ? FD_CLOEXEC : 0;
	case F_SETFD:
		files_set_cloexec(c, arg(c, 0), (arg(c, 2) & FD_CLOEXEC) != 0);
		return 0;
	case F_GETFL: return flags_of(o, 0, 0);
	case F_SETFL: return set_flags(o, arg(c, 2));
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW: return lock_fcntl(c, o);
	default: return -E_INVAL;
	}
}

static __attribute__((noinline)) long
resize(uint32_t handle, uint64_t size)
{
	const struct file_request q = {.op = FILE_RESIZE, .handle = handle, .offset = size};
	struct file_reply r;
	long result = limits_room(handle, size, 0);

	return result != 0 ? result : files_ask(&q, &r);
}

static long
call_resize(const struct handler_event *c, unsigned long fd, int64_t size)
{
	struct opened stream, *o = files_find(c, fd, &stream);

	if (o == NULL)
		return -E_BADF;
	if (size < 0 || o->kind != OPENED_FILE)
		return -E_INVAL;
	return resize(o->handle, (uint64_t)size);
}

/* A file has memory for all that is before its last byte. */
static __attribute__((noinline)) long
call_allocate(const struct handler_event *c)
{
	struct opened stream, *o = files_find(c, arg(c, 0), &stream);
	struct file_request q = {.op = FILE_STAT_OPEN};
	struct file_reply r;
	int64_t first = (int64_t)arg(c, 2), len = (int64_t)arg(c, 3), end;
	long result;

	if (o == NULL)
		return -E_BADF;
	if (first < 0 || len <= 0 || __builtin_add_overflow(first, len, &end))
		return first < 0 || len <= 0 ? -E_INVAL : -FILE_EFBIG;
	if (arg(c, 1) != 0)
		return -FILE_EOPNOTSUPP;
	if ((o->flags & OPENED_WRITE) == 0)
		return -E_BADF;
	if (o->kind != OPENED_FILE)
		return o->kind == OPENED_PIPE ? -LINUX_ESPIPE : -LINUX_ENODEV;
	q.handle = o->handle;
	result = files_ask(&q, &r);
	if (result == 0 && r.value < (uint64_t)end)
		result = files_write(o, (uint64_t)end - 1, "", 1);
	return result < 0 ? result : 0;
}

static long
call_close_range(const struct handler_event *c)
{
	uint32_t first = (uint32_t)arg(c, 0), last = (uint32_t)arg(c, 1);
	struct opened stream;

	if ((arg(c, 2) & ~(unsigned long)CLOSE_RANGE_CLOEXEC) != 0 || first > last)
		return -E_INVAL;
	for (; first <= last && first < FD_LIMIT; first++)
		if (arg(c, 2) != 0)
			files_set_cloexec(c, first, true);
		else if (files_find(c, first, &stream) != NULL)
			files_detach(c, first);
	return 0;
}

static __attribute__((noinline)) long
call_truncate(const struct handler_event *c)
{
	struct file_named q;
	struct file_reply r;
	int bytes = file_put_path(c, &q, 0, AT_FDCWD, arg(c, 0)), result, closed;

	q.head = (struct file_request){.op = FILE_OPEN, .arg = FILE_WRITABLE};
	if (bytes < 0 || (int64_t)arg(c, 1) < 0)
		return bytes < 0 ? bytes : -E_INVAL;
	result = files_ask_named(&q, (size_t)bytes, &r);
	if (result != 0)
		return result;
	result = (int)resize(r.handle, arg(c, 1));
	closed = files_close(r.handle);
	return result != 0 ? result : closed;
}

static __attribute__((noinline)) long
call_rename(const struct handler_event *c)
{
	struct file_named q;
	struct file_reply r;
	int bytes = file_put_path(c, &q, 0, (long)arg(c, 0), arg(c, 1));

	q.head = (struct file_request){.op = FILE_RENAME};
	if (arg(c, 4) != 0)
		return -E_INVAL;
	if (bytes >= 0)
		bytes = file_put_path(c, &q, (size_t)bytes, (long)arg(c, 2), arg(c, 3));
	return bytes < 0 ? bytes : files_ask_named(&q, (size_t)bytes, &r);
}

#define LINK_FLAGS 0x1400		/* no path is empty */
#define LINK_FOLLOW 0x400

static __attribute__((noinline)) long
call_link(const struct handler_event *c)
{
	struct file_named q;
	struct file_reply r;
	int bytes = (arg(c, 4) & ~(unsigned long)LINK_FLAGS) != 0 ? -E_INVAL :
		file_put_path(c, &q, 0, (long)arg(c, 0), arg(c, 1));

	q.head = (struct file_request){.op = FILE_LINK,
		.arg = (arg(c, 4) & LINK_FOLLOW) != 0 ? 0 : FILE_NO_FOLLOW};
	if (bytes >= 0)
		bytes = file_put_path(c, &q, (size_t)bytes, (long)arg(c, 2), arg(c, 3));
	return bytes < 0 ? bytes : files_ask_named(&q, (size_t)bytes, &r);
}

static __attribute__((noinline)) long
call_path(const struct handler_event *c, unsigned long nr)
{
	struct file_named q;
	struct file_reply r;

	q.head = (struct file_request){.op = nr == SYS_mkdirat ? FILE_MAKE_DIRECTORY : FILE_REMOVE};
	if (nr == SYS_mkdirat)
		q.head.more = self_mode(arg(c, 2));
	if (nr == SYS_unlinkat && (arg(c, 2) & ~(unsigned long)AT_REMOVEDIR) != 0)
		return -E_INVAL;
	if (nr == SYS_unlinkat && (arg(c, 2) & AT_REMOVEDIR) != 0)
		q.head.arg = FILE_DIRECTORY;
	return ask_path(c, &q, &r);
}

/* Files and pipes alone: sockets get their names by bind, and devices are there. */
static __attribute__((noinline)) long
call_make(const struct handler_event *c)
{
	uint32_t kind = (uint32_t)arg(c, 2) & MODE_KIND;
	struct file_named q;
	struct file_reply r;
	int result;

	q.head = (struct file_request){.op = FILE_OPEN, .arg = FILE_CREATE | FILE_EXCLUSIVE,
		.more = self_mode(arg(c, 2))};
	if (kind == MODE_PIPE)
		q.head.op = FILE_MAKE_PIPE;
	else if (kind != 0 && kind != MODE_FILE)
		return -E_PERM;
	result = ask_path(c, &q, &r);
	return result != 0 || kind == MODE_PIPE ? result : files_close(r.handle);
}

/* What the link is to say lies behind its path. */
static __attribute__((noinline)) long
call_symlink(const struct handler_event *c)
{
	const char *target = (const char *)arg(c, 0);
	struct file_named q;
	struct file_reply r;
	int bytes = file_put_path(c, &q, 0, (long)arg(c, 1), arg(c, 2));
	size_t len;

	if (bytes < 0 || target == NULL)
		return bytes < 0 ? bytes : -E_FAULT;
	len = str_len_max(target, sizeof(q.path));
	if (len == 0 || (size_t)bytes + len + 1 > sizeof(q.path))
		return len == 0 ? -E_NOENT : -FILE_ENAMETOOLONG;
	memcpy(q.path + bytes, target, len + 1);
	q.head = (struct file_request){.op = FILE_SYMLINK};
	return files_ask_named(&q, (size_t)bytes + len + 1, &r);
}

static long
call_getcwd(const struct handler_event *c)
{
	const char *path = cwd_get(c);
	size_t bytes = str_len(path) + 1;

	if (arg(c, 1) < bytes)
		return -LINUX_ERANGE;
	if (reach_write(arg(c, 0), bytes) != 0)
		return -E_FAULT;
	memcpy((void *)arg(c, 0), path, bytes);
	return (long)bytes;
}

static __attribute__((noinline)) long
call_chdir(const struct handler_event *c)
{
	char path[FILE_PATH_MAX];
	int result = arg(c, 0) == 0 ? -E_FAULT :
		cwd_path(c, (const char *)arg(c, 0), path, sizeof(path));

	if (result > 0)
		result = path[0] == 0 ? -E_NOENT : cwd_set(c, path);
	return result;
}

static long
call_fchdir(const struct handler_event *c)
{
	char path[FILE_PATH_MAX];
	int result = directory_path(c, arg(c, 0), path);

	return result != 0 ? result : cwd_set(c, path);
}

static __attribute__((noinline)) long
call_sync(const struct opened *o)
{
	struct file_request q = {.op = FILE_SYNC, .handle = o->handle};
	struct file_reply r;

	return o->kind == OPENED_STREAM || o->kind == OPENED_PIPE ? -E_INVAL : files_ask(&q, &r);
}

/* Nobody reads ahead. */
static long
call_advise(const struct handler_event *c, const struct opened *o)
{
	if (o == NULL)
		return -E_BADF;
	if (o->kind == OPENED_PIPE)
		return -LINUX_ESPIPE;
	return (int64_t)arg(c, 2) < 0 || arg(c, 3) > ADVICE_MAX ? -E_INVAL : 0;
}

static long
call_descriptor(const struct handler_event *c, unsigned long nr)
{
	struct opened stream, *o = files_find(c, arg(c, 0), &stream);

	switch (nr) {
	case SYS_close: return files_detach(c, arg(c, 0));
	case SYS_close_range: return call_close_range(c);
	case SYS_fallocate: return call_allocate(c);
	case SYS_memfd_create: return call_memory_file(c);
	case SYS_dup: return duplicate(c, arg(c, 0), -1, 0);
	case SYS_dup3: return call_dup3(c);
	case SYS_pipe2: return pipe_create(c);
	case SYS_fcntl: return call_fcntl(c);
	case SYS_flock: return lock_flock(c, o);
	case SYS_ioctl: return o == NULL ? -E_BADF : terminal_ioctl(c, o);
	case SYS_mmap: return mapped_mmap(c);
	case SYS_fadvise64: return call_advise(c, o);
	case SYS_syncfs: return o == NULL ? -E_BADF : 0;
	case SYS_fsync:
	case SYS_fdatasync: return o == NULL ? -E_BADF : call_sync(o);
	default: return -E_NOSYS;
	}
}

static long
file_calls_serve(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_openat: return call_open(c);
	case SYS_fstatat:
	case SYS_statx:
	case SYS_fstat:
	case SYS_statfs:
	case SYS_fstatfs:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_utimensat:
	case SYS_fchmod:
	case SYS_fchmodat:
	case SYS_fchmodat2:
	case SYS_fchown:
	case SYS_readlinkat:
	case SYS_fchownat: return file_status_call(c, nr);
	case SYS_lseek: return call_seek(c);
	case SYS_getdents64: return call_list(c);
	case SYS_ftruncate: return call_resize(c, arg(c, 0), (int64_t)arg(c, 1));
	case SYS_truncate: return call_truncate(c);
	case SYS_renameat2: return call_rename(c);
	case SYS_linkat: return call_link(c);
	case SYS_symlinkat: return call_symlink(c);
	case SYS_mknodat: return call_make(c);
	case SYS_mkdirat:
	case SYS_unlinkat: return call_path(c, nr);
	case SYS_getcwd: return call_getcwd(c);
	case SYS_chdir: return call_chdir(c);
	case SYS_fchdir: return call_fchdir(c);
	default: return call_descriptor(c, nr);
	}
}

long
file_call(const struct handler_event *c, unsigned long nr)
{
	long result;

	files_lock();
	result = file_calls_serve(c, nr);
	files_unlock();
	return limits_tell(result);
}
