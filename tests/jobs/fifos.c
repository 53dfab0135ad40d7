/* SPDX-License-Identifier: MIT
 *
 * Pipes with names, and devices that are files: the same here and on Linux.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "say.h"

#define LARGE 300000
#define ROUNDS 50
#define TICK_US 5000

static char text[LARGE];
static volatile sig_atomic_t ticks;
static int both = -1;

static void
say_status(const char *path)
{
	struct stat s;

	if (stat(path, &s) != 0)
		say(path, -1);
	else
		printf("%s: mode %o, %ld bytes, links %d\n", path, s.st_mode, (long)s.st_size,
			(int)s.st_nlink);
}

static void
say_end(const char *what, pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	printf("%s: %s %d\n", what, WIFEXITED(status) ? "status" : "signal",
		WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* What poll says; nothing is waited for. */
static void
say_poll(const char *what, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};

	poll(&p, 1, 0);
	printf("%s: %s%s%s%s\n", what, p.revents & POLLIN ? "in " : "",
		p.revents & POLLOUT ? "out " : "", p.revents & POLLHUP ? "hup " : "",
		p.revents & POLLERR ? "err " : "");
}

static void
make(void)
{
	say("mkfifo", mkfifo("p", 0640));
	say("again", mkfifo("p", 0640));
	say("mknod", mknod("q", S_IFIFO | 0600, 0));
	say("mknod of a file", mknod("f", S_IFREG | 0600, 0));
	say("with a slash", mkfifo("r/", 0600));
	say("in none", mkfifo("none/r", 0600));
	say("in a file", mkfifo("f/r", 0600));
	say("without a name", mkfifo("", 0600));
	say("at", mkfifoat(open(".", O_RDONLY), "r", 0600));
	say("a bad name", mkfifo((char *)1, 0600));
	say_status("p");
	say_status("q");
	say("chmod", chmod("q", 0604));
	say_status("q");
	say("link", link("q", "q2"));
	say("rename", rename("q2", "q3"));
	say_status("q3");
	say("unlink", unlink("q"));
	say("unlink", unlink("q3"));
	say("unlink", unlink("r"));
	say("as a directory", open("p", O_RDONLY | O_DIRECTORY));
	say("as a working directory", chdir("p"));
	say("as a program", execl("p", "p", NULL));
	say("cut", truncate("f", 3));
}

static void
not_blocking(void)
{
	int r, w, again;
	char c[8];

	say("nobody reads", open("p", O_WRONLY | O_NONBLOCK));
	say("nobody reads, cut", open("p", O_WRONLY | O_NONBLOCK | O_TRUNC | O_CREAT, 0600));
	r = open("p", O_RDONLY | O_NONBLOCK);
	say_poll("nobody was there", r);
	say("read", read(r, c, 1));
	w = open("p", O_WRONLY | O_NONBLOCK);
	say_poll("to read", r);
	say_poll("to write", w);
	say("read", read(r, c, 1));
	say("write", write(w, "abc", 3));
	say_poll("to read", r);
	say("read a part", read(r, c, 2));
	again = open("p", O_RDONLY);
	say("who comes later reads on", read(again, c, 8));
	close(again);
	say("write", write(w, "def", 3));
	close(w);
	say_poll("nobody writes", r);
	say("read", read(r, c, 8));
	say("the end", read(r, c, 8));
	w = open("p", O_WRONLY);
	say_poll("somebody writes again", r);
	close(r);
	say_poll("nobody reads", w);
	signal(SIGPIPE, SIG_IGN);
	say("write", write(w, "x", 1));
	signal(SIGPIPE, SIG_DFL);
	close(w);
	say("flags", fcntl(open("p", O_RDWR), F_GETFL) & O_ACCMODE);
}

static void
of_both(void)
{
	int fd = open("p", O_RDWR), r;
	char c[8];
	struct stat s;

	say_poll("both ends", fd);
	say("write", write(fd, "hello", 5));
	say_poll("both ends", fd);
	say("read", read(fd, c, 2));
	r = open("p", O_RDONLY);
	say("read", read(r, c, 8));
	say("unlink", unlink("p"));
	say("its status", fstat(fd, &s));
	printf("mode %o, links %d\n", s.st_mode, (int)s.st_nlink);
	say("a new one", mkfifo("p", 0600));
	say("is another", open("p", O_WRONLY | O_NONBLOCK));
	say("write", write(fd, "x", 1));
	say("read", read(r, c, 8));
	say("seek", lseek(fd, 0, SEEK_SET));
	say("read there", pread(fd, c, 1, 0));
	say("cut", ftruncate(fd, 0));
	say("chmod", fchmod(fd, 0644));
	say("map", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, r, 0) == MAP_FAILED ? -1 : 0);
	close(fd);
	say("the end", read(r, c, 8));
	close(r);
}

/* Who opens one end waits for the other, over and over. */
static void
meet(int flags, const char *what)
{
	pid_t pid = fork();
	int fd;
	char c = 'x';

	if (pid == 0) {
		for (int i = 0; i < ROUNDS; i++) {
			fd = open("p", flags);
			if (fd < 0 || (flags == O_RDONLY ? read(fd, &c, 1) : write(fd, &c, 1)) != 1)
				_exit(1);
			/* the other end closes first, so that no round meets the next one */
			if (flags == O_RDONLY ? read(fd, &c, 1) != 0 : close(fd) != 0)
				_exit(2);
			if (flags == O_RDONLY)
				close(fd);
			if (mkdir("turn", 0700) != 0)
				_exit(3);
			while (access("turn", F_OK) == 0)
				sched_yield();
		}
		_exit(7);
	}
	for (int i = 0; i < ROUNDS; i++) {
		fd = open("p", flags == O_RDONLY ? O_WRONLY : O_RDONLY);
		if (fd < 0 || (flags == O_RDONLY ? write(fd, &c, 1) : read(fd, &c, 1)) != 1)
			say("round", i);
		close(fd);
		while (rmdir("turn") != 0)
			sched_yield();
	}
	say_end(what, pid);
}

static void
large(void)
{
	pid_t pid = fork();
	long sum = 0, n;
	int fd;

	if (pid == 0) {
		fd = open("p", O_WRONLY);
		memset(text, 'a', sizeof(text));
		_exit(write(fd, text, sizeof(text)) == LARGE ? 0 : 1);
	}
	fd = open("p", O_RDONLY);
	while ((n = read(fd, text, sizeof(text))) > 0)
		for (long i = 0; i < n; i++)
			sum += text[i] == 'a';
	say("bytes", sum);
	say_end("who has written", pid);
	close(fd);
}

static void
tick(int signal)
{
	(void)signal;
	if (++ticks == 3 && both == -2)
		both = open("p", O_RDWR);
}

/* A signal ends the wait, or it goes on behind it. */
static void
interrupted(void)
{
	const struct itimerval often = {{0, TICK_US}, {0, TICK_US}}, never = {0};
	struct sigaction a = {.sa_handler = tick};
	int fd;

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	say("to read", open("p", O_RDONLY));
	say("to write", open("p", O_WRONLY));
	setitimer(ITIMER_REAL, &never, NULL);
	say("nothing of it is left", open("p", O_WRONLY | O_NONBLOCK));
	a.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &a, NULL);
	ticks = 0;
	both = -2;
	setitimer(ITIMER_REAL, &often, NULL);
	fd = open("p", O_RDONLY);
	setitimer(ITIMER_REAL, &never, NULL);
	say("it waits on", fd >= 0 && ticks >= 3);
	close(fd);
	close(both);
}

static void *
read_one(void *of)
{
	int fd = open("p", O_RDONLY);
	char c[8];

	(void)of;
	return (void *)(long)(read(fd, c, 5) == 5 && close(fd) == 0 ? 7 : 8);
}

/* A thread waits, and another one of the process is who it waits for. */
static void
threads(void)
{
	pthread_t thread;
	void *result;
	int fd;

	pthread_create(&thread, NULL, read_one, NULL);
	fd = open("p", O_WRONLY);
	say("write", write(fd, "hello", 5));
	pthread_join(thread, &result);
	say("a thread", (long)result);
	close(fd);
}

/* Killed while it waits, or before: soon nobody is there. */
static void
killed(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = fork();
		int fd;

		if (pid == 0) {
			open("p", O_RDONLY);
			_exit(1);
		}
		for (int j = 0; j < i; j++)
			sched_yield();
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while ((fd = open("p", O_WRONLY | O_NONBLOCK)) >= 0)
			close(fd);
		if (errno != ENXIO)
			say("killed", fd);
	}
}

/* --- devices --- */

static void
say_device(const char *path, int flags)
{
	int fd = open(path, flags);
	long sum = 0, n;
	struct stat s;

	say(path, fd < 0 ? -1 : 0);
	say("status", fstat(fd, &s));
	printf("a device: %d, %ld bytes\n", S_ISCHR(s.st_mode), (long)s.st_size);
	say("write", write(fd, "some text", 9));
	memset(text, 'x', sizeof(text));
	n = read(fd, text, 70000);
	for (long i = 0; i < n; i++)
		sum += text[i] == 0;
	say("read", n);
	say("of them zero", n > 0 ? sum == n : 0);
	say("behind", text[70000] == 'x');
	say("cut", ftruncate(fd, 5));
	say_poll("poll", fd);
	close(fd);
}

static void
devices(void)
{
	char one[16], other[16];
	char *at;
	int fd;

	say_device("/dev/null", O_RDWR);
	say_device("/dev/zero", O_RDWR);
	say_device("/dev/full", O_RDWR);
	say_device("/dev/zero", O_RDWR | O_TRUNC | O_APPEND | O_CREAT);
	fd = open("/dev/urandom", O_RDONLY);
	say("random bytes", read(fd, one, 16) + read(fd, other, 16));
	say("differ", memcmp(one, other, 16) != 0);
	close(fd);
	say("as a directory", open("/dev/zero", O_RDONLY | O_DIRECTORY));
	say("and through one", open("/dev/zero/x", O_RDONLY));
	fd = open("/dev/zero", O_RDONLY);
	at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	say("mapped", at != MAP_FAILED && at[5000] == 0);
	at[5000] = 'x';
	say("and written", at[5000] == 'x');
	close(fd);
	say("a link to null", symlink("/dev/null", "nothing"));
	fd = open("nothing", O_WRONLY | O_TRUNC);
	say("write", write(fd, "x", 1));
	close(fd);
	unlink("nothing");
}

int
main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	make();
	not_blocking();
	say("anew", unlink("p"));
	say("p", mkfifo("p", 0600));
	of_both();
	meet(O_RDONLY, "who reads");
	meet(O_WRONLY, "who writes");
	large();
	interrupted();
	threads();
	killed();
	devices();
	puts("ok fifos");
	return 0;
}
