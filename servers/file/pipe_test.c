/* SPDX-License-Identifier: MIT
 *
 * Pipes: bytes in order, who is told and when, ends that close or die, limits, and all of it at
 * random beside a naive model.
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

static uint32_t ends[2];		/* of the last pipe */

static int32_t
new_pipe(uint32_t client, uint32_t flags)
{
	struct file_reply r = asked(client, (struct file_request){.op = FILE_PIPE, .arg = flags},
		"", 0);
	struct file_claimed two[2];

	if (r.error != 0)
		return r.error;
	memcpy(two, answer.data, sizeof(two));
	ends[0] = two[0].handle;
	ends[1] = two[1].handle;
	expect(two[0].kind == FILE_KIND_PIPE && two[0].flags == (flags | FILE_READABLE));
	expect(two[1].kind == FILE_KIND_PIPE && two[1].flags == (flags | FILE_WRITABLE));
	return 0;
}

static struct file_reply
on(enum file_op op, uint32_t client, uint32_t handle, uint32_t number, uint32_t more)
{
	return asked(client, (struct file_request){.op = op, .handle = handle, .arg = number,
		.offset = FILE_AT_OFFSET, .more = more}, "", 0);
}

static long
written(uint32_t client, uint32_t handle, const void *from, uint32_t len)
{
	struct file_reply r = asked(client, (struct file_request){.op = FILE_WRITE,
		.handle = handle, .arg = len, .offset = FILE_AT_OFFSET}, from, len);

	return r.error != 0 ? r.error : (long)r.count;
}

static long
taken(uint32_t client, uint32_t handle, uint32_t len)
{
	struct file_reply r = on(FILE_READ, client, handle, len, 0);

	return r.error != 0 ? r.error : (long)r.count;
}

static uint64_t
polled(uint32_t client, uint32_t handle, uint32_t watch)
{
	return on(FILE_POLL, client, handle, FILE_POLL_READ | FILE_POLL_WRITE, watch).value;
}

/* An end goes to another client. */
static uint32_t
passed(uint32_t from, uint32_t handle, uint32_t to)
{
	uint64_t token = asked(from, (struct file_request){.op = FILE_OFFER, .arg = 1}, &handle,
		4).value;
	struct file_claimed c;

	expect_eq(on(FILE_CLOSE, from, handle, 0, 0).error, 0);
	expect_eq(asked(to, (struct file_request){.op = FILE_CLAIM, .offset = token}, "", 0).error,
		0);
	memcpy(&c, answer.data, sizeof(c));
	return c.handle;
}

static void
begin(void)
{
	reset();
	memset(told, 0, sizeof(told));
}

TEST(who_waits_is_told_once)
{
	begin();
	expect_eq(new_pipe(1, 0), 0);
	ends[0] = passed(1, ends[0], 2);
	expect_eq(taken(2, ends[0], 10), -FILE_LATER);
	expect_eq(taken(2, ends[0], 10), -FILE_LATER);
	expect_eq(polled(2, ends[0], FILE_WATCH), 0);
	expect_eq(told[2], 0);
	expect_eq(written(1, ends[1], "ab", 2), 2);
	expect_eq(told[2], 1);
	expect_eq(written(1, ends[1], "cd", 2), 2);
	expect_eq(told[2], 1);
	expect_eq(polled(2, ends[0], FILE_WATCH), FILE_POLL_READ);
	expect_eq(taken(2, ends[0], 3), 3);
	expect(memcmp(answer.data, "abc", 3) == 0);
	expect_eq(taken(2, ends[0], 0), 0);
	expect_eq(taken(2, ends[0], 3), 1);
	expect_eq(taken(2, ends[0], 3), -FILE_LATER);
	expect_eq(on(FILE_CLOSE, 1, ends[1], 0, 0).error, 0);
	expect_eq(told[2], 2);
	expect_eq(taken(2, ends[0], 3), 0);
	expect_eq(polled(2, ends[0], 0), FILE_POLL_HUNG_UP);
	expect_sound();
}

/* Several messages are one write, and an answer has a rest; both end with their client. */
TEST(bytes_of_several_messages_are_in_one_piece)
{
	static char text[FILE_DATA_MAX];
	struct file_reply r;

	begin();
	expect_eq(new_pipe(1, 0), 0);
	ends[1] = passed(1, ends[1], 2);
	memset(text, 'a', sizeof(text));
	for (int i = 0; i < 2; i++)
		expect_eq(asked(2, (struct file_request){.op = FILE_STAGE, .arg = sizeof(text)},
			text, sizeof(text)).error, 0);
	expect_sound();
	expect_eq(taken(1, ends[0], 1), -FILE_LATER);
	expect_eq(written(2, ends[1], "bc", 2), 2 * (long)FILE_DATA_MAX + 2);
	expect_eq(told[1], 1);
	expect_sound();
	r = on(FILE_READ, 1, ends[0], 10, FILE_DATA_MAX + 100);
	expect(r.count == 10 && r.more == FILE_DATA_MAX + 100);
	expect_sound();
	r = on(FILE_REST, 1, 0, FILE_DATA_MAX, 0);
	expect(r.count == FILE_DATA_MAX && r.more == 100);
	expect_eq(on(FILE_REST, 1, 0, 100, 0).count, 100);
	expect_eq(on(FILE_REST, 1, 0, 100, 0).count, 0);
	r = on(FILE_READ, 1, ends[0], FILE_DATA_MAX - 110, 8);
	expect(r.count == FILE_DATA_MAX - 110 && r.more == 2);
	expect_eq(on(FILE_REST, 1, 0, 9, 0).count, 2);
	expect(memcmp(answer.data, "bc", 2) == 0);
	/* what is not asked for at once is gone, and so is what is not written at once */
	written(2, ends[1], "0123", 4);
	expect_eq(on(FILE_READ, 1, ends[0], 1, 3).more, 3);
	expect_eq(polled(1, ends[0], 0), 0);
	expect_eq(on(FILE_REST, 1, 0, 9, 0).count, 0);
	asked(2, (struct file_request){.op = FILE_STAGE, .arg = 5}, text, 5);
	expect_eq(written(2, 999, "x", 1), -E_BADF);
	expect_eq(written(2, ends[1], "x", 1), 1);
	asked(2, (struct file_request){.op = FILE_STAGE, .arg = 5}, text, 5);
	on(FILE_READ, 1, ends[0], 1, 0);
	file_forget(&t, 2);
	expect_sound();
	for (int i = 0; i < FILE_STAGED_MAX / (int)FILE_DATA_MAX; i++)
		expect_eq(asked(3, (struct file_request){.op = FILE_STAGE, .arg = sizeof(text)},
			text, sizeof(text)).error, 0);
	expect_eq(asked(3, (struct file_request){.op = FILE_STAGE, .arg = sizeof(text)}, text,
		sizeof(text)).error, -FILE_EMSGSIZE);
	file_forget(&t, 1);
	expect_eq(free_blocks(), BLOCKS - (int)t.kept_blocks);
}

TEST(a_full_pipe_takes_a_message_whole_or_not)
{
	static char text[FILE_DATA_MAX];
	uint32_t n = 0;

	begin();
	expect_eq(new_pipe(1, 0), 0);
	while (written(1, ends[1], text, sizeof(text)) > 0)
		n++;
	expect_eq(n, PIPE_BYTES / FILE_DATA_MAX);
	expect_eq(polled(1, ends[1], 0), 0);
	expect_eq(written(1, ends[1], text, 10), 10);
	expect_eq(taken(1, ends[0], 10), 10);
	expect_eq(told[1], 0);
	for (n = 0; n * FILE_DATA_MAX < FILE_PIECE_MAX; n++)
		expect_eq(taken(1, ends[0], FILE_DATA_MAX), (long)FILE_DATA_MAX);
	expect_eq(told[1], 1);
	expect_eq(polled(1, ends[1], 0), FILE_POLL_WRITE);
	expect_eq(written(1, ends[1], text, sizeof(text)), (long)FILE_DATA_MAX);
	expect_eq(on(FILE_CLOSE, 1, ends[0], 0, 0).error, 0);
	expect_eq(written(1, ends[1], text, 1), -E_PIPE);
	expect_eq(polled(1, ends[1], 0), FILE_POLL_WRITE | FILE_POLL_BROKEN);
	expect_sound();
	file_forget(&t, 1);
	expect_eq(free_blocks(), BLOCKS - (int)t.kept_blocks);
	expect_sound();
}

TEST(who_does_not_block_is_not_told)
{
	begin();
	expect_eq(new_pipe(1, FILE_NONBLOCK), 0);
	expect_eq(taken(1, ends[0], 1), -E_AGAIN);
	expect_eq(on(FILE_SET_FLAGS, 1, ends[0], 0, FILE_NONBLOCK).error, 0);
	written(1, ends[1], "a", 1);
	expect_eq(told[1], 0);
	expect_eq(new_pipe(1, 1), -E_INVAL);
	expect_eq(on(FILE_SEEK, 1, ends[0], 0, 0).error, -FILE_ESPIPE);
	expect_eq(asked(1, (struct file_request){.op = FILE_READ, .handle = ends[0], .arg = 1}, "",
		0).error, -FILE_ESPIPE);
	expect_eq(on(FILE_LIST, 1, ends[0], 60, 0).error, -FILE_ENOTDIR);
	expect_eq(on(FILE_RESIZE, 1, ends[1], 0, 0).error, -E_INVAL);
	expect_eq(on(FILE_STAT_OPEN, 1, ends[0], 0, 0).kind, FILE_KIND_PIPE);
	expect_eq(taken(1, ends[1], 1), -E_BADF);
	expect_eq(written(1, ends[0], "a", 1), -E_BADF);
	expect_eq(on(FILE_POLL, 1, ends[0], 4, 0).error, -E_INVAL);
	expect_eq(on(FILE_POLL, 1, ends[0], 1, 2).error, -E_INVAL);
	expect_eq(polled(1, opened("f", FILE_CREATE), FILE_WATCH), 3);
}

TEST(death_closes_ends_and_tells_the_other_side)
{
	begin();
	expect_eq(new_pipe(1, 0), 0);
	ends[0] = passed(1, ends[0], 2);
	ends[1] = passed(1, ends[1], 3);
	file_forget(&t, 1);
	expect_sound();
	expect_eq(taken(2, ends[0], 1), -FILE_LATER);
	written(3, ends[1], "last", 4);
	file_forget(&t, 3);
	expect_eq(told[2], 1);
	expect_eq(taken(2, ends[0], 9), 4);
	expect_eq(taken(2, ends[0], 9), 0);
	expect_eq(new_pipe(2, 0), 0);
	taken(2, ends[0], 1);
	file_forget(&t, 2);
	expect_eq(told[2], 1);
	expect_eq(free_blocks(), BLOCKS - (int)t.kept_blocks);
	expect_sound();
}

TEST(pipes_and_their_memory_have_limits)
{
	static char text[FILE_DATA_MAX];
	uint32_t n = 0, full, file;

	begin();
	for (uint32_t c = 1; c < CLIENTS_MAX && new_pipe(c, 0) == 0; c++)
		for (n = 1; new_pipe(c, 0) == 0;)
			n++;
	expect_eq(n, PIPES_OF_CLIENT_MAX);
	expect_eq(new_pipe(9, 0), -E_NOSPC);
	expect_sound();
	file_forget(&t, 1);
	expect_eq(new_pipe(9, 0), 0);
	expect_eq(free_blocks(), BLOCKS - (int)t.kept_blocks);
	begin();
	file = opened("f", FILE_CREATE | FILE_WRITABLE);
	new_pipe(1, 0);
	full = ends[1];
	written(1, full, "x", 1);
	while (wrote(file, FILE_AT_OFFSET, text, sizeof(text)) > 0)
		continue;
	expect_eq(written(1, full, text, sizeof(text)), (long)FILE_DATA_MAX);
	expect_eq(written(1, full, text, sizeof(text)), (long)FILE_DATA_MAX);
	expect_eq(written(1, full, text, sizeof(text)), -FILE_LATER);
	new_pipe(1, 0);
	expect_eq(written(1, ends[1], text, 1), -E_NOMEM);
	expect_sound();
}

/* --- beside a model --- */

#define WHO 3
#define PIPES 6
#define HELD 100000

static struct model {
	bool is_there;
	uint32_t handle[2][WHO];	/* 0: it has none */
	uint32_t first, last;		/* of the bytes held */
	bool waits[2][WHO];
} model[PIPES];
static unsigned char held[PIPES][HELD];
static unsigned owed[WHO];		/* how often each must have been told */

static bool
has_end(const struct model *m, int end)
{
	for (int c = 0; c < WHO; c++)
		if (m->handle[end][c] != 0)
			return true;
	return false;
}

static void
model_tell(struct model *m, int end)
{
	for (int c = 0; c < WHO; c++) {
		owed[c] += m->waits[end][c];
		m->waits[end][c] = false;
	}
}

static void
model_close(struct model *m, int end, int c)
{
	m->handle[end][c] = 0;
	if (!has_end(m, end))
		model_tell(m, 1 - end);
	m->is_there = has_end(m, 0) || has_end(m, 1);
}

/* In as many messages as it takes. */
static long
staged_write(uint32_t c, uint32_t handle, const unsigned char *text, uint32_t len)
{
	for (; len > FILE_DATA_MAX; len -= FILE_DATA_MAX, text += FILE_DATA_MAX)
		expect_eq(asked(c, (struct file_request){.op = FILE_STAGE, .arg = FILE_DATA_MAX},
			text, FILE_DATA_MAX).error, 0);
	return written(c, handle, text, len);
}

static void
try_write(struct model *m, int c, uint32_t len, uint64_t *state)
{
	unsigned char text[FILE_PIECE_MAX], *to = held[m - model];
	uint32_t count = m->last - m->first;
	long got;

	len = next(state) % 4 == 0 && len > 40 ? len * FILE_PIECE_MAX / FILE_DATA_MAX : len;
	for (uint32_t i = 0; i < len; i++)
		text[i] = (unsigned char)next(state);
	got = staged_write((uint32_t)c, m->handle[1][c], text, len);
	if (!has_end(m, 0)) {
		expect_eq(got, -E_PIPE);
	} else if (count + len > PIPE_BYTES) {
		expect_eq(got, -FILE_LATER);
		m->waits[1][c] = true;
	} else {
		expect_eq(got, (long)len);
		memcpy(to + m->last, text, len);
		m->last += len;
		if (len > 0)
			model_tell(m, 0);
	}
}

/* With a rest. */
static long
long_read(uint32_t c, uint32_t handle, unsigned char *to, uint32_t len)
{
	uint32_t first = len < FILE_DATA_MAX ? len : len / 2;
	struct file_reply r = on(FILE_READ, c, handle, first, len - first);
	uint32_t done = r.error == 0 ? r.count : 0, more = r.error == 0 ? r.more : 0;

	memcpy(to, answer.data, done);
	while (more > 0) {
		struct file_reply rest = on(FILE_REST, c, 0, 700, 0);

		memcpy(to + done, answer.data, rest.count);
		done += rest.count;
		expect_eq(rest.more, more - rest.count);
		more = rest.more;
	}
	return r.error != 0 ? r.error : (long)done;
}

static void
try_read(struct model *m, int c, uint32_t len)
{
	static unsigned char text[2 * FILE_DATA_MAX];
	uint32_t count = m->last - m->first;
	long got = long_read((uint32_t)c, m->handle[0][c], text, len);

	if (count == 0 && has_end(m, 1) && len > 0) {
		expect_eq(got, -FILE_LATER);
		m->waits[0][c] = true;
		return;
	}
	expect_eq(got, len < count ? len : count);
	expect(memcmp(text, held[m - model] + m->first, (size_t)got) == 0);
	m->first += (uint32_t)got;
	if (m->last - m->first + FILE_PIECE_MAX <= PIPE_BYTES && (count > 0 || len == 0))
		model_tell(m, 1);
	if (m->last > HELD / 2) {
		memmove(held[m - model], held[m - model] + m->first, m->last - m->first);
		m->last -= m->first;
		m->first = 0;
	}
}

static void
forget(int c)
{
	file_forget(&t, (uint32_t)c);
	for (struct model *m = model; m < model + PIPES; m++) {
		m->waits[0][c] = m->waits[1][c] = false;
		for (int end = 0; end < 2; end++)
			if (m->handle[end][c] != 0)
				model_close(m, end, c);
	}
}

static void
step(struct model *m, uint64_t *state)
{
	int c = (int)(next(state) % WHO), to = (int)(next(state) % WHO);
	int end = (int)(next(state) % 2);
	uint32_t what = next(state) % 40, len = next(state) % 3 != 0 ? next(state) % 40 :
		next(state) % (FILE_DATA_MAX + 1);

	if (!m->is_there) {
		memset(m, 0, sizeof(*m));
		expect_eq(new_pipe((uint32_t)c, 0), 0);
		m->is_there = true;
		m->handle[0][c] = ends[0];
		m->handle[1][c] = ends[1];
	} else if (what == 0 && next(state) % 4 == 0) {
		forget(c);
	} else if (m->handle[end][c] == 0) {
		return;
	} else if (what < 3 && m->handle[end][to] == 0) {
		m->handle[end][to] = passed((uint32_t)c, m->handle[end][c], (uint32_t)to);
		m->handle[end][c] = 0;
	} else if (what == 3) {
		on(FILE_CLOSE, (uint32_t)c, m->handle[end][c], 0, 0);
		model_close(m, end, c);
	} else if (end == 1) {
		try_write(m, c, len, state);
	} else {
		try_read(m, c, len > 40 && next(state) % 2 == 0 ? 2 * len : len);
	}
}

TEST(whatever_clients_do_pipes_hold_what_the_model_holds)
{
	uint64_t state = 5;

	begin();
	for (int i = 0; i < 60000; i++) {
		step(&model[next(&state) % PIPES], &state);
		for (int c = 0; c < WHO; c++)
			expect_eq(told[c], owed[c]);
		if (i % 500 == 0)
			expect_sound();
	}
	for (int c = 0; c < WHO; c++)
		forget(c);
	expect_eq(free_blocks(), BLOCKS - (int)t.kept_blocks);
	expect_sound();
}

/* Two clients read what the machine is given: who asks first gets it, and what is left stays. */
TEST(input_is_asked_for_once_and_goes_to_whoever_reads)
{
	uint32_t a, b;

	reset();
	memset(told, 0, sizeof(told));
	a = asked(1, (struct file_request){.op = FILE_INPUT}, "", 0).handle;
	b = asked(2, (struct file_request){.op = FILE_INPUT}, "", 0).handle;
	expect_eq(wanted, 0);
	expect_eq(on(FILE_READ, 1, a, 4, 6).error, -FILE_LATER);
	expect_eq(wanted, 10);
	expect_eq(taken(2, b, 3), -FILE_LATER);
	expect_eq(polled(2, b, FILE_WATCH), 0);
	input_give(&t, "0123456789", 10);
	expect(told[1] == 1 && told[2] == 1);
	expect_eq(taken(2, b, 3), 3);
	expect(memcmp(answer.data, "012", 3) == 0);
	file_forget(&t, 2);
	expect_eq(taken(1, a, 20), 7);
	expect(memcmp(answer.data, "3456789", 7) == 0);
	expect_sound();
	/* its end is found once, and it may go on behind it */
	expect_eq(taken(1, a, 4), -FILE_LATER);
	input_give(&t, NULL, 0);
	expect_eq(polled(1, a, 0), FILE_POLL_READ);
	expect_eq(taken(1, a, 4), 0);
	expect_eq(taken(1, a, 4), -FILE_LATER);
	input_give(&t, "x", 1);
	expect_eq(taken(1, a, 4), 1);
	expect_eq(written(1, a, "x", 1), -E_BADF);
	/* as much as a pipe holds, also where more is wanted */
	expect_eq(on(FILE_READ, 1, a, FILE_DATA_MAX, UINT32_MAX).error, -FILE_LATER);
	expect_eq(wanted, PIPE_BYTES);
	file_forget(&t, 1);
	expect_sound();
}

/* --- pipes with names --- */

static struct file_reply
opens(uint32_t client, uint32_t how)
{
	return asked(client, (struct file_request){.op = FILE_OPEN, .arg = how}, "/p", 3);
}

TEST(who_opens_a_pipe_waits_for_the_other_end)
{
	uint32_t r, w;

	reset();
	memset(told, 0, sizeof(told));
	expect_eq(ask_path(FILE_MAKE_PIPE, "/p", 0).error, 0);
	expect_eq(ask_path(FILE_MAKE_PIPE, "/q/", 0).error, -E_NOENT);
	expect_eq(opens(2, FILE_WRITABLE | FILE_NONBLOCK).error, -FILE_ENXIO);
	r = opens(1, FILE_READABLE).handle;
	expect_eq(on(FILE_OPENED, 1, r, 0, 0).error, -FILE_LATER);
	expect_eq(polled(1, r, 0), 0);
	w = opens(2, FILE_WRITABLE).handle;
	expect_eq(told[1], 1);
	expect_eq(on(FILE_OPENED, 2, w, 0, 0).error, 0);
	/* it has come, and is gone again */
	expect_eq(on(FILE_CLOSE, 2, w, 0, 0).error, 0);
	expect_eq(on(FILE_OPENED, 1, r, 0, 0).error, 0);
	expect_eq(polled(1, r, 0), FILE_POLL_HUNG_UP);
	expect_eq(taken(1, r, 1), 0);
	expect_sound();
	w = opens(2, FILE_WRITABLE | FILE_NONBLOCK).handle;
	expect_eq(written(2, w, "abc", 3), 3);
	expect_eq(on(FILE_CLOSE, 1, r, 0, 0).error, 0);
	expect_eq(written(2, w, "d", 1), -E_PIPE);
	/* a second writer waits for a reader, who finds what is there */
	expect_eq(on(FILE_OPENED, 3, opens(3, FILE_WRITABLE).handle, 0, 0).error, -FILE_LATER);
	r = opens(1, FILE_READABLE | FILE_NONBLOCK).handle;
	expect_eq(told[3], 1);
	expect_eq(taken(1, r, 9), 3);
	expect_eq(taken(1, r, 9), -E_AGAIN);
	expect_sound();
	file_forget(&t, 1);
	file_forget(&t, 2);
	file_forget(&t, 3);
	expect(t.pipe[0].ends[0] == 0 && t.pipe[0].node == 0);
	expect_sound();
}

TEST(one_description_may_have_both_ends)
{
	struct file_status status;
	uint32_t b, r;

	reset();
	ask_path(FILE_MAKE_PIPE, "/p", 0);
	b = opens(1, FILE_READABLE | FILE_WRITABLE).handle;
	expect_eq(on(FILE_OPENED, 1, b, 0, 0).error, 0);
	expect_eq(polled(1, b, 0), FILE_POLL_WRITE);
	expect_eq(written(1, b, "xy", 2), 2);
	expect_eq(polled(1, b, 0), FILE_POLL_READ | FILE_POLL_WRITE);
	expect_eq(taken(1, b, 1), 1);
	r = opens(2, FILE_READABLE).handle;
	expect_eq(on(FILE_OPENED, 2, r, 0, 0).error, 0);
	expect_sound();
	/* who reads is told when what both wait for comes, and when nobody writes any more */
	expect_eq(taken(2, r, 9), 1);
	expect_eq(taken(2, r, 9), -FILE_LATER);
	memset(told, 0, sizeof(told));
	expect_eq(taken(1, b, 9), -FILE_LATER);
	expect_eq(written(1, b, "z", 1), 1);
	expect(told[1] == 1 && told[2] == 1);
	expect_eq(taken(1, b, 9), 1);
	expect_eq(taken(2, r, 9), -FILE_LATER);
	/* it is a file with a mode all the same, and ends without its name */
	expect_eq(on(FILE_SET_MODE, 1, b, 0640, 0).error, 0);
	expect_eq(on(FILE_STAT_OPEN, 1, b, 0, 0).kind, FILE_KIND_PIPE);
	memcpy(&status, answer.data, sizeof(status));
	expect(status.mode == (MODE_PIPE | 0640) && status.links == 1);
	expect_eq(ask_path(FILE_REMOVE, "/p", 0).error, 0);
	expect_eq(on(FILE_RESIZE, 1, b, 0, 0).error, -E_INVAL);
	expect_eq(on(FILE_SEEK, 1, b, 0, 0).error, -FILE_ESPIPE);
	expect_eq(on(FILE_CLOSE, 1, b, 0, 0).error, 0);
	expect_eq(told[2], 2);
	expect_eq(taken(2, r, 9), 0);
	expect_eq(ask_path(FILE_MAKE_PIPE, "/p", 0).error, 0);
	expect_eq(on(FILE_OPENED, 1, opens(1, FILE_WRITABLE).handle, 0, 0).error, -FILE_LATER);
	expect_sound();
	file_forget(&t, 2);
	file_forget(&t, 1);
	expect_sound();
}

TEST(pipes_with_names_count_as_all_others)
{
	char name[8] = "/p";
	uint32_t h;

	reset();
	for (uint32_t i = 0; i <= PIPES_OF_CLIENT_MAX; i++) {
		name[2] = (char)('0' + i);
		expect_eq(ask_path(FILE_MAKE_PIPE, name, 0).error, 0);
		expect_eq(ask_path(FILE_OPEN, name, FILE_READABLE).error,
			i < PIPES_OF_CLIENT_MAX ? 0 : -FILE_ENFILE);
	}
	expect_eq(ask_path(FILE_OPEN, "/p0", FILE_WRITABLE).error, 0);
	/* to have it is not to open it; there is nothing to cut */
	h = ask_path(FILE_OPEN, name, 0).handle;
	expect_eq(on(FILE_SET_TIME, 1, h, FILE_NOW, 0).error, 0);
	expect_eq(on(FILE_READ, 1, h, 1, 0).error, -E_BADF);
	expect_eq(ask_path(FILE_OPEN, "/p0", FILE_EMPTY | FILE_WRITABLE).error, 0);
	expect_eq(ask_path(FILE_OPEN, "/p0", FILE_DIRECTORY | FILE_READABLE).error, -FILE_ENOTDIR);
	expect_sound();
	file_forget(&t, 1);
	expect_sound();
}

int
main(void)
{
	RUN(who_opens_a_pipe_waits_for_the_other_end);
	RUN(one_description_may_have_both_ends);
	RUN(pipes_with_names_count_as_all_others);
	RUN(who_waits_is_told_once);
	RUN(bytes_of_several_messages_are_in_one_piece);
	RUN(a_full_pipe_takes_a_message_whole_or_not);
	RUN(who_does_not_block_is_not_told);
	RUN(death_closes_ends_and_tells_the_other_side);
	RUN(pipes_and_their_memory_have_limits);
	RUN(input_is_asked_for_once_and_goes_to_whoever_reads);
	RUN(whatever_clients_do_pipes_hold_what_the_model_holds);
	return TEST_FAILED;
}
