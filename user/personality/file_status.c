/* SPDX-License-Identifier: MIT
 *
 * What Linux's calls say about files, and set: stat, access, times, modes. The server keeps one
 * time of a file, that of its last change.
 */
#include <base/str.h>
#include <user/personality/files.h>
#include <user/personality/reach.h>

#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_NO_AUTOMOUNT 0x800
#define AT_EMPTY_PATH 0x1000
#define AT_STATX_SYNC 0x6000
#define STATX_BASIC 0x7ff
#define STATX_RESERVED 0x80000000u
#define ACCESS_EXECUTE 1
/* of faccessat2; everybody may do the same with each of his identities */
#define ACCESS_FLAGS (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | 0x200)
#define UTIME_NOW 0x3fffffff
#define UTIME_OMIT 0x3ffffffe
#define NS_PER_S 1000000000ull
#define S_IFCHR 0020620
#define S_IFREG 0100000
#define S_IFIFO 0010600
#define S_IFSOCK 0140000
#define EXECUTE_BITS 0111
#define DIRECTORY_BYTES 4096

/* of asm-generic */
struct linux_time {
	int64_t seconds, ns;
};

struct linux_stat {
	uint64_t dev, ino;
	uint32_t mode, nlink, uid, gid;
	uint64_t rdev, pad;
	int64_t size;
	int32_t blksize, pad2;
	int64_t blocks;
	struct linux_time times[3];	/* of the last access, change, change of the status */
	uint32_t unused[2];
};

_Static_assert(sizeof(struct linux_stat) == 128, "struct stat");

_Static_assert(AT_SYMLINK_NOFOLLOW == FILE_NO_FOLLOW, "flags are passed on");
_Static_assert(sizeof(struct file_space) >= sizeof(struct file_status), "room for both");

/* What is known of a file, or of the room where it lies. */
struct known {
	struct file_reply reply;
	union {
		struct file_space space;	/* the larger one */
		struct file_status status;
	};
};

static uint32_t
mode_of(const struct known *k)
{
	if (k->status.mode != 0)
		return k->status.mode;
	switch (k->reply.kind) {
	case FILE_KIND_PIPE: return S_IFIFO;
	case FILE_KIND_SOCKET: return S_IFSOCK | 0777;
	case FILE_KIND_QUEUE: return S_IFREG | 0600;
	default: return S_IFCHR;
	}
}

static long
fill_stat(unsigned long to, const struct known *k)
{
	const struct file_status *f = &k->status;
	bool is_memory = f->device == 0 || f->device >= FILE_DEVICE_MEMORY;
	const uint64_t times[3] = {f->accessed, f->modified, f->changed};
	struct linux_stat s = {.dev = f->device, .ino = f->node != 0 ? f->node : k->reply.node,
		.nlink = f->mode != 0 ? f->links : 1,
		.blksize = 4096, .mode = mode_of(k),
		.size = (int64_t)k->reply.value, .blocks = (int64_t)f->blocks};

	if (k->reply.kind == FILE_KIND_DIRECTORY && is_memory)
		s.size = DIRECTORY_BYTES;
	if (is_memory)
		s.blocks = (s.size + s.blksize - 1) / s.blksize * (s.blksize / 512);
	for (int i = 0; i < 3; i++)
		s.times[i] = (struct linux_time){(int64_t)(times[i] / NS_PER_S),
			(int64_t)(times[i] % NS_PER_S)};
	memcpy((void *)to, &s, sizeof(s));
	return 0;
}

static __attribute__((noinline)) int
know_open(const struct handler_event *c, unsigned long fd, struct known *k, uint32_t op)
{
	struct file_request q = {.op = op};
	struct opened stream, *o = files_find(c, fd, &stream);
	int result;

	*k = (struct known){0};
	if (o == NULL)
		return -E_BADF;
	q.handle = o->handle;
	result = o->kind == OPENED_STREAM ? 0 :
		files_ask_for(&q, &k->reply, &k->space, sizeof(k->space));
	return result < 0 ? result : 0;
}

static __attribute__((noinline)) int
ask_path(const struct handler_event *c, long dir, unsigned long path, struct known *k,
	struct file_request head)
{
	struct file_named q;
	int bytes = file_put_path(c, &q, 0, dir, path), result;

	q.head = head;
	*k = (struct known){0};
	if (bytes < 0)
		return bytes;
	result = files_ask_about(&q, (size_t)bytes, &k->reply,
		(struct iovec){(uint64_t)&k->space, sizeof(k->space)});
	return result > 0 ? 0 : result;
}

static int
know_path(const struct handler_event *c, long dir, unsigned long path, struct known *k,
	unsigned long flags)
{
	return ask_path(c, dir, path, k, (struct file_request){.op = FILE_STAT,
		.arg = (uint32_t)flags & FILE_NO_FOLLOW});
}

static bool
is_known(unsigned long flags)
{
	return (flags & ~(unsigned long)(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT |
		AT_EMPTY_PATH)) == 0;
}

static bool
names_itself(const struct handler_event *c, unsigned long flags)
{
	return (flags & AT_EMPTY_PATH) != 0 && *(const char *)arg(c, 1) == 0;
}

static long
call_stat(const struct handler_event *c)
{
	struct known k;
	int result = !is_known(arg(c, 3)) ? -E_INVAL : arg(c, 1) == 0 ? -E_FAULT :
		names_itself(c, arg(c, 3)) ? know_open(c, arg(c, 0), &k, FILE_STAT_OPEN) :
		know_path(c, (long)arg(c, 0), arg(c, 1), &k, arg(c, 3));

	return result != 0 ? result : fill_stat(arg(c, 2), &k);
}

/* Linux's struct statx. */
struct linux_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, pad;
	uint64_t ino, size, blocks, attributes_mask;
	struct {
		int64_t seconds;
		uint32_t ns, pad;
	} accessed, made, changed, modified;
	uint32_t rdev[2], dev[2];
	uint64_t rest[14];
};

_Static_assert(sizeof(struct linux_statx) == 256, "struct statx");

static __attribute__((noinline)) long
call_statx(const struct handler_event *c)
{
	unsigned long how = arg(c, 2) & ~(unsigned long)AT_STATX_SYNC;
	struct linux_stat s;
	struct known k;
	int result = !is_known(how) || (arg(c, 3) & STATX_RESERVED) != 0 ? -E_INVAL :
		names_itself(c, how) ? know_open(c, arg(c, 0), &k, FILE_STAT_OPEN) :
		know_path(c, (long)arg(c, 0), arg(c, 1), &k, how);

	if (result != 0)
		return result;
	fill_stat((unsigned long)&s, &k);
	const struct linux_statx x = {.mask = STATX_BASIC, .blksize = (uint32_t)s.blksize,
		.nlink = s.nlink, .mode = (uint16_t)s.mode, .ino = s.ino,
		.size = (uint64_t)s.size, .blocks = (uint64_t)s.blocks,
		.accessed = {s.times[0].seconds, (uint32_t)s.times[0].ns, 0},
		.modified = {s.times[1].seconds, (uint32_t)s.times[1].ns, 0},
		.changed = {s.times[2].seconds, (uint32_t)s.times[2].ns, 0},
		.dev = {0, (uint32_t)s.dev}};

	memcpy((void *)arg(c, 4), &x, sizeof(x));
	return 0;
}

static long
call_fstat(const struct handler_event *c)
{
	struct known k;
	int result = know_open(c, arg(c, 0), &k, FILE_STAT_OPEN);

	return result != 0 ? result : fill_stat(arg(c, 1), &k);
}

/* Linux's struct statfs. */
struct linux_space {
	uint64_t type, block_bytes, blocks, free, available, files, free_files;
	uint64_t id, name_max, piece_bytes, flags, rest[4];
};

_Static_assert(sizeof(struct linux_space) == 120, "struct statfs");

static long
call_space(const struct handler_event *c, bool is_open)
{
	struct linux_space s = {0};
	struct known k;
	int result = is_open ? know_open(c, arg(c, 0), &k, FILE_SPACE_OPEN) :
		ask_path(c, AT_FDCWD, arg(c, 0), &k, (struct file_request){.op = FILE_SPACE});

	if (result != 0)
		return result;
	memcpy(&s, &k.space, offsetof(struct linux_space, flags));
	memcpy((void *)arg(c, 1), &s, sizeof(s));
	return 0;
}

/* Everything is allowed but to execute what nobody may. */
static long
call_access(const struct handler_event *c, unsigned long nr)
{
	struct known k;
	bool is_open = nr == SYS_faccessat2 && names_itself(c, arg(c, 3));
	int result = nr == SYS_faccessat2 && (arg(c, 3) & ~(unsigned long)ACCESS_FLAGS) != 0 ?
		-E_INVAL : is_open ? know_open(c, arg(c, 0), &k, FILE_STAT_OPEN) :
		know_path(c, (long)arg(c, 0), arg(c, 1), &k,
			nr == SYS_faccessat ? 0 : arg(c, 3));

	if (arg(c, 2) > 7)
		return -E_INVAL;
	if (result == 0 && (arg(c, 2) & ACCESS_EXECUTE) != 0 &&
		k.reply.kind == FILE_KIND_FILE && (k.status.mode & EXECUTE_BITS) == 0)
		return -E_ACCES;
	return result;
}

/* For those of /proc see self_readlink. */
static __attribute__((noinline)) long
call_readlink(const struct handler_event *c)
{
	struct file_named q;
	struct file_reply r;
	int bytes = file_put_path(c, &q, 0, (long)arg(c, 0), arg(c, 1));

	if (bytes < 0 || (int64_t)arg(c, 3) <= 0)
		return bytes < 0 ? bytes : -E_INVAL;
	if (reach_write(arg(c, 2), arg(c, 3) < FILE_DATA_MAX ? arg(c, 3) : FILE_DATA_MAX) != 0)
		return -E_FAULT;
	q.head = (struct file_request){.op = FILE_READ_LINK};
	return files_ask_about(&q, (size_t)bytes, &r, (struct iovec){arg(c, 2), arg(c, 3)});
}

/* A request on what a descriptor stands for. A stream has nothing that could be set. */
static __attribute__((noinline)) long
ask_open(const struct handler_event *c, unsigned long fd, struct file_request *q)
{
	struct opened stream, *o = files_find(c, fd, &stream);
	struct file_reply r;

	if (o == NULL)
		return -E_BADF;
	q->handle = o->handle;
	return o->kind == OPENED_STREAM ? 0 : files_ask(q, &r);
}

/* The same for a path, which is opened for the request: also a link, if the flags say so. */
static __attribute__((noinline)) long
ask_named(const struct handler_event *c, unsigned long flags, struct file_request *q)
{
	struct file_named open;
	struct file_reply r;
	int bytes = file_put_path(c, &open, 0, (long)arg(c, 0), arg(c, 1)), result;

	open.head = (struct file_request){.op = FILE_OPEN,
		.arg = (uint32_t)flags & FILE_NO_FOLLOW};
	if (bytes < 0)
		return bytes;
	result = files_ask_named(&open, (size_t)bytes, &r);
	if (result != 0)
		return result;
	q->handle = r.handle;
	result = files_ask(q, &r);
	files_close(q->handle);
	return result;
}

static long
call_chmod(const struct handler_event *c, unsigned long nr)
{
	bool is_second = nr == SYS_fchmodat2, is_named = is_second || nr == SYS_fchmodat;
	struct file_request q = {.op = FILE_SET_MODE, .arg = (uint32_t)arg(c, is_named ? 2 : 1)};

	if (is_second && !is_known(arg(c, 3)))
		return -E_INVAL;
	if (is_second && names_itself(c, arg(c, 3)))
		is_named = false;
	return is_named ? ask_named(c, is_second ? arg(c, 3) : 0, &q) : ask_open(c, arg(c, 0), &q);
}

/* There is one user, and one group. */
static long
call_chown(const struct handler_event *c, bool is_named)
{
	uint32_t user = (uint32_t)arg(c, is_named ? 2 : 1),
		group = (uint32_t)arg(c, is_named ? 3 : 2);
	struct known k;
	bool has_path = is_named && !names_itself(c, arg(c, 4));
	int result = is_named && !is_known(arg(c, 4)) ? -E_INVAL : has_path ?
		know_path(c, (long)arg(c, 0), arg(c, 1), &k,
			arg(c, 4)) :
		know_open(c, arg(c, 0), &k, FILE_STAT_OPEN);

	return result != 0 ? result : user + 1 > 1 || group + 1 > 1 ? -E_PERM : 0;
}

/* The time of the last access is not kept. */
static long
call_times(const struct handler_event *c)
{
	const struct linux_time *times = (const struct linux_time *)arg(c, 2);
	struct file_request q = {.op = FILE_SET_TIME};

	if (!is_known(arg(c, 3)))
		return -E_INVAL;
	for (int i = 0; times != NULL && i < 2; i++)
		if ((uint64_t)times[i].ns >= NS_PER_S && times[i].ns != UTIME_NOW &&
			times[i].ns != UTIME_OMIT)
			return -E_INVAL;
	q.arg = times == NULL || times[1].ns == UTIME_NOW ? FILE_NOW : 0;
	if (times != NULL && times[1].ns < (int64_t)NS_PER_S)
		q.offset = times[1].seconds < 0 ? 0 : (uint64_t)times[1].seconds * NS_PER_S +
			(uint64_t)times[1].ns;
	if (times != NULL && times[1].ns == UTIME_OMIT)
		q = (struct file_request){.op = FILE_STAT_OPEN};
	return arg(c, 1) == 0 || names_itself(c, arg(c, 3)) ? ask_open(c, arg(c, 0), &q) :
		ask_named(c, arg(c, 3), &q);
}

long
file_status_call(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_fstatat: return call_stat(c);
	case SYS_fstat: return call_fstat(c);
	case SYS_statfs:
	case SYS_fstatfs: return call_space(c, nr == SYS_fstatfs);
	case SYS_statx: return call_statx(c);
	case SYS_faccessat:
	case SYS_faccessat2: return call_access(c, nr);
	case SYS_utimensat: return call_times(c);
	case SYS_readlinkat: return call_readlink(c);
	case SYS_fchownat:
	case SYS_fchown: return call_chown(c, nr == SYS_fchownat);
	default: return call_chmod(c, nr);
	}
}
