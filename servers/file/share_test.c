/* SPDX-License-Identifier: MIT
 *
 * Folders of the host, which says what the test wants it to, right and wrong.
 *
 * needs: servers/file/tree.c servers/file/contents.c servers/file/serve.c servers/file/handles.c
 * needs: servers/file/places.c servers/file/links.c servers/file/status.c
 * needs: servers/file/event.c
 * needs: servers/file/lasting.c servers/file/locks.c servers/file/cores.c base/fmt.c base/parse.c
 * needs: servers/file/offer.c servers/file/bytes.c servers/file/pipe.c servers/file/zio.c
 * servers/file/message.c
 * servers/file/socket.c servers/file/queue.c servers/file/serve_message.c servers/file/token.c
 * needs: servers/file/share*.c -servers/file/shares.c servers/file/ninep.c base/str.c
 */
#include "test_host.h"

TEST(a_file_is_opened_read_and_closed)
{
	uint32_t h;
	struct file_reply r;

	host_begin();
	h = open_file(1, "/s/f", 7, 10, FILE_READABLE);
	put_off(1, (struct file_request){.op = FILE_READ, .handle = h, .offset = FILE_AT_OFFSET,
		.arg = 100, .more = 50}, "", 0);
	ninep_put(&out, 10, 4);
	ninep_put_data(&out, "0123456789", 10);
	answer_first(NINEP_READ);
	expect_eq(again[1], 4);
	r = ask_again(1);
	expect(r.error == 0 && r.count == 10 && r.value == 0 && r.more == 0);
	expect(memcmp(answer.data, "0123456789", 10) == 0);
	r = asked(1, (struct file_request){.op = FILE_SEEK, .handle = h,
		.arg = FILE_FROM_OFFSET}, "", 0);
	expect_eq(r.value, 10);
	expect_eq(asked(1, (struct file_request){.op = FILE_WRITE, .handle = h, .arg = 1}, "x",
		1).error, -E_BADF);
	expect_eq(asked(1, (struct file_request){.op = FILE_CLOSE, .handle = h}, "", 0).error, 0);
	expect_quiet(0);
}

TEST(a_file_that_is_not_there_is_made)
{
	struct file_reply r;

	host_begin();
	put_off_path(FILE_OPEN, "/s/new", FILE_CREATE | FILE_WRITABLE);
	expect_names(1);
	fail_first(NINEP_WALK, E_NOENT);
	ask_again(1);
	expect_names(0);
	ninep_put(&out, 0, 2);
	answer_first(NINEP_WALK);
	ask_again(1);
	put_qid(0, 9);
	ninep_put(&out, 0, 4);
	answer_first(NINEP_CREATE);
	r = ask_again(1);
	expect(r.error == 0 && r.kind == FILE_KIND_FILE && r.value == 0);
	file_forget(&t, 1);
	expect_quiet(0);
	put_off_path(FILE_OPEN, "/s/new", FILE_WRITABLE);
	fail_first(NINEP_WALK, E_NOENT);
	expect_eq(ask_again(1).error, -E_NOENT);
	put_off_path(FILE_OPEN, "/s/new/", FILE_WRITABLE | FILE_CREATE);
	fail_first(NINEP_WALK, E_NOENT);
	expect_eq(ask_again(1).error, -FILE_EISDIR);
	expect_quiet(0);
}

TEST(a_walk_that_ends_early_says_why)
{
	host_begin();
	put_off_path(FILE_STAT, "/s/d/./x/y", 0);
	expect_names(3);
	ninep_put(&out, 1, 2);
	put_qid(NINEP_DIRECTORY, 2);
	answer_first(NINEP_WALK);
	ask_again(1);
	expect_names(1);
	ninep_put(&out, 1, 2);
	put_qid(NINEP_DIRECTORY, 2);
	answer_first(NINEP_WALK);
	ask_again(1);
	expect_names(2);
	fail_first(NINEP_WALK, E_ACCES);
	ask_again(1);
	expect_names(1);
	fail_first(NINEP_WALK, E_ACCES);
	expect_eq(ask_again(1).error, -E_ACCES);
	expect_quiet(0);
	put_off_path(FILE_STAT, "/s/f/x", 0);
	ninep_put(&out, 1, 2);
	put_qid(0, 2);
	answer_first(NINEP_WALK);
	ask_again(1);
	ninep_put(&out, 1, 2);
	put_qid(0, 2);
	answer_first(NINEP_WALK);
	expect_eq(ask_again(1).error, -FILE_ENOTDIR);
	expect_quiet(0);
}

/* A link at /s/l, which is walked and read; then what the request says. */
static struct file_reply
lead(const char *target)
{
	ninep_put(&out, 1, 2);
	put_qid(NINEP_LINK, 3);
	answer_first(NINEP_WALK);
	ask_again(1);
	ninep_put_text(&out, target, str_len(target));
	answer_first(NINEP_READLINK);
	return ask_again(1);
}

TEST(links_are_followed_on_the_machine)
{
	struct file_reply r;
	uint32_t h;

	host_begin();
	h = opened("/inside", FILE_CREATE | FILE_WRITABLE);
	wrote(h, 0, "memory", 6);
	put_off_path(FILE_STAT, "/s/l", 0);
	r = lead("/inside");
	expect(r.error == 0 && r.value == 6 && r.kind == FILE_KIND_FILE);
	answer_clunk();
	put_off_path(FILE_STAT, "/s/l", 0);
	r = lead("../../../inside");
	expect(r.error == 0 && r.value == 6);
	answer_clunk();
	put_off_path(FILE_STAT, "/s/l", FILE_NO_FOLLOW);
	ninep_put(&out, 1, 2);
	put_qid(NINEP_LINK, 3);
	answer_first(NINEP_WALK);
	ask_again(1);
	put_attributes(LINK_MODE, 3, 4);
	answer_first(NINEP_GETATTR);
	expect_eq(ask_again(1).kind, FILE_KIND_SYMLINK);
	answer_clunk();
	put_off_path(FILE_STAT, "/s/l", 0);
	for (int i = 0; i < FILE_LINKS_MAX; i++) {
		expect_eq(lead("l").error, -FILE_LATER);
		answer_clunk();
	}
	expect_eq(lead("l").error, -FILE_ELOOP);
	expect_quiet(0);
	put_off_path(FILE_STAT, "/s/l", 0);
	expect_eq(lead("/r/x").error, -FILE_LATER);
	answer_clunk();
	expect(asked_hosts == 1 && asked_host[0].share == &share[1]);
	fail_first(NINEP_WALK, E_NOENT);
	expect_eq(ask_again(1).error, -E_NOENT);
	expect_quiet(0);
}

TEST(errors_of_the_host_are_those_of_the_machine)
{
	static const uint32_t errors[] = {E_NOSPC, 30, 122, 1, 0, 134, FILE_LATER, UINT32_MAX};
	struct file_request q = {.op = FILE_WRITE, .offset = 0, .arg = 3};

	host_begin();
	q.handle = open_file(1, "/s/f", 7, 10, FILE_WRITABLE);
	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		put_off(1, q, "abc", 3);
		fail_first(NINEP_WRITE, errors[i]);
		expect_eq(ask_again(1).error, i < 4 ? -(int)errors[i] : -E_IO);
	}
	expect_quiet(1);
}

TEST(what_has_no_name_any_more_is_known)
{
	struct file_request q = {.op = FILE_STAT_OPEN};
	struct file_reply r;

	host_begin();
	q.handle = open_file(1, "/s/f", 7, 10, FILE_WRITABLE | FILE_READABLE);
	put_off(1, (struct file_request){.op = FILE_WRITE, .handle = q.handle, .offset = 18,
		.arg = 2}, "zz", 2);
	ninep_put(&out, 2, 4);
	answer_first(NINEP_WRITE);
	expect_eq(ask_again(1).count, 2);
	put_off(1, q, "", 0);
	fail_first(NINEP_GETATTR, E_NOENT);
	r = ask_again(1);
	expect(r.error == 0 && r.value == 20 && r.kind == FILE_KIND_FILE);
	/* another file has its name now */
	put_off(1, q, "", 0);
	put_attributes(FILE_MODE, 8, 999);
	answer_first(NINEP_GETATTR);
	r = ask_again(1);
	expect(r.error == 0 && r.value == 20);
	q.op = FILE_RESIZE;
	put_off(1, q, "", 0);
	put_attributes(FILE_MODE, 8, 999);
	answer_first(NINEP_GETATTR);
	expect_eq(ask_again(1).error, -E_NOENT);
	expect_quiet(1);
}

TEST(who_appends_goes_one_after_the_other)
{
	struct file_request q = {.op = FILE_WRITE, .offset = FILE_AT_OFFSET, .arg = 2};
	struct file_request second = q;
	struct file_reply r;

	host_begin();
	q.handle = open_file(1, "/s/f", 7, 10, FILE_WRITABLE | FILE_APPEND);
	second.handle = open_file(2, "/s/f", 7, 10, FILE_WRITABLE | FILE_APPEND);
	q.more = 100;
	expect_eq(asked(1, q, "aa", 2).error, -FILE_LATER);
	expect_eq(asked(2, second, "bb", 2).error, -FILE_LATER);
	expect_eq(asked_hosts, 1);
	put_attributes(FILE_MODE, 7, 10);
	answer_first(NINEP_GETATTR);
	expect_eq(asked(1, q, "aa", 2).error, -FILE_LATER);
	ninep_put(&out, 2, 4);
	answer_first(NINEP_WRITE);
	expect_eq(asked(1, q, "aa", 2).error, -FILE_LATER);
	answer_first(NINEP_SETATTR);
	r = asked(1, q, "aa", 2);
	expect(r.error == 0 && r.value == 10 && r.count == 2 && r.more == 100);
	again[2] = 0;
	expect_eq(asked(2, second, "bb", 2).error, -FILE_LATER);
	put_attributes(FILE_MODE, 7, 112);
	answer_first(NINEP_GETATTR);
	expect_eq(again[2], 1);
	asked(2, second, "bb", 2);
	ninep_put(&out, 2, 4);
	answer_first(NINEP_WRITE);
	r = asked(2, second, "bb", 2);
	expect(r.error == 0 && r.value == 112);
	expect_quiet(2);
}

TEST(others_go_on_while_the_host_is_slow)
{
	uint32_t client;

	host_begin();
	for (client = 1; client <= SHARE_SLOTS + 2; client++)
		expect_eq(asked(client, (struct file_request){.op = FILE_STAT}, "/s/f", 5).error,
			-FILE_LATER);
	expect_eq(asked_hosts, SHARE_SLOTS);
	expect_eq(asked(20, (struct file_request){.op = FILE_STAT}, "/", 2).error, 0);
	expect_eq(asked(21, (struct file_request){.op = FILE_STAT}, "/r/f", 5).error,
		-FILE_LATER);
	expect_eq(asked_hosts, SHARE_SLOTS + 1);
	/* one that waits is gone, and one that is under way */
	file_forget(&t, SHARE_SLOTS + 1);
	file_forget(&t, 1);
	expect_sound();
	ninep_put(&out, 1, 2);
	put_qid(0, 5);
	answer_first(NINEP_WALK);
	expect_eq(again[SHARE_SLOTS + 2], 1);
	expect_eq(again[1], 0);
	for (client = 2; client <= SHARE_SLOTS; client++) {
		answer_clunk();
		fail_first(NINEP_WALK, E_NOENT);
		expect_eq(asked(client, (struct file_request){.op = FILE_STAT}, "/s/f", 5).error,
			-E_NOENT);
	}
	answer_clunk();
	fail_first(NINEP_WALK, E_NOENT);
	asked(21, (struct file_request){.op = FILE_STAT}, "/r/f", 5);
	expect_eq(asked(SHARE_SLOTS + 2, (struct file_request){.op = FILE_STAT}, "/s/f",
		5).error, -FILE_LATER);
	fail_first(NINEP_WALK, E_NOENT);
	expect_eq(asked(SHARE_SLOTS + 2, (struct file_request){.op = FILE_STAT}, "/s/f",
		5).error, -E_NOENT);
	expect_quiet(0);
}

TEST(names_are_not_moved_between_file_systems)
{
	struct file_request q = {.op = FILE_RENAME};

	host_begin();
	opened("/m", FILE_CREATE);
	expect_eq(asked(1, q, "/m\0/s/m", 8).error, -FILE_EXDEV);
	expect_eq(asked(1, q, "/s/m\0/m", 8).error, -FILE_EXDEV);
	expect_eq(asked(1, q, "/s/m\0/r/m", 10).error, -FILE_EXDEV);
	put_off_path(FILE_REMOVE, "/s", FILE_DIRECTORY);
	ninep_put(&out, 0, 2);
	answer_first(NINEP_WALK);
	expect_eq(ask_again(1).error, -E_BUSY);
	answer_clunk();
	put_off(1, q, "/s/a\0/s/b", 10);
	for (int i = 0; i < 2; i++) {
		ninep_put(&out, 0, 2);
		answer_first(NINEP_WALK);
		ask_again(1);
	}
	answer_first(NINEP_RENAME);
	expect_eq(ask_again(1).error, 0);
	expect_quiet(0);
}

/* --- a host that says what is wrong --- */

/* The answer to the first message: a body of `type`, with these changes to its head. */
static void
answer_badly(int type, int tag, int size, int bytes)
{
	struct share *s = asked_host[0].share;
	uint32_t slot = asked_host[0].slot;
	struct ninep_out m = {.at = s->slot[slot].answer, .room = SHARE_ANSWER};

	memmove(&asked_host[0], &asked_host[1], (asked_hosts - 1) * sizeof(asked_host[0]));
	asked_hosts--;
	ninep_begin(&m, (enum ninep_type)(type + 1), slot + (uint32_t)tag);
	ninep_put_data(&m, body, out.bytes);
	ninep_end(&m);
	m.at[0] = (unsigned char)(m.bytes + (uint32_t)size);
	share_answer(&t, s, slot, m.bytes + (uint32_t)bytes);
	begin_body();
}

TEST(an_answer_that_is_none_is_an_error_of_the_request)
{
	/* type, tag, size that it says, bytes that came: all as differences */
	static const int wrong[][4] = {{2, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, -1},
		{0, 0, -20, -20}, {0, 0, -25, 0}, {-110, 0, 0, 0}};
	struct file_request q = {.op = FILE_STAT};

	host_begin();
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put_off(1, q, "/s/f", 5);
		ninep_put(&out, 1, 2);
		put_qid(0, 7);
		answer_badly(NINEP_WALK + wrong[i][0], wrong[i][1], wrong[i][2], wrong[i][3]);
		expect_eq(ask_again(1).error, -E_IO);
		answer_clunk();
	}
	put_off(1, q, "/s/f", 5);
	ninep_put(&out, 2, 2);		/* more names than were asked for */
	put_qid(0, 7);
	put_qid(0, 7);
	answer_first(NINEP_WALK);
	expect_eq(ask_again(1).error, -E_IO);
	expect_quiet(0);
}

TEST(counts_are_not_more_than_was_asked_for)
{
	struct file_request read = {.op = FILE_READ, .arg = 4};
	struct file_request write = {.op = FILE_WRITE, .arg = 2};

	host_begin();
	read.handle = write.handle = open_file(1, "/s/f", 7, 10, FILE_READABLE | FILE_WRITABLE);
	put_off(1, read, "", 0);
	ninep_put(&out, 5, 4);
	ninep_put_data(&out, "12345", 5);
	answer_first(NINEP_READ);
	expect_eq(ask_again(1).error, -E_IO);
	put_off(1, read, "", 0);
	ninep_put(&out, 4, 4);
	ninep_put_data(&out, "123", 3);
	answer_first(NINEP_READ);
	expect_eq(ask_again(1).error, -E_IO);
	put_off(1, write, "ab", 2);
	ninep_put(&out, 3, 4);
	answer_first(NINEP_WRITE);
	expect_eq(ask_again(1).error, -E_IO);
	expect_quiet(1);
}

/* A directory with one entry that has this name. */
static int
list_name(uint32_t dir, const char *name)
{
	put_off(1, (struct file_request){.op = FILE_LIST, .handle = dir, .arg = 400}, "", 0);
	ninep_put(&out, 24 + str_len(name), 4);
	put_qid(0, 9);
	ninep_put(&out, 1, 8);
	ninep_put(&out, FILE_ENTRY_FILE, 1);
	ninep_put_text(&out, name, str_len(name));
	answer_first(NINEP_READDIR);
	return ask_again(1).error;
}

TEST(names_and_kinds_are_those_of_files)
{
	char name[301];
	uint32_t at = 0, dir;

	host_begin();
	put_off_path(FILE_OPEN, "/s", FILE_READABLE);
	ninep_put(&out, 0, 2);
	answer_first(NINEP_WALK);
	ask_again(1);
	put_attributes(DIRECTORY, 1, 0);
	answer_first(NINEP_GETATTR);
	ask_again(1);
	put_qid(NINEP_DIRECTORY, 1);
	ninep_put(&out, 0, 4);
	answer_first(NINEP_OPEN);
	dir = ask_again(1).handle;
	expect_eq(list_name(dir, "good"), 0);
	expect(str_is_equal(listed(&at)->name, "good"));
	expect_eq(list_name(dir, "a/b"), -E_IO);
	expect_eq(list_name(dir, ""), -E_IO);
	memset(name, 'n', 300);
	name[300] = 0;
	expect_eq(list_name(dir, name), -E_IO);
	name[255] = 0;
	expect_eq(list_name(dir, name), 0);
	/* a pipe of the host's */
	put_off_path(FILE_OPEN, "/s/p", FILE_READABLE);
	ninep_put(&out, 1, 2);
	put_qid(0, 3);
	answer_first(NINEP_WALK);
	ask_again(1);
	put_attributes(0010644, 3, 0);
	answer_first(NINEP_GETATTR);
	expect_eq(ask_again(1).error, -FILE_ENXIO);
	expect_quiet(1);
	file_forget(&t, 1);
	expect_quiet(0);
}

TEST(who_shares_an_offset_reads_behind_the_other)
{
	struct file_request q = {.op = FILE_READ, .offset = FILE_AT_OFFSET, .arg = 2, .more = 5};
	struct file_request other = q;

	host_begin();
	q.handle = open_file(1, "/s/f", 7, 100, FILE_READABLE);
	asked(1, (struct file_request){.op = FILE_OFFER, .arg = 1}, &q.handle, 4);
	asked(2, (struct file_request){.op = FILE_CLAIM, .offset = answer.head.value}, "", 0);
	memcpy(&other.handle, answer.data, 4);
	expect_eq(asked(1, q, "", 0).error, -FILE_LATER);
	expect_eq(asked(2, other, "", 0).error, -FILE_LATER);
	expect_eq(asked_hosts, 1);
	ninep_put(&out, 2, 4);
	ninep_put_data(&out, "ab", 2);
	answer_first(NINEP_READ);
	expect_eq(asked(1, q, "", 0).more, 5);
	expect_eq(asked(2, other, "", 0).error, -FILE_LATER);
	ninep_put(&out, 1, 4);
	ninep_put_data(&out, "h", 1);
	answer_first(NINEP_READ);
	expect_eq(asked(2, other, "", 0).value, 7);
	expect_eq(asked(1, (struct file_request){.op = FILE_SEEK, .handle = q.handle,
		.arg = FILE_FROM_OFFSET}, "", 0).value, 8);
	expect_quiet(1);
}

int
main(void)
{
	RUN(a_file_is_opened_read_and_closed);
	RUN(a_file_that_is_not_there_is_made);
	RUN(a_walk_that_ends_early_says_why);
	RUN(links_are_followed_on_the_machine);
	RUN(errors_of_the_host_are_those_of_the_machine);
	RUN(what_has_no_name_any_more_is_known);
	RUN(who_appends_goes_one_after_the_other);
	RUN(others_go_on_while_the_host_is_slow);
	RUN(names_are_not_moved_between_file_systems);
	RUN(an_answer_that_is_none_is_an_error_of_the_request);
	RUN(counts_are_not_more_than_was_asked_for);
	RUN(names_and_kinds_are_those_of_files);
	RUN(who_shares_an_offset_reads_behind_the_other);
	return TEST_FAILED;
}
