/* SPDX-License-Identifier: MIT
 *
 * Buffers: who has one, where it is, whose memory it is then, what comes out of pipes beside what
 * is written as usual, limits, who is told, and all of it at random beside a naive model.
 *
 * usage: zio_test [SEED [STEPS]]
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

#define PAGE SHARED_PAGE
#define WHO 4				/* clients 0 and 1 are of cluster 0, 2 and 3 of cluster 1 */

static struct file_zio got;		/* of the last answer */

static int
zio(enum file_op op, uint32_t client, struct file_request q)
{
	struct file_reply r;

	q.op = op;
	r = asked(client, q, "", 0);
	memset(&got, 0, sizeof(got));
	if (r.error == 0)
		memcpy(&got, answer.data, sizeof(got));
	return r.error;
}

static int
alloc(uint32_t client, uint32_t bytes)
{
	return zio(FILE_ZIO_ALLOC, client, (struct file_request){.arg = bytes});
}

static int
give_back(uint32_t client, uint64_t key)
{
	return zio(FILE_ZIO_FREE, client, (struct file_request){.offset = key});
}

static int
put(uint32_t client, uint32_t handle, uint64_t key, uint32_t first, uint32_t bytes)
{
	return zio(FILE_ZIO_WRITE, client, (struct file_request){.handle = handle, .offset = key,
		.arg = bytes, .more = first});
}

static int
take(uint32_t client, uint32_t handle, uint32_t most)
{
	return zio(FILE_ZIO_READ, client, (struct file_request){.handle = handle,
		.offset = FILE_AT_OFFSET, .arg = most});
}

static struct file_reply
on(enum file_op op, uint32_t client, uint32_t handle, uint32_t number)
{
	return asked(client, (struct file_request){.op = op, .handle = handle, .arg = number,
		.offset = FILE_AT_OFFSET}, "", 0);
}

/* A pipe from one client to another: ends[0] is `to`'s, ends[1] is `from`'s. */
static uint32_t ends[2];

static void
new_pipe(uint32_t from, uint32_t to, uint32_t flags)
{
	struct file_reply r = asked(from, (struct file_request){.op = FILE_PIPE, .arg = flags}, "",
		0);
	struct file_claimed two[2], c;
	uint64_t token;

	expect_eq(r.error, 0);
	memcpy(two, answer.data, sizeof(two));
	ends[0] = two[0].handle;
	ends[1] = two[1].handle;
	if (from == to)
		return;
	token = asked(from, (struct file_request){.op = FILE_OFFER, .arg = 1}, &ends[0], 4).value;
	on(FILE_CLOSE, from, ends[0], 0);
	expect_eq(asked(to, (struct file_request){.op = FILE_CLAIM, .offset = token}, "", 0).error,
		0);
	memcpy(&c, answer.data, sizeof(c));
	ends[0] = c.handle;
}

static void
begin(void)
{
	reset();
	memset(told, 0, sizeof(told));
}

static unsigned char *
bytes_of(uint64_t key)
{
	return memory[memory_at(key)].bytes;
}

TEST(a_buffer_is_whose_it_was_sent_to)
{
	uint64_t key;

	begin();
	new_pipe(0, 1, 0);
	expect_eq(take(1, ends[0], 100), -FILE_LATER);
	expect_eq(alloc(0, PAGE + 1), 0);
	key = got.key;
	expect(got.kind == FILE_ZIO_BUFFER && got.pages == 2 && got.bytes == PAGE + 1);
	expect_eq(memory[got.handle].lent_to, client_from(0).badge);
	memcpy(bytes_of(key), "abcdef", 6);
	expect_eq(put(0, ends[1], key, 2, 4), 0);
	expect_eq(told[1], 1);
	expect_eq(memory[memory_at(key)].lent_to, 0);
	expect_sound();
	/* it is not the sender's any more, and not the other's yet */
	expect_eq(put(0, ends[1], key, 2, 4), -E_INVAL);
	expect_eq(give_back(0, key), -E_INVAL);
	expect_eq(give_back(1, key), -E_INVAL);
	expect_eq(take(1, ends[0], 100), 0);
	expect(got.kind == FILE_ZIO_BUFFER && got.key == key && got.first == 2 && got.bytes == 4);
	expect_eq(memory[memory_at(key)].lent_to, client_from(1).badge);
	expect_sound();
	expect_eq(put(0, ends[1], key, 0, 4), -E_INVAL);
	expect_eq(give_back(1, key), 0);
	expect_eq(give_back(1, key), -E_INVAL);
	/* the maker has the same one again */
	expect_eq(alloc(0, 2 * PAGE), 0);
	expect_eq(got.key, key);
	expect_eq(t.zio.buffers, 1);
	expect_eq(t.zio.moved, 4);
	expect_eq(t.zio.copied, 0);
	file_forget(&t, 0);
	expect_eq(take(1, ends[0], 100), 0);
	expect_eq(got.bytes, 0);
	expect_eq(t.zio.buffers, 0);
	expect_sound();
}

/* Bytes and buffers in one pipe, read as buffers, as bytes, and by another cluster. */
TEST(what_is_written_as_usual_stays_in_order)
{
	static const char *const parts[] = {"one ", "BUFFER ", "two ", "AGAIN ", "end"};
	char text[100];

	for (uint32_t to = 1; to < 4; to++) {
		uint32_t done = 0;
		struct file_reply r;

		begin();
		new_pipe(0, to, 0);
		for (int i = 0; i < 5; i++) {
			uint32_t n = (uint32_t)str_len(parts[i]);

			if (i % 2 == 0) {
				expect_eq(asked(0, (struct file_request){.op = FILE_WRITE,
					.handle = ends[1], .arg = n, .offset = FILE_AT_OFFSET},
					parts[i], n).count, n);
				continue;
			}
			expect_eq(alloc(0, PAGE), 0);
			memcpy(bytes_of(got.key), parts[i], n);
			expect_eq(put(0, ends[1], got.key, 0, n), 0);
		}
		while (done < 24) {
			expect_sound();
			expect_eq(take(to, ends[0], 1000), 0);
			if (got.kind == FILE_ZIO_BUFFER) {
				memcpy(text + done, bytes_of(got.key) + got.first, got.bytes);
				done += got.bytes;
				expect_eq(give_back(to, got.key), 0);
				continue;
			}
			r = on(FILE_READ, to, ends[0], to == 1 ? 3 : 30);
			expect(r.error == 0 && r.count > 0);
			memcpy(text + done, answer.data, r.count);
			done += r.count;
		}
		expect_eq(done, 24);
		expect(memcmp(text, "one BUFFER two AGAIN end", 24) == 0);
		expect_eq(t.zio.moved, to == 1 ? 13 : 0);
		expect_eq(take(to, ends[0], 1000), -FILE_LATER);
		expect_sound();
	}
}

TEST(a_full_pipe_and_an_empty_pool_push_back)
{
	uint64_t key[BUFFERS_OF_CLIENT_MAX];

	begin();
	new_pipe(0, 1, 0);
	for (int i = 0; i < BUFFERS_OF_CLIENT_MAX; i++) {
		expect_eq(alloc(0, PAGE), 0);
		key[i] = got.key;
	}
	/* all are its own: nobody will give one back */
	expect_eq(alloc(0, PAGE), -E_NOMEM);
	for (int i = 0; i < BUFFERS_OF_PIPE_MAX; i++)
		expect_eq(put(0, ends[1], key[i], 0, 1), 0);
	expect_eq(put(0, ends[1], key[8], 0, 1), -FILE_LATER);
	expect_eq(on(FILE_POLL, 0, ends[1], FILE_POLL_WRITE).value, 0);
	expect_eq(alloc(0, PAGE), -FILE_LATER);
	expect_eq(zio(FILE_ZIO_ALLOC, 0, (struct file_request){.arg = PAGE, .more = 1}), -E_AGAIN);
	expect_eq(told[0], 0);
	expect_eq(take(1, ends[0], 10), 0);
	expect_eq(told[0], 1);
	expect_eq(put(0, ends[1], key[8], 0, 1), 0);
	expect_eq(give_back(1, key[0]), 0);
	expect_eq(told[0], 2);
	expect_eq(alloc(0, PAGE), 0);
	expect_sound();
	/* another size takes the place of one that is free */
	expect_eq(give_back(0, got.key), 0);
	expect_eq(alloc(0, 3 * PAGE), 0);
	expect_eq(t.zio.buffers, BUFFERS_OF_CLIENT_MAX);
	expect_sound();
	/* nobody reads any more: what was in the pipe is the maker's again */
	expect_eq(on(FILE_CLOSE, 1, ends[0], 0).error, 0);
	expect_eq(t.pipe[0].buffers, 0);
	expect_eq(put(0, ends[1], key[9], 0, 1), -E_PIPE);
	expect_eq(give_back(0, key[9]), 0);
	file_forget(&t, 0);
	expect_eq(memories_used(), 0);
	expect_sound();
}

TEST(nonsense_is_an_error)
{
	uint64_t key;

	begin();
	new_pipe(0, 1, FILE_NONBLOCK);
	expect_eq(alloc(0, 0), -E_INVAL);
	expect_eq(alloc(0, FILE_ZIO_MAX + 1), -E_INVAL);
	expect_eq(alloc(0, UINT32_MAX), -E_INVAL);
	expect_eq(alloc(0, FILE_ZIO_MAX), -E_NOMEM);
	expect_eq(alloc(0, PAGE), 0);
	key = got.key;
	expect_eq(put(0, ends[1], 0, 0, 1), -E_INVAL);
	expect_eq(put(0, ends[1], key + 1, 0, 1), -E_INVAL);
	expect_eq(put(0, ends[1], key, 0, 0), -E_INVAL);
	expect_eq(put(0, ends[1], key, 0, PAGE + 1), -E_INVAL);
	expect_eq(put(0, ends[1], key, PAGE, 1), -E_INVAL);
	expect_eq(put(0, ends[1], key, UINT32_MAX, 2), -E_INVAL);
	expect_eq(put(0, 0, key, 0, 1), -E_BADF);
	expect_eq(put(1, ends[0], key, 0, 1), -E_BADF);
	expect_eq(take(0, ends[1], 1), -E_BADF);
	expect_eq(take(1, ends[0], 1), -E_AGAIN);
	expect_eq(zio(FILE_ZIO_READ, 1, (struct file_request){.handle = ends[0], .arg = 1}),
		-FILE_ESPIPE);
	expect_eq(put(2, ends[1], key, 0, 1), -E_BADF);
	/* who cannot have it gets it later, or somebody else */
	expect_eq(put(0, ends[1], key, 0, 3), 0);
	cannot_have = client_from(1).badge;
	expect_eq(take(1, ends[0], 3), -E_MFILE);
	expect_sound();
	cannot_have = 0;
	expect_eq(take(1, ends[0], 2), 0);
	expect_eq(got.kind, FILE_ZIO_BYTES);
	expect_eq(take(1, ends[0], 3), 0);
	expect_eq(got.kind, FILE_ZIO_BUFFER);
	/* its maker is gone: it ends when it is given back */
	file_forget(&t, 0);
	expect_eq(t.zio.buffers, 1);
	expect_sound();
	expect_eq(give_back(1, key), 0);
	expect_eq(t.zio.buffers, 0);
	expect_sound();
}

/* What is given back is kept, unless the cluster is short of memory. */
TEST(short_memory_goes_back)
{
	begin();
	expect_eq(alloc(0, PAGE), 0);
	expect_eq(give_back(0, got.key), 0);
	expect_eq(t.zio.buffers, 1);
	is_memory_short = true;
	expect_eq(alloc(0, PAGE), 0);
	expect_eq(give_back(0, got.key), 0);
	expect_eq(t.zio.buffers, 0);
	expect_sound();
}

/* A cluster that dies has its buffers with it. */
TEST(memory_that_is_gone_is_an_error)
{
	uint64_t key;

	begin();
	new_pipe(2, 1, 0);
	expect_eq(alloc(2, PAGE), 0);
	key = got.key;
	expect_eq(put(2, ends[1], key, 0, 10), 0);
	expect_eq(alloc(2, PAGE), 0);
	key = got.key;
	is_memory_gone = true;
	expect_eq(put(2, ends[1], key, 0, 10), -E_IO);
	expect_eq(on(FILE_READ, 1, ends[0], 10).error, -E_IO);
	expect_eq(on(FILE_READ, 1, ends[0], 10).error, -FILE_LATER);
	file_forget(&t, 2);
	expect_eq(t.zio.buffers, 0);
	expect_eq(on(FILE_READ, 1, ends[0], 10).count, 0);
	expect_sound();
}

TEST(files_are_read_where_they_lie)
{
	static const unsigned char archive[3 * PAGE] = "archive";
	uint32_t h;

	begin();
	t.archive = archive;
	expect_eq(tree_add_fixed(&t, "fixed", archive + 100, 2 * PAGE), 0);
	h = opened("fixed", 0);
	expect_eq(take(1, h, 50), 0);
	expect(got.kind == FILE_ZIO_ARCHIVE && got.first == 100 && got.bytes == 50);
	expect_eq(take(1, h, 3 * PAGE), 0);
	expect(got.first == 150 && got.bytes == 2 * PAGE - 50);
	expect_eq(take(1, h, 1), 0);
	expect_eq(got.bytes, 0);
	expect_eq(zio(FILE_ZIO_READ, 1, (struct file_request){.handle = h, .offset = 7, .arg = 9}),
		0);
	expect(got.first == 107 && got.bytes == 9);
	h = opened("own", FILE_CREATE | FILE_WRITABLE);
	expect_eq(put(1, h, 1, 0, 1), -FILE_ENODEV);
	expect_eq(wrote(h, 2 * PAGE, "x", 1), 1);
	expect_eq(take(1, h, PAGE), 0);
	expect(got.kind == FILE_ZIO_MEMORY && got.bytes == PAGE);
	expect_eq(take(1, h, 2 * PAGE), 0);
	expect(got.kind == FILE_ZIO_MEMORY && got.bytes == PAGE + 1 && answer.head.value == PAGE);
	expect_eq(take(1, h, 2 * PAGE), 0);
	expect(got.kind == FILE_ZIO_BYTES && got.bytes == 0);
	expect_sound();
}

/* --- at random --- */

#define PIPES 3
#define STREAM (4 << 20)
#define HELD_MAX 64

/* What a pipe holds, all of it bytes; the clients that have an end, and who waits there. */
static struct model {
	bool is_there;
	uint32_t handle[2][WHO];
	uint32_t waits[2][WHO];		/* how often it was told then, and 1; 0: it does not wait */
	uint32_t first, last;
	unsigned char stream[STREAM];
} model[PIPES];

/* Buffers that clients have, and what is in them. */
static struct held {
	uint64_t key;			/* 0: none */
	uint32_t owner;
	uint32_t bytes;
	unsigned char data[MEMORY_BYTES];
} held[HELD_MAX];

static struct held *
held_find(uint64_t key)
{
	for (struct held *h = held; h < held + HELD_MAX; h++)
		if (h->key == key)
			return h;
	abort();
}

static struct held *
held_any(uint32_t owner, uint32_t random)
{
	for (uint32_t i = 0; i < HELD_MAX; i++) {
		struct held *h = &held[(random + i) % HELD_MAX];

		if (h->key != 0 && h->owner == owner)
			return h;
	}
	return NULL;
}

/* What was waited for may have happened: who waits at that end has been told. */
static void
expect_told(struct model *m, int end)
{
	for (int c = 0; c < WHO; c++) {
		if (m->waits[end][c] != 0)
			expect(told[c] >= m->waits[end][c]);
		m->waits[end][c] = 0;
	}
}

static bool
has_end(const struct model *m, int end)
{
	bool any = false;

	for (int c = 0; c < WHO; c++)
		any |= m->handle[end][c] != 0;
	return any;
}

static void
model_close(struct model *m, int end, int c)
{
	m->handle[end][c] = 0;
	m->waits[end][c] = 0;
	if (has_end(m, end))
		return;
	expect_told(m, 1 - end);
	/* what nobody reads is gone with its reader */
	m->is_there = has_end(m, 0) || has_end(m, 1);
}

static void
new_model(struct model *m, uint32_t c)
{
	new_pipe(c, c, 0);
	memset(m->handle, 0, sizeof(m->handle));
	memset(m->waits, 0, sizeof(m->waits));
	m->first = m->last = 0;
	m->is_there = true;
	m->handle[0][c] = ends[0];
	m->handle[1][c] = ends[1];
}

static void
pass_end(struct model *m, int end, uint32_t from, uint32_t to)
{
	uint32_t handle = m->handle[end][from];
	struct file_claimed c;
	uint64_t token;

	if (m->handle[end][to] != 0 || from == to)
		return;
	token = asked(from, (struct file_request){.op = FILE_OFFER, .arg = 1}, &handle, 4).value;
	on(FILE_CLOSE, from, handle, 0);
	expect_eq(asked(to, (struct file_request){.op = FILE_CLAIM, .offset = token}, "", 0).error,
		0);
	memcpy(&c, answer.data, sizeof(c));
	m->handle[end][to] = c.handle;
	m->handle[end][from] = 0;
	m->waits[end][from] = 0;
}

static void
stream_put(struct model *m, const void *from, uint32_t bytes)
{
	if (m->last + bytes > STREAM) {
		memmove(m->stream, m->stream + m->first, m->last - m->first);
		m->last -= m->first;
		m->first = 0;
	}
	memcpy(m->stream + m->last, from, bytes);
	m->last += bytes;
}

static void
stream_take(struct model *m, const void *what, uint32_t bytes)
{
	expect(bytes <= m->last - m->first);
	expect(memcmp(m->stream + m->first, what, bytes) == 0);
	m->first += bytes;
}

static void
try_alloc(uint32_t c, uint64_t *state)
{
	uint32_t bytes = next(state) % (3 * PAGE) + 1;
	int result = alloc(c, bytes);
	struct held *h;

	if (result != 0) {
		expect(result == -FILE_LATER || result == -E_NOMEM);
		return;
	}
	h = held_find(0);
	h->key = got.key;
	h->owner = c;
	h->bytes = got.pages * PAGE;
	memcpy(h->data, bytes_of(got.key), h->bytes);
}

/* Whoever a memory is lent to writes to it; what others have does not change by that. */
static void
scribble(uint32_t c, uint64_t *state)
{
	for (int i = 0; i < MEMORIES; i++) {
		uint32_t at = next(state) % PAGE;

		if (memory[i].of.key == 0 || memory[i].lent_to != client_from(c).badge)
			continue;
		memory[i].bytes[at] = (unsigned char)next(state);
		for (struct held *h = held; h < held + HELD_MAX; h++)
			if (h->key == memory[i].of.key && h->owner == c)
				h->data[at] = memory[i].bytes[at];
	}
}

static void
try_put(struct model *m, uint32_t c, uint64_t *state)
{
	struct held *h = held_any(c, next(state));
	uint32_t first, bytes;
	int result;

	if (h == NULL)
		return;
	first = next(state) % h->bytes;
	bytes = next(state) % (h->bytes - first) + 1;
	result = put(c, m->handle[1][c], h->key, first, bytes);
	if (!has_end(m, 0)) {
		expect_eq(result, -E_PIPE);
	} else if (result == -FILE_LATER) {
		m->waits[1][c] = told[c] + 1;
	} else {
		expect_eq(result, 0);
		stream_put(m, h->data + first, bytes);
		h->key = 0;
		expect_told(m, 0);
	}
}

static void
try_write(struct model *m, uint32_t c, uint64_t *state)
{
	unsigned char text[FILE_DATA_MAX];
	uint32_t most = next(state) % 4 == 0 ? FILE_DATA_MAX : 50, len = next(state) % most + 1;
	struct file_reply r;

	for (uint32_t i = 0; i < len; i++)
		text[i] = (unsigned char)next(state);
	r = asked(c, (struct file_request){.op = FILE_WRITE, .handle = m->handle[1][c],
		.arg = len, .offset = FILE_AT_OFFSET}, text, len);
	if (!has_end(m, 0)) {
		expect_eq(r.error, -E_PIPE);
	} else if (r.error != 0) {
		expect(r.error == -FILE_LATER || r.error == -E_NOMEM);
		if (r.error == -FILE_LATER)
			m->waits[1][c] = told[c] + 1;
	} else {
		expect_eq(r.count, len);
		stream_put(m, text, len);
		expect_told(m, 0);
	}
}

/* Nothing is there: whoever asks waits, or is at the end. True: it is so. */
static bool
is_empty(struct model *m, uint32_t c, int error, uint32_t bytes)
{
	if (m->first != m->last)
		return false;
	if (has_end(m, 1)) {
		expect_eq(error, -FILE_LATER);
		m->waits[0][c] = told[c] + 1;
	} else {
		expect(error == 0 && bytes == 0);
	}
	return true;
}

static void
try_read(struct model *m, uint32_t c, uint64_t *state)
{
	uint32_t len = next(state) % FILE_DATA_MAX + 1;
	struct file_reply r = on(FILE_READ, c, m->handle[0][c], len);

	if (is_empty(m, c, r.error, r.count) || r.error == -E_NOMEM)
		return;
	expect(r.error == 0 && r.count > 0 && r.count <= len);
	stream_take(m, answer.data, r.count);
}

static void
try_take(struct model *m, uint32_t c, uint64_t *state)
{
	uint32_t most = next(state) % (4 * PAGE) + 1;
	int result = take(c, m->handle[0][c], most);
	struct held *h;

	if (is_empty(m, c, result, got.bytes))
		return;
	expect_eq(result, 0);
	if (got.kind == FILE_ZIO_BYTES) {
		try_read(m, c, state);
		return;
	}
	expect(got.bytes > 0 && got.bytes <= most);
	expect_eq(memory[memory_at(got.key)].of.home, client_from(c).cluster);
	stream_take(m, bytes_of(got.key) + got.first, got.bytes);
	expect_told(m, 1);
	h = held_find(0);
	h->key = got.key;
	h->owner = c;
	h->bytes = got.pages * PAGE;
	memcpy(h->data, bytes_of(got.key), h->bytes);
}

static void
forget(uint32_t c)
{
	file_forget(&t, c);
	for (struct held *h = held; h < held + HELD_MAX; h++)
		if (h->owner == c)
			h->key = 0;
	for (struct model *m = model; m < model + PIPES; m++) {
		m->waits[0][c] = m->waits[1][c] = 0;
		for (int end = 0; end < 2; end++)
			if (m->handle[end][c] != 0)
				model_close(m, end, (int)c);
	}
}

static void
try_end(struct model *m, uint32_t c, uint32_t what, uint64_t *state)
{
	if (what % 2 == 0)
		try_put(m, c, state);
	else
		try_write(m, c, state);
}

static void
step(struct model *m, uint64_t *state)
{
	uint32_t c = next(state) % WHO, what = next(state) % 24, end = next(state) % 2;
	struct held *h;

	is_memory_short = what == 3;
	if (!m->is_there) {
		new_model(m, c);
	} else if (what == 0 && next(state) % 8 == 0) {
		forget(c);
	} else if (what < 5) {
		try_alloc(c, state);
	} else if (what < 8) {
		scribble(c, state);
	} else if (what < 10 && (h = held_any(c, next(state))) != NULL) {
		expect(memcmp(h->data, bytes_of(h->key), h->bytes) == 0);
		expect_eq(give_back(c, h->key), 0);
		h->key = 0;
	} else if (m->handle[end][c] == 0) {
		return;
	} else if (what == 10) {
		pass_end(m, (int)end, c, next(state) % WHO);
	} else if (what == 11 && next(state) % 4 == 0) {
		on(FILE_CLOSE, c, m->handle[end][c], 0);
		model_close(m, (int)end, (int)c);
	} else if (end == 1) {
		try_end(m, c, what, state);
	} else if (what % 4 == 0) {
		try_read(m, c, state);
	} else {
		try_take(m, c, state);
	}
}

static void
run_random(uint64_t seed, int steps)
{
	uint64_t state = seed;
	int before = test_state.wrong;

	begin();
	memset(held, 0, sizeof(held));
	for (int i = 0; i < PIPES; i++)
		model[i].is_there = false;
	for (int i = 0; i < steps && test_state.wrong == before; i++) {
		step(&model[next(&state) % PIPES], &state);
		if (i % 50 == 0)
			expect_sound();
	}
	for (uint32_t c = 0; c < WHO; c++)
		forget(c);
	expect_eq(t.zio.buffers, 0);
	expect_eq(memories_used(), 0);
	expect_sound();
	if (test_state.wrong != before)
		printf("seed %llu\n", (unsigned long long)seed);
}

static uint64_t first_seed = 1;
static int steps = 6000;

TEST(whatever_clients_do_pipes_and_buffers_hold_what_the_model_holds)
{
	for (uint64_t seed = first_seed; seed < first_seed + 16; seed++)
		run_random(seed, steps);
}

int
main(int argc, char **argv)
{
	first_seed = argc > 1 ? strtoull(argv[1], NULL, 0) : first_seed;
	steps = argc > 2 ? atoi(argv[2]) : steps;
	RUN(a_buffer_is_whose_it_was_sent_to);
	RUN(what_is_written_as_usual_stays_in_order);
	RUN(a_full_pipe_and_an_empty_pool_push_back);
	RUN(nonsense_is_an_error);
	RUN(short_memory_goes_back);
	RUN(memory_that_is_gone_is_an_error);
	RUN(files_are_read_where_they_lie);
	RUN(whatever_clients_do_pipes_and_buffers_hold_what_the_model_holds);
	return TEST_FAILED;
}
