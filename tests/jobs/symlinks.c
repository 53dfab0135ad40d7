/* SPDX-License-Identifier: MIT
 *
 * Symbolic links in memory: the same here and on Linux.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "say.h"

#define LINKS 41			/* more than a path may lead through */

static void
put(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	say(path, fd < 0 ? -1 : write(fd, text, strlen(text)));
	close(fd);
}

static const char *
kind(mode_t mode)
{
	return S_ISLNK(mode) ? "a link" : S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ?
		"a pipe" : S_ISCHR(mode) ? "a device" : S_ISREG(mode) ? "a file" :
		S_ISSOCK(mode) ? "a socket" : "something";
}

static void
say_kind(const char *path)
{
	struct stat s;

	if (lstat(path, &s) != 0)
		say(path, -1);
	else if (S_ISLNK(s.st_mode))
		printf("%s: a link, mode %o, %ld bytes, links %d\n", path, s.st_mode & 07777,
			(long)s.st_size, (int)s.st_nlink);
	else
		printf("%s: %s, mode %o\n", path, kind(s.st_mode), s.st_mode & 07777);
	if (stat(path, &s) != 0)
		say(path, -1);
	else
		printf("%s leads to %s\n", path, kind(s.st_mode));
}

static void
say_link(const char *path, size_t room)
{
	char text[64] = "";
	long result = readlink(path, text, room);

	say(path, result);
	if (result > 0)
		printf("it says %.*s\n", (int)result, text);
}

/* --- links --- */

static void
make(void)
{
	say("d", mkdir("d", 0755));
	say("d/in", mkdir("d/in", 0755));
	put("d/f", "in d");
	say("l", symlink("d/f", "l"));
	say("again", symlink("x", "l"));
	say("dir", symlink("d", "dir"));
	say("up", symlink("../..", "d/in/up"));
	say("dangles", symlink("d/none", "dangles"));
	say("self", symlink("self", "self"));
	say("two", symlink("one", "two"));
	say("one", symlink("two", "one"));
	say("slash", symlink("d/", "slash"));
	say("to a file as a directory", symlink("d/f/", "wrong"));
	say("no text", symlink("", "empty"));
	say("no name", symlink("x", ""));
	say("in none", symlink("x", "none/x"));
	say("in a file", symlink("x", "d/f/x"));
	say("with a slash", symlink("x", "new/"));
	say("with a slash, there", symlink("x", "dangles/"));
	say("dots", symlink("x", "d/."));
	say("at", symlinkat("f", open("d", O_RDONLY), "by"));
	say("at a link", symlinkat("f", open("dir", O_RDONLY), "by"));
	say("at what is closed", symlinkat("f", 77, "by"));
	say("through a link", symlink("f", "dir/in/up/dir/second"));
}

static void
look(void)
{
	static const char *const path[] = {"l", "dir", "dir/", "d/in/up", "dangles", "self", "one",
		"slash", "wrong", "d/by", "d/second", "dir/f", "l/", "l/x", "self/x", "dangles/",
		"dir/in/up/d/in/up/l"};

	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		say_kind(path[i]);
		say_link(path[i], 64);
		say("access", access(path[i], R_OK));
		say("no further", faccessat(AT_FDCWD, path[i], R_OK, AT_SYMLINK_NOFOLLOW));
		say_text(path[i]);
	}
	say_link("l", 2);
	say_link("l", 0);
	say_link("d/f", 64);
	say_link("none", 64);
	say("nowhere", readlinkat(AT_FDCWD, "l", NULL, 8));
	say("from nowhere", readlink(NULL, (char[8]){0}, 8));
	say("a real path", realpath("d/in/up/dir/by", NULL) != NULL);
	say("a circle's", realpath("self", NULL) == NULL ? -1 : 0);
}

static void
list(void)
{
	DIR *d = opendir("dir/in/up");
	struct dirent *e;
	int links = 0, directories = 0, files = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		links += e->d_type == DT_LNK;
		directories += e->d_type == DT_DIR;
		files += e->d_type == DT_REG;
	}
	printf("%d links, %d directories, %d files\n", links, directories, files);
	if (d != NULL)
		closedir(d);
}

static void
open_them(void)
{
	struct stat s;
	char text[8];
	int fd;

	say("no follow", open("l", O_RDONLY | O_NOFOLLOW));
	say("no follow, write", open("l", O_WRONLY | O_NOFOLLOW | O_TRUNC));
	say("no follow of a directory", open("dir", O_RDONLY | O_NOFOLLOW | O_DIRECTORY));
	say("no follow, made", open("dangles", O_CREAT | O_WRONLY | O_NOFOLLOW, 0600));
	say("exclusive", open("dangles", O_CREAT | O_EXCL | O_WRONLY, 0600));
	say("a circle", open("self", O_CREAT | O_WRONLY, 0600));
	say("a directory to write", open("dir", O_WRONLY));
	say("a file as a directory", open("l", O_RDONLY | O_DIRECTORY));
	fd = open("dir/f", O_RDONLY | O_NOFOLLOW);
	say("only the last name counts", read(fd, text, 8));
	close(fd);
	put("dangles", "made");
	say_text("d/none");
	say("truncate", truncate("dangles", 2));
	say_text("dangles");
	say("status of a directory", fstatat(open("dir", O_RDONLY), "by", &s, AT_SYMLINK_NOFOLLOW));
	printf("%s\n", kind(s.st_mode));
	say("status", fstatat(AT_FDCWD, "none", &s, AT_SYMLINK_NOFOLLOW));
	fd = open("dir", O_RDONLY | O_DIRECTORY);
	say("openat", openat(fd, "by", O_RDONLY) > 0);
	close(fd);
}

static void
change(void)
{
	const struct timespec times[2] = {{1000, 0}, {2000, 0}};
	struct stat s;

	say("mkdir", mkdir("dangles", 0700));
	say("mkdir of nothing", mkdir("wrong", 0700));
	say("rmdir of a link", rmdir("dir"));
	say("with a slash", rmdir("dir/"));
	say("unlink with a slash", unlink("dir/"));
	say("chmod", chmod("l", 0600));
	say_kind("l");
	say("time of the link", utimensat(AT_FDCWD, "l", times, AT_SYMLINK_NOFOLLOW));
	say("its time", lstat("l", &s) == 0 && s.st_mtime == 2000);
	say("of the file", stat("l", &s) == 0 && s.st_mtime != 2000);
	say("time of nothing", utimensat(AT_FDCWD, "self", times, 0));
	say("time of a circle", utimensat(AT_FDCWD, "self", times, AT_SYMLINK_NOFOLLOW));
	say("link to a link", link("l", "hard"));
	say_kind("hard");
	say("link to the file", linkat(AT_FDCWD, "l", AT_FDCWD, "file", AT_SYMLINK_FOLLOW));
	say_kind("file");
	say("link over", link("d/f", "dangles"));
	say("link to a circle", linkat(AT_FDCWD, "self", AT_FDCWD, "y", AT_SYMLINK_FOLLOW));
	say("rename a link", rename("hard", "dir/hard"));
	say_link("d/hard", 64);
	say("rename over a link", rename("file", "dangles"));
	say_kind("dangles");
	say("rename a link over a file", rename("d/hard", "dangles"));
	say_kind("dangles");
	say("a directory over a link", rename("d/in", "dangles"));
	say("a link over a directory", rename("dangles", "d/in"));
	say("with a slash", rename("dir/", "other"));
	say("into itself", rename("d", "dir/in/x"));
	say("through a circle", rename("d/f", "self/x"));
	say("a link onto itself", rename("dir", "dir"));
	say("what it leads to, onto it", rename("d/f", "d/second"));
	say_kind("d/second");
	say("a working directory", chdir("dir/in/up/d/in"));
	say("back", chdir("../.."));
	say_text("d/by");
	say("remove", unlink("dangles"));
	say("remove what dangles", unlink("l"));
	say_kind("l");
}

static void
many(void)
{
	char from[32], to[32], long_name[PATH_MAX + 10];
	struct stat s;
	long good = 0;

	put("n0", "the end");
	for (int i = 1; i <= LINKS; i++) {
		snprintf(from, sizeof(from), "n%d", i - 1);
		snprintf(to, sizeof(to), "n%d", i);
		good += symlink(from, to) == 0;
	}
	say("links", good);
	say_text("n40");
	say_text("n41");
	say("status", stat("n41", &s));
	for (int i = 0; i <= LINKS; i++) {
		snprintf(to, sizeof(to), "n%d", i);
		good -= unlink(to) == 0;
	}
	say("left", good + 1);
	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = 0;
	say("a long text", symlink(long_name, "long"));
	say("a long name", symlink("x", long_name));
	say("bad text", symlink((char *)1, "bad"));
	say("bad name", symlink("x", (char *)1));
}

/* Programs by their links. */
static void
run(void)
{
	pid_t pid;
	int status = 0;

	put("script", "#!/none/such\n");
	say("mode", chmod("script", 0755));
	say("a link to a script", symlink("script", "call"));
	pid = fork();
	if (pid == 0) {
		execl("call", "call", NULL);
		_exit(errno == ENOENT ? 3 : 4);
	}
	waitpid(pid, &status, 0);
	say("its interpreter is not there", WEXITSTATUS(status));
	pid = fork();
	if (pid == 0) {
		execl("self", "self", NULL);
		_exit(errno == ELOOP ? 3 : 4);
	}
	waitpid(pid, &status, 0);
	say("a circle", WEXITSTATUS(status));
	unlink("call");
	unlink("script");
}

static void
sockets(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "dir/socket"};
	int s = socket(AF_UNIX, SOCK_DGRAM, 0), c = socket(AF_UNIX, SOCK_DGRAM, 0);

	say("bind", bind(s, (struct sockaddr *)&at, sizeof(at)));
	say("link", symlink("d/socket", "to"));
	strcpy(at.sun_path, "to");
	say("connect", connect(c, (struct sockaddr *)&at, sizeof(at)));
	say("send", sendto(c, "x", 1, 0, (struct sockaddr *)&at, sizeof(at)));
	say("bind over a link", bind(c, (struct sockaddr *)&at, sizeof(at)));
	strcpy(at.sun_path, "self");
	say("a circle", connect(c, (struct sockaddr *)&at, sizeof(at)));
	say_kind("to");
	unlink("to");
	unlink("d/socket");
	close(s);
	close(c);
}

int
main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (mkdir("links", 0755) != 0 || chdir("links") != 0)
		return 1;
	make();
	look();
	list();
	open_them();
	sockets();
	change();
	run();
	many();
	puts("ok symlinks");
	return 0;
}
