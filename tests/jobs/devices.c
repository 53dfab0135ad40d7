/* SPDX-License-Identifier: MIT
 *
 * Every rank uses the device servers: random bytes and the console's input. With `lost` the servers
 * are ended meanwhile: who asks or waits then hears EIO, and is served by the successor. With
 * `typed` the console's is ended again and again, and no byte that was typed is lost. With `absent`
 * the machine has no source of random bytes.
 *
 * usage: devices [nonsense] [random] [console] [leave] [waits] [lost] [typed] [absent]
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/service.h>
#include <servers/device/client.h>
#include <servers/proc/client.h>
#include "expect.h"

#define BIT 9
#define BIT_LEADER 10
#define BLOCK 5000
#define INPUT_MAX 20000
#define PIECE 50
#define TRIES 40		/* more than there are channels */
#define PIECES 20		/* that are read between two ends of the server */

static unsigned char text[INPUT_MAX], more[DEVICE_DATA];

static void
open_class(struct device_client *c, uint32_t class)
{
	expect(device_open(c, class, BIT), 0, "open a device");
}

static void
random_bytes(void)
{
	struct device_client c;
	unsigned seen[256] = {0}, different = 0;
	long n = 1;

	open_class(&c, DEVICE_RANDOM);
	for (long have = 0; have < BLOCK && n > 0; have += n) {
		n = device_read(&c, text + have, (size_t)(BLOCK - have));
		expect(n > 0, 1, "random bytes");
	}
	expect(device_read(&c, more, 40) > 0, 1, "a few random bytes");
	expect(memcmp(text, more, 4) != 0, 1, "they differ");
	for (unsigned i = 0; i < BLOCK; i++)
		different += seen[text[i]]++ == 0;
	expect(different > 200, 1, "different bytes");
	expect(device_read(&c, text, 0), 0, "read nothing");
	expect(device_write(&c, text, 4), -E_ACCES, "write random bytes");
	device_close(&c);
}

/* What a job leaves open is closed for it: one after the other has room. */
static void
leave(void)
{
	static struct device_client c[3];

	for (int i = 0; i < 3; i++)
		open_class(&c[i], DEVICE_RANDOM);
}

/* Requests that make no sense are answered, and harm nobody. */
static void
nonsense(void)
{
	static const struct device_request q[] = {{0, 0}, {DEVICE_READ, UINT32_MAX},
		{DEVICE_WRITE, UINT32_MAX}, {DEVICE_WRITE + 1, 1}, {UINT32_MAX, UINT32_MAX}};
	static const int32_t wants[] = {-E_INVAL, 0, -E_ACCES, -E_INVAL, -E_INVAL};
	struct device_client c;

	open_class(&c, DEVICE_RANDOM);
	for (unsigned i = 0; i < sizeof(q) / sizeof(q[0]); i++)
		for (uint32_t bytes = 0; bytes <= DEVICE_MESSAGE;
			bytes += bytes < sizeof(q[i]) ? 1 : DEVICE_MESSAGE / 8) {
			struct device_reply r = {0};
			int n;

			memcpy(text, &q[i], sizeof(q[i]));
			n = service_call(&c.ch, (const struct service_part[2]){{text, bytes},
				{text, 0}}, (const struct service_part[2]){{&r, sizeof(r)},
				{more, sizeof(more)}});
			if (bytes < sizeof(q[i]))
				expect(r.result, -E_INVAL, "a request that is cut");
			else if (q[i].op == DEVICE_READ)
				expect(n > 0 && r.result == n, 1, "as much as there is");
			else
				expect(r.result, wants[i], "what makes no sense");
		}
	device_close(&c);
}

/* Read a piece of what is typed, behind the first `have` bytes. How many there are then. */
static size_t
read_piece(struct device_client *c, size_t have)
{
	long n = device_read(c, text + have, PIECE);

	if (n == -E_IO)		/* nothing was read: the server had ended before */
		n = device_read(c, text + have, PIECE);
	expect(n > 0, 1, "what is typed");
	return n > 0 ? have + (size_t)n : INPUT_MAX;
}

static void
write_all(struct device_client *c, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		long n = device_write(c, text + done, bytes - done);

		if (n <= 0) {
			expect(n, 1, "echo");
			return;
		}
		done += (size_t)n;
	}
}

static bool
has_end(size_t have)
{
	return have > INPUT_MAX - PIECE || (have >= 4 && memcmp(text + have - 4, "end\n", 4) == 0);
}

/* Echo what is typed, up to a line that says "end". */
static void
console(void)
{
	struct device_client c;
	size_t have = 0;

	open_class(&c, DEVICE_CONSOLE);
	while (!has_end(have))
		have = read_piece(&c, have);
	write_all(&c, have);
	device_close(&c);
}

/* --- servers that end --- */

static struct channel leader;

/* It has ended, and its successor has begun. */
static void
end_server(uint32_t class)
{
	int server = PROCESS_DEVICE_SERVER + (int)class,
		lives = process_server(&leader, server, SIGKILL);

	expect(lives > 0, 1, "end a device server");
	while (process_server(&leader, server, 0) <= lives)
		kthread_yield();
}

#define READERS 3
enum { LOST = 7, HAS_READ };	/* the status of one that waited */

/* A child that waits for a byte that is typed, and says before that it begins. */
static pid_t
begin_reader(int ready)
{
	struct device_client c;
	pid_t pid = fork();
	long n;

	if (pid != 0)
		return pid;
	open_class(&c, DEVICE_CONSOLE);
	write(ready, "y", 1);
	n = device_read(&c, text, 1);
	_exit(failures != 0 ? 1 : n == -E_IO ? LOST : n == 1 ? HAS_READ : 2);
}

/*
 * Readers wait, and the first of them is killed. The others hear of the end of the server, or each
 * reads a byte of what is typed then.
 */
static void
wake_readers(int want)
{
	const struct timespec span = {.tv_nsec = 20000000};
	pid_t pid[READERS];
	int ready[2], status;
	char c;

	expect(pipe(ready), 0, "a pipe");
	for (int i = 0; i < READERS; i++) {
		pid[i] = begin_reader(ready[1]);
		expect(pid[i] > 0, 1, "a child that reads");
		expect(read(ready[0], &c, 1), 1, "it has begun");
	}
	nanosleep(&span, NULL);
	kill(pid[0], SIGKILL);
	expect(waitpid(pid[0], &status, 0), pid[0], "the end of who is killed");
	if (want == LOST) {
		end_server(DEVICE_CONSOLE);
	} else {
		printf("type\n");
		fflush(stdout);
	}
	for (int i = 1; i < READERS; i++) {
		expect(waitpid(pid[i], &status, 0), pid[i], "the end of who waits");
		expect(WIFEXITED(status) ? WEXITSTATUS(status) : -1, want, "what it was answered");
	}
	close(ready[0]);
	close(ready[1]);
}

static void
waits(void)
{
	wake_readers(HAS_READ);
}

static void
lost(void)
{
	struct device_client c;

	open_class(&c, DEVICE_RANDOM);
	for (int i = 0; i < 6; i++) {	/* more often than a server may end by itself */
		end_server(DEVICE_RANDOM);
		expect(device_read(&c, text, PIECE), -E_IO, "what is asked of who has ended");
		expect(device_read(&c, text, PIECE), PIECE, "what its successor is asked");
	}
	device_close(&c);
	random_bytes();
	wake_readers(LOST);
	open_class(&c, DEVICE_CONSOLE);
	end_server(DEVICE_CONSOLE);
	expect(device_write(&c, "lost\n", 5), -E_IO, "a write to who has ended");
	expect(device_write(&c, "said\n", 5), 5, "a write to its successor");
	device_close(&c);
}

/* What the machine was not given is refused, each time, and what it was given is not. */
static void
absent(void)
{
	struct device_client c;

	for (int i = 0; i < TRIES; i++) {
		expect(device_open(&c, DEVICE_RANDOM, BIT), -DEVICE_ENXIO,
			"open what is not there");
		expect(device_read(&c, text, 1), -DEVICE_ENXIO, "read what is not there");
	}
	device_close(&c);
}

static void
typed(void)
{
	struct device_client c;
	size_t have = 0;

	open_class(&c, DEVICE_CONSOLE);
	for (int n = 0; !has_end(have); n++) {
		if (n % PIECES == 0)
			end_server(DEVICE_CONSOLE);
		have = read_piece(&c, have);
	}
	write_all(&c, have);
	device_close(&c);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} what[] = {{"leave", leave}, {"nonsense", nonsense}, {"random", random_bytes},
		{"console", console}, {"waits", waits}, {"lost", lost},
		{"typed", typed}, {"absent", absent}};

	expect(process_open(&leader, 0, BIT_LEADER), 0, "open a channel");
	for (int i = 1; i < argc; i++)
		for (unsigned n = 0; n < sizeof(what) / sizeof(what[0]); n++)
			if (strcmp(argv[i], what[n].name) == 0)
				what[n].run();
	return verdict();
}
