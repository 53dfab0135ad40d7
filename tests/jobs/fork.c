/* SPDX-License-Identifier: MIT
 *
 * fork as POSIX has it: nothing here knows of Atoll, and Linux says the same. usage: fork; or what
 * a child of exec does; or `full`, where memory ends; or `ranks`, which are threads of one process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

#define SELF "/proc/self/exe"
#define PAGE 4096
#define PLACES 6
#define AREA (40 * PAGE)
#define COUNTS 3
#define EACH 500
#define DEPTH 4
#define MANY 50
#define PATIENCE 1000000

static int in_data = 11;
static int in_bss;
static char large[AREA];

/* The status of a child's end: its exit status, or -signal. */
static int
end_of(pid_t pid)
{
	int status = -1;

	expect(pid > 1, 1, "fork");
	expect(waitpid(pid, &status, 0), pid, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Say something to another process, and wait for it. */
static void
say(const int *pipe)
{
	expect(write(pipe[1], "x", 1), 1, "say");
}

static void
hear(const int *pipe)
{
	char c = 0;

	expect(read(pipe[0], &c, 1) == 1 && c == 'x', 1, "hear");
}

/* fork; what was wrong before is the parent's. */
static pid_t
split(void)
{
	pid_t pid = fork();

	if (pid == 0)
		failures = 0;
	return pid;
}

/* A child says with its exit status whether all it expected came true. */
static _Noreturn void
leave(int status)
{
	fflush(stdout);
	_exit(failures == 0 ? status : 99);
}

static void
ends(void)
{
	pid_t own = getpid(), pid = split();
	int status = 0;

	if (pid == 0) {
		expect(getppid(), own, "the parent of a child");
		expect(getpid() != own, 1, "the child's own number");
		expect(wait(NULL) == -1 && errno == ECHILD, 1, "a child has no children");
		leave(7);
	}
	expect(end_of(pid), 7, "an exit status");
	expect(wait(NULL) == -1 && errno == ECHILD, 1, "its end again");
	pid = split();
	if (pid == 0)
		exit(8);
	expect(end_of(pid), 8, "by exit");
	pid = split();
	if (pid == 0)
		*(volatile char *)8 = 1;
	expect(end_of(pid), -SIGSEGV, "a bad address");
	pid = split();
	if (pid == 0)
		raise(SIGABRT);
	expect(end_of(pid), -SIGABRT, "an abort");
	pid = split();
	if (pid == 0)
		for (;;)
			pause();
	expect(waitpid(pid, &status, WNOHANG), 0, "a child that runs");
	expect(kill(pid, SIGTERM), 0, "a signal");
	expect(end_of(pid), -SIGTERM, "by a signal");
	printf("ends\n");
}

/*
 * Each kind of memory: a child has what was there at fork, whatever the parent writes then, and the
 * parent does not see what the child writes.
 */
static void
memory(void)
{
	int on_stack = 13, to_child[2], to_parent[2];
	char *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *reserved = mmap(NULL, AREA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int *place[PLACES] = {&in_data, &in_bss, &on_stack, malloc(sizeof(int)), (int *)area,
		(int *)(area + AREA - PAGE)};
	pid_t pid;

	expect(pipe(to_child) + pipe(to_parent), 0, "pipes");
	expect(mprotect(area + PAGE, PAGE, PROT_READ), 0, "mprotect");
	for (int i = 0; i < PLACES; i++)
		*place[i] = 100 + i;
	memset(large, 'a', sizeof(large));
	pid = split();
	if (pid == 0) {
		hear(to_child);
		for (int i = 0; i < PLACES; i++) {
			expect(*place[i], 100 + i, "what was there");
			*place[i] = 300 + i;
		}
		for (size_t i = 0; i < sizeof(large); i += PAGE / 4)
			expect(large[i], 'a', "what was there of much");
		memset(large, 'c', sizeof(large));
		expect(mprotect(area + PAGE, PAGE, PROT_READ | PROT_WRITE), 0, "mprotect");
		area[PAGE] = 5;
		expect(mprotect(reserved, PAGE, PROT_READ | PROT_WRITE), 0, "what is reserved");
		reserved[1] = 6;
		expect(munmap(area + 2 * PAGE, PAGE), 0, "munmap in a child");
		say(to_parent);
		hear(to_child);
		for (int i = 0; i < PLACES; i++)
			expect(*place[i], 300 + i, "the child's own");
		expect(large[PAGE], 'c', "the child's own of much");
		leave(1);
	}
	for (int i = 0; i < PLACES; i++)
		*place[i] = 200 + i;
	memset(large, 'p', sizeof(large));
	say(to_child);
	hear(to_parent);
	for (int i = 0; i < PLACES; i++)
		expect(*place[i], 200 + i, "the parent's own");
	expect(large[3 * PAGE], 'p', "the parent's own of much");
	area[2 * PAGE] = 1;
	expect(area[PAGE], 0, "a page that can only be read");
	say(to_child);
	expect(end_of(pid), 1, "a child that writes");
	for (int i = 0; i < 4; i++)
		close(i < 2 ? to_child[i] : to_parent[i - 2]);
	expect(munmap(area, AREA) + munmap(reserved, AREA), 0, "munmap");
	free(place[3]);
	printf("memory\n");
}

/* All count in the same memory, a child's children, too; what was shared before is so for each. */
static void
shared(void)
{
	int *n = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[COUNTS];

	for (int i = 0; i < COUNTS; i++) {
		pid[i] = split();
		if (pid[i] != 0)
			continue;
		for (int k = 0; k < EACH; k++)
			__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
		if (fork() == 0) {
			__atomic_fetch_add(n + PAGE / 4, 1, __ATOMIC_RELAXED);
			_exit(0);
		}
		wait(NULL);
		leave(2);
	}
	for (int i = 0; i < COUNTS; i++)
		expect(end_of(pid[i]), 2, "who counts");
	expect(n[0], COUNTS * EACH, "what children have counted");
	expect(n[PAGE / 4], COUNTS, "and theirs");
	expect(munmap(n, 2 * PAGE), 0, "munmap of shared memory");
	printf("shared\n");
}

/* A semaphore between processes wakes whoever sleeps. */
static void
process_shared(void)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t cattr;
	struct both {
		pthread_mutex_t m;
		pthread_cond_t c;
		int turn;
	} *b = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&cattr);
	pthread_condattr_setpshared(&cattr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&b->m, &attr);
	pthread_cond_init(&b->c, &cattr);
	pid = split();
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&b->m);
		while (b->turn % 2 != (pid == 0))
			pthread_cond_wait(&b->c, &b->m);
		b->turn++;
		pthread_cond_broadcast(&b->c);
		pthread_mutex_unlock(&b->m);
	}
	if (pid == 0)
		leave(3);
	expect(end_of(pid), 3, "who takes turns");
	expect(b->turn, 40, "turns");
	munmap(b, PAGE);
	printf("process shared\n");
}

/* Offsets are shared, descriptors and their flags are not. */
static void
files(void)
{
	char text[32] = "";
	int fd = open("/tmp/fork.made", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	pid_t pid;

	expect(fd >= 3 && write(fd, "one ", 4) == 4, 1, "a file");
	pid = split();
	if (pid == 0) {
		expect(fcntl(fd, F_GETFD), FD_CLOEXEC, "a flag of a descriptor");
		expect(write(fd, "two ", 4), 4, "write behind the parent");
		expect(dup2(fd, 20), 20, "a descriptor of the child's");
		fcntl(fd, F_SETFD, 0);
		leave(4);
	}
	expect(end_of(pid), 4, "who writes");
	expect(fcntl(fd, F_GETFD), FD_CLOEXEC, "the parent's flag");
	expect(write(20, "", 1) == -1 && errno == EBADF, 1, "the child's descriptor");
	expect(write(fd, "three", 5), 5, "write behind the child");
	expect(pread(fd, text, sizeof(text) - 1, 0), 13, "all of it");
	expect(strcmp(text, "one two three"), 0, text);
	pid = split();
	if (pid == 0) {
		char number[8];

		snprintf(number, sizeof(number), "%d", fd);
		dup2(fd, 21);
		execv(SELF, (char *[]){"x", "closed", number, NULL});
		_exit(127);
	}
	expect(end_of(pid), 5, "what another program has of it");
	expect(lseek(fd, 0, SEEK_CUR), 15, "where it has written");
	close(fd);
	unlink("/tmp/fork.made");
	printf("files\n");
}

/* Ends are closed when all processes have closed them. */
static void
pipes(void)
{
	char text[16] = "";
	int to[2], from[2];
	ssize_t n;
	pid_t pid;

	expect(pipe(to) + pipe(from), 0, "pipes");
	pid = split();
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		while ((n = read(to[0], text, sizeof(text))) > 0)
			expect(write(from[1], text, (size_t)n), n, "write");
		leave((int)n + 6);
	}
	close(to[0]);
	close(from[1]);
	expect(write(to[1], "through", 7), 7, "to the child");
	expect(read(from[0], text, sizeof(text)), 7, "from the child");
	expect(strcmp(text, "through"), 0, text);
	close(to[1]);
	expect(read(from[0], text, sizeof(text)), 0, "the end");
	expect(end_of(pid), 6, "who copies");
	close(from[0]);
	/* nobody reads: the program has said that this is no reason to end */
	signal(SIGPIPE, SIG_IGN);
	expect(pipe(to) + close(to[0]), 0, "a pipe");
	pid = split();
	if (pid == 0) {
		expect(write(to[1], "", 1) == -1 && errno == EPIPE, 1, "nobody reads");
		leave(7);
	}
	expect(end_of(pid), 7, "who writes to nobody");
	signal(SIGPIPE, SIG_DFL);
	pid = split();
	if (pid == 0)
		leave((int)write(to[1], "", 1));
	expect(end_of(pid), -SIGPIPE, "who has not said so");
	close(to[1]);
	printf("pipes\n");
}

/* What else a child has of its parent. */
static void
surroundings(void)
{
	char path[64] = "";
	pid_t pid;

	expect(umask(027), 022, "the first mask");
	expect(mkdir("/tmp/fork.d", 0700) + chdir("/tmp/fork.d"), 0, "a directory");
	pid = split();
	if (pid == 0) {
		expect(umask(077), 027, "the mask");
		expect(strcmp(getcwd(path, sizeof(path)), "/tmp/fork.d"), 0, path);
		expect(chdir("/"), 0, "chdir");
		leave(8);
	}
	expect(end_of(pid), 8, "who looks around");
	expect(umask(022), 027, "the parent's mask");
	expect(strcmp(getcwd(path, sizeof(path)), "/tmp/fork.d"), 0, path);
	expect(chdir("/") + rmdir("/tmp/fork.d"), 0, "rmdir");
	printf("surroundings\n");
}

/* Registers that a function leaves as they were are so in both. */
static __attribute__((noinline)) void
registers(double a, double b, long c)
{
	double x[6] = {a * b, a + b, a - b, a / b, b - a, b / a};
	pid_t pid = split();

	for (int i = 0; i < 100; i++)
		for (int k = 0; k < 6; k++)
			x[k] += (double)(c + k);
	expect((long)(1000 * (x[0] + x[1] + x[2] + x[3] + x[4] + x[5])), 2113166, "registers");
	if (pid == 0)
		leave(9);
	expect(end_of(pid), 9, "registers of a child");
	printf("registers\n");
}

/* What the GNU libc makes of fork; no function of another libc may be used in the child. */
static void
with_numbers(void)
{
	const unsigned long flags = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID |
		CLONE_PARENT_SETTID | SIGCHLD;
	volatile int child = 0, parent = 0;
	/* of the last two one is not looked at, which one depends on the CPU */
	long pid = syscall(SYS_clone, flags, 0, &parent, &child, &child);

	if (pid == 0) {
		syscall(SYS_exit_group, child != 0 && child == syscall(SYS_gettid) ? 20 : 94);
		__builtin_unreachable();
	}
	expect(parent, pid, "its number in the parent");
	expect(child, 0, "nothing in the child's place");
	expect(end_of((pid_t)pid), 20, "its number in the child");
	printf("numbers\n");
}

/* Each child has one, and says how deep it was. */
static int
nested(int depth)
{
	pid_t pid = depth > 0 ? fork() : -1;

	if (depth == 0)
		return 0;
	if (pid == 0)
		leave(nested(depth - 1));
	return end_of(pid) + 1;
}

static void
orphan(void)
{
	int ended[2], said[2];
	char c = 0;
	pid_t pid;

	expect(pipe(ended) + pipe(said), 0, "pipes");
	pid = split();
	if (pid == 0) {
		if (fork() != 0)
			_exit(10);
		close(ended[1]);
		/* only its parent has that end now */
		expect(read(ended[0], &c, 1), 0, "its parent's end");
		expect(write(said[1], failures == 0 ? "y" : "n", 1), 1, "an orphan says so");
		_exit(0);
	}
	close(ended[1]);
	close(said[1]);
	expect(end_of(pid), 10, "a parent");
	expect(read(said[0], &c, 1) == 1 && c == 'y', 1, "an orphan");
	expect(read(said[0], &c, 1), 0, "its end");
	expect(wait(NULL) == -1 && errno == ECHILD, 1, "it is nobody's");
	close(ended[0]);
	close(said[0]);
	printf("orphan\n");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counted;
static int stop;

/* Maps and counts until it is told to stop. */
static void *
busy(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		p[PAGE] = 1;
		munmap(p, 3 * PAGE);
		pthread_mutex_lock(&mutex);
		counted++;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *
one(void *to)
{
	*(int *)to = 1;
	return to;
}

/* Only the thread that has called is there; it may make others. */
static void *
forks(void *own)
{
	for (int i = 0; i < 5; i++) {
		pthread_t t;
		int made = 0;
		pid_t pid = split();

		if (pid == 0) {
			expect(pthread_create(&t, NULL, one, &made), 0, "a child's thread");
			expect(pthread_join(t, NULL), 0, "its end");
			leave(made + 10);
		}
		expect(end_of(pid), 11, "a thread's child");
	}
	return own;
}

static void
threads(void)
{
	pthread_t t[2], u;
	int before;

	for (int i = 0; i < 2; i++)
		expect(pthread_create(&t[i], NULL, busy, NULL), 0, "a thread");
	expect(pthread_create(&u, NULL, forks, NULL), 0, "a thread that forks");
	forks(NULL);
	expect(pthread_join(u, NULL), 0, "its end");
	before = __atomic_load_n(&counted, __ATOMIC_RELAXED);
	while (__atomic_load_n(&counted, __ATOMIC_RELAXED) == before)
		sched_yield();
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		expect(pthread_join(t[i], NULL), 0, "the end of a thread");
	printf("threads\n");
}

static void
programs(void)
{
	int status = -1;
	char own[16];
	pid_t pid = split();

	if (pid == 0) {
		execv(SELF, (char *[]){"x", "end", "12", NULL});
		_exit(127);
	}
	expect(end_of(pid), 12, "another program");
	snprintf(own, sizeof(own), "%d", (int)getpid());
	pid = split();
	if (pid == 0) {
		execv(SELF, (char *[]){"x", "parent", own, NULL});
		_exit(127);
	}
	expect(end_of(pid), 19, "its parent");
	pid = split();
	if (pid == 0) {
		pid = vfork();
		if (pid == 0) {
			execv(SELF, (char *[]){"x", "end", "13", NULL});
			_exit(127);
		}
		leave(end_of(pid));
	}
	expect(end_of(pid), 13, "a program of a child");
	pid = vfork();
	if (pid == 0) {
		execv(SELF, (char *[]){"x", "fork", NULL});
		_exit(127);
	}
	expect(end_of(pid), 14, "a program that forks");
	pid = split();
	if (pid == 0) {
		execv("/none", (char *[]){"none", NULL});
		leave(errno == ENOENT ? 15 : 98);
	}
	expect(end_of(pid), 15, "no program");
	expect(wait(&status) == -1 && errno == ECHILD, 1, "all have ended");
	printf("programs\n");
}

static unsigned long
memory_free(void)
{
	struct sysinfo s;

	return sysinfo(&s) == 0 ? s.freeram : 0;
}

/* Wait until so much is free. What others do on Linux is not known: there it does not matter. */
static void
await_memory(unsigned long before)
{
	struct utsname u;

	uname(&u);
	if (strcmp(u.sysname, "Linux") == 0)
		return;
	for (int i = 0; i < PATIENCE && memory_free() < before; i++)
		sched_yield();
	expect(memory_free() >= before, 1, "memory that is free again");
}

static void
many(void)
{
	unsigned long before = 0;
	int ends[2];

	for (int i = 0; i < MANY + 10; i++) {
		pid_t pid;

		if (i == 10)
			before = memory_free();
		expect(pipe(ends), 0, "a pipe");
		pid = split();
		if (pid == 0) {
			large[i * PAGE % AREA] = 1;
			say(ends);
			leave(16);
		}
		hear(ends);
		expect(end_of(pid), 16, "one of many");
		close(ends[0]);
		close(ends[1]);
	}
	await_memory(before);
	printf("many\n");
}

/* --- where memory ends --- */

#define PIECE (16 * PAGE)

struct eaten {
	struct eaten *next;
	size_t bytes;
};

/* Pieces of that size, as many as there are, in front of a list. */
static struct eaten *
eat_pieces(struct eaten *list, size_t bytes)
{
	struct eaten *p;

	while ((p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		0)) != MAP_FAILED) {
		*p = (struct eaten){list, bytes};
		list = p;
	}
	return list;
}

static struct eaten *
give_one_back(struct eaten *list)
{
	struct eaten *next = list->next;

	munmap(list, list->bytes);
	return next;
}

/* All memory but `left` pieces; the list of what was taken. */
static struct eaten *
eat(int left)
{
	struct eaten *list = eat_pieces(NULL, PIECE);

	if (left == 0)
		list = eat_pieces(list, PAGE);
	for (; left > 0 && list != NULL; left--)
		list = give_one_back(list);
	return list;
}

static void
give_back(struct eaten *list)
{
	while (list != NULL)
		list = give_one_back(list);
}

/* With no memory there is no child, with enough there is; and nothing is lost. */
static int
full(void)
{
	unsigned long before = 0;
	int failed = 0;

	for (int round = 0; round < 6; round++) {
		struct eaten *list;
		pid_t pid;

		if (round == 2)
			before = memory_free();
		list = eat(round % 2);
		pid = split();
		if (pid == 0)
			leave(17);
		failed += pid < 0 && errno == ENOMEM;
		if (pid > 0)
			expect(end_of(pid), 17, "a child with little memory");
		else
			expect(errno, ENOMEM, "no child");
		give_back(list);
		pid = split();
		if (pid == 0)
			leave(18);
		expect(end_of(pid), 18, "a child with memory");
		expect(wait(NULL) == -1 && errno == ECHILD, 1, "nothing is left of others");
	}
	expect(failed >= 3, 1, "forks without memory");
	await_memory(before);
	return verdict("full");
}

static int
ranks(void)
{
	expect(fork() == -1 && errno == ENOSYS, 1, "fork of a rank among others");
	expect(fork() == -1 && errno == ENOSYS, 1, "and again");
	return verdict("ranks");
}

static int
be_other(char **argv)
{
	if (strcmp(argv[1], "end") == 0)
		return atoi(argv[2]);
	if (strcmp(argv[1], "closed") == 0)
		return fcntl(atoi(argv[2]), F_GETFD) == -1 && write(21, "!!", 2) == 2 ? 5 : 96;
	if (strcmp(argv[1], "parent") == 0)
		return getppid() == atoi(argv[2]) ? 19 : 95;
	if (strcmp(argv[1], "full") == 0)
		return full();
	if (strcmp(argv[1], "ranks") == 0)
		return ranks();
	if (strcmp(argv[1], "fork") == 0) {
		pid_t pid = split();

		return pid == 0 ? 14 : end_of(pid);
	}
	return 97;
}

int
main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1)
		return be_other(argv);
	mkdir("/tmp", 0777);
	ends();
	memory();
	shared();
	process_shared();
	files();
	pipes();
	surroundings();
	registers(3, 2, 1);
	with_numbers();
	expect(nested(DEPTH), DEPTH, "a child's child's child");
	orphan();
	threads();
	programs();
	many();
	return verdict("fork");
}
