/* SPDX-License-Identifier: MIT
 *
 * A direction of a channel in shared memory (user/channel.c, and a server that listens to many,
 * user/service_loop.c): the sender puts MESSAGES messages into SLOTS slots, the receiver takes
 * them. Either may sleep at any time when it finds nothing to do, without looking a while before.
 * What a core stores is seen by the other in its order, at any later time, but not after a fence or
 * a kernel call of the core: each has a queue of stores. A wake-up is a bit, which stays until it
 * is slept for; it may be set without a reason (the bit is the other direction's, too).
 *
 * Shown: all messages are taken, each once: nobody sleeps for good, whatever is seen late; the
 * sender never overwrites what was not taken.
 *
 * proves: user/channel.c wake_sleeper f54982d49185
 * proves: user/channel.c is_full 08ed67b171b0
 * proves: user/channel.c announce bdba5a524b6a
 * proves: user/channel.c channel_place 60a78186068b
 * proves: user/channel.c channel_put 87040d0695c4
 * proves: user/channel.c channel_send c6c1f3723041
 * proves: user/channel.c channel_tell 0d1c5f157666
 * proves: user/channel.c channel_look 823d6cad3e61
 * proves: user/channel.c channel_took 26489f16ba72
 * proves: user/channel.c channel_listen 7a794a465829
 * proves: user/channel.c channel_await d4b189462835
 * proves: user/service_loop.c serve_client b24c02044795
 * proves: user/service_loop.c is_quiet d2dfc6a4832c
 *
 * run: -DMESSAGES=4 -DSLOTS=1
 * run: -DMESSAGES=5 -DSLOTS=2
 * run: -DMESSAGES=6 -DSLOTS=3
 * mutation: -DMESSAGES=4 -DSLOTS=1 -DNO_FENCE_BEFORE_LOOKING_FOR_SLEEPERS
 * mutation: -DMESSAGES=4 -DSLOTS=1 -DNO_FENCE_BEFORE_SLEEPING
 * mutation: -DMESSAGES=4 -DSLOTS=1 -DNO_SECOND_LOOK
 * mutation: -DMESSAGES=4 -DSLOTS=1 -DLOOKS_FOR_SLEEPERS_FIRST
 * mutation: -DMESSAGES=4 -DSLOTS=1 -DTAKES_BACK_AFTER_WAKING
 * mutation: -DMESSAGES=4 -DSLOTS=1 -DNO_ANNOUNCEMENT
 * mutation: -DMESSAGES=4 -DSLOTS=1 -DBITS_ARE_LOST
 * mutation: -DMESSAGES=5 -DSLOTS=2 -DTELLS_TOO_LATE
 * mutation: -DMESSAGES=4 -DSLOTS=1 -DBELIEVES_MORE_WAS_TAKEN
 */
#define NUMBER 0		/* messages that were put */
#define TAKEN 1			/* of which the receiver has told */
#define SLEEPS 2
#define WAITS 3
#define SENDER 0
#define RECEIVER 1

byte word[4];			/* what stands in memory */
chan stores[2] = [3] of { byte, byte };	/* of each core, that the other does not see yet */
bool woken[2];
#ifdef BITS_ARE_LOST
bool asleep[2];
#endif
byte taken;			/* ghost: messages that the receiver has taken */

#define put(who, place, value) stores[who]!place, value

inline fence(who) {
	(empty(stores[who]))
}

/* Announced sleep: `place` is the announcement of this side. */
inline sleep(who) {
#ifdef BITS_ARE_LOST
	asleep[who] = true;
#endif
	atomic { woken[who] -> woken[who] = false }
}

/* Something was done that the other side may sleep for. */
inline wake(who, place) {
#ifndef NO_FENCE_BEFORE_LOOKING_FOR_SLEEPERS
	fence(who);
#endif
	if
	:: word[place] != 0 ->
#ifdef TAKES_BACK_AFTER_WAKING
		fence(who);
		woken[1 - who] = true;
		put(who, place, 0)
#else
		put(who, place, 0);
		fence(who);
#ifdef BITS_ARE_LOST
		atomic { if :: asleep[1 - who] -> asleep[1 - who] = false; woken[1 - who] = true :: else fi }
#else
		woken[1 - who] = true
#endif
#endif
	:: else
	fi
}

inline announce(who, place) {
#ifndef NO_ANNOUNCEMENT
	put(who, place, 1);
#endif
#ifndef NO_FENCE_BEFORE_SLEEPING
	fence(who)
#else
	skip
#endif
}

inline full_look() {
	if
	:: count - seen >= SLOTS ->
#ifdef BELIEVES_MORE_WAS_TAKEN
		seen = word[TAKEN] + 1
#else
		seen = word[TAKEN]
#endif
	:: else
	fi
}

proctype sender() {
	byte count = 0, seen = 0;

	do
	:: count == MESSAGES -> break
	:: else ->
		full_look();
		if
		:: count - seen < SLOTS ->
			assert(count - taken < SLOTS);
			count++;
#ifdef LOOKS_FOR_SLEEPERS_FIRST
			wake(SENDER, SLEEPS);
			put(SENDER, NUMBER, count)
#else
			put(SENDER, NUMBER, count);
			wake(SENDER, SLEEPS)
#endif
		:: else ->
			announce(SENDER, WAITS);
#ifndef NO_SECOND_LOOK
			full_look();
#endif
			if
			:: count - seen < SLOTS
			:: else -> sleep(SENDER)
			fi
		fi
	od
}

proctype receiver() {
	byte told = 0;

	do
	:: taken == MESSAGES -> break
	:: else ->
		if
		:: word[NUMBER] > taken ->
			taken++;
			if
#ifdef TELLS_TOO_LATE
			:: taken - told > SLOTS ->
#else
			:: taken - told > SLOTS / 2 ->
#endif
				told = taken;
				put(RECEIVER, TAKEN, told);
				wake(RECEIVER, WAITS)
			:: else
			fi
		:: else ->
			announce(RECEIVER, SLEEPS);
			if
#ifndef NO_SECOND_LOOK
			:: word[NUMBER] > taken
#endif
			:: else -> sleep(RECEIVER)
			fi
		fi
	od
}

/* Memory: the oldest store of a core is seen; a bit is set without a reason, once. */
proctype memory() {
	byte place, value;
	bool again = true;

end:	do
	:: atomic { stores[SENDER]?place, value -> word[place] = value; place = 0; value = 0 }
	:: atomic { stores[RECEIVER]?place, value -> word[place] = value; place = 0; value = 0 }
	:: atomic { again -> again = false; woken[RECEIVER] = true }
	:: atomic { again -> again = false; woken[SENDER] = true }
	od
}

init {
	atomic {
		run sender();
		run receiver();
		run memory()
	}
}
