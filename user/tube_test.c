/* SPDX-License-Identifier: MIT
 *
 * Unit tests of tubes: one thread against naive queues; senders and receivers under the thread
 * sanitizer, each also of several tubes at once; what stands in the memory is not believed.
 *
 * usage: tube_test [OPERATIONS]
 *
 * sanitize: thread address
 * libs: -lpthread
 * needs: base/str.c
 * gate: 30000
 */
#include <stdio.h>
#include <string.h>
#include <base/test.h>
#include <user/futex_test.h>
#include <user/segment.c>
#include <user/sem.c>
#include <user/tube.c>

#define TUBES 3
#define LONGEST 200
#define DEEPEST 9
#define SENDERS 3
#define RECEIVERS 3

static _Alignas(64) unsigned char memory[64 << 10];
static struct segment here;
static unsigned long operations = 1000000;

static uint32_t
draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)*state * below >> 32);
}

static void
begin_segment(size_t bytes, int flags)
{
	memset(memory, 0, sizeof(memory));
	expect_eq(segment_begin(&here, memory, bytes, flags), 0);
	here.looks = 2;
}

/* --- one thread --- */

TEST(what_is_wrong_is_an_error)
{
	struct tube t, u;
	char text[8] = "1234567";

	begin_segment(8192, 0);
	expect_eq(newtube(&here, &t, NULL, 0, 1), -E_INVAL);
	expect_eq(newtube(&here, &t, NULL, 1, 0), -E_INVAL);
	expect_eq(newtube(&here, &t, NULL, 1, TUBE_MESSAGES_MAX + 1), -E_INVAL);
	expect_eq(newtube(&here, &t, NULL, UINT32_MAX, 1), -E_INVAL);
	expect_eq(newtube(&here, &t, NULL, BYTES_MAX, TUBE_MESSAGES_MAX), -E_NOMEM);
	expect_eq(newtube(&here, &t, NULL, 8192, 1), -E_NOMEM);
	expect_eq(tsend(&t, text, FOREVER), -E_INVAL);
	expect_eq(nbtreceive(&t, text), -E_INVAL);
	expect_eq(freetube(&t), -E_INVAL);
	expect_eq(talt(&(struct talt){&t, text, TALT_SEND, NULL}, 1, FOREVER), -E_INVAL);
	expect_eq(talt(&(struct talt){&t, text, TALT_NONE, NULL}, 1, FOREVER), -E_INVAL);
	expect_eq(newtube(&here, &t, "pipe", 8, 2), 0);
	expect_eq(newtube(&here, &u, "pipe", 8, 3), -E_INVAL);
	expect_eq(newtube(&here, &u, "pipe", 8, 2), 0);
	expect_eq(treceive(&t, text, 0), -E_AGAIN);
	expect_eq(treceive(&t, text, FAKE_WHILE), -E_TIMEDOUT);
	expect_eq(nbtreceive(&t, text), 0);
	expect_eq(nbtsend(&t, text), 1);
	expect_eq(nbtsend(&u, "abcdefg"), 1);
	expect_eq(nbtsend(&t, text), 0);
	expect_eq(nbtreceive(&u, text), 1);
	expect(strcmp(text, "1234567") == 0);
	expect_eq(treceive(&u, text, FOREVER), 0);
	expect(strcmp(text, "abcdefg") == 0);
	expect_eq(endtube(&u), 0);
	expect_eq(tsend(&t, text, FOREVER), -E_PIPE);
	expect_eq(treceive(&t, text, 0), -E_PIPE);
	expect_eq(talt(&(struct talt){&t, text, TALT_SEND, NULL}, 1, FOREVER), -E_PIPE);
	expect_eq(freetube(&u), 0);
	expect_eq(freetube(&t), 0);
}

static void
text_of(uint32_t number, unsigned char *text, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		text[i] = (unsigned char)(number * 31 + i * 7);
}

/* A naive tube. */
struct naive {
	uint32_t number[DEEPEST];
	uint32_t count, depth, bytes;
};

static bool
naive_send(struct naive *q, uint32_t number)
{
	if (q->count == q->depth)
		return false;
	q->number[q->count++] = number;
	return true;
}

static void
naive_receive(struct naive *q, const unsigned char *text)
{
	unsigned char right[LONGEST];

	text_of(q->number[0], right, q->bytes);
	expect(memcmp(text, right, q->bytes) == 0);
	memmove(q->number, q->number + 1, sizeof(q->number) - sizeof(q->number[0]));
	q->count--;
}

/* A send and a receive, or two of either, of which one is done if one can be. */
static void
alternatives(struct tube *t, struct naive *q, uint32_t *state, uint32_t number)
{
	unsigned char out[2][LONGEST], in[2][LONGEST];
	struct talt a[2];
	int which[2], can = 0, k;

	for (int i = 0; i < 2; i++) {
		which[i] = (int)draw(state, TUBES);
		a[i] = (struct talt){&t[which[i]], draw(state, 2) ? in[i] : out[i], TALT_SEND,
			NULL};
		text_of(number, out[i], LONGEST);
		if (a[i].message == in[i])
			a[i].op = TALT_RECEIVE;
		can += a[i].op == TALT_SEND ? q[which[i]].count < q[which[i]].depth :
			q[which[i]].count > 0;
	}
	k = talt(a, 2, 0);
	expect(k == -E_AGAIN ? can == 0 : k == 0 || k == 1);
	if (k < 0)
		return;
	if (a[k].op == TALT_SEND)
		expect(naive_send(&q[which[k]], number));
	else if (q[which[k]].count == 0)
		expect(!"a message comes from nowhere");
	else
		naive_receive(&q[which[k]], in[k]);
}

TEST(one_thread_finds_what_naive_queues_have)
{
	static const uint32_t bytes[TUBES] = {1, 64, LONGEST}, depth[TUBES] = {1, 4, DEEPEST};
	struct naive q[TUBES] = {0};
	struct tube t[TUBES];
	uint32_t state = 5;

	begin_segment(16384, 0);
	for (int i = 0; i < TUBES; i++) {
		q[i] = (struct naive){.depth = depth[i], .bytes = bytes[i]};
		expect_eq(newtube(&here, &t[i], NULL, bytes[i], depth[i]), 0);
	}
	for (uint32_t n = 0; n < operations; n++) {
		_Alignas(8) unsigned char text[LONGEST];
		uint32_t i = draw(&state, TUBES);
		bool can;

		text_of(n, text, LONGEST);
		switch (draw(&state, 3)) {
		case 0:
			can = naive_send(&q[i], n);
			expect_eq(nbtsend(&t[i], text), can);
			break;
		case 1:
			can = q[i].count > 0;
			expect_eq(nbtreceive(&t[i], text), can);
			if (can)
				naive_receive(&q[i], text);
			break;
		default:
			alternatives(t, q, &state, n);
		}
		expect_eq(semvalue(&t[i].messages), q[i].count);
		expect_eq(semvalue(&t[i].holes), q[i].depth - q[i].count);
	}
}

TEST(memory_comes_back)
{
	struct tube t[3];

	begin_segment(16384, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		expect_eq(newtube(&here, &t[0], "one", 64 + i % 7, 20), 0);
		expect_eq(newtube(&here, &t[1], NULL, 30, 10 + i % 5), 0);
		expect_eq(newtube(&here, &t[2], NULL, 4096, 2), 0);
		for (uint32_t k = 0; k < 3; k++)
			expect_eq(freetube(&t[(i + k) % 3]), 0);
	}
}

/* --- threads --- */

struct letter {
	uint32_t from, number;
	uint32_t text[14];
};

static struct tube tube[TUBES];
static uint32_t sends;			/* of each sender */
static uint32_t received[SENDERS];
static uint8_t *seen[SENDERS];

static void
fill(struct letter *l, uint32_t from, uint32_t number)
{
	l->from = from;
	l->number = number;
	for (uint32_t i = 0; i < 14; i++)
		l->text[i] = from * 1000003 + number * 31 + i;
}

static void *
sender(void *arg)
{
	uint32_t me = *(uint32_t *)arg, state = me + 1;
	struct letter l;

	for (uint32_t n = 0; n < sends;) {
		struct talt a[TUBES];
		int e;

		fill(&l, me, n);
		for (int i = 0; i < TUBES; i++)
			a[i] = (struct talt){&tube[i], &l, draw(&state, 4) ? TALT_SEND : TALT_NONE,
				NULL};
		a[0].op = TALT_SEND;
		switch (draw(&state, 4)) {
		case 0: e = nbtsend(&tube[draw(&state, TUBES)], &l) - 1; break;
		case 1: e = tsend(&tube[draw(&state, TUBES)], &l, FAKE_WHILE); break;
		case 2: e = tsend(&tube[draw(&state, TUBES)], &l, FOREVER); break;
		default: e = talt(a, TUBES, FOREVER);
		}
		expect(e >= 0 || e == -1 || e == -E_TIMEDOUT);
		n += e >= 0;
	}
	return NULL;
}

/* What it has received of each sender by each tube comes in order, and nothing comes twice. */
static void
got(const struct letter *l, uint32_t *last)
{
	struct letter right;

	if (l->from >= SENDERS || l->number >= sends) {
		expect(!"a message that nobody has sent");
		return;
	}
	fill(&right, l->from, l->number);
	expect(memcmp(l, &right, sizeof(right)) == 0);
	expect(l->number + 1 > last[l->from]);
	last[l->from] = l->number + 1;
	expect(__atomic_exchange_n(&seen[l->from][l->number], 1, __ATOMIC_RELAXED) == 0);
	__atomic_add_fetch(&received[l->from], 1, __ATOMIC_SEQ_CST);
}

static void *
receiver(void *arg)
{
	uint32_t last[TUBES][SENDERS] = {{0}}, state = *(uint32_t *)arg + 99;
	struct letter l;
	int e = 0;

	while (e != -E_PIPE) {
		struct talt a[TUBES];
		uint32_t i = draw(&state, TUBES);

		for (int k = 0; k < TUBES; k++)
			a[k] = (struct talt){&tube[k], &l, TALT_RECEIVE, NULL};
		switch (draw(&state, 3)) {
		case 0: e = nbtreceive(&tube[i], &l); e = e == 0 ? -E_AGAIN : e; break;
		case 1: e = treceive(&tube[i], &l, FAKE_WHILE); break;
		default: e = talt(a, TUBES, FOREVER); i = (uint32_t)e;
		}
		if (e >= 0)
			got(&l, last[i]);
		else
			expect(e == -E_AGAIN || e == -E_TIMEDOUT || e == -E_PIPE);
	}
	return NULL;
}

static uint32_t
all_received(void)
{
	uint32_t n = 0;

	for (int i = 0; i < SENDERS; i++)
		n += __atomic_load_n(&received[i], __ATOMIC_SEQ_CST);
	return n;
}

static void
many_threads(int flags, uint32_t deep)
{
	static uint32_t number[SENDERS + RECEIVERS];
	pthread_t thread[SENDERS + RECEIVERS];

	begin_segment(16384, flags);
	sends = (uint32_t)(operations / SENDERS);
	for (uint32_t i = 0; i < TUBES; i++)
		expect_eq(newtube(&here, &tube[i], NULL, sizeof(struct letter), 1 + i * deep), 0);
	for (int i = 0; i < SENDERS; i++) {
		received[i] = 0;
		seen[i] = calloc(sends, 1);
	}
	for (uint32_t i = 0; i < SENDERS + RECEIVERS; i++) {
		number[i] = i % SENDERS;
		pthread_create(&thread[i], NULL, i < SENDERS ? sender : receiver, &number[i]);
	}
	for (int i = 0; i < SENDERS; i++)
		pthread_join(thread[i], NULL);
	while (all_received() < sends * SENDERS)
		sched_yield();
	for (int i = 0; i < TUBES; i++) {
		expect_eq(semvalue(&tube[i].holes), 1 + (uint32_t)i * deep);
		endtube(&tube[i]);
	}
	for (int i = 0; i < RECEIVERS; i++)
		pthread_join(thread[SENDERS + i], NULL);
	for (int i = 0; i < SENDERS; i++)
		free(seen[i]);
	for (int i = 0; i < TUBES; i++)
		expect_eq(freetube(&tube[i]), 0);
}

TEST(every_message_comes_once_and_whole)
{
	many_threads(0, 0);
	many_threads(SEGMENT_SHARED, 2);
}

/* --- what stands in the memory --- */

TEST(nothing_that_others_write_is_believed)
{
	unsigned char text[LONGEST + 1];
	uint32_t state = 3;
	struct tube t;

	begin_segment(4096, SEGMENT_SHARED);
	here.looks = 0;
	expect_eq(newtube(&here, &t, NULL, LONGEST, 3), 0);
	for (unsigned long n = 0; n < operations / 1000; n++) {
		uint32_t *word = (uint32_t *)(void *)memory;
		struct talt a[] = {{&t, text, TALT_RECEIVE, NULL}, {&t, text, TALT_SEND, NULL}};

		for (int i = 0; i < 8; i++)
			word[draw(&state, 1024)] = draw(&state, 3) ? draw(&state, 0xffffffff) :
				draw(&state, 4096);
		word[0] = 0;
		text[LONGEST] = 0x5a;
		nbtsend(&t, text);
		nbtreceive(&t, text);
		talt(a, 2, draw(&state, 2) ? 0 : FAKE_WHILE);
		expect(text[LONGEST] == 0x5a);
	}
}

/* Who has ended with a place in its hands holds up nobody, as long as there is another one. */
TEST(the_dead_hold_up_nobody)
{
	unsigned char text[8] = "message";
	struct tube t;

	begin_segment(4096, SEGMENT_SHARED);
	expect_eq(newtube(&here, &t, NULL, 8, 4), 0);
	/* a sender, while it copies */
	expect_eq(downsem(&t.holes, 0), 0);
	expect(hole_take(&t) != 0);
	/* one that has put its message, but not the ring's tail right, nor said so */
	expect_eq(nbtsend(&t, text), 1);
	t.at->order.tail--;
	/* a receiver, while it copies */
	expect_eq(downsem(&t.messages, 0), 0);
	expect(ring_take(&t.ring, &t.at->order) != 0);
	t.at->order.head--;
	for (int i = 0; i < 200; i++) {
		expect_eq(nbtsend(&t, text), 1);
		expect_eq(nbtsend(&t, text), 1);
		expect_eq(nbtsend(&t, text), 0);
		expect_eq(nbtreceive(&t, text), 1);
		expect_eq(nbtreceive(&t, text), 1);
		expect_eq(nbtreceive(&t, text), 0);
	}
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		operations = strtoul(argv[1], NULL, 0);
	RUN(what_is_wrong_is_an_error);
	RUN(one_thread_finds_what_naive_queues_have);
	RUN(memory_comes_back);
	RUN(the_dead_hold_up_nobody);
	RUN(nothing_that_others_write_is_believed);
	RUN(every_message_comes_once_and_whole);
	return TEST_FAILED;
}
