/* SPDX-License-Identifier: MIT
 *
 * Counts, timers, signals and lists: what is told when, to whom, and that nothing is left of what
 * ends while it is listed. Time goes on by one with each look at it.
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

#define SIGNALS 0x30

static uint64_t pending;		/* of whoever asks */

static uint32_t
made(uint32_t client, enum file_event kind, uint64_t value, uint32_t flags)
{
	struct file_claimed end = {0};

	expect_eq(asked(client, (struct file_request){.op = FILE_EVENT, .arg = kind,
		.offset = value, .more = flags}, "", 0).error, 0);
	memcpy(&end, answer.data, sizeof(end));
	return end.handle;
}

static int32_t
closed(uint32_t client, uint32_t handle)
{
	return asked(client, (struct file_request){.op = FILE_CLOSE, .handle = handle}, "",
		0).error;
}

static long
taken(uint32_t client, uint32_t handle)
{
	struct file_reply r = asked(client, (struct file_request){.op = FILE_READ,
		.handle = handle, .offset = FILE_AT_OFFSET, .arg = 8}, "", 0);
	uint64_t found = 0;

	memcpy(&found, answer.data, sizeof(found));
	return r.error != 0 ? r.error : (long)found;
}

static int32_t
added(uint32_t client, uint32_t handle, uint64_t more)
{
	return asked(client, (struct file_request){.op = FILE_WRITE, .handle = handle,
		.offset = FILE_AT_OFFSET, .arg = 8}, &more, sizeof(more)).error;
}

static struct file_waits waits;

static uint64_t
polled(uint32_t client, uint32_t handle, uint32_t watch)
{
	struct file_reply r = asked(client, (struct file_request){.op = FILE_POLL,
		.handle = handle, .arg = FILE_POLL_READ | FILE_POLL_WRITE, .more = watch,
		.offset = pending}, "", 0);

	expect_eq(r.error, 0);
	memcpy(&waits, answer.data, sizeof(waits));
	return r.value;
}

static int32_t
list_changed_by(uint32_t client, uint32_t list, enum file_list_change how, uint32_t handle,
	uint32_t events, uint64_t data)
{
	const struct file_listed what = {.handle = handle, .wanted = {.events = events,
		.data = data}};

	return asked(client, (struct file_request){.op = FILE_LIST_CHANGE, .handle = list,
		.arg = how, .more = (uint32_t)data}, &what, sizeof(what)).error;
}

static int32_t
list_changed(uint32_t list, enum file_list_change how, uint32_t handle, uint32_t events,
	uint64_t data)
{
	return list_changed_by(1, list, how, handle, events, data);
}

/* How many are taken, and the sum of their data. */
static long
list_taken(uint32_t client, uint32_t list, uint32_t most)
{
	struct file_reply r = asked(client, (struct file_request){.op = FILE_LIST_TAKE,
		.handle = list, .arg = most, .offset = pending}, "", 0);
	struct file_ready ready;
	long sum = 0;

	if (r.error != 0)
		return r.error;
	for (uint32_t i = 0; i < r.count; i++) {
		memcpy(&ready, answer.data + i * sizeof(ready), sizeof(ready));
		sum += (long)ready.data;
	}
	return (long)r.count * 1000 + sum;
}

TEST(counts_are_taken_and_waited_for)
{
	uint32_t h, one;

	reset();
	h = made(1, FILE_EVENT_COUNT, 3, 0);
	one = made(1, FILE_EVENT_COUNT, 2, FILE_SEMAPHORE | FILE_NONBLOCK);
	expect_eq(polled(1, h, FILE_WATCH), FILE_POLL_READ | FILE_POLL_WRITE);
	expect_eq(taken(1, h), 3);
	expect_eq(taken(1, h), -FILE_LATER);
	memset(told, 0, sizeof(told));
	expect_eq(added(1, h, 5), 0);
	expect_eq(told[1], 1);
	expect_eq(added(1, h, UINT64_MAX), -E_INVAL);
	expect_eq(added(1, h, FILE_COUNT_MAX), -FILE_LATER);
	expect_eq(taken(1, h), 5);
	expect_eq(told[1], 2);
	expect_eq(taken(1, one) + taken(1, one), 2);
	expect_eq(taken(1, one), -E_AGAIN);
	expect_eq(added(2, h, 5), -E_BADF);
	expect_sound();
	expect_eq(closed(1, h), 0);
	file_forget(&t, 1);
	expect_sound();
	expect_eq(t.handles, 0);
}

static struct file_reply
timer_set(uint32_t h, uint64_t first, uint64_t period, uint32_t is_absolute)
{
	const struct file_timer to = {first, period};

	return asked(1, (struct file_request){.op = FILE_EVENT_SET, .handle = h,
		.arg = is_absolute}, &to, sizeof(to));
}

TEST(timers_are_over_by_the_clock_of_who_asks)
{
	uint32_t h;
	long over;

	reset();
	h = made(1, FILE_EVENT_TIMER, 1000, FILE_NONBLOCK);
	expect_eq(taken(1, h), -E_AGAIN);
	expect_eq(polled(1, h, FILE_WATCH), 0);
	expect(waits.until == FOREVER);
	memset(told, 0, sizeof(told));
	expect_eq(timer_set(h, 20, 0, 0).error, 0);
	expect_eq(told[1], 1);
	expect_eq(polled(1, h, FILE_WATCH), 0);
	expect(waits.until > secret && waits.until <= secret + 20);
	secret += 20;
	expect_eq(polled(1, h, FILE_WATCH), FILE_POLL_READ);
	expect_eq(taken(1, h), 1);
	expect_eq(taken(1, h), -E_AGAIN);
	expect_eq(timer_set(h, 10, 10, 0).error, 0);
	secret += 100;
	over = taken(1, h);
	expect(over >= 9 && over <= 11);
	expect_eq(timer_set(h, secret + 1000 + 50, 0, 1).error, 0);
	expect_eq(polled(1, h, 0), 0);
	secret += 50;
	expect_eq(taken(1, h), 1);
	expect_eq(timer_set(h, 5, UINT64_MAX, 0).error, 0);
	secret += 10;
	expect_eq(taken(1, h), 1);
	expect_eq(taken(1, h), -E_AGAIN);
	expect_eq(timer_set(h, UINT64_MAX, UINT64_MAX, 0).error, 0);
	expect_eq(polled(1, h, 0), 0);
	expect_eq(timer_set(h, 1, 1, 0).error, 0);
	secret = INT64_MAX;
	expect(taken(1, h) > 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_EVENT_SET, .handle = h}, "x", 1).error,
		-E_INVAL);
	secret = 99;
	file_forget(&t, 1);
	expect_sound();
}

TEST(lists_tell_what_has_happened)
{
	uint32_t list, one, h[2], sig;

	reset();
	list = made(1, FILE_EVENT_LIST, 0, 0);
	h[0] = made(1, FILE_EVENT_COUNT, 0, 0);
	h[1] = made(1, FILE_EVENT_COUNT, 1, 0);
	sig = made(1, FILE_EVENT_SIGNALS, SIGNALS, 0);
	one = opened("one", FILE_CREATE | FILE_WRITABLE);
	expect_eq(list_changed(list, FILE_LIST_ADD, one, FILE_READY_READ, 1), -E_PERM);
	expect_eq(list_changed(list, FILE_LIST_ADD, list, FILE_READY_READ, 1), -E_INVAL);
	expect_eq(list_changed(h[0], FILE_LIST_ADD, h[1], FILE_READY_READ, 1), -E_INVAL);
	expect_eq(list_changed(list, FILE_LIST_ADD, 12345, FILE_READY_READ, 1), -E_BADF);
	expect_eq(list_changed(list, FILE_LIST_MODIFY, h[0], FILE_READY_READ, 1), -E_NOENT);
	expect_eq(list_changed(list, FILE_LIST_ADD, h[0], FILE_READY_READ, 1), 0);
	expect_eq(list_changed(list, FILE_LIST_ADD, h[0], FILE_READY_READ, 1), -E_EXIST);
	expect_eq(list_changed(list, FILE_LIST_ADD, h[1], FILE_READY_READ | FILE_READY_CHANGES,
		2), 0);
	expect_eq(list_changed(list, FILE_LIST_ADD, sig, FILE_READY_READ | FILE_READY_ONCE, 4), 0);
	expect_eq(list_taken(1, list, 8), 1002);
	expect_eq(list_taken(1, list, 8), 0);
	memset(told, 0, sizeof(told));
	expect_eq(polled(1, list, FILE_WATCH), 0);
	expect_eq(waits.signals, SIGNALS);
	expect_eq(added(1, h[1], 1), 0);
	expect_eq(told[1], 1);
	expect_eq(list_taken(1, list, 8), 1002);
	expect_eq(added(1, h[0], 1), 0);
	pending = 0x10;
	expect_eq(list_taken(1, list, 8), 2005);
	expect_eq(list_taken(1, list, 8), 1001);
	pending = 0;
	expect_eq(added(1, h[1], 1), 0);
	expect_eq(list_taken(1, list, 1) + list_taken(1, list, 1), 2003);
	expect_sound();
	expect_eq(closed(1, h[0]) + closed(1, sig), 0);
	expect_eq(list_taken(1, list, 8), 0);
	expect_sound();
	expect_eq(closed(1, list), 0);
	expect_sound();
	file_forget(&t, 1);
	expect_sound();
}

TEST(a_list_may_be_in_a_list)
{
	uint32_t outer, inner[2], h;

	reset();
	outer = made(1, FILE_EVENT_LIST, 0, 0);
	inner[0] = made(1, FILE_EVENT_LIST, 0, 0);
	inner[1] = made(1, FILE_EVENT_LIST, 0, 0);
	h = made(1, FILE_EVENT_COUNT, 0, 0);
	expect_eq(list_changed(outer, FILE_LIST_ADD, inner[0], FILE_READY_READ, 1), 0);
	expect_eq(list_changed(outer, FILE_LIST_ADD, inner[0], FILE_READY_READ, 1), -E_EXIST);
	expect_eq(list_changed(outer, FILE_LIST_ADD, inner[1], FILE_READY_READ |
		FILE_READY_CHANGES, 2), 0);
	expect_eq(list_changed(inner[0], FILE_LIST_ADD, outer, FILE_READY_READ, 1), -FILE_ELOOP);
	expect_eq(list_changed(inner[0], FILE_LIST_ADD, inner[1], FILE_READY_READ, 1),
		-FILE_ELOOP);
	expect_eq(list_changed(inner[0], FILE_LIST_ADD, inner[0], FILE_READY_READ, 1), -E_INVAL);
	expect_eq(list_changed(inner[0], FILE_LIST_ADD, h, FILE_READY_READ, 1), 0);
	expect_eq(list_changed(inner[1], FILE_LIST_ADD, h, FILE_READY_READ, 1), 0);
	expect_eq(polled(1, outer, FILE_WATCH), 0);
	memset(told, 0, sizeof(told));
	expect_eq(added(1, h, 1), 0);
	expect_eq(told[1], 1);
	expect_eq(list_taken(1, outer, 8), 2003);
	expect_eq(list_taken(1, outer, 8), 1001);
	expect_eq(added(1, h, 1), 0);
	expect_eq(list_taken(1, outer, 8), 2003);
	expect_eq(taken(1, h), 2);
	expect_eq(list_taken(1, outer, 8), 0);
	expect_eq(added(1, h, 1), 0);
	expect_eq(closed(1, inner[0]), 0);
	expect_eq(list_taken(1, outer, 8), 1002);
	expect_sound();
	/* nothing of it is in the way any more */
	inner[0] = made(1, FILE_EVENT_LIST, 0, 0);
	expect_eq(list_changed(outer, FILE_LIST_REMOVE, inner[1], 0, 2), 0);
	expect_eq(list_changed(inner[0], FILE_LIST_ADD, outer, FILE_READY_READ, 1), 0);
	expect_eq(closed(1, outer), 0);
	expect_eq(list_changed(inner[1], FILE_LIST_ADD, inner[0], FILE_READY_READ, 1), 0);
	file_forget(&t, 1);
	expect_sound();
}

/* As many as a client may have, and all together; then one goes, and there is a place. */
TEST(nothing_is_left_of_many)
{
	uint32_t list, h;

	reset();
	for (uint32_t c = 1; c <= LISTED_MAX / LISTED_OF_CLIENT_MAX + 1; c++) {
		int32_t want = c <= LISTED_MAX / LISTED_OF_CLIENT_MAX ? 0 : -E_NOSPC;

		list = made(c, FILE_EVENT_LIST, 0, 0);
		h = made(c, FILE_EVENT_COUNT, 1, 0);
		for (uint32_t i = 0; i < LISTED_OF_CLIENT_MAX; i++)
			expect_eq(list_changed_by(c, list, FILE_LIST_ADD, h, FILE_READY_READ, i),
				want);
		expect_eq(list_changed_by(c, list, FILE_LIST_ADD, h, FILE_READY_READ,
			LISTED_OF_CLIENT_MAX), -E_NOSPC);
		expect_sound();
	}
	file_forget(&t, 2);
	expect_eq(list_changed_by(LISTED_MAX / LISTED_OF_CLIENT_MAX + 1, list, FILE_LIST_ADD, h,
		FILE_READY_READ, 1), 0);
	expect_sound();

	reset();
	list = made(1, FILE_EVENT_LIST, 0, 0);
	h = made(1, FILE_EVENT_COUNT, 1, 0);
	for (uint32_t i = 0; i < LISTED_OF_CLIENT_MAX; i++)
		expect_eq(list_changed(list, FILE_LIST_ADD, h, FILE_READY_READ, i), 0);
	expect_eq(list_changed(list, FILE_LIST_REMOVE, h, 0, 7), 0);
	expect_eq(list_changed(list, FILE_LIST_ADD, h, FILE_READY_READ, LISTED_MAX), 0);
	expect(list_taken(1, list, UINT32_MAX) >= 1000);
	expect_sound();
	for (int i = 0; i < PIPES_OF_CLIENT_MAX - 2; i++)
		made(1, FILE_EVENT_COUNT, 0, 0);
	expect_eq(asked(1, (struct file_request){.op = FILE_EVENT, .arg = FILE_EVENT_COUNT}, "",
		0).error, -FILE_ENFILE);
	file_forget(&t, 1);
	expect_sound();
	expect_eq(t.handles, 0);
}

int
main(void)
{
	RUN(counts_are_taken_and_waited_for);
	RUN(timers_are_over_by_the_clock_of_who_asks);
	RUN(lists_tell_what_has_happened);
	RUN(a_list_may_be_in_a_list);
	RUN(nothing_is_left_of_many);
	return TEST_FAILED;
}
