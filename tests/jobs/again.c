/* SPDX-License-Identifier: MIT
 *
 * Every rank writes a file of its own, behind what an earlier job on the same machine has written
 * there, and reads it.
 */
#include <stdio.h>
#include <atoll/startup.h>
#include "expect.h"

int
main(void)
{
	const struct startup *s = atoll_startup();
	char name[32];
	unsigned lines = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/of-rank-%u", s->rank);
	f = fopen(name, "a+");
	expect(f != NULL, 1, "open");
	fprintf(f, "job %u\n", s->job);
	rewind(f);
	for (int c; (c = fgetc(f)) != EOF;)
		lines += c == '\n';
	fclose(f);
	expect((long)lines, (long)s->job, "lines");
	return verdict();
}
