/* SPDX-License-Identifier: MIT
 *
 * Folders of the host: a host that says what the test wants it to, and one that says anything.
 *
 * needs: servers/file/tree.c servers/file/contents.c servers/file/serve.c servers/file/handles.c
 * needs: servers/file/offer.c servers/file/bytes.c servers/file/pipe.c servers/file/message.c
 * servers/file/socket.c servers/file/queue.c servers/file/serve_message.c servers/file/token.c
 * needs: servers/file/share*.c -servers/file/shares.c servers/file/ninep.c base/str.c
 */
#include "test_ask.h"

#define DIRECTORY 0040755
#define FILE_MODE 0100644
#define LINK_MODE 0120777

/* Messages that wait for their answers, in the order in which they were sent. */
static struct {
	struct share *share;
	uint32_t slot, bytes;
} asked_host[64];
static uint32_t asked_hosts;

static unsigned char arena[2][SHARE_SLOTS][SHARE_REQUEST + SHARE_ANSWER];
static struct share share[2];
static unsigned char body[SHARE_ANSWER];
static struct ninep_out out;

static void
note_sent(struct share *s, uint32_t slot, uint32_t bytes)
{
	expect(asked_hosts < 64);
	asked_host[asked_hosts].share = s;
	asked_host[asked_hosts].slot = slot;
	asked_host[asked_hosts++].bytes = bytes;
}

static void
begin_body(void)
{
	out = (struct ninep_out){.at = body, .room = sizeof(body)};
}

/* The host's answer to message number `n`: the body, of a type; errors are NINEP_ERROR. */
static void
answer_message(uint32_t n, enum ninep_type type)
{
	struct share *s = asked_host[n].share;
	uint32_t slot = asked_host[n].slot;
	struct ninep_out m = {.at = s->slot[slot].answer, .room = SHARE_ANSWER};
	uint32_t tag = s->slot[slot].request[5] | (uint32_t)s->slot[slot].request[6] << 8;

	memmove(&asked_host[n], &asked_host[n + 1],
		(asked_hosts - n - 1) * sizeof(asked_host[0]));
	asked_hosts--;
	ninep_begin(&m, (enum ninep_type)(type + 1), tag);
	ninep_put_data(&m, body, out.bytes);
	share_answer(&t, s, slot, ninep_end(&m));
}

static int
type_of(uint32_t n)
{
	return n >= asked_hosts ? -1 :
		asked_host[n].share->slot[asked_host[n].slot].request[4];
}

/* The first message is of this type, and is answered so. */
static void
answer_first(enum ninep_type type)
{
	expect_eq(type_of(0), type);
	if (asked_hosts > 0)
		answer_message(0, type);
	begin_body();
}

static void
fail_first(enum ninep_type type, uint32_t error)
{
	expect_eq(type_of(0), type);
	begin_body();
	ninep_put(&out, error, 4);
	if (asked_hosts > 0)
		answer_message(0, NINEP_ERROR);
	begin_body();
}

static void
put_qid(uint8_t type, uint64_t path)
{
	ninep_put(&out, type, 1);
	ninep_put(&out, 0, 4);
	ninep_put(&out, path, 8);
}

static void
put_attributes(uint32_t mode, uint64_t path, uint64_t size)
{
	ninep_put(&out, NINEP_BASIC, 8);
	put_qid((mode & MODE_KIND) == MODE_DIRECTORY ? NINEP_DIRECTORY : 0, path);
	ninep_put(&out, mode, 4);
	ninep_put(&out, 0, 8);
	ninep_put(&out, 1, 8);
	ninep_put(&out, 0, 8);
	ninep_put(&out, size, 8);
	ninep_put(&out, 4096, 8);
	ninep_put(&out, 8, 8);
	for (int i = 0; i < 3; i++) {
		ninep_put(&out, 1000 + (uint64_t)i, 8);
		ninep_put(&out, 5, 8);
	}
	for (int i = 0; i < 4; i++)
		ninep_put(&out, 0, 8);
}

static void
put_slots(struct share *s, unsigned char (*at)[SHARE_REQUEST + SHARE_ANSWER])
{
	memset(s, 0, sizeof(*s));
	for (uint32_t i = 0; i < SHARE_SLOTS; i++) {
		s->slot[i].request = at[i];
		s->slot[i].answer = at[i] + SHARE_REQUEST;
	}
}

static void
answer_hello(void)
{
	begin_body();
	ninep_put(&out, SHARE_MESSAGE, 4);
	ninep_put_text(&out, NINEP_VERSION, 8);
	answer_first(NINEP_HELLO);
	put_qid(NINEP_DIRECTORY, 1);
	answer_first(NINEP_ATTACH);
}

/* Two shares, /s and /r. */
static void
begin(void)
{
	reset();
	sent = note_sent;
	asked_hosts = 0;
	memset(again, 0, sizeof(again));
	for (int i = 0; i < 2; i++) {
		put_slots(&share[i], arena[i]);
		expect_eq(share_begin(&t, &share[i], i == 0 ? "/s" : "/r"), 0);
		answer_hello();
		expect_eq(share[i].state, SHARE_IS_THERE);
	}
	begin_body();
}

/* The last request once more. */
static struct file_request last;
static char last_path[FILE_PATH_MAX];
static size_t last_bytes;

static struct file_reply
ask_again(uint32_t client)
{
	return asked(client, last, last_path, last_bytes);
}

/* A request that the host has to be asked for. */
static void
put_off(uint32_t client, struct file_request q, const char *path, size_t bytes)
{
	last = q;
	memcpy(last_path, path, bytes);
	last_bytes = bytes;
	expect_eq(asked(client, q, path, bytes).error, -FILE_LATER);
}

static void
put_off_path(enum file_op op, const char *path, uint32_t how)
{
	put_off(1, (struct file_request){.op = op, .arg = how, .more = 0644}, path,
		str_len(path) + 1);
}

static void
expect_names(uint32_t count)
{
	const unsigned char *m = asked_host[0].share->slot[asked_host[0].slot].request;

	expect_eq(type_of(0), NINEP_WALK);
	expect_eq(m[15] | m[16] << 8, count);
}

/* A file of the share is open: its handle. */
static uint32_t
open_file(uint32_t client, const char *path, uint64_t file, uint64_t size, uint32_t how)
{
	struct file_reply r;

	put_off(client, (struct file_request){.op = FILE_OPEN, .arg = how}, path,
		str_len(path) + 1);
	ninep_put(&out, 1, 2);
	put_qid(0, file);
	answer_first(NINEP_WALK);
	ask_again(client);
	put_attributes(FILE_MODE, file, size);
	answer_first(NINEP_GETATTR);
	ask_again(client);
	put_qid(0, file);
	ninep_put(&out, 0, 4);
	answer_first(NINEP_OPEN);
	r = ask_again(client);
	expect_eq(r.error, 0);
	expect_eq(r.kind, FILE_KIND_FILE);
	return r.handle;
}

/* Nothing is left: the host is told to forget what it was told. */
static void
expect_quiet(uint32_t open_ones)
{
	uint32_t used = 0;

	while (asked_hosts > 0) {
		begin_body();
		answer_first(NINEP_CLUNK);
	}
	for (uint32_t i = 1; i < SHARE_FIDS; i++)
		used += share[0].fid[i].state != FID_FREE;
	for (uint32_t i = 0; i < SHARE_SLOTS; i++)
		expect(!share[0].slot[i].is_used);
	expect_eq(used, open_ones);
	expect(share[0].waiting == NULL);
	expect_sound();
}

TEST(a_file_is_opened_read_and_closed)
{
	uint32_t h;
	struct file_reply r;

	begin();
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

	begin();
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
	begin();
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

static void
answer_clunk(void)
{
	for (uint32_t i = 0; i < asked_hosts; i++)
		if (type_of(i) == NINEP_CLUNK) {
			begin_body();
			answer_message(i, NINEP_CLUNK);
			i--;
		}
	begin_body();
}

TEST(links_are_followed_on_the_machine)
{
	struct file_reply r;
	uint32_t h;

	begin();
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
	for (int i = 0; i < LINKS_MAX; i++) {
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

	begin();
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

	begin();
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

	begin();
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

	begin();
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

	begin();
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

/* --- a host that says anything --- */

static void
put_any_body(uint64_t *seed, int type)
{
	uint32_t n = next(seed) % 4;

	begin_body();
	switch (type) {
	case NINEP_WALK:
		ninep_put(&out, n, 2);
		for (uint32_t i = 0; i < n; i++)
			put_qid(next(seed) % 2 ? NINEP_DIRECTORY : next(seed) % 3 ? 0 : NINEP_LINK,
				next(seed) % 5);
		break;
	case NINEP_GETATTR:
		put_attributes(n == 0 ? DIRECTORY : n == 1 ? LINK_MODE : FILE_MODE,
			next(seed) % 5, next(seed) % 5000);
		break;
	case NINEP_READLINK:
		ninep_put_text(&out, n == 0 ? "/r/x/../y" : n == 1 ? "../up" : "x", n == 0 ? 9 :
			n == 1 ? 5 : 1);
		break;
	case NINEP_READ:
	case NINEP_WRITE:
	case NINEP_READDIR:
		/* more than was asked for, too */
		n = n == 0 ? 4000 : next(seed) % 40;
		ninep_put(&out, n, 4);
		for (uint32_t i = 0; i < n; i++)
			ninep_put(&out, next(seed), 1);
		break;
	default:
		put_qid(n == 0 ? 0 : NINEP_DIRECTORY, next(seed) % 5);
		ninep_put(&out, 0, 4);
	}
}

/* Change a byte, cut it, or say another length, type or tag. */
static void
answer_anything(uint64_t *seed)
{
	uint32_t n = next(seed) % asked_hosts, slot = asked_host[n].slot, bytes;
	struct share *s = asked_host[n].share;
	int type = type_of(n);
	struct ninep_out m = {.at = s->slot[slot].answer, .room = SHARE_ANSWER};

	memmove(&asked_host[n], &asked_host[n + 1],
		(asked_hosts - n - 1) * sizeof(asked_host[0]));
	asked_hosts--;
	put_any_body(seed, type);
	ninep_begin(&m, (enum ninep_type)(next(seed) % 8 == 0 ? NINEP_ERROR + 1 : type + 1), slot);
	ninep_put_data(&m, body, out.bytes);
	bytes = ninep_end(&m);
	if (next(seed) % 3 == 0)
		m.at[next(seed) % bytes] = (unsigned char)next(seed);
	if (next(seed) % 5 == 0)
		bytes = next(seed) % (bytes + 20);
	if (next(seed) % 50 == 0)
		bytes = next(seed);
	share_answer(&t, s, slot, bytes);
}

static const char *const any_path[] = {"/s/a", "/s/a/b/c", "/s/../s/x/./y", "/s", "/r/a/../..",
	"/s/x/../../m", "/m", "/s/a//", "/s/."};

#define ANY_PATHS (sizeof(any_path) / sizeof(any_path[0]))

static struct {
	struct file_request q;
	char path[100];
	size_t bytes;
	bool is_put_off;
} any[CLIENTS_MAX];

static void
make_any(uint64_t *seed, uint32_t client, const uint32_t *handles, uint32_t count)
{
	static const uint32_t ops[] = {FILE_OPEN, FILE_OPEN, FILE_STAT, FILE_REMOVE,
		FILE_MAKE_DIRECTORY, FILE_RENAME, FILE_SYMLINK, FILE_READ_LINK, FILE_CLOSE,
		FILE_READ,
		FILE_WRITE, FILE_STAT_OPEN, FILE_RESIZE, FILE_LIST, FILE_SEEK, FILE_SYNC,
		FILE_SET_TIME, FILE_SET_MODE, FILE_WHERE, FILE_POLL, FILE_LINK, FILE_SHARE};
	const char *path = any_path[next(seed) % ANY_PATHS], *second =
		any_path[next(seed) % ANY_PATHS];

	any[client].q = (struct file_request){.op = ops[next(seed) % 22],
		.handle = handles[next(seed) % count], .arg = next(seed) % 512,
		.more = next(seed) % 600, .offset = next(seed) % 3 ? FILE_AT_OFFSET :
		next(seed) % 9000};
	memset(any[client].path, 0, sizeof(any[client].path));
	str_copy(any[client].path, 50, path);
	str_copy(any[client].path + str_len(path) + 1, 40, second);
	any[client].bytes = sizeof(any[client].path);
	if (any[client].q.op == FILE_WRITE)
		any[client].q.arg %= sizeof(any[client].path);
	if (any[client].q.op == FILE_SEEK)
		any[client].q.arg = FILE_FROM_END;
}

static void
drain(uint64_t *seed)
{
	for (int i = 0; i < 5000 && asked_hosts > 0; i++) {
		answer_anything(seed);
		for (uint32_t c = 0; c < CLIENTS_MAX; c++)
			if (t.operation[c] != NULL)
				asked(c, any[c].q, any[c].path, any[c].bytes);
	}
	expect_eq(asked_hosts, 0);
}

static void
say_anything(uint64_t seed)
{
	uint32_t handles[64] = {0}, used = 0;

	begin();
	for (int round = 0; round < 400; round++) {
		uint32_t client = 1 + next(&seed) % 12;
		struct file_reply r;

		if (asked_hosts > 0 && next(&seed) % 2 == 0) {
			answer_anything(&seed);
			continue;
		}
		if (next(&seed) % 60 == 0) {
			file_forget(&t, client);
			continue;
		}
		if (t.operation[client] == NULL)
			make_any(&seed, client, handles, 64);
		r = asked(client, any[client].q, any[client].path, any[client].bytes);
		if (r.error == 0 && any[client].q.op == FILE_OPEN)
			handles[used++ % 64] = r.handle;
		expect_sound();
	}
	drain(&seed);
	for (uint32_t client = 0; client < CLIENTS_MAX; client++)
		file_forget(&t, client);
	drain(&seed);
	expect_quiet(0);
}

TEST(a_host_that_says_anything_harms_nobody)
{
	uint64_t count = 300, first = 1;
	const char *text = getenv("SEED");

	if (text != NULL) {
		first = strtoull(text, NULL, 10);
		count = 1;
	}
	for (uint64_t seed = first; seed < first + count; seed++) {
		int before = test_state.wrong;

		say_anything(seed);
		if (test_state.wrong != before) {
			printf("SEED=%llu does it again\n", (unsigned long long)seed);
			return;
		}
	}
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
	RUN(a_host_that_says_anything_harms_nobody);
	return TEST_FAILED;
}
