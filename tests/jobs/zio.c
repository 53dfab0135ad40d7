/* SPDX-License-Identifier: MIT
 *
 * Input and output without copies: buffers through pipes, beside what is written and read as usual,
 * of files, by threads, children and filters; in a small cluster, and from one cluster to another.
 * Where nothing can be without a copy (hosted) the bytes are the same.
 * usage: zio [use [SEED [ROUNDS]] | exhaust | far]
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <atoll/kcalls.h>
#include "zio.h"

#define GIVEN "/given"			/* a file of the boot archive */

/* --- whose it is --- */

static void
end_at_fault(int sig)
{
	_exit(sig);
}

/* A child that has written a buffer, or given it back, and then touches it. */
static int
touch_after(bool is_written)
{
	int ends[2], status = 0;
	pid_t pid;

	if (pipe(ends) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		struct zio io;
		volatile char *at;

		signal(SIGSEGV, end_at_fault);
		signal(SIGBUS, end_at_fault);
		if (zioalloc(&io, 3 * PAGE) != 0)
			_exit(100);
		at = io.data;
		at[PAGE] = 1;
		if (is_written ? ziowrite(ends[1], &io, 1) != 3 * PAGE : (ziofree(&io, 1), 0))
			_exit(101);
		at[PAGE] = 2;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	close(ends[0]);
	close(ends[1]);
	return WEXITSTATUS(status);
}

static void
ownership(void)
{
	expect(touch_after(true), SIGSEGV, "a buffer that was written, and is written to");
	expect(touch_after(false), SIGSEGV, "a buffer that was given back, and is written to");
}

/* What a parent has its child has not, and the parent has it all the same. */
static void
forked(void)
{
	struct zio io;
	pid_t pid;
	int status = 0;

	expect(zioalloc(&io, PAGE), 0, "zioalloc");
	fill(io.data, 0, PAGE);
	pid = fork();
	if (pid == 0) {
		struct zio own = {0};

		_exit(zioalloc(&own, PAGE) == 0 && (fill(own.data, 1, PAGE),
			is_right(own.data, 1, PAGE)) ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	expect(status, 0, "a child of one that has a buffer");
	expect(is_right(io.data, 0, PAGE), true, "what the parent has");
	ziofree(&io, 1);
}

/* --- beside write and read --- */

/* Writes a stream in pieces of all kinds. */
static void
write_mixed(int fd, uint64_t bytes)
{
	static char text[5000];

	for (uint64_t at = 0, n; at < bytes; at += n) {
		struct zio io;
		uint32_t first = draw(PAGE);

		n = draw(4) == 0 ? draw(100 * KB) + 1 : draw(sizeof(text)) + 1;
		n = n < bytes - at ? n : bytes - at;
		if (n <= sizeof(text) && draw(2) == 0) {
			fill(text, at, n);
			expect(write(fd, text, n), (long)n, "write");
			continue;
		}
		expect(zioalloc(&io, first + n), 0, "zioalloc");
		io = (struct zio){(char *)io.data + first, n};
		fill(io.data, at, n);
		expect(ziowrite(fd, &io, 1), (long)n, "ziowrite");
	}
}

static int
read_mixed(int fd, uint64_t bytes)
{
	static char text[9000];
	uint64_t at = 0;

	for (ssize_t n = 1; n > 0; at += (uint64_t)n) {
		struct zio io[3];
		size_t done = 0;

		if (draw(2) == 0) {
			n = read(fd, text, draw(sizeof(text)) + 1);
			if (n < 0 || !is_right(text, at, (size_t)n))
				return 1;
			continue;
		}
		n = zioread(fd, io, 3, draw(4) == 0 ? draw(20000) + 1 : MIB);
		for (int i = 0; n > 0 && i < 3; i++) {
			if (!is_right(io[i].data, at + done, io[i].size))
				return 2;
			done += io[i].size;
		}
		if (n < 0 || done != (size_t)n)
			return 3;
		ziofree(io, 3);
	}
	return at == bytes ? 0 : 4;
}

static void
mix(uint64_t bytes)
{
	int ends[2];
	pid_t pid;

	expect(pipe(ends), 0, "pipe");
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(read_mixed(ends[0], bytes));
	}
	close(ends[0]);
	write_mixed(ends[1], bytes);
	close(ends[1]);
	await_child(pid, "who reads as it likes");
}

/* A filter changes what it reads where it lies, and sends it on. */
static void
filter(uint64_t bytes)
{
	int in[2], out[2];
	pid_t first, second;

	expect(pipe(in), 0, "pipe");
	expect(pipe(out), 0, "pipe");
	first = fork();
	if (first == 0) {
		struct zio io;
		ssize_t n;

		close(in[1]);
		close(out[0]);
		while ((n = zioread(in[0], &io, 1, ZIO_MAX)) > 0) {
			for (ssize_t i = 0; i < n; i++)
				((unsigned char *)io.data)[i] ^= 0x55;
			if (ziowrite(out[1], &io, 1) != n)
				_exit(1);
		}
		_exit(n != 0);
	}
	close(in[0]);
	close(out[1]);
	second = fork();
	if (second == 0) {
		struct zio io;
		uint64_t at = 0;

		close(in[1]);
		for (ssize_t n; (n = zioread(out[0], &io, 1, ZIO_MAX)) > 0; at += (uint64_t)n) {
			for (ssize_t i = 0; i < n; i++)
				((unsigned char *)io.data)[i] ^= 0x55;
			if (!is_right(io.data, at, (size_t)n))
				_exit(1);
			ziofree(&io, 1);
		}
		_exit(at == bytes ? 0 : 2);
	}
	close(out[0]);
	write_stream(in[1], bytes, 16 * KB);
	close(in[1]);
	await_child(first, "a filter");
	await_child(second, "who reads behind a filter");
}

/* --- threads, and polls --- */

#define THREADS 3

static int shared[2];

/* Each sends numbers of its own, in buffers. */
static void *
send_numbers(void *arg)
{
	for (uint32_t i = 0; i < 50; i++) {
		struct zio io;

		if (zioalloc(&io, sizeof(uint32_t)) != 0)
			return arg;
		*(uint32_t *)io.data = (uint32_t)(uintptr_t)arg << 16 | i;
		if (ziowrite(shared[1], &io, 1) != sizeof(uint32_t))
			return arg;
	}
	return NULL;
}

static void
threads(void)
{
	uint32_t next[THREADS + 1] = {0};
	pthread_t thread[THREADS];
	struct pollfd p;

	expect(pipe(shared), 0, "pipe");
	p = (struct pollfd){.fd = shared[0], .events = POLLIN};
	expect(poll(&p, 1, 0), 0, "poll of an empty pipe");
	for (uintptr_t i = 0; i < THREADS; i++)
		expect(pthread_create(&thread[i], NULL, send_numbers, (void *)(i + 1)), 0,
			"pthread_create");
	for (int n = 0; n < THREADS * 50; n++) {
		struct zio io;
		uint32_t number;

		expect(poll(&p, 1, -1) == 1 && p.revents == POLLIN, true, "poll");
		expect(zioread(shared[0], &io, 1, sizeof(number)), sizeof(number), "zioread");
		number = *(uint32_t *)io.data;
		ziofree(&io, 1);
		expect(number & 0xffff, next[number >> 16]++, "a number of a thread");
	}
	for (int i = 0; i < THREADS; i++) {
		void *wrong = NULL;

		pthread_join(thread[i], &wrong);
		expect(wrong == NULL, true, "a thread");
	}
	close(shared[0]);
	close(shared[1]);
}

/* --- files --- */

static bool
is_same(int fd, const struct zio *io, off_t at)
{
	char *text = malloc(io->size);
	bool same = text != NULL && pread(fd, text, io->size, at) == (ssize_t)io->size &&
		memcmp(text, io->data, io->size) == 0;

	free(text);
	return same;
}

/* All of a file, by its offset. Bytes that were copied. */
static long
read_file(const char *path, off_t bytes)
{
	struct zio_counts before, after;
	int fd = open(path, O_RDONLY);
	off_t at = 0;

	expect(fd >= 0, true, path);
	zio_counts(&before);
	for (ssize_t n = 1; n > 0; at += n) {
		struct zio io;

		n = zioread(fd, &io, 1, 10000);
		expect(n >= 0, true, "zioread of a file");
		if (n > 0)
			expect(is_same(fd, &io, at), true, "what a file has");
		ziofree(&io, 1);
	}
	zio_counts(&after);
	expect(at, bytes, "bytes of a file");
	close(fd);
	return (long)(after.copied - before.copied);
}

static void
files(void)
{
	char path[] = "/tmp/zioXXXXXX", text[100];
	int fd = mkstemp(path);
	struct zio io;
	off_t given;

	expect(fd >= 0, true, "mkstemp");
	for (int i = 0; i < 3; i++) {
		expect(zioalloc(&io, 20000), 0, "zioalloc");
		fill(io.data, (uint64_t)i * 20000, 20000);
		expect(i == 2 ? ziopwrite(fd, &io, 1, 40000) : ziowrite(fd, &io, 1), 20000,
			"ziowrite to a file");
	}
	expect(pread(fd, text, sizeof(text), 39950) == sizeof(text) &&
		is_right(text, 39950, sizeof(text)), true, "what was written");
	/* of the last page less than a page is left, which is copied */
	expect(read_file(path, 60000) < (has_buffers ? PAGE : MIB), true, "a file that is copied");
	expect(ziopread(fd, &io, 1, 5000, 3000), 5000, "ziopread");
	expect(is_right(io.data, 3000, 5000), true, "what ziopread has read");
	ziofree(&io, 1);
	close(fd);
	unlink(path);
	fd = open(GIVEN, O_RDONLY);
	if (fd < 0)
		return;
	given = lseek(fd, 0, SEEK_END);
	close(fd);
	expect(read_file(GIVEN, given), has_buffers ? 0 : given, "a file of the archive is copied");
}

static void
use(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[3]) : 3;

	threads();
	files();
	/* ranks that are threads cannot fork */
	if (!has_buffers)
		return;
	move(64 * KB, MIB);
	move(ZIO_MAX, 8 * MIB);
	move(PAGE, 200 * PAGE);
	ownership();
	forked();
	filter(MIB);
	for (int i = 0; i < rounds; i++)
		mix(600 * KB);
}

/* --- small clusters, and others --- */

/* Until there is no memory: then all of it comes back, and others go on. */
static void
exhaust(void)
{
	struct zio io[ZIO_BUFFERS];
	int n = 0, result = 0, ends[2];

	while (n < ZIO_BUFFERS && (result = zioalloc(&io[n], 96 * KB)) == 0)
		n++;
	expect(result, -ENOMEM, "the memory of a small cluster");
	expect(n > 0, true, "a buffer in a small cluster");
	ziofree(io, n);
	/* free ones make room for one of another size */
	expect(zioalloc(io, 100 * KB), 0, "zioalloc, when all are free");
	ziofree(io, 1);
	expect(pipe(ends), 0, "pipe");
	for (int i = 0; i < 20 && failures == 0; i++) {
		expect(zioalloc(io, 16 * KB), 0, "zioalloc");
		fill(io->data, (uint64_t)i, 16 * KB);
		expect(ziowrite(ends[1], io, 1), 16 * KB, "ziowrite");
		expect(zioread(ends[0], io, 1, ZIO_MAX), 16 * KB, "zioread");
		expect(is_right(io->data, (uint64_t)i, 16 * KB), true, "what came back");
		ziofree(io, 1);
	}
}

#define NAME "/zio"

static const struct sockaddr_un name = {AF_UNIX, NAME};

/* A descriptor goes through a socket, or (-1) comes from there. */
static int
pass_descriptor(int s, int fd)
{
	char word = 0;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} rights = {{0}};
	struct iovec part = {&word, 1};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = rights.room,
		.msg_controllen = sizeof(rights.room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (fd < 0) {
		expect(recvmsg(s, &m, 0), 1, "recvmsg");
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
		return fd;
	}
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	expect(sendmsg(s, &m, 0), 1, "sendmsg");
	return 0;
}

/* Rank 0 writes buffers, which rank 1, of another cluster, reads: they are copied. */
static void
far(void)
{
	uint64_t bytes = 300 * KB;
	int s = socket(AF_UNIX, SOCK_STREAM, 0), ends[2], fd;
	struct zio_counts c;

	if (atoll_startup()->rank == 0) {
		expect(bind(s, (const struct sockaddr *)&name, sizeof(name)), 0, "bind");
		expect(listen(s, 1), 0, "listen");
		fd = accept(s, NULL, NULL);
		expect(pipe(ends), 0, "pipe");
		pass_descriptor(fd, ends[0]);
		close(ends[0]);
		write_stream(ends[1], bytes, 20 * KB);
		close(ends[1]);
		unlink(NAME);
		return;
	}
	while (connect(s, (const struct sockaddr *)&name, sizeof(name)) != 0)
		kthread_yield();
	expect(read_stream(pass_descriptor(s, -1), bytes, ZIO_MAX), 0, "who reads far away");
	zio_counts(&c);
	expect((long)c.copied, (long)bytes, "bytes that were copied");
	expect((long)c.moved, 0, "bytes that were moved");
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "use";

	begin(argc > 2 ? argv[2] : "1");
	if (strcmp(what, "use") == 0)
		use(argc, argv);
	else if (strcmp(what, "exhaust") == 0)
		exhaust();
	else if (strcmp(what, "far") == 0)
		far();
	else
		return 2;
	return verdict();
}
