/* SPDX-License-Identifier: MIT
 *
 * The inbox, alone and with senders in threads of their own.
 * needs: mpi/transport/inbox.c
 * sanitize: thread address
 */
#include <base/test.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <mpi/transport/inbox.h>

#define CELLS 8
#define SENDERS 4
#define MESSAGES 20000

static struct inbox *
new_inbox(struct inbox_reader *r)
{
	struct inbox *box = aligned_alloc(CACHE_LINE, inbox_bytes(CELLS));

	memset(box, 0, inbox_bytes(CELLS));
	*r = (struct inbox_reader){.box = box, .mask = CELLS - 1};
	return box;
}

static bool
put(struct inbox *box, int tag)
{
	uint32_t position;
	struct packet *p = inbox_claim(box, CELLS, &position);

	if (p == NULL)
		return false;
	p->tag = tag;
	inbox_publish(box, p, position);
	return true;
}

TEST(packets_come_out_in_order)
{
	struct inbox_reader r;
	struct inbox *box = new_inbox(&r);

	expect(inbox_is_empty(&r) && inbox_peek(&r) == NULL);
	for (int i = 0; i < 100; i++) {
		expect(put(box, i));
		expect(!inbox_is_empty(&r));
		expect(inbox_peek(&r) != NULL && inbox_peek(&r)->tag == i);
		inbox_pass(&r);
	}
	expect(inbox_is_empty(&r));
	free(box);
}

TEST(a_full_inbox_refuses_and_says_when_there_is_room)
{
	struct inbox_reader r;
	struct inbox *box = new_inbox(&r);
	bool told = false;
	int n = 0;

	while (put(box, n))
		n++;
	expect_eq(n, CELLS);
	expect(inbox_must_wait(box, CELLS));
	for (int i = 0; i < CELLS; i++) {
		expect_eq(inbox_peek(&r)->tag, i);
		told |= inbox_pass(&r);
	}
	expect(told);
	expect(!inbox_must_wait(box, CELLS));
	expect(put(box, n));
	free(box);
}

TEST(a_claimed_cell_is_not_read_before_it_is_published)
{
	struct inbox_reader r;
	struct inbox *box = new_inbox(&r);
	uint32_t first, second;
	struct packet *a = inbox_claim(box, CELLS, &first), *b = inbox_claim(box, CELLS, &second);

	b->tag = 2;
	inbox_publish(box, b, second);
	expect(inbox_peek(&r) == NULL);
	expect(!inbox_is_empty(&r));
	a->tag = 1;
	inbox_publish(box, a, first);
	expect_eq(inbox_peek(&r)->tag, 1);
	inbox_pass(&r);
	expect_eq(inbox_peek(&r)->tag, 2);
	free(box);
}

TEST(positions_wrap_around_2_to_the_32)
{
	struct inbox_reader r;
	struct inbox *box = new_inbox(&r);

	box->tail = box->head = r.head = r.published = (uint32_t)-20;
	for (int i = 0; i < 100; i++) {
		expect(put(box, i));
		expect(inbox_peek(&r) != NULL && inbox_peek(&r)->tag == i);
		inbox_pass(&r);
	}
	free(box);
}

TEST(publishing_tells_that_the_owner_sleeps)
{
	struct inbox_reader r;
	struct inbox *box = new_inbox(&r);
	uint32_t position;
	struct packet *p = inbox_claim(box, CELLS, &position);

	expect(!inbox_publish(box, p, position));
	store_total(&box->sleeping, SLEEPING);
	p = inbox_claim(box, CELLS, &position);
	expect(inbox_publish(box, p, position));
	free(box);
}

struct sender {
	struct inbox *box;
	int number;
};

static void *
send_all(void *arg)
{
	struct sender *s = arg;

	for (int i = 0; i < MESSAGES; i++) {
		uint32_t position;
		struct packet *p;

		while ((p = inbox_claim(s->box, CELLS, &position)) == NULL)
			sched_yield();
		p->source = s->number;
		p->tag = i;
		memset(p->data, i & 255, sizeof(p->data));
		inbox_publish(s->box, p, position);
	}
	return NULL;
}

static bool
is_right(const struct packet *p, int tag)
{
	for (size_t i = 0; i < sizeof(p->data); i++)
		if (p->data[i] != (tag & 255))
			return false;
	return p->tag == tag;
}

TEST(senders_in_threads_lose_nothing_and_keep_their_order)
{
	struct inbox_reader r;
	struct inbox *box = new_inbox(&r);
	struct sender s[SENDERS];
	pthread_t thread[SENDERS];
	int next[SENDERS] = {0}, wrong = 0;

	for (int i = 0; i < SENDERS; i++) {
		s[i] = (struct sender){box, i};
		pthread_create(&thread[i], NULL, send_all, &s[i]);
	}
	for (int n = 0; n < SENDERS * MESSAGES; n++) {
		const struct packet *p;

		while ((p = inbox_peek(&r)) == NULL)
			sched_yield();
		wrong += !is_right(p, next[p->source]++);
		inbox_pass(&r);
	}
	for (int i = 0; i < SENDERS; i++)
		pthread_join(thread[i], NULL);
	expect_eq(wrong, 0);
	expect(inbox_is_empty(&r));
	free(box);
}

int
main(void)
{
	RUN(packets_come_out_in_order);
	RUN(a_full_inbox_refuses_and_says_when_there_is_room);
	RUN(a_claimed_cell_is_not_read_before_it_is_published);
	RUN(positions_wrap_around_2_to_the_32);
	RUN(publishing_tells_that_the_owner_sleeps);
	RUN(senders_in_threads_lose_nothing_and_keep_their_order);
	return TEST_FAILED;
}
