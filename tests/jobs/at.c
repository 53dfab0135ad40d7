/* SPDX-License-Identifier: MIT
 *
 * Paths that begin at an open directory, said with their results: the same here and on Linux.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[] = "/tmp/atoll-at-XXXXXX";

static void
say(const char *what, long result)
{
	printf("%s: %s\n", what, result == -1 ? strerror(errno) : result == 0 ? "0" : "more");
}

/* Where the working directory is, below the place of the test. */
static void
say_where(void)
{
	char path[128] = "";

	if (getcwd(path, sizeof(path)) == NULL || strncmp(path, place, strlen(place)) != 0)
		printf("at %s\n", path);
	else
		printf("at .%s\n", path + strlen(place));
}

static void
say_kind(int dir, const char *path)
{
	struct stat s;

	if (fstatat(dir, path, &s, AT_SYMLINK_NOFOLLOW) != 0)
		printf("%s: %s\n", path, strerror(errno));
	else
		printf("%s: %s, %ld bytes\n", path, S_ISDIR(s.st_mode) ? "directory" : "file",
			S_ISDIR(s.st_mode) ? 0l : (long)s.st_size);
}

static void
files(int d, int e)
{
	int f = openat(d, "f", O_CREAT | O_RDWR, 0666);

	say("write", write(f, "hello", 5));
	say_kind(d, "f");
	say_kind(e, "../f");
	say_kind(d, "e");
	say_kind(d, "e/");
	say_kind(d, "f/");
	say_kind(d, "none");
	say_kind(d, ".");
	say_kind(d, "..");
	say_kind(f, "x");
	say_kind(99, "x");
	say_kind(99, "/");
	say("faccessat", faccessat(d, "f", R_OK, 0));
	say("renameat", renameat(d, "f", e, "g"));
	say_kind(d, "f");
	say_kind(AT_FDCWD, "d/e/g");
	say("fchdir to a file", fchdir(f));
	close(f);
	say("unlinkat", unlinkat(e, "g", 0));
}

static void
directories(int d, int e)
{
	say("fchdir", fchdir(e));
	say_where();
	say("rename", rename("../../d", "../../c"));
	say("mkdirat", mkdirat(d, "made", 0777));
	say_kind(d, "made");
	say("fchdir", fchdir(d));
	say_where();
	say("rmdir", unlinkat(d, "made", AT_REMOVEDIR));
	say("rmdir", rmdir("e"));
	say("in what is gone", mkdirat(e, "x", 0777));
	say("fchdir", fchdir(99));
}

int
main(void)
{
	int d, e;

	mkdir("/tmp", 0777);
	if (mkdtemp(place) == NULL)
		return 1;
	say("chdir", chdir(place));
	say("mkdir", mkdir("d", 0777));
	say("mkdir", mkdir("d/e", 0777));
	d = open("d", O_RDONLY | O_DIRECTORY);
	e = openat(d, "e", O_RDONLY | O_DIRECTORY);
	files(d, e);
	directories(d, e);
	say("chdir", chdir(place));
	say("rmdir", rmdir("c"));
	say("rmdir", rmdir(place));
	printf("ok at\n");
	return 0;
}
