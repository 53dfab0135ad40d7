/* SPDX-License-Identifier: MIT
 *
 * Input and output without copies: buffers through pipes, beside what is written and read as usual,
 * of files, by threads, children and filters; what is wrong is an error; what a process had that is
 * killed comes back. Where nothing can be without a copy (hosted) the bytes are the same.
 * usage: zio [use [SEED [ROUNDS]] | wrong [SEED] | kills [SEED [KILLS]] | lost]
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <atoll/kcalls.h>
#include <atoll/personality.h>
#include <atoll/zio.h>
#include <servers/file/protocol.h>
#include <servers/proc/client.h>
#include "expect.h"
#include "rest.h"

#define BIT 9
#define KB 1024
#define PAGE 4096
#define MIB (1024 * KB)
#define GIVEN "/given"			/* a file of the boot archive */

static uint64_t state;
static bool has_buffers;		/* the machine has some */

static uint32_t
draw(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/* What stands at a place of a stream. */
static unsigned char
byte_at(uint64_t at)
{
	return (unsigned char)(at * 7 + at / 251 + at / 65521);
}

static void
fill(void *to, uint64_t at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((unsigned char *)to)[i] = byte_at(at + i);
}

static bool
is_right(const void *from, uint64_t at, size_t bytes)
{
	const unsigned char *b = from;
	size_t i = 0;

	while (i < bytes && b[i] == byte_at(at + i))
		i++;
	return i == bytes;
}

/* --- megabytes, of which none is copied --- */

static int
read_stream(int fd, uint64_t bytes, size_t most)
{
	uint64_t at = 0;

	for (ssize_t n = 1; n > 0;) {
		struct zio io;

		n = zioread(fd, &io, 1, most);
		if (n < 0 || (size_t)n != io.size || !is_right(io.data, at, io.size))
			return 1;
		at += (uint64_t)n;
		ziofree(&io, 1);
	}
	return at == bytes ? 0 : 2;
}

/* A child that reads a pipe to its end, in buffers. */
static pid_t
begin_reader(const int *ends, uint64_t bytes)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	close(ends[1]);
	_exit(read_stream(ends[0], bytes, ZIO_MAX));
}

static void
write_stream(int fd, uint64_t bytes, size_t piece)
{
	for (uint64_t at = 0; at < bytes; at += piece) {
		struct zio io;

		expect(zioalloc(&io, piece), 0, "zioalloc");
		fill(io.data, at, piece);
		expect(ziowrite(fd, &io, 1), (long)piece, "ziowrite");
		expect(io.size == 0 && io.data == NULL, true, "a buffer that was written");
	}
}

static void
await_child(pid_t pid, const char *what)
{
	int status = -1;

	expect(waitpid(pid, &status, 0) == pid, true, what);
	expect(status, 0, what);
}

static void
move(size_t piece, uint64_t bytes)
{
	struct zio_machine before, after;
	struct zio_counts mine[2];
	int ends[2];
	pid_t pid;

	expect(pipe(ends), 0, "pipe");
	pid = begin_reader(ends, bytes);
	close(ends[0]);
	zio_machine(&before);
	zio_counts(&mine[0]);
	write_stream(ends[1], bytes, piece);
	close(ends[1]);
	await_child(pid, "who reads buffers");
	zio_counts(&mine[1]);
	zio_machine(&after);
	if (!has_buffers)
		return;
	expect((long)(after.moved - before.moved), (long)bytes, "bytes that the server moved");
	expect((long)(after.copied - before.copied), 0, "bytes that the server copied");
	expect((long)(mine[1].moved - mine[0].moved), (long)bytes, "bytes that were moved");
	expect((long)(mine[1].copied - mine[0].copied), 0, "bytes that were copied");
}

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

/* --- nonsense, of a program that calls the server itself --- */

static int
raw(int fd, int op, uint64_t offset, uint64_t args, struct zio_answer *a)
{
	return syscall(PERSONALITY_ZIO, (long)fd, (long)op, offset, args, a) < 0 ? -errno : 0;
}

/* Does this thread find memory there? */
static bool
is_there(const volatile void *at)
{
	int fd[2];
	bool is;

	if (pipe(fd) != 0)
		return false;
	is = write(fd[1], (const void *)(uintptr_t)at, 1) == 1;
	close(fd[0]);
	close(fd[1]);
	return is;
}

#define WAYS 4				/* to the memory of a buffer */

/* By its handle, twice; by a copy of that; and by a view of it. */
static void
find_ways(long memory, long way[WAYS], uint64_t addr[WAYS])
{
	for (int i = 0; i < WAYS; i++) {
		way[i] = i < 2 ? memory : khandle_duplicate((int)memory, SELF,
			(i == 2 ? 0 : HANDLE_VIEW) | RIGHT_READ | RIGHT_WRITE);
		expect(kmem_alloc(SELF, 2 * PAGE, 0, &addr[i]) >= 0, true, "mem_alloc");
		expect(kpage_map(SELF, addr[i], (int)way[i], 0, 2, PAGE_READ | PAGE_WRITE), 0,
			"page_map");
	}
}

/* All of them end when it is sent. */
static void
keep_what_was_sent(const int *ends)
{
	struct zio_answer a, b;
	uint64_t addr[WAYS], more;
	long way[WAYS];
	int memory;

	expect(raw(-1, FILE_ZIO_ALLOC, 0, 2 * PAGE, &a), 0, "a raw buffer");
	memory = a.zio.handle;
	find_ways(memory, way, addr);
	expect(kmem_alloc(SELF, 2 * PAGE, 0, &more) >= 0, true, "mem_alloc");
	expect(kpage_map(SELF, more, memory, 0, 3, PAGE_READ), -EINVAL, "too many pages");
	expect(kpage_map(SELF, more, memory, 0, 2, PAGE_READ | PAGE_EXEC), -EACCES,
		"a right that it has not");
	expect(khandle_revoke(memory), -EACCES, "handle_revoke");
	expect(kpage_link(SELF, addr[0], 2, more), -EACCES, "page_link");
	for (int i = 0; i < WAYS; i++)
		expect(is_there((void *)addr[i]), true, "a buffer that is there");
	expect(raw(ends[1], FILE_ZIO_WRITE, a.zio.key, 2 * PAGE, &b), 0, "it is sent");
	for (int i = 0; i < WAYS; i++) {
		expect(is_there((void *)addr[i]), false, "what was sent");
		expect(kpage_map(SELF, more, (int)way[i], 0, 2, PAGE_READ), -EBADF, "its handle");
	}
	expect(raw(ends[1], FILE_ZIO_WRITE, a.zio.key, 2 * PAGE, &b), -EINVAL, "sent twice");
	expect(raw(-1, FILE_ZIO_FREE, a.zio.key, 0, &b), -EINVAL, "given back");
	for (int i = 1; i < WAYS; i++)
		khandle_close((int)way[i]);
	for (int i = 0; i < WAYS; i++)
		kpage_unmap(SELF, addr[i], 2);
	kpage_unmap(SELF, more, 2);
}

static void
say_nonsense(const int *ends)
{
	struct zio_answer a;
	struct zio io;
	char local = 0;

	expect(zioalloc(&io, 0), -EINVAL, "no bytes");
	expect(zioalloc(&io, ZIO_MAX + 1), -EINVAL, "too many bytes");
	io = (struct zio){&local, 1};
	expect(ziowrite(ends[1], &io, 1), -EINVAL, "what is no buffer");
	expect(zioalloc(&io, PAGE), 0, "zioalloc");
	io.size = PAGE + 1;
	expect(ziowrite(ends[1], &io, 1), -EINVAL, "more than the buffer");
	io.size = 10;
	expect(ziowrite(ends[0], &io, 1), -EBADF, "the end to read");
	expect(ziowrite(999, &io, 1), -EBADF, "no descriptor");
	expect(io.size, 10, "what was not written");
	expect(zioread(ends[1], &io, 1, 10), -EBADF, "the end to write");
	expect(ziopread(ends[0], &io, 1, 10, 0), -ESPIPE, "an offset of a pipe");
	expect(zioread(ends[0], &io, 0, 10), -EINVAL, "no buffers");
	expect(raw(-1, FILE_ZIO_WRITE, 0, 1, &a), -EBADF, "raw: no descriptor");
	expect(raw(-1, FILE_ZIO_ALLOC, 0, 1, NULL), -EFAULT, "raw: a bad address");
}

/* Whatever is asked, the server goes on, and all comes back with the one that has asked. */
static void
ask_at_random(const int *ends, int count)
{
	struct zio_answer a;
	uint64_t keys[4] = {0};

	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < count; i++) {
		uint32_t op = FILE_ZIO_ALLOC + draw(5);
		uint64_t offset = draw(3) == 0 ? (uint64_t)draw(1u << 31) << draw(33) :
			keys[draw(4)];
		uint64_t args = draw(3) == 0 ? (uint64_t)draw(1u << 31) << draw(33) :
			draw(4 * PAGE);

		if (op == FILE_ZIO_ALLOC)
			args = (uint32_t)args | 1ull << 32;
		if (op == FILE_ZIO_READ && draw(2) == 0)
			offset = UINT64_MAX;
		if (raw(draw(5) == 0 ? (int)draw(9) - 1 : ends[draw(2)], (int)op, offset, args,
			&a) != 0 || (op != FILE_ZIO_ALLOC && op != FILE_ZIO_READ) ||
			a.zio.kind != FILE_ZIO_BUFFER || a.zio.key == 0)
			continue;
		keys[draw(4)] = a.zio.key;
		if (draw(4) > 0)
			khandle_close(a.zio.handle);
	}
}

static void
wrong(void)
{
	struct zio_machine m = {.buffers = 1};
	int ends[2];
	pid_t pid;

	if (!has_buffers)
		return;
	pid = fork();
	if (pid == 0) {
		expect(pipe(ends), 0, "pipe");
		keep_what_was_sent(ends);
		say_nonsense(ends);
		ask_at_random(ends, 3000);
		fflush(stdout);
		_exit(failures);
	}
	await_child(pid, "who says nonsense");
	while (m.buffers > 0)
		zio_machine(&m);
	move(16 * KB, 256 * KB);
}

/* --- ends at any time --- */

#define WARM 8			/* rounds, without which servers have less memory than later */
#define LONGEST_NS 4000000

static _Noreturn void
write_for_ever(const int *ends)
{
	struct zio io;
	ssize_t n;

	close(ends[0]);
	do {
		size_t bytes = draw(8) == 0 ? draw(300 * KB) + 1 : draw(20 * KB) + 1;

		if (zioalloc(&io, bytes) != 0)
			_exit(1);
		*(char *)io.data = 1;
		n = ziowrite(ends[1], &io, 1);
	} while (n > 0);
	_exit(n == -EPIPE ? 0 : 2);
}

/* Holds some, and gives them back or sends them on. */
static _Noreturn void
read_for_ever(const int *ends)
{
	struct zio io[4] = {{0}};
	ssize_t n;

	close(ends[1]);
	do {
		int i = (int)draw(4);

		ziofree(&io[i], 1);
		n = draw(6) == 0 ? zioread(ends[0], &io[i], 1, PAGE) :
			zioread(ends[0], &io[i], 1, ZIO_MAX);
	} while (n > 0);
	_exit(n == 0 ? 0 : 2);
}

/* One of two ends at a random time, and the other one hears of it; or both do. */
static void
kill_once(void)
{
	const struct timespec span = {.tv_nsec = (long)draw(LONGEST_NS)};
	struct zio_machine m = {.buffers = 1};
	int ends[2], status[2], victim = (int)draw(3);
	pid_t pid[2];

	expect(pipe(ends), 0, "pipe");
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		draw(2);
		if (pid[i] == 0)
			(i == 0 ? write_for_ever : read_for_ever)(ends);
	}
	close(ends[0]);
	close(ends[1]);
	nanosleep(&span, NULL);
	for (int i = 0; i < 2; i++)
		if (victim == i || victim == 2)
			kill(pid[i], SIGKILL);
	for (int i = 0; i < 2; i++)
		waitpid(pid[i], &status[i], 0);
	for (int i = 0; i < 2; i++)
		expect(victim == 2 ? 0 : status[1 - victim], 0, "who lives on");
	while (m.buffers > 0)
		zio_machine(&m);
}

static void
kills(int argc, char **argv)
{
	int count = argc > 3 ? atoi(argv[3]) : 40;
	uint64_t want[COUNTS];

	for (int i = 0; i < count + WARM && failures == 0; i++) {
		if (i == WARM)
			rest_count(want);
		kill_once();
	}
	rest_await(want, 2);
}

/* --- the end of the server --- */

static void
kill_server(void)
{
	static struct channel leader;
	int lives;

	expect(process_open(&leader, 0, BIT), 0, "process_open");
	lives = process_server(&leader, PROCESS_FILE_SERVER, SIGKILL);
	expect(lives > 0, true, "the server is killed");
	while (process_server(&leader, PROCESS_FILE_SERVER, 0) <= lives)
		kthread_yield();
	channel_end(&leader);
}

/* What is open is lost, what a process has of buffers stays until it gives it back. */
static void
lose_server(void)
{
	int ends[2], other[2];
	struct zio io[3];
	pid_t pid;
	char word;

	expect(pipe(ends), 0, "pipe");
	expect(pipe(other), 0, "pipe");
	pid = fork();
	if (pid == 0) {
		struct zio one;

		write(other[1], "y", 1);
		_exit(zioread(ends[0], &one, 1, PAGE) == -EIO ? 0 : 1);
	}
	expect(read(other[0], &word, 1), 1, "a child that waits");
	for (int i = 0; i < 3; i++) {
		expect(zioalloc(&io[i], 2 * PAGE), 0, "zioalloc");
		fill(io[i].data, 0, 2 * PAGE);
	}
	kill_server();
	await_child(pid, "who waits for a buffer");
	expect(is_right(io[0].data, 0, 2 * PAGE), true, "a buffer of the server that ended");
	expect(ziowrite(ends[1], io, 1), -EPIPE, "a pipe that is lost");
	expect(zioread(ends[0], &io[2], 1, PAGE), -EIO, "a pipe that is lost");
	expect(pipe(ends), 0, "pipe");
	expect(ziowrite(ends[1], io, 1), -EINVAL, "a buffer that is lost");
	expect(is_right(io[0].data, 0, 2 * PAGE), true, "a buffer that was not written");
	ziofree(io, 2);
	for (int i = 0; i < 2; i++) {
		expect(zioalloc(&io[i], 2 * PAGE), 0, "zioalloc");
		expect(*(char *)io[i].data, 0, "a new buffer");
	}
	expect(ziowrite(ends[1], io, 2), 4 * PAGE, "ziowrite");
	expect(zioread(ends[0], io, 2, 4 * PAGE), 4 * PAGE, "zioread");
	ziofree(io, 2);
	move(16 * KB, 256 * KB);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "use";
	struct zio_machine m;

	signal(SIGPIPE, SIG_IGN);
	has_buffers = zio_machine(&m) == 0;
	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	printf("seed %llu\n", (unsigned long long)state);
	if (strcmp(what, "use") == 0)
		use(argc, argv);
	else if (strcmp(what, "wrong") == 0)
		wrong();
	else if (strcmp(what, "kills") == 0)
		kills(argc, argv);
	else if (strcmp(what, "lost") == 0)
		lose_server();
	else
		return 2;
	return verdict();
}
