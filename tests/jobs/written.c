/* SPDX-License-Identifier: MIT
 *
 * Programs that were written here are started, and what of files is kept besides their contents:
 * said with results, the same here and on Linux. A copy of the program is the file `written` of the
 * working directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void
say(const char *what, long result)
{
	printf("%s: %ld %s\n", what, result, result == -1 ? strerror(errno) : "");
	fflush(stdout);
}

/* --- programs --- */

static void
copy(const char *from, const char *to, mode_t mode)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, mode);
	char bytes[4096];
	ssize_t n;

	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)n) != n)
			say("write", -1);
	close(in);
	close(out);
}

static void
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (write(fd, text, strlen(text)) < 0)
		say("write", -1);
	close(fd);
}

static void
start(const char *path, const char *how)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execl(path, path, how, "two words", (char *)NULL);
		say(path, -1);
		_exit(9);
	}
	say("waited", waitpid(pid, &status, 0) == pid);
	say("exited", WIFEXITED(status) ? WEXITSTATUS(status) : -2);
}

/* What a copy does. */
static int
started(char **argv)
{
	for (char **a = argv; *a != NULL; a++)
		printf("<%s>%s", *a, a[1] != NULL ? " " : "\n");
	fflush(stdout);
	if (strcmp(argv[1], "again") != 0)
		return 3;
	unlink(argv[0]);
	say("removed", access(argv[0], F_OK));
	execl("./second", "second", "once", "more", (char *)NULL);
	return 4;
}

static void
programs(void)
{
	copy("written", "first", 0755);
	start("./first", "once");
	copy("first", "second", 0755);
	start("./first", "again");
	start("./first", "gone");
	say("rename", rename("second", "first"));
	start("./first", "once");
	copy("first", "second", 0644);
	start("./second", "forbidden");
	say("chmod", chmod("second", 0700));
	start("./second", "once");
	say("directory", mkdir("folder", 0755));
	start("./folder", "folder");
	put("first", "#!./second once more  \nwhatever\n");
	start("./first", "script");
	put("first", "#! ./second");
	start("./first", "script");
	put("first", "#!./nothing\n");
	start("./first", "script");
	put("first", "#!\n");
	start("./first", "script");
	put("first", "neither a program nor a script\n");
	start("./first", "text");
	put("first", "");
	start("./first", "empty");
	unlink("first");
	unlink("second");
	rmdir("folder");
}

/* --- modes and times --- */

static void
say_mode(const char *path)
{
	struct stat s;

	if (stat(path, &s) == 0)
		printf("%s: %o\n", path, (unsigned)s.st_mode);
	else
		say(path, -1);
	fflush(stdout);
}

static void
modes(void)
{
	umask(027);
	close(open("file", O_WRONLY | O_CREAT, 0666));
	mkdir("folder", 0777);
	say_mode("file");
	say_mode("folder");
	say("execute", access("file", X_OK));
	say("chmod", chmod("file", 0751));
	say("execute", access("file", X_OK | R_OK));
	say("enter", access("folder", X_OK));
	say("strange", access("file", 9));
	say_mode("file");
	say("chmod of nothing", chmod("nothing", 0600));
	say("umask", umask(022));
	start("./written", "umask");
	rmdir("folder");
}

static long
modified(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 ? (long)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec : -1;
}

static void
times(void)
{
	struct timespec t[2] = {{0, 6}, {0, 8}}, only[2] = {{1, 0}, {0, UTIME_OMIT}},
		strange[2] = {{0, 0}, {0, 1000000000}};
	int fd = open("file", O_WRONLY);
	long before;

	say("utimensat", utimensat(AT_FDCWD, "file", t, 0));
	say("modified", modified("file"));
	t[1].tv_nsec = 70;
	say("futimens", futimens(fd, t));
	say("modified", modified("file"));
	say("only access", futimens(fd, only));
	say("modified", modified("file"));
	say("strange", futimens(fd, strange));
	say("nothing", utimensat(AT_FDCWD, "nothing", t, 0));
	say("write", write(fd, "x", 1));
	before = modified("file");
	say("written later", before > 70);
	say("futimens", futimens(fd, NULL));
	say("not before", modified("file") >= before);
	say("utimensat", utimensat(AT_FDCWD, "file", t, 0));
	say("rename", rename("file", "other"));
	say("modified", modified("other"));
	say("in a folder", modified(".") > 70);
	close(fd);
	unlink("other");
}

/* --- pselect --- */

static void
say_ready(int fd, int count, fd_set *read, fd_set *write)
{
	say("ready", count);
	printf("%d %d\n", read != NULL && FD_ISSET(fd, read), write != NULL && FD_ISSET(fd, write));
	fflush(stdout);
}

static void
ready(void)
{
	struct timespec none = {0, 0}, some = {0, 2000000};
	fd_set to_read, to_write;
	int ends[2];

	if (pipe(ends) != 0)
		say("pipe", -1);
	FD_ZERO(&to_read);
	FD_SET(ends[0], &to_read);
	say_ready(ends[0], pselect(ends[0] + 1, &to_read, NULL, NULL, &none, NULL), &to_read, NULL);
	FD_SET(ends[0], &to_read);
	say_ready(ends[0], pselect(ends[0] + 1, &to_read, NULL, NULL, &some, NULL), &to_read, NULL);
	FD_SET(ends[0], &to_read);
	FD_ZERO(&to_write);
	FD_SET(ends[1], &to_write);
	say_ready(ends[1], pselect(ends[1] + 1, &to_read, &to_write, NULL, NULL, NULL), &to_read,
		&to_write);
	say("write", write(ends[1], "x", 1));
	FD_SET(ends[0], &to_read);
	say_ready(ends[0], pselect(ends[1] + 1, &to_read, NULL, NULL, NULL, NULL), &to_read, NULL);
	close(ends[1]);
	FD_SET(ends[1], &to_read);
	say("closed", pselect(ends[1] + 1, &to_read, NULL, NULL, &none, NULL));
	say("nothing", pselect(0, NULL, NULL, NULL, &some, NULL));
	say("negative", pselect(-1, NULL, NULL, NULL, &some, NULL));
	close(ends[0]);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "umask") == 0) {
		say("umask", umask(0));
		return 0;
	}
	if (argc > 1)
		return started(argv);
	programs();
	modes();
	times();
	ready();
	printf("ok written\n");
	return 0;
}
