/* SPDX-License-Identifier: MIT
 *
 * Folders of a host that says anything. SEED=n does one of them again.
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

static void
put_any_body(uint64_t *seed, uint32_t message, int type)
{
	const unsigned char *m = asked_host[message].share->slot[asked_host[message].slot].request;
	uint32_t n = next(seed) % 4;

	begin_body();
	switch (type) {
	case NINEP_WALK:
		if (n > 0)
			n = m[15];	/* all that was asked for */
		ninep_put(&out, n, 2);
		for (uint32_t i = 0; i < n; i++)
			put_qid(next(seed) % 2 ? NINEP_DIRECTORY : next(seed) % 4 ? 0 : NINEP_LINK,
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

	put_any_body(seed, n, type);
	memmove(&asked_host[n], &asked_host[n + 1],
		(asked_hosts - n - 1) * sizeof(asked_host[0]));
	asked_hosts--;
	ninep_begin(&m, (enum ninep_type)(next(seed) % 16 == 0 ? NINEP_ERROR + 1 : type + 1), slot);
	ninep_put_data(&m, body, out.bytes);
	bytes = ninep_end(&m);
	if (next(seed) % 10 == 0)
		m.at[next(seed) % bytes] = (unsigned char)next(seed);
	if (next(seed) % 12 == 0)
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
		FILE_SET_TIME, FILE_SET_MODE, FILE_WHERE, FILE_POLL, FILE_LINK, FILE_SHARE,
		FILE_SPACE, FILE_SPACE_OPEN};
	const char *path = any_path[next(seed) % ANY_PATHS], *second =
		any_path[next(seed) % ANY_PATHS];

	any[client].q = (struct file_request){.op = ops[next(seed) % 24],
		.handle = handles[next(seed) % count], .arg = next(seed) % 512,
		.more = next(seed) % 600, .offset = next(seed) % 3 ? FILE_AT_OFFSET :
		next(seed) % 9000};
	memset(any[client].path, 0, sizeof(any[client].path));
	str_copy(any[client].path, 50, path);
	str_copy(any[client].path + str_len(path) + 1, 40, second);
	any[client].bytes = sizeof(any[client].path);
	if (next(seed) % 2 == 0) {
		any[client].q.op = next(seed) % 2 == 0 ? FILE_READ : FILE_WRITE;
		any[client].q.arg %= sizeof(any[client].path);
	}
	if (any[client].q.op == FILE_OPEN && next(seed) % 4 != 0)
		any[client].q.arg = FILE_READABLE | FILE_WRITABLE;
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

static uint32_t any_moved;		/* reads and writes that the host has served well */

static void
say_anything(uint64_t seed)
{
	uint32_t handles[9] = {0}, used = 0;

	host_begin();
	for (int round = 0; round < 400; round++) {
		/* few, so that handles are their own */
		uint32_t client = 1 + next(&seed) % 3;
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
			make_any(&seed, client, handles, used < 8 ? used + 1 : 8);
		r = asked(client, any[client].q, any[client].path, any[client].bytes);
		if (r.error == 0 && any[client].q.op == FILE_OPEN)
			handles[used++ % 8] = r.handle;
		any_moved += r.error == 0 && r.count > 0 &&
			(any[client].q.op == FILE_READ || any[client].q.op == FILE_WRITE);
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
	expect(text != NULL || any_moved > 300);
}

int
main(void)
{
	RUN(a_host_that_says_anything_harms_nobody);
	return TEST_FAILED;
}
