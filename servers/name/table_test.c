/* SPDX-License-Identifier: MIT
 *
 * The name table and the answers to sound and malformed requests.
 *
 * needs: servers/name/table.c base/str.c
 */
#include <abi/errors.h>
#include <base/test.h>
#include <servers/name/table.h>

static struct name_table table;

static struct name_reply
ask_as(uint32_t source, uint32_t badge, enum name_op op, const char *name, uint32_t port)
{
	struct name_request q = {.magic = NAME_MAGIC, .op = op, .id = 7, .port = port};
	struct name_reply r;

	strncpy(q.name, name, sizeof(q.name));
	name_serve(&table, &(struct mail_sender){source, badge}, &q, &r);
	expect_eq(r.magic, NAME_MAGIC);
	expect_eq(r.id, 7);
	return r;
}

static struct name_reply
ask(uint32_t source, enum name_op op, const char *name, uint32_t port)
{
	return ask_as(source, BADGE_INIT, op, name, port);
}

static void
reset(void)
{
	memset(&table, 0, sizeof(table));
}

TEST(a_registered_name_is_found_until_it_is_unregistered)
{
	struct name_reply r;

	reset();
	expect_eq(ask(3, NAME_LOOKUP, "proc", 0).error, -E_NOENT);
	expect_eq(ask(3, NAME_REGISTER, "proc", 9).error, 0);
	r = ask(1, NAME_LOOKUP, "proc", 0);
	expect_eq(r.error, 0);
	expect_eq(r.cluster, 3);
	expect_eq(r.port, 9);
	expect_eq(ask(3, NAME_UNREGISTER, "proc", 0).error, 0);
	expect_eq(ask(1, NAME_LOOKUP, "proc", 0).error, -E_NOENT);
	expect_eq(ask(1, NAME_UNREGISTER, "proc", 0).error, -E_NOENT);
}

TEST(a_name_belongs_to_who_registered_it)
{
	reset();
	expect_eq(ask(3, NAME_REGISTER, "a", 9).error, 0);
	expect_eq(ask(3, NAME_REGISTER, "a", 9).error, 0);
	expect_eq(ask(3, NAME_REGISTER, "a", 10).error, -E_EXIST);
	expect_eq(ask(2, NAME_REGISTER, "a", 9).error, -E_EXIST);
	expect_eq(ask(2, NAME_UNREGISTER, "a", 0).error, -E_ACCES);
	expect_eq(ask(2, NAME_LOOKUP, "a", 0).cluster, 3);
	/* another job in the same cluster */
	expect_eq(ask_as(3, BADGE_JOB + 2, NAME_REGISTER, "a", 9).error, -E_EXIST);
	expect_eq(ask_as(3, BADGE_JOB + 2, NAME_UNREGISTER, "a", 0).error, -E_ACCES);
}

TEST(malformed_requests_get_an_error_and_change_nothing)
{
	struct name_request q = {.magic = 1, .op = NAME_REGISTER};
	struct name_reply r;
	char longest[NAME_LENGTH_MAX + 2];

	reset();
	strcpy(q.name, "x");
	name_serve(&table, &(struct mail_sender){0, BADGE_INIT}, &q, &r);
	expect_eq(r.error, -E_INVAL);
	expect_eq(ask(0, NAME_REGISTER, "", 1).error, -E_INVAL);
	expect_eq(ask(0, NAME_COUNT + 1, "x", 1).error, -E_INVAL);
	expect_eq(ask(0, 99, "x", 1).error, -E_INVAL);
	expect_eq(ask(0, 0, "x", 1).error, -E_INVAL);
	expect_eq(ask(0, NAME_REGISTER, "x", PORTS_MAX).error, -E_INVAL);
	memset(longest, 'n', sizeof(longest));
	longest[NAME_LENGTH_MAX + 1] = '\0';
	expect_eq(ask(0, NAME_REGISTER, longest, 1).error, -E_INVAL);
	for (int i = 0; i < NAMES_MAX; i++)
		expect_eq(table.entry[i].name[0], 0);
	longest[NAME_LENGTH_MAX] = '\0';
	expect_eq(ask(0, NAME_REGISTER, longest, 1).error, 0);
}

TEST(a_full_table_says_so_and_serves_on)
{
	char name[16];

	reset();
	for (int i = 0; i < NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		expect_eq(ask(0, NAME_REGISTER, name, 1).error, 0);
	}
	expect_eq(ask(0, NAME_REGISTER, "more", 1).error, -E_NOSPC);
	expect_eq(ask(0, NAME_LOOKUP, "n255", 1).error, 0);
	expect_eq(ask(0, NAME_UNREGISTER, "n17", 1).error, 0);
	expect_eq(ask(0, NAME_REGISTER, "more", 1).error, 0);
}

static struct name_reply
forget(uint32_t source, uint32_t cluster, uint32_t badge)
{
	struct name_request q = {.magic = NAME_MAGIC, .op = NAME_FORGET, .cluster = cluster,
		.badge = badge};
	struct name_reply r;

	name_serve(&table, &(struct mail_sender){source, BADGE_INIT}, &q, &r);
	return r;
}

TEST(only_a_process_server_has_names_forgotten)
{
	struct name_request q = {.magic = NAME_MAGIC, .op = NAME_FORGET, .cluster = 3};
	struct name_reply r;

	reset();
	ask(3, NAME_REGISTER, "x", 8);
	name_serve(&table, &(struct mail_sender){3, BADGE_INIT + 1}, &q, &r);
	expect_eq(r.error, -E_ACCES);
	name_serve(&table, &(struct mail_sender){NAME_CLUSTER, BADGE_INIT + 1}, &q, &r);
	expect_eq(r.error, -E_ACCES);
	expect_eq(r.names, 1);
	expect_eq(forget(3, 3, 0).names, 0);
}

TEST(names_of_a_dead_client_are_forgotten)
{
	reset();
	expect_eq(ask(3, NAME_REGISTER, "server", 7).names, 1);
	expect_eq(ask_as(3, BADGE_JOB + 1, NAME_REGISTER, "first", 8).names, 2);
	expect_eq(ask_as(3, BADGE_JOB + 1, NAME_REGISTER, "last", 11).names, 3);
	expect_eq(ask_as(3, BADGE_JOB + 2, NAME_REGISTER, "next", 12).names, 4);
	expect_eq(ask_as(2, BADGE_JOB + 1, NAME_REGISTER, "other", 8).names, 5);
	expect_eq(forget(2, 3, BADGE_JOB + 1).error, -E_ACCES);
	expect_eq(forget(3, 3, BADGE_JOB + 1).names, 3);
	expect_eq(ask(1, NAME_LOOKUP, "first", 0).error, -E_NOENT);
	expect_eq(ask(1, NAME_LOOKUP, "last", 0).error, -E_NOENT);
	expect_eq(ask(1, NAME_LOOKUP, "server", 0).error + ask(1, NAME_LOOKUP, "next", 0).error +
		ask(1, NAME_LOOKUP, "other", 0).error, 0);
	/* none is left: nothing happens */
	expect_eq(forget(3, 3, BADGE_JOB + 1).names, 3);
	expect_eq(forget(NAME_CLUSTER, 3, 0).names, 1);
	expect_eq(ask(1, NAME_COUNT, "", 0).names, 1);
	expect_eq(ask(1, NAME_COUNT, "", 0).error, 0);
	expect_eq(forget(2, 2, 0).names, 0);
}

static int
registered(void)
{
	int count = 0;

	for (int i = 0; i < NAMES_MAX; i++)
		count += table.entry[i].name[0] != '\0';
	return count;
}

TEST(as_many_names_as_before_are_registered_afterwards)
{
	char name[16];

	reset();
	expect_eq(ask(0, NAME_REGISTER, "stays", 1).error, 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < NAMES_MAX; i++) {
			snprintf(name, sizeof(name), "n%d", i);
			expect_eq(ask(0, NAME_REGISTER, name, 1).error, i < NAMES_MAX - 1 ? 0 :
				-E_NOSPC);
			/* taken, or no room: leaves no trace */
			ask(0, NAME_REGISTER, name, 2);
		}
		expect_eq(registered(), NAMES_MAX);
		for (int i = 0; i < NAMES_MAX - 1; i++) {
			snprintf(name, sizeof(name), "n%d", i);
			expect_eq(ask(0, NAME_UNREGISTER, name, 1).error, 0);
		}
		expect_eq(registered(), 1);
	}
}

int
main(void)
{
	RUN(only_a_process_server_has_names_forgotten);
	RUN(names_of_a_dead_client_are_forgotten);
	RUN(as_many_names_as_before_are_registered_afterwards);
	RUN(a_registered_name_is_found_until_it_is_unregistered);
	RUN(a_name_belongs_to_who_registered_it);
	RUN(malformed_requests_get_an_error_and_change_nothing);
	RUN(a_full_table_says_so_and_serves_on);
	return TEST_FAILED;
}
