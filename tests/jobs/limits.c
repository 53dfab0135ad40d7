/* SPDX-License-Identifier: MIT
 *
 * Limits of a process and of those that it starts: the same here and on Linux, where the user's
 * rights to raise them and the user's other processes are left out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB (1024ul * 1024)

static void
say(const char *what, long have)
{
	printf("%s: %ld\n", what, have);
}

static void
say_error(const char *what, long result)
{
	printf("%s: %s\n", what, result == -1 ? strerror(errno) : "done");
}

static long
limit(int which, rlim_t now, rlim_t most)
{
	return setrlimit(which, &(struct rlimit){now, most});
}

static void
say_limit(const char *what, int which)
{
	struct rlimit r = {1, 2};

	getrlimit(which, &r);
	printf("%s: %ld %ld\n", what, (long)r.rlim_cur, (long)r.rlim_max);
}

static void
descriptors(void)
{
	int fd = -1, last = -1;

	say_error("ten descriptors", limit(RLIMIT_NOFILE, 10, 100));
	say_limit("of descriptors", RLIMIT_NOFILE);
	while ((fd = dup(0)) >= 0)
		last = fd;
	say("the last one", last);
	say_error("one more", dup(0));
	say_error("at a place that is none", dup2(0, 10));
	say_error("from a place that is none on", fcntl(0, F_DUPFD, 10));
	say_error("a pipe", pipe((int[2]){0}));
	say_error("twenty", limit(RLIMIT_NOFILE, 20, 100));
	say("the next one", dup(0));
	say_error("more than the most", limit(RLIMIT_NOFILE, 101, 100));
	while (last >= 3)
		close(last--);
}

/* What is there from the start counts, too; so a piece is had only with room for all of it. */
static void
addresses(void)
{
	char *p, *q;

	say_error("addresses", limit(RLIMIT_AS, 4 * MB, RLIM_INFINITY));
	say_limit("of addresses", RLIMIT_AS);
	p = mmap(NULL, 8 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say_error("too many", p == MAP_FAILED ? -1 : 0);
	p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say_error("some", p == MAP_FAILED ? -1 : 0);
	q = mremap(p, 65536, 8 * MB, MREMAP_MAYMOVE);
	say_error("grown too much", q == MAP_FAILED ? -1 : 0);
	munmap(p, 65536);
	say_error("without a limit", limit(RLIMIT_AS, RLIM_INFINITY, RLIM_INFINITY));
}

static void
spin(void)
{
	for (volatile long i = 0;; i++)
		continue;
}

static volatile int came;

static void
note(int sig)
{
	came = sig;
}

static void
child(const char *what, void (*body)(void))
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		body();
		fflush(stdout);
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	say(what, status & 255 & ~128);
}

static void
runs_too_long(void)
{
	limit(RLIMIT_CPU, 1, 2);
	spin();
}

static void
is_told(void)
{
	signal(SIGXCPU, note);
	limit(RLIMIT_CPU, 1, 10);
	while (came == 0)
		continue;
	say("is told", came == SIGXCPU);
}

static void *
computes(void *unused)
{
	for (volatile bool on = true; on;)
		continue;
	return unused;
}

/* All threads use up the time together. */
static void
threads_are_told(void)
{
	struct timespec used;
	pthread_t thread[2];

	signal(SIGXCPU, note);
	limit(RLIMIT_CPU, 1, 10);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, computes, NULL) != 0)
			exit(1);
	while (came == 0)
		continue;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	say("they are told", came == SIGXCPU);
	say("before each has used it up", used.tv_sec < 2);
}

static void
sleeps(void)
{
	limit(RLIMIT_CPU, 1, 1);
	nanosleep(&(struct timespec){1, 500000000}, NULL);
	say("who sleeps has time left", 1);
}

static void
becomes_another(void)
{
	limit(RLIMIT_NOFILE, 33, 44);
	limit(RLIMIT_CORE, 0, 0);
	limit(RLIMIT_CPU, 77, 88);
	limit(RLIMIT_FSIZE, 7, 9);
	execl("/proc/self/exe", "limits", "again", NULL);
}

static void
others(void)
{
	struct rlimit r = {5, 6};

	say_error("a limit that is none", getrlimit(99, &r));
	say_error("more now than ever", limit(RLIMIT_CORE, 2, 1));
	say_error("no core", limit(RLIMIT_CORE, 0, 0));
	say_limit("of a core", RLIMIT_CORE);
	say_error("of the stack", getrlimit(RLIMIT_STACK, &r));
	say("has some", r.rlim_cur >= 65536);
	say_error("old and new", prlimit(0, RLIMIT_NOFILE, &(struct rlimit){30, 90}, &r));
	printf("old: %ld %ld\n", (long)r.rlim_cur, (long)r.rlim_max);
	say_error("of the own number", prlimit(getpid(), RLIMIT_NOFILE, NULL, &r));
	printf("new: %ld %ld\n", (long)r.rlim_cur, (long)r.rlim_max);
	say_error("of nobody", prlimit(999999, RLIMIT_NOFILE, NULL, &r));
}

/* What a file would get beyond its limit is not written, and a signal says so. */
static void
files(void)
{
	static char text[5000];
	struct stat s;
	int fd = open("limited", O_RDWR | O_CREAT | O_TRUNC, 0600), ends[2], other;

	signal(SIGXFSZ, note);
	say("long before", write(fd, text, 3000));
	say_error("a thousand bytes", limit(RLIMIT_FSIZE, 1000, 5000));
	say_limit("of files", RLIMIT_FSIZE);
	say_error("behind that", write(fd, text, 1));
	say("is told", came == SIGXFSZ);
	came = 0;
	say("before it", pwrite(fd, text, 600, 500));
	say("is not told", came == 0);
	say_error("at it", pwrite(fd, text, 1, 1000));
	say("nothing", pwrite(fd, text, 0, 1000));
	say("the offset", lseek(fd, 0, SEEK_CUR));
	say("cut", ftruncate(fd, 900));
	say("appended", write(fcntl(fd, F_SETFL, O_APPEND) == 0 ? fd : -1, text, 300));
	say_error("and more", write(fd, text, 300));
	came = 0;
	say_error("longer", ftruncate(fd, 1001));
	say("is told", came == SIGXFSZ);
	say_error("as long", ftruncate(fd, 1000));
	say_error("by its name", truncate("limited", 1001));
	say_error("with memory", fallocate(fd, 0, 0, 2000));
	say_error("and less", fallocate(fd, 0, 0, 1000));
	say("its length", fstat(fd, &s) == 0 ? s.st_size : -1);
	other = open("limited", O_RDWR);
	lseek(other, 990, SEEK_SET);
	say("in pieces", writev(other, (struct iovec[]){{text, 5}, {text, 20}}, 2));
	say("copied", sendfile(other, fd, &(off_t){0}, 10));
	came = 0;
	pipe(ends);
	say("into a pipe", write(ends[1], text, 5000));
	say("to what has no length", write(open("/dev/null", O_WRONLY), text, 5000));
	say("is not told", came == 0);
	unlink("limited");
}

static void
files_of_a_child(void)
{
	int status = 0;
	pid_t pid;

	limit(RLIMIT_FSIZE, 10, 20);
	pid = fork();
	if (pid == 0) {
		write(open("limited", O_RDWR | O_CREAT, 0600), "0123456789ab", 12);
		write(open("limited", O_RDWR | O_APPEND), "x", 1);
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	say("ended by", status & 127);
	signal(SIGXFSZ, SIG_IGN);
	say_error("who ignores it", write(open("limited", O_RDWR | O_APPEND), "x", 1));
	unlink("limited");
}

int
main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "again") == 0) {
		say_limit("descriptors of another program", RLIMIT_NOFILE);
		say_limit("its core", RLIMIT_CORE);
		say_limit("its time", RLIMIT_CPU);
		say_limit("its files", RLIMIT_FSIZE);
		fflush(stdout);
		syscall(SYS_exit_group, 0);
	}
	child("descriptors", descriptors);
	child("addresses", addresses);
	child("runs too long", runs_too_long);
	child("has a handler", is_told);
	child("has threads", threads_are_told);
	child("sleeps", sleeps);
	child("becomes another", becomes_another);
	child("writes files", files);
	child("has a child that writes", files_of_a_child);
	limit(RLIMIT_NOFILE, 40, 100);
	others();
	printf("ok limits\n");
	return 0;
}
