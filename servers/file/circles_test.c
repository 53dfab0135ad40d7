/* SPDX-License-Identifier: MIT
 *
 * Sockets in messages to sockets, also to themselves and in circles, beside a naive model: there
 * are those that a client has, or can receive, or can receive from what it can receive; no others,
 * whoever closes or dies. SEED is printed where something is wrong, and taken from the environment.
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
#define SOCKETS 10			/* each is the other side of the one beside it */
#define HANDLES 12			/* of one client for one socket */
#define QUEUED 24
#define SEEDS 16
#define STEPS 3000
#define NEVER 0xffu

static uint64_t state;

/* What the model knows of a socket. */
static struct one {
	bool is_there;
	uint32_t handle[WHO][HANDLES];
	uint32_t handles[WHO];
	uint8_t queue[QUEUED];		/* sockets that lie in messages to it */
	uint32_t queued;
} one[SOCKETS];

static struct file_reply
on_handle(enum file_op op, uint32_t client, uint32_t handle)
{
	return asked(client, (struct file_request){.op = op, .handle = handle,
		.offset = FILE_AT_OFFSET}, "", 0);
}

/* --- the model --- */

static void
reach(uint32_t i, bool found[SOCKETS])
{
	if (found[i])
		return;
	found[i] = true;
	for (uint32_t n = 0; n < one[i].queued; n++)
		reach(one[i].queue[n], found);
}

/* Those that nobody can reach end. How many are left, and how many lie in messages. */
static uint32_t
end_lost(uint32_t *sent)
{
	bool found[SOCKETS] = {false};
	uint32_t count = 0;

	*sent = 0;
	for (uint32_t i = 0; i < SOCKETS; i++)
		for (uint32_t c = 0; c < WHO; c++)
			if (one[i].is_there && one[i].handles[c] > 0)
				reach(i, found);
	for (uint32_t i = 0; i < SOCKETS; i++) {
		if (!found[i])
			one[i].is_there = false, one[i].queued = 0;
		count += found[i];
		*sent += one[i].queued;
	}
	return count;
}

static void
hold(uint32_t i, uint32_t client, uint32_t handle)
{
	struct one *o = &one[i];

	expect(o->is_there && o->handles[client] < HANDLES);
	o->handle[client][o->handles[client]++] = handle;
}

/* --- steps --- */

static void
make(uint32_t i, uint32_t client)
{
	struct file_claimed two[2];

	i &= ~1u;
	if (one[i].is_there || one[i + 1].is_there)
		return;
	expect_eq(asked(client, (struct file_request){.op = FILE_SOCKET, .arg = FILE_PACKETS,
		.more = FILE_PAIR}, "", 0).error, 0);
	memcpy(two, answer.data, sizeof(two));
	for (uint32_t n = 0; n < 2; n++) {
		one[i + n] = (struct one){.is_there = true};
		hold(i + n, client, two[n].handle);
		expect((two[n].flags & FILE_WHOLE) != 0);
	}
}

/* Of a client that has both: the second one in a message to the first one's other side. */
static void
try_put(uint32_t by, uint32_t what, uint32_t client)
{
	struct one *to = &one[by ^ 1];
	struct {
		struct file_address a;
		uint32_t right;
	} more = {.right = one[what].handle[client][0]};
	struct file_reply r;

	if (one[by].handles[client] == 0 || one[what].handles[client] == 0 || to->queued == QUEUED)
		return;
	r = asked(client, (struct file_request){.op = FILE_SEND, .more = 1,
		.handle = one[by].handle[client][0]}, &more, sizeof(more));
	expect(r.error == 0 || r.error == -FILE_LATER || r.error == -E_NOMEM ||
		r.error == -E_MFILE || !to->is_there);
	if (r.error == 0 && to->is_there)
		to->queue[to->queued++] = (uint8_t)what;
}

static void
try_take(uint32_t i, uint32_t client)
{
	struct one *o = &one[i];
	struct file_received got;
	struct file_reply r;
	uint8_t what = o->queued > 0 ? o->queue[0] : NEVER;

	if (o->handles[client] == 0 || (what != NEVER && one[what].handles[client] == HANDLES))
		return;
	r = asked(client, (struct file_request){.op = FILE_RECEIVE, .handle = o->handle[client][0],
		.arg = 10, .more = FILE_WITH_RIGHTS}, "", 0);
	if (r.error != 0) {
		expect(r.error == -FILE_LATER || r.error == -FILE_ECONNRESET);
		return;
	}
	memcpy(&got, answer.data, sizeof(got));
	expect_eq(got.rights, what != NEVER);
	if (what == NEVER || got.rights == 0)
		return;
	o->queued--;
	memmove(o->queue, o->queue + 1, o->queued);
	expect(got.right[0].kind == FILE_KIND_SOCKET && (got.right[0].flags & FILE_WHOLE) != 0);
	hold(what, client, got.right[0].handle);
}

static void
close_one(uint32_t i, uint32_t client)
{
	struct one *o = &one[i];

	if (o->handles[client] > 0)
		expect_eq(on_handle(FILE_CLOSE, client, o->handle[client]
			[--o->handles[client]]).error, 0);
}

static void
forget(uint32_t client)
{
	file_forget(&t, client);
	for (uint32_t i = 0; i < SOCKETS; i++)
		one[i].handles[client] = 0;
}

static void
step(void)
{
	uint32_t i = next(&state) % SOCKETS, j = next(&state) % SOCKETS, c = next(&state) % WHO;
	uint32_t what = next(&state) % 100;

	if (what < 15)
		make(i, c);
	else if (what < 50)
		try_put(i, j, c);
	else if (what < 70)
		try_take(i, c);
	else if (what < 98)
		close_one(i, c);
	else
		forget(c);
}

static void
compare(void)
{
	uint32_t sent, there = end_lost(&sent), sockets = 0;

	for (uint32_t i = 0; i < PIPES_MAX; i++)
		sockets += t.pipe[i].type == PIPE_PACKETS;
	expect_eq(sockets, there);
	expect_eq(t.sockets_sent, sent);
	expect_eq(t.handles_of[NOBODY], sent);
	expect(t.dropped == 0 && !t.may_be_lost);
}

TEST(sockets_in_messages_are_there_as_long_as_somebody_can_receive_them)
{
	const char *only = getenv("SEED");

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		int failed = TEST_FAILED;

		state = only != NULL ? strtoull(only, NULL, 0) : seed;
		reset();
		memset(one, 0, sizeof(one));
		for (int n = 0; n < STEPS; n++) {
			step();
			compare();
		}
		for (uint32_t c = 0; c < WHO; c++)
			forget(c);
		compare();
		expect_sound();
		expect_eq(t.handles, 0);
		expect_eq(free_blocks(), BLOCKS - (int)t.kept_blocks);
		if (TEST_FAILED && !failed)
			printf("SEED=%llu\n", (unsigned long long)state);
	}
}

/* --- who listens, in a message to one that it has not accepted --- */

static uint32_t
made(uint32_t client)
{
	struct file_claimed c;

	expect_eq(asked(client, (struct file_request){.op = FILE_SOCKET, .arg = FILE_STREAM}, "",
		0).error, 0);
	memcpy(&c, answer.data, sizeof(c));
	return c.handle;
}

TEST(a_listener_in_a_message_to_what_it_is_to_accept_ends)
{
	struct {
		struct file_address a;
		uint32_t right;
	} more = {.a = {.name = {.bytes = 2, .at = "\0n"}}};
	uint32_t listener, c;

	reset();
	listener = made(1);
	c = made(1);
	expect_eq(asked(1, (struct file_request){.op = FILE_BIND, .handle = listener}, &more.a,
		sizeof(more.a)).error, 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_LISTEN, .handle = listener, .arg = 3},
		"", 0).error, 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_CONNECT, .handle = c}, &more.a,
		sizeof(more.a)).error, 0);
	more = (typeof(more)){.right = listener};
	expect_eq(asked(1, (struct file_request){.op = FILE_STAGE, .arg = 1}, "x", 1).error, 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_SEND, .handle = c, .more = 1}, &more,
		sizeof(more)).error, 0);
	expect_eq(t.sockets_sent, 1);
	expect_eq(on_handle(FILE_CLOSE, 1, listener).error, 0);
	expect_eq(t.handles_of[NOBODY], 0);
	/* the other side of what was to be accepted has ended */
	expect((asked(1, (struct file_request){.op = FILE_POLL, .handle = c,
		.arg = FILE_POLL_READ}, "", 0).value & FILE_POLL_HUNG_UP) != 0);
	file_forget(&t, 1);
	expect_sound();
	expect_eq(t.handles, 0);
	for (uint32_t i = 0; i < PIPES_MAX; i++)
		expect_eq(t.pipe[i].type, PIPE_PLAIN);
}

TEST(what_waits_to_be_accepted_keeps_what_was_sent_to_it)
{
	struct {
		struct file_address a;
		uint32_t right;
	} more = {.a = {.name = {.bytes = 2, .at = "\0m"}}};
	uint32_t listener, c, sent;

	reset();
	listener = made(1);
	c = made(2);
	sent = made(2);
	expect_eq(asked(1, (struct file_request){.op = FILE_BIND, .handle = listener}, &more.a,
		sizeof(more.a)).error, 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_LISTEN, .handle = listener, .arg = 3},
		"", 0).error, 0);
	expect_eq(asked(2, (struct file_request){.op = FILE_CONNECT, .handle = c}, &more.a,
		sizeof(more.a)).error, 0);
	more = (typeof(more)){.right = sent};
	for (int i = 0; i < 2; i++) {
		expect_eq(asked(2, (struct file_request){.op = FILE_STAGE, .arg = 1}, "x",
			1).error, 0);
		expect_eq(asked(2, (struct file_request){.op = FILE_SEND, .handle = c, .more = 1},
			&more, sizeof(more)).error, 0);
	}
	/* each looks for what is lost */
	expect_eq(on_handle(FILE_CLOSE, 2, sent).error, 0);
	expect_eq(t.sockets_sent, 2);
	file_forget(&t, 2);
	expect_eq(t.sockets_sent, 2);
	file_forget(&t, 1);
	expect_eq(t.handles, 0);
	expect_sound();
}

int
main(void)
{
	RUN(sockets_in_messages_are_there_as_long_as_somebody_can_receive_them);
	RUN(what_waits_to_be_accepted_keeps_what_was_sent_to_it);
	RUN(a_listener_in_a_message_to_what_it_is_to_accept_ends);
	return TEST_FAILED;
}
