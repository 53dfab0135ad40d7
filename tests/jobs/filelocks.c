/* SPDX-License-Identifier: MIT
 *
 * Locks of files, of bytes and of descriptions: the same here and on Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "say.h"

static int file;
static int up[2], down[2];		/* of a child */

static long
lock(int fd, int how, int type, long start, long len)
{
	struct flock l = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start,
		.l_len = len};

	return fcntl(fd, how, &l);
}

static void
say_lock(const char *what, int type, long start, long len, pid_t pid)
{
	struct flock l = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start,
		.l_len = len};

	if (fcntl(file, F_GETLK, &l) != 0)
		say(what, -1);
	else if (l.l_type == F_UNLCK)
		printf("%s: free\n", what);
	else
		printf("%s: %s from %ld, %ld bytes, %s\n", what, l.l_type == F_RDLCK ? "shared" :
			"exclusive", (long)l.l_start, (long)l.l_len, l.l_pid == pid ? "its" : "?");
}

static void
give(int fd)
{
	if (write(fd, "x", 1) != 1)
		exit(1);
}

static void
take(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		exit(1);
}

/* It does something, says so, and goes on when it is told. */
static pid_t
child(void (*body)(void))
{
	pid_t pid;

	fflush(stdout);
	if (pipe(up) != 0 || pipe(down) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		body();
		fflush(stdout);
		_exit(7);
	}
	return pid;
}

static void
end(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		exit(1);
	say("ends", status);
	close(up[0]);
	close(up[1]);
	close(down[0]);
	close(down[1]);
}

static void
has_some(void)
{
	say("exclusive", lock(file, F_SETLK, F_WRLCK, 10, 20));
	say("shared", lock(file, F_SETLK, F_RDLCK, 100, 0));
	give(up[1]);
	take(down[0]);
	say("unlocked in the middle", lock(file, F_SETLK, F_UNLCK, 15, 5));
	give(up[1]);
	take(down[0]);
}

static void
ranges(void)
{
	pid_t pid = child(has_some);

	take(up[0]);
	say_lock("the whole file", F_WRLCK, 0, 0, pid);
	say_lock("before it", F_WRLCK, 0, 10, pid);
	say_lock("its last byte", F_RDLCK, 29, 1, pid);
	say_lock("behind it", F_WRLCK, 30, 70, pid);
	say_lock("what is shared, shared", F_RDLCK, 150, 1, pid);
	say_lock("what is shared, exclusive", F_WRLCK, 150, 1, pid);
	say("exclusive against exclusive", lock(file, F_SETLK, F_WRLCK, 5, 6));
	say("shared against exclusive", lock(file, F_SETLK, F_RDLCK, 29, 1));
	say("shared against shared", lock(file, F_SETLK, F_RDLCK, 120, 1));
	say("exclusive against shared", lock(file, F_SETLK, F_WRLCK, 120, 1));
	say("beside it", lock(file, F_SETLK, F_WRLCK, 30, 10));
	give(down[1]);
	take(up[0]);
	say("what was unlocked", lock(file, F_SETLK, F_WRLCK, 15, 5));
	say_lock("before that", F_WRLCK, 0, 15, pid);
	say_lock("behind that", F_WRLCK, 20, 5, pid);
	give(down[1]);
	say("who waits for an end", lock(file, F_SETLKW, F_WRLCK, 0, 0));
	end(pid);
	say("all unlocked", lock(file, F_SETLK, F_UNLCK, 0, 0));
}

static void
has_all(void)
{
	say("all of it", lock(file, F_SETLK, F_WRLCK, 0, 0));
	give(up[1]);
	for (;;)
		pause();
}

static void
killed(void)
{
	pid_t pid = child(has_all);

	take(up[0]);
	kill(pid, SIGKILL);
	say("after a death", lock(file, F_SETLKW, F_RDLCK, 3, 1));
	end(pid);
	lock(file, F_SETLK, F_UNLCK, 0, 0);
}

static void
wants_the_first(void)
{
	long result;

	say("the second", lock(file, F_SETLK, F_WRLCK, 1, 1));
	give(up[1]);
	result = lock(file, F_SETLKW, F_WRLCK, 0, 1);
	_exit(result == 0 ? 1 : errno == EDEADLK ? 2 : 3);
}

/* Each waits for the other: one of them is told so. */
static void
deadlock(void)
{
	int status = 0, own;
	pid_t pid;

	say("the first", lock(file, F_SETLK, F_WRLCK, 0, 1));
	pid = child(wants_the_first);
	take(up[0]);
	own = lock(file, F_SETLKW, F_WRLCK, 1, 1) == 0 ? 1 : errno == EDEADLK ? 2 : 3;
	lock(file, F_SETLK, F_UNLCK, 0, 0);
	waitpid(pid, &status, 0);
	say("one of them is told", own + WEXITSTATUS(status));
}

static void
asks(void)
{
	say_lock("seen by a child", F_WRLCK, 0, 0, getppid());
}

static void
closes(void)
{
	int other = open("locked", O_RDWR);

	lock(file, F_SETLK, F_WRLCK, 0, 5);
	end(child(asks));
	close(dup(file));
	end(child(asks));
	lock(file, F_SETLK, F_WRLCK, 0, 5);
	close(other);
	end(child(asks));
}

static void
positions(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = 2, .l_len = 3};

	lseek(file, 10, SEEK_SET);
	say("from the offset", fcntl(file, F_SETLK, &l));
	end(child(asks));
	lock(file, F_SETLK, F_UNLCK, 0, 0);
	l = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_END, .l_start = -4, .l_len = -6};
	say("from the end, backwards", fcntl(file, F_SETLK, &l));
	end(child(asks));
	lock(file, F_SETLK, F_WRLCK, 94, 100);
	lock(file, F_SETLK, F_WRLCK, 50, 40);
	say("neighbours", lock(file, F_SETLK, F_WRLCK, 90, 4));
	end(child(asks));
	lock(file, F_SETLK, F_UNLCK, 0, 0);
}

static void
errors(void)
{
	int in = open("locked", O_RDONLY), out = open("locked", O_WRONLY);
	struct flock l = {.l_type = F_RDLCK, .l_whence = 7};

	say("shared without reading", lock(out, F_SETLK, F_RDLCK, 0, 1));
	say("exclusive without writing", lock(in, F_SETLK, F_WRLCK, 0, 1));
	say("of another kind", lock(file, F_SETLK, 9, 0, 1));
	say("nothing to be asked", lock(file, F_GETLK, F_UNLCK, 0, 1));
	say("before the file", lock(file, F_SETLK, F_RDLCK, -1, 1));
	say("back before the file", lock(file, F_SETLK, F_RDLCK, 3, -4));
	say("back to its start", lock(file, F_SETLK, F_RDLCK, 3, -3));
	say("from nowhere", fcntl(file, F_SETLK, &l));
	say("no descriptor", lock(77, F_SETLK, F_RDLCK, 0, 1));
	say("no address", fcntl(file, F_SETLK, (void *)8));
	lock(file, F_SETLK, F_UNLCK, 0, 0);
	close(in);
	close(out);
}

static void
note(int sig)
{
	(void)sig;
}

static void
interrupted(void)
{
	struct itimerval soon = {{0, 20000}, {0, 20000}}, never = {{0}, {0}};
	pid_t pid = child(has_all);

	take(up[0]);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = note}, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	say("who waits is interrupted", lock(file, F_SETLKW, F_WRLCK, 0, 1));
	say("or waits for all", flock(file, LOCK_EX));
	setitimer(ITIMER_REAL, &never, NULL);
	flock(file, LOCK_UN);
	kill(pid, SIGKILL);
	end(pid);
}

static void
has_another(void)
{
	int other = open("locked", O_RDONLY);

	say("another description", flock(other, LOCK_SH | LOCK_NB));
	say("for itself", flock(other, LOCK_EX | LOCK_NB));
	say("of the parent's", flock(file, LOCK_SH | LOCK_NB));
	say("another one now", flock(other, LOCK_SH | LOCK_NB));
	say("not for itself", flock(other, LOCK_EX | LOCK_NB));
	say("the parent's is given up", flock(file, LOCK_UN));
	say("for itself now", flock(other, LOCK_EX | LOCK_NB));
	give(up[1]);
	take(down[0]);
}

static void
descriptions(void)
{
	int copy = dup(file);
	pid_t pid;

	say("exclusive", flock(file, LOCK_EX));
	say("again by a copy", flock(copy, LOCK_EX | LOCK_NB));
	pid = child(has_another);
	take(up[0]);
	say("of the child's", flock(copy, LOCK_SH | LOCK_NB));
	give(down[1]);
	say("after its end", flock(copy, LOCK_SH));
	end(pid);
	say("bytes are others", lock(file, F_SETLK, F_WRLCK, 0, 0));
	say("no kind", flock(file, 0));
	say("two kinds", flock(file, LOCK_SH | LOCK_EX));
	say("no descriptor", flock(77, LOCK_SH));
	close(copy);
	flock(file, LOCK_UN);
}

/* Ranges that are a description's. */
static void
asks_open(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 50};
	int own = open("locked", O_RDWR);

	say("by the parent's description", lock(file, F_OFD_SETLK, F_WRLCK, 0, 4));
	say("by an own one", lock(own, F_OFD_SETLK, F_RDLCK, 0, 4));
	say("by the process", lock(file, F_SETLK, F_RDLCK, 2, 1));
	say("beside it", lock(own, F_OFD_SETLK, F_WRLCK, 20, 10));
	say("what is in the way", fcntl(own, F_OFD_GETLK, &l));
	printf("%s from %ld, %ld bytes, of %ld\n", l.l_type == F_WRLCK ? "exclusive" : "another",
		(long)l.l_start, (long)l.l_len, (long)l.l_pid);
	l = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 50};
	say("what is in the process's way", fcntl(own, F_GETLK, &l));
	printf("of %ld\n", (long)l.l_pid);
	close(own);
	own = open("locked", O_RDWR);
	say("what was closed is free", lock(own, F_OFD_SETLK, F_WRLCK, 20, 10));
	give(up[1]);
	say("who waits gets it", lock(own, F_OFD_SETLKW, F_WRLCK, 0, 10));
	close(own);
}

static void
open_ranges(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 5, .l_pid = 1};
	int other = open("locked", O_RDWR);
	long result;
	pid_t pid;

	say("with a number", fcntl(file, F_OFD_SETLK, &l));
	say("without reading", lock(77, F_OFD_SETLK, F_RDLCK, 0, 1));
	say("a description's", lock(file, F_OFD_SETLK, F_WRLCK, 0, 10));
	say("not for another of the same process", lock(other, F_OFD_SETLK, F_WRLCK, 9, 2));
	say("not for the process itself", lock(other, F_SETLK, F_WRLCK, 9, 2));
	say("flock is something else", flock(other, LOCK_EX | LOCK_NB));
	close(other);		/* gives up what the process has, not what a description has */
	pid = child(asks_open);
	take(up[0]);
	result = lock(file, F_OFD_SETLK, F_UNLCK, 0, 0);
	/* it says what it got before that */
	end(pid);
	say("unlocked", result);
}

int
main(void)
{
	static const char text[100];

	setvbuf(stdout, NULL, _IOLBF, 0);
	file = open("locked", O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (file < 0 || write(file, text, sizeof(text)) != sizeof(text))
		return 1;
	ranges();
	killed();
	deadlock();
	closes();
	positions();
	errors();
	interrupted();
	descriptions();
	open_ranges();
	unlink("locked");
	printf("ok filelocks\n");
	return 0;
}
