/* SPDX-License-Identifier: MIT
 *
 * The console's lines on standard output, a pipe here: in one piece each, also where the pipe is
 * full at times.
 *
 * needs: hal/cpu/hosted/output.c
 */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <base/test.h>
#include <hal/console.h>
#include "hosted.h"

#define LINE 150
#define MANY 4000

static int ends[2], out;
static char got[1 << 20];
static size_t got_bytes;

void
host_write(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static void
begin(void)
{
	fflush(stdout);
	out = dup(1);
	expect(pipe2(ends, O_NONBLOCK) == 0 && dup2(ends[1], 1) == 1);
	got_bytes = 0;
}

static void
end(void)
{
	dup2(out, 1);
	close(out);
	close(ends[0]);
	close(ends[1]);
}

/* What has come since, behind what came before: how many bytes. */
static size_t
take(size_t most)
{
	ssize_t n = read(ends[0], got + got_bytes, most);

	if (n > 0)
		got_bytes += (size_t)n;
	return n > 0 ? (size_t)n : 0;
}

TEST(a_line_comes_in_one_piece)
{
	char line[LINE];

	memset(line, 'x', sizeof(line));
	line[LINE - 1] = '\n';
	begin();
	expect_eq(hal_console_put(line, 64), 64);
	expect_eq(take(sizeof(got)), 0);
	expect_eq(hal_console_put(line + 64, 64), 64);
	expect_eq(take(sizeof(got)), 0);
	expect_eq(hal_console_put(line + 128, LINE - 128), LINE - 128);
	expect_eq(take(sizeof(got)), LINE);
	expect(memcmp(got, line, LINE) == 0);
	end();
}

TEST(what_is_too_long_for_a_line_comes_all_the_same_and_a_panic_comes_behind_it)
{
	static char text[2000];

	memset(text, 'y', sizeof(text));
	begin();
	for (size_t at = 0; at < sizeof(text); at += 50)
		expect_eq(hal_console_put(text + at, 50), 50);
	hal_console_write("end\n", 4);
	while (take(sizeof(got)) > 0)
		continue;
	expect_eq(got_bytes, sizeof(text) + 4);
	expect(memcmp(got, text, sizeof(text)) == 0);
	expect(memcmp(got + sizeof(text), "end\n", 4) == 0);
	end();
}

/* The reader takes little at a time, so that the pipe is full: nothing is lost or twice. */
TEST(a_full_pipe_is_waited_for_by_nobody_and_loses_nothing)
{
	static char text[MANY * 40];
	size_t len = 0, put = 0;

	for (int i = 0; i < MANY; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "line %d%.*s\n", i, i % 23,
			"......................");
	begin();
	while (put < len) {
		size_t piece = len - put < 64 ? len - put : 64;
		size_t n = hal_console_put(text + put, piece);

		expect(n <= piece);
		put += n;
		if (n < piece)
			expect(take(700) > 0);
	}
	while (take(sizeof(got) - got_bytes) > 0)
		continue;
	expect_eq(got_bytes, len);
	expect(memcmp(got, text, len) == 0);
	end();
}

int
main(void)
{
	RUN(a_line_comes_in_one_piece);
	RUN(what_is_too_long_for_a_line_comes_all_the_same_and_a_panic_comes_behind_it);
	RUN(a_full_pipe_is_waited_for_by_nobody_and_loses_nothing);
	return TEST_FAILED;
}
