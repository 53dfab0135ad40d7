/* SPDX-License-Identifier: MIT
 *
 * Names of processes that are killed at random times, in several clusters, while they link, look up
 * and unlink the same few names. What a killed one had is gone afterwards: as many names are there
 * as before, none of the few is found, and each can be linked. With `server` the name server is
 * killed, too: who asks waits for its successor, and notices nothing.
 * usage: namedeaths [SEED [server [DEATHS]]]; a child is `namedeaths child SEED`.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <servers/name/client.h>
#include <servers/name/protocol.h>
#include <servers/proc/client.h>
#include "draw.h"
#include "expect.h"

#define SELF_PATH "bin/namedeaths"
#define BIT 4
#define BIT_PROC 5
#define NAMES 6
#define AT_ONCE 3
#define DEATHS 30
#define LIFE_US 3000			/* at most */
#define SIGKILL 9

static struct name_client names;

static const char *
name_of(uint32_t n)
{
	static char name[16];

	snprintf(name, sizeof(name), "mortal%u", n);
	return name;
}

/* --- a child --- */

static int
is_fine(int result)
{
	return result == 0 || result == -E_EXIST || result == -E_ACCES || result == -E_NOENT;
}

static int
child(uint64_t seed)
{
	struct name_place at;
	int result = 0;

	state = seed;
	if (name_open(&names, BIT) != 0)
		return 2;
	while (is_fine(result)) {
		const char *name = name_of(draw(NAMES));

		switch (draw(5)) {
		case 0:
		case 1: result = name_link(&names, name, 8, draw(3) == 0 ? 2 : 0); break;
		case 2: result = name_unlink(&names, name); break;
		case 3: result = name_heartbeat(&names) >= 0 ? 0 : -E_IO; break;
		/* who waits for a name is killed, too */
		default: result = name_lookup(&names, name, draw(8) == 0 ? NAME_WAIT :
			draw(8) == 0 ? NAME_FORWARD : draw(8) == 0 ? NAME_TWO_STEPS : 0, &at);
		}
	}
	printf("FAIL child: %d\n", result);
	fflush(stdout);
	return 3;
}

/* --- their parent --- */

static struct mortal {
	struct channel *ch;		/* of its cluster */
	int pid;
} mortal[AT_ONCE];

static void
begin(struct mortal *m, struct channel *ch)
{
	char seed[32];
	const struct process_spawn what = {.path = SELF_PATH,
		.args = (char *const[]){"namedeaths", "child", seed, NULL}};

	snprintf(seed, sizeof(seed), "%u", draw(1000000));
	m->ch = ch;
	m->pid = process_spawn(ch, &what);
	expect(m->pid > 0, 1, "start a child");
}

static void
end(const struct mortal *m)
{
	struct proc_status status = {0};

	expect(process_kill(m->ch, m->pid, SIGKILL, PROCESS_DEFAULT), 0, "kill");
	expect(process_wait(m->ch, m->pid, 0, &status), m->pid, "wait");
	expect(status.cause, CRASH_KILLED, "it was killed");
}

static void
let_live(void)
{
	uint64_t now;

	kclock(&now);
	kthread_sleep(1u << BIT_PROC, now + 1000ull * draw(LIFE_US));
}

static void
end_server(struct channel *ch)
{
	int lives = process_server(ch, PROCESS_NAME_SERVER, 0), killed;

	expect(lives > 0, 1, "a name server");
	killed = process_server(ch, PROCESS_NAME_SERVER, SIGKILL);
	/* the one that was killed before this one may not have been followed by it until now */
	expect(killed == lives || killed == lives + 1, 1, "kill it");
	/* some are killed before they have come to anything, and some while others begin anew */
	while (draw(2) == 0 && process_server(ch, PROCESS_NAME_SERVER, 0) == killed)
		kthread_yield();
}

/* None of the names is anybody's now, or kept anywhere. */
static void
look_for_rest(int before)
{
	struct name_place at;
	int left;

	do
		left = name_count(&names);
	while (left >= 0 && left != before && kthread_yield() == 0);
	expect(left, before, "names afterwards");
	for (uint32_t n = 0; n < NAMES; n++) {
		expect(name_link(&names, name_of(n), 9, 0), 0, "link what was another one's");
		expect(name_lookup(&names, name_of(n), 0, &at), 0, "find it");
		expect(at.port, 9, "its port");
		expect(at.cluster, atoll_startup()->cluster, "its cluster");
		expect(name_unlink(&names, name_of(n)), 0, "unlink it");
	}
}

int
main(int argc, char **argv)
{
	static struct channel ch[CLUSTERS_MAX];
	struct cluster_info here;
	uint64_t seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	bool is_child = argc > 2 && strcmp(argv[1], "child") == 0;
	int before, deaths = argc > 3 ? atoi(argv[3]) : DEATHS;

	if (is_child)
		return child(strtoul(argv[2], NULL, 10));
	state = seed;
	kcluster_info(&here);
	expect(name_open(&names, BIT), 0, "open the client");
	before = name_count(&names);
	for (uint32_t c = 0; c < here.clusters; c++)
		expect(process_open(&ch[c], (int)c, BIT_PROC), 0, "open a channel");
	for (int i = 0; i < AT_ONCE; i++)
		begin(&mortal[i], &ch[draw(here.clusters)]);
	for (int n = 0; n < deaths && failures == 0; n++) {
		struct mortal *m = &mortal[draw(AT_ONCE)];

		let_live();
		if (argc > 2)
			end_server(&ch[NAME_CLUSTER]);
		end(m);
		begin(m, &ch[draw(here.clusters)]);
	}
	for (int i = 0; i < AT_ONCE; i++)
		end(&mortal[i]);
	look_for_rest(before);
	printf("%s deaths with seed %lu\n", failures ? "FAIL" : "ok", (unsigned long)seed);
	return failures != 0;
}
