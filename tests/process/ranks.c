/* SPDX-License-Identifier: MIT
 *
 * A program of the test list with ranks that are threads of one ordinary process, so that a
 * sanitizer sees all of them at once:
 *
 *	ranks RANKS RANKS_PER_CLUSTER PROGRAM.so [ARG...]
 *
 * The library is linked in, with the transport of thread ranks. Each rank loads a copy of the
 * program of its own, as its globals are, and its own threads belong to it.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <mpi/core/ranks_test.h>

#define PATH_BYTES 64

int ranks_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
	void *arg);

static struct {
	const char *program;
	int argc;
	char **argv;
	int worst;			/* exit status */
} run;

/* What the programs are compiled to call instead of pthread_create. */
int
ranks_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
	void *arg)
{
	return test_thread_create(thread, attr, fn, arg);
}

static _Noreturn void
fail(const char *what, const char *why)
{
	fprintf(stderr, "ranks: %s: %s\n", what, why);
	_exit(125);
}

/* Load a copy: the same file would be loaded once only. */
static int
(*program_copy(void))(int, char **)
{
	char path[PATH_BYTES];
	int from = open(run.program, O_RDONLY), to = memfd_create("rank", 0);
	int (*start)(int, char **) = NULL;
	struct stat info;
	void *loaded, *symbol;

	if (from < 0 || to < 0 || fstat(from, &info) != 0 ||
		sendfile(to, from, NULL, (size_t)info.st_size) != info.st_size)
		fail(run.program, strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
	loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	symbol = loaded != NULL ? dlsym(loaded, "main") : NULL;
	if (symbol == NULL)
		fail(run.program, dlerror());
	memcpy(&start, &symbol, sizeof(start));
	close(from);
	/* the copy's descriptor stays: its number is its name */
	return start;
}

static void
rank_body(void)
{
	char **argv = calloc((size_t)run.argc + 1, sizeof(*argv));
	int status;

	/* as with processes, a rank may change its own */
	memcpy(argv, run.argv, (size_t)run.argc * sizeof(*argv));
	status = program_copy()(run.argc, argv);
	if (status != 0)
		__atomic_store_n(&run.worst, status, __ATOMIC_RELAXED);
	free(argv);
}

int
main(int argc, char **argv)
{
	if (argc < 4)
		fail("usage", "ranks RANKS RANKS_PER_CLUSTER PROGRAM.so [ARG...]");
	run.program = argv[3];
	run.argc = argc - 3;
	run.argv = argv + 3;
	test_os.cores = 16;
	job_run((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]), 0, rank_body);
	return run.worst;
}
