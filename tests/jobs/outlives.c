/* SPDX-License-Identifier: MIT
 *
 * Files in memory outlive the file server: it is killed at random times, also while it begins,
 * while processes write, rename, link, cut and remove files and know what each of them has. What
 * was answered is there; what was answered EIO was done or was not. At the end the machine has what
 * it had. The last rank does this; its workers' files are in /tmp, which the server of a
 * cluster has.
 * usage: outlives [SEED [KILLS [CLUSTER]]]; outlives full
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "draw.h"
#include "expect.h"
#include "rest.h"
#include "workers.h"

#define KILLS 40
#define WARM 6
#define LONGEST_NS 4000000
#define SHORTEST_NS 300000		/* while it begins */
#define NAMES 5
#define MOST 12000
#define CHUNK 30000


/* --- what a worker knows --- */

struct model {
	int file_of[NAMES];		/* from 1; 0: there is none */
	struct {
		long size;
		unsigned char bytes[MOST];
	} file[NAMES + 1];
};

enum { DO_CREATE, DO_WRITE, DO_CUT, DO_LINK, DO_RENAME, DO_REMOVE, DO_KINDS };

struct step {
	int what, i, j;
	long offset, len;
	unsigned char byte;
};

static struct model before, after;
static char name[NAMES][48];

static int
file_free(const struct model *m)
{
	bool used[NAMES + 1] = {false};
	int file = 1;

	for (int i = 0; i < NAMES; i++)
		used[m->file_of[i]] = true;
	while (file < NAMES && used[file])
		file++;
	return file;
}

static void
model_do(struct model *m, const struct step *s)
{
	int *file = &m->file_of[s->i];
	long old = m->file[*file].size;

	if (s->what == DO_CREATE && *file == 0) {
		*file = file_free(m);
		memset(&m->file[*file], 0, sizeof(m->file[0]));
	} else if (*file != 0 && s->what == DO_WRITE) {
		memset(m->file[*file].bytes + s->offset, s->byte, (size_t)s->len);
		m->file[*file].size = s->offset + s->len > old ? s->offset + s->len : old;
	} else if (*file != 0 && s->what == DO_CUT) {
		memset(m->file[*file].bytes + s->offset, 0, (size_t)(MOST - s->offset));
		m->file[*file].size = s->offset;
	} else if (*file != 0 && s->what == DO_LINK && m->file_of[s->j] == 0) {
		m->file_of[s->j] = *file;
	} else if (*file != 0 && s->what == DO_RENAME && m->file_of[s->j] != *file) {
		m->file_of[s->j] = *file;
		*file = 0;
	} else if (s->what == DO_REMOVE) {
		*file = 0;
	}
}

/* 0, or the error. */
static int
do_step(const struct step *s)
{
	static unsigned char text[MOST];
	const char *path = name[s->i], *other = name[s->j];
	int fd, error = 0;

	if (s->what == DO_CREATE) {
		fd = open(path, O_RDWR | O_CREAT, 0600);
		if (fd >= 0)
			close(fd);
		return fd < 0 ? errno : 0;
	}
	if (s->what == DO_WRITE) {
		memset(text, s->byte, (size_t)s->len);
		fd = open(path, O_RDWR);
		if (fd < 0)
			return errno;
		/* fewer: it was not answered for the rest */
		if (pwrite(fd, text, (size_t)s->len, s->offset) != s->len)
			error = EIO;
		close(fd);
		return error;
	}
	if (s->what == DO_LINK)
		return link(path, other) == 0 ? 0 : errno;
	if (s->what == DO_RENAME)
		return rename(path, other) == 0 ? 0 : errno;
	if (s->what == DO_CUT)
		return truncate(path, s->offset) == 0 ? 0 : errno;
	return unlink(path) == 0 ? 0 : errno;
}

/* The bytes of a file; -ENOENT; all else is asked of the next server. */
static long
file_bytes(const char *path, unsigned char *to, nlink_t *links)
{
	for (;;) {
		struct stat st;
		int fd = open(path, O_RDONLY), error;
		long n;

		if (fd < 0 && errno != EIO)
			return -errno;
		if (fd < 0)
			continue;
		n = fstat(fd, &st) == 0 ? pread(fd, to, MOST, 0) : -1;
		error = errno;
		close(fd);
		*links = st.st_nlink;
		/* of several pieces some may have been moved */
		if (n >= 0 && n == st.st_size)
			return n;
		if (n < 0 && error != EIO)
			return -error;
	}
}

/* Is it what one of two models has? */
static bool
name_fits(int i, const struct model *m, const struct model *other, struct model *found)
{
	static unsigned char bytes[MOST];
	nlink_t links = 0, names = 0;
	long size;
	int file = m->file_of[i];

	memset(bytes, 0, sizeof(bytes));
	size = file_bytes(name[i], bytes, &links);
	if (file == 0 || size < 0)
		return file == 0 && size == -ENOENT;
	for (int j = 0; j < NAMES; j++)
		names += m->file_of[j] == file;
	/* a write is several requests, of which some may have been served */
	if (links != names || size < m->file[file].size || size > (other->file[file].size >
		m->file[file].size ? other->file[file].size : m->file[file].size))
		return false;
	for (long at = 0; at < size; at++)
		if (bytes[at] != m->file[file].bytes[at] &&
			bytes[at] != other->file[file].bytes[at])
			return false;
	if (found != NULL) {
		found->file[file].size = size;
		memcpy(found->file[file].bytes, bytes, MOST);
	}
	return true;
}

static bool
model_fits(const struct model *m, const struct model *other, struct model *found)
{
	bool fits = true;

	for (int i = 0; i < NAMES && fits; i++)
		fits = name_fits(i, m, other, found);
	return fits;
}

/* NULL, or what was wrong. */
static const char *
work_step(bool looks)
{
	const struct step s = {.what = (int)draw(DO_KINDS), .i = (int)draw(NAMES),
		.j = (int)draw(NAMES), .offset = (long)draw(MOST / 2),
		.len = 1 + (long)draw(MOST / 2), .byte = (unsigned char)draw(256)};
	int error = do_step(&s);

	after = before;
	model_do(&after, &s);
	if (error != EIO) {
		before = after;
		return looks && !model_fits(&before, &before, NULL) ? "what was answered" : NULL;
	}
	if (s.what == DO_WRITE)
		return model_fits(&before, &after, &before) ? NULL : "what was written partly";
	if (model_fits(&after, &after, NULL))
		before = after;
	else if (!model_fits(&before, &before, NULL))
		return "what was done partly";
	return NULL;
}

static _Noreturn void
work(int number)
{
	const char *wrong = NULL;
	int steps = 0;

	state += (uint64_t)number << 32;
	for (int i = 0; i < NAMES; i++)
		snprintf(name[i], sizeof(name[i]), "/tmp/%d.%d", number, i);
	while (!is_over && wrong == NULL)
		wrong = work_step(++steps % 16 == 0);
	if (wrong == NULL && !model_fits(&before, &before, NULL))
		wrong = "what is there at the end";
	for (int i = 0; i < NAMES && wrong == NULL; i++)
		while (unlink(name[i]) != 0 && errno == EIO)
			continue;
	if (wrong != NULL) {
		printf("FAIL worker %d: %s, after %d steps: error %d\n", number, wrong, steps,
			errno);
		fflush(stdout);
	}
	_exit(wrong != NULL ? WRONG : 0);
}

/* --- their parent --- */

static void
kill_some(int kills)
{
	for (int i = 0; i < kills; i++) {
		bool is_new = draw(3) == 0;
		int lives = process_server(&there, PROCESS_FILE_SERVER, SIGKILL);

		expect(lives > 0, 1, "kill the file server");
		await_life(PROCESS_FILE_SERVER, lives);
		nanosleep(&(struct timespec){.tv_nsec = draw(is_new ? SHORTEST_NS : LONGEST_NS)},
			NULL);
	}
}

static void
let_work(int kills)
{
	pid_t pid[WORKERS];

	workers_begin(pid, work);
	kill_some(kills);
	workers_end(pid);
}

/* Nothing is in /tmp, in a life that has given back what it does not need. */
static void
begin_anew(void)
{
	int entries = 0;
	DIR *d;

	await_life(PROCESS_FILE_SERVER, process_server(&there, PROCESS_FILE_SERVER, SIGKILL));
	d = opendir("/tmp");
	expect(d != NULL ? 0 : errno, 0, "open /tmp");
	while (d != NULL && readdir(d) != NULL)
		entries++;
	expect(entries, 2, "entries of /tmp");
	if (d != NULL)
		closedir(d);
}

/* --- a file that takes all memory --- */

static void
fill_piece(unsigned char *to, long at)
{
	for (long i = 0; i < CHUNK; i++)
		to[i] = (unsigned char)((at + i) * 7 + (at + i) / 256);
}

static void
fill_memory(void)
{
	static unsigned char text[CHUNK], back[CHUNK];
	uint64_t rest[COUNTS];
	long bytes = 0, n;
	struct stat s;
	int fd;

	begin_anew();
	rest_count(rest);
	fd = open("/tmp/all", O_RDWR | O_CREAT, 0600);
	do {
		fill_piece(text, bytes);
		n = write(fd, text, sizeof(text));
		bytes += n > 0 ? n : 0;
	} while (n == CHUNK);
	expect(n < 0 ? errno : ENOSPC, ENOSPC, "the memory ends");
	close(fd);
	await_life(PROCESS_FILE_SERVER, process_server(&there, PROCESS_FILE_SERVER, SIGKILL));
	expect(stat("/tmp/all", &s), 0, "a file that has all memory");
	expect(s.st_size, bytes, "its size");
	fd = open("/tmp/all", O_RDWR);
	for (long at = 0; at < bytes; at += n) {
		n = read(fd, back, sizeof(back));
		fill_piece(text, at);
		if (n <= 0 || memcmp(text, back, (size_t)n) != 0)
			break;
		if (at + n >= bytes)
			expect(at + n, bytes, "its bytes");
	}
	expect(pwrite(fd, text, CHUNK, 0), CHUNK, "a write that needs no memory");
	close(fd);
	expect(mkdir("/tmp/d", 0700), 0, "a directory");
	expect(rmdir("/tmp/d"), 0, "no directory");
	expect(unlink("/tmp/all"), 0, "remove it");
	begin_anew();
	rest_await(rest, SCATTER);
	expect(bytes > CHUNK, 1, "there was memory");
}

int
main(int argc, char **argv)
{
	unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	int kills = argc > 2 ? atoi(argv[2]) : KILLS;
	uint64_t rest[COUNTS];

	if (atoll_startup()->rank != atoll_startup()->ranks - 1)
		return 0;
	state = seed * 1000;
	workers_prepare(argc > 3 ? atoi(argv[3]) : 0);
	if (argc > 1 && strcmp(argv[1], "full") == 0) {
		fill_memory();
		return verdict();
	}
	let_work(WARM);
	begin_anew();
	rest_count(rest);
	let_work(kills);
	begin_anew();
	rest_await(rest, SCATTER);
	printf("seed %lu, %d kills\n", seed, kills);
	return verdict();
}
