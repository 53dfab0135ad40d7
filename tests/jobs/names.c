/* SPDX-License-Identifier: MIT
 *
 * Names (servers/name/client.h): every rank links itself and finds all others, in each of the ways
 * that there are. A name goes from rank to rank: who looks it up when it has been unlinked never
 * finds who had it before. Rank 0 also asks for what makes no sense. At the end the others go
 * without a word, and rank 0 sees that only the names of its own process are left.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/service.h>
#include <atoll/startup.h>
#include <servers/name/client.h>
#include <servers/name/protocol.h>
#include <servers/proc/client.h>
#include "expect.h"

#define BIT 4
#define ROUNDS 12
#define MS 1000000u
#define PERIOD_NS (40 * MS)

static struct name_client names;
static const struct startup *self;

static const struct placement *
place_of(uint32_t rank)
{
	return (const struct placement *)(uintptr_t)self->placement + rank;
}

static uint32_t
port_of(uint32_t rank)
{
	return self->base_port + place_of(rank)->local_rank;
}

static void
expect_place(const struct name_place *have, uint32_t rank, const char *what)
{
	expect(have->cluster, place_of(rank)->cluster, what);
	expect(have->port, port_of(rank), what);
}

static const char *
numbered(const char *prefix, uint32_t n)
{
	static char name[NAME_LENGTH_MAX + 1];

	snprintf(name, sizeof(name), "%s%u", prefix, n);
	return name;
}

static void
add(const char *prefix, uint32_t n)
{
	expect(name_link(&names, numbered(prefix, n), port_of(self->rank), 0), 0, "link");
}

static void
find(const char *prefix, uint32_t n, uint32_t rank, uint32_t flags)
{
	struct name_place at = {0};

	expect(name_lookup(&names, numbered(prefix, n), flags, &at), 0, "look up");
	expect_place(&at, rank, numbered(prefix, n));
}

/* --- what makes no sense --- */

static void
try_bytes(uint32_t op, int byte)
{
	struct process_request q = {.op = PROCESS_NAME};
	struct name_message m;
	const struct service_part request[2] = {{&q, sizeof(q)}, {&m, sizeof(m)}};
	const struct service_part answer[2] = {{&m, sizeof(m)}, {NULL, 0}};

	memset(&m, byte, sizeof(m));
	m.op = op;
	expect(service_call(&names.ch, request, answer) >= 0, 1, "ask nonsense");
	expect(m.error, -E_INVAL, "the answer to nonsense");
}

static void
try_nonsense(void)
{
	char longest[NAME_LENGTH_MAX + 2];
	struct name_place at;

	for (uint32_t op = NAME_LINK; op <= NAME_UNLINK; op++) {
		try_bytes(op, 'x');
		try_bytes(op, 0);
	}
	try_bytes(0, 1);
	try_bytes(NAME_ASKED + 1, 1);
	try_bytes(NAME_DROPPED, 0);
	try_bytes(NAME_GONE, 0);
	memset(longest, 'n', sizeof(longest));
	longest[NAME_LENGTH_MAX + 1] = 0;
	expect(name_link(&names, longest, 8, 0), -E_INVAL, "link a name that is too long");
	expect(name_link(&names, "", 8, 0), -E_INVAL, "link an empty name");
	expect(name_link(&names, "far", 4000, 0), -E_INVAL, "a port that does not exist");
	expect(name_lookup(&names, "nobody", 0, &at), -E_NOENT, "an unknown name");
	expect(name_lookup(&names, "", 0, &at), -E_INVAL, "an empty name");
	expect(name_unlink(&names, "nobody"), -E_NOENT, "unlink an unknown name");
	longest[NAME_LENGTH_MAX] = 0;
	expect(name_link(&names, longest, 8, 0), 0, "link the longest name");
	expect(name_lookup(&names, longest, 0, &at), 0, "find the longest name");
	expect(name_unlink(&names, longest), 0, "unlink the longest name");
}

/* As many as the cluster's daemon has room for; then as before. */
static void
fill(void)
{
	int before = name_count(&names), result = 0;
	uint32_t n = 0;

	while (result == 0)
		result = name_link(&names, numbered("full", n++), 8, 0);
	expect(result, -E_NOSPC, "too many names");
	expect(n > 30, 1, "many names fit");
	for (uint32_t i = 0; i + 1 < n; i++)
		expect(name_unlink(&names, numbered("full", i)), 0, "unlink one of many");
	expect(name_count(&names), before, "names afterwards");
}

/* --- finding each other --- */

static void
find_all(void)
{
	struct name_place at;
	uint32_t known = 0;

	for (uint32_t r = 0; r < self->ranks; r++) {
		find("rank", r, r, NAME_WAIT);
		/* what others have been told since may have taken its place in the table */
		if (name_is_known(&names, numbered("rank", r), &at)) {
			known++;
			expect_place(&at, r, "what is known");
		}
		find("rank", r, r, NAME_FRESH);
		find("rank", r, r, NAME_TWO_STEPS);
		find("rank", r, r, NAME_FORWARD);
	}
	expect(known > 0, 1, "some are known");
	expect(name_lookup(&names, "nobody", NAME_TWO_STEPS, &at), -E_NOENT, "two steps to nobody");
	expect(name_lookup(&names, "nobody", NAME_FORWARD, &at), -E_NOENT, "forwarded to nobody");
}

/* A name of another process; of the own one each rank may do as it likes. */
static void
try_others_name(void)
{
	uint32_t other = 0;

	while (other < self->ranks && place_of(other)->cluster == self->cluster)
		other++;
	expect(name_link(&names, numbered("rank", self->rank), port_of(self->rank) + 1, 0),
		-E_EXIST, "another port");
	expect(name_link(&names, numbered("rank", self->rank), port_of(self->rank), 0), 0,
		"the same again");
	if (other == self->ranks)
		return;
	expect(name_link(&names, numbered("rank", other), port_of(self->rank), 0), -E_EXIST,
		"link another one's name");
	expect(name_unlink(&names, numbered("rank", other)), -E_ACCES, "unlink another one's name");
}

/* In round n the name is that of one rank, which unlinks it when all have found it. */
static void
pass_on(uint32_t n)
{
	uint32_t owner = n % self->ranks;
	char seen[32];

	if (n > 0)
		find("gone", n - 1, (n - 1) % self->ranks, NAME_WAIT);
	if (self->rank == owner)
		expect(name_link(&names, "moving0", port_of(owner), 0), 0, "link what moves");
	find("moving", 0, owner, NAME_WAIT);
	snprintf(seen, sizeof(seen), "seen%u.", n);
	add(seen, self->rank);
	if (self->rank == owner) {
		for (uint32_t r = 0; r < self->ranks; r++)
			find(seen, r, r, NAME_WAIT);
		expect(name_unlink(&names, "moving0"), 0, "unlink what moves");
		add("gone", n);
	}
	find("gone", n, owner, NAME_WAIT);
	expect(name_unlink(&names, numbered(seen, self->rank)), 0, "unlink what was seen");
}

static uint64_t
time_now(void)
{
	uint64_t now = 0;

	kclock(&now);
	return now;
}

/*
 * A heartbeat, which began at *last the time before: if that is not longer ago than the period, the
 * name has to be there.
 */
static void
beat_once(uint64_t *last)
{
	uint64_t begin = time_now();
	bool lives = name_heartbeat(&names) > 0;
	struct name_place at;
	int result = name_lookup(&names, numbered("beats", self->rank), 0, &at);

	if (time_now() - *last < PERIOD_NS) {
		expect(lives, 1, "a heartbeat");
		expect(result, 0, "it lives");
	} else if (result != 0) {
		name_link(&names, numbered("beats", self->rank), 8, PERIOD_NS / MS);
	}
	*last = begin;
}

/* Who beats has its name for longer than its period, and for no longer when it stops. */
static void
beat(void)
{
	uint64_t begin = time_now(), last = begin;
	struct name_place at;

	expect(name_link(&names, numbered("beats", self->rank), 8, PERIOD_NS / MS), 0, "link");
	while (time_now() - begin < 2 * PERIOD_NS) {
		beat_once(&last);
		kthread_sleep(1u << BIT, time_now() + PERIOD_NS / 8);
	}
	while (name_lookup(&names, numbered("beats", self->rank), 0, &at) == 0)
		kthread_yield();
	expect(name_heartbeat(&names), 0, "nothing has a period any more");
}

/* --- the end --- */

static void
list(int count)
{
	char name[NAME_LENGTH_MAX + 1];
	struct name_place at;
	uint32_t next = 0;
	int n = 0;

	while (name_next(&names, &next, name, &at) == 0)
		n += strncmp(name, "rank", 4) == 0 && at.cluster == self->cluster;
	expect(n, count, "names of this cluster in the list");
}

/* When the others are gone, only the names of this process are left. */
static void
see_them_off(void)
{
	uint32_t here = 0, gone = 0;
	int left;

	for (uint32_t r = 0; r < self->ranks; r++)
		here += place_of(r)->cluster == self->cluster;
	for (uint32_t n = 0; n < ROUNDS; n++)
		gone += place_of(n % self->ranks)->cluster == self->cluster;
	for (uint32_t r = 1; r < self->ranks; r++)
		find("done", r, r, NAME_WAIT);
	add("home", 0);
	do
		left = name_count(&names);
	while (left >= 0 && (uint32_t)left != 2 * here + gone + 1 && kthread_yield() == 0);
	expect(left > 0, 1, "count");
	list((int)here);
}

int
main(void)
{
	self = atoll_startup();
	expect(name_open(&names, BIT), 0, "open the client");
	if (self->rank == 0) {
		try_nonsense();
		fill();
		add("start", 0);
	}
	find("start", 0, 0, NAME_WAIT);
	add("rank", self->rank);
	find_all();
	try_others_name();
	for (uint32_t n = 0; n < ROUNDS; n++)
		pass_on(n);
	if (self->local_rank == 0)
		beat();
	if (self->rank == 0) {
		see_them_off();
	} else {
		add("done", self->rank);
		find("home", 0, 0, NAME_WAIT);
	}
	name_close(&names);
	return verdict();
}
