/* SPDX-License-Identifier: MIT
 *
 * A prepared start: what the front command found out about a command line when it ran it, and what
 * that hangs on (tools/run/prepared.py writes it). Nothing of a program is in it but the
 * archive's headers: programs are read from where they lie, when they start.
 */
#ifndef PREPARED_H
#define PREPARED_H

#define WHY_BYTES 512

struct prepared {
	const char *root;		/* of the tree that prepared it */
	const char *launcher;
	const char *python;
	const char *reader;		/* the cluster that gets our standard input */
	long timeout_ms;		/* 0: none */
	int record_fd;
	int archive_fd;
	char why[WHY_BYTES];		/* it does not hold */
};

/*
 * Find the prepared start of `args` (NULL at the end) in the tree `here`, see whether all that it
 * hangs on is as it was, and make the boot record and archive. Returns 0; -1 if there is none that
 * holds: `why` says why, and nothing is left open.
 */
int prepared_load(struct prepared *p, const char *here, char **args);

#endif
