/* SPDX-License-Identifier: MIT
 *
 * Several benchmarks of this folder in one program, so that a simulator boots once for all: suite
 * NAME [ARG...] NAME [ARG...] ... A word that names a benchmark begins its command line. Each part
 * has window labels of its own: mk/user.mk compiles it with a WINDOW_BASE, 8 apart in the order
 * below.
 */
#include "kit.h"

int kcalls_part(int argc, char **argv);
int fork_join_part(int argc, char **argv);
int buffer_part(int argc, char **argv);
int server_part(int argc, char **argv);
int knoise_part(int argc, char **argv);
int mailbox_part(int argc, char **argv);
int pages_part(int argc, char **argv);

static const struct part {
	const char *name;
	int (*main)(int argc, char **argv);
} parts[] = {
	{"kcalls", kcalls_part}, {"fork_join", fork_join_part}, {"buffer", buffer_part},
		{"server", server_part}, {"knoise", knoise_part},
	{"mailbox", mailbox_part}, {"pages", pages_part},
};

static const struct part *
part_named(const char *name)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (is_equal(parts[i].name, name))
			return &parts[i];
	return NULL;
}

int
main(int argc, char **argv)
{
	int i = 1;

	while (i < argc) {
		const struct part *part = part_named(argv[i]);
		int words = 1, status;

		if (part == NULL)
			give_up("not a benchmark's name: argument", i);
		while (i + words < argc && part_named(argv[i + words]) == NULL)
			words++;
		status = part->main(words, argv + i);
		if (status != 0)
			return status;
		i += words;
	}
	return 0;
}
