/* SPDX-License-Identifier: MIT
 *
 * Each of the personality's calls, with each of its arguments wrong in several ways, said with the
 * results: the same here and on Linux. The table says what an argument is; the rest is generated.
 * Bad addresses are left out: here they end a process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ARGS 6
#define PAGE 4096
#define VALUES 8
#define END (-12345L)

/* What an argument is, and with which values it is wrong, or may be. */
enum kind {
	NONE, DESCRIPTOR, PATH, FLAGS, COUNT, WHICH, MODE, OFFSET, ADDRESS, PID,
	FIXED,				/* what stands in the table */
};

static const long wrong_descriptors[VALUES] = {-1, 9999, 77, -2147483647 - 1, END};
static const long wrong_flags[VALUES] = {0x40000000, -1, 0x8000, END};
static const long wrong_counts[VALUES] = {-1, 100000, END};
static const long wrong_choices[VALUES] = {99, -1, 4097, END};
static const long wrong_offsets[VALUES] = {-1, -4096, END};
static const long wrong_addresses[VALUES] = {1, 4095, END};
static const long wrong_pids[VALUES] = {99999, END};
static const long wrong_paths[VALUES] = {0, 1, 2, 3, 4, END};
static const long none[VALUES] = {END};

static char long_name[400];
static const char *const paths[] = {"", "nothing", "file/below", "nothing/below", long_name};

static char buffer[4 * PAGE];
static struct timespec times[2];
static int file, folder, ends[2];
static void *page;

struct row {
	const char *name;
	long number;
	enum kind kind[ARGS];
	long value[ARGS];		/* that are right */
};

#define CALL(name) #name, SYS_##name
#define BUFFER (long)buffer
#define AT AT_FDCWD
/* stand for what is open, or mapped */
#define A_FILE (-1001L)
#define A_FOLDER (-1002L)
#define A_PIPE (-1003L)
#define A_PAGE (-1004L)
#define NAME (long)"file"

static const struct row rows[] = {
	{CALL(dup), {DESCRIPTOR}, {A_FILE}},
	{CALL(dup3), {DESCRIPTOR, FIXED, FLAGS}, {A_FILE, 90, 0}},
	{CALL(fcntl), {DESCRIPTOR, WHICH}, {A_FILE, F_GETFD}},
	{CALL(fcntl), {DESCRIPTOR, FIXED, OFFSET}, {A_FILE, F_DUPFD, 91}},
	{CALL(ioctl), {DESCRIPTOR, WHICH}, {A_FILE, 0x5413, BUFFER}},
	{CALL(mkdirat), {DESCRIPTOR, PATH, MODE}, {A_FOLDER, NAME, 0755}},
	{CALL(unlinkat), {DESCRIPTOR, PATH, FLAGS}, {A_FOLDER, (long)"nothing", 0}},
	{CALL(unlinkat), {FIXED, PATH, FIXED}, {AT, (long)"file", AT_REMOVEDIR}},
	{CALL(truncate), {PATH, OFFSET}, {(long)"folder", 1}},
	{CALL(ftruncate), {DESCRIPTOR, OFFSET}, {A_FOLDER, 1}},
	{CALL(ftruncate), {FIXED, OFFSET}, {A_FILE, 5}},
	{CALL(faccessat), {DESCRIPTOR, PATH, FLAGS}, {A_FOLDER, (long)"nothing", 0}},
	{CALL(chdir), {PATH}, {NAME}},
	{CALL(fchdir), {DESCRIPTOR}, {A_FILE}},
	{CALL(openat), {DESCRIPTOR, PATH, FIXED}, {A_FOLDER, (long)"nothing", O_RDONLY}},
	{CALL(openat), {FIXED, PATH, FIXED}, {AT, NAME, O_RDONLY | O_DIRECTORY}},
	{CALL(openat), {FIXED, PATH, FIXED}, {AT, (long)"folder", O_WRONLY}},
	{CALL(openat), {FIXED, FIXED, FIXED}, {AT, NAME, O_WRONLY | O_CREAT | O_EXCL}},
	{CALL(close), {DESCRIPTOR}, {77}},
	{CALL(pipe2), {FIXED, FLAGS}, {BUFFER, 0x40000000}},
	{CALL(getdents64), {DESCRIPTOR, FIXED, FIXED}, {A_FOLDER, BUFFER, 1}},
	{CALL(getdents64), {FIXED, FIXED, FIXED}, {A_FILE, BUFFER, PAGE}},
	{CALL(lseek), {DESCRIPTOR, OFFSET, WHICH}, {A_FILE, 0, SEEK_SET}},
	{CALL(lseek), {FIXED, FIXED, FIXED}, {A_PIPE, 0, SEEK_CUR}},
	{CALL(read), {DESCRIPTOR, FIXED, FIXED}, {A_FILE, BUFFER, 0}},
	{CALL(write), {DESCRIPTOR, FIXED, FIXED}, {A_FILE, BUFFER, 0}},
	{CALL(write), {FIXED, FIXED, FIXED}, {A_FOLDER, BUFFER, 1}},
	{CALL(readv), {DESCRIPTOR, FIXED, COUNT}, {A_FILE, BUFFER, 0}},
	{CALL(writev), {DESCRIPTOR, FIXED, COUNT}, {A_FILE, BUFFER, 0}},
	{CALL(pread64), {DESCRIPTOR, FIXED, FIXED, OFFSET}, {A_FILE, BUFFER, 0, 0}},
	{CALL(pwrite64), {DESCRIPTOR, FIXED, FIXED, OFFSET}, {A_FILE, BUFFER, 0, 0}},
	{CALL(pread64), {FIXED, FIXED, FIXED, FIXED}, {A_PIPE, BUFFER, 1, 0}},
	{CALL(ppoll), {FIXED, COUNT, FIXED}, {BUFFER, 0, (long)times}},
	{CALL(pselect6), {COUNT, FIXED, FIXED, FIXED, FIXED}, {0, 0, 0, 0, (long)times}},
	{CALL(readlinkat), {DESCRIPTOR, PATH, FIXED, COUNT}, {A_FOLDER, NAME, BUFFER, 10}},
	{CALL(readlinkat), {FIXED, FIXED, FIXED, FIXED}, {AT, NAME, BUFFER, 0}},
	{CALL(readlinkat), {FIXED, FIXED, FIXED, FIXED}, {AT, NAME, BUFFER, 10}},
	{CALL(newfstatat), {DESCRIPTOR, PATH, FIXED, FLAGS},
		{A_FOLDER, (long)"nothing", BUFFER, 0}},
	{CALL(fstat), {DESCRIPTOR, FIXED}, {A_FILE, BUFFER}},
	{CALL(fsync), {DESCRIPTOR}, {A_FILE}},
	{CALL(fdatasync), {DESCRIPTOR}, {A_FILE}},
	{CALL(utimensat), {DESCRIPTOR, PATH, FIXED, FLAGS}, {A_FOLDER, (long)"nothing", 0, 0}},
	{CALL(fchmod), {DESCRIPTOR, FIXED}, {A_FILE, 0644}},
	{CALL(fchmodat), {DESCRIPTOR, PATH, FIXED}, {A_FOLDER, (long)"nothing", 0644}},
	{CALL(fchown), {DESCRIPTOR, FIXED, FIXED}, {A_FILE, -1, -1}},
	{CALL(fchownat), {DESCRIPTOR, PATH, FIXED, FIXED, FLAGS},
		{A_FOLDER, (long)"nothing", -1, -1, 0}},
	{CALL(renameat2), {DESCRIPTOR, PATH, DESCRIPTOR, FIXED, FLAGS},
		{A_FOLDER, (long)"nothing", A_FOLDER, (long)"other", 0}},
	{CALL(getcwd), {FIXED, FIXED}, {BUFFER, 0}},
	{CALL(getcwd), {FIXED, FIXED}, {BUFFER, 1}},
	{CALL(clock_gettime), {WHICH, FIXED}, {CLOCK_MONOTONIC, BUFFER}},
	{CALL(clock_getres), {WHICH, FIXED}, {CLOCK_MONOTONIC, BUFFER}},
	{CALL(clock_nanosleep), {WHICH, FIXED, FIXED, FIXED}, {CLOCK_MONOTONIC, 0, (long)times, 0}},
	{CALL(sched_getaffinity), {PID, COUNT, FIXED}, {0, 1, BUFFER}},
	{CALL(getrandom), {FIXED, FIXED, FLAGS}, {BUFFER, 0, 0}},
	{CALL(mmap), {FIXED, FIXED, FIXED, FLAGS, FIXED, FIXED},
		{0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}},
	{CALL(mmap), {FIXED, FIXED, FIXED, FIXED, DESCRIPTOR, FIXED},
		{0, PAGE, PROT_READ, MAP_PRIVATE, 77, 0}},
	{CALL(munmap), {ADDRESS, FIXED}, {A_PAGE, 0}},
	{CALL(mprotect), {ADDRESS, FIXED, FIXED}, {A_PAGE, 0, PROT_READ}},
	{CALL(mremap), {ADDRESS, FIXED, FIXED, FLAGS}, {A_PAGE, PAGE, 0, 0}},
	{CALL(madvise), {ADDRESS, FIXED, WHICH}, {A_PAGE, PAGE, 0}},
	{CALL(wait4), {PID, FIXED, FLAGS, FIXED}, {-1, 0, 0, 0}},
	{CALL(prlimit64), {PID, WHICH, FIXED, FIXED}, {0, 7, 0, 0}},
	{CALL(futex), {FIXED, WHICH, FIXED}, {BUFFER, 1, 0}},
	{CALL(getrusage), {WHICH, FIXED}, {0, BUFFER}},
	{CALL(getgroups), {FIXED, FIXED}, {-1, BUFFER}},
};

static const long *
wrong_values(enum kind kind)
{
	switch (kind) {
	case DESCRIPTOR: return wrong_descriptors;
	case PATH: return wrong_paths;
	case FLAGS: return wrong_flags;
	case COUNT: return wrong_counts;
	case WHICH: return wrong_choices;
	case OFFSET: return wrong_offsets;
	case ADDRESS: return wrong_addresses;
	case PID: return wrong_pids;
	default: return none;
	}
}

/* What stands in the table for something that is known only now. */
static long
meant(enum kind kind, long value)
{
	switch (value) {
	case A_FILE: return kind == DESCRIPTOR || kind == FIXED ? file : value;
	case A_FOLDER: return kind == DESCRIPTOR || kind == FIXED ? folder : value;
	case A_PIPE: return ends[0];
	case A_PAGE: return (long)page;
	default: return value;
	}
}

static void
try(const struct row *r, const long *a, int at, long wrong)
{
	long result = syscall(r->number, a[0], a[1], a[2], a[3], a[4], a[5]);
	int error = errno;

	if (result == 0 && r->number == SYS_mkdirat)
		rmdir((const char *)a[1]);
	if (result == 0 && r->number == SYS_chdir && fchdir(folder) != 0)
		_exit(1);
	if (at < 0)
		printf("%s: ", r->name);
	else
		printf("%s, argument %d is %ld: ", r->name, at, wrong);
	/* numbers that are free, and times, are others */
	printf("%s\n", result == -1 ? strerror(error) : "done");
}

static void
try_row(const struct row *r)
{
	long right[ARGS], a[ARGS];

	for (int i = 0; i < ARGS; i++)
		right[i] = meant(r->kind[i], r->value[i]);
	try(r, right, -1, 0);
	for (int i = 0; i < ARGS; i++)
		for (const long *w = wrong_values(r->kind[i]); *w != END; w++) {
			memcpy(a, right, sizeof(a));
			a[i] = r->kind[i] == PATH ? (long)paths[*w] :
				r->kind[i] == ADDRESS ? (long)page + *w : *w;
			try(r, a, i, *w);
		}
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	memset(long_name, 'x', sizeof(long_name) - 1);
	mkdir("tried", 0755);
	if (chdir("tried") != 0)
		return 1;
	mkdir("folder", 0755);
	file = open("file", O_RDWR | O_CREAT, 0644);
	folder = open(".", O_RDONLY | O_DIRECTORY);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (file < 0 || folder < 0 || pipe(ends) != 0 || page == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_row(&rows[i]);
	printf("ok errnos\n");
	return 0;
}
