/* SPDX-License-Identifier: MIT
 *
 * The processes of a job with limits have no more together than one alone may have: each takes all
 * that it gets of memory, of threads and of processes, and keeps it until all have; what those that
 * have ended had is there for the others. Buffers (atoll/zio.h) and files that are mapped count.
 * usage: together KB THREADS PROCESSES, which are the job's limits in each cluster
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include "expect.h"
#include "zio.h"

#define CHILDREN 3

enum what { MEMORY, THREADS, PROCESSES, BUFFERS, FILES, KINDS };

static const char *const name[KINDS] = {"memory", "threads", "processes", "buffers", "files"};
static long most[KINDS];

/* A file, which stays open: it ends with the process. */
static long
map_more(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	void *at = fd >= 0 && ftruncate(fd, 16 * PAGE) == 0 ?
		mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

	return at == MAP_FAILED ? -1 : 0;
}

static long
bite(enum what what)
{
	uint64_t addr;
	struct zio io;

	switch (what) {
	case THREADS: return thread_start(nap, NULL, ANY_CORE, STACK_OF_NAP);
	case PROCESSES: return kproc_create();
	case BUFFERS: return zioalloc(&io, 16 * PAGE);
	case FILES: return map_more();
	default: return kmem_alloc(SELF, PAGE, PAGE_READ | PAGE_WRITE, &addr);
	}
}

/* All that there is: KB, or how many. */
static long
eat(enum what what)
{
	long n = 0;

	while (bite(what) >= 0)
		n++;
	return what == MEMORY ? n * PAGE / KB : what >= BUFFERS ? n * 16 * PAGE / KB : n;
}

static pid_t
begin_eater(enum what what, const int *go, long *eaten)
{
	int told[2];
	pid_t pid;
	char c;

	expect(pipe(told), 0, "pipe");
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		*eaten = eat(what);
		write(told[1], eaten, sizeof(*eaten));
		read(go[0], &c, 1);
		_exit(0);
	}
	close(told[1]);
	/* or it has ended: somebody has taken what it would have touched */
	if (read(told[0], eaten, sizeof(*eaten)) != sizeof(*eaten))
		*eaten = 0;
	close(told[0]);
	return pid;
}

/* The children one after the other, and then who has started them. */
static void
eat_together(enum what first, enum what then)
{
	int go[2], begun = 0;
	long all = 0, n;

	expect(pipe(go), 0, "pipe");
	while (begun < CHILDREN && begin_eater(first, go, &n) > 0) {
		printf("%s: child %d: %ld\n", name[first], ++begun, n);
		all += n;
	}
	n = eat(then);
	printf("%s: parent: %ld, together %ld of %ld\n", name[then], n, all + n, most[first]);
	expect(begun > 0 && all > 0, 1, "a child had some");
	expect(all + n <= most[first], 1, "no more together");
	close(go[1]);
	while (begun-- > 0)
		expect(wait(NULL) > 0, 1, "wait");
	close(go[0]);
	expect(first != MEMORY || eat(first) > all / 2, 1, "what they had is there");
}

/* In a process of its own, so that the next one finds all. */
static void
test(enum what first, enum what then)
{
	struct zio_machine m;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		eat_together(first, then);
		fflush(stdout);
		_exit(failures != 0);
	}
	expect(waitpid(pid, &status, 0), pid, name[first]);
	expect(status, 0, name[first]);
	/* buffers come back a little later than their process ends */
	do
		expect(zio_machine(&m), 0, "zio_machine");
	while (m.buffers > 0 && failures == 0);
}

int
main(int argc, char **argv)
{
	begin("1");
	expect(argc, 4, "arguments");
	most[MEMORY] = most[BUFFERS] = most[FILES] = atol(argv[1]);
	most[THREADS] = atol(argv[2]);
	most[PROCESSES] = atol(argv[3]);
	test(MEMORY, MEMORY);
	test(THREADS, THREADS);
	test(PROCESSES, PROCESSES);
	test(BUFFERS, MEMORY);
	test(FILES, MEMORY);
	return verdict();
}
