/* SPDX-License-Identifier: MIT
 *
 * Messages in a tube (user/tube.c, user/number_ring.h), behind the semaphores, which are counters
 * here: who has taken a hole's count takes a place of the stack of holes, fills it, puts its number
 * into the ring, and counts a message; a receiver the other way round. A number gets into an entry
 * of the ring and out of it by one compare-and-swap; head and tail are put right by who comes next.
 * KILL: one thread ends at any moment.
 *
 * SENDER_IS_ALONE, RECEIVER_IS_ALONE: the only one of its kind, who needs no swaps, as the user of
 * a queue of calls.
 *
 * Shown: each message is received once, in the order in which the ring got them, and is whole; no
 * place is two threads'; who has a count finds what it counts. Who ends takes a place with it at
 * most: the others go on. The rounds of entries and the changes of the stack are counted to a
 * number that is not reached here.
 *
 * proves: user/tube.c hole_take 1934199d3f3f
 * proves: user/tube.c hole_put fdb0ce4dc233
 * proves: user/number_ring.h ring_put_once edcc79f91ae9
 * proves: user/number_ring.h ring_put f262d9c51aa9
 * proves: user/number_ring.h ring_take_once 7d5eac5583e9
 * proves: user/number_ring.h ring_take cd6e2897c2ae
 * proves: user/number_ring.h ring_put_alone ab930af8913f
 * proves: user/number_ring.h ring_take_alone ba288fa6da77
 * proves: user/tube.c fill_slowly a84c4ab5e6cd
 * proves: user/tube.c tube_put c120260d646a
 * proves: user/tube.c take_slowly 1ddd019e29df
 * proves: user/tube.c tube_take 331fbe78b6c1
 *
 * run: -DSENDERS=2 -DRECEIVERS=1 -DEACH=2 -DPLACES=2 -DRING=2
 * run: -DSENDERS=1 -DRECEIVERS=2 -DEACH=3 -DPLACES=2 -DRING=2
 * run: -DSENDERS=2 -DRECEIVERS=2 -DEACH=1 -DPLACES=2 -DRING=2
 * run: -DSENDERS=2 -DRECEIVERS=1 -DEACH=1 -DPLACES=3 -DRING=4 -DKILL
 * run: -DSENDERS=1 -DRECEIVERS=2 -DEACH=3 -DPLACES=2 -DRING=2 -DSENDER_IS_ALONE
 * run: -DSENDERS=2 -DRECEIVERS=1 -DEACH=2 -DPLACES=2 -DRING=2 -DRECEIVER_IS_ALONE
 * mutation: -DSENDERS=2 -DRECEIVERS=1 -DEACH=1 -DPLACES=2 -DRING=2 -DSENDER_IS_ALONE
 * mutation: -DSENDERS=1 -DRECEIVERS=2 -DEACH=2 -DPLACES=2 -DRING=2 -DRECEIVER_IS_ALONE
 * mutation: -DSENDERS=2 -DRECEIVERS=1 -DEACH=2 -DPLACES=3 -DRING=4 -DSTACK_DOES_NOT_COUNT
 * mutation: -DSENDERS=2 -DRECEIVERS=2 -DEACH=2 -DPLACES=2 -DRING=2 -DRING_DOES_NOT_COUNT
 * mutation: -DSENDERS=2 -DRECEIVERS=1 -DEACH=2 -DPLACES=2 -DRING=2 -DCOUNTED_BEFORE_PUT
 * mutation: -DSENDERS=2 -DRECEIVERS=1 -DEACH=2 -DPLACES=1 -DRING=2 -DHOLE_BEFORE_COPIED
 * mutation: -DSENDERS=2 -DRECEIVERS=1 -DEACH=1 -DPLACES=3 -DRING=4 -DKILL -DNOBODY_PUTS_THE_TAIL_RIGHT
 */
#define NONE 255
#define ALL (SENDERS * EACH)

byte messages, holes = PLACES;		/* counts */
byte head, tail;
byte ring_round[RING], ring_number[RING];	/* of an entry; NONE: it is empty */
byte next[PLACES];
byte hole, changes;			/* first of the stack, in a word with its changes */
byte inside[PLACES];			/* who has it, 0: nobody */
byte text[2 * PLACES];			/* of a message: two halves */
bool received[ALL];
byte got;
byte killed;
bool stuck;				/* ghost: a count without what it counts */

inline hole_take() {
	do
	:: atomic { w = hole; c = changes };
		if :: w == NONE -> stuck = true; assert(false) :: else fi;
		n = next[w];
		atomic {
#ifdef STACK_DOES_NOT_COUNT
			won = hole == w;
#else
			won = hole == w && changes == c;
#endif
			if :: won -> hole = n; changes++ :: else fi
		}
		if :: won -> break :: else fi
	od
}

inline hole_put() {
	do
	:: atomic { c = changes; n = hole };
		next[w] = n;
		atomic {
#ifdef STACK_DOES_NOT_COUNT
			won = hole == n;
#else
			won = hole == n && changes == c;
#endif
			if :: won -> hole = w; changes++ :: else fi
		}
		if :: won -> break :: else fi
	od
}

#ifdef RING_DOES_NOT_COUNT
#define ROUND(at) 0
#define NEXT_ROUND(at) 0
#else
#define ROUND(at) ((at) / RING)
#define NEXT_ROUND(at) ((at) / RING + 1)
#endif

inline move(which) {
	atomic { if :: which == at -> which++ :: else fi }
}

inline message_put() {
	do
	:: at = tail;
		atomic {
			won = ring_round[at % RING] == ROUND(at) && ring_number[at % RING] == NONE;
			if :: won -> ring_number[at % RING] = w :: else fi
		}
		if
		:: won -> move(tail); break
		:: else ->
#ifndef NOBODY_PUTS_THE_TAIL_RIGHT
			if
			:: !(ring_round[at % RING] == ROUND(at) && ring_number[at % RING] == NONE) -> move(tail)
			:: else
			fi
#else
			tail != at
#endif
		fi
	od
}

/* Nobody else puts, and there is room. */
inline message_put_alone() {
	at = tail;
	atomic {
		assert(ring_round[at % RING] == ROUND(at) && ring_number[at % RING] == NONE);
		ring_number[at % RING] = w
	}
	tail = at + 1
}

/* Nobody else takes, and there is one. */
inline message_take_alone() {
	at = head;
	atomic { c = ring_round[at % RING]; w = ring_number[at % RING] };
	assert(w != NONE && c == ROUND(at));
	atomic { ring_number[at % RING] = NONE; ring_round[at % RING] = NEXT_ROUND(at) }
	head = at + 1
}

inline message_take() {
	do
	:: at = head;
		atomic { c = ring_round[at % RING]; w = ring_number[at % RING] };
		if
		:: w == NONE && c == ROUND(at) ->
			if :: head == at -> stuck = true; assert(false) :: else fi
		:: w != NONE && c == ROUND(at) ->
			atomic {
				won = ring_round[at % RING] == c && ring_number[at % RING] == w;
				if :: won -> ring_number[at % RING] = NONE; ring_round[at % RING] = NEXT_ROUND(at) :: else fi
			}
			if :: won -> move(head); break :: else fi
		:: else -> move(head)
		fi
	od
}

inline count_down(count) {
	atomic { count > 0 -> count-- }
}

proctype sender(byte me) {
	byte i, w, n, c, at;
	bool won;

	{
		for (i : 0 .. EACH - 1) {
end:			count_down(holes);
			hole_take();
			atomic { assert(inside[w] == 0); inside[w] = me }
			text[2 * w] = (me - 1) * EACH + i + 1;
			text[2 * w + 1] = (me - 1) * EACH + i + 1;
#ifdef COUNTED_BEFORE_PUT
			messages++;
#endif
			inside[w] = 0;
#ifdef SENDER_IS_ALONE
			message_put_alone();
#else
			message_put();
#endif
#ifndef COUNTED_BEFORE_PUT
			messages++
#endif
		}
	}
#ifdef KILL
	unless { killed == me }
#endif
}

proctype receiver(byte me) {
	byte w, n, c, at, first;
	bool won;

	{
		do
		:: true ->
end:			count_down(messages);
#ifdef RECEIVER_IS_ALONE
			message_take_alone();
#else
			message_take();
#endif
#ifdef HOLE_BEFORE_COPIED
			hole_put();
			holes++;
#else
			atomic { assert(inside[w] == 0); inside[w] = me }
#endif
			first = text[2 * w];
			assert(text[2 * w + 1] == first && first != 0 && !received[first - 1]);
			atomic { received[first - 1] = true; got++ }
			first = 0;
#ifndef HOLE_BEFORE_COPIED
			inside[w] = 0;
			hole_put();
			holes++
#endif
		od
	}
#ifdef KILL
	unless { killed == me }
#endif
}

#ifdef KILL
proctype killer() {
	byte who;

	select(who : 1 .. SENDERS + RECEIVERS);
	killed = who
}
#endif

/* All that was sent has come, and all places are holes; who has ended has taken one message, or one place. */
proctype watch() {
	timeout;
#ifdef KILL
	assert(killed == SENDERS + RECEIVERS || got + messages + 1 >= ALL);
	assert(killed > SENDERS || messages == 0);
	assert(holes + messages + 1 >= PLACES)
#else
	assert(got == ALL && holes == PLACES && messages == 0)
#endif
}

init {
	byte i;

	atomic {
		for (i : 0 .. RING - 1) { ring_number[i] = NONE }
		for (i : 0 .. PLACES - 1) { next[i] = i - 1 }
		next[0] = NONE;
		hole = PLACES - 1;
		for (i : 1 .. SENDERS) { run sender(i) }
		for (i : 1 .. RECEIVERS) { run receiver(SENDERS + i) }
#ifdef KILL
		run killer();
#endif
		run watch()
	}
}
