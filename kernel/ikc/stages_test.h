/* SPDX-License-Identifier: MIT
 *
 * For stages_test.c: actors, what each calls next, and the stages in which that and all that
 * follows from it happens.
 */
#ifndef KERNEL_IKC_STAGES_TEST_H
#define KERNEL_IKC_STAGES_TEST_H

#include <kernel/ikc/mailbox_test.h>

#define ALL 3				/* messages of each sender, or rounds */
#define ONE 1			/* the cluster that reads, or is the ONE of the sync point */
#define PORT 3
#define NEXT_PORT 4			/* where messages are forwarded to */
#define GOES_ON 1			/* `end` of an actor: neither 0 nor an error */
#define KILLED 2
#define CALLED_OFF 3
#define STAGES_MAX 2000
#define HOME_PARTS 4

/*
 * A next life begins when all others have settled with the last one (ADR 0089): nobody meets it
 * with a call of before under way.
 */
enum way { NEVER, DIES, RESTARTED, WAYS };

/* One per cluster: its thread 0. */
struct actor {
	void (*go)(struct actor *a);	/* makes the next call; NULL: nobody plays here */
	unsigned cluster;
	unsigned peer;			/* that it sends to */
	int handle, out;
	unsigned from;			/* bitmap: clusters that it reads from */
	unsigned got[FAKE_CLUSTERS];	/* messages */
	unsigned count;			/* messages written, rounds taken or signalled */
	bool any;			/* it reads what comes first */
	bool waits;			/* its last call was a wait, that parked */
	bool holds;			/* it has a message that is to be forwarded */
	bool has_read;			/* and there will be no more of them */
	bool late;			/* its end is younger than the victim's death */
	long end;
};

static struct actor actor[FAKE_CLUSTERS];
static unsigned performance;		/* messages of different ones are different */
static uint64_t seed;
static uint32_t draws;
static unsigned victim;
static enum way way;			/* in which it has died; NEVER: it lives */

/* --- stages --- */

static uint32_t
draw(uint32_t n)
{
	draws = draws * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)draws * n) >> 32);
}

static bool
home_part(unsigned cluster, unsigned part)
{
	struct cluster *c = &fake[cluster]->c;

	here = cluster;
	switch (part) {
	case 0: return ikc_poll(c);
	case 1: return ikc_look(c);
	case 2: return peers_poll(c);
	default: return channels_poll(c);
	}
}

/* What a cluster could do now: parts of its home core, of its threads, and its actor. */
static bool
try(unsigned cluster, unsigned what)
{
	struct actor *a = &actor[cluster];

	if (fake_starts[cluster])
		return fake_step(cluster, true);
	if (!fake[cluster]->up)
		return false;
	if (what < HOME_PARTS)
		return home_part(cluster, what);
	if (what == HOME_PARTS)
		return fake_step(cluster, false);
	if (a->go == NULL || a->end != GOES_ON || fake_is_parked(thr(cluster, 0)))
		return false;
	a->go(a);
	return true;
}

/*
 * One stage; false: nothing can happen any more, also not after what the first looks have begun.
 * With most seeds one of the clusters is slow.
 */
static bool
stage(void)
{
	unsigned units = FAKE_CLUSTERS * (HOME_PARTS + 2), first = draw(units);
	unsigned slow = (unsigned)(seed % (FAKE_CLUSTERS + 2));

	for (unsigned pass = 0; pass < 3; pass++)
		for (unsigned i = 0; i < units; i++) {
			unsigned unit = (first + i) % units, cluster = unit % FAKE_CLUSTERS;

			if ((pass == 2 || (cluster == slow) == (pass == 1)) &&
				try(cluster, unit / FAKE_CLUSTERS))
				return true;
		}
	return false;
}

/* Up to so many stages: how many there were. */
static unsigned
stages(unsigned most)
{
	unsigned n = 0;

	while (n < most && stage())
		n++;
	return n;
}

/* --- actors --- */

static struct thread *
thread_of(const struct actor *a)
{
	return thr(a->cluster, 0);
}

/* The actor's wait: 0 if it goes on or is over, or how it has failed. */
static long
begin_wait(struct actor *a, long result)
{
	a->waits = result == -E_PARK;
	return a->waits ? 0 : result;
}

static int
number_of(unsigned cluster, unsigned n)
{
	return (int)(performance * 1000 + cluster * 100 + n);
}

static const uint8_t all[] = {ONE, 0, 2, 3};
static int sync_mode;

static void wait_for_rounds(struct actor *a);
static void signal_rounds(struct actor *a);

/* The end that it reads, waits or signals at. */
static void
make_end(struct actor *a)
{
	struct thread *t = thread_of(a);

	if (a->go == wait_for_rounds)
		a->handle = (int)call(t, kc_sync_create(t, sync_mode, 2, all, sizeof(all)));
	else if (a->go == signal_rounds)
		a->handle = (int)call(t, kc_sync_open(t, sync_mode, 2, all, sizeof(all)));
	else
		a->handle = input(t, a->peer == a->cluster ? PORT : NEXT_PORT);
	expect(a->handle > 0);
}

/* Writes ALL messages, and waits until the last one was read. */
static void
send_on(struct actor *a)
{
	struct thread *t = thread_of(a);
	long e = 0;

	if (a->out == 0) {
		a->out = output(t, (int)a->peer, PORT);
	} else if (a->waits) {
		a->waits = false;
		e = fake_result(t);
	} else if (a->count == ALL) {
		e = begin_wait(a, wait_on(t, a->out));
		a->end = e == 0 && !a->waits ? 0 : GOES_ON;
	} else {
		e = call(t, kc_mailbox_write(t, a->out, text(number_of(a->cluster, a->count))));
		a->count += e == 0;
		if (e == -E_AGAIN)
			e = begin_wait(a, wait_on(t, a->out));
	}
	if (e != 0)
		a->end = e;
}

/* Those that it was to read from, and from whom more can come. */
static bool
has_all(const struct actor *a)
{
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		if ((a->from >> c & 1) != 0 && a->got[c] < ALL && !(way != NEVER && c == victim))
			return false;
	return true;
}

/* Whose message comes next: of each cluster one after the other, the last cluster first. */
static int
next_source(const struct actor *a)
{
	int next = ANY_SOURCE_CLUSTER;

	for (int c = FAKE_CLUSTERS - 1; c >= 0 && !a->any; c--)
		if ((a->from >> c & 1) != 0 && a->got[c] < ALL &&
			(next < 0 || a->got[c] < a->got[next]))
			next = c;
	return next;
}

/*
 * Messages are whole, of this performance, and each cluster's in the order in which it wrote
 * them.
 */
static void
take(struct actor *a, unsigned from)
{
	const struct thread *t = thread_of(a);
	unsigned first = a->from == 1u << 2 ? 1 : from;	/* who has sent what 2 forwards */

	expect(from < FAKE_CLUSTERS && (a->from >> from & 1) != 0);
	expect(is_text(number_of(first, a->got[from])));
	expect(t->has_origin && t->origin_cluster == first);
	a->got[from]++;
}

/* From this cluster comes no more. */
static void
give_up(struct actor *a, int source)
{
	expect(way != NEVER && (unsigned)source == victim);
	a->from &= ~(1u << source);
}

/*
 * Reads, or waits. A wait for the next life of a cluster that has died would be one for what this
 * performance does not have.
 */
static void
read_next(struct actor *a)
{
	struct thread *t = thread_of(a);
	int source = next_source(a);
	long e = call(t, kc_mailbox_read(t, a->handle, source, msg, fake_sender()));

	if (e >= 0) {
		take(a, (unsigned)e);
		a->holds = a->out != 0;
	} else if (e != -E_AGAIN) {
		a->end = e;
	} else if (way == RESTARTED && source == (int)victim) {
		give_up(a, source);
	} else {
		e = begin_wait(a, call(t, kc_mailbox_wait(t, a->handle, source)));
		if (e == -E_HOSTDOWN)
			give_up(a, source);
		else if (e != 0)
			a->end = e;
	}
}

static void
receive_on(struct actor *a)
{
	struct thread *t = thread_of(a);
	long e;

	if (a->handle == 0) {
		make_end(a);
		return;
	}
	if (!a->waits) {
		if (has_all(a))
			a->end = 0;
		else
			read_next(a);
		return;
	}
	a->waits = false;
	e = fake_result(t);
	if (e == -E_HOSTDOWN && !a->any)
		give_up(a, next_source(a));
	else if (e != 0)
		a->end = e;
}

/* Reads a message and forwards it, until the last one was read there. */
static void
forward_on(struct actor *a)
{
	struct thread *t = thread_of(a);
	long e = 0;

	if (a->out == 0) {
		a->out = output(t, 3, NEXT_PORT);
		return;
	}
	if (!a->holds && !a->has_read) {
		receive_on(a);
		a->has_read = a->end == 0;
		a->end = a->has_read ? GOES_ON : a->end;
		return;
	}
	if (a->waits) {
		a->waits = false;
		e = fake_result(t);
	} else if (!a->holds) {
		e = begin_wait(a, wait_on(t, a->out));
		a->end = e == 0 && !a->waits ? 0 : GOES_ON;
	} else {
		e = call(t, kc_mailbox_forward(t, a->out, text(number_of(1, a->got[1] - 1))));
		a->holds = e != 0;
		if (e == -E_AGAIN)
			e = begin_wait(a, wait_on(t, a->out));
	}
	if (e != 0)
		a->end = e;
}

static void
wait_for_rounds(struct actor *a)
{
	struct thread *t = thread_of(a);
	long e;

	if (a->handle == 0) {
		make_end(a);
		return;
	}
	if (a->count == ALL) {
		a->end = 0;
		return;
	}
	e = a->waits ? fake_result(t) : call(t, kc_sync_wait(t, a->handle));
	a->waits = e == -E_PARK;
	a->count += e == 0;
	if (e != 0 && !a->waits)
		a->end = e;
}

static void
signal_rounds(struct actor *a)
{
	struct thread *t = thread_of(a);
	long e = 0;

	if (a->handle == 0) {
		make_end(a);
	} else if (a->waits) {
		a->waits = false;
		e = fake_result(t);
	} else if (a->count == ALL) {
		e = begin_wait(a, call(t, kc_sync_wait(t, a->handle)));
		a->end = e == 0 && !a->waits ? 0 : GOES_ON;
	} else {
		e = call(t, kc_sync_signal(t, a->handle));
		a->count += e == 0;
		if (e == -E_AGAIN)
			e = begin_wait(a, call(t, kc_sync_wait(t, a->handle)));
	}
	if (e != 0)
		a->end = e;
}

#endif
