/* SPDX-License-Identifier: MIT
 *
 * Programs with a main: on or1k, where there is no libc, they start as servers do. One that runs as
 * the machine's first process finds its arguments in the boot archive, one per line of etc/args.
 */
#include <stddef.h>
#include <abi/startup.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/cpio.h>

#define TEXT_MAX 1024
#define ARGS_MAX 96

int main(int argc, char **argv);

static _Noreturn void
refuse(const char *what, int most)
{
	console_print("%s %d\n", what, most);
	rank_exit(1);
}

/*
 * Split the archive's etc/args into argv[1..]. Returns how many entries there are then; a program
 * with fewer than it was given does not start.
 */
static int
split_args(char **argv, char *text)
{
	struct cpio_file file;
	uint64_t span[2];
	int argc = 1;

	if (karchive_map(SELF, span) < 0 || cpio_find((const void *)(uintptr_t)span[0],
			(size_t)span[1], "etc/args", &file) < 0)
		return argc;
	if (file.bytes > TEXT_MAX)
		refuse("arguments longer than", TEXT_MAX);
	for (size_t i = 0, begin = 0; i < file.bytes; i++) {
		text[i] = ((const char *)file.data)[i];
		if (text[i] != '\n')
			continue;
		text[i] = '\0';
		if (argc == ARGS_MAX)
			refuse("arguments, more than", ARGS_MAX);
		argv[argc++] = &text[begin];
		begin = i + 1;
	}
	return argc;
}

int
server_main(int argc, char **argv)
{
	static char text[TEXT_MAX];
	static char *bare[ARGS_MAX + 1];

	if (atoll_startup()->control != 0)
		return main(argc, argv);
	bare[0] = argv[0];
	return main(split_args(bare, text), bare);
}
