/* SPDX-License-Identifier: MIT
 *
 * The file server's tree and its answers: what programs do, what goes wrong, the end of the memory,
 * and requests that make no sense.
 */
/* needs: servers/file/tree.c servers/file/contents.c servers/file/serve.c base/str.c */
#include <abi/errors.h>
#include <base/str.h>
#include <base/test.h>
#include <servers/file/tree.h>

#define BLOCKS 40

static struct tree t;
static _Alignas(8) struct block blocks[BLOCKS];
static int blocks_left;

struct block *
blocks_more(void)
{
	if (blocks_left == 0)
		return NULL;
	blocks_left--;
	blocks[blocks_left].next = NULL;
	return &blocks[blocks_left];
}

static void
reset(void)
{
	tree_init(&t);
	blocks_left = BLOCKS;
}

static int
free_blocks(void)
{
	int n = blocks_left;

	for (struct block *b = t.free; b != NULL; b = b->next)
		n++;
	return n;
}

/* An answer with what follows it. */
struct answer {
	struct file_reply head;
	char data[FILE_DATA_MAX];
};

static struct answer answer;

/* What a client asks, with so many bytes behind the head. The answer's are in `answer`. */
static struct file_reply
ask(uint32_t client, struct file_request q, const void *data, size_t len)
{
	static char message[FILE_MESSAGE];
	uint32_t bytes;

	expect(len <= FILE_DATA_MAX);
	memcpy(message, &q, FILE_HEAD);
	memcpy(message + FILE_HEAD, data, len);
	memset(&answer, 0x5a, sizeof(answer));
	bytes = file_serve(&t, client, message, (uint32_t)(FILE_HEAD + len), &answer);
	expect(bytes >= FILE_HEAD && bytes <= FILE_MESSAGE);
	return answer.head;
}

static struct file_reply
ask_path(enum file_op op, const char *path, uint32_t how)
{
	return ask(1, (struct file_request){.op = op, .arg = how}, path, str_len(path) + 1);
}

static uint32_t
opened(const char *path, uint32_t how)
{
	struct file_reply r = ask_path(FILE_OPEN, path, how);

	expect_eq(r.error, 0);
	return r.handle;
}

static long
put(uint32_t handle, uint64_t offset, const char *text, size_t len)
{
	struct file_reply r =
		ask(1, (struct file_request){.op = FILE_WRITE, .handle = handle, .offset = offset,
		.arg = (uint32_t)len}, text, len);

	return r.error != 0 ? r.error : (long)r.value;
}

static void
expect_text(uint32_t handle, uint64_t offset, const char *text, size_t len)
{
	struct file_reply r =
		ask(1, (struct file_request){.op = FILE_READ, .handle = handle, .offset = offset,
		.arg = FILE_DATA_MAX}, "", 0);

	expect_eq(r.error, 0);
	expect_eq(r.value, len);
	expect(memcmp(answer.data, text, len) == 0);
}

TEST(what_is_written_is_read)
{
	uint32_t h;

	reset();
	h = opened("/a", FILE_CREATE | FILE_WRITABLE);
	expect_eq(put(h, 0, "hello", 5), 5);
	expect_eq(put(h, FILE_AT_END, " world", 6), 6);
	expect_eq(put(h, 2 * BLOCK_DATA - 2, "edge", 4), 4);
	expect_eq(ask_path(FILE_STAT, "/a", 0).value, 2 * BLOCK_DATA + 2);
	expect_text(h, 2 * BLOCK_DATA - 2, "edge", 4);
	expect_eq(ask(1, (struct file_request){.op = FILE_RESIZE, .handle = h, .offset = 3}, "",
		0).error, 0);
	expect_text(h, 0, "hel", 3);
	expect_eq(ask(1, (struct file_request){.op = FILE_RESIZE, .handle = h, .offset = 6}, "",
		0).error, 0);
	expect_text(h, 0, "hel\0\0\0", 6);
	expect_text(h, 100, "", 0);
	expect_eq(ask_path(FILE_STAT, "a", 0).value, 6);
}

TEST(names_are_found_and_errors_are_linuxs)
{
	reset();
	expect_eq(ask_path(FILE_OPEN, "none", 0).error, -E_NOENT);
	expect_eq(ask_path(FILE_OPEN, "", FILE_CREATE).error, -E_NOENT);
	expect_eq(ask_path(FILE_MAKE_DIRECTORY, "/d", 0).error, 0);
	expect_eq(ask_path(FILE_MAKE_DIRECTORY, "/d", 0).error, -E_EXIST);
	expect_eq(ask_path(FILE_MAKE_DIRECTORY, "/", 0).error, -E_EXIST);
	expect_eq(ask_path(FILE_MAKE_DIRECTORY, "/x/y", 0).error, -E_NOENT);
	expect_eq(ask_path(FILE_OPEN, "/d", FILE_WRITABLE).error, -FILE_EISDIR);
	opened("//d/./../d/f", FILE_CREATE | FILE_WRITABLE);
	expect_eq(ask_path(FILE_OPEN, "d/f", FILE_CREATE | FILE_EXCLUSIVE).error, -E_EXIST);
	expect_eq(ask_path(FILE_OPEN, "d/f", FILE_DIRECTORY).error, -FILE_ENOTDIR);
	expect_eq(ask_path(FILE_OPEN, "d/f/", 0).error, -FILE_ENOTDIR);
	expect_eq(ask_path(FILE_OPEN, "d/f/g", FILE_CREATE).error, -FILE_ENOTDIR);
	expect_eq(ask_path(FILE_REMOVE, "d", 0).error, -FILE_EISDIR);
	expect_eq(ask_path(FILE_REMOVE, "d", FILE_DIRECTORY).error, -FILE_ENOTEMPTY);
	expect_eq(ask_path(FILE_REMOVE, "d/f", FILE_DIRECTORY).error, -FILE_ENOTDIR);
	expect_eq(ask_path(FILE_REMOVE, "d/f", 0).error, 0);
	expect_eq(ask_path(FILE_REMOVE, "d/f", 0).error, -E_NOENT);
	expect_eq(ask_path(FILE_REMOVE, "d", FILE_DIRECTORY).error, 0);
	expect_eq(ask_path(FILE_REMOVE, "/", FILE_DIRECTORY).error, -E_BUSY);
	expect_eq(ask_path(FILE_OPEN,
		"a23456789b23456789c23456789d23456789e23456789f23456789g23456789",
		FILE_CREATE).error, -FILE_ENAMETOOLONG);
}

static int
renamed(const char *from, const char *to)
{
	char both[FILE_PATH_MAX] = {0};

	str_copy(both, sizeof(both), from);
	str_copy(both + str_len(from) + 1, sizeof(both) - str_len(from) - 1, to);
	return ask(1, (struct file_request){.op = FILE_RENAME}, both, sizeof(both)).error;
}

TEST(renaming_moves_replaces_and_makes_no_loops)
{
	reset();
	ask_path(FILE_MAKE_DIRECTORY, "/a", 0);
	ask_path(FILE_MAKE_DIRECTORY, "/a/b", 0);
	ask_path(FILE_MAKE_DIRECTORY, "/c", 0);
	put(opened("/f", FILE_CREATE | FILE_WRITABLE), 0, "f", 1);
	opened("/g", FILE_CREATE | FILE_WRITABLE);
	expect_eq(renamed("/f", "/g"), 0);
	expect_eq(ask_path(FILE_STAT, "/g", 0).value, 1);
	expect_eq(ask_path(FILE_STAT, "/f", 0).error, -E_NOENT);
	expect_eq(renamed("/a", "/a/b/x"), -E_INVAL);
	expect_eq(renamed("/a", "/a"), 0);
	expect_eq(renamed("/g", "/c"), -FILE_EISDIR);
	expect_eq(renamed("/c", "/g"), -FILE_ENOTDIR);
	expect_eq(renamed("/c", "/a"), -FILE_ENOTEMPTY);
	expect_eq(renamed("/a/b", "/c"), 0);
	expect_eq(renamed("/c", "/a/c"), 0);
	expect_eq(renamed("/none", "/x"), -E_NOENT);
	expect_eq(renamed("/", "/x"), -E_BUSY);
	expect_eq(ask_path(FILE_STAT, "/a/c", 0).kind, FILE_KIND_DIRECTORY);
}

TEST(the_end_of_the_memory_is_an_error_and_removing_helps)
{
	static char piece[FILE_DATA_MAX];
	uint32_t h, other;
	long sum = 0, n;

	reset();
	h = opened("big", FILE_CREATE | FILE_WRITABLE);
	while ((n = put(h, FILE_AT_END, piece, sizeof(piece))) > 0)
		sum += n;
	expect_eq(n, -E_NOSPC);
	expect_eq(sum, BLOCKS * (long)BLOCK_DATA);
	other = opened("other", FILE_CREATE | FILE_WRITABLE);
	expect_eq(put(other, 0, "x", 1), -E_NOSPC);
	expect_eq(ask_path(FILE_REMOVE, "big", 0).error, 0);
	expect_eq(put(other, 0, "x", 1), -E_NOSPC);
	expect_eq(ask(1, (struct file_request){.op = FILE_CLOSE, .handle = h}, "", 0).error, 0);
	expect_eq(free_blocks(), BLOCKS);
	expect_eq(put(other, 0, "x", 1), 1);
}

TEST(an_unlinked_file_lives_as_long_as_it_is_open)
{
	uint32_t h;

	reset();
	h = opened("f", FILE_CREATE | FILE_WRITABLE);
	put(h, 0, "text", 4);
	ask_path(FILE_REMOVE, "f", 0);
	opened("f", FILE_CREATE);
	expect_text(h, 0, "text", 4);
	file_forget(&t, 1);
	expect_eq(free_blocks(), BLOCKS);
	expect_eq(t.handles, 0);
	expect_eq(ask(1, (struct file_request){.op = FILE_READ, .handle = h}, "", 0).error,
		-E_BADF);
}

TEST(handles_are_the_clients_own)
{
	uint32_t h, i;

	reset();
	h = opened("f", FILE_CREATE);
	expect_eq(ask(2, (struct file_request){.op = FILE_STAT_OPEN, .handle = h}, "", 0).error,
		-E_BADF);
	expect_eq(ask(2, (struct file_request){.op = FILE_CLOSE, .handle = h}, "", 0).error,
		-E_BADF);
	expect_eq(put(h, 0, "x", 1), -E_BADF);
	file_forget(&t, 2);
	expect_eq(t.handles, 1);
	file_forget(&t, 1);
	expect_eq(t.handles, 0);
	for (i = 0; i < HANDLES_MAX; i++)
		opened("f", 0);
	expect_eq(ask_path(FILE_OPEN, "f", 0).error, -E_MFILE);
	file_forget(&t, 1);
	expect_eq(t.handles, 0);
	expect_eq(ask(1, (struct file_request){.op = FILE_CLOSE, .handle = h}, "", 0).error,
		-E_BADF);
}

/* A message may end anywhere. */
TEST(a_request_that_is_cut_off_makes_no_sense)
{
	struct file_request q = {.op = FILE_WRITE, .arg = 5};
	uint32_t h;

	reset();
	h = q.handle = opened("f", FILE_CREATE | FILE_WRITABLE);
	expect_eq(ask(1, q, "four", 4).error, -E_INVAL);
	q.arg = UINT32_MAX;
	expect_eq(ask(1, q, "four", 4).error, -E_INVAL);
	q.arg = 4;
	expect_eq(ask(1, q, "four", 4).value, 4);
	expect_text(h, 0, "four", 4);
	for (uint32_t bytes = 0; bytes < FILE_HEAD; bytes++) {
		expect_eq(file_serve(&t, 1, &q, bytes, &answer), FILE_HEAD);
		expect_eq(answer.head.error, -E_INVAL);
	}
	q.op = FILE_READ;
	q.arg = FILE_DATA_MAX + 1;
	expect_eq(ask(1, q, "", 0).error, -E_INVAL);
	/* a path without its end ends where the message does */
	expect_eq(ask(1, (struct file_request){.op = FILE_STAT}, "f and more", 1).value, 4);
}

TEST(a_file_of_the_archive_is_read_in_place_and_copied_when_it_changes)
{
	static const char text[] = "from outside";
	uint32_t h;

	reset();
	expect_eq(tree_add_fixed(&t, "data/in/file", text, 12), 0);
	h = opened("/data/in/file", FILE_WRITABLE);
	expect_text(h, 0, text, 12);
	expect_eq(free_blocks(), BLOCKS);
	expect_eq(put(h, 0, "F", 1), 1);
	expect_text(h, 0, "From outside", 12);
	expect(text[0] == 'f');
	expect_eq(ask_path(FILE_OPEN, "data/in/file", FILE_EMPTY).value, 0);
	expect_eq(tree_add_fixed(&t, "data/in/file", text, 12), -E_EXIST);
}

TEST(a_directory_lists_each_name_once)
{
	struct file_reply r = {0};
	uint32_t dir, seen = 0;

	reset();
	for (char name[] = "d/a"; name[2] < 'k'; name[2]++) {
		ask_path(FILE_MAKE_DIRECTORY, "d", 0);
		ask_path(FILE_MAKE_DIRECTORY, name, 0);
	}
	dir = opened("d", FILE_DIRECTORY);
	for (;;) {
		r = ask(1, (struct file_request){.op = FILE_LIST, .handle = dir, .offset = r.value},
			"", 0);
		if (r.error != 0)
			break;
		expect(answer.data[1] == 0);
		seen |= 1u << (answer.data[0] - 'a');
	}
	expect_eq(r.error, -E_NOENT);
	expect_eq(seen, 1023);
}

static uint32_t
next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Every node hangs on a directory, every handle on a node, no block is lost. */
static void
expect_sound(void)
{
	uint32_t opens[NODES_MAX] = {0}, handles = 0;
	int blocks_used = 0;

	for (uint32_t i = 0; i < HANDLES_MAX; i++)
		if (t.handle[i].is_open) {
			handles++;
			opens[t.handle[i].node]++;
		}
	expect_eq(handles, t.handles);
	for (uint32_t i = 0; i < NODES_MAX; i++) {
		const struct node *n = &t.node[i];

		expect_eq(opens[i], n->opens);
		if (n->kind == FILE_KIND_NONE)
			expect(n->first == NULL && n->opens == 0);
		else if (!n->is_unlinked)
			expect(t.node[n->parent].kind == FILE_KIND_DIRECTORY &&
				!t.node[n->parent].is_unlinked);
		for (const struct block *b = n->first; b != NULL; b = b->next)
			blocks_used++;
	}
	expect_eq(blocks_used + free_blocks(), BLOCKS);
}

TEST(requests_that_make_no_sense_get_an_answer_and_do_no_harm)
{
	static const char *const paths[] = {"a", "/a", "a/b", "a/b/c", "d", "d/../a", "..", "/", "",
		"d/e/f/g", "a/", "."};
	static char data[FILE_PATH_MAX + 40];
	struct file_request q = {0};
	uint64_t state = 7;

	reset();
	tree_add_fixed(&t, "a/b", paths, sizeof(paths));
	for (int i = 0; i < 60000; i++) {
		uint32_t kind = next(&state);

		for (size_t b = 0; b < sizeof(data); b++)
			data[b] = (char)(kind % 16 == 0 ? next(&state) : 0);
		if (kind % 16 != 0) {
			size_t len = str_copy(data, FILE_PATH_MAX, paths[next(&state) % 12]);

			str_copy(data + len + 1, FILE_PATH_MAX - len - 1, paths[next(&state) % 12]);
		}
		q.op = kind % 32 == 2 ? next(&state) : next(&state) % 14;
		q.arg = next(&state) % 3 == 0 ? next(&state) : next(&state) % 128;
		q.offset = next(&state) % 8 == 0 ? (uint64_t)next(&state) << 33 :
			next(&state) % (BLOCKS / 4 * BLOCK_BYTES);
		q.handle = next(&state) % 4 == 0 ? next(&state) :
			t.handle[next(&state) % 8].life << 9 | next(&state) % 8;
		kind = next(&state) % 8 == 0 ? next(&state) % sizeof(data) : sizeof(data);
		kind = (uint32_t)ask(next(&state) % 3, q, data, kind).error;
		expect((int32_t)kind <= 0 && (int32_t)kind > -200);
		if (i % 500 == 0)
			expect_sound();
	}
	for (uint32_t c = 0; c < 3; c++)
		file_forget(&t, c);
	expect_sound();
}

int
main(void)
{
	RUN(what_is_written_is_read);
	RUN(names_are_found_and_errors_are_linuxs);
	RUN(renaming_moves_replaces_and_makes_no_loops);
	RUN(the_end_of_the_memory_is_an_error_and_removing_helps);
	RUN(an_unlinked_file_lives_as_long_as_it_is_open);
	RUN(handles_are_the_clients_own);
	RUN(a_request_that_is_cut_off_makes_no_sense);
	RUN(a_file_of_the_archive_is_read_in_place_and_copied_when_it_changes);
	RUN(a_directory_lists_each_name_once);
	RUN(requests_that_make_no_sense_get_an_answer_and_do_no_harm);
	return TEST_FAILED;
}
