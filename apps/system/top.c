/* SPDX-License-Identifier: MIT
 *
 * top on the machine itself: what its processes take, from /proc and /dev/cores. The columns are
 * the same on a terminal and in a pipe.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define USAGE "usage: top [-b] [-n TIMES] [-d SECONDS]\n" \
	"What processes take, again and again; -b: below each other, as where the output is no\n" \
	"terminal. There it is once without -n.\n" \
	"busy: of each core its number, role, and percent of the time in which it had something\n" \
	"to run, since the last table (of core 0 without calls that it serves one by one)\n" \
	"cpu: percent of a core, since the last table, at first since its start; time: in\n" \
	"seconds; memory: KB; calls: to the kernel's core, since the last table; turns: times\n" \
	"it was put off its core for another's turn; moves: to another core\n"
#define STATUS_USAGE 2
#define TICKS 100			/* of /proc in a second */
#define CORES_MAX 4096
#define ROLE_MAX 8
#define LINE_MAX_BYTES 256
#define SECONDS_MAX 1000000.0

struct row {
	long pid, threads, core;
	unsigned long long ticks, start, calls, faults, turns, moves, kb;
	double share;			/* of a core, in percent */
	unsigned long long calls_now;	/* since the last table */
	char state;
	char name[32];
};

struct table {
	struct row *row;
	size_t rows, room;
	double at;			/* when, in seconds */
};

/* A core, by /dev/cores: times in milliseconds. */
static struct core {
	char acts[ROLE_MAX];
	unsigned long long all, slept;
	int busy;			/* percent, since the last table; -1: not known */
} core_of[CORES_MAX];

static double
clock_seconds(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- what there is --- */

/* A small file as text. False: it is gone, or cannot be read. */
static bool
text_of(const char *path, char *text, size_t room)
{
	FILE *f = fopen(path, "r");
	size_t n;

	if (f == NULL)
		return false;
	n = fread(text, 1, room - 1, f);
	text[n] = 0;
	fclose(f);
	return n > 0;
}

/* The number behind the name of a line in a file of lines, 0: there is none. */
static unsigned long long
line_of(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, length) == 0 && at[length] == ':')
			return strtoull(at + length + 1, NULL, 10);
		if (*at == 0)
			break;
	}
	return 0;
}

/* Fields of /proc/N/stat behind the name, which may hold anything. */
static bool
read_stat(struct row *r, const char *text)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	size_t length;

	if (open == NULL || close == NULL || close < open)
		return false;
	length = (size_t)(close - open - 1);
	if (length >= sizeof(r->name))
		length = sizeof(r->name) - 1;
	memcpy(r->name, open + 1, length);
	r->name[length] = 0;
	return sscanf(close + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %*u %*u %*u "
		"%*d %*d %ld %*d %llu", &r->state, &r->ticks, &r->threads, &r->start) == 4;
}

static bool
read_process(struct row *r, const char *pid)
{
	char path[64], text[1024];

	memset(r, 0, sizeof(*r));
	r->pid = strtol(pid, NULL, 10);
	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	if (!text_of(path, text, sizeof(text)) || !read_stat(r, text))
		return false;
	snprintf(path, sizeof(path), "/proc/%.16s/status", pid);
	if (!text_of(path, text, sizeof(text)))
		return false;
	r->kb = line_of(text, "VmRSS");
	r->core = (long)line_of(text, "Core");
	r->calls = line_of(text, "Calls");
	r->faults = line_of(text, "Faults");
	r->turns = line_of(text, "nonvoluntary_ctxt_switches");
	r->moves = line_of(text, "Moves");
	return true;
}

/* It may have begun to count with the last table. */
static void
core_times(struct core *c, unsigned long long all, unsigned long long slept)
{
	unsigned long long passed = all - c->all, idle = slept - c->slept;

	c->busy = c->all == 0 || slept < c->slept || all <= c->all ? -1 :
		idle >= passed ? 0 : (int)(100 - 100 * idle / passed);
	c->all = all;
	c->slept = slept;
}

/* Those of /dev/cores: what each core acts as, and how busy it is. */
static void
read_cores(void)
{
	char line[LINE_MAX_BYTES], acts[ROLE_MAX];
	FILE *f = fopen("/dev/cores", "r");
	unsigned long long idle, tc, kc, ac, xc, slept;
	unsigned core;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%u %*u %*s %7s %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u "
			"%llu %llu %llu %llu %llu %llu", &core, acts, &idle, &tc, &kc, &ac, &xc,
			&slept) != 8 || core >= CORES_MAX)
			continue;
		strcpy(core_of[core].acts, acts);
		core_times(&core_of[core], idle + tc + kc + ac + xc, slept);
	}
	if (f != NULL)
		fclose(f);
}

static void
table_add(struct table *t, const struct row *r)
{
	if (t->rows == t->room) {
		t->room = t->room == 0 ? 32 : 2 * t->room;
		t->row = realloc(t->row, t->room * sizeof(*t->row));
		if (t->row == NULL) {
			fputs("top: no memory\n", stderr);
			exit(1);
		}
	}
	t->row[t->rows++] = *r;
}

static void
table_read(struct table *t)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	struct row r;

	if (d == NULL) {
		perror("top: /proc");
		exit(1);
	}
	t->rows = 0;
	t->at = clock_seconds(CLOCK_MONOTONIC);
	while ((e = readdir(d)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]) && read_process(&r, e->d_name))
			table_add(t, &r);
	closedir(d);
	read_cores();
}

/* --- what has changed --- */

static const struct row *
find(const struct table *t, const struct row *r)
{
	for (size_t i = 0; i < t->rows; i++)
		if (t->row[i].pid == r->pid && t->row[i].start == r->start)
			return &t->row[i];
	return NULL;
}

/* Of a process that was not there before: since its start. */
static void
compare(struct table *now, const struct table *before)
{
	for (size_t i = 0; i < now->rows; i++) {
		struct row *r = &now->row[i];
		const struct row *old = find(before, r);
		double time = old != NULL ? now->at - before->at :
			clock_seconds(CLOCK_BOOTTIME) - (double)r->start / TICKS;
		unsigned long long ticks = old != NULL ? old->ticks : 0;
		unsigned long long calls = old != NULL ? old->calls : 0;

		r->share = time > 0 && r->ticks > ticks ?
			100.0 * (double)(r->ticks - ticks) / TICKS / time : 0;
		r->calls_now = r->calls > calls ? r->calls - calls : 0;
	}
}

static int
by_share(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* --- a table --- */

static void
put(const char *line, int columns)
{
	int length = (int)strlen(line);

	printf("%.*s\n", columns > 0 && length > columns ? columns : length, line);
}

/* What part of its time each core was busy, as many as there is room for. */
static void
show_cores(int columns)
{
	char line[LINE_MAX_BYTES];
	int length = snprintf(line, sizeof(line), "busy");

	for (unsigned i = 0; i < CORES_MAX && length < LINE_MAX_BYTES - 32; i++) {
		const struct core *c = &core_of[i];

		if (c->acts[0] != 0 && c->busy >= 0)
			length += snprintf(line + length, sizeof(line) - (size_t)length,
				"  %u %s %d%%", i, c->acts, c->busy);
		else if (c->acts[0] != 0)
			length += snprintf(line + length, sizeof(line) - (size_t)length,
				"  %u %s -", i, c->acts);
	}
	put(line, columns);
}

/* As many lines and columns as there is room for; 0: any number. */
static void
show(const struct table *t, int lines, int columns)
{
	char line[LINE_MAX_BYTES];

	show_cores(columns);
	snprintf(line, sizeof(line), "%5s %5s %8s %7s %7s %4s %4s %7s %6s %5s %5s %s", "pid", "cpu",
		"time", "memory", "threads", "core", "role", "calls", "faults", "turns", "moves",
		"name");
	put(line, columns);
	for (size_t i = 0; i < t->rows && (lines <= 0 || (int)i < lines - 3); i++) {
		const struct row *r = &t->row[i];
		const char *role = r->state != 'Z' && r->core >= 0 && r->core < CORES_MAX &&
			core_of[r->core].acts[0] != 0 ? core_of[r->core].acts : "-";

		snprintf(line, sizeof(line), "%5ld %5.1f %8.2f %7llu %7ld %4ld %4s %7llu %6llu "
			"%5llu %5llu %s", r->pid, r->share, (double)r->ticks / TICKS, r->kb,
			r->threads, r->core, role, r->calls_now, r->faults, r->turns, r->moves,
			r->name);
		put(line, columns);
	}
}

static void
size_of_terminal(int *lines, int *columns)
{
	struct winsize w = {0};

	*lines = getenv("LINES") != NULL ? atoi(getenv("LINES")) : 24;
	*columns = getenv("COLUMNS") != NULL ? atoi(getenv("COLUMNS")) : 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 && w.ws_col > 0) {
		*lines = w.ws_row;
		*columns = w.ws_col;
	}
}

static void
wait_for(double seconds)
{
	struct timespec t = {.tv_sec = (time_t)seconds};

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

/* The output cannot take any more: nobody is told, as there is nobody. */
static void
end_of_table(void)
{
	if (fflush(stdout) != 0)
		exit(1);
}

static void
watch(unsigned long times, double seconds, bool in_batch)
{
	struct table now = {0}, before = {0};

	for (unsigned long i = 0; times == 0 || i < times; i++) {
		struct table old = before;
		int lines = 0, columns = 0;

		if (i > 0)
			wait_for(seconds);
		table_read(&now);
		compare(&now, &before);
		qsort(now.row, now.rows, sizeof(*now.row), by_share);
		if (!in_batch) {
			size_of_terminal(&lines, &columns);
			printf("\033[H\033[J");
		} else if (i > 0) {
			putchar('\n');
		}
		show(&now, lines, columns);
		end_of_table();
		before = now;
		now = old;
	}
}

static _Noreturn void
usage(FILE *to, int status)
{
	fputs(USAGE, to);
	exit(status);
}

static double
number(const char *text, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != 0 || !(value >= least && value <= most))
		usage(stderr, STATUS_USAGE);
	return value;
}

int
main(int argc, char **argv)
{
	bool in_batch = isatty(STDOUT_FILENO) == 0;
	unsigned long times = in_batch ? 1 : 0;
	double seconds = 2;
	int option;

	while ((option = getopt(argc, argv, "bn:d:h")) != -1)
		switch (option) {
		case 'b':
			times = in_batch ? times : 0;
			in_batch = true;
			break;
		case 'n': times = (unsigned long)number(optarg, 1, SECONDS_MAX); break;
		case 'd': seconds = number(optarg, 0, SECONDS_MAX); break;
		case 'h': usage(stdout, 0);
		default: usage(stderr, STATUS_USAGE);
		}
	if (optind < argc)
		usage(stderr, STATUS_USAGE);
	watch(times, seconds, in_batch);
	return 0;
}
