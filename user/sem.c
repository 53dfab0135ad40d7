/* SPDX-License-Identifier: MIT
 *
 * Semaphores: see atoll/sem.h, and sem_words.h for their word. Source: seed 004 5.
 *
 * Who waits for one semaphore sleeps at its word in the kernel, whose queue keeps the order and
 * forgets who is dead. Who is woken has been given what he waits for: nobody else can take it. The
 * kernel looks at the word before it lets a thread sleep; so whoever ups takes the mark away first.
 * If the kernel finds nobody then, nobody can fall asleep before the mark is back, which upsem sees
 * when it raises the value. (tests/models/semaphore.pml)
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>
#include "channel_words.h"
#include "sem_words.h"

#define RECHECK_NS 100000000ull

/*
 * Who waits for several semaphores sleeps at a word of his own, in one of SEM_WAITERS places, and
 * stands in the list of each. The word goes from awake to waiting and back by him. Who ups one of
 * them makes it granted, with the semaphore's place in it, which succeeds once; then he wakes him.
 * So one of the semaphores is downed, whoever ups how many. What was granted by an older list, when
 * the place was another thread's, is given on.
 *
 * In a shared segment anybody may end at any moment. A grant that finds nobody asleep is taken back
 * there: a thread that lives looks again, and a dead one swallows nothing. Who has ended between
 * giving and waking is made up for by a look every RECHECK_NS. Places of the dead are taken by who
 * finds none free; each taking has another number, by which a former holder that lives sees it.
 */

/* Words of waiters: state, place of the semaphore in the segment, number of the taking. */
enum waiter_state { WAITER_FREE, WAITER_AWAKE, WAITER_WAITS, WAITER_GRANTED };
#define STATE(w) ((w) & 3u)
#define PLACE_OF(w) ((w) >> 2 & 0xfffffu)
#define TAKING_ONE (1u << 22)
#define TAKING(w) ((w) & ~(TAKING_ONE - 1))

static unsigned long
key(const struct segment *g, const uint32_t *word)
{
	return (unsigned long)word | g->shared;
}

/* Sleep at a word. 0: woken; -E_AGAIN: it is worth a look; or an error. */
static int
sleep_at(const struct segment *g, const uint32_t *word, uint32_t value, uint64_t until)
{
	uint64_t soon = until;
	long e;

	if (g->shared != 0 && kclock(&soon) == 0)
		soon = until - soon > RECHECK_NS && until > soon ? soon + RECHECK_NS : until;
	e = kfutex_wait(key(g, word), value, soon);
	return e == -E_TIMEDOUT && soon != until ? -E_AGAIN : (int)e;
}

/* --- up --- */

/*
 * One sleeper was woken, so others may sleep: the mark comes back. True: a value was raised
 * meanwhile; it is taken down again, to be given on.
 */
static bool
mark_again(struct sem_state *at)
{
	for (;;) {
		uint32_t w = word_look(&at->word);

		if ((w & SEM_ASLEEP) != 0)
			return false;
		if (word_swap(&at->word, w, sem_is_up(w) ? w - 1 : w | SEM_ASLEEP))
			return sem_is_up(w);
	}
}

/* The oldest waiter of a semaphore that sleeps or is about to, but those in `not`; -1: none. */
static int
oldest(const struct segment *g, const struct sem_state *at, const uint32_t *not)
{
	const struct segment_waiter *waiter = segment_head(g)->waiter;
	uint32_t since = 0;
	int found = -1;

	for (unsigned part = 0; part < SEM_WAITERS / 32; part++) {
		uint32_t bits = word_look(&at->listed[part]) & ~not[part];

		for (unsigned i = part * 32; bits != 0; i++, bits >>= 1) {
			uint32_t its = word_look(&waiter[i].since);

			if ((bits & 1) == 0 || STATE(word_look(&waiter[i].word)) != WAITER_WAITS)
				continue;
			if (found < 0 || (int32_t)(its - since) < 0) {
				found = (int)i;
				since = its;
			}
		}
	}
	return found;
}

/* Give what is upped to who waits for several semaphores, the oldest first. False: none takes it.
 */
static bool
grant(const struct segment *g, const struct sem_state *at)
{
	uint32_t place = (uint32_t)((const unsigned char *)at - g->base) / SEGMENT_UNIT;
	uint32_t not[SEM_WAITERS / 32] = {0};
	int i;

	while ((i = oldest(g, at, not)) >= 0) {
		uint32_t *word = &segment_head(g)->waiter[i].word, w = word_look(word);
		uint32_t granted = TAKING(w) | place << 2 | WAITER_GRANTED;

		if (STATE(w) != WAITER_WAITS || !word_swap(word, w, granted))
			continue;
		if (kfutex_wake(key(g, word), 1) == 1 || g->shared == 0 ||
			!word_swap(word, granted, TAKING(w) | WAITER_AWAKE))
			return true;
		not[i / 32] |= 1u << i % 32;
	}
	return false;
}

/* The value was raised while a waiter may have been about to sleep: all of them look again. */
static void
look_again(const struct segment *g, const struct sem_state *at)
{
	words_fence();
	for (unsigned i = 0; i < SEM_WAITERS; i++) {
		uint32_t *word, w;

		if ((word_look(&at->listed[i / 32]) & 1u << i % 32) == 0)
			continue;
		word = &segment_head(g)->waiter[i].word;
		w = word_look(word);
		if (STATE(w) == WAITER_WAITS && word_swap(word, w, TAKING(w) | WAITER_AWAKE))
			kfutex_wake(key(g, word), 1);
	}
}

/*
 * Wake one that sleeps at the word, whose mark is taken away. 1: what is upped is his; 0: nobody
 * sleeps there; or an error.
 */
static int
wake_sleeper(const struct segment *g, struct sem_state *at, uint32_t w)
{
	return (w & SEM_ASLEEP) != 0 && !word_swap(&at->word, w, w & ~SEM_ASLEEP) ? -E_AGAIN :
		(int)kfutex_wake(key(g, &at->word), 1);
}

int
sem_up(const struct segment *g, struct sem_state *at)
{
	bool some_sleep = false;	/* also without the mark */
	int wrong = 0;

	for (;;) {
		uint32_t w = word_look(&at->word);
		bool both = (w & SEM_MARKS) == SEM_MARKS;

		if (w == SEM_GONE)
			return -E_PIPE;
		/* of both kinds, each in turn */
		if (both && (word_look(&at->turn) & 1) != 0 && grant(g, at)) {
			word_put(&at->turn, 0);
			return 0;
		}
		if (wrong == 0 && (some_sleep || (w & SEM_ASLEEP) != 0)) {
			int woken = wake_sleeper(g, at, w);

			if (woken == 1) {
				if (both)
					word_put(&at->turn, 1);
				some_sleep = mark_again(at);
				if (!some_sleep)
					return 0;
			}
			if (woken < 0 && woken != -E_AGAIN)
				wrong = woken;
			if (woken != 0)
				continue;
			some_sleep = false;
			w &= ~SEM_ASLEEP;
		}
		if ((w & SEM_LISTED) != 0 && grant(g, at))
			return wrong;
		if ((w & ~SEM_MARKS) >= SEM_VALUE_MAX)
			return -E_NOSPC;
		if (word_swap(&at->word, w, (w & ~SEM_MARKS) + 1)) {
			if ((w & SEM_LISTED) != 0)
				look_again(g, at);
			return wrong;
		}
	}
}

/* --- down --- */

int
sem_down(const struct segment *g, struct sem_state *at, uint64_t until)
{
	uint32_t looks = until == 0 ? 0 : g->looks;
	int e;

	for (;;) {
		uint32_t w = word_look(&at->word);

		if (w == SEM_GONE)
			return -E_PIPE;
		if (sem_is_up(w)) {
			if (word_swap(&at->word, w, w - 1))
				return 0;
			continue;
		}
		if (until == 0)
			return -E_AGAIN;
		if (looks > 0) {
			looks--;
			continue;
		}
		if ((w & SEM_ASLEEP) == 0 && !word_swap(&at->word, w, w | SEM_ASLEEP))
			continue;
		e = sleep_at(g, &at->word, w | SEM_ASLEEP, until);
		if (e == 0)
			return word_look(&at->word) == SEM_GONE ? -E_PIPE : 0;
		if (e != -E_AGAIN)
			return e;
	}
}

/* --- one of several --- */

struct alt {
	const struct sem_set *set;
	const struct segment *g;
	uint32_t *word;			/* to sleep at */
	uint32_t bit, part;		/* in lists */
	uint32_t taking;
};

static const struct sem *
nth(const struct sem_set *set, int k)
{
	const struct sem *const *at = (const void *)((const char *)set->first +
		(size_t)k * set->stride);

	return *at;
}

/* All are semaphores of one segment, and there is one. */
static int
alt_begin(struct alt *a, const struct sem_set *set)
{
	*a = (struct alt){.set = set};
	for (int k = 0; k < set->n; k++) {
		const struct sem *s = nth(set, k);

		if (s == NULL)
			continue;
		if (s->at == NULL || (a->g != NULL && a->g->base != s->in->base))
			return -E_INVAL;
		a->g = s->in;
	}
	return a->g == NULL ? -E_INVAL : 0;
}

/*
 * Down one that is ready. The first that is looked at is another one each time: multiples of the
 * golden ratio lie evenly, also those that are every second or third call's.
 */
static int
alt_try(const struct alt *a)
{
	uint32_t *turns = &segment_head(a->g)->turns, turn = word_look(turns);
	int n = a->set->n, k = (int)((uint64_t)turn * (uint32_t)n >> 32);

	word_swap(turns, turn, turn + 0x9e3779b9u);
	for (int i = 0; i < n; i++, k = k + 1 < n ? k + 1 : 0) {
		const struct sem *s = nth(a->set, k);
		int e = s == NULL ? -E_AGAIN : sem_down(a->g, s->at, 0);

		if (e != -E_AGAIN)
			return e == 0 ? k : e;
	}
	return -E_AGAIN;
}

static void
bit_put(uint32_t *word, uint32_t bit, bool value)
{
	uint32_t w;

	do
		w = word_look(word);
	while (((w & bit) != 0) != value && !word_swap(word, w, w ^ bit));
}

/* Stand in the list of all. 0: none is ready; -E_AGAIN: one is; -E_PIPE. */
static int
alt_list(const struct alt *a)
{
	for (int k = 0; k < a->set->n; k++) {
		const struct sem *s = nth(a->set, k);
		uint32_t w = SEM_LISTED;

		if (s != NULL)
			bit_put(&s->at->listed[a->part], a->bit, true);
		words_fence();
		do
			w = s != NULL ? word_look(&s->at->word) : w;
		while (!sem_is_up(w) && (w & SEM_LISTED) == 0 &&
			!word_swap(&s->at->word, w, w | SEM_LISTED));
		if (sem_is_up(w) || w == SEM_GONE)
			return w == SEM_GONE ? -E_PIPE : -E_AGAIN;
	}
	return 0;
}

static void
alt_leave(const struct alt *a)
{
	for (int k = 0; k < a->set->n; k++) {
		const struct sem *s = nth(a->set, k);

		if (s != NULL)
			bit_put(&s->at->listed[a->part], a->bit, false);
	}
	word_swap(a->word, a->taking | WAITER_AWAKE, a->taking | WAITER_FREE);
}

/* What was granted: a place, or -E_AGAIN: it was for a former waiter, and is given on. */
static int
give_on(const struct segment *g, uint32_t place)
{
	uint32_t offset = place * SEGMENT_UNIT;

	if (offset >= sizeof(struct segment_head) &&
		offset <= g->bytes - sizeof(struct sem_state))
		sem_up(g, (struct sem_state *)(void *)(g->base + offset));
	return -E_AGAIN;
}

static int
accept(const struct alt *a, uint32_t w)
{
	const unsigned char *at = a->g->base + PLACE_OF(w) * SEGMENT_UNIT;

	if (!word_swap(a->word, w, a->taking | WAITER_AWAKE))
		return -E_STALE;
	for (int k = 0; k < a->set->n; k++) {
		const struct sem *s = nth(a->set, k);

		if (s != NULL && (const unsigned char *)s->at == at)
			return k;
	}
	return give_on(a->g, PLACE_OF(w));
}

/* Wait once. A place; -E_AGAIN; -E_STALE: another thread has our word; or an error. */
static int
alt_wait(const struct alt *a, uint64_t until)
{
	uint32_t waits = a->taking | WAITER_WAITS, w;
	int e, k;

	if (!word_swap(a->word, a->taking | WAITER_AWAKE, waits))
		return -E_STALE;
	e = alt_list(a);
	if (e == 0)
		e = sleep_at(a->g, a->word, waits, until);
	if (!word_swap(a->word, waits, a->taking | WAITER_AWAKE)) {
		w = word_look(a->word);
		if (TAKING(w) != a->taking)
			return -E_STALE;
		if (STATE(w) == WAITER_GRANTED)
			return accept(a, w);
	}
	k = alt_try(a);
	return k == -E_AGAIN && e != 0 ? e : k;
}

static void
taken(struct alt *a, int i, uint32_t taking)
{
	struct segment_head *h = segment_head(a->g);
	uint32_t ticket;

	do
		ticket = word_look(&h->tickets);
	while (!word_swap(&h->tickets, ticket, ticket + 1));
	a->word = &h->waiter[i].word;
	a->part = (uint32_t)i / 32;
	a->bit = 1u << i % 32;
	a->taking = taking;
	word_put(&h->waiter[i].since, ticket);
}

/* The place of a thread that does not sleep there: it is dead, or will see that it has none. */
static bool
take_from(struct alt *a, int i)
{
	uint32_t *word = &segment_head(a->g)->waiter[i].word, w = word_look(word), mine;

	if (STATE(w) == WAITER_WAITS) {
		if (!word_swap(word, w, TAKING(w) | WAITER_AWAKE) ||
			kfutex_wake(key(a->g, word), 1) != 0)
			return false;
		w = TAKING(w) | WAITER_AWAKE;
	}
	mine = TAKING(w) + TAKING_ONE;
	if (!word_swap(word, w, mine | WAITER_AWAKE))
		return false;
	taken(a, i, mine);
	if (STATE(w) == WAITER_GRANTED)
		give_on(a->g, PLACE_OF(w));
	return true;
}

static int
take_place(struct alt *a)
{
	struct segment_waiter *waiter = segment_head(a->g)->waiter;

	for (int i = 0; i < SEM_WAITERS; i++) {
		uint32_t w = word_look(&waiter[i].word);

		if (STATE(w) == WAITER_FREE && word_swap(&waiter[i].word, w,
			(TAKING(w) + TAKING_ONE) | WAITER_AWAKE)) {
			taken(a, i, TAKING(w) + TAKING_ONE);
			return 0;
		}
	}
	for (int i = 0; i < SEM_WAITERS && a->g->shared != 0; i++)
		if (take_from(a, i))
			return 0;
	return -E_NOSPC;
}

int
sem_alt(const struct sem_set *set, uint64_t until)
{
	struct alt a;
	int e = alt_begin(&a, set);

	if (e != 0)
		return e;
	e = alt_try(&a);
	for (uint32_t i = 1; i < a.g->looks && e == -E_AGAIN && until != 0; i++)
		e = alt_try(&a);
	if (e != -E_AGAIN || until == 0)
		return e;
	do {
		e = take_place(&a);
		if (e != 0)
			return e;
		do
			e = alt_wait(&a, until);
		while (e == -E_AGAIN);
		alt_leave(&a);
	} while (e == -E_STALE);
	return e;
}

/* --- calls --- */

int
upsem(const struct sem *s)
{
	return s->at == NULL ? -E_INVAL : sem_up_quickly(s->in, s->at);
}

int
downsem(const struct sem *s, uint64_t until)
{
	if (s->at == NULL)
		return -E_INVAL;
	return sem_down_quickly(s->at) ? 0 : sem_down(s->in, s->at, until);
}

int
altsems(const struct sem *const s[], int n, uint64_t until)
{
	return sem_alt(&(struct sem_set){s, sizeof(s[0]), n}, until);
}

uint32_t
semvalue(const struct sem *s)
{
	uint32_t w = s->at == NULL ? SEM_GONE : word_look(&s->at->word);

	return sem_is_up(w) ? w : 0;
}

static void
begin_sem(struct segment_wish *w, void *arg)
{
	struct sem_state *at = (struct sem_state *)(void *)w->at;

	*at = (struct sem_state){.word = *(const uint32_t *)arg};
}

int
newsem(struct segment *g, struct sem *s, const char *name, uint32_t value)
{
	struct segment_wish w = {.kind = SEGMENT_SEM, .name = name, .bytes = sizeof(*s->at)};
	int e = value > SEM_VALUE_MAX ? -E_INVAL : segment_find(g, &w, begin_sem, &value);

	*s = (struct sem){NULL, g, 0};
	if (e == 0)
		*s = (struct sem){(struct sem_state *)(void *)w.at, g, w.entry};
	return e;
}

void
sem_end(const struct segment *g, struct sem_state *at)
{
	uint32_t w;

	do
		w = word_look(&at->word);
	while (!word_swap(&at->word, w, SEM_GONE));
	kfutex_wake(key(g, &at->word), INT32_MAX);
	look_again(g, at);
}

int
endsem(const struct sem *s)
{
	if (s->at == NULL)
		return -E_INVAL;
	sem_end(s->in, s->at);
	return 0;
}

int
freesem(struct sem *s)
{
	int e = endsem(s);

	if (e == 0)
		e = segment_leave(s->in, s->entry);
	if (e == 0)
		s->at = NULL;
	return e;
}
