/* SPDX-License-Identifier: MIT
 *
 * Mutation controls: would the tests under the coroutine scheduler notice if a publish, an acquire,
 * a fence, a notify, an interrupt or a wait_begin were missing? Each test program says which places
 * it reaches; each place of the files under test is switched off in turn, and one of the programs
 * that reach it must fail within SEEDS seeds (a crash or a hang counts). All of them try a few
 * seeds before one of them tries many. A place that may be missing without harm stands in `allowed`
 * with the reason and is tried with few seeds only; any other survivor fails this test.
 *
 * usage: mutation [SEEDS [PATH-PREFIX]]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES_MAX 512
#define TEXT_MAX 256
#define NUMBER_MAX 24
#define SECONDS 60
#define PROGRAMS (sizeof(program) / sizeof(program[0]))

#define ROUNDS 5
#define ROUNDS_OF_ALLOWED 2

/*
 * Their usage: PROGRAM [COUNT [FIRST]], or PROGRAM --seed FIRST --seeds COUNT. The cheapest come
 * first.
 */
static const struct {
	const char *name;
	bool has_options;
	/* as many seeds: where few of them meet what it looks for, and each is short */
	unsigned long times;
} program[] = {
	{"hal-test", true, 1}, {"am_order", false, 1}, {"kernel_am", false, 1},
	{"kernel_threads", false, 1}, {"kernel_memory", false, 1},
	{"kernel_sched", false, 1}, {"kernel_kill", false, 1}, {"kernel_wait", false, 1},
	{"kernel_handler", false, 1}, {"kernel_fault", false, 1}, {"kernel_demand", false, 1},
	{"kernel_alarm", false, 1}, {"kernel_private", false, 1}, {"kernel_moves", false, 4},
	{"kernel_roles", false, 1},
	{"ikc_restart", false, 4}, {"ikc_death", false, 1}, {"ikc_mailbox", false, 1},
	{"ikc_portal", false, 1}, {"ikc_sync", false, 1}, {"ikc_channel", false, 4},
	{"names", false, 4}, {"tubes", false, 1},
};

static const char *const under_test[] = {"kernel/", "hal/noc/", "tests/hal/litmus.c",
	"user/call_queue.c", "user/channel.c", "user/sem.c", "user/tube.c",
	"servers/name/cache.c"};

struct survivor {
	const char *file;
	const char *line;		/* its text */
	const char *why;
};

static const struct survivor allowed[] = {
	{"kernel/boot/main.c", "hal_publish(c->proc, c->procs_max * sizeof(struct process));",
		"what other cores read of a process is published again when the process is made"},
	{"kernel/call/handler.c", "hal_acquire(t->handler, sizeof(*t->handler));",
		"this back end fills all of a handler's frame before it reads it: "
		"zeros matter where floating-point registers are kept"},
	{"kernel/thread/counts.c", "hal_publish(&made->counts, sizeof(made->counts));",
		"only home reads what it writes there; the rest was published, as zeros, with the "
		"record"},
	{"kernel/thread/counts.c", "hal_acquire(&t->counts, sizeof(t->counts));",
		"a thread that does not find its counts begins them with its next call, which "
		"acquires them itself"},
	{"kernel/mem/alloc.c", "hal_publish(at, n * HAL_PAGE_BYTES);",
		"users' pages lie outside of the memory that is stale under this scheduler"},
	{"kernel/mem/clear.c", "hal_publish(page, HAL_PAGE_BYTES);", "the same"},
	{"kernel/mem/mem.c", "hal_acquire(page, HAL_PAGE_BYTES);",
		"tables are this scheduler's own"},
	{"kernel/mem/demand.c", "hal_acquire(frame_kaddr(f, from), HAL_PAGE_BYTES);", "the same"},
	{"kernel/mem/demand.c", "hal_publish(frame_kaddr(f, to), HAL_PAGE_BYTES);", "the same"},
	{"kernel/thread/role.c", "hal_fence();",
		"a core would have to keep its message back while core 0 serves two others: "
		"tests/models/homerole.pml finds that"},
	{"kernel/thread/role.c", "hal_notify(hal_cluster_id(), core->id);",
		"this scheduler's clock hardly goes on, so that no time without anything to run "
		"shows: tests/kernel/roles.c waits for it"},
	{"kernel/am/am.c", "hal_fence();",
		"matters to a core that rings home without a ticket in the moment in which home "
		"becomes a TC, where nobody rings home any more afterwards"},
	{"hal/noc/shm/console.c", "hal_fence();", "the same, between clusters"},
	{"kernel/ikc/ikc.c", "hal_fence();",
		"whoever waits for a peer to come up looks at it once more first, "
		"long after this core's stores have drained"},
	{"kernel/ikc/portal_move.c", "hal_fence();",
		"keeps a copy before the look at the incarnation; a new life puts a block "
		"only when it is allowed, after the reader's end"},
	{"./user/sem.c", "words_fence();",
		"the swap before it is full order under this scheduler, which the contract of "
		"hal_cas32 does not promise"},
	{NULL, NULL, NULL},
};

struct place {
	char text[TEXT_MAX];		/* KIND:FILE:LINE */
	unsigned reached;		/* programs, a bit each */
};

static struct place place[PLACES_MAX];
static unsigned places;
static char folder[TEXT_MAX];
static unsigned long seeds = 400;

/* What a program is called with for `count` seeds from `first` (0) on. */
static void
arguments(unsigned index, unsigned long first, unsigned long count, char *const text[2],
	const char *argv[6])
{
	unsigned long times = program[index].times;
	unsigned n = 0;

	snprintf(text[0], NUMBER_MAX, "%lu", first * times + 1);
	snprintf(text[1], NUMBER_MAX, "%lu", count * times);
	argv[n++] = program[index].name;
	if (program[index].has_options) {
		argv[n++] = "--seed";
		argv[n++] = text[0];
		argv[n++] = "--seeds";
		argv[n++] = text[1];
	} else {
		argv[n++] = text[1];
		argv[n++] = text[0];
	}
	argv[n] = NULL;
}

/* Run a program; true if it passes. */
static bool
passes(unsigned index, unsigned long first, unsigned long count)
{
	char path[2 * TEXT_MAX], from[NUMBER_MAX], number[NUMBER_MAX];
	const char *argv[6];
	int status;
	pid_t child = fork();

	if (child == 0) {
		snprintf(path, sizeof(path), "%s/%s", folder, program[index].name);
		arguments(index, first, count, (char *[]){from, number}, argv);
		if (freopen("/dev/null", "w", stdout) == NULL ||
			freopen("/dev/null", "w", stderr) == NULL)
			_exit(2);
		alarm(SECONDS);
		execv(path, (char *const *)argv);
		_exit(2);
	}
	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror(program[index].name);
		exit(1);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void
add_place(const char *text, unsigned reached)
{
	unsigned i = 0;

	while (i < places && strcmp(place[i].text, text) != 0)
		i++;
	if (i == places && places < PLACES_MAX)
		strcpy(place[places++].text, text);
	place[i].reached |= reached;
}

static bool
is_under_test(const char *text, const char *prefix)
{
	const char *file = strchr(text, ':') + 1;

	/* a program that includes the file has it so */
	if (strncmp(file, "./", 2) == 0)
		file += 2;
	for (size_t i = 0; i < sizeof(under_test) / sizeof(under_test[0]); i++)
		if (strncmp(file, under_test[i], strlen(under_test[i])) == 0)
			return strncmp(file, prefix, strlen(prefix)) == 0;
	return false;
}

/* Ask a program which places it reaches. False if it fails as it is. */
static bool
ask(unsigned index, const char *prefix)
{
	char name[] = "/tmp/atoll-places-XXXXXX", text[TEXT_MAX];
	int fd = mkstemp(name);
	bool good;
	FILE *f;

	setenv("CORO_SITES", name, 1);
	good = fd >= 0 && passes(index, 0, seeds);
	unsetenv("CORO_SITES");
	f = fdopen(fd, "r");
	while (f != NULL && fgets(text, sizeof(text), f) != NULL) {
		text[strcspn(text, "\n")] = 0;
		if (is_under_test(text, prefix))
			add_place(text, 1u << index);
	}
	if (f != NULL)
		fclose(f);
	unlink(name);
	return good;
}

/* Text of a place's source line without the blanks around it; empty if it cannot be read. */
static void
source_line(const struct place *p, char *file, char *text)
{
	const char *name = strchr(p->text, ':') + 1, *number = strrchr(p->text, ':') + 1;
	char buffer[TEXT_MAX] = "";
	FILE *f;

	snprintf(file, TEXT_MAX, "%.*s", (int)(number - 1 - name), name);
	f = fopen(file, "r");
	for (int line = atoi(number); f != NULL && line > 0; line--)
		if (fgets(buffer, sizeof(buffer), f) == NULL)
			*buffer = 0;
	if (f != NULL)
		fclose(f);
	buffer[strcspn(buffer, "\n")] = 0;
	strcpy(text, buffer + strspn(buffer, " \t"));
}

static const char *
why_allowed(const char *file, const char *line)
{
	for (const struct survivor *s = allowed; s->file != NULL; s++)
		if (strcmp(s->file, file) == 0 && strcmp(s->line, line) == 0)
			return s->why;
	return NULL;
}

/*
 * Each round takes the seeds behind those of the last: in all three times as many as the rounds
 * before.
 */
static unsigned long
seeds_until(unsigned round)
{
	unsigned long n = seeds;

	for (unsigned i = round; i < ROUNDS; i++)
		n = (n + 2) / 3;
	return round == 0 ? 0 : n;
}

static bool
is_noticed(const struct place *p, unsigned rounds)
{
	bool noticed = false;

	setenv("CORO_MUTANT", p->text, 1);
	for (unsigned round = 0; round < rounds && !noticed; round++) {
		unsigned long first = seeds_until(round), count = seeds_until(round + 1) - first;

		for (unsigned i = 0; i < PROGRAMS && !noticed; i++)
			noticed = p->reached >> i & 1 && !passes(i, first, count);
	}
	unsetenv("CORO_MUTANT");
	return noticed;
}

/* True if the place is noticed or may survive. */
static bool
judge(const struct place *p)
{
	char file[TEXT_MAX], line[TEXT_MAX];
	const char *why;

	source_line(p, file, line);
	why = why_allowed(file, line);
	if (is_noticed(p, why != NULL ? ROUNDS_OF_ALLOWED : ROUNDS)) {
		if (why != NULL)
			printf("note: %s: %s\n      stands among the survivors, but was noticed\n",
				p->text, line);
		fflush(stdout);		/* a child of ours would write it, too */
		return true;
	}
	printf("%s: %s: %s\n", why != NULL ? "survivor" : "FAIL survivor", p->text, line);
	if (why != NULL)
		printf("      %s\n", why);
	fflush(stdout);
	return why != NULL;
}

int
main(int argc, char **argv)
{
	const char *prefix = argc > 2 ? argv[2] : "";
	const char *slash = strrchr(argv[0], '/');
	unsigned survived = 0;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - argv[0]) : 1,
		slash ? argv[0] : ".");
	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 0);
	for (unsigned i = 0; i < PROGRAMS; i++)
		if (!ask(i, prefix)) {
			printf("FAIL every_missing_step_is_noticed: %s fails as it is\n",
				program[i].name);
			return 1;
		}
	for (unsigned i = 0; i < places; i++)
		survived += !judge(&place[i]);
	if (survived > 0 || places == 0)
		printf("FAIL every_missing_step_is_noticed: %u of %u places survive %lu seeds\n",
			survived, places, seeds);
	else
		printf("ok every_missing_step_is_noticed (%u places, %lu seeds each)\n", places,
			seeds);
	return survived > 0 || places == 0;
}
