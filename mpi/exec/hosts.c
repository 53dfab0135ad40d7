/* SPDX-License-Identifier: MIT
 *
 * Hosts and their slots.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mpi/exec/hosts.h>
#include <mpi/exec/message.h>
#include <mpi/exec/options.h>

#define SPACE " \t\r\n"

static bool
is_this_host(const char *name, size_t len)
{
	char host[HOST_NAME_MAX + 1] = "";
	size_t first;

	gethostname(host, sizeof(host) - 1);
	first = strcspn(host, ".");
	return (len == 9 && strncmp(name, "localhost", len) == 0) ||
		(len == 9 && strncmp(name, "127.0.0.1", len) == 0) ||
		(len == strlen(host) && strncmp(name, host, len) == 0) ||
			(len == first && strncmp(name, host, len) == 0);
}

static void
check_host(const char *option, const char *name, size_t len)
{
	if (!is_this_host(name, len))
		usage_error("%s: '%.*s' is not this host, and only this host can be used", option,
			(int)len, name);
}

static int
slots_of(const char *option, const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || (*end != '\0' && strchr(SPACE ",", *end) == NULL) || n < 1 ||
		n > RANKS_MAX)
		usage_error("%s: slots are a number from 1 to %d, not '%.*s'", option, RANKS_MAX,
			(int)strcspn(text, SPACE ","), text);
	return (int)n;
}

void
hosts_of_list(struct hosts *h, const char *option, const char *text)
{
	bool alone = strchr(text, ',') == NULL && strchr(text, ':') == NULL;

	for (const char *p = text; p != NULL; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		size_t len = strcspn(p, ":,");

		check_host(option, p, len);
		if (p[len] == ':')
			h->slots += slots_of(option, p + len + 1);
		else if (!alone)
			h->slots++;
	}
}

/* The slots that a line of a file gives, 0 if it does not say. */
static int
slots_of_line(const char *option, char *line)
{
	char *name = strtok(line, SPACE), *word;
	size_t len = strcspn(name, ":");
	int slots = 0;

	check_host(option, name, len);
	if (name[len] == ':')
		slots = slots_of(option, name + len + 1);
	while ((word = strtok(NULL, SPACE)) != NULL)
		if (strncmp(word, "slots=", 6) == 0)
			slots = slots_of(option, word + 6);
	return slots;
}

void
hosts_of_file(struct hosts *h, const char *option, const char *path)
{
	FILE *f = fopen(path, "re");
	bool limited = true, any = false;
	int total = 0;
	char *line = NULL;
	size_t room = 0;

	if (f == NULL)
		usage_error("%s: %s: %s", option, path, strerror(errno));
	while (getline(&line, &room, f) >= 0) {
		int slots;

		line[strcspn(line, "#")] = '\0';
		if (line[strspn(line, SPACE)] == '\0')
			continue;
		slots = slots_of_line(option, line);
		total += slots;
		limited = limited && slots > 0;
		any = true;
	}
	if (!any)
		usage_error("%s: %s names no host", option, path);
	h->slots += limited ? total : 0;
	free(line);
	fclose(f);
}
