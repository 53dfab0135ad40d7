/* SPDX-License-Identifier: MIT
 *
 * atoll-host --record FILE --archive FILE [--stdin CLUSTER]: run a machine on this Linux host. The
 * front command writes both files; the machine's console is stdout. Exit status: the machine's, or
 * 2 if it cannot be started like this.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "launch.h"

#define EXIT_USAGE 2

static const char usage[] =
	"usage: atoll-host --record FILE [--archive FILE] [--stdin CLUSTER] [--no-fsgsbase] "
	"[--clock-rate N]\n"
	"  --record FILE    boot record (tools/bootrec.py)\n"
	"  --archive FILE   boot archive (cpio newc)\n"
	"  --stdin CLUSTER  whose programs read our standard input (default: nobody's)\n"
	"  --no-fsgsbase    switch thread pointers by system calls, as on hosts without the "
	"instruction\n"
	"  --clock-rate N   the machine's clock runs N times as fast as the host's: threads are "
	"switched more often\n";

struct arguments {
	const char *record;
	const char *archive;
	int reader;
	bool no_fsgsbase;
	unsigned clock_rate;
};

static bool
read_arguments(int argc, char **argv, struct arguments *a)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--no-fsgsbase") == 0)
			a->no_fsgsbase = true;
		else if (strcmp(argv[i], "--record") == 0 && i + 1 < argc)
			a->record = argv[++i];
		else if (strcmp(argv[i], "--archive") == 0 && i + 1 < argc)
			a->archive = argv[++i];
		else if (strcmp(argv[i], "--stdin") == 0 && i + 1 < argc)
			a->reader = atoi(argv[++i]);
		else if (strcmp(argv[i], "--clock-rate") == 0 && i + 1 < argc)
			a->clock_rate = (unsigned)atoi(argv[++i]);
		else
			return false;
	}
	return a->record != NULL;
}

static int
open_file(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		fprintf(stderr, "atoll: %s: %s\n", path, strerror(errno));
		return -1;
	}
	*bytes = (size_t)st.st_size;
	return fd;
}

/* A private, writable copy of the record. */
static struct boot_record *
read_record(const char *path)
{
	size_t bytes;
	int fd = open_file(path, &bytes);
	struct boot_record *r;
	const char *why;

	if (fd < 0)
		return NULL;
	r = calloc(1, bytes < sizeof(*r) ? sizeof(*r) : bytes);
	if (r == NULL || read(fd, r, bytes) != (ssize_t)bytes)
		why = "cannot be read";
	else
		why = launch_check_record(r, bytes);
	close(fd);
	if (why == NULL)
		return r;
	fprintf(stderr, "atoll: %s: %s\n", path, why);
	free(r);
	return NULL;
}

int
main(int argc, char **argv)
{
	struct arguments a = {.reader = -1};
	struct launch l = {.archive_fd = -1};
	size_t archive_bytes = 0;
	int status = EXIT_USAGE;

	if (!read_arguments(argc, argv, &a)) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	l.record = read_record(a.record);
	if (l.record == NULL)
		return EXIT_USAGE;
	if (a.archive == NULL || (l.archive_fd = open_file(a.archive, &archive_bytes)) >= 0) {
		l.record->archive_bytes = archive_bytes;
		l.no_fsgsbase = a.no_fsgsbase;
		l.clock_rate = a.clock_rate;
		l.reader = a.reader;
		status = launch_machine(&l);
	}
	if (l.archive_fd >= 0)
		close(l.archive_fd);
	free(l.record);
	return status;
}
