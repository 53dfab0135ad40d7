/* SPDX-License-Identifier: MIT
 *
 * The file server's tree and its answers: what programs do, what goes wrong, the end of the memory,
 * and requests that make no sense.
 */
/*
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

TEST(what_is_written_is_read)
{
	uint32_t h;

	reset();
	h = opened("/a", FILE_CREATE | FILE_WRITABLE);
	expect_eq(wrote(h, 0, "hello", 5), 5);
	expect_eq(wrote(h, 5, " world", 6), 6);
	expect_eq(wrote(h, 2 * BLOCK_DATA - 2, "edge", 4), 4);
	expect_eq(ask_path(FILE_STAT, "/a", 0).value, 2 * BLOCK_DATA + 2);
	expect_text(h, 2 * BLOCK_DATA - 2, "edge", 4);
	expect_eq(asked(1, (struct file_request){.op = FILE_RESIZE, .handle = h, .offset = 3}, "",
		0).error, 0);
	expect_text(h, 0, "hel", 3);
	expect_eq(asked(1, (struct file_request){.op = FILE_RESIZE, .handle = h, .offset = 6}, "",
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
	return asked(1, (struct file_request){.op = FILE_RENAME}, both, sizeof(both)).error;
}

TEST(renaming_moves_replaces_and_makes_no_loops)
{
	reset();
	ask_path(FILE_MAKE_DIRECTORY, "/a", 0);
	ask_path(FILE_MAKE_DIRECTORY, "/a/b", 0);
	ask_path(FILE_MAKE_DIRECTORY, "/c", 0);
	wrote(opened("/f", FILE_CREATE | FILE_WRITABLE), 0, "f", 1);
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

static int
linked(const char *from, const char *to)
{
	char both[FILE_PATH_MAX] = {0};

	str_copy(both, sizeof(both), from);
	str_copy(both + str_len(from) + 1, sizeof(both) - str_len(from) - 1, to);
	return asked(1, (struct file_request){.op = FILE_LINK}, both, sizeof(both)).error;
}

/* Beside names that are numbers of files; whoever has a name has the contents. */
#define NAMES 6

static int file_of[NAMES];		/* 0: there is none */
static int files_made;

static int
names_of(int file)
{
	int n = 0;

	for (int i = 0; i < NAMES; i++)
		n += file_of[i] == file;
	return n;
}

static void
name_step(uint64_t *state)
{
	static const char *const name[NAMES] = {"/a", "/d/b", "/c", "/d/d", "/e", "/f"};
	int i = (int)(next(state) % NAMES), j = (int)(next(state) % NAMES);
	uint32_t what = next(state) % 4, handle;
	struct file_status status;
	char text[8];

	if (what == 0) {
		expect_eq(linked(name[i], name[j]), file_of[i] == 0 ? -E_NOENT : file_of[j] != 0 ?
			-E_EXIST : 0);
		if (file_of[j] == 0)
			file_of[j] = file_of[i];
	} else if (what == 1) {
		expect_eq(renamed(name[i], name[j]), file_of[i] == 0 ? -E_NOENT : 0);
		if (file_of[i] != 0 && file_of[i] != file_of[j]) {
			file_of[j] = file_of[i];
			file_of[i] = 0;
		}
	} else if (what == 2) {
		expect_eq(ask_path(FILE_REMOVE, name[i], 0).error, file_of[i] == 0 ? -E_NOENT : 0);
		file_of[i] = 0;
	} else if (file_of[i] == 0) {
		file_of[i] = ++files_made;
		handle = opened(name[i], FILE_CREATE | FILE_WRITABLE);
		wrote(handle, 0, (const char *)&files_made, sizeof(files_made));
		asked(1, (struct file_request){.op = FILE_CLOSE, .handle = handle}, "", 0);
	} else {
		expect_eq(ask_path(FILE_STAT, name[i], 0).kind, FILE_KIND_FILE);
		memcpy(&status, answer.data, sizeof(status));
		expect_eq(status.links, names_of(file_of[i]));
		handle = opened(name[i], 0);
		memcpy(text, &file_of[i], sizeof(int));
		expect_text(handle, 0, text, sizeof(int));
		asked(1, (struct file_request){.op = FILE_CLOSE, .handle = handle}, "", 0);
	}
}

TEST(whatever_is_linked_a_file_has_the_names_that_the_model_has)
{
	uint64_t state = 11;

	reset();
	ask_path(FILE_MAKE_DIRECTORY, "/d", 0);
	expect_eq(linked("/d", "/x"), -E_PERM);
	expect_eq(linked("/x", "/y"), -E_NOENT);
	for (int i = 0; i < 30000; i++) {
		name_step(&state);
		if (i % 500 == 0)
			expect_sound();
	}
	expect_eq(ask_path(FILE_REMOVE, "/d", FILE_DIRECTORY).error,
		file_of[1] + file_of[3] != 0 ? -FILE_ENOTEMPTY : 0);
}

static struct file_reply
shared(uint32_t client, uint32_t handle, uint64_t bytes)
{
	return asked(client, (struct file_request){.op = FILE_SHARE, .handle = handle,
		.offset = bytes}, "", 0);
}

/* Who knows the key asks how many pages the file has. */
TEST(how_much_a_shared_file_has_is_told)
{
	struct file_request q = {.op = FILE_SHARED};
	struct file_reply r;
	uint32_t f;

	reset();
	f = opened("f", FILE_CREATE | FILE_WRITABLE);
	wrote(f, 0, "hello", 5);
	r = shared(1, f, 3 * SHARED_PAGE);
	expect(r.error == 0 && r.count == 1);
	q.offset = r.value;
	expect_eq(asked(2, q, "", 0).count, 1);
	wrote(f, 4 * SHARED_PAGE, "x", 1);
	expect_eq(asked(2, q, "", 0).count, 5);
	asked(1, (struct file_request){.op = FILE_RESIZE, .handle = f, .offset = 0}, "", 0);
	expect(asked(2, q, "", 0).error == 0 && asked(2, q, "", 0).count == 0);
	ask_path(FILE_REMOVE, "f", 0);
	file_forget(&t, 1);
	expect_eq(asked(2, q, "", 0).error, -E_NOENT);
	q.offset = 0;
	expect_eq(asked(2, q, "", 0).error, -E_NOENT);
}

/* Contents move into memory, where reads and writes find them, and end with the file. */
TEST(a_file_becomes_memory_of_one_cluster)
{
	uint32_t f, other;
	struct file_reply r;
	int at;

	reset();
	f = opened("f", FILE_CREATE | FILE_WRITABLE);
	wrote(f, 0, "hello", 5);
	r = shared(1, f, 100);
	expect(r.error == 0 && r.value != 0);
	at = memory_at(r.value);
	expect(memcmp(memory[at].bytes, "hello", 6) == 0 && memory[at].of.home == 0);
	expect_sound();
	memcpy(memory[at].bytes, "J", 1);
	expect_text(f, 0, "Jello", 5);
	expect_eq(wrote(f, 4, "y!", 2), 2);
	expect(memcmp(memory[at].bytes, "Jelly!", 6) == 0);
	expect_eq(shared(1, f, 3 * SHARED_PAGE).value, r.value);
	expect_eq(memory[at].of.pages, 3);
	/* it grows with the file, and what is cut off is zero */
	expect_eq(wrote(f, 4 * SHARED_PAGE, "x", 1), 1);
	expect_eq(memory[at].of.pages, 5);
	asked(1, (struct file_request){.op = FILE_RESIZE, .handle = f, .offset = 2}, "", 0);
	expect(memory[at].bytes[2] == 0 && memory[at].bytes[4 * SHARED_PAGE] == 0);
	asked(1, (struct file_request){.op = FILE_RESIZE, .handle = f, .offset = 4}, "", 0);
	expect_text(f, 0, "Je\0\0", 4);
	expect_eq(wrote(f, MEMORY_BYTES, "x", 1), -E_NOSPC);
	asked(1, (struct file_request){.op = FILE_RESIZE, .handle = f, .offset = 1 << 20}, "", 0);
	expect_text(f, (1 << 20) - 2, "\0\0", 2);
	/* of another cluster */
	other = asked(2, (struct file_request){.op = FILE_OPEN, .arg = FILE_READABLE}, "f",
		2).handle;
	expect_eq(shared(2, other, 1).error, -FILE_ENODEV);
	is_memory_gone = true;
	expect_eq(wrote(f, 0, "x", 1), -E_IO);
	is_memory_gone = false;
	ask_path(FILE_REMOVE, "f", 0);
	expect_sound();
	file_forget(&t, 1);
	expect_eq(memories_used(), 1);
	file_forget(&t, 2);
	expect_eq(memories_used(), 0);
	expect_sound();
	ask_path(FILE_MAKE_DIRECTORY, "/d", 0);
	expect_eq(shared(1, opened("/d", 0), 1).error, -FILE_ENODEV);
	expect_eq(shared(1, opened("g", FILE_CREATE), 1 << 30).error, -E_NOMEM);
	for (int i = 0; i < MEMORIES; i++) {
		char name[2] = {(char)('0' + i), 0};

		expect_eq(shared(1, opened(name, FILE_CREATE), 1).error, 0);
	}
	expect_eq(shared(1, opened("x", FILE_CREATE), 1).error, -E_NOMEM);
	expect_sound();
}

TEST(the_end_of_the_memory_is_an_error_and_removing_helps)
{
	static char piece[FILE_DATA_MAX];
	uint32_t h, other;
	long sum = 0, n;

	reset();
	h = opened("big", FILE_CREATE | FILE_WRITABLE);
	while ((n = wrote(h, FILE_AT_OFFSET, piece, sizeof(piece))) > 0)
		sum += n;
	expect_eq(n, -E_NOSPC);
	expect_eq(sum, BLOCKS * (long)BLOCK_DATA);
	other = opened("other", FILE_CREATE | FILE_WRITABLE);
	expect_eq(wrote(other, 0, "x", 1), -E_NOSPC);
	expect_eq(ask_path(FILE_REMOVE, "big", 0).error, 0);
	expect_eq(wrote(other, 0, "x", 1), -E_NOSPC);
	expect_eq(asked(1, (struct file_request){.op = FILE_CLOSE, .handle = h}, "", 0).error, 0);
	expect_eq(free_blocks(), BLOCKS);
	expect_eq(wrote(other, 0, "x", 1), 1);
}

TEST(an_unlinked_file_lives_as_long_as_it_is_open)
{
	uint32_t h;

	reset();
	h = opened("f", FILE_CREATE | FILE_WRITABLE);
	wrote(h, 0, "text", 4);
	ask_path(FILE_REMOVE, "f", 0);
	opened("f", FILE_CREATE);
	expect_text(h, 0, "text", 4);
	file_forget(&t, 1);
	expect_eq(free_blocks(), BLOCKS);
	expect_eq(t.handles, 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_READ, .handle = h}, "", 0).error,
		-E_BADF);
}

TEST(handles_are_the_clients_own)
{
	uint32_t h, i;

	reset();
	h = opened("f", FILE_CREATE);
	expect_eq(asked(2, (struct file_request){.op = FILE_STAT_OPEN, .handle = h}, "", 0).error,
		-E_BADF);
	expect_eq(asked(2, (struct file_request){.op = FILE_CLOSE, .handle = h}, "", 0).error,
		-E_BADF);
	expect_eq(wrote(h, 0, "x", 1), -E_BADF);
	file_forget(&t, 2);
	expect_eq(t.handles, 1);
	file_forget(&t, 1);
	expect_eq(t.handles, 0);
	for (i = 0; i < HANDLES_OF_CLIENT_MAX; i++)
		opened("f", 0);
	expect_eq(ask_path(FILE_OPEN, "f", 0).error, -E_MFILE);
	file_forget(&t, 1);
	expect_eq(t.handles, 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_CLOSE, .handle = h}, "", 0).error,
		-E_BADF);
}

/* A message may end anywhere. */
TEST(a_request_that_is_cut_off_makes_no_sense)
{
	struct file_request q = {.op = FILE_WRITE, .arg = 5};
	uint32_t h;

	reset();
	h = q.handle = opened("f", FILE_CREATE | FILE_WRITABLE);
	expect_eq(asked(1, q, "four", 4).error, -E_INVAL);
	q.arg = UINT32_MAX;
	expect_eq(asked(1, q, "four", 4).error, -E_INVAL);
	q.arg = 4;
	expect_eq(asked(1, q, "four", 4).count, 4);
	expect_text(h, 0, "four", 4);
	for (uint32_t bytes = 0; bytes < FILE_HEAD; bytes++) {
		expect_eq(file_serve(&t, 1, &q, bytes, &answer), FILE_HEAD);
		expect_eq(answer.head.error, -E_INVAL);
	}
	q.op = FILE_READ;
	q.arg = FILE_DATA_MAX + 1;
	expect_eq(asked(1, q, "", 0).error, -E_INVAL);
	/* a path without its end ends where the message does */
	expect_eq(asked(1, (struct file_request){.op = FILE_STAT}, "f and more", 1).value, 4);
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
	expect_eq(wrote(h, 0, "F", 1), 1);
	expect_text(h, 0, "From outside", 12);
	expect(text[0] == 'f');
	expect_eq(ask_path(FILE_OPEN, "data/in/file", FILE_EMPTY).value, 0);
	expect_eq(tree_add_fixed(&t, "data/in/file", text, 12), -E_EXIST);
}

static struct file_status
status_of(const char *path)
{
	struct file_status status;

	expect_eq(ask_path(FILE_STAT, path, 0).error, 0);
	memcpy(&status, answer.data, sizeof(status));
	return status;
}

TEST(a_file_has_a_mode_and_the_time_of_its_last_change)
{
	struct file_request q = {.op = FILE_OPEN, .arg = FILE_CREATE | FILE_WRITABLE,
		.more = 0640};
	uint64_t before;

	reset();
	q.handle = asked(1, q, "f", 2).handle;
	expect_eq(status_of("f").mode, MODE_FILE | 0640);
	before = status_of("f").modified;
	expect(before > 0 && status_of("/").modified >= before);
	wrote(q.handle, 0, "x", 1);
	expect(status_of("f").modified > before);
	q.op = FILE_SET_TIME;
	q.offset = 5;
	expect_eq(asked(1, q, "", 0).error, 0);
	q.op = FILE_SET_MODE;
	q.arg = 0100755;
	expect_eq(asked(1, q, "", 0).error, 0);
	renamed("f", "g");
	expect_eq(status_of("g").modified, 5);
	expect_eq(status_of("g").mode, MODE_FILE | 0755);
	expect_eq(asked(2, q, "", 0).error, -E_BADF);
}

TEST(what_the_archive_has_is_known_until_it_changes_or_is_renamed)
{
	uint32_t h;

	reset();
	expect_eq(tree_add_fixed(&t, "a", "text", 4), 0);
	expect_eq(tree_add_fixed(&t, "b", "text", 4), 0);
	expect_eq(ask_path(FILE_STAT, "/a", 0).count, FILE_ARCHIVED);
	h = opened("a", FILE_WRITABLE);
	wrote(h, 0, "T", 1);
	expect_eq(ask_path(FILE_STAT, "a", 0).count, 0);
	/* with two names, of which the archive knows one, it is not */
	expect_eq(linked("/b", "/second"), 0);
	expect_eq(ask_path(FILE_STAT, "second", 0).count, 0);
	expect_eq(ask_path(FILE_STAT, "b", 0).count, 0);
	expect_eq(ask_path(FILE_REMOVE, "second", 0).error, 0);
	expect_eq(ask_path(FILE_STAT, "b", 0).count, FILE_ARCHIVED);
	renamed("b", "c");
	expect_eq(ask_path(FILE_STAT, "c", 0).count, 0);
	opened("d", FILE_CREATE);
	expect_eq(ask_path(FILE_STAT, "d", 0).count, 0);
}

/* More than the first table has, whose memory is not given back. */
TEST(there_are_as_many_names_as_there_is_memory_for)
{
	char name[] = "aa";
	int made = 0;

	reset();
	blocks_left = 2;
	for (; ask_path(FILE_MAKE_DIRECTORY, name, 0).error == 0; made++) {
		name[0] = (char)('a' + (made + 1) % 26);
		name[1] = (char)('a' + (made + 1) / 26);
	}
	expect(made > 0);
	expect_eq(answer.head.error, -E_NOSPC);
	expect_eq(made, 3 * TABLE_NODES - 1);
	expect_eq(ask_path(FILE_REMOVE, "ba", FILE_DIRECTORY).error, 0);
	expect_eq(ask_path(FILE_MAKE_DIRECTORY, "new", 0).error, 0);
}

TEST(a_directory_lists_each_name_once)
{
	const struct file_entry *e;
	struct file_reply r = {0};
	uint32_t dir, at, seen = 0;

	reset();
	for (char name[] = "d/a"; name[2] < 'k'; name[2]++) {
		ask_path(FILE_MAKE_DIRECTORY, "d", 0);
		ask_path(FILE_MAKE_DIRECTORY, name, 0);
	}
	dir = opened("d", FILE_DIRECTORY);
	do {
		r = asked(1, (struct file_request){.op = FILE_LIST, .handle = dir,
			.offset = r.value, .arg = 80}, "", 0);
		for (at = 0; (e = listed(&at)) != NULL;) {
			if (e->name[0] == '.')
				continue;
			expect(e->name[1] == 0 && (seen >> (e->name[0] - 'a') & 1) == 0);
			seen |= 1u << (e->name[0] - 'a');
		}
	} while (r.error == 0 && r.count > 0);
	expect_eq(r.error, 0);
	expect_eq(seen, 1023);
}

static const char *
where(uint32_t dir)
{
	struct file_request q = {.op = FILE_WHERE, .handle = dir};

	return asked(1, q, "", 0).error != 0 ? "" : answer.data;
}

TEST(an_open_directory_says_where_it_is)
{
	char name[FILE_NAME_MAX + 1];
	uint32_t dir, deep;

	reset();
	ask_path(FILE_MAKE_DIRECTORY, "d", 0);
	ask_path(FILE_MAKE_DIRECTORY, "d/e", 0);
	expect(strcmp(where(opened("/", FILE_DIRECTORY)), "/") == 0);
	dir = opened("d/e", FILE_DIRECTORY);
	expect(strcmp(where(dir), "/d/e/") == 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_RENAME}, "d\0/f", 5).error, 0);
	expect(strcmp(where(dir), "/f/e/") == 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_WHERE, .handle =
		opened("a", FILE_CREATE)}, "", 0).error, -FILE_ENOTDIR);
	expect_eq(asked(2, (struct file_request){.op = FILE_WHERE, .handle = dir}, "", 0).error,
		-E_BADF);
	/* below it there can be what no path reaches */
	memset(name, 'x', FILE_NAME_MAX);
	name[FILE_NAME_MAX] = 0;
	ask_path(FILE_MAKE_DIRECTORY, name, 0);
	deep = opened(name, FILE_DIRECTORY);
	expect(strlen(where(deep)) == FILE_NAME_MAX + 2);
	expect_eq(asked(1, (struct file_request){.op = FILE_RENAME}, "f\0g", 4).error, 0);
	ask_path(FILE_REMOVE, "g/e", FILE_DIRECTORY);
	expect_eq(asked(1, (struct file_request){.op = FILE_WHERE, .handle = dir}, "", 0).error,
		-E_NOENT);
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
		q.op = kind % 32 == 2 ? next(&state) : next(&state) % 23;
		q.arg = next(&state) % 3 == 0 ? next(&state) : next(&state) % 128;
		q.offset = next(&state) % 8 == 0 ? (uint64_t)next(&state) << 33 :
			next(&state) % (BLOCKS / 4 * BLOCK_BYTES);
		q.handle = next(&state) % 4 == 0 ? next(&state) :
			t.handle[next(&state) % 8].life << 10 | next(&state) % 8;
		kind = next(&state) % 8 == 0 ? next(&state) % sizeof(data) : sizeof(data);
		kind = (uint32_t)asked(next(&state) % 3, q, data, kind).error;
		expect((int32_t)kind <= 0 && (int32_t)kind > -600);
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
	RUN(whatever_is_linked_a_file_has_the_names_that_the_model_has);
	RUN(how_much_a_shared_file_has_is_told);
	RUN(a_file_becomes_memory_of_one_cluster);
	RUN(the_end_of_the_memory_is_an_error_and_removing_helps);
	RUN(an_unlinked_file_lives_as_long_as_it_is_open);
	RUN(handles_are_the_clients_own);
	RUN(a_request_that_is_cut_off_makes_no_sense);
	RUN(a_file_of_the_archive_is_read_in_place_and_copied_when_it_changes);
	RUN(a_file_has_a_mode_and_the_time_of_its_last_change);
	RUN(what_the_archive_has_is_known_until_it_changes_or_is_renamed);
	RUN(there_are_as_many_names_as_there_is_memory_for);
	RUN(a_directory_lists_each_name_once);
	RUN(an_open_directory_says_where_it_is);
	RUN(requests_that_make_no_sense_get_an_answer_and_do_no_harm);
	return TEST_FAILED;
}
