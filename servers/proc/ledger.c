/* SPDX-License-Identifier: MIT
 *
 * The ledger of a job's start.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <base/fmt.h>
#include <servers/proc/ledger.h>

#define ASKED "ATOLL_MEMORY=1"

static bool
is_asked(const struct job *job)
{
	for (uint32_t i = 0; i < job->envs; i++)
		if (text_is(job->env[i], ASKED))
			return true;
	return false;
}

static uint64_t
free_frames(void)
{
	uint64_t frames = 0;

	kstats(STATS_FRAMES_FREE, &frames);
	return frames;
}

void
ledger_open(struct ledger *l, const struct job *job, uint64_t page_bytes)
{
	*l = (struct ledger){.is_open = is_asked(job), .page_bytes = page_bytes};
	if (l->is_open)
		l->at_start = l->now = free_frames();
}

void
ledger_note(struct ledger *l, const char *what)
{
	uint64_t before = l->now;

	if (!l->is_open || l->lines == LEDGER_LINES)
		return;
	l->now = free_frames();
	l->line[l->lines].what = what;
	l->line[l->lines++].frames = before - l->now;
}

void
ledger_say(const struct ledger *l, uint32_t cluster, uint32_t ranks)
{
	unsigned kb = (unsigned)(l->page_bytes / 1024);
	char text[400];
	int at = 0;

	if (!l->is_open)
		return;
	for (uint32_t i = 0; i < l->lines && at < (int)sizeof(text) - 60; i++)
		at += fmt_print(text + at, sizeof(text) - (size_t)at, "%s %u, ", l->line[i].what,
			(unsigned)l->line[i].frames * kb);
	console_print("memory: cluster %u, %u ranks, KB: %u free before the job; %s%u left\n",
		cluster, ranks, (unsigned)l->at_start * kb, text,
	    (unsigned)l->now * kb);
}
