/* SPDX-License-Identifier: MIT
 *
 * What each cluster of a rank has in use, a line for each: who compares two runs of it sees what
 * was left behind between them.
 */
#include <stdio.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>

static unsigned
count(int what)
{
	uint64_t n = 0;

	kstats(what, &n);
	return (unsigned)n;
}

int
main(void)
{
	printf("cluster %u: free %u threads %u processes %u mailboxes %u portals %u pieces %u "
		"channels %u kept %u\n", atoll_startup()->cluster, count(STATS_FRAMES_FREE),
		count(STATS_THREADS), count(STATS_PROCS), count(STATS_MAILBOXES),
		count(STATS_PORTALS), count(STATS_PIECE_PAGES), count(STATS_CHANNEL_PAGES),
		count(STATS_KEPT_MESSAGES));
	return 0;
}
