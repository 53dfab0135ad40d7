/* SPDX-License-Identifier: MIT
 *
 * Descriptions of open files: offsets, appending, modes, places in a directory.
 *
 * needs: servers/file/share*.c -servers/file/shares.c servers/file/ninep.c
 * needs: servers/file/tree.c servers/file/contents.c servers/file/serve.c servers/file/handles.c
 * needs: servers/file/places.c servers/file/links.c servers/file/status.c
 * needs: servers/file/event.c
 * needs: servers/file/lasting.c servers/file/locks.c servers/file/cores.c base/fmt.c base/parse.c
 * servers/file/offer.c servers/file/bytes.c servers/file/pipe.c servers/file/zio.c
 * servers/file/message.c servers/file/socket.c servers/file/queue.c servers/file/serve_message.c
 * servers/file/token.c base/str.c
 */
#include <servers/file/test_ask.h>

#define OFFSET FILE_AT_OFFSET

static struct file_reply
seek(uint32_t handle, int64_t offset, enum file_from from)
{
	return asked(1, (struct file_request){.op = FILE_SEEK, .handle = handle,
		.offset = (uint64_t)offset, .arg = from}, "", 0);
}

static struct file_reply
moved(enum file_op op, uint32_t handle, uint64_t offset, uint32_t bytes, uint32_t more)
{
	static const char text[FILE_DATA_MAX] = "abcdefghijklmnopqrstuvwxyz";
	struct file_request q = {.op = op, .handle = handle, .offset = offset, .arg = bytes,
		.more = more};

	return asked(1, q, text, op == FILE_WRITE ? bytes : 0);
}

TEST(an_offset_moves_on_and_is_set)
{
	uint32_t h, other;

	reset();
	h = opened("f", FILE_CREATE | FILE_WRITABLE);
	other = opened("f", 0);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 6, 0).value, 0);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 2, 0).value, 6);
	expect_eq(moved(FILE_WRITE, h, 1, 1, 0).value, 1);
	expect_eq(seek(h, 0, FILE_FROM_OFFSET).value, 8);
	expect_eq(moved(FILE_READ, other, OFFSET, 3, 0).count, 3);
	expect(memcmp(answer.data, "aac", 3) == 0);
	expect_eq(moved(FILE_READ, other, OFFSET, 9, 0).count, 5);
	expect(memcmp(answer.data, "defab", 5) == 0);
	expect_eq(moved(FILE_READ, other, OFFSET, 9, 0).count, 0);
	expect_eq(seek(other, -3, FILE_FROM_END).value, 5);
	expect_eq(seek(other, -6, FILE_FROM_OFFSET).error, -E_INVAL);
	expect_eq(seek(other, INT64_MAX, FILE_FROM_OFFSET).error, -E_INVAL);
	expect_eq(seek(other, -1, FILE_FROM_START).error, -E_INVAL);
	expect_eq(seek(other, 0, 3).error, -E_INVAL);
	expect_eq(seek(other, 0, FILE_FROM_OFFSET).value, 5);
	expect_eq(seek(other, INT64_MAX, FILE_FROM_START).value, INT64_MAX);
	expect_eq(moved(FILE_READ, other, OFFSET, 9, 0).count, 0);
	seek(h, INT64_MAX, FILE_FROM_START);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 1, 0).error, -FILE_EFBIG);
	expect_eq(moved(FILE_READ, other, (uint64_t)INT64_MAX + 1, 1, 0).error, -E_INVAL);
}

TEST(who_appends_writes_at_the_end)
{
	uint32_t h, other, mode;

	reset();
	h = opened("f", FILE_CREATE | FILE_WRITABLE | FILE_APPEND);
	other = opened("f", FILE_WRITABLE);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 3, 0).value, 0);
	expect_eq(moved(FILE_WRITE, other, 10, 2, 0).value, 10);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 3, 0).value, 12);
	expect_eq(seek(h, 0, FILE_FROM_OFFSET).value, 15);
	expect_eq(moved(FILE_WRITE, h, 2, 1, 0).value, 2);
	mode = FILE_READABLE | FILE_WRITABLE;
	expect_eq(asked(1, (struct file_request){.op = FILE_SET_FLAGS, .handle = h}, "", 0).value,
		mode | FILE_APPEND);
	expect_eq(asked(1, (struct file_request){.op = FILE_SET_FLAGS, .handle = h,
		.arg = FILE_NONBLOCK, .more = FILE_APPEND | FILE_NONBLOCK}, "", 0).value,
		mode | FILE_NONBLOCK);
	expect_eq(asked(1, (struct file_request){.op = FILE_SET_FLAGS, .handle = h,
		.more = FILE_WRITABLE}, "", 0).error, -E_INVAL);
	seek(h, 1, FILE_FROM_START);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 1, 0).value, 1);
}

TEST(bytes_that_follow_have_their_place)
{
	uint32_t h, other;
	struct file_reply r;

	reset();
	h = opened("f", FILE_CREATE | FILE_WRITABLE | FILE_APPEND);
	r = moved(FILE_WRITE, h, OFFSET, FILE_DATA_MAX, 500);
	expect(r.value == 0 && r.count == FILE_DATA_MAX && r.more == 500);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 1, 0).value, FILE_DATA_MAX + 500);
	expect_eq(moved(FILE_WRITE, h, FILE_DATA_MAX, 500, 0).count, 500);
	other = opened("f", 0);
	r = moved(FILE_READ, other, OFFSET, 100, FILE_DATA_MAX);
	expect(r.value == 0 && r.count == 100 && r.more == FILE_DATA_MAX);
	r = moved(FILE_READ, other, OFFSET, 100, 5000);
	expect(r.value == FILE_DATA_MAX + 100 && r.count == 100 && r.more == 301);
	expect_eq(moved(FILE_READ, other, OFFSET, 1, 0).count, 0);
	r = moved(FILE_READ, other, 2000, 100, UINT32_MAX);
	expect(r.value == 2000 && r.count == 100 && r.more == FILE_DATA_MAX + 501 - 2100);
	h = opened("g", FILE_CREATE | FILE_WRITABLE);
	r = moved(FILE_WRITE, h, OFFSET, 10, UINT32_MAX);
	expect(r.count == 10 && r.more == UINT32_MAX);
	expect_eq(seek(h, 0, FILE_FROM_END).value, 10);
	seek(h, FILE_SIZE_MAX - 20, FILE_FROM_START);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 10, 20).error, -E_NOSPC);
	expect_eq(seek(h, 0, FILE_FROM_OFFSET).value, FILE_SIZE_MAX - 20);
}

/* It has no name to be removed by, so it must not be there without a handle. */
TEST(a_file_without_a_name_that_is_not_opened_is_not_there)
{
	uint32_t h;

	reset();
	for (int i = 0; i < 10000; i++)
		expect_eq(ask_path(FILE_OPEN, ".", FILE_NAMELESS | FILE_DIRECTORY |
			FILE_WRITABLE).error, -E_INVAL);
	for (int i = 0; i < 10000; i++) {
		h = opened(".", FILE_NAMELESS | FILE_WRITABLE);
		expect_eq(asked(1, (struct file_request){.op = FILE_CLOSE, .handle = h}, "",
			0).error, 0);
	}
}

TEST(what_a_handle_is_not_open_for_is_refused)
{
	struct file_request q = {.op = FILE_OPEN, .arg = FILE_CREATE | FILE_WRITABLE};
	uint32_t h;

	reset();
	h = asked(1, q, "f", 2).handle;
	expect_eq(moved(FILE_READ, h, OFFSET, 1, 0).error, -E_BADF);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 1, 0).error, 0);
	h = opened("f", 0);
	expect_eq(moved(FILE_WRITE, h, OFFSET, 1, 0).error, -E_BADF);
	h = opened("/", 0);
	expect_eq(moved(FILE_READ, h, OFFSET, 1, 0).error, -FILE_EISDIR);
}

TEST(a_directory_is_read_at_its_offset)
{
	static const char *const names[] = {".", "..", "d", "longer"};
	struct file_request q = {.op = FILE_LIST, .offset = OFFSET};
	const struct file_entry *e;
	struct file_reply r;
	uint32_t at;

	reset();
	ask_path(FILE_MAKE_DIRECTORY, "d", 0);
	ask_path(FILE_MAKE_DIRECTORY, "longer", 0);
	q.handle = opened("/", FILE_DIRECTORY);
	for (int i = 0; i < 4; i++) {
		q.arg = (uint32_t)(FILE_ENTRY_HEAD + str_len(names[i]) + 1 + 7) & ~7u;
		q.arg--;
		expect_eq(asked(1, q, "", 0).error, -E_INVAL);
		q.arg++;
		at = 0;
		r = asked(1, q, "", 0);
		e = listed(&at);
		expect(r.error == 0 && e != NULL && str_is_equal(e->name, names[i]));
		expect(e != NULL && e->next == r.value && listed(&at) == NULL);
		expect_eq(seek(q.handle, 0, FILE_FROM_OFFSET).value, r.value);
	}
	r = asked(1, q, "", 0);
	expect(r.error == 0 && r.count == 0);
	expect_eq(seek(q.handle, 2, FILE_FROM_START).value, 2);
	expect_eq(asked(1, q, "", 0).error, 0);
	at = 0;
	expect(str_is_equal(listed(&at)->name, "d"));
	q.offset = UINT64_MAX - 1;
	r = asked(1, q, "", 0);
	expect(r.error == 0 && r.count == 0);
}

TEST(one_client_takes_its_share_and_all_take_all)
{
	struct file_request q = {.op = FILE_OPEN};
	uint32_t n = 0, client;

	reset();
	opened("f", FILE_CREATE);
	for (client = 1; client < CLIENTS_MAX && n < DESCRIPTIONS_MAX; client++)
		while (asked(client, q, "f", 2).error == 0)
			n++;
	expect_eq(n, DESCRIPTIONS_MAX - 1);
	expect_eq(asked(9, q, "f", 2).error, -FILE_ENFILE);
	expect_eq(asked(1, q, "f", 2).error, -E_MFILE);
	q.arg = FILE_CREATE;
	expect_eq(asked(9, q, "g", 2).error, -FILE_ENFILE);
	expect_eq(ask_path(FILE_STAT, "g", 0).error, -E_NOENT);
	expect_sound();
	file_forget(&t, 1);
	expect_eq(asked(9, q, "f", 2).error, 0);
	expect_sound();
}

/* A later server takes no handle of an earlier one for its own, but passes it on. */
static struct file_space
space_of_path(const char *path)
{
	struct file_space space = {0};

	expect_eq(ask_path(FILE_SPACE, path, 0).error, 0);
	memcpy(&space, answer.data, sizeof(space));
	return space;
}

TEST(what_files_can_have_is_less_by_what_they_have)
{
	struct file_space before, then, open;
	uint32_t handle;

	reset();
	handle = ask_path(FILE_OPEN, "f", FILE_CREATE | FILE_READABLE | FILE_WRITABLE).handle;
	before = space_of_path("f");
	expect(before.type == FILE_SPACE_MEMORY && before.block_bytes == BLOCK_BYTES);
	expect(before.blocks == BLOCKS && before.free <= BLOCKS);
	expect_eq(asked(1, (struct file_request){.op = FILE_WRITE, .handle = handle, .arg = 1,
		.offset = 3 * BLOCK_BYTES}, "x", 1).error, 0);
	then = space_of_path("/");
	expect_eq(before.available - then.available, 4);
	expect_eq(before.free_files, then.free_files);
	expect_eq(asked(1, (struct file_request){.op = FILE_SPACE_OPEN, .handle = handle}, "",
		0).error, 0);
	memcpy(&open, answer.data, sizeof(open));
	expect(memcmp(&open, &then, sizeof(open)) == 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_CLOSE, .handle = handle}, "", 0).error,
		0);
	ask_path(FILE_REMOVE, "f", 0);
	then = space_of_path("/");
	expect_eq(before.available, then.available);
	expect_eq(before.free_files + 1, then.free_files);
	expect_eq(ask_path(FILE_SPACE, "nothing", 0).error, -E_NOENT);
	expect_eq(asked(1, (struct file_request){.op = FILE_PIPE}, "", 0).error, 0);
	memcpy(&handle, answer.data, sizeof(handle));
	expect_eq(asked(1, (struct file_request){.op = FILE_SPACE_OPEN, .handle = handle}, "",
		0).error, 0);
	memcpy(&open, answer.data, sizeof(open));
	expect(open.type == FILE_SPACE_PIPES && open.blocks == 0);
}

TEST(what_was_open_at_a_server_before_is_lost)
{
	struct file_claimed got;
	uint32_t old, h;
	uint64_t token;

	reset();
	old = opened("f", FILE_CREATE | FILE_WRITABLE);
	t.life++;
	expect_eq(seek(old, 0, FILE_FROM_OFFSET).error, -E_IO);
	expect_eq(seek(FILE_HANDLE_LOST, 0, FILE_FROM_OFFSET).error, -E_IO);
	h = opened("f", 0);
	expect(h != old);
	expect_eq(seek(h + 1, 0, FILE_FROM_OFFSET).error, -E_BADF);
	token = asked(1, (struct file_request){.op = FILE_OFFER, .arg = 1}, &old,
		sizeof(old)).value;
	expect_eq(asked(2, (struct file_request){.op = FILE_CLAIM, .offset = token}, "", 0).count,
		1);
	memcpy(&got, answer.data, sizeof(got));
	expect_eq(asked(2, (struct file_request){.op = FILE_SEEK, .handle = got.handle}, "",
		0).error, -E_IO);
	expect_eq(asked(2, (struct file_request){.op = FILE_CLOSE, .handle = got.handle}, "",
		0).error, 0);
	expect_eq(t.description[DESCRIPTION_LOST].handles, 1);
}

TEST(devices_end_nowhere)
{
	static const char *const path[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random"};
	static const char zeros[FILE_DATA_MAX];
	struct file_status status;
	char before[16] = "";
	uint32_t h[4];

	reset();
	ask_path(FILE_MAKE_DIRECTORY, "/dev", 0);
	devices_make(&t);
	for (int i = 0; i < 4; i++) {
		h[i] = opened(path[i], FILE_WRITABLE | FILE_APPEND | FILE_EMPTY);
		expect_eq(moved(FILE_WRITE, h[i], OFFSET, 10, 20).error, i == 2 ? -E_NOSPC : 0);
		expect(i == 2 || (answer.head.count == 10 && answer.head.more == 20));
		expect_eq(moved(FILE_READ, h[i], OFFSET, FILE_DATA_MAX, 70).count,
			i > 0 ? FILE_DATA_MAX : 0);
		expect_eq(answer.head.more, i > 0 ? 70 : 0);
		if (i == 1 || i == 2)
			expect(memcmp(answer.data, zeros, FILE_DATA_MAX) == 0);
		expect_eq(asked(1, (struct file_request){.op = FILE_RESIZE, .handle = h[i]}, "",
			0).error, -E_INVAL);
		expect_eq(ask_path(FILE_STAT, path[i], 0).value, 0);
		memcpy(&status, answer.data, sizeof(status));
		expect_eq(status.mode, MODE_DEVICE | 0666);
	}
	for (int i = 0; i < 10; i++) {
		expect_eq(moved(FILE_READ, h[3], OFFSET, 16, 0).count, 16);
		expect(memcmp(answer.data, before, 16) != 0);
		memcpy(before, answer.data, 16);
	}
	expect_eq(moved(FILE_READ, opened("/dev/urandom", 0), OFFSET, 16, 0).count, 16);
	expect_sound();
}

int
main(void)
{
	RUN(devices_end_nowhere);
	RUN(an_offset_moves_on_and_is_set);
	RUN(who_appends_writes_at_the_end);
	RUN(bytes_that_follow_have_their_place);
	RUN(a_file_without_a_name_that_is_not_opened_is_not_there);
	RUN(what_a_handle_is_not_open_for_is_refused);
	RUN(a_directory_is_read_at_its_offset);
	RUN(one_client_takes_its_share_and_all_take_all);
	RUN(what_files_can_have_is_less_by_what_they_have);
	RUN(what_was_open_at_a_server_before_is_lost);
	return TEST_FAILED;
}
