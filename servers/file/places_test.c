/* SPDX-License-Identifier: MIT
 *
 * Two servers that have parts of one tree, and a client that asks whom they name, beside one server
 * that has all of it: whatever the paths are, the answers are the same, but for what leads from one
 * part to the other, and for the place itself, which stays.
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
#include <servers/file/places.h>
#include <servers/file/test_ask.h>

#define CLIENT 1
#define WHOLE 2				/* as a number of a server: it has all */
#define SERVERS_HERE 3

static struct tree tree[SERVERS_HERE];
static struct {
	_Alignas(4096) struct lasting of;
} left[SERVERS_HERE];

/* Paths of a request, one or two, with their zero bytes. */
struct paths {
	char text[2 * FILE_PATH_MAX];
	size_t bytes;
};

static void
begin(const char *place)
{
	place_of_test = (struct file_place){.cluster = 1, .bytes = (uint32_t)str_len(place)};
	str_copy(place_of_test.path, sizeof(place_of_test.path), place);
	memset(tree, 0, sizeof(tree));
	memset(left, 0, sizeof(left));
	blocks_left = BLOCKS;
	for (uint32_t i = 0; i < SERVERS_HERE; i++) {
		tree[i].lasting = &left[i].of;
		tree[i].block = blocks;
		expect(!tree_init(&tree[i]));
		tree[i].place.number = i == WHOLE ? 0 : i;
		expect_eq(places_begin(&tree[i]), 0);
		tree_begun(&tree[i]);
	}
	/* the directories are there, and nobody else has them */
	for (uint32_t i = 1; i < tree[WHOLE].nodes; i++)
		node_of(&tree[WHOLE], i)->share = 0;
	tree[WHOLE].place.count = 0;
}

static struct file_reply
ask_one(uint32_t server, struct file_request q, const struct paths *p)
{
	static char message[FILE_MESSAGE];

	memcpy(message, &q, FILE_HEAD);
	memcpy(message + FILE_HEAD, p->text, p->bytes);
	memset(&answer, 0x5a, sizeof(answer));
	expect(file_serve(&tree[server], CLIENT, message, (uint32_t)(FILE_HEAD + p->bytes),
		&answer) >= FILE_HEAD);
	return answer.head;
}

/* As a client does; *server: who is asked first, and who has answered. */
static struct file_reply
ask_them(uint32_t *server, struct file_request q, struct paths p)
{
	const struct paths none = {.bytes = 0};
	struct file_reply r;
	int times = 0;

	while ((r = ask_one(*server, q, &p)).error == -FILE_ELSEWHERE) {
		uint32_t next = (uint32_t)r.value;

		expect(next < WHOLE && next != *server);
		if (++times > FILE_LINKS_MAX || next >= WHOLE) {
			r.error = -FILE_ELOOP;
			break;
		}
		if (r.more > 0) {
			p.bytes = r.more;
			expect(r.more <= FILE_PATH_MAX);
			r = ask_one(*server, (struct file_request){.op = FILE_REST,
				.arg = (uint32_t)p.bytes}, &none);
			expect_eq(r.count, p.bytes);
			memcpy(p.text, answer.data, p.bytes);
			expect_eq(p.text[p.bytes - 1], 0);
		}
		*server = next;
	}
	return r;
}

static struct paths
paths_of(const char *first, const char *second)
{
	struct paths p = {.bytes = str_len(first) + 1};

	memcpy(p.text, first, p.bytes);
	if (second != NULL) {
		memcpy(p.text + p.bytes, second, str_len(second) + 1);
		p.bytes += str_len(second) + 1;
	}
	return p;
}

static int
error_of(uint32_t first, enum file_op op, uint32_t how, struct paths p)
{
	uint32_t server = first;
	struct file_reply r = ask_them(&server, (struct file_request){.op = op, .arg = how}, p);

	if (op == FILE_OPEN && r.error == 0)
		expect_eq(ask_one(server, (struct file_request){.op = FILE_CLOSE,
			.handle = r.handle}, &(struct paths){.bytes = 0}).error, 0);
	return r.error;
}

/* Who has what a path names, or is asked to make it. */
static uint32_t
who_has(uint32_t first, const char *path)
{
	uint32_t server = first;

	ask_them(&server, (struct file_request){.op = FILE_STAT}, paths_of(path, NULL));
	return server;
}

TEST(a_path_leads_to_the_server_that_has_it)
{
	static const struct {
		const char *path;
		uint32_t server;
	} row[] = {
		{"/", 0}, {"/n", 0}, {"/n/1", 1}, {"/n/1/", 1}, {"/n//1", 1}, {"//n/./1/.", 1},
		{"n/1", 1}, {"/n/1/x", 1}, {"/n/1/..", 0}, {"/n/1/.", 1}, {"/n/1/./../x", 0},
		{"/n/1/../1/x", 1}, {"/n/1/../../n/1", 1}, {"/n/12", 0}, {"/n/1x", 0},
		{"/n/1/d/..", 1}, {"/n/1/d/../..", 0}, {"/n/1/d/../../../n/1/d", 1},
		{"/n/1/none/../..", 1}, {"/n/../n/1", 1}, {"/../n/1", 1}, {"", 0},
	};

	begin("/n/1");
	expect_eq(error_of(0, FILE_MAKE_DIRECTORY, 0, paths_of("/n/1/d", NULL)), 0);
	expect_eq(tree_find(&tree[0], "/n/1/d"), -E_NOENT);
	expect(tree_find(&tree[1], "/n/1/d") > 0);
	for (uint32_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		for (uint32_t first = 0; first < WHOLE; first++)
			expect_eq(who_has(first, row[i].path), row[i].server);
}

TEST(a_part_may_begin_below_the_root)
{
	begin("/tmp");
	expect_eq(who_has(0, "/tmp/x"), 1);
	expect_eq(who_has(0, "/tmp/.."), 0);
	expect_eq(who_has(1, "/tmp/../tmp/x"), 1);
	expect_eq(who_has(1, "/tmp/../x"), 0);
}

TEST(nothing_goes_from_one_part_to_the_other)
{
	begin("/n/1");
	expect_eq(error_of(0, FILE_OPEN, FILE_CREATE, paths_of("/f", NULL)), 0);
	expect_eq(error_of(0, FILE_OPEN, FILE_CREATE, paths_of("/n/1/f", NULL)), 0);
	expect_eq(error_of(0, FILE_RENAME, 0, paths_of("/f", "/n/1/g")), -FILE_EXDEV);
	expect_eq(error_of(0, FILE_RENAME, 0, paths_of("/n/1/f", "/g")), -FILE_EXDEV);
	expect_eq(error_of(0, FILE_LINK, 0, paths_of("/n/1/f", "/g")), -FILE_EXDEV);
	expect_eq(error_of(1, FILE_LINK, 0, paths_of("/n/1/f", "/n/1/../g")), -FILE_EXDEV);
	expect_eq(error_of(0, FILE_RENAME, 0, paths_of("/n/1/../1/f", "/n//1/g")), 0);
	expect_eq(error_of(1, FILE_RENAME, 0, paths_of("/n/1/../../f", "/n/1/../g")), 0);
	expect_eq(error_of(0, FILE_STAT, 0, paths_of("/n/g", NULL)), 0);
	expect_eq(error_of(0, FILE_STAT, 0, paths_of("/n/1/g", NULL)), 0);
}

TEST(the_place_stays)
{
	begin("/n/1");
	expect_eq(error_of(0, FILE_REMOVE, FILE_DIRECTORY, paths_of("/n/1", NULL)), -E_BUSY);
	expect_eq(error_of(0, FILE_REMOVE, 0, paths_of("/n/1", NULL)), -FILE_EISDIR);
	expect_eq(error_of(0, FILE_REMOVE, FILE_DIRECTORY, paths_of("/n", NULL)), -FILE_ENOTEMPTY);
	expect_eq(error_of(0, FILE_RENAME, 0, paths_of("/n", "/m")), -E_BUSY);
	expect_eq(error_of(0, FILE_MAKE_DIRECTORY, 0, paths_of("/n/1", NULL)), -E_EXIST);
	expect_eq(error_of(0, FILE_RENAME, 0, paths_of("/n/1", "/n/1/x")), -E_BUSY);
	expect_eq(error_of(0, FILE_MAKE_DIRECTORY, 0, paths_of("/n/1/d", NULL)), 0);
	expect_eq(error_of(0, FILE_RENAME, 0, paths_of("/n/1/d", "/n/1")), -E_BUSY);
}

TEST(handles_and_tokens_say_who_has_made_them)
{
	uint32_t server = 0;
	struct file_reply r;

	begin("/n/1");
	r = ask_them(&server, (struct file_request){.op = FILE_OPEN, .arg = FILE_CREATE},
		paths_of("/n/1/f", NULL));
	expect_eq(FILE_SERVER_OF(r.handle), 1);
	expect_eq(ask_one(0, (struct file_request){.op = FILE_CLOSE, .handle = r.handle},
		&(struct paths){.bytes = 0}).error, -E_BADF);
	r = ask_one(1, (struct file_request){.op = FILE_OFFER, .arg = 1},
		&(struct paths){.text = {(char)r.handle, (char)(r.handle >> 8),
		(char)(r.handle >> 16), (char)(r.handle >> 24)}, .bytes = 4});
	expect_eq(r.error, 0);
	expect_eq(FILE_SERVER_OF(r.value), 1);
	expect_eq(ask_one(0, (struct file_request){.op = FILE_CLAIM, .offset = r.value},
		&(struct paths){.bytes = 0}).error, -E_NOENT);
}

TEST(where_memory_ends_or_paths_are_too_long_that_is_said)
{
	struct paths p = {.bytes = FILE_PATH_MAX};

	begin("/a_place_with_a_long_name");
	memset(p.text, 'x', FILE_PATH_MAX - 1);
	memcpy(p.text, "/./a_place_with_a_long_name/", 28);
	expect_eq(ask_one(0, (struct file_request){.op = FILE_STAT}, &p).error, -FILE_ELSEWHERE);
	memcpy(p.text, "a_place_with_a_long_name/", 25);
	expect_eq(ask_one(0, (struct file_request){.op = FILE_STAT}, &p).error,
		-FILE_ENAMETOOLONG);
	file_forget(&tree[0], CLIENT);
	begin("/n/1");
	blocks_left = 0;
	expect_eq(ask_one(0, (struct file_request){.op = FILE_STAT},
		&(struct paths){.text = "/n//1", .bytes = 6}).error, -E_NOMEM);
}

/* --- random paths --- */

static void
put_random_path(struct paths *p, uint64_t *state)
{
	static const char *const name[] = {"n", "1", "n", "1", "a", "b", "..", ".", ""};
	uint64_t names = 1 + next(state) % 7;

	if (next(state) % 2 == 0) {
		memcpy(p->text + p->bytes, "/n/1", 4);
		p->bytes += 4;
	}
	while (names-- > 0) {
		const char *one = name[next(state) % 9];

		p->text[p->bytes++] = '/';
		memcpy(p->text + p->bytes, one, str_len(one));
		p->bytes += str_len(one);
	}
	p->text[p->bytes++] = 0;
}

static bool
ends_long(int error)
{
	return error == -FILE_ELOOP || error == -FILE_ENAMETOOLONG;
}

TEST(parts_are_as_one_tree)
{
	static const enum file_op op[] = {FILE_OPEN, FILE_STAT, FILE_REMOVE, FILE_MAKE_DIRECTORY,
		FILE_MAKE_DIRECTORY, FILE_RENAME, FILE_LINK, FILE_SYMLINK, FILE_READ_LINK};
	uint64_t state = 7;
	int agreed = 0;

	for (int i = 0; i < 60000; i++) {
		enum file_op what = op[next(&state) % 9];
		uint32_t how = what == FILE_OPEN ? next(&state) % 2 * FILE_CREATE :
			what == FILE_REMOVE ? next(&state) % 2 * FILE_DIRECTORY : 0;
		struct paths p = {.bytes = 0};
		int error, of_whole;

		if (i % 1000 == 0)
			begin("/n/1");
		put_random_path(&p, &state);
		if (what == FILE_RENAME || what == FILE_LINK || what == FILE_SYMLINK)
			put_random_path(&p, &state);
		error = error_of((uint32_t)(next(&state) % WHOLE), what, how, p);
		/* not so where there is one part: nothing has happened */
		if (error == -FILE_EXDEV || error == -E_BUSY)
			continue;
		of_whole = error_of(WHOLE, what, how, p);
		/* each server follows as many links, along paths that may be shorter */
		if (ends_long(error) || ends_long(of_whole))
			begin("/n/1");
		else
			expect_eq(error, of_whole);
		agreed += error == of_whole;
	}
	expect(agreed > 30000);
}

int
main(void)
{
	RUN(a_path_leads_to_the_server_that_has_it);
	RUN(a_part_may_begin_below_the_root);
	RUN(nothing_goes_from_one_part_to_the_other);
	RUN(the_place_stays);
	RUN(handles_and_tokens_say_who_has_made_them);
	RUN(where_memory_ends_or_paths_are_too_long_that_is_said);
	RUN(parts_are_as_one_tree);
	return TEST_FAILED;
}
