/* SPDX-License-Identifier: MIT
 *
 * Buffers: see atoll/zio.h. Files and pipes are Linux's, which copies; a buffer is memory that is
 * gone when it was written.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>
#include <sys/mman.h>
#include <atoll/zio.h>
#include <user/libc/zio_calls.h>

#define PLACES 96
#define COPY_MAX 65536			/* bytes that are read into one buffer */

static struct place {
	char *addr;			/* NULL: unused */
	size_t bytes;
} place[PLACES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A child of fork has none of them. */
static void
begin_child(void)
{
	for (struct place *p = place; p < place + PLACES; p++) {
		if (p->addr != NULL)
			munmap(p->addr, p->bytes);
		p->addr = NULL;
	}
	counts = (struct zio_counts){0};
	pthread_mutex_init(&lock, NULL);
}

static void
know_forks(void)
{
	pthread_atfork(NULL, NULL, begin_child);
}

/* With the lock: the buffer that has all of these bytes; NULL: none. */
static struct place *
buffer_place(const struct zio *io)
{
	const char *at = io->data;

	for (struct place *p = place; p < place + PLACES; p++)
		if (p->addr != NULL && at >= p->addr && at < p->addr + p->bytes &&
			io->size <= (size_t)(p->addr + p->bytes - at))
			return p;
	return NULL;
}

int
zioalloc(struct zio *io, size_t size)
{
	char *addr = size == 0 || size > ZIO_MAX ? MAP_FAILED : mmap(NULL, size,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct place *unused = NULL;
	int used = 0;

	pthread_once(&once, know_forks);
	if (addr == MAP_FAILED)
		return size == 0 || size > ZIO_MAX ? -EINVAL : -ENOMEM;
	pthread_mutex_lock(&lock);
	for (struct place *p = place; p < place + PLACES; p++) {
		if (p->addr == NULL)
			unused = p;
		used += p->addr != NULL;
	}
	if (used < ZIO_BUFFERS)
		*unused = (struct place){addr, size};
	pthread_mutex_unlock(&lock);
	if (used >= ZIO_BUFFERS) {
		munmap(addr, size);
		return -ENOMEM;
	}
	*io = (struct zio){addr, size};
	return 0;
}

void
ziofree(struct zio io[], int nio)
{
	for (int i = 0; i < nio; i++) {
		struct place *p;

		pthread_mutex_lock(&lock);
		p = io[i].size > 0 ? buffer_place(&io[i]) : NULL;
		if (p != NULL) {
			munmap(p->addr, p->bytes);
			p->addr = NULL;
		}
		pthread_mutex_unlock(&lock);
		io[i] = (struct zio){0};
	}
}

long
ziopread(int fd, struct zio io[], int nio, size_t count, int64_t offset)
{
	long result;

	if (nio <= 0 || offset < -1)
		return -EINVAL;
	for (int i = 0; i < nio; i++)
		io[i] = (struct zio){0};
	count = count < COPY_MAX ? count : COPY_MAX;
	if (count == 0)
		return 0;
	result = zioalloc(io, count);
	if (result < 0)
		return result;
	result = offset < 0 ? read(fd, io->data, count) : pread(fd, io->data, count, offset);
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

static long
write_one(int fd, struct zio *io, int64_t offset)
{
	bool is_there;

	if (io->size == 0)
		return 0;
	pthread_mutex_lock(&lock);
	is_there = buffer_place(io) != NULL;
	pthread_mutex_unlock(&lock);
	return is_there ? write_copy(fd, io, offset) : -EINVAL;
}

/* Linux counts nothing of the kind. */
int
zio_machine(struct zio_machine *to)
{
	*to = (struct zio_machine){0};
	return -ENOSYS;
}
