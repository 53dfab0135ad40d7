/* SPDX-License-Identifier: MIT
 *
 * One rank in each cluster takes all that it can get of each of its arguments in turn: memory,
 * threads, processes. It gets the error that names what ran out, the name server still answers, and
 * it ends without giving anything back. Run several times on one machine: what each run finds is
 * printed, so that whoever reads can see that it is always the same. No rank asks for names
 * before all have counted: the daemon takes memory for them.
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <servers/name/client.h>
#include "tell.h"

#define AT_ONCE 64			/* pages; one by one when there are no more so many */
#define BIT 4

static struct name_client names;

static long
bite(const char *what, unsigned long page)
{
	uint64_t addr;
	long e;

	if (strcmp(what, "threads") == 0)
		return thread_start(nap, NULL, ANY_CORE, STACK_OF_NAP);
	if (strcmp(what, "processes") == 0)
		return kproc_create();
	e = kmem_alloc(SELF, AT_ONCE * page, PAGE_READ | PAGE_WRITE, &addr);
	return e == -E_NOMEM ? kmem_alloc(SELF, page, PAGE_READ | PAGE_WRITE, &addr) : e;
}

static uint64_t
count(int what)
{
	uint64_t n = 0;

	expect(kstats(what, &n), 0, "kstats");
	return n;
}

static void
eat(const char *what, unsigned long page)
{
	const struct startup *s = atoll_startup();
	uint64_t before = count(STATS_FRAMES_FREE);
	unsigned n = 0;
	long e;

	while ((e = bite(what, page)) >= 0)
		n++;
	/* a process needs memory, too: whichever ends first */
	if (strcmp(what, "memory") == 0 || e != -E_NOMEM)
		expect(e, strcmp(what, "memory") == 0 ? -E_NOMEM : -E_NOSPC, what);
	expect(n > 0, 1, "something was there");
	expect(name_count(&names) >= 0, 1, "the name server answers");
	printf("ate rank %u job %u: %s: %u, %u KB\n", s->rank, s->job, what, n,
	    (unsigned)((before - count(STATS_FRAMES_FREE)) * page / 1024));
}

/* Wait until every rank is here. */
static void
meet(int in)
{
	const struct startup *s = atoll_startup();

	if (s->rank != 0) {
		tell(0);
		hear(in);
		return;
	}
	for (uint32_t r = 1; r < s->ranks; r++)
		hear(in);
	for (uint32_t r = 1; r < s->ranks; r++)
		tell(r);
}

int
main(int argc, char **argv)
{
	const struct startup *s = atoll_startup();
	uint32_t port = s->base_port + s->local_rank;
	struct cluster_info here;
	long in = kmailbox_create((int)port);

	kcluster_info(&here);
	printf("found cluster %u job %u: threads %u processes %u mailboxes %u portals %u\n",
		s->cluster,
	    s->job, (unsigned)count(STATS_THREADS), (unsigned)count(STATS_PROCS),
	    (unsigned)count(STATS_MAILBOXES), (unsigned)count(STATS_PORTALS));
	meet((int)in);
	expect(name_open(&names, BIT), 0, "open the client");
	for (int i = 1; i < argc; i++)
		eat(argv[i], here.page_bytes);
	return verdict();
}
