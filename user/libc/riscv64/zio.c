/* SPDX-License-Identifier: MIT
 *
 * Buffers: see atoll/zio.h. The personality asks the file server for them, and the handle that this
 * gives leads to the memory. Addresses stay when a buffer goes, for the next one of that size.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/personality.h>
#include <atoll/zio.h>
#include <servers/file/protocol.h>
#include <user/libc/zio_calls.h>

#define PLACES 96			/* buffers that the process has, and files */
#define PAGE 4096ul
#define LARGE (2ul << 20)
#define COPY_MAX 65536			/* bytes that are copied into one buffer */

static struct place {
	uintptr_t addr;			/* 0: unused */
	size_t bytes;
	uint64_t key;			/* of the buffer; 0: nothing is there now */
	bool is_file;			/* it is mapped, and nothing else */
} place[PLACES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t archive[2];		/* where that is mapped, and its bytes; 0: not yet */

/* A child of fork has nothing of that, nor what is mapped here. */
static void
begin_child(void)
{
	memset(place, 0, sizeof(place));
	memset(&counts, 0, sizeof(counts));
	memset(archive, 0, sizeof(archive));
	pthread_mutex_init(&lock, NULL);
}

static void
know_forks(void)
{
	pthread_atfork(NULL, NULL, begin_child);
}

/* 0 or a negative error. */
static int
zio_ask(int fd, enum file_op op, uint64_t offset, uint64_t args, struct zio_answer *a)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, know_forks);
	return syscall(PERSONALITY_ZIO, (long)fd, (long)op, offset, args, a) < 0 ? -errno : 0;
}

/* --- places --- */

/* With the lock: the place that has all of these bytes, and something there; or NULL. */
static struct place *
buffer_place(const struct zio *io)
{
	uintptr_t at = (uintptr_t)io->data;

	for (struct place *p = place; p < place + PLACES; p++)
		if ((p->key != 0 || p->is_file) && at >= p->addr && at - p->addr < p->bytes &&
			io->size <= p->bytes - (at - p->addr))
			return p;
	return NULL;
}

/* Addresses, of which large ones begin at a large page. */
static long
reserve(size_t bytes, uint64_t *addr)
{
	size_t more = bytes == LARGE ? LARGE : 0;
	long result = kmem_alloc(SELF, bytes + more, 0, addr);
	uint64_t begin = *addr, at = (begin + LARGE - 1) / LARGE * LARGE;

	if (result < 0 || more == 0)
		return result;
	if (at > begin)
		kpage_unmap(SELF, begin, (int)((at - begin) / PAGE));
	if (at < begin + more)
		kpage_unmap(SELF, at + bytes, (int)((begin + more - at) / PAGE));
	*addr = at;
	return 0;
}

/* With the lock: a place for so many bytes, kept by `key`; the addresses of an empty one may go. */
static struct place *
place_take(size_t bytes, uint64_t key)
{
	struct place *empty = NULL, *fits = NULL;
	uint64_t addr;

	for (struct place *p = place; p < place + PLACES; p++) {
		if (p->key != 0 || p->is_file)
			continue;
		if (empty == NULL || p->addr == 0)
			empty = p;
		if (p->addr != 0 && p->bytes == bytes)
			fits = p;
	}
	if (fits != NULL) {
		fits->key = key;
		return fits;
	}
	if (empty == NULL || reserve(bytes, &addr) < 0)
		return NULL;
	if (empty->addr != 0)
		kpage_unmap(SELF, empty->addr, (int)(empty->bytes / PAGE));
	*empty = (struct place){.addr = addr, .bytes = bytes, .key = key};
	return empty;
}

static void
place_leave(struct place *p)
{
	pthread_mutex_lock(&lock);
	p->key = 0;
	pthread_mutex_unlock(&lock);
}

static long
map_pages(const struct place *p, int memory)
{
	int prot = PAGE_READ | PAGE_WRITE;
	long result = -EINVAL;

	if (p->bytes == LARGE)
		result = kpage_map(SELF, p->addr, memory, 0, 1, prot | PAGE_LARGE);
	if (result == -EINVAL)
		result = kpage_map(SELF, p->addr, memory, 0, (int)(p->bytes / PAGE), prot);
	return result;
}

/* A buffer that the server has given comes to its place. */
static int
buffer_map(const struct file_zio *z, struct zio *io)
{
	struct zio_answer a;
	struct place *p;
	long result = -ENOMEM;

	pthread_mutex_lock(&lock);
	p = place_take(z->pages * PAGE, z->key);
	pthread_mutex_unlock(&lock);
	if (p != NULL)
		result = map_pages(p, z->handle);
	khandle_close(z->handle);
	if (result < 0) {
		zio_ask(-1, FILE_ZIO_FREE, z->key, 0, &a);
		if (p != NULL)
			place_leave(p);
		return (int)result;
	}
	*io = (struct zio){(void *)(p->addr + z->first), z->bytes};
	return 0;
}

int
zioalloc(struct zio *io, size_t size)
{
	struct zio_answer a;
	int result = size == 0 || size > ZIO_MAX ? -EINVAL :
		zio_ask(-1, FILE_ZIO_ALLOC, 0, size, &a);

	return result < 0 ? result : buffer_map(&a.zio, io);
}

static struct place *
place_find(const struct zio *io)
{
	struct place *p;

	pthread_mutex_lock(&lock);
	p = buffer_place(io);
	pthread_mutex_unlock(&lock);
	return p;
}

/* Nothing is there any more, and the addresses are free: a file's, or a buffer of a lost server. */
static void
place_end(struct place *p)
{
	pthread_mutex_lock(&lock);
	if (p->is_file)
		munmap((void *)p->addr, p->bytes);
	else
		kpage_unmap(SELF, p->addr, (int)(p->bytes / PAGE));
	*p = (struct place){0};
	pthread_mutex_unlock(&lock);
}

void
ziofree(struct zio io[], int nio)
{
	for (int i = 0; i < nio; i++) {
		struct place *p = io[i].size > 0 ? place_find(&io[i]) : NULL;
		struct zio_answer a;

		io[i] = (struct zio){0};
		if (p == NULL)
			continue;
		if (p->is_file || zio_ask(-1, FILE_ZIO_FREE, p->key, 0, &a) < 0)
			place_end(p);
		else
			place_leave(p);
	}
}

/* --- reading --- */

/* Bytes that lie in no pages that could be had: they are copied into a buffer. */
static long
read_copy(int fd, struct zio *io, size_t count, int64_t offset)
{
	size_t most = count < COPY_MAX ? count : COPY_MAX;
	long result = zioalloc(io, most);

	if (result < 0)
		return result;
	result = offset < 0 ? read(fd, io->data, most) : pread(fd, io->data, most, offset);
	if (result < 0)
		result = -errno;
	if (result <= 0) {
		ziofree(io, 1);
		return result;
	}
	io->size = (size_t)result;
	count_bytes(&counts.copied, (uint64_t)result);
	return result;
}

/* Pages of a file; those of another cluster are copied. */
static long
read_pages(int fd, struct zio *io, const struct zio_answer *a)
{
	uint64_t at = a->head.value, begin = at / PAGE * PAGE;
	size_t bytes = (size_t)(at - begin) + a->zio.bytes;
	char *addr = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (int64_t)begin);
	struct place *p = NULL;

	if (addr == MAP_FAILED)
		return read_copy(fd, io, a->zio.bytes, (int64_t)at);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < PLACES && p == NULL; i++)
		p = place[i].addr == 0 ? &place[i] : NULL;
	if (p != NULL)
		*p = (struct place){.addr = (uintptr_t)addr, .bytes = bytes, .is_file = true};
	pthread_mutex_unlock(&lock);
	if (p == NULL) {
		munmap(addr, bytes);
		return -ENOMEM;
	}
	*io = (struct zio){addr + (at - begin), a->zio.bytes};
	count_bytes(&counts.moved, a->zio.bytes);
	return (long)a->zio.bytes;
}

/* What the boot archive has is there for all, and is not to be given back. */
static long
read_archive(struct zio *io, const struct file_zio *z)
{
	long result = 0;

	pthread_mutex_lock(&lock);
	if (archive[0] == 0)
		result = karchive_map(SELF, archive);
	pthread_mutex_unlock(&lock);
	if (result < 0)
		return result;
	*io = (struct zio){(void *)(archive[0] + z->first), z->bytes};
	count_bytes(&counts.moved, z->bytes);
	return (long)z->bytes;
}

static long
read_buffer(struct zio *io, const struct file_zio *z)
{
	int result = buffer_map(z, io);

	if (result < 0)
		return result;
	count_bytes(&counts.moved, z->bytes);
	return (long)z->bytes;
}

static long
read_one(int fd, struct zio *io, size_t count, int64_t offset, bool may_wait)
{
	struct zio_answer a;
	long result;

	*io = (struct zio){0};
	result = zio_ask(fd, FILE_ZIO_READ, (uint64_t)offset, (count < UINT32_MAX / 2 ? count :
		UINT32_MAX / 2) | (uint64_t)!may_wait << 32, &a);
	/* of what the server does not know, the standard input perhaps, read knows more */
	if (result == -EBADF)
		a.zio.kind = FILE_ZIO_BYTES;
	else if (result < 0)
		return result;
	switch (a.zio.kind) {
	case FILE_ZIO_BUFFER: return a.zio.bytes > 0 ? read_buffer(io, &a.zio) : 0;
	case FILE_ZIO_ARCHIVE: return read_archive(io, &a.zio);
	case FILE_ZIO_MEMORY: return read_pages(fd, io, &a);
	default: return may_wait ? read_copy(fd, io, count, offset) : 0;
	}
}

long
ziopread(int fd, struct zio io[], int nio, size_t count, int64_t offset)
{
	size_t done = 0;
	long result = 1;

	if (nio <= 0 || offset < -1)
		return -EINVAL;
	for (int i = 0; i < nio; i++)
		io[i] = (struct zio){0};
	if (count == 0)
		return 0;
	for (int i = 0; i < nio && done < count && result > 0; i++) {
		result = read_one(fd, &io[i], count - done, offset < 0 ? offset :
			offset + (int64_t)done, done == 0);
		if (result > 0)
			done += (size_t)result;
	}
	return done > 0 ? (long)done : result;
}

/* --- writing --- */

static bool
is_archive(const struct zio *io)
{
	uint64_t at = (uintptr_t)io->data - archive[0];

	return archive[0] != 0 && at < archive[1] && io->size <= archive[1] - at;
}

/* A buffer into a pipe. -ENODEV: it is no pipe. */
static long
write_buffer(int fd, struct zio *io, struct place *p)
{
	struct zio_answer a;
	uint64_t first = (uintptr_t)io->data - p->addr;
	size_t size = io->size;
	int result = zio_ask(fd, FILE_ZIO_WRITE, p->key, size | first << 32, &a);

	if (result == 0) {
		place_leave(p);
		*io = (struct zio){0};
		count_bytes(&counts.moved, size);
		return (long)size;
	}
	if (result == -EPIPE)
		raise(SIGPIPE);
	/* a server that has ended: what write says of that */
	if (result == -EIO && write(fd, "", 0) < 0)
		return -errno;
	/* this, too, is no pipe of the server's */
	return result == -EBADF ? -ENODEV : result;
}

static long
write_one(int fd, struct zio *io, int64_t offset)
{
	struct place *p = place_find(io);
	long result = -ENODEV;

	if (io->size == 0)
		return 0;
	if (p == NULL && !is_archive(io))
		return -EINVAL;
	if (p != NULL && !p->is_file && offset < 0)
		result = write_buffer(fd, io, p);
	return result == -ENODEV ? write_copy(fd, io, offset) : result;
}

/* --- counts --- */

int
zio_machine(struct zio_machine *to)
{
	struct zio_answer a;
	struct file_zio_count c;
	int result = zio_ask(-1, FILE_ZIO_COUNT, 0, 0, &a);

	if (result < 0)
		return result;
	memcpy(&c, &a.zio, sizeof(c));
	*to = (struct zio_machine){c.moved, c.copied, c.buffers};
	return 0;
}
