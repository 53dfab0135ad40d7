/* SPDX-License-Identifier: MIT
 *
 * Unit tests of channels between kernels: who may open what, wakes, closing from either side at
 * once, deaths and restarts, and what a page waits for before it is used again.
 */
/*
 * needs: kernel/ikc/ikc.c kernel/ikc/endpoint.c kernel/ikc/wait.c kernel/ikc/peer.c
 * kernel/ikc/restart.c kernel/ikc/watch.c kernel/ikc/sync.c kernel/ikc/sync_event.c
 * kernel/ikc/channel.c kernel/ikc/mailbox.c kernel/ikc/mail_in.c kernel/ikc/mail_out.c
 * kernel/ikc/mail_credit.c kernel/ikc/stats.c kernel/ikc/portal.c kernel/ikc/portal_event.c
 * kernel/ikc/portal_turn.c kernel/ikc/portal_move.c hal/noc/shm/noc.c hal/noc/shm/events.c
 * hal/noc/shm/window.c base/bitmap.c kernel/object/handle.c kernel/object/quota.c
 * kernel/object/slab.c kernel/mem/frame.c */
/* cpu: coroutine */
#include <kernel/ikc/fake.h>

#define PORT 3
#define MAKER 0				/* clusters */
#define TAKER 1

static struct thread *maker, *taker;
static int in, out;
static uint32_t number;

static void
machine(void)
{
	fake_all_up();
	maker = thr(MAKER, 0);
	taker = thr(TAKER, 0);
	in = (int)call(taker, kc_mailbox_create(taker, PORT));
	out = (int)call(maker, kc_mailbox_open(maker, TAKER, PORT));
}

static int
make(int pages)
{
	int ch = (int)call(maker, kc_channel_create(maker, out, pages, &number));

	pump();
	return ch;
}

static int
take(void)
{
	return (int)call(taker, kc_channel_open(taker, in, MAKER, number));
}

static void
drop(struct thread *t, int ch)
{
	expect_eq(call(t, fake_close(t, ch)), 0);
	pump();
}

static long
wake(struct thread *t, int ch)
{
	long result = call(t, kc_channel_wake(t, ch));

	pump();
	return result;
}

static uint32_t
used(unsigned cluster)
{
	return channel_pages(&fake[cluster]->c);
}

TEST(only_who_reads_at_the_port_opens_a_channel_once)
{
	struct thread *other = thr(TAKER, FAKE_THREADS / 2), *far = thr(2, 0);
	int a, b, wrong_in;

	machine();
	other = thr(TAKER, FAKE_THREADS / 2);
	far = thr(2, 0);
	a = make(2);
	expect(a > 0 && used(MAKER) == 2);
	wrong_in = (int)call(other, kc_mailbox_create(other, PORT + 1));
	expect_eq(call(other, kc_channel_open(other, wrong_in, MAKER, number)), -E_NOENT);
	wrong_in = (int)call(far, kc_mailbox_create(far, PORT));
	expect_eq(call(far, kc_channel_open(far, wrong_in, MAKER, number)), -E_NOENT);
	expect_eq(call(taker, kc_channel_open(taker, in, 2, number)), -E_NOENT);
	expect_eq(call(taker, kc_channel_open(taker, in, MAKER, number + 1)), -E_NOENT);
	b = take();
	expect(b > 0);
	expect_eq(take(), -E_NOENT);
	drop(taker, b);
	drop(maker, a);
	expect_eq(used(MAKER), 0);
}

/* The port's next life is somebody else's. */
TEST(an_offer_ends_with_the_life_of_its_port)
{
	int a;

	machine();
	a = make(1);
	drop(taker, in);
	in = (int)call(taker, kc_mailbox_create(taker, PORT));
	expect_eq(take(), -E_NOENT);
	drop(maker, a);
	expect_eq(used(MAKER), 0);
	drop(taker, in);
	a = make(1);
	expect_eq(fake_bind(maker, EVENT_CHANNEL, a, 1), -E_PIPE);
	expect_eq(wake(maker, a), -E_PIPE);
	drop(maker, a);
	expect_eq(used(MAKER), 0);
}

TEST(wakes_set_the_bit_also_before_it_is_bound)
{
	int a, b;

	machine();
	a = make(1);
	expect_eq(wake(maker, a), 0);
	b = take();
	expect_eq(fake_bind(taker, EVENT_CHANNEL, b, 2), 0);
	expect_eq(taker->bits, 4);
	taker->bits = 0;
	expect_eq(wake(maker, a), 0);
	expect_eq(taker->bits, 4);
	expect_eq(wake(taker, b), 0);
	expect_eq(maker->bits, 0);
	expect_eq(fake_bind(maker, EVENT_CHANNEL, a, 5), 0);
	expect_eq(maker->bits, 32);
	maker->bits = 0;
	/* many before any was answered: the last is not lost */
	taker->bits = 0;
	for (int n = 0; n < 100; n++)
		expect_eq(call(maker, kc_channel_wake(maker, a)), 0);
	while (!(taker->bits & 4))
		fake_step(TAKER, true);
	taker->bits = 0;
	pump();
	expect_eq(taker->bits, 4);
}

TEST(pages_are_used_again_when_neither_side_has_them)
{
	int a[FAKE_CHANNELS], b;
	size_t charged;

	machine();
	charged = fake_charged(MAKER, 0);
	for (int i = 0; i < FAKE_CHANNELS; i++)
		a[i] = make(1);
	expect_eq(make(1), -E_NOSPC);
	number = 1;
	b = take();
	expect(b > 0);
	/* the other side is not asked until it has taken the event */
	expect_eq(call(maker, fake_close(maker, a[1])), 0);
	while (fake_step(MAKER, true))
		continue;
	expect_eq(call(maker, kc_channel_create(maker, out, 1, &number)), -E_NOSPC);
	pump();
	expect_eq(used(MAKER), FAKE_CHANNELS - 1);
	expect_eq(fake_bind(taker, EVENT_CHANNEL, b, 2), -E_PIPE);
	a[1] = make(1);
	expect_eq(number, 1);
	drop(taker, b);
	b = take();
	expect(b > 0);
	drop(taker, b);
	expect_eq(wake(maker, a[1]), -E_PIPE);
	for (int i = 0; i < FAKE_CHANNELS; i++)
		drop(maker, a[i]);
	expect_eq(used(MAKER), 0);
	expect_eq(fake_charged(MAKER, 0), charged);
}

TEST(both_sides_may_close_at_once)
{
	machine();
	for (unsigned n = 0; n < 40; n++) {
		int a = make(1 + (int)(n % 3)), b = take();

		expect(a > 0 && b > 0);
		expect_eq(call(maker, fake_close(maker, a)), 0);
		for (unsigned i = 0; i < n % 5; i++)
			fake_step(n % 2, true);
		expect_eq(call(taker, fake_close(taker, b)), 0);
		pump();
		expect_eq(used(MAKER), 0);
	}
	expect(channels_are_away(&fake[TAKER]->c, MAKER));
}

/* Both processes are of one cluster: what one kernel says to the other it says to itself. */
TEST(a_channel_leads_to_the_own_cluster_too)
{
	size_t charged;

	fake_all_up();
	maker = thr(MAKER, 0);
	taker = thr(MAKER, FAKE_THREADS / 2);
	in = (int)call(taker, kc_mailbox_create(taker, PORT));
	out = (int)call(maker, kc_mailbox_open(maker, MAKER, PORT));
	charged = fake_charged(MAKER, 0);
	for (unsigned n = 0; n < 4; n++) {
		int a = make(1 + (int)(n % 2)), b = take();

		expect(a > 0 && b > 0);
		expect_eq(take(), -E_NOENT);
		expect_eq(fake_bind(maker, EVENT_CHANNEL, a, 1), 0);
		expect_eq(fake_bind(taker, EVENT_CHANNEL, b, 2), 0);
		maker->bits = taker->bits = 0;
		expect_eq(wake(maker, a), 0);
		expect(taker->bits == 4 && maker->bits == 0);
		expect_eq(wake(taker, b), 0);
		expect_eq(maker->bits, 2);
		drop(n < 2 ? maker : taker, n < 2 ? a : b);
		if (n < 2)
			expect_eq(wake(taker, b), -E_PIPE);
		else
			expect_eq(wake(maker, a), -E_PIPE);
		drop(n < 2 ? taker : maker, n < 2 ? b : a);
		expect_eq(used(MAKER), 0);
		expect_eq(fake_charged(MAKER, 0), charged);
	}
	/* nobody opens it */
	drop(maker, make(2));
	expect_eq(used(MAKER), 0);
	drop(taker, in);
	expect_eq(fake_bind(maker, EVENT_CHANNEL, make(1), 1), -E_PIPE);
}

/* No bit without a frame that still waits for a shoot-down: the page waits, too. */
TEST(a_page_waits_for_the_shoot_downs_that_run)
{
	struct sweep s = {.epoch = 7};
	struct cluster *c;
	int a, b;

	machine();
	a = make(1);
	b = take();
	c = &fake[TAKER]->c;
	c->sweeps.epoch = 9;
	list_push_back(&c->sweeps.running, &s.link);
	drop(taker, b);
	drop(maker, a);
	expect_eq(used(MAKER), 1);
	expect(!channels_are_away(c, MAKER));
	s.epoch = 10;
	pump();
	expect_eq(used(MAKER), 0);
	expect(channels_are_away(c, MAKER));
	list_remove(&s.link);
}

TEST(a_page_holds_zeros_when_it_is_used_again)
{
	int a, b;
	unsigned char *page;

	machine();
	a = make(1);
	b = take();
	here = TAKER;
	page = hal_noc_channels(MAKER);
	memset(page, 0x77, HAL_PAGE_BYTES);
	drop(maker, a);
	drop(taker, b);
	for (size_t i = 0; i < HAL_PAGE_BYTES; i++)
		expect_eq(page[i], 0);
}

/* Whether a dead cluster still runs nobody knows before its next life is met. */
TEST(pages_of_a_dead_cluster_come_back_with_its_next_life)
{
	int a, b;

	machine();
	a = make(1);
	b = take();
	expect(b > 0);
	expect_eq(fake_bind(maker, EVENT_CHANNEL, a, 4), 0);
	fake_kill(TAKER, true);
	pump();
	expect_eq(maker->bits, 16);
	expect_eq(wake(maker, a), -E_HOSTDOWN);
	drop(maker, a);
	expect_eq(used(MAKER), 1);
	fake_boot(TAKER);
	pump();
	expect_eq(used(MAKER), 0);
}

/* Its death is known, and the channel not told yet. */
TEST(an_offer_of_a_dead_cluster_is_none)
{
	machine();
	expect(make(1) > 0);
	fake_kill(MAKER, true);
	here = TAKER;
	while (fake[TAKER]->c.ikc.peer[MAKER].state != PEER_DEAD)
		expect(peers_poll(&fake[TAKER]->c));
	expect_eq(take(), -E_NOENT);
	expect(channels_are_away(&fake[TAKER]->c, MAKER));
	pump();
	expect_eq(take(), -E_NOENT);
}

TEST(who_took_a_channel_of_a_dead_cluster_loses_it)
{
	int a, b;

	machine();
	a = make(2);
	expect(a > 0);
	b = take();
	expect_eq(fake_bind(taker, EVENT_CHANNEL, b, 4), 0);
	fake_kill(MAKER, true);
	pump();
	expect_eq(taker->bits, 16);
	expect_eq(wake(taker, b), -E_HOSTDOWN);
	expect(channels_are_away(&fake[TAKER]->c, MAKER));
	fake_boot(MAKER);
	pump();
	maker = thr(MAKER, 0);
	out = (int)call(maker, kc_mailbox_open(maker, TAKER, PORT));
	a = make(1);
	expect_eq(number, 0);
	expect_eq(wake(taker, b), -E_HOSTDOWN);
	drop(taker, b);
	b = take();
	expect(b > 0);
	expect_eq(wake(taker, b), 0);
	drop(maker, a);
	drop(taker, b);
	expect_eq(used(MAKER), 0);
}

TEST(a_process_that_ends_gives_its_channels_back)
{
	size_t charged;
	int a;

	machine();
	charged = fake[MAKER]->c.all.used[QUOTA_BYTES];
	for (int n = 0; n < 10; n++) {
		a = make(2);
		expect(a > 0);
		if (n % 2)
			expect(take() > 0);
		fake_process_ends(MAKER, 0);
		pump();
		expect_eq(used(MAKER), 0);
		fake_process_starts(MAKER, 0);
		maker = thr(MAKER, 0);
		out = (int)call(maker, kc_mailbox_open(maker, TAKER, PORT));
	}
	expect_eq(fake[MAKER]->c.all.used[QUOTA_BYTES], charged);
}

int
main(void)
{
	fake_machine();
	RUN(only_who_reads_at_the_port_opens_a_channel_once);
	RUN(an_offer_ends_with_the_life_of_its_port);
	RUN(wakes_set_the_bit_also_before_it_is_bound);
	RUN(pages_are_used_again_when_neither_side_has_them);
	RUN(both_sides_may_close_at_once);
	RUN(a_channel_leads_to_the_own_cluster_too);
	RUN(a_page_waits_for_the_shoot_downs_that_run);
	RUN(a_page_holds_zeros_when_it_is_used_again);
	RUN(pages_of_a_dead_cluster_come_back_with_its_next_life);
	RUN(an_offer_of_a_dead_cluster_is_none);
	RUN(who_took_a_channel_of_a_dead_cluster_loses_it);
	RUN(a_process_that_ends_gives_its_channels_back);
	fake_end();
	return TEST_FAILED;
}
