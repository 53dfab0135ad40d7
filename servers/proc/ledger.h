/* SPDX-License-Identifier: MIT
 *
 * Where the memory of a cluster goes while a job is started, for people who ask (`run --memory`).
 */
#ifndef SERVERS_PROC_LEDGER_H
#define SERVERS_PROC_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include <servers/proc/job.h>

#define LEDGER_LINES 8

struct ledger {
	bool is_open;
	uint64_t page_bytes;
	uint64_t at_start;		/* free frames */
	uint64_t now;
	uint32_t lines;
	struct {
		const char *what;
		uint64_t frames;
	} line[LEDGER_LINES];
};

/* Begin, if the job asks for it. */
void ledger_open(struct ledger *l, const struct job *job, uint64_t page_bytes);

/* What was taken since the last note was for this. */
void ledger_note(struct ledger *l, const char *what);

/* Say it all: one line on the console. */
void ledger_say(const struct ledger *l, uint32_t cluster, uint32_t ranks);

#endif
