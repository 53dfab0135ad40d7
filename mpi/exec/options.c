/* SPDX-License-Identifier: MIT
 *
 * Options, as users of other MPIs know them; one dash or two. Every option may be written before
 * each program; those that do not belong to a program hold for the whole job.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi/exec/hosts.h>
#include <mpi/exec/message.h>
#include <mpi/exec/options.h>
#include <mpi/exec/processors.h>
#include <mpi/transport/process/join.h>
#include <mpi/transport/transport.h>

static const char help[] =
	"usage: mpiexec [OPTION...] PROGRAM [ARG...] [: [OPTION...] PROGRAM [ARG...]]...\n"
	"\n"
	"Runs a job of MPI ranks on this host, each rank a process of its own.\n"
	"\n"
	"  -n, -np, -c N            ranks of the program (1)\n"
	"  -x NAME[=VALUE]          set an environment variable for the program, or pass it on\n"
	"  -env NAME VALUE          the same; -genv NAME VALUE: for all programs\n"
	"  -envlist A,B,...         of our environment only these; -envnone: nothing; -envall: all "
	"(default); with g: for all programs\n"
	"  -wdir, -wd DIR           run the program in this folder\n"
	"  -initial-errhandler E    mpi_errors_are_fatal (default), mpi_errors_abort or "
	"mpi_errors_return\n"
	"  --map-by core|socket     neighbours on neighbouring cores (default), or on the sockets "
	"in turn\n"
	"  --map-by ppr:N:UNIT      at most N ranks for each node, socket or core, and without -n "
	"as many; -ppn N: ppr:N:node\n"
	"  --bind-to core|none      a core (hwthread: the same) for each rank: by default if there "
	"are enough that no other job has\n"
	"  --report-bindings        say for each rank on which processors it runs\n"
	"  --oversubscribe          allow more ranks than there are slots\n"
	"  -host localhost[:N]      this host, with at most N ranks\n"
	"  -hostfile, -machinefile, -f FILE  the same, a line each: HOST, HOST:N or HOST slots=N\n"
	"  -stdin, -s all|none|RANK who reads standard input (0)\n"
	"  --tag-output, -l, -prepend-rank   put [rank] before each line\n"
	"  --timeout S              end the job after S seconds, with status 124 (or "
	"MPIEXEC_TIMEOUT in the environment)\n"
	"  --on-deadlock end|report|ignore   when all ranks wait for one another inside MPI and no "
	"message is on its way: say who waits for\n"
	"                           whom, and end the job with status 35 (default), say it only, "
	"or do not look\n"
	"                           (or MPIEXEC_ON_DEADLOCK in the environment)\n"
	"  -q, --quiet              no remarks; what fails is still said\n"
	"  -h, --help; -V, --version\n"
	"\n"
	"The exit status is that of the rank that failed first, 128 + signal if it was killed, or "
	"0. A rank that ends between\n"
	"MPI_Init and MPI_Finalize has failed, also if its status is 0: then it is 1.\n"
	"Interrupting once asks the ranks to end, twice ends them.\n";

#define SECONDS_MAX 100000000

struct reader {
	struct options *o;
	char **argv;
	int argc;
	int at;				/* the argument to read next */
	const char *inline_value;	/* of --name=value */
	struct app *app;		/* the program that is being described */
	char *everywhere[SETTINGS_MAX];	/* from -genv */
	int everywhere_count;
	const char *list_everywhere;	/* from -genvlist */
	struct hosts hosts;
	int per;			/* from -ppn and ppr: ranks per unit */
	enum unit unit;
};

static const char *
value_of(struct reader *r, const char *name)
{
	if (r->inline_value != NULL)
		return r->inline_value;
	if (r->at >= r->argc)
		usage_error("%s needs a value", name);
	return r->argv[r->at++];
}

static int
number_of(const char *text, const char *name, int max)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*text == '\0' || *end != '\0' || n < 1 || n > max)
		usage_error("%s needs a number from 1 to %d, not '%s'", name, max, text);
	return (int)n;
}

static void
add_setting(char **list, int *count, const char *name, const char *value)
{
	size_t len = strlen(name) + strlen(value) + 2;
	char *text = malloc(len);

	if (text == NULL || *count == SETTINGS_MAX)
		usage_error("too many environment variables");
	snprintf(text, len, "%s=%s", name, value);
	list[(*count)++] = text;
}

static void
read_x(struct reader *r, const char *option)
{
	const char *text = value_of(r, option), *equals = strchr(text, '=');

	if (*text == '\0' || equals == text)
		usage_error("%s needs NAME or NAME=VALUE, not '%s'", option, text);
	if (equals != NULL)
		add_setting(r->app->settings, &r->app->settings_count,
			strndup(text, (size_t)(equals - text)), equals + 1);
	/* without a value: what mpiexec has is passed on anyhow */
}

static void
read_env(struct reader *r, const char *option)
{
	bool all = strstr(option, "genv") != NULL;
	const char *name = value_of(r, option), *value;

	r->inline_value = NULL;
	value = value_of(r, option);
	if (*name == '\0' || strchr(name, '=') != NULL)
		usage_error("%s needs NAME VALUE, not '%s'", option, name);
	if (all)
		add_setting(r->everywhere, &r->everywhere_count, name, value);
	else
		add_setting(r->app->settings, &r->app->settings_count, name, value);
}

static void
read_envlist(struct reader *r, const char *option)
{
	const char **to = strstr(option, "genv") != NULL ? &r->list_everywhere : &r->app->list;

	*to = value_of(r, option);
}

static void
set_envnone(struct reader *r, const char *option)
{
	*(strstr(option, "genv") != NULL ? &r->list_everywhere : &r->app->list) = "";
}

static void
set_envall(struct reader *r, const char *option)
{
	*(strstr(option, "genv") != NULL ? &r->list_everywhere : &r->app->list) = NULL;
}

static void
read_ranks(struct reader *r, const char *option)
{
	r->app->ranks = number_of(value_of(r, option), option, RANKS_MAX);
}

static void
read_wdir(struct reader *r, const char *option)
{
	r->app->wdir = value_of(r, option);
}

static void
read_errhandler(struct reader *r, const char *option)
{
	const char *text = value_of(r, option);

	if (strcmp(text, "mpi_errors_are_fatal") != 0 && strcmp(text, "mpi_errors_abort") != 0 &&
			strcmp(text, "mpi_errors_return") != 0)
		usage_error("%s knows mpi_errors_are_fatal, mpi_errors_abort and "
			"mpi_errors_return, not '%s'", option, text);
	add_setting(r->app->settings, &r->app->settings_count, INITIAL_ERRHANDLER, text);
}

static void
read_ppn(struct reader *r, const char *option)
{
	r->per = number_of(value_of(r, option), option, RANKS_MAX);
	r->unit = UNIT_NODE;
}

/* ppr:N:UNIT */
static void
read_ppr(struct reader *r, const char *option, const char *text)
{
	static const char *const units[] = {[UNIT_NODE] = "node", [UNIT_SOCKET] = "socket",
		[UNIT_CORE] = "core"};
	const char *colon = strchr(text + 4, ':'), *unit = colon != NULL ? colon + 1 : "";

	if (colon != NULL)
		r->per = number_of(strndup(text + 4, (size_t)(colon - text - 4)), option,
			RANKS_MAX);
	if (strcmp(unit, "package") == 0)
		unit = "socket";
	for (r->unit = UNIT_NODE; r->unit <= UNIT_CORE; r->unit++)
		if (strcmp(unit, units[r->unit]) == 0)
			return;
	usage_error("%s ppr:N:UNIT knows the units node, socket and core, not '%s'", option, text);
}

static void
read_map(struct reader *r, const char *option)
{
	const char *text = value_of(r, option);

	if (strncmp(text, "ppr:", 4) == 0) {
		read_ppr(r, option, text);
		return;
	}
	if (strcmp(text, "core") == 0 || strcmp(text, "slot") == 0 || strcmp(text, "node") == 0 ||
			strcmp(text, "hwthread") == 0)
		r->o->map = MAP_CORE;
	else if (strcmp(text, "socket") == 0 || strcmp(text, "package") == 0)
		r->o->map = MAP_SOCKET;
	else
		usage_error("%s knows core, socket and ppr:N:UNIT, not '%s'", option, text);
}

static void
read_bind(struct reader *r, const char *option)
{
	const char *text = value_of(r, option);

	if (strcmp(text, "core") == 0 || strcmp(text, "hwthread") == 0)
		r->o->bind = BIND_CORE;
	else if (strcmp(text, "none") == 0)
		r->o->bind = BIND_NONE;
	else
		usage_error("%s knows core, hwthread and none, not '%s'", option, text);
}

static void
read_host(struct reader *r, const char *option)
{
	hosts_of_list(&r->hosts, option, value_of(r, option));
}

static void
read_hostfile(struct reader *r, const char *option)
{
	hosts_of_file(&r->hosts, option, value_of(r, option));
}

static void
set_oversubscribe(struct reader *r, const char *option)
{
	(void)option;
	r->o->oversubscribe = true;
}

static void
set_tag(struct reader *r, const char *option)
{
	(void)option;
	r->o->tag = true;
}

static void
set_report(struct reader *r, const char *option)
{
	(void)option;
	r->o->report = true;
}

static void
set_quiet(struct reader *r, const char *option)
{
	(void)option;
	r->o->quiet = true;
}

static int
seconds_of(const char *text, const char *name)
{
	return number_of(text, name, SECONDS_MAX);
}

static void
read_timeout(struct reader *r, const char *option)
{
	r->o->timeout_s = seconds_of(value_of(r, option), option);
}

static enum on_deadlock
on_deadlock_of(const char *text, const char *name)
{
	if (strcmp(text, "report") == 0)
		return DEADLOCK_REPORT;
	if (strcmp(text, "ignore") == 0)
		return DEADLOCK_IGNORE;
	if (strcmp(text, "end") != 0)
		usage_error("%s knows end, report and ignore, not '%s'", name, text);
	return DEADLOCK_END;
}

static void
read_on_deadlock(struct reader *r, const char *option)
{
	r->o->deadlock = on_deadlock_of(value_of(r, option), option);
}

static void
read_stdin(struct reader *r, const char *option)
{
	const char *text = value_of(r, option);

	if (strcmp(text, "all") == 0)
		r->o->input = INPUT_ALL;
	else if (strcmp(text, "none") == 0)
		r->o->input = INPUT_NONE;
	else if (strcmp(text, "0") == 0)
		r->o->input = 0;
	else
		r->o->input = number_of(text, option, RANKS_MAX - 1);
}

static void
ignore(struct reader *r, const char *option)
{
	(void)r;
	(void)option;
}

static void
show_help(struct reader *r, const char *option)
{
	(void)r;
	(void)option;
	fputs(help, stdout);
	exit(0);
}

static void
show_version(struct reader *r, const char *option)
{
	(void)r;
	(void)option;
	printf("mpiexec (Atoll MPI, standard ABI 1.0, job protocol %d)\n", JOIN_VERSION);
	exit(0);
}

static const struct {
	const char *name;		/* without dashes */
	void (*read)(struct reader *r, const char *option);
} known[] = {
	{"n", read_ranks}, {"np", read_ranks}, {"c", read_ranks}, {"x", read_x}, {"env", read_env},
		{"genv", read_env},
	{"initial-errhandler", read_errhandler},
	{"wdir", read_wdir}, {"wd", read_wdir}, {"map-by", read_map}, {"bind-to", read_bind},
		{"host", read_host}, {"hosts", read_host},
	{"H", read_host}, {"oversubscribe", set_oversubscribe}, {"tag-output", set_tag},
		{"l", set_tag}, {"prepend-rank", set_tag},
	{"genvall", set_envall}, {"envall", set_envall}, {"genvnone", set_envnone},
		{"envnone", set_envnone}, {"genvlist", read_envlist},
	{"envlist", read_envlist}, {"hostfile", read_hostfile}, {"machinefile", read_hostfile},
		{"f", read_hostfile}, {"ppn", read_ppn},
	{"perhost", read_ppn}, {"npernode", read_ppn}, {"N", read_ppn},
		{"report-bindings", set_report},
	{"timeout", read_timeout}, {"on-deadlock", read_on_deadlock},
	{"s", read_stdin}, {"stdin", read_stdin}, {"q", set_quiet}, {"quiet", set_quiet},
	{"allow-run-as-root", ignore}, {"h", show_help}, {"help", show_help},
	{"V", show_version}, {"version", show_version},
};

static void
read_option(struct reader *r)
{
	const char *option = r->argv[r->at++], *name = option + (option[1] == '-' ? 2 : 1);
	size_t len = option[1] == '-' ? strcspn(name, "=") : strlen(name);

	r->inline_value = name[len] == '=' ? name + len + 1 : NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) == len && strncmp(known[i].name, name, len) == 0) {
			known[i].read(r, option);
			return;
		}
	}
	usage_error("unknown option '%s': mpiexec --help lists them", option);
}

/* One program: its options, its name, its arguments up to a colon. */
static void
read_app(struct reader *r)
{
	r->app = &r->o->apps[r->o->apps_count];
	while (r->at < r->argc && r->argv[r->at][0] == '-' && r->argv[r->at][1] != '\0' &&
			strcmp(r->argv[r->at], "--") != 0)
		read_option(r);
	if (r->at < r->argc && strcmp(r->argv[r->at], "--") == 0)
		r->at++;
	if (r->at >= r->argc || strcmp(r->argv[r->at], ":") == 0)
		usage_error("no program given: mpiexec [-n N] PROGRAM [ARG...]");
	r->app->argv = &r->argv[r->at];
	while (r->at < r->argc && strcmp(r->argv[r->at], ":") != 0)
		r->at++;
	r->o->apps_count++;
	if (r->at < r->argc) {
		r->argv[r->at++] = NULL;
		if (r->at >= r->argc)
			usage_error("no program given after ':'");
	}
}

/* What holds for all programs comes before what a program's own options say. */
static void
spread_settings(struct reader *r)
{
	for (int i = 0; i < r->o->apps_count; i++) {
		struct app *a = &r->o->apps[i];

		if (a->settings_count + r->everywhere_count > SETTINGS_MAX)
			usage_error("too many environment variables");
		memmove(a->settings + r->everywhere_count, a->settings, (size_t)a->settings_count *
			sizeof(a->settings[0]));
		memcpy(a->settings, r->everywhere,
			(size_t)r->everywhere_count * sizeof(a->settings[0]));
		a->settings_count += r->everywhere_count;
		if (a->list == NULL)
			a->list = r->list_everywhere;
	}
}

/* How many ranks each program has, and whether there is room for all. */
static void
count_ranks(struct reader *r)
{
	struct options *o = r->o;
	int room = r->per > 0 ? r->per * processors_units(r->unit) : 0;

	for (int i = 0; i < o->apps_count; i++) {
		if (o->apps[i].ranks == 0)
			o->apps[i].ranks = room > 0 ? room : 1;
		o->ranks += o->apps[i].ranks;
	}
	if (o->ranks > RANKS_MAX)
		usage_error("%d ranks are too many: at most %d", o->ranks, RANKS_MAX);
	if (o->oversubscribe)
		return;
	if (r->hosts.slots > 0 && o->ranks > r->hosts.slots)
		usage_error("%d ranks on %d slots: give the host more, or --oversubscribe",
			o->ranks, r->hosts.slots);
	if (room > 0 && o->ranks > room)
		usage_error("%d ranks, %d per unit of this host are %d: ask for fewer, or "
			"--oversubscribe", o->ranks, r->per, room);
}

void
options_read(struct options *o, int argc, char **argv)
{
	static struct reader r;
	const char *limit = getenv("MPIEXEC_TIMEOUT"), *deadlock = getenv("MPIEXEC_ON_DEADLOCK");

	*o = (struct options){.apps = calloc(APPS_MAX, sizeof(struct app))};
	if (deadlock != NULL)
		o->deadlock = on_deadlock_of(deadlock, "MPIEXEC_ON_DEADLOCK");
	r = (struct reader){.o = o, .argc = argc, .argv = argv, .at = 1};
	if (o->apps == NULL)
		usage_error("out of memory");
	do {
		if (o->apps_count == APPS_MAX)
			usage_error("at most %d programs", APPS_MAX);
		read_app(&r);
	} while (r.at < argc);
	spread_settings(&r);
	count_ranks(&r);
	if (o->input >= o->ranks)
		usage_error("-stdin: there is no rank %d of %d", o->input, o->ranks);
	if (o->timeout_s == 0 && limit != NULL)
		o->timeout_s = seconds_of(limit, "MPIEXEC_TIMEOUT");
}
