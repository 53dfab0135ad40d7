/* SPDX-License-Identifier: MIT
 *
 * Options, as users of other MPIs know them; one dash or two. Every option may be written before each program; those that do not
 * belong to a program hold for the whole job.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mpi/exec/message.h>
#include <mpi/exec/options.h>
#include <mpi/core/errhandler.h>

static const char help[] =
	"usage: mpiexec [OPTION...] PROGRAM [ARG...] [: [OPTION...] PROGRAM [ARG...]]...\n"
	"\n"
	"Runs a job of MPI ranks on this host, each rank a process of its own.\n"
	"\n"
	"  -n, -np, -c N            ranks of the program (1)\n"
	"  -x NAME[=VALUE]          set an environment variable for the program, or pass it on\n"
	"  -env NAME VALUE          the same; -genv NAME VALUE: for all programs\n"
	"  -wdir, -wd DIR           run the program in this folder\n"
	"  -initial-errhandler E    mpi_errors_are_fatal (default), mpi_errors_abort or mpi_errors_return\n"
	"  --map-by core|socket     neighbours on neighbouring cores (default), or on the sockets in turn\n"
	"  --bind-to core|none      a core (hwthread: the same) for each rank: by default if there are enough that no other job has\n"
	"  --oversubscribe          allow more ranks than -host has slots\n"
	"  -host localhost[:N]      this host, with at most N ranks\n"
	"  --tag-output, -l         put [rank] before each line\n"
	"  -h, --help; -V, --version\n"
	"\n"
	"Standard input goes to rank 0. The exit status is that of the rank that failed first, 128 + signal if it was killed, or 0.\n"
	"Interrupting once asks the ranks to end, twice ends them.\n";

struct reader {
	struct options *o;
	char **argv;
	int argc;
	int at;				/* the argument to read next */
	const char *inline_value;	/* of --name=value */
	struct app *app;		/* the program that is being described */
	char *everywhere[SETTINGS_MAX];	/* from -genv */
	int everywhere_count;
	bool ranks_given;
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
		add_setting(r->app->settings, &r->app->settings_count, strndup(text, (size_t)(equals - text)), equals + 1);
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

	if (strcmp(text, "mpi_errors_are_fatal") != 0 && strcmp(text, "mpi_errors_abort") != 0 && strcmp(text, "mpi_errors_return") != 0)
		usage_error("%s knows mpi_errors_are_fatal, mpi_errors_abort and mpi_errors_return, not '%s'", option, text);
	add_setting(r->app->settings, &r->app->settings_count, INITIAL_ERRHANDLER, text);
}

static void
read_map(struct reader *r, const char *option)
{
	const char *text = value_of(r, option);

	if (strcmp(text, "core") == 0 || strcmp(text, "slot") == 0 || strcmp(text, "node") == 0 || strcmp(text, "hwthread") == 0)
		r->o->map = MAP_CORE;
	else if (strcmp(text, "socket") == 0 || strcmp(text, "package") == 0)
		r->o->map = MAP_SOCKET;
	else
		usage_error("%s knows core and socket, not '%s'", option, text);
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

static bool
is_this_host(const char *name, size_t len)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	return (len == 9 && strncmp(name, "localhost", len) == 0) || (len == 9 && strncmp(name, "127.0.0.1", len) == 0) ||
		(len == strlen(host) && strncmp(name, host, len) == 0);
}

/* localhost[:N][,localhost[:N]]...: a name without a number is one slot more, as many as there are processors if it stands alone */
static void
read_host(struct reader *r, const char *option)
{
	const char *text = value_of(r, option);
	bool alone = strchr(text, ',') == NULL && strchr(text, ':') == NULL;

	for (const char *p = text; p != NULL; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		size_t len = strcspn(p, ":,");

		if (!is_this_host(p, len))
			usage_error("%s: '%.*s' is not this host, and only this host can be used", option, (int)len, p);
		if (p[len] == ':')
			r->o->slots += number_of(strndup(p + len + 1, strcspn(p + len + 1, ",")), option, RANKS_MAX);
		else if (!alone)
			r->o->slots++;
	}
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
	puts("mpiexec (Atoll MPI, standard ABI 1.0)");
	exit(0);
}

static const struct {
	const char *name;		/* without dashes */
	void (*read)(struct reader *r, const char *option);
} known[] = {
	{"n", read_ranks}, {"np", read_ranks}, {"c", read_ranks}, {"x", read_x}, {"env", read_env}, {"genv", read_env},
	{"initial-errhandler", read_errhandler},
	{"wdir", read_wdir}, {"wd", read_wdir}, {"map-by", read_map}, {"bind-to", read_bind}, {"host", read_host}, {"hosts", read_host},
	{"H", read_host}, {"oversubscribe", set_oversubscribe}, {"tag-output", set_tag}, {"l", set_tag}, {"prepend-rank", set_tag},
	{"genvall", ignore}, {"envall", ignore}, {"allow-run-as-root", ignore}, {"h", show_help}, {"help", show_help},
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
	r->app->ranks = 1;
	while (r->at < r->argc && r->argv[r->at][0] == '-' && r->argv[r->at][1] != '\0' && strcmp(r->argv[r->at], "--") != 0)
		read_option(r);
	if (r->at < r->argc && strcmp(r->argv[r->at], "--") == 0)
		r->at++;
	if (r->at >= r->argc || strcmp(r->argv[r->at], ":") == 0)
		usage_error("no program given: mpiexec [-n N] PROGRAM [ARG...]");
	r->app->argv = &r->argv[r->at];
	while (r->at < r->argc && strcmp(r->argv[r->at], ":") != 0)
		r->at++;
	r->o->ranks += r->app->ranks;
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
		memmove(a->settings + r->everywhere_count, a->settings, (size_t)a->settings_count * sizeof(a->settings[0]));
		memcpy(a->settings, r->everywhere, (size_t)r->everywhere_count * sizeof(a->settings[0]));
		a->settings_count += r->everywhere_count;
	}
}

void
options_read(struct options *o, int argc, char **argv)
{
	static struct reader r;

	*o = (struct options){.apps = calloc(APPS_MAX, sizeof(struct app))};
	r = (struct reader){.o = o, .argc = argc, .argv = argv, .at = 1};
	if (o->apps == NULL)
		usage_error("out of memory");
	do {
		if (o->apps_count == APPS_MAX)
			usage_error("at most %d programs", APPS_MAX);
		read_app(&r);
	} while (r.at < argc);
	spread_settings(&r);
	if (o->ranks > RANKS_MAX)
		usage_error("%d ranks are too many: at most %d", o->ranks, RANKS_MAX);
	if (o->slots > 0 && o->ranks > o->slots && !o->oversubscribe)
		usage_error("%d ranks on %d slots: give the host more, or --oversubscribe", o->ranks, o->slots);
}
