/* SPDX-License-Identifier: MIT
 *
 * Everything that programs do with files, in a folder that is given: the same on a share and on
 * Linux. Each process that runs this at once makes a folder of its own there, "0" and so on, and
 * says what it finds in the file "said" in it.
 *
 * usage: share FOLDER
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "say.h"

#define LARGE 1000000
#define MANY 300
#define LINES 60
#define BLOCK 5000
#define BLOCKS 8

static unsigned char text[LARGE], back[LARGE];

static void
put(const char *path, const char *what)
{
	int f = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	if (f < 0 || write(f, what, strlen(what)) != (ssize_t)strlen(what))
		say(path, -1);
	close(f);
}

static void
say_stat(const char *path)
{
	struct stat s;

	if (lstat(path, &s) != 0)
		say(path, -1);
	else
		printf("%.20s: mode %o, %ld bytes, links %d\n", path, s.st_mode,
			S_ISREG(s.st_mode) ? (long)s.st_size : 0l,
			S_ISREG(s.st_mode) ? (int)s.st_nlink : 1);
}

static void
names(void)
{
	char name[300];

	put("two words", "a");
	put("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9a", "b");
	memset(name, 'n', sizeof(name));
	name[255] = 0;
	put(name, "c");
	say_stat(name);
	memset(name, 'm', 254);
	say("rename from 255 bytes to as many", rename("two words", name));
	say("and back", rename(name, "two words"));
	memset(name, 'x', 256);
	name[256] = 0;
	say("256 bytes", open(name, O_CREAT | O_WRONLY, 0644));
	say_stat(".");
	say_stat("two words/");
}

/* Written in pieces of one size and read in pieces of another one. */
static void
large(void)
{
	int f = open("large", O_CREAT | O_RDWR, 0640);
	size_t at;

	for (at = 0; at < LARGE; at++)
		text[at] = (unsigned char)(at * 31 + at / 251);
	for (at = 0; at < LARGE; at += 77777)
		if (write(f, text + at, LARGE - at < 77777 ? LARGE - at : 77777) < 0)
			say("write", -1);
	say("offset", lseek(f, 0, SEEK_CUR));
	say("back", lseek(f, 0, SEEK_SET));
	for (at = 0; at < LARGE; at += 12345)
		if (read(f, back + at, 12345) < 0)
			say("read", -1);
	printf("what is read is what was written: %d\n", memcmp(text, back, LARGE) == 0);
	say("at the end", read(f, back, 10));
	say("pread", pread(f, back, 5000, 500000));
	printf("the same: %d\n", memcmp(text + 500000, back, 5000) == 0);
	say("pwrite", pwrite(f, "abc", 3, LARGE + 10));
	say("end", lseek(f, -3, SEEK_END));
	say("last", read(f, back, 10));
	say("before the start", lseek(f, -1, SEEK_SET));
	say("sync", fsync(f));
	say("data", fdatasync(f));
	say("shorter", ftruncate(f, 300000));
	say("longer", truncate("large", 300010));
	say("from there", pread(f, back, 100, 299998));
	printf("zeros: %d\n", back[1] == text[299999] && back[2] == 0 && back[11] == 0);
	say_stat("large");
	say("close", close(f));
}

static int
count_entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	if (d == NULL)
		return -1;
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static void
many(void)
{
	char name[40];

	say("mkdir", mkdir("many", 0755));
	say("chdir", chdir("many"));
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "file-number-%d", i);
		put(name, name);
	}
	say("entries", count_entries("."));
	for (int i = 0; i < MANY; i += 2) {
		snprintf(name, sizeof(name), "../many/file-number-%d", i);
		unlink(name);
	}
	say("entries", count_entries("../many"));
	say("up", chdir(".."));
	say("not empty", rmdir("many"));
}

static void
without_name(void)
{
	struct stat s;
	char line[20] = "";
	int f = open("gone", O_CREAT | O_RDWR, 0600);

	say("write", write(f, "some words", 10));
	say("unlink", unlink("gone"));
	say("stat", stat("gone", &s));
	say("fstat", fstat(f, &s));
	say("size", (long)s.st_size);
	say("write more", write(f, " more", 5));
	say("pread", pread(f, line, 15, 0));
	say("size", lseek(f, 0, SEEK_END));
	puts(line);
	put("gone", "another one");
	say("fstat", fstat(f, &s));
	say("size", (long)s.st_size);
	say("read", pread(f, line, 4, 0));
	say("close", close(f));
	f = open("old", O_CREAT | O_RDWR, 0600);
	say("rename", rename("old", "new"));
	say("write", write(f, "moved", 5));
	say_text("new");
	say("rename over it", rename("gone", "new"));
	say("read", pread(f, line, 19, 0));
	say("close", close(f));
	say_text("new");
}

/* Lines, and blocks that need several messages, of two processes at once. */
static void
append_one(char who)
{
	int f = open("log", O_CREAT | O_WRONLY | O_APPEND, 0644);
	char line[BLOCK];

	memset(line, who, sizeof(line));
	line[19] = '\n';
	for (int i = 0; i < LINES; i++)
		write(f, line, 20);
	line[19] = who;
	line[BLOCK - 1] = '\n';
	for (int i = 0; i < BLOCKS; i++)
		write(f, line, BLOCK);
	close(f);
}

static void
append(void)
{
	FILE *log;
	char line[BLOCK + 2];
	int torn = 0, lines = 0;
	pid_t pid = fork();

	append_one(pid == 0 ? 'c' : 'p');
	if (pid == 0)
		_exit(3);
	wait(&lines);
	say("child", WEXITSTATUS(lines));
	lines = 0;
	log = fopen("log", "r");
	while (log != NULL && fgets(line, sizeof(line), log) != NULL) {
		size_t len = strlen(line);

		lines++;
		torn += len != 20 && len != BLOCK;
		for (size_t i = 1; i + 1 < len; i++)
			torn += line[i] != line[0];
	}
	if (log != NULL)
		fclose(log);
	printf("%d lines, torn: %d\n", lines, torn);
	unlink("log");
}

static void
shared_offset(void)
{
	char a[11] = "", b[11] = "";
	int f = open("shared", O_CREAT | O_RDWR | O_TRUNC, 0644), copy, status;
	pid_t pid;

	say("write", write(f, "0123456789abcdefghij", 20));
	say("back", lseek(f, 0, SEEK_SET));
	copy = dup(f);
	pid = fork();
	if (pid == 0)
		_exit(read(f, a, 10) == 10 ? 0 : 1);
	waitpid(pid, &status, 0);
	say("child", WEXITSTATUS(status));
	say("read", read(copy, b, 5));
	puts(b);
	say("flags", fcntl(f, F_SETFL, O_APPEND));
	say("append", write(copy, "!", 1));
	say("offset", lseek(f, 0, SEEK_CUR));
	close(copy);
	close(f);
}

static void
links(void)
{
	char to[100] = "";

	say("mkdir", mkdir("d", 0755));
	put("d/f", "in d");
	say("symlink", symlink("d/f", "l"));
	say("symlink", symlink("../d", "d/up"));
	say("symlink", symlink("none", "dangles"));
	say("symlink", symlink("self", "self"));
	say("symlink", symlink("f", "l"));
	say("link", link("d/f", "second"));
	say("link", link("d/f", "second"));
	say("link", link("none-such", "third"));
	say("link a directory", link("d", "third"));
	say_stat("second");
	say("readlink", readlink("l", to, sizeof(to)));
	puts(to);
	say("readlink", readlink("d/f", to, sizeof(to)));
	say("readlink", readlink("d/up/up/up", to, 3));
	say_stat("l");
	say_text("l");
	say_text("d/up/up/up/f");
	say_text("d/up/../d/f");
	say_text("self");
	say_text("dangles");
	say("no follow", open("l", O_RDONLY | O_NOFOLLOW));
	say("exclusive", open("dangles", O_CREAT | O_EXCL | O_WRONLY, 0644));
	put("dangles", "through a link");
	say_text("none");
	say("unlink", unlink("l"));
	say_text("d/f");
	say("chdir", chdir("d/up/up"));
	say_text("../d/f");
	say("up", chdir(".."));
	say_text("d/f/");
}

static void
errors(void)
{
	say("mkdir", mkdir("d", 0755));
	say("mkdir", mkdir("none-such/x", 0755));
	say("mkdir", mkdir("d/f/x", 0755));
	say("mkdir", mkdir("e/", 0700));
	say_stat("e");
	say("rmdir of a file", rmdir("d/f"));
	say("unlink of a directory", unlink("d"));
	say("rmdir", rmdir("d"));
	say("rename into itself", rename("d", "d/sub"));
	say("rename onto what is not empty", rename("e", "d"));
	say("rename", rename("e", "e2"));
	say("rename what is not there", rename("e", "e3"));
	say("rename a file onto a directory", rename("none", "e2"));
	say("rename a directory onto a file", rename("e2", "none"));
	say("rmdir", rmdir("./e2"));
	say("write a directory", open("d", O_WRONLY));
	say("a file as directory", open("none", O_RDONLY | O_DIRECTORY));
	say("exclusive", open("none", O_CREAT | O_EXCL, 0644));
	say("through a file", open("none/x", O_RDONLY));
	say("make with a slash", open("n2/", O_CREAT | O_WRONLY, 0644));
	say("read what is to be written", read(open("none", O_WRONLY), back, 1));
	say("write what is to be read", write(open("none", O_RDONLY), back, 1));
	say("read a directory", read(open("d", O_RDONLY), back, 1));
	say("empty name", open("", O_RDONLY));
}

static void
status(void)
{
	const struct timespec times[2] = {{1000000000, 0}, {1234567890, 500000000}};
	struct stat s = {0};
	int d = open("d", O_RDONLY | O_DIRECTORY), f;

	put("program", "#!/bin/true\n");
	say("access", access("program", X_OK | R_OK));
	say("chmod", chmod("program", 0755));
	say("access", access("program", X_OK));
	say("times", utimensat(AT_FDCWD, "program", times, 0));
	stat("program", &s);
	printf("changed %ld.%ld\n", (long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
	f = openat(d, "below", O_CREAT | O_EXCL | O_RDWR, 0604);
	say("fchmod", fchmod(f, 0400));
	say("futimens", futimens(f, times));
	say("write", write(f, "x", 1));
	say_stat("d/below");
	say("unlinkat", unlinkat(d, "none-such", 0));
	say("renameat", renameat(d, "below", AT_FDCWD, "above"));
	say_stat("above");
	close(f);
	say("fchdir", fchdir(d));
	say_text("f");
	say("back", chdir(".."));
	close(d);
}

/* A folder of our own. */
static int
enter(const char *folder)
{
	char name[20];

	if (chdir(folder) != 0)
		return -1;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%d", i);
		if (mkdir(name, 0755) == 0)
			return chdir(name);
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* Who answers for the host counts in larger blocks. */
static void
space(void)
{
	int f = open(".", O_RDONLY | O_DIRECTORY);
	struct statvfs s, open;

	if (statvfs(".", &s) != 0 || fstatvfs(f, &open) != 0) {
		say("statvfs", -1);
		return;
	}
	printf("%lu units of 16 MB, %lu files, names of %lu bytes\n",
		(unsigned long)(s.f_blocks * s.f_bsize >> 24), (unsigned long)s.f_files,
		(unsigned long)s.f_namemax);
	printf("less is free: %d\n", s.f_bfree <= s.f_blocks && s.f_bavail <= s.f_bfree);
	printf("the same of what is open: %d\n", open.f_blocks == s.f_blocks);
	say("of nothing", statvfs("nothing", &s));
	close(f);
}

int
main(int argc, char **argv)
{
	char end[8] = "";
	char cwd[200] = "";

	umask(022);
	if (argc < 2 || enter(argv[1]) != 0) {
		perror("share");
		return 1;
	}
	if (freopen("said", "w", stdout) == NULL)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	names();
	large();
	many();
	without_name();
	append();
	shared_offset();
	links();
	errors();
	status();
	space();
	getcwd(cwd, sizeof(cwd));
	printf("in %s\n", strncmp(cwd, argv[1], strlen(argv[1])) == 0 ? "the folder" : cwd);
	snprintf(end, sizeof(end), "%d", ferror(stdout));
	puts(end);
	return fclose(stdout) == 0 ? 0 : 3;
}
