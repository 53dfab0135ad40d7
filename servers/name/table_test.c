/* SPDX-License-Identifier: MIT
 *
 * The table of names: answers to sound and malformed requests; what daemons are told, and when. A
 * random test has a few daemons that keep what they have been told: nobody is told that a name is
 * gone, or may link it anew, before all of them have dropped it.
 *
 * needs: servers/name/table.c base/str.c
 */
#include <abi/errors.h>
#include <base/test.h>
#include <servers/name/table.h>

static struct name_table table;

static struct name_message
ask_with(uint32_t cluster, enum name_op op, const char *name, uint32_t port, uint32_t flags)
{
	struct name_message q = {.op = op, .port = port, .flags = flags}, r;

	strncpy(q.name, name, sizeof(q.name));
	name_serve(&table, cluster, &q, &r);
	expect_eq(r.op, op);
	return r;
}

static int
ask(uint32_t cluster, enum name_op op, const char *name)
{
	return ask_with(cluster, op, name, 9, 0).error;
}

/* What a cluster is told next, or "". */
static const char *
told(uint32_t cluster, uint32_t *op)
{
	static struct name_message m;

	name_tell(&table, cluster, &m);
	*op = m.op;
	return m.name;
}

static void
expect_told(uint32_t cluster, enum name_op op, const char *name)
{
	uint32_t what;

	expect(table.to_tell >> cluster & 1);
	expect(strcmp(told(cluster, &what), name) == 0);
	expect_eq(what, op);
}

static void
expect_quiet(void)
{
	uint32_t what;

	for (uint32_t c = 0; c < 4; c++) {
		told(c, &what);
		expect_eq(what, 0);
		expect_eq(table.to_tell >> c & 1, 0);
	}
}

static int
entries(void)
{
	int used = 0;

	for (int i = 0; i < NAMES_MAX; i++)
		used += table.entry[i].name[0] != 0;
	return used;
}

static void
reset(void)
{
	memset(&table, 0, sizeof(table));
}

TEST(a_linked_name_is_found_until_it_is_unlinked)
{
	struct name_message r;

	reset();
	expect_eq(ask(3, NAME_LOOKUP, "proc"), -E_NOENT);
	expect_eq(ask(3, NAME_LINK, "proc"), 0);
	r = ask_with(3, NAME_LOOKUP, "proc", 0, 0);
	expect(r.error == 0 && r.cluster == 3 && r.port == 9 && r.names == 1);
	expect_eq(ask(3, NAME_UNLINK, "proc"), 0);
	expect_eq(ask(3, NAME_LOOKUP, "proc"), -E_NOENT);
	expect_eq(ask(3, NAME_UNLINK, "proc"), -E_NOENT);
	expect_eq(entries(), 0);
	expect_quiet();
}

TEST(a_name_belongs_to_the_cluster_that_has_linked_it)
{
	reset();
	expect_eq(ask(3, NAME_LINK, "a"), 0);
	expect_eq(ask(2, NAME_LINK, "a"), -E_EXIST);
	expect_eq(ask(3, NAME_LINK, "a"), -E_EXIST);
	expect_eq(ask(2, NAME_UNLINK, "a"), -E_ACCES);
	expect_eq(ask_with(2, NAME_LOOKUP, "a", 0, 0).cluster, 3);
}

TEST(malformed_requests_get_an_error_and_change_nothing)
{
	char longest[NAME_LENGTH_MAX + 2];

	reset();
	expect_eq(ask(0, NAME_LINK, ""), -E_INVAL);
	expect_eq(ask(0, NAME_DROPPED, ""), -E_INVAL);
	for (enum name_op op = NAME_HEARTBEAT; op < NAME_ASKED + 9; op++)
		expect_eq(ask(0, op, "x"), op == NAME_SETTLED ? 0 : -E_INVAL);
	expect_eq(ask(0, 0, "x"), -E_INVAL);
	expect_eq(ask_with(0, NAME_LINK, "x", PORTS_MAX, 0).error, -E_INVAL);
	expect_eq(ask_with(0, NAME_NEXT, "", 0, 0).error, -E_NOENT);
	memset(longest, 'n', sizeof(longest));
	longest[NAME_LENGTH_MAX + 1] = 0;
	for (enum name_op op = NAME_LINK; op <= NAME_UNLINK; op++)
		expect_eq(ask(0, op, longest), -E_INVAL);
	expect_eq(entries(), 0);
	longest[NAME_LENGTH_MAX] = 0;
	expect_eq(ask(0, NAME_LINK, longest), 0);
	expect_quiet();
}

TEST(who_knows_a_name_drops_it_before_anybody_is_told_that_it_is_gone)
{
	reset();
	ask(1, NAME_LINK, "a");
	ask(2, NAME_LOOKUP, "a");
	ask(3, NAME_LOOKUP, "a");
	expect_eq(ask(1, NAME_UNLINK, "a"), -E_AGAIN);
	expect_eq(ask(0, NAME_LOOKUP, "a"), -E_NOENT);
	expect_eq(ask(0, NAME_LINK, "a"), -E_AGAIN);
	expect_told(2, NAME_GONE, "a");
	expect_told(3, NAME_GONE, "a");
	expect_quiet();
	expect_eq(ask(2, NAME_DROPPED, ""), 0);
	expect_eq(ask(2, NAME_DROPPED, ""), -E_INVAL);
	expect_eq(ask(3, NAME_DROPPED, ""), 0);
	expect_told(1, NAME_AGAIN, "a");
	expect_told(0, NAME_AGAIN, "a");
	expect_quiet();
	expect_eq(entries(), 0);
	expect_eq(ask(0, NAME_LINK, "a"), 0);
}

/* Of the dead nobody waits for what is dropped; who links the name does. */
TEST(names_of_the_dead_go_at_once_and_are_linked_again_when_nobody_knows_them)
{
	reset();
	ask(1, NAME_LINK, "a");
	ask(2, NAME_LOOKUP, "a");
	expect_eq(ask_with(1, NAME_UNLINK, "a", 0, NAME_OF_DEAD).error, 0);
	expect_eq(table.names, 0);
	expect_eq(ask(1, NAME_LINK, "a"), -E_AGAIN);
	expect_told(2, NAME_GONE, "a");
	ask(2, NAME_DROPPED, "");
	expect_told(1, NAME_AGAIN, "a");
	expect_eq(ask(1, NAME_LINK, "a"), 0);
}

TEST(who_waits_for_a_name_is_told_when_it_is_linked)
{
	reset();
	expect_eq(ask_with(2, NAME_LOOKUP, "a", 0, NAME_WAIT).error, -E_AGAIN);
	expect_quiet();
	expect_eq(ask(1, NAME_LINK, "a"), 0);
	expect_told(2, NAME_AGAIN, "a");
	expect_eq(ask_with(2, NAME_LOOKUP, "a", 0, NAME_WAIT).error, 0);
	expect_quiet();
}

TEST(a_question_is_forwarded_to_the_owner)
{
	struct name_message m;

	reset();
	ask(1, NAME_LINK, "a");
	expect_eq(ask_with(1, NAME_LOOKUP, "a", 0, NAME_FORWARD).error, 0);
	expect_eq(ask_with(2, NAME_LOOKUP, "a", 0, NAME_FORWARD).error, -E_AGAIN);
	expect_eq(ask_with(3, NAME_LOOKUP, "a", 0, NAME_FORWARD).error, -E_AGAIN);
	expect(name_tell(&table, 1, &m));
	expect(m.op == NAME_ASKED && m.cluster == 2 && strcmp(m.name, "a") == 0);
	/* unlinked before: who asked asks again */
	expect_eq(ask(1, NAME_UNLINK, "a"), 0);
	expect_told(3, NAME_AGAIN, "a");
	expect_quiet();
	expect_eq(entries(), 0);
	expect_eq(ask_with(2, NAME_LOOKUP, "a", 0, NAME_FORWARD).error, -E_NOENT);
}

TEST(the_names_of_a_cluster_go_with_it_and_what_it_knew)
{
	reset();
	ask(1, NAME_LINK, "ones");
	ask(2, NAME_LINK, "twos");
	ask(2, NAME_LOOKUP, "ones");
	ask(1, NAME_LOOKUP, "twos");
	expect_eq(ask(2, NAME_UNLINK, "twos"), -E_AGAIN);
	expect_told(1, NAME_GONE, "twos");
	ask_with(1, NAME_LOOKUP, "never", 0, NAME_WAIT);
	name_forget(&table, 1);
	expect_told(2, NAME_GONE, "ones");
	ask(2, NAME_DROPPED, "");
	expect_told(2, NAME_AGAIN, "twos");
	expect_quiet();
	expect_eq(table.names, 0);
	expect_eq(entries(), 0);
}

TEST(a_full_table_says_so_and_serves_on)
{
	char name[16];

	reset();
	for (int i = 0; i < NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		expect_eq(i % 2 ? ask(0, NAME_LINK, name) :
			ask_with(1, NAME_LOOKUP, name, 0, NAME_WAIT).error, i % 2 ? 0 : -E_AGAIN);
	}
	expect_eq(ask(0, NAME_LINK, "more"), -E_NOSPC);
	expect_eq(ask(0, NAME_LOOKUP, "n255"), 0);
	/* those that are only waited for make room: who waits asks again */
	for (int i = 0; i < NAMES_MAX / 2; i++) {
		uint32_t what;

		told(1, &what);
		expect_eq(what, NAME_AGAIN);
	}
	expect_quiet();
	expect_eq(entries(), NAMES_MAX / 2);
	expect_eq(ask(0, NAME_LINK, "more"), 0);
}

TEST(the_list_has_each_name_once)
{
	struct name_message r = {0};
	int n = 0;

	reset();
	ask(1, NAME_LINK, "a");
	ask(2, NAME_LINK, "b");
	ask_with(2, NAME_LOOKUP, "c", 0, NAME_WAIT);
	do {
		struct name_message q = {.op = NAME_NEXT, .names = r.names};

		name_serve(&table, 3, &q, &r);
		n += r.error == 0 && r.name[0] == (char)('a' + n) && r.cluster == (uint32_t)n + 1;
	} while (r.error == 0);
	expect_eq(n, 2);
	expect_eq(ask_with(1, NAME_COUNT, "", 0, 0).names, 2);
}

/* One asks before it has linked its names anew, one dies before that. */
TEST(one_that_begins_again_waits_for_all)
{
	const struct name_message link = {.op = NAME_LINK, .flags = NAME_ANEW},
		look = {.op = NAME_LOOKUP}, settled = {.op = NAME_SETTLED};

	reset();
	table.awaited = 1 << 1 | 1 << 2;
	expect(name_is_early(&table, 0, &look));
	expect(name_is_early(&table, 0, &settled));
	expect(!name_is_early(&table, 1, &link));
	expect_eq(ask_with(1, NAME_LINK, "a", 4, NAME_ANEW).error, 0);
	expect(name_is_early(&table, 1, &settled));
	expect(name_is_early(&table, 1, &look));
	name_forget(&table, 2);
	expect(!name_is_early(&table, 1, &settled));
	expect(!name_is_early(&table, 0, &look));
	expect_eq(ask_with(1, NAME_SETTLED, "", 0, 0).error, 0);
	expect_eq(ask_with(0, NAME_LOOKUP, "a", 0, 0).port, 4);
}

/* --- daemons that keep what they were told --- */

#define DAEMONS 4
#define KNOWN 3				/* names */

static uint64_t seed;
static uint32_t now;

static struct {
	bool knows[KNOWN];
	bool owes;			/* NAME_DROPPED */
	uint32_t since[KNOWN];		/* when it was told */
	uint32_t leaves[KNOWN];		/* when it has unlinked it, and waits; 0: it does not */
} daemons[DAEMONS];

static int owner[KNOWN];		/* -1: none */

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static bool
is_known(uint32_t n)
{
	for (int d = 0; d < DAEMONS; d++)
		if (daemons[d].knows[n] && d != owner[n])
			return true;
	return false;
}

/* Does one know what it was told before? */
static bool
is_known_since(uint32_t n, uint32_t when)
{
	for (int d = 0; d < DAEMONS; d++)
		if (daemons[d].knows[n] && daemons[d].since[n] < when)
			return true;
	return false;
}

static bool
is_owed(void)
{
	bool owes = false;

	for (int d = 0; d < DAEMONS; d++)
		owes |= daemons[d].owes;
	return owes;
}

static void
ask_something(uint32_t d, uint32_t n)
{
	const char name[2] = {(char)('a' + n), 0};
	struct name_message r;

	switch (draw(3)) {
	case 0:
		r = ask_with(d, NAME_LINK, name, d, 0);
		expect((r.error == -E_EXIST) == (owner[n] >= 0));
		expect(r.error != 0 || !is_known(n));
		expect(r.error != -E_AGAIN || is_known(n) || is_owed());
		if (r.error == 0)
			owner[n] = (int)d;
		break;
	case 1:
		r = ask_with(d, NAME_LOOKUP, name, 0, draw(2) ? NAME_WAIT : 0);
		expect((r.error == 0) == (owner[n] >= 0));
		if (r.error == 0)
			expect(r.cluster == (uint32_t)owner[n] && r.port == r.cluster);
		if (r.error == 0 && !daemons[d].knows[n])
			daemons[d].since[n] = now;
		daemons[d].knows[n] |= r.error == 0;
		break;
	default:
		r = ask_with(d, NAME_UNLINK, name, 0, 0);
		expect(owner[n] == (int)d || r.error == (owner[n] < 0 ? -E_NOENT : -E_ACCES));
		if (owner[n] != (int)d)
			return;
		owner[n] = -1;
		daemons[d].knows[n] = false;
		daemons[d].leaves[n] = r.error == -E_AGAIN ? now : 0;
		expect(r.error == -E_AGAIN || !is_known(n));
	}
}

static void
be_told(uint32_t d)
{
	struct name_message m;
	uint32_t n;

	if (!name_tell(&table, d, &m))
		return;
	n = (uint32_t)(m.name[0] - 'a');
	if (m.op == NAME_GONE) {
		expect(!daemons[d].owes && daemons[d].knows[n]);
		daemons[d].knows[n] = false;
		daemons[d].owes = true;
	} else {
		expect(daemons[d].leaves[n] == 0 || !is_known_since(n, daemons[d].leaves[n]));
		daemons[d].leaves[n] = 0;
	}
}

static void
die(uint32_t d)
{
	for (int n = 0; n < KNOWN; n++)
		if (owner[n] == (int)d)
			owner[n] = -1;
	memset(&daemons[d], 0, sizeof(daemons[d]));
	name_forget(&table, d);
}

static void
settle_all(void)
{
	for (uint32_t round = 0; round < 100; round++)
		for (uint32_t d = 0; d < DAEMONS; d++) {
			be_told(d);
			if (daemons[d].owes)
				expect_eq(ask(d, NAME_DROPPED, ""), 0);
			daemons[d].owes = false;
		}
}

TEST(nobody_knows_what_is_gone)
{
	for (uint64_t s = 1; s <= 400; s++) {
		seed = s;
		reset();
		memset(daemons, 0, sizeof(daemons));
		owner[0] = owner[1] = owner[2] = -1;
		for (int n = 0; n < 300; n++) {
			uint32_t d = draw(DAEMONS), what = draw(20);

			now++;
			if (what < 10)
				ask_something(d, draw(KNOWN));
			else if (what < 15)
				be_told(d);
			else if (what < 19 && daemons[d].owes)
				daemons[d].owes = ask(d, NAME_DROPPED, "") != 0;
			else if (what == 19 && draw(8) == 0)
				die(d);
		}
		for (uint32_t d = 0; d < DAEMONS; d++)
			die(d);
		settle_all();
		expect_eq(entries(), 0);
		expect_quiet();
		if (TEST_FAILED) {
			printf("seed %d\n", (int)s);
			break;
		}
	}
}

int
main(void)
{
	RUN(a_linked_name_is_found_until_it_is_unlinked);
	RUN(a_name_belongs_to_the_cluster_that_has_linked_it);
	RUN(malformed_requests_get_an_error_and_change_nothing);
	RUN(who_knows_a_name_drops_it_before_anybody_is_told_that_it_is_gone);
	RUN(names_of_the_dead_go_at_once_and_are_linked_again_when_nobody_knows_them);
	RUN(who_waits_for_a_name_is_told_when_it_is_linked);
	RUN(a_question_is_forwarded_to_the_owner);
	RUN(the_names_of_a_cluster_go_with_it_and_what_it_knew);
	RUN(a_full_table_says_so_and_serves_on);
	RUN(the_list_has_each_name_once);
	RUN(one_that_begins_again_waits_for_all);
	RUN(nobody_knows_what_is_gone);
	return TEST_FAILED;
}
