/* SPDX-License-Identifier: MIT
 *
 * Symbolic links in memory: what they lead to, who is meant by the last name of a path, circles,
 * paths that become too long, memory that ends, and links between memory and shares.
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
#include <servers/file/test_host.h>

static int
two(enum file_op op, const char *path, const char *to, uint32_t how)
{
	char both[2 * FILE_PATH_MAX] = {0};
	size_t first = str_len(path) + 1;

	str_copy(both, sizeof(both), path);
	str_copy(both + first, sizeof(both) - first, to);
	return asked(1, (struct file_request){.op = op, .arg = how}, both,
		first + str_len(to) + 1).error;
}

static int
linked(const char *path, const char *to)
{
	return two(FILE_SYMLINK, path, to, 0);
}

static void
expect_link(const char *path, const char *to)
{
	struct file_reply r = ask_path(FILE_READ_LINK, path, 0);

	expect_eq(r.error, 0);
	expect_eq(r.count, str_len(to));
	expect(memcmp(answer.data, to, r.count) == 0);
}

static void
close_one(uint32_t handle)
{
	expect_eq(asked(1, (struct file_request){.op = FILE_CLOSE, .handle = handle}, "", 0).error,
		0);
}

static void
put_text(const char *path, const char *text)
{
	uint32_t h = opened(path, FILE_CREATE | FILE_WRITABLE);

	expect_eq(wrote(h, 0, text, str_len(text)), (long)str_len(text));
	close_one(h);
}

static void
expect_file(const char *path, const char *text)
{
	uint32_t h = opened(path, 0);

	expect_text(h, 0, text, str_len(text));
	close_one(h);
}

static void
begin(void)
{
	reset();
	ask_path(FILE_MAKE_DIRECTORY, "/d", 0);
	ask_path(FILE_MAKE_DIRECTORY, "/d/in", 0);
	put_text("/d/f", "in d");
	expect_eq(linked("/d/l", "f"), 0);
	expect_eq(linked("/d/in/up", ".."), 0);
	expect_eq(linked("/abs", "//d/in/"), 0);
	expect_eq(linked("/none", "d/none"), 0);
}

TEST(a_path_leads_on_where_its_links_lead)
{
	struct file_reply r;
	struct file_status status;

	begin();
	expect_file("/d/l", "in d");
	expect_file("d/in/up/l", "in d");
	expect_file("/abs/up/l", "in d");
	expect_file("/abs/../f", "in d");
	expect_file("//abs/up/in/up/./l", "in d");
	r = ask_path(FILE_STAT, "/d/l", FILE_NO_FOLLOW);
	memcpy(&status, answer.data, sizeof(status));
	expect(r.kind == FILE_KIND_SYMLINK && r.value == 1 && status.mode == (MODE_LINK | 0777));
	expect_eq(ask_path(FILE_STAT, "/d/l", 0).kind, FILE_KIND_FILE);
	expect_eq(ask_path(FILE_STAT, "/abs/", FILE_NO_FOLLOW).kind, FILE_KIND_DIRECTORY);
	expect_eq(ask_path(FILE_STAT, "/none", 0).error, -E_NOENT);
	expect_eq(ask_path(FILE_STAT, "/d/l/", 0).error, -FILE_ENOTDIR);
	expect_eq(ask_path(FILE_STAT, "/d/l/x", 0).error, -FILE_ENOTDIR);
	expect_link("/d/l", "f");
	expect_link("/abs", "//d/in/");
	expect_link("/abs/up", "..");
	expect_eq(ask_path(FILE_READ_LINK, "/d/f", 0).error, -E_INVAL);
	expect_eq(ask_path(FILE_READ_LINK, "/abs/", 0).error, -E_INVAL);
	expect_eq(ask_path(FILE_READ_LINK, "/d/l/", 0).error, -FILE_ENOTDIR);
	expect_sound();
}

TEST(the_last_name_is_followed_where_linux_follows_it)
{
	uint32_t h;

	begin();
	expect_eq(ask_path(FILE_OPEN, "/d/l", FILE_READABLE | FILE_NO_FOLLOW).error, -FILE_ELOOP);
	expect_eq(ask_path(FILE_OPEN, "/abs", FILE_READABLE | FILE_NO_FOLLOW |
		FILE_DIRECTORY).error, -FILE_ENOTDIR);
	expect_eq(ask_path(FILE_OPEN, "/none", FILE_READABLE | FILE_CREATE | FILE_EXCLUSIVE).error,
		-E_EXIST);
	expect_eq(ask_path(FILE_MAKE_DIRECTORY, "/none", 0).error, -E_EXIST);
	expect_eq(ask_path(FILE_MAKE_DIRECTORY, "/none/", 0).error, -E_EXIST);
	expect_eq(ask_path(FILE_MAKE_PIPE, "/none", 0).error, -E_EXIST);
	expect_eq(linked("/none", "x"), -E_EXIST);
	put_text("/none", "new");
	expect_file("/d/none", "new");
	expect_eq(ask_path(FILE_REMOVE, "/abs/", 0).error, -FILE_ENOTDIR);
	expect_eq(ask_path(FILE_REMOVE, "/abs", FILE_DIRECTORY).error, -FILE_ENOTDIR);
	expect_eq(ask_path(FILE_REMOVE, "/abs/", FILE_DIRECTORY).error, -FILE_ENOTDIR);
	expect_eq(two(FILE_RENAME, "/abs/", "/x", 0), -FILE_ENOTDIR);
	expect_eq(two(FILE_RENAME, "/d", "/abs", 0), -FILE_ENOTDIR);
	expect_eq(two(FILE_RENAME, "/d", "/abs/up/x", 0), -E_INVAL);
	expect_eq(two(FILE_RENAME, "/abs", "/abs/up/up", 0), 0);
	expect_link("/d/up", "//d/in/");
	expect_eq(two(FILE_RENAME, "/d/up", "/d/f", 0), 0);
	expect_link("/d/f", "//d/in/");
	expect_eq(two(FILE_LINK, "/d/l", "/second", FILE_NO_FOLLOW), 0);
	expect_link("/second", "f");
	expect_eq(two(FILE_LINK, "/none", "/third", 0), 0);
	expect_eq(ask_path(FILE_STAT, "/third", FILE_NO_FOLLOW).kind, FILE_KIND_FILE);
	expect_eq(ask_path(FILE_REMOVE, "/d/l", 0).error, 0);
	expect_link("/second", "f");
	/* a link itself, for its time; it has no mode, and nothing can be read or mapped */
	h = ask_path(FILE_OPEN, "/second", FILE_NO_FOLLOW).handle;
	expect_eq(asked(1, (struct file_request){.op = FILE_SET_TIME, .handle = h}, "", 0).error,
		0);
	expect_eq(asked(1, (struct file_request){.op = FILE_SET_MODE, .handle = h}, "", 0).error,
		-FILE_EOPNOTSUPP);
	expect_eq(wrote(h, 0, "x", 1), -E_BADF);
	expect_eq(asked(1, (struct file_request){.op = FILE_SHARE, .handle = h}, "", 0).error,
		-FILE_ENODEV);
	expect_eq(ask_path(FILE_OPEN, "/second", FILE_NO_FOLLOW | FILE_EMPTY).error, -FILE_ELOOP);
	expect_eq(ask_path(FILE_REMOVE, "/second", 0).error, 0);
	expect_sound();
	close_one(h);
	expect_sound();
}

TEST(circles_and_long_paths_end)
{
	char path[FILE_PATH_MAX];

	begin();
	expect_eq(linked("/self", "self"), 0);
	expect_eq(linked("/a", "b"), 0);
	expect_eq(linked("/b", "/a"), 0);
	expect_eq(ask_path(FILE_STAT, "/self", 0).error, -FILE_ELOOP);
	expect_eq(ask_path(FILE_OPEN, "/a/x", FILE_CREATE | FILE_WRITABLE).error, -FILE_ELOOP);
	expect_eq(two(FILE_RENAME, "/d/f", "/a/x", 0), -FILE_ELOOP);
	expect_eq(ask_path(FILE_STAT, "/self", FILE_NO_FOLLOW).error, 0);
	expect_sound();
	/* what a link says has no room in the path */
	begin();
	memset(path, 'x', sizeof(path));
	for (size_t i = 0; i < sizeof(path); i += 50)
		path[i] = '/';
	path[600] = 0;
	expect_eq(linked("/long", path), 0);
	expect_link("/long", path);
	expect_eq(ask_path(FILE_STAT, "/long", 0).error, -E_NOENT);
	expect_eq(ask_path(FILE_STAT, "/long/0123456789012345678901234567890123456789", 0).error,
		-FILE_ENAMETOOLONG);
	expect_eq(two(FILE_RENAME, "/long/0123456789012345678", "/d/x0123456789012345678", 0),
		-FILE_ENAMETOOLONG);
	memset(path, 'x', sizeof(path));
	path[FILE_PATH_MAX - 1] = 0;
	expect_eq(linked("/s", path), -FILE_ENAMETOOLONG);
	expect_eq(linked("/s", ""), -E_NOENT);
	expect_sound();
}

TEST(as_many_links_as_linux_follows)
{
	begin();
	expect_eq(linked("/d/self", "."), 0);
	for (int i = FILE_LINKS_MAX; i <= FILE_LINKS_MAX + 1; i++) {
		char path[FILE_PATH_MAX] = "/d";

		for (int j = 0; j < i; j++)
			str_copy(path + 2 + 5 * j, sizeof(path) - 2 - 5 * (size_t)j, "/self");
		expect_eq(ask_path(FILE_STAT, path, 0).error, i > FILE_LINKS_MAX ? -FILE_ELOOP : 0);
	}
	expect_sound();
}

TEST(links_need_memory_and_leave_none_behind)
{
	int before;

	begin();
	while (block_take(&t) != NULL)
		;
	expect_eq(linked("/d/more", "x"), -E_NOSPC);
	expect_eq(ask_path(FILE_STAT, "/d/more", FILE_NO_FOLLOW).error, -E_NOENT);
	begin();
	before = free_blocks();
	for (int i = 0; i < 100; i++) {
		expect_eq(linked("/d/more", "x"), 0);
		expect_eq(linked("/d/more", "y"), -E_EXIST);
		expect_eq(linked("/d/none/more", "y"), -E_NOENT);
		expect_eq(ask_path(FILE_REMOVE, "/d/more", 0).error, 0);
	}
	expect_eq(free_blocks(), before);
	expect_sound();
}

/* What a share is asked for begins with the share's part of the path. */
TEST(links_lead_into_shares_and_out_of_them)
{
	struct file_reply r;

	host_begin();
	put_text("/inside", "memory");
	expect_eq(linked("/to", "/s/deep"), 0);
	expect_eq(linked("/back", "/s/l"), 0);
	put_off_path(FILE_STAT, "/to/er", 0);
	expect_names(2);
	fail_first(NINEP_WALK, E_NOENT);
	ask_again(1);
	fail_first(NINEP_WALK, E_NOENT);
	expect_eq(ask_again(1).error, -E_NOENT);
	/* a circle through both: memory says /s/l, that says /back */
	put_off_path(FILE_STAT, "/back", 0);
	for (int i = 0; i < 2 * FILE_LINKS_MAX && asked_hosts > 0; i++) {
		ninep_put(&out, 1, 2);
		put_qid(NINEP_LINK, 3);
		answer_first(NINEP_WALK);
		expect_eq(ask_again(1).error, -FILE_LATER);
		ninep_put_text(&out, "/back", 5);
		answer_first(NINEP_READLINK);
		r = ask_again(1);
		answer_clunk();
		if (r.error != -FILE_LATER)
			break;
	}
	expect_eq(r.error, -FILE_ELOOP);
	expect_quiet(0);
	/* a new link's text comes along; two that lie apart only seemingly do not */
	put_off(1, (struct file_request){.op = FILE_SYMLINK}, "/s/l/new\0what", 14);
	ninep_put(&out, 1, 2);
	put_qid(NINEP_LINK, 3);
	answer_first(NINEP_WALK);
	expect_eq(ask_again(1).error, -FILE_LATER);
	ninep_put_text(&out, "/", 1);
	answer_first(NINEP_READLINK);
	expect_eq(ask_again(1).error, 0);
	answer_clunk();
	expect_link("/new", "what");
	expect_eq(two(FILE_RENAME, "/inside", "/to/x", 0), -FILE_EXDEV);
	put_off(1, (struct file_request){.op = FILE_RENAME}, "/to/x\0/s/y", 11);
	expect_names(1);
	fail_first(NINEP_WALK, E_NOENT);
	expect_eq(ask_again(1).error, -E_NOENT);
	expect_quiet(0);
}

/* A socket has its name where the path leads. */
TEST(names_of_sockets_lie_behind_links)
{
	struct file_address a = {.name = {.bytes = 4, .at = "name"}, .path = "/abs/up/socket"};
	struct file_claimed end[2];

	begin();
	for (int i = 0; i < 2; i++) {
		expect_eq(asked(1, (struct file_request){.op = FILE_SOCKET,
			.arg = FILE_DATAGRAM}, "", 0).error, 0);
		memcpy(&end[i], answer.data, sizeof(end[i]));
	}
	expect_eq(asked(1, (struct file_request){.op = FILE_BIND, .handle = end[0].handle,
		.more = 0700}, &a, sizeof(a)).error, 0);
	expect_eq(ask_path(FILE_STAT, "/d/socket", 0).kind, FILE_KIND_SOCKET);
	expect_eq(linked("/other", "d/socket"), 0);
	str_copy(a.path, sizeof(a.path), "/other");
	expect_eq(asked(1, (struct file_request){.op = FILE_CONNECT, .handle = end[1].handle},
		&a, sizeof(a)).error, 0);
	expect_eq(linked("/self", "self"), 0);
	str_copy(a.path, sizeof(a.path), "/self");
	expect_eq(asked(1, (struct file_request){.op = FILE_CONNECT, .handle = end[1].handle},
		&a, sizeof(a)).error, -FILE_ELOOP);
	file_forget(&t, 1);
	expect_sound();
}

int
main(void)
{
	RUN(a_path_leads_on_where_its_links_lead);
	RUN(the_last_name_is_followed_where_linux_follows_it);
	RUN(circles_and_long_paths_end);
	RUN(as_many_links_as_linux_follows);
	RUN(links_need_memory_and_leave_none_behind);
	RUN(links_lead_into_shares_and_out_of_them);
	RUN(names_of_sockets_lie_behind_links);
	return TEST_FAILED;
}
