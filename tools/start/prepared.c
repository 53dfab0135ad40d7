/* SPDX-License-Identifier: MIT
 *
 * Reading a prepared start. The file build/start/KEY holds strings, each with its NUL, and bytes
 * behind the string that is their number:
 *
 *	"atoll-start 1"  root  folder  CPUs  number of arguments, arguments  launcher  python
 *				reader  timeout in ms
 *	then any number of	"unchanged" path identity	the file is the same
 *				"older" nanoseconds number paths	none was changed later; in
 *									the root
 *				"record" number bytes		the boot record
 *				"bytes" number bytes		the archive's next part
 *				"file" path identity		the archive's next part is this file
 *	and			"end"
 *
 * KEY is the FNV-1a hash of folder and arguments; the file says them once more, so that two with
 * the same hash are not confused.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "facts.h"
#include "prepared.h"

#define FORMAT "atoll-start 1"
#define PATH_BYTES 4096

struct reader {
	const char *at;
	const char *end;
	struct prepared *p;
};

static int
differs(struct prepared *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->why, sizeof(p->why), format, args);
	va_end(args);
	return -1;
}

/* The next string; "" at the end, which is never right. */
static const char *
next(struct reader *r)
{
	const char *text = r->at;
	const char *nul = memchr(r->at, 0, (size_t)(r->end - r->at));

	if (nul == NULL)
		return "";
	r->at = nul + 1;
	return text;
}

static const char *
next_bytes(struct reader *r, size_t *bytes)
{
	const char *data;

	*bytes = strtoul(next(r), NULL, 10);
	data = r->at;
	if (*bytes > (size_t)(r->end - r->at))
		return NULL;
	r->at += *bytes;
	return data;
}

static int
write_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes);

		if (n <= 0)
			return -1;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int
put_next(struct reader *r, int fd)
{
	size_t bytes;
	const char *data = next_bytes(r, &bytes);

	return data == NULL || write_all(fd, data, bytes) != 0 ? differs(r->p, "it is damaged") : 0;
}

static bool
is_same(int fd, const char *identity, size_t *bytes)
{
	char now[IDENTITY_BYTES];
	struct stat st;

	identity_of(fstat(fd, &st) == 0 ? &st : NULL, now);
	*bytes = (size_t)st.st_size;
	return strcmp(now, identity) == 0;
}

/* A file goes in as it lies there now, and only if it stays the same meanwhile. */
static int
put_file(struct reader *r)
{
	const char *path = next(r);
	const char *identity = next(r);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool same;
	size_t left;

	if (fd < 0)
		return differs(r->p, "%s cannot be read", path);
	same = is_same(fd, identity, &left);
	while (same && left > 0) {
		ssize_t n = sendfile(r->p->archive_fd, fd, NULL, left);

		same = n > 0;
		left -= same ? (size_t)n : 0;
	}
	same = same && is_same(fd, identity, &left);
	close(fd);
	return same ? 0 : differs(r->p, "%s is another", path);
}

static int
check_unchanged(struct reader *r)
{
	const char *path = next(r);

	return is_unchanged(path, next(r)) ? 0 : differs(r->p, "%s is another", path);
}

/* Files and folders: what is new in a folder has changed the folder. */
static int
check_older(struct reader *r)
{
	int64_t limit = strtoll(next(r), NULL, 10);
	long count = atol(next(r));
	int root = open(r->p->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int result = 0;

	for (; result == 0 && count > 0; count--) {
		const char *path = next(r);

		if (!is_older(root, path, limit))
			result = differs(r->p, "%s is newer than what was built from it, or gone",
				path);
	}
	close(root);
	return result;
}

static int
read_items(struct reader *r)
{
	int result = 0;

	while (result == 0) {
		const char *what = next(r);

		if (strcmp(what, "end") == 0)
			return 0;
		if (strcmp(what, "unchanged") == 0)
			result = check_unchanged(r);
		else if (strcmp(what, "older") == 0)
			result = check_older(r);
		else if (strcmp(what, "file") == 0)
			result = put_file(r);
		else if (strcmp(what, "record") == 0)
			result = put_next(r, r->p->record_fd);
		else if (strcmp(what, "bytes") == 0)
			result = put_next(r, r->p->archive_fd);
		else
			result = differs(r->p, "it is damaged");
	}
	return result;
}

static bool
same_folder(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
		sa.st_ino == sb.st_ino;
}

static int
check_arguments(struct reader *r, char **args)
{
	long count = atol(next(r));

	for (; count > 0 && *args != NULL; count--)
		if (strcmp(next(r), *args++) != 0)
			return differs(r->p, "other arguments have the same key");
	return count != 0 || *args != NULL ? differs(r->p, "other arguments have the same key") : 0;
}

static int
read_head(struct reader *r, const char *here, char **args)
{
	struct prepared *p = r->p;
	char folder[PATH_BYTES];
	cpu_set_t set;

	if (strcmp(next(r), FORMAT) != 0)
		return differs(p, "it is of another version");
	p->root = next(r);
	if (!same_folder(p->root, here))
		return differs(p, "it is of the tree %s", p->root);
	if (getcwd(folder, sizeof(folder)) == NULL || strcmp(next(r), folder) != 0)
		return differs(p, "it is of another folder");
	if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) != atoi(next(r)))
		return differs(p, "it is for another number of CPUs");
	if (check_arguments(r, args) != 0)
		return -1;
	p->launcher = next(r);
	p->python = next(r);
	p->reader = next(r);
	p->timeout_ms = atol(next(r));
	return 0;
}

static uint64_t
hash(uint64_t h, const char *text)
{
	do {
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	} while (*text++ != '\0');
	return h;
}

/* The file of a command line, mapped for good; NULL if there is none. */
static const char *
map_file(const char *here, char **args, size_t *bytes)
{
	uint64_t key = 0xcbf29ce484222325u;
	char path[PATH_BYTES], folder[PATH_BYTES];
	struct stat st;
	void *data;
	int fd;

	if (getcwd(folder, sizeof(folder)) == NULL)
		return NULL;
	key = hash(key, folder);
	while (*args != NULL)
		key = hash(key, *args++);
	if (snprintf(path, sizeof(path), "%s/build/start/%016" PRIx64, here,
		key) >= (int)sizeof(path))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return NULL;
	*bytes = (size_t)st.st_size;
	data = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	close(fd);
	return data == MAP_FAILED ? NULL : data;
}

int
prepared_load(struct prepared *p, const char *here, char **args)
{
	struct reader r = {.p = p};
	size_t bytes = 0;

	r.at = map_file(here, args, &bytes);
	if (r.at == NULL)
		return differs(p, "nothing is prepared for these arguments in this folder");
	r.end = r.at + bytes;
	if (read_head(&r, here, args) != 0)
		return -1;
	p->record_fd = memfd_create("record.bin", 0);
	p->archive_fd = memfd_create("archive.cpio", 0);
	if (p->record_fd < 0 || p->archive_fd < 0)
		differs(p, "no memory file");
	else if (read_items(&r) == 0)
		return 0;
	close(p->record_fd);
	close(p->archive_fd);
	return -1;
}
