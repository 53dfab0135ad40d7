/* SPDX-License-Identifier: MIT
 *
 * Buffers of programs that ask for nonsense, that are killed at any time, and whose server is: what
 * was sent nobody has any more, and all comes back.
 * usage: zioends wrong [SEED] | kills [SEED [KILLS]] | lost
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <atoll/kcalls.h>
#include <atoll/personality.h>
#include <servers/file/protocol.h>
#include <servers/proc/client.h>
#include "rest.h"
#include "zio.h"

#define BIT 9

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
	const char *what = argc > 1 ? argv[1] : "wrong";

	begin(argc > 2 ? argv[2] : "1");
	if (strcmp(what, "wrong") == 0)
		wrong();
	else if (strcmp(what, "kills") == 0)
		kills(argc, argv);
	else if (strcmp(what, "lost") == 0)
		lose_server();
	else
		return 2;
	return verdict();
}
