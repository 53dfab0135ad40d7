/* SPDX-License-Identifier: MIT
 *
 * Unit tests of a server's loop: clients that talk, die, say nonsense or read no answers, at every
 * moment at which the server looks at memory that it shares with them or calls the kernel. What
 * each must hear is what a server would say that has one client and no kernel. Some requests are
 * put off, and tried again from wherever a server may say so.
 *
 * sanitize: address
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <base/test.h>
#include <atoll/kcalls.h>

/* Instead of user/channel_words.h: others may do something before each look at a word. */
#define USER_CHANNEL_WORDS_H
#define CHANNEL_LOOKS 3
static void others(void);
#define word_look(word) (others(), *(const volatile uint32_t *)(word))
#define word_put(word, value) (*(volatile uint32_t *)(word) = (value), others())
#define words_fence() others()
#define bytes_publish(bytes, count) ((void)(bytes), (void)(count))
#define bytes_acquire(bytes, count) ((void)(bytes), (void)(count))
#include <user/channel.c>
#include <user/service_loop.c>
#include <user/service.c>

#define CLIENTS 40			/* that try: more than there are places for */
#define PLACES 36			/* more than bits */
#define CLUSTERS 4
#define PAGE 1024
#define LONGEST 100
#define REQUESTS 12			/* of a good client */
#define MAGIC 77u
#define OUT 1000			/* handle of the mailbox */
#define SERVER 1001			/* and of the server's thread */
#define BIT_AGAIN 2			/* the server's own: try again what was put off */

/* --- the kernel --- */

struct end {
	int bit;			/* bound; -1: none */
	bool is_open;
	bool is_pending;		/* the bit was to be set while none was bound */
};

static struct wire {
	_Alignas(64) unsigned char memory[PAGE];
	struct end end[2];		/* of the client, of the server */
	bool is_broken;
} wire[CLIENTS];

static struct { struct service_open message; struct mail_sender from; } mail[2 * CLIENTS];
static unsigned mails, mails_read;
static int mail_bit;
static uint32_t bits;			/* the server's */
static int mapping;			/* handle of the channel that is mapped next */
static int speaker;			/* client that runs; -1: the server */
static uint64_t seed;
static bool all_served;
static jmp_buf over;
static struct service s;
static unsigned checks;			/* how often the kernel was asked for a client */

/* Requests that were put off, by the client's place. */
static enum { NEVER, NOW_AND_THEN, ALWAYS } puts_off;
static bool is_off[PLACES];
static unsigned off, off_ends;		/* now; clients that ended so */

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static void
set_bit(struct end *e, bool is_servers)
{
	if (e->bit < 0)
		e->is_pending = true;
	else if (is_servers)
		bits |= 1u << e->bit;
}

static struct end *
end_of(int handle)
{
	return &wire[handle / 2].end[handle % 2];
}

long
kchannel_create(int mailbox, int count, void *number)
{
	expect(mailbox == OUT && count == 1);
	memcpy(number, &(uint32_t){(uint32_t)speaker}, 4);
	wire[speaker].end[0] = (struct end){.bit = -1, .is_open = true};
	return mapping = 2 * speaker;
}

long
kchannel_open(int mailbox, int cluster, uint32_t number)
{
	struct wire *w;

	(void)mailbox;
	if (number >= CLIENTS || (int)number % CLUSTERS != cluster)
		return -E_NOENT;
	w = &wire[number];
	if (!w->end[0].is_open || w->end[1].is_open || w->is_broken)
		return -E_NOENT;
	w->end[1] = (struct end){.bit = -1, .is_open = true};
	return mapping = 2 * (int)number + 1;
}

long
kmem_alloc(int proc, unsigned long len, int prot, void *addr)
{
	uint64_t at = (uintptr_t)wire[mapping / 2].memory;

	(void)proc, (void)prot;
	expect_eq(len, PAGE);
	memcpy(addr, &at, sizeof(at));
	return 0;
}

long
kpage_map(int proc, unsigned long addr, int m, int first, int count, int prot)
{
	(void)proc, (void)addr, (void)first, (void)prot;
	expect(m == mapping && count == 1);
	return 0;
}

long
kpage_unmap(int proc, unsigned long addr, int count)
{
	(void)proc, (void)addr, (void)count;
	return 0;
}

long
khandle_close(int handle)
{
	struct wire *w = &wire[handle / 2];

	if (handle == OUT)
		return 0;
	expect(end_of(handle)->is_open);
	end_of(handle)->is_open = false;
	if (!w->is_broken) {
		w->is_broken = true;
		/* memory of the maker's, which the other side loses */
		if (handle % 2 == 0)
			memset(w->memory, 0, PAGE);
		set_bit(&w->end[1 - handle % 2], handle % 2 == 0);
	}
	return 0;
}

long
kevent_bind(int event, int object, int bit)
{
	struct end *e;

	others();
	if (event == EVENT_MAILBOX) {
		mail_bit = bit;
		return 0;
	}
	e = end_of(object);
	checks++;
	if (wire[object / 2].is_broken)
		return -E_PIPE;
	e->bit = bit;
	if (e->is_pending)
		set_bit(e, object % 2);
	e->is_pending = false;
	return 0;
}

long
kchannel_wake(int handle)
{
	set_bit(&wire[handle / 2].end[1 - handle % 2], handle % 2 == 0);
	return 0;
}

long
kmailbox_read(int mailbox, int source, void *msg, void *sender)
{
	(void)mailbox, (void)source;
	others();
	if (mails_read == mails)
		return -E_AGAIN;
	memcpy(msg, &mail[mails_read].message, sizeof(mail[0].message));
	memcpy(sender, &mail[mails_read].from, sizeof(mail[0].from));
	return (long)mail[mails_read++].from.cluster;
}

/*
 * The server sleeps: the others go on until it is woken, or will never be. If something was put
 * off, it has an own reason to wake.
 */
long
kthread_sleep(uint32_t mask, uint64_t until)
{
	bool has_off = puts_off == NOW_AND_THEN && off > 0;
	uint32_t taken, patience = has_off ? draw(400) : 20000;

	expect(speaker < 0 && until == FOREVER && (s.awake == NULL || bits != 0));
	for (uint32_t n = 0; n < patience && (bits & mask) == 0; n++)
		others();
	if (has_off && (bits & mask) == 0)
		bits |= 1u << BIT_AGAIN;
	taken = bits & mask;
	bits &= ~taken;
	if (taken == 0)
		longjmp(over, 1);
	return (long)taken;
}

long
kcluster_info(void *info)
{
	memcpy(info, &(struct cluster_info){.clusters = CLUSTERS, .page_bytes = PAGE},
		sizeof(struct cluster_info));
	return 0;
}

long
kthread_self(void)
{
	return SERVER;
}

long
kthread_wakeup(int thread, uint32_t set)
{
	expect_eq(thread, SERVER);
	bits |= set;
	return 0;
}

#define NONE(name, ...) long name(__VA_ARGS__) { abort(); }
NONE(kmailbox_open, int cluster __attribute__((unused)), int port __attribute__((unused)))
NONE(kmailbox_wait, int mailbox __attribute__((unused)), int source __attribute__((unused)),
	uint64_t until __attribute__((unused)))
NONE(kmailbox_write, int mailbox __attribute__((unused)), const void *m __attribute__((unused)))
NONE(kclock, void *ns __attribute__((unused)))
int mailbox_send(int id __attribute__((unused)), const void *msg __attribute__((unused)))
	{ abort(); }

/* --- clients --- */

enum way { GOOD, DIES, DEAF, LIAR, WAYS };

static struct client {
	enum way way;
	bool has_begun, is_open, is_refused, is_dead;
	unsigned sent, heard, told;
	struct channel ch;
} client[CLIENTS];

static const struct service_kind kind = {.magic = MAGIC, .message = LONGEST, .pages = 1};

/* A request is its client's number and its own; so many bytes. */
static uint32_t
request_of(int c, unsigned n, unsigned char *text)
{
	uint32_t bytes = 2 + (uint32_t)(c * 7 + (int)n * 13) % (LONGEST - 2);

	for (uint32_t i = 0; i < bytes; i++)
		text[i] = (unsigned char)(i == 0 ? c : i == 1 ? (int)n : (int)i);
	return bytes;
}

/* What the server makes of it: the naive one. */
static uint32_t
answer_of(const unsigned char *request, uint32_t bytes, unsigned char *text)
{
	for (uint32_t i = 0; i < bytes; i++)
		text[i] = (unsigned char)(request[bytes - 1 - i] ^ 0x55);
	return bytes;
}

static void
begin(int c)
{
	struct service_open m = {.magic = MAGIC};

	expect_eq(channel_make(&client[c].ch, OUT, 1, LONGEST, 3, &m.number), 0);
	client[c].has_begun = true;
	/* somebody says nonsense in between, and things twice */
	mail[mails].message = draw(8) == 0 ? (struct service_open){.magic = draw(2) ? MAGIC : 1,
		.number = draw(2) ? draw(CLIENTS) : 1u << 31} : m;
	if (mail[mails].message.number != m.number || mail[mails].message.magic != MAGIC) {
		mail[mails++].from = (struct mail_sender){draw(CLUSTERS), 5};
		mail[mails].message = m;
	}
	mail[mails++].from = (struct mail_sender){(uint32_t)c % CLUSTERS, BADGE_JOB + (uint32_t)c};
	bits |= 1u << mail_bit;
}

static void
hear(struct client *me, int c)
{
	unsigned char text[LONGEST], request[LONGEST], want[LONGEST];
	int bytes = channel_try_receive(&me->ch, text, sizeof(text));
	uint32_t len;
	int32_t error;

	if (bytes < 0) {
		if (draw(4) == 0)
			channel_listen(&me->ch, false);
		return;
	}
	if (!me->is_open) {
		expect_eq(bytes, 4);
		memcpy(&error, text, 4);
		expect(error == 0 || error == -E_NOSPC);
		me->is_open = error == 0;
		me->is_refused = !me->is_open;
		return;
	}
	if (bytes == 1) {
		expect_eq(text[0], c);
		me->told++;
		return;
	}
	len = request_of(c, me->heard, request);
	expect_eq(bytes, answer_of(request, len, want));
	expect(memcmp(text, want, len) == 0);
	me->heard++;
}

static void
speak(struct client *me, int c)
{
	unsigned char text[LONGEST];

	if (me->way == GOOD && me->sent == REQUESTS)
		return;
	if (channel_try_send(&me->ch, text, request_of(c, me->sent, text)) == 0)
		me->sent++;
	else if (draw(4) == 0)
		channel_listen(&me->ch, true);
}

/* Anything anywhere in what is shared, and a wake. */
static void
lie(struct client *me)
{
	uint32_t *word = (uint32_t *)(void *)wire[me - client].memory;

	word[draw(PAGE / 4)] = draw(3) ? draw(40) : draw(UINT32_MAX);
	if (draw(8) == 0)
		kchannel_wake(me->ch.handle);
}

static void
die(struct client *me)
{
	me->is_dead = true;
	channel_end(&me->ch);
}

static void
act(int c)
{
	struct client *me = &client[c];

	if (me->is_dead || me->is_refused)
		return;
	if (!me->has_begun)
		begin(c);
	else if (me->way == LIAR)
		lie(me);
	else if (!me->is_open)
		hear(me, c);
	else if (me->way == DIES && draw(12) == 0)
		die(me);
	else if (draw(2) == 0)
		speak(me, c);
	else if (me->way != DEAF)
		hear(me, c);
	if (me->way == GOOD)
		expect(me->sent - me->heard <= 2 * me->ch.slots);
}

static void
others(void)
{
	if (speaker >= 0 || all_served || draw(3) != 0)
		return;
	speaker = (int)draw(CLIENTS);
	act(speaker);
	speaker = -1;
}

/* --- the server --- */

static struct service_client place[PLACES];
static unsigned gone[PLACES], served[PLACES];
static bool has_liars;
static bool tells;
static int who_is[PLACES];		/* client of a place, once it has asked something */
static unsigned to_tell[PLACES];	/* calls since the last message */

static void
have_told(uint32_t c)
{
	if (!tells || who_is[c] < 0)
		return;
	to_tell[c]++;
	service_tell(&s, c);
}

static uint32_t
tell(void *of, uint32_t c, void *message)
{
	expect(of == gone && place[c].is_there && to_tell[c] > 0);
	to_tell[c] = 0;
	memset(message, who_is[c], 1);
	return 1;
}

/* Try a request again if it was put off. */
static void
again(uint32_t c)
{
	off -= is_off[c];
	is_off[c] = false;
	service_again(&s, c);
}

static uint32_t
put_off(uint32_t c)
{
	off++;
	is_off[c] = true;
	return SERVICE_LATER;
}

static uint32_t
serve(void *of, uint32_t c, struct service_part request, void *answer)
{
	unsigned char text[LONGEST];
	uint32_t other = draw(PLACES);

	expect(!is_off[c]);
	served[c]++;
	if (other != c && draw(2) == 0 && puts_off != ALWAYS)
		again(other);
	if (puts_off == ALWAYS || (puts_off == NOW_AND_THEN && draw(3) == 0))
		return put_off(c);
	expect(of == gone && c < PLACES && place[c].is_there && request.bytes <= LONGEST);
	memcpy(text, request.at, request.bytes);
	who_is[c] = text[0];
	if (draw(2) == 0)
		have_told(draw(PLACES));
	/* what a liar says may look as if it were somebody else's */
	if (text[0] < CLIENTS && !has_liars)
		expect_eq(place[c].from.cluster, text[0] % CLUSTERS);
	return answer_of(text, request.bytes, answer);
}

static void
end(void *of, uint32_t c)
{
	expect(of == gone && c < PLACES && !place[c].is_there);
	gone[c]++;
	off_ends += is_off[c];
	who_is[c] = -1;
	to_tell[c] = 0;
	have_told(draw(PLACES));
	again(c);
	if (puts_off != ALWAYS)
		again(draw(PLACES));
}

static void
reset(unsigned first, enum way worst)
{
	seed = first;
	s = (struct service){.kind = &kind, .serve = serve, .gone = end, .tell = tell, .of = gone,
		.client = place, .clients = PLACES, .looks = draw(3)};
	has_liars = worst == LIAR;
	memset(wire, 0, sizeof(wire));
	memset(client, 0, sizeof(client));
	memset(gone, 0, sizeof(gone));
	memset(served, 0, sizeof(served));
	memset(is_off, 0, sizeof(is_off));
	memset(who_is, -1, sizeof(who_is));
	memset(to_tell, 0, sizeof(to_tell));
	mails = mails_read = off = checks = 0;
	bits = 0;
	speaker = -1;
	all_served = true;
	for (int c = 0; c < CLIENTS; c++)
		client[c].way = (enum way)(draw(2) ? GOOD : draw((uint32_t)worst + 1));
	memset(place, 0, sizeof(place));
	expect_eq(service_begin(&s), 0);
}

/* So many rounds of the server, or until nobody has anything to say any more. */
static void
run(unsigned first, enum way worst)
{
	volatile unsigned steps = 0;

	reset(first, worst);
	all_served = false;
	if (setjmp(over) == 0)
		for (; steps < 20000; steps = steps + 1)
			if (service_step(&s) & 1u << BIT_AGAIN)
				for (uint32_t c = 0; c < PLACES; c++)
					again(c);
}

static void
expect_right(void)
{
	unsigned ended = 0, dead = 0, of[CLUSTERS] = {0};

	for (int c = 0; c < CLIENTS; c++) {
		const struct client *me = &client[c];

		dead += me->is_dead;
		if (me->is_open && !me->is_dead)
			of[c % CLUSTERS]++;
		if (me->way == GOOD)
			expect(me->is_refused || (me->heard == REQUESTS && me->sent == REQUESTS));
		if (me->way == DEAF && me->is_open)
			expect_eq(me->sent, 2 * me->ch.slots - 1);
	}
	for (int c = 0; c < CLUSTERS; c++)
		expect(of[c] <= PLACES / CLUSTERS);
	for (int p = 0; p < PLACES; p++)
		ended += gone[p];
	expect(ended >= dead);
	for (int c = 0; c < CLIENTS; c++)
		if (client[c].is_dead)
			expect(!wire[c].end[1].is_open);
}

TEST(each_client_hears_its_answers_in_order)
{
	for (unsigned n = 0; n < 30; n++) {
		run(n, GOOD);
		expect_right();
	}
}

TEST(clients_that_die_or_are_deaf_cost_nobody_else_anything)
{
	for (unsigned n = 0; n < 60; n++) {
		run(1000 + n, DEAF);
		expect_right();
	}
}

/* Liars keep the server busy, for they wake it: the others are served all the same. */
TEST(what_a_client_writes_is_not_believed)
{
	for (unsigned n = 0; n < 20; n++) {
		run(5000 + n, LIAR);
		expect_right();
	}
}

/* Clients that wait die, too, and others are tried again in the middle of that. */
TEST(requests_that_are_put_off_are_answered_in_the_end)
{
	puts_off = NOW_AND_THEN;
	off_ends = 0;
	for (unsigned n = 0; n < 90; n++) {
		run(9000 + n, n % 3 == 0 ? GOOD : n % 3 == 1 ? DEAF : LIAR);
		expect_right();
	}
	expect(off_ends > 20);
	puts_off = NEVER;
}

/* Each is told, between its answers or while it waits, and nobody who was to be told is not. */
TEST(clients_are_told_what_they_did_not_ask_for)
{
	unsigned told = 0;

	tells = true;
	puts_off = NOW_AND_THEN;
	for (unsigned n = 0; n < 60; n++) {
		run(20000 + n, DIES);
		expect_right();
		for (int p = 0; p < PLACES; p++)
			expect(to_tell[p] == 0 || !place[p].is_there);
		for (int c = 0; c < CLIENTS; c++)
			told += client[c].told;
	}
	expect(told > 1000);
	tells = false;
	puts_off = NEVER;
}

static void
serve_all(void)
{
	speaker = -1;
	if (setjmp(over) == 0)
		for (;;)
			service_step(&s);
}

/* Client 0 acts, nobody else; then the server does all that it can. */
static void
alone(void (*acts)(struct client *me, int c))
{
	speaker = 0;
	acts(&client[0], 0);
	serve_all();
}

static void
opens(struct client *me, int c)
{
	(void)me;
	begin(c);
}

static void
wakes(struct client *me, int c)
{
	(void)c;
	kchannel_wake(me->ch.handle);
}

static void
dies(struct client *me, int c)
{
	(void)c;
	die(me);
}

TEST(a_client_that_waits_costs_a_look_when_it_wakes_the_server)
{
	reset(1, GOOD);
	alone(opens);
	alone(hear);
	puts_off = ALWAYS;
	alone(speak);
	expect(client[0].is_open && is_off[0] && place[0].is_waiting && !place[0].is_awake);
	checks = 0;
	for (int n = 0; n < 1000; n++)
		alone(wakes);
	expect(served[0] == 1 && checks == 1000 && gone[0] == 0);
	service_again(&s, 1);
	again(0);
	alone(wakes);
	expect(served[0] == 2 && is_off[0] && client[0].heard == 0);
	puts_off = NEVER;
	again(0);
	alone(wakes);
	alone(hear);
	expect(served[0] == 3 && client[0].heard == 1 && !place[0].is_waiting);
	puts_off = ALWAYS;
	alone(speak);
	alone(dies);
	expect(served[0] == 4 && gone[0] == 1 && !place[0].is_there && !wire[0].end[1].is_open);
	puts_off = NEVER;
}

/* The one more that a cluster has is there before the server has looked who is not. */
TEST(who_is_gone_leaves_its_place_to_the_next)
{
	int last = PLACES;

	reset(1, GOOD);
	for (int c = 0; c < last; c += CLUSTERS) {
		speaker = c;
		begin(c);
	}
	serve_all();
	for (int c = 0; c < last; c += CLUSTERS) {
		hear(&client[c], c);
		expect(client[c].is_open);
	}
	die(&client[CLUSTERS]);
	speaker = last;
	begin(last);
	serve_all();
	hear(&client[last], last);
	expect(client[last].is_open);
	expect_eq(gone[CLUSTERS / CLUSTERS], 1);
}

static void
comes(int c)
{
	speaker = c;
	begin(c);
	speaker = -1;
}

static void
keeps_asking(struct client *me, int c)
{
	hear(me, c);
	speak(me, c);
}

/* Others that come, or ask again after a while, and the server's own bits, have their turn. */
TEST(who_always_wants_something_keeps_nobody_from_being_heard)
{
	uint32_t own = 0;

	reset(1, GOOD);
	comes(0);
	comes(1);
	serve_all();
	hear(&client[0], 0);
	hear(&client[1], 1);
	expect(client[0].is_open && client[1].is_open && !place[1].is_awake);
	client[0].way = DEAF;		/* it has no last request */
	speak(&client[0], 0);
	service_step(&s);
	speak(&client[1], 1);
	comes(2);
	bits |= 1u << BIT_AGAIN;
	for (unsigned n = 0; n < 100; n++) {
		keeps_asking(&client[0], 0);
		own |= service_step(&s);
	}
	hear(&client[1], 1);
	hear(&client[2], 2);
	expect(client[0].heard > 90 && client[1].heard == 1 && client[2].is_open);
	expect_eq(own, 1u << BIT_AGAIN);
}

int
main(void)
{
	RUN(each_client_hears_its_answers_in_order);
	RUN(clients_that_die_or_are_deaf_cost_nobody_else_anything);
	RUN(what_a_client_writes_is_not_believed);
	RUN(requests_that_are_put_off_are_answered_in_the_end);
	RUN(clients_are_told_what_they_did_not_ask_for);
	RUN(a_client_that_waits_costs_a_look_when_it_wakes_the_server);
	RUN(who_is_gone_leaves_its_place_to_the_next);
	RUN(who_always_wants_something_keeps_nobody_from_being_heard);
	return TEST_FAILED;
}
