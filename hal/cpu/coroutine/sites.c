/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: places. Operations that a protocol could have forgotten are noted by file and
 * line, and one of them may be switched off: a good test then fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define SITES_MAX 1024

const char *const coro_op_name[OP_KINDS] = {
	"nothing", "load", "store", "add", "cas", "fence", "publish", "acquire", "wait_begin",
	"wait_cancel", "wait", "notify",
	"interrupt", "arm", "user_enter", "trap", "user", "copy", "clock", "point", "device",
};

static const enum op_kind mutable_kinds[] =
	{OP_PUBLISH, OP_ACQUIRE, OP_FENCE, OP_NOTIFY, OP_INTERRUPT, OP_ARM,
	OP_WAIT_BEGIN};

struct site {
	enum op_kind kind;
	int line;
	const char *file;
};

static struct {
	struct site site[SITES_MAX];
	unsigned count;
	struct site off;		/* switched off; kind OP_NONE: none */
	char off_file[128];
} sites;

static bool
ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && strcmp(text + a - b, end) == 0;
}

static void
note(enum op_kind kind, const char *file, int line)
{
	for (unsigned i = 0; i < sites.count; i++)
		if (sites.site[i].line == line && sites.site[i].kind == kind &&
			sites.site[i].file == file)
			return;
	if (sites.count < SITES_MAX)
		sites.site[sites.count++] = (struct site){kind, line, file};
}

bool
coro_dropped(enum op_kind kind, const char *file, int line)
{
	if (sites.off.kind == OP_NONE) {
		note(kind, file, line);
		return false;
	}
	return sites.off.line == line && sites.off.kind == kind && ends_with(file, sites.off_file);
}

static enum op_kind
kind_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(mutable_kinds) / sizeof(mutable_kinds[0]); i++)
		if (strlen(coro_op_name[mutable_kinds[i]]) == len &&
			strncmp(coro_op_name[mutable_kinds[i]], name, len) == 0)
			return mutable_kinds[i];
	return OP_NONE;
}

bool
coro_mutate(const char *place)
{
	const char *file, *line;

	sites.off = (struct site){0};
	if (place == NULL)
		return true;
	file = strchr(place, ':');
	line = strrchr(place, ':');
	if (file == NULL || line == file || (size_t)(line - file) > sizeof(sites.off_file))
		return false;
	snprintf(sites.off_file, sizeof(sites.off_file), "%.*s", (int)(line - file - 1), file + 1);
	sites.off = (struct site){kind_of(place, (size_t)(file - place)), atoi(line + 1),
		sites.off_file};
	return sites.off.kind != OP_NONE && sites.off.line > 0;
}

bool
coro_site(unsigned i, char *text, size_t size, const char **file)
{
	if (i >= sites.count)
		return false;
	snprintf(text, size, "%s:%s:%d", coro_op_name[sites.site[i].kind], sites.site[i].file,
		sites.site[i].line);
	if (file != NULL)
		*file = sites.site[i].file;
	return true;
}

static void
write_sites(void)
{
	FILE *f = fopen(getenv("CORO_SITES"), "w");
	char text[256];

	for (unsigned i = 0; f != NULL && coro_site(i, text, sizeof(text), NULL); i++)
		fprintf(f, "%s\n", text);
	if (f == NULL || fclose(f) != 0)
		perror(getenv("CORO_SITES"));
}

bool
coro_sites_from_outside(void)
{
	static bool done;
	const char *mutant = getenv("CORO_MUTANT");

	if (done)
		return mutant != NULL;
	done = true;
	if (getenv("CORO_SITES") != NULL)
		atexit(write_sites);
	if (mutant != NULL && !coro_mutate(mutant)) {
		fprintf(stderr, "CORO_MUTANT=%s: a place is KIND:FILE:LINE\n", mutant);
		exit(2);
	}
	return mutant != NULL;
}

void
coro_forget_sites(void)
{
	sites.count = 0;
}
