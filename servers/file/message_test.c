/* SPDX-License-Identifier: MIT
 *
 * Sockets and message queues: what clients send and receive at random beside a naive model, with
 * ends that close or die at any moment, descriptors on their way, names, limits. SEED is printed
 * where something is wrong, and taken from the environment.
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
#include <stdlib.h>
#include <servers/file/test_ask.h>

#define WHO 3
#define PAIRS 4
#define HELD 64
#define LONGEST 5000
#define SEEDS 12

static uint64_t state;

static struct file_reply
on(enum file_op op, uint32_t client, uint32_t handle, uint32_t number, uint32_t more)
{
	return asked(client, (struct file_request){.op = op, .handle = handle, .arg = number,
		.offset = FILE_AT_OFFSET, .more = more}, "", 0);
}

static int32_t
stage_all(uint32_t client, const unsigned char *text, uint32_t len)
{
	int32_t error = 0;

	for (uint32_t n; len > 0 && error == 0; len -= n, text += n) {
		n = len < FILE_DATA_MAX ? len : (uint32_t)FILE_DATA_MAX;
		error = asked(client, (struct file_request){.op = FILE_STAGE, .arg = n}, text,
			n).error;
	}
	return error;
}

static uint32_t sender;			/* the pid that says who sends */

/* With a descriptor, unless that is 0. */
static long
sent_with(uint32_t client, uint32_t handle, const unsigned char *text, uint32_t len, uint32_t right)
{
	struct {
		struct file_address a;
		uint32_t right;
	} more = {.right = right};
	int32_t error = stage_all(client, text, len);
	struct file_reply r;

	if (error != 0)
		return error;
	r = asked(client, (struct file_request){.op = FILE_SEND, .handle = handle,
		.more = right != 0, .offset = (uint64_t)sender << 32}, &more, sizeof(more));
	return r.error != 0 ? r.error : (long)r.count;
}

static struct file_received received;

static long
received_bytes(uint32_t client, uint32_t handle, unsigned char *to, uint32_t len, uint32_t flags)
{
	struct file_reply r = on(FILE_RECEIVE, client, handle, len, flags);
	uint32_t done = 0, all = r.more;

	if (r.error != 0)
		return r.error;
	memcpy(&received, answer.data, sizeof(received));
	while (done < all) {
		r = on(FILE_REST, client, 0, 1500, 0);
		memcpy(to + done, answer.data, r.count);
		done += r.count;
		expect(r.count > 0 && r.more == all - done);
		if (r.count == 0)
			break;
	}
	return all;
}

/* --- pairs of sockets beside a model --- */

struct held {
	uint32_t len, from;		/* bytes of it are left from there on */
	unsigned char text[LONGEST];
	bool has_right;
	int32_t pid;			/* of who has sent it */
};

static struct side {
	int owner;			/* client; -1: closed */
	uint32_t handle;
	struct held held[HELD];		/* that came to it */
	int count;
	bool is_reset;
	bool tells;			/* who has sent a message */
} side[PAIRS][2];
static uint32_t type_of[PAIRS];

static uint32_t
bytes_in(const struct side *s)
{
	uint32_t sum = 0;

	for (int i = 0; i < s->count; i++)
		sum += s->held[i].len - s->held[i].from;
	return sum;
}

static void
drop_first(struct side *s)
{
	memmove(s->held, s->held + 1, (size_t)(s->count - 1) * sizeof(s->held[0]));
	s->count--;
}

static void
make_pair(int p)
{
	static const uint32_t types[3] = {FILE_STREAM, FILE_DATAGRAM, FILE_PACKETS};
	uint32_t c = next(&state) % WHO;
	struct file_claimed two[2];

	type_of[p] = types[next(&state) % 3];
	expect_eq(on(FILE_SOCKET, c, 0, type_of[p], FILE_PAIR).error, 0);
	memcpy(two, answer.data, sizeof(two));
	for (int i = 0; i < 2; i++) {
		side[p][i].owner = (int)c;
		side[p][i].handle = two[i].handle;
		side[p][i].count = 0;
		side[p][i].is_reset = false;
		side[p][i].tells = next(&state) % 2 == 0;
		if (side[p][i].tells)
			expect_eq(on(FILE_ENDPOINT, c, two[i].handle, FILE_ENDPOINT_TELLS,
				0).error, 0);
	}
}

static void
model_close(int p, int i)
{
	struct side *s = &side[p][i], *other = &side[p][1 - i];

	if (type_of[p] != FILE_DATAGRAM && s->count > 0)
		other->is_reset = true;
	s->owner = -1;
	s->count = 0;
}

static bool
fits(int p, const struct side *to, uint32_t len)
{
	return bytes_in(to) + len <= SOCKET_BYTES && (type_of[p] == FILE_STREAM ||
		to->count < SOCKET_MESSAGES);
}

static long
wanted_of_send(int p, int i, uint32_t len)
{
	const struct side *to = &side[p][1 - i];

	if (to->owner < 0)
		return type_of[p] == FILE_DATAGRAM ? -FILE_ECONNREFUSED : -E_PIPE;
	return fits(p, to, len) ? (long)len : -FILE_LATER;
}

static void
try_send(int p, int i, uint32_t len)
{
	static unsigned char text[LONGEST];
	struct side *s = &side[p][i], *to = &side[p][1 - i];
	uint32_t right = next(&state) % 5 == 0 && len > 0 ? s->handle : 0;
	long want = wanted_of_send(p, i, len), got;
	struct held *h = &to->held[to->count];

	if (to->count == HELD)
		return;
	if (right != 0)
		right = asked((uint32_t)s->owner, (struct file_request){.op = FILE_OPEN,
			.arg = FILE_CREATE | FILE_READABLE}, "f", 2).handle;
	for (uint32_t n = 0; n < len; n++)
		text[n] = (unsigned char)next(&state);
	sender = 1 + next(&state) % 3;
	got = sent_with((uint32_t)s->owner, s->handle, text, len, right);
	if (right != 0)
		on(FILE_CLOSE, (uint32_t)s->owner, right, 0, 0);
	/* where memory ends it waits, too */
	if (got == -FILE_LATER || got == -E_NOMEM) {
		expect(want == -FILE_LATER || free_blocks() < 6);
		return;
	}
	if (got == -FILE_ECONNREFUSED || got == -FILE_ENOTCONN)
		expect(to->owner < 0 && type_of[p] == FILE_DATAGRAM);
	else
		expect_eq(got, want);
	if (got < 0 || (len == 0 && type_of[p] == FILE_STREAM))
		return;
	memcpy(h->text, text, len);
	h->len = len;
	h->from = 0;
	h->has_right = right != 0;
	h->pid = (int32_t)sender;
	to->count++;
}

/*
 * Bytes of a stream up to the end of a message with a descriptor, and where that is told of one
 * sender; or of one message.
 */
static uint32_t
model_take(int p, struct side *s, unsigned char *to, uint32_t len, bool is_peek)
{
	int32_t pid = s->held[0].pid;
	uint32_t done = 0;
	bool is_last = false;

	for (int i = 0; i < s->count && !is_last && (done < len || type_of[p] != FILE_STREAM);) {
		struct held *h = &s->held[i];
		uint32_t n = h->len - h->from < len - done ? h->len - h->from : len - done;

		memcpy(to + done, h->text + h->from, n);
		done += n;
		is_last = type_of[p] != FILE_STREAM || h->has_right;
		if (is_peek) {
			i++;
		} else {
			h->from += n;
			h->has_right = false;
			if (type_of[p] != FILE_STREAM || h->from == h->len)
				drop_first(s);
		}
		is_last |= s->tells && i < s->count && s->held[i].pid != pid;
	}
	return done;
}

static void
try_receive(int p, int i, uint32_t len)
{
	static unsigned char got[2 * LONGEST], want[2 * LONGEST];
	struct side *s = &side[p][i];
	bool is_peek = next(&state) % 6 == 0, has_right;
	int32_t pid = s->count > 0 && s->tells ? s->held[0].pid : 0;
	uint32_t flags = is_peek ? FILE_PEEK : FILE_WITH_RIGHTS;
	long n;

	len += type_of[p] == FILE_STREAM;
	has_right = s->count > 0 && s->held[0].has_right;
	n = received_bytes((uint32_t)s->owner, s->handle, got, len, flags);
	if (s->count == 0) {
		bool is_over = side[p][1 - i].owner < 0 && type_of[p] != FILE_DATAGRAM;

		expect_eq(n, s->is_reset ? -FILE_ECONNRESET : is_over ? 0 : -FILE_LATER);
		s->is_reset = false;
		return;
	}
	/* where memory ends everything stays */
	if (n == -E_NOMEM) {
		expect(free_blocks() < 4);
		return;
	}
	expect_eq(received.pid, pid);
	/* a stream may have had a descriptor later on */
	if (!is_peek && has_right)
		expect_eq(received.rights, 1);
	for (uint32_t r = 0; !is_peek && r < received.rights; r++)
		expect_eq(on(FILE_CLOSE, (uint32_t)s->owner, received.right[r].handle, 0,
			0).error, 0);
	/* of a stream less may come where memory ends */
	if (n > 0 && type_of[p] == FILE_STREAM && free_blocks() < 4)
		len = (uint32_t)n;
	expect_eq(n, model_take(p, s, want, len, is_peek));
	expect(n < 0 || memcmp(got, want, (size_t)n) == 0);
}

static void
try_poll(int p, int i)
{
	const struct side *s = &side[p][i], *to = &side[p][1 - i];
	bool is_over = to->owner < 0 && type_of[p] != FILE_DATAGRAM;
	uint64_t has = on(FILE_POLL, (uint32_t)s->owner, s->handle, FILE_POLL_READ |
		FILE_POLL_WRITE, 0).value;

	expect_eq((has & FILE_POLL_READ) != 0, s->count > 0 || is_over);
	expect_eq((has & FILE_POLL_WRITE) != 0, to->owner < 0 || fits(p, to,
		type_of[p] == FILE_STREAM ? FILE_PIECE_MAX : 1));
	expect_eq((has & FILE_POLL_HUNG_UP) != 0, is_over);
	expect_eq((has & FILE_POLL_BROKEN) != 0, s->is_reset);
}

/* The socket goes to another client. */
static void
pass(struct side *s, int to)
{
	uint64_t token = asked((uint32_t)s->owner, (struct file_request){.op = FILE_OFFER,
		.arg = 1}, &s->handle, 4).value;
	struct file_claimed c;

	expect_eq(on(FILE_CLOSE, (uint32_t)s->owner, s->handle, 0, 0).error, 0);
	expect_eq(asked((uint32_t)to, (struct file_request){.op = FILE_CLAIM, .offset = token}, "",
		0).error, 0);
	memcpy(&c, answer.data, sizeof(c));
	expect_eq(c.kind, FILE_KIND_SOCKET);
	s->owner = to;
	s->handle = c.handle;
}

/*
 * Its sockets close in the order of its handles, which passing changes: where it has both sides of
 * a pair, none is left to see in which.
 */
static void
die(int c)
{
	file_forget(&t, (uint32_t)c);
	for (int p = 0; p < PAIRS; p++)
		for (int i = 0; i < 2; i++)
			if (side[p][i].owner == c)
				model_close(p, i);
}

static void
pair_step(void)
{
	int p = (int)(next(&state) % PAIRS), i = (int)(next(&state) % 2);
	uint32_t what = next(&state) % 60;
	uint32_t len = next(&state) % 3 == 0 ? next(&state) % LONGEST : next(&state) % 50;

	if (side[p][0].owner < 0 && side[p][1].owner < 0) {
		make_pair(p);
	} else if (side[p][i].owner < 0) {
		return;
	} else if (what == 0 && next(&state) % 3 == 0) {
		die(side[p][i].owner);
	} else if (what == 1) {
		expect_eq(on(FILE_CLOSE, (uint32_t)side[p][i].owner, side[p][i].handle, 0,
			0).error, 0);
		model_close(p, i);
	} else if (what < 5) {
		pass(&side[p][i], (int)(next(&state) % WHO));
	} else if (what < 10) {
		try_poll(p, i);
	} else if (what < 35) {
		try_send(p, i, len);
	} else {
		try_receive(p, i, len);
	}
}

TEST(whatever_clients_send_sockets_hold_what_the_model_holds)
{
	const char *only = getenv("SEED");

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		int failed = TEST_FAILED;

		state = only != NULL ? strtoull(only, NULL, 0) : seed;
		reset();
		for (int p = 0; p < PAIRS; p++)
			side[p][0].owner = side[p][1].owner = -1;
		for (int n = 0; n < 6000; n++) {
			pair_step();
			if (n % 100 == 0)
				expect_sound();
		}
		for (int c = 0; c < WHO; c++)
			die(c);
		expect_sound();
		expect_eq(t.handles_of[NOBODY], 0);
		ask_path(FILE_REMOVE, "f", 0);
		expect_eq(free_blocks(), BLOCKS - (int)t.kept_blocks);
		if (TEST_FAILED && !failed)
			printf("SEED=%llu\n", (unsigned long long)(only != NULL ?
				strtoull(only, NULL, 0) : seed));
	}
}

/* --- message queues beside a model --- */

static struct {
	uint32_t len, priority;
	unsigned char first;
} queued[QUEUE_MESSAGES];
static int queued_count;

static int32_t
opened_queue(uint32_t client, const char *text, uint32_t how, uint32_t messages, uint32_t bytes)
{
	struct file_name name = {.bytes = (uint16_t)str_len(text)};
	struct file_claimed end;
	struct file_reply r;

	memcpy(name.at, text, name.bytes);
	r = asked(client, (struct file_request){.op = FILE_QUEUE, .arg = how | FILE_READABLE |
		FILE_WRITABLE, .offset = (uint64_t)messages << 32 | bytes}, &name, sizeof(name));
	memcpy(&end, answer.data, sizeof(end));
	return r.error != 0 ? r.error : (int32_t)end.handle;
}

static void
queue_try_send(uint32_t client, uint32_t handle)
{
	static unsigned char text[QUEUE_BYTES];
	uint32_t len = next(&state) % (LONGEST + 1), priority = next(&state) % 4;
	int at = queued_count;
	struct file_address nobody = {0};
	struct file_reply r;

	memset(text, (int)(next(&state) % 256), sizeof(text));
	expect_eq(stage_all(client, text, len), 0);
	r = asked(client, (struct file_request){.op = FILE_SEND, .handle = handle, .arg = priority},
		&nobody, sizeof(nobody));
	if (len > LONGEST - 100 || queued_count == 8) {
		expect_eq(r.error, len > LONGEST - 100 ? -FILE_EMSGSIZE : -FILE_LATER);
		return;
	}
	expect_eq(r.error, 0);
	while (at > 0 && queued[at - 1].priority < priority) {
		queued[at] = queued[at - 1];
		at--;
	}
	queued[at].len = len;
	queued[at].priority = priority;
	queued[at].first = text[0];
	queued_count++;
}

static void
queue_try_receive(uint32_t client, uint32_t handle)
{
	static unsigned char text[QUEUE_BYTES];
	struct file_reply r = on(FILE_RECEIVE, client, handle, LONGEST, 0);
	uint32_t done = 0, all = r.more;

	if (queued_count == 0) {
		expect_eq(r.error, -FILE_LATER);
		return;
	}
	expect_eq(r.error, 0);
	expect(all == queued[0].len && r.value == queued[0].priority);
	while (done < all) {
		r = on(FILE_REST, client, 0, FILE_DATA_MAX, 0);
		memcpy(text + done, answer.data, r.count);
		done += r.count;
	}
	for (uint32_t i = 0; i < all; i++)
		if (text[i] != queued[0].first) {
			expect_eq(text[i], queued[0].first);
			break;
		}
	memmove(queued, queued + 1, sizeof(queued) - sizeof(queued[0]));
	queued_count--;
}

TEST(whatever_clients_send_a_queue_holds_what_the_model_holds)
{
	uint32_t handle[WHO];

	reset();
	state = 77;
	queued_count = 0;
	for (uint32_t c = 0; c < WHO; c++) {
		int32_t h = opened_queue(c, "q", FILE_CREATE, 8, LONGEST - 100);

		expect(h >= 0);
		handle[c] = (uint32_t)h;
	}
	for (int i = 0; i < 20000; i++) {
		uint32_t c = next(&state) % WHO;

		if (next(&state) % 2 == 0)
			queue_try_send(c, handle[c]);
		else
			queue_try_receive(c, handle[c]);
		if (i % 200 == 0) {
			expect_sound();
			file_forget(&t, c);
			handle[c] = (uint32_t)opened_queue(c, "q", 0, 0, 0);
		}
	}
	expect_sound();
}

TEST(a_queue_ends_with_its_name_and_its_descriptions)
{
	int32_t q;

	reset();
	signalled = 0;
	expect_eq(opened_queue(1, "q", 0, 1, 1), -E_NOENT);
	q = opened_queue(1, "q", FILE_CREATE, 2, 10);
	expect_eq(opened_queue(1, "q", FILE_CREATE | FILE_EXCLUSIVE, 1, 1), -E_EXIST);
	expect_eq(opened_queue(1, "r", FILE_CREATE, 0, 1), -E_INVAL);
	expect_eq(opened_queue(1, "r", FILE_CREATE, 1, QUEUE_BYTES + 1), -E_INVAL);
	expect_eq(asked(1, (struct file_request){.op = FILE_QUEUE_NOTIFY, .handle = (uint32_t)q,
		.arg = 10, .offset = 42}, "", 0).error, 0);
	expect_eq(asked(2, (struct file_request){.op = FILE_QUEUE_NOTIFY, .handle = (uint32_t)
		opened_queue(2, "q", 0, 0, 0), .arg = 10}, "", 0).error, -E_BUSY);
	expect_eq(sent_with(1, (uint32_t)q, (const unsigned char *)"abc", 3, 0), 3);
	expect(signalled == 10 && signalled_pid == 42);
	file_forget(&t, 1);
	file_forget(&t, 2);
	expect_sound();
	q = opened_queue(3, "q", 0, 0, 0);
	expect_eq(on(FILE_QUEUE_STATE, 3, (uint32_t)q, 0, 0).error, 0);
	expect_eq(((struct file_queue *)(void *)answer.data)->count, 1);
	expect_eq(asked(3, (struct file_request){.op = FILE_QUEUE_REMOVE},
		&(struct file_name){.bytes = 1, .at = "q"}, sizeof(struct file_name)).error, 0);
	expect_eq(opened_queue(4, "q", 0, 0, 0), -E_NOENT);
	expect_sound();
	file_forget(&t, 3);
	expect_sound();
	expect_eq(free_blocks(), BLOCKS - (int)t.kept_blocks);
	for (uint32_t n = 0; n < QUEUES_MAX; n++) {
		char name[3] = {(char)('a' + n / 16), (char)('a' + n % 16), 0};

		expect(opened_queue(5, name, FILE_CREATE, 1, 1) >= 0);
	}
	expect_eq(opened_queue(6, "one more", FILE_CREATE, 1, 1), -E_NOSPC);
	expect_sound();
}

/* --- limits, and requests that make no sense --- */

TEST(sockets_have_limits_and_names_their_owners)
{
	struct file_address a = {.name = {.bytes = 2, .at = "\0n"}};
	struct file_claimed c;
	struct file_reply r = {0};
	uint32_t n, listener;

	reset();
	for (n = 0; r.error == 0; n++)
		r = on(FILE_SOCKET, 1, 0, FILE_STREAM, 0);
	expect(n == PIPES_OF_CLIENT_MAX + 1 && r.error == -FILE_ENFILE);
	file_forget(&t, 1);
	expect_sound();
	on(FILE_SOCKET, 1, 0, FILE_STREAM, 0);
	memcpy(&c, answer.data, sizeof(c));
	listener = c.handle;
	expect_eq(asked(1, (struct file_request){.op = FILE_BIND, .handle = listener}, &a,
		sizeof(a)).error, 0);
	expect_eq(on(FILE_LISTEN, 1, listener, 3, 0).error, 0);
	for (n = 0; n < 5; n++) {
		on(FILE_SOCKET, 2, 0, FILE_STREAM, 0);
		memcpy(&c, answer.data, sizeof(c));
		r = asked(2, (struct file_request){.op = FILE_CONNECT, .handle = c.handle}, &a,
			sizeof(a));
		expect_eq(r.error, n < 4 ? 0 : -FILE_LATER);
	}
	expect_sound();
	told[2] = 0;
	expect_eq(on(FILE_ACCEPT, 1, listener, 0, 0).error, 0);
	expect_eq(told[2], 1);
	expect_sound();
	file_forget(&t, 2);
	expect_sound();
	for (n = 0; n < 3; n++)
		expect_eq(on(FILE_ACCEPT, 1, listener, 0, 0).error, 0);
	expect_eq(on(FILE_ACCEPT, 1, listener, 0, 0).error, -FILE_LATER);
	file_forget(&t, 1);
	expect_sound();
	expect_eq(asked(2, (struct file_request){.op = FILE_CONNECT, .handle = c.handle}, &a,
		sizeof(a)).error, -E_BADF);
}

TEST(requests_of_any_bytes_are_answered)
{
	reset();
	state = 3;
	for (int i = 0; i < 40000; i++) {
		char data[400];
		uint32_t len = next(&state) % sizeof(data);
		struct file_request q = {.op = FILE_STAGE + next(&state) % 33,
			.handle = handle_number(&t, &t.handle[next(&state) % 20]),
			.offset = next(&state) % 3 == 0 ? FILE_AT_OFFSET : next(&state) % 4,
			.arg = next(&state) % 9, .more = next(&state) % 4 == 0 ? FILE_PAIR :
			next(&state) % 5};

		for (uint32_t n = 0; n < len; n++)
			data[n] = (char)(next(&state) % 3 == 0 ? next(&state) : 0);
		asked(next(&state) % WHO, q, data, len);
		if (i % 100 == 0)
			expect_sound();
		if (i % 500 == 0)
			file_forget(&t, next(&state) % WHO);
	}
	for (uint32_t c = 0; c < WHO; c++)
		file_forget(&t, c);
	expect_sound();
}

int
main(void)
{
	RUN(whatever_clients_send_sockets_hold_what_the_model_holds);
	RUN(whatever_clients_send_a_queue_holds_what_the_model_holds);
	RUN(a_queue_ends_with_its_name_and_its_descriptions);
	RUN(sockets_have_limits_and_names_their_owners);
	RUN(requests_of_any_bytes_are_answered);
	return TEST_FAILED;
}
