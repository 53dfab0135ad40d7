/* SPDX-License-Identifier: MIT
 *
 * Semaphores of user level (user/sem.c). PLAIN threads wait for semaphore 0, ALTS threads for both
 * semaphores, or in their second turn for semaphore 1 only; UPPERS threads up one of them,
 * whichever, UPS times. Who waits for one sleeps in the kernel's queue at its word, who waits for
 * several at a word of his own. A word changes by compare-and-swap, all of which are sequentially
 * consistent in the code. The kernel enqueues a thread and then looks at the word; who is woken is
 * counted.
 *
 * Shown: when nothing goes on, nobody sleeps for a semaphore whose value is not 0, nor with
 * something granted; and what was upped was downed or is there. DEATH: in a shared segment a thread
 * may end while it sleeps, or is about to: it swallows nothing. KILL: whoever ups may end at any
 * moment: what others have missed by that is found by one look of each sleeper.
 *
 * proves: user/sem.c mark_again 66c54cad8bb9
 * proves: user/sem.c grant 53e01a9233b7
 * proves: user/sem.c look_again fc3c248d1d37
 * proves: user/sem.c wake_sleeper 883e2fe82846
 * proves: user/sem.c sem_up 57a7cd7a42bb
 * proves: user/sem.c sem_down e5be40eab97f
 * proves: user/sem.c alt_list fdd4c23dd112
 * proves: user/sem.c alt_leave 2bed464afe6e
 * proves: user/sem.c accept d0d660535e3c
 * proves: user/sem.c alt_wait 749415eaf6f5
 *
 * run: -DPLAIN=2 -DALTS=0 -DUPPERS=2 -DUPS=2
 * run: -DPLAIN=3 -DALTS=0 -DUPPERS=2 -DUPS=2
 * run: -DPLAIN=0 -DALTS=2 -DUPPERS=2 -DUPS=1
 * run: -DPLAIN=1 -DALTS=1 -DUPPERS=2 -DUPS=1
 * run: -DPLAIN=1 -DALTS=1 -DUPPERS=1 -DUPS=2 -DDEATH
 * run: -DPLAIN=2 -DALTS=0 -DUPPERS=2 -DUPS=1 -DKILL
 * run: -DPLAIN=0 -DALTS=1 -DUPPERS=2 -DUPS=1 -DKILL
 * mutation: -DPLAIN=2 -DALTS=0 -DUPPERS=2 -DUPS=2 -DNO_MARK_AGAIN
 * mutation: -DPLAIN=3 -DALTS=0 -DUPPERS=2 -DUPS=2 -DRAISED_IS_LEFT
 * mutation: -DPLAIN=2 -DALTS=0 -DUPPERS=2 -DUPS=2 -DMARK_TAKEN_LATE
 * mutation: -DPLAIN=2 -DALTS=0 -DUPPERS=2 -DUPS=2 -DNO_LOOK_BEFORE_SLEEPING
 * mutation: -DPLAIN=0 -DALTS=2 -DUPPERS=2 -DUPS=1 -DNO_LOOK_AGAIN
 * mutation: -DPLAIN=0 -DALTS=2 -DUPPERS=2 -DUPS=1 -DLOOKS_BEFORE_LISTED
 * mutation: -DPLAIN=0 -DALTS=2 -DUPPERS=2 -DUPS=1 -DGRANT_NOT_GIVEN_ON
 * mutation: -DPLAIN=1 -DALTS=1 -DUPPERS=1 -DUPS=2 -DDEATH -DNO_TAKING_BACK
 * mutation: -DPLAIN=0 -DALTS=1 -DUPPERS=2 -DUPS=1 -DKILL -DNO_RECHECK
 */
#define TAKERS (PLAIN + ALTS)
#define FREE 0
#define AWAKE 1
#define WAITS 2
#define GRANTED 3

byte value[2];
bool asleep[2], listed[2];		/* marks, in the same word */
chan queue[2] = [TAKERS] of { byte };	/* the kernel's, of who sleeps at the word */
bool woken[TAKERS];			/* from there */
byte state[TAKERS], place[TAKERS];	/* word of a waiter */
bool sleeps[TAKERS];			/* at it */
bool list[2 * TAKERS];			/* by semaphore */
bool wants[2 * TAKERS];			/* ghost: waits for it */
byte upped, downed;			/* ghosts */
bool died;				/* one has */
byte killed;				/* who */
bool given[TAKERS];			/* ghost: has been woken for what was granted */

inline wake_waiter(t) {
	atomic { woke = sleeps[t]; sleeps[t] = false; given[t] = woke && state[t] == GRANTED }
}

inline grant(s) {
	for (t : 0 .. TAKERS - 1) {
		if
		:: !done && list[s * TAKERS + t] ->
			atomic {
				won = state[t] == WAITS;
				if :: won -> state[t] = GRANTED; place[t] = s :: else fi
			}
			if
			:: won ->
				wake_waiter(t);
#if defined(DEATH) && !defined(NO_TAKING_BACK)
				if
				:: woke -> done = true
				:: else -> atomic {
					if
					:: state[t] == GRANTED && place[t] == s -> state[t] = AWAKE
					:: else -> done = true
					fi }
				fi
#else
				done = true
#endif
			:: else
			fi
		:: else
		fi
	}
}

inline look_again(s) {
	for (t : 0 .. TAKERS - 1) {
		if
		:: list[s * TAKERS + t] ->
			atomic {
				won = state[t] == WAITS;
				if :: won -> state[t] = AWAKE :: else fi
			}
			if :: won -> wake_waiter(t) :: else fi
		:: else
		fi
	}
}

/* One sleeper was woken. */
inline mark_again(s) {
#ifdef NO_MARK_AGAIN
	done = true
#else
	atomic {
		if
		:: asleep[s] -> done = true
		:: else ->
			if
			:: value[s] == 0 -> asleep[s] = true; done = true
#ifdef RAISED_IS_LEFT
			:: else -> done = true
#else
			:: else -> value[s]--; some = true
#endif
			fi
		fi
	}
#endif
}

/* Wake who sleeps at the word, whose marks were a and l when v was its value. */
inline up_sleeper(s) {
#ifndef MARK_TAKEN_LATE
	atomic {
		if
		:: !a
		:: a && value[s] == v && asleep[s] == a && listed[s] == l -> asleep[s] = false
		:: else -> go = false
		fi
	}
#endif
	if
	:: go ->
		atomic {
			woke = nempty(queue[s]);
			if :: woke -> queue[s]?t; woken[t] = true; t = 0 :: else fi
		}
		if
		:: woke -> go = false; mark_again(s)
#ifdef MARK_TAKEN_LATE
		:: else -> some = false
#else
		:: else -> some = false; a = false
#endif
		fi
	:: else
	fi
}

inline up(s) {
	some = false;
	done = false;
	do
	:: done -> break
	:: else ->
		atomic { v = value[s]; a = asleep[s]; l = listed[s]; go = true }
		/* both kinds in turn: either may be the first */
		if
		:: a && l -> grant(s)
		:: true
		fi;
		if
		:: !done && (some || a) -> up_sleeper(s)
		:: else
		fi;
		if
		:: !done && go && l -> grant(s)
		:: else
		fi;
		if
		:: !done && go ->
			atomic {
				won = value[s] == v && asleep[s] == a && listed[s] == l;
				if :: won -> value[s]++; asleep[s] = false; listed[s] = false; done = true :: else fi
			}
#ifndef NO_LOOK_AGAIN
			if :: won && l -> look_again(s) :: else fi
#endif
		:: else
		fi
	od
}

proctype upper(byte me) {
	byte n, s, t, v;
	bool a, l, go, some, done, won, woke;

	{
		for (n : 1 .. UPS) {
			if :: s = 0 :: s = 1 fi;
#if ALTS == 0
			s = 0;
#endif
			upped++;
			up(s)
		}
	}
#ifdef KILL
	unless { killed == me -> died = true }
#endif
}

/* One of those who up ends, at any moment. */
#ifdef KILL
proctype killer() {
	if :: killed = 1 :: killed = 2 fi
}
#endif

/* Ends while it waits. */
#ifdef DEATH
#define MAY_DIE(me) :: atomic { !died -> died = true; dead = true; sleeps[me] = false; wants[me] = false; wants[TAKERS + me] = false; \
	if :: given[me] -> downed++ :: else fi }
#else
#define MAY_DIE(me)
#endif

/* A look without a reason, once after a death. */
#if defined(KILL) && !defined(NO_RECHECK)
#define MAY_LOOK :: atomic { died && !looked -> looked = true; late = true }
#else
#define MAY_LOOK
#endif

proctype plain(byte me) {
	bool l, dead, looked, late;

	wants[me] = true;
again:
	atomic {
		if
		:: value[0] > 0 -> value[0]--; goto got
		:: else -> asleep[0] = true; l = listed[0]
		fi
	}
	queue[0]!me;
	atomic {
		if
#ifndef NO_LOOK_BEFORE_SLEEPING
		:: !(value[0] == 0 && asleep[0] && listed[0] == l) && queue[0]??[eval(me)] -> queue[0]??eval(me); goto again
#endif
		:: else
		fi
	}
end:	if
	:: woken[me] -> goto got
	MAY_DIE(me)
	MAY_LOOK
	fi;
	atomic {
		if
		:: woken[me] -> downed++; goto over
		:: else -> queue[0]??eval(me)
		fi
	}
	if :: late -> late = false; goto again :: else -> goto over fi;
got:
	atomic { wants[me] = false; downed++ }
over:	skip
}

#if ALTS > 0
inline try(k) {
	atomic { if :: first <= k && got == 2 && value[k] > 0 -> value[k]--; got = k :: else fi }
}

proctype alt(byte me) {
	byte turn, first, got, k, s, st, t, v;
	bool a, l, go, some, done, won, woke, ready, dead, looked, late;

	for (turn : 0 .. 1) {
		first = turn;
		got = 2;
		atomic { wants[me] = first == 0; wants[TAKERS + me] = true }
		state[me] = AWAKE;
		do
		:: got < 2 || dead -> break
		:: else ->
			ready = false;
#ifndef LOOKS_BEFORE_LISTED
			state[me] = WAITS;
#endif
			for (k : first .. 1) {
#ifdef LOOKS_BEFORE_LISTED
				atomic { if :: value[k] > 0 -> ready = true :: else -> listed[k] = true fi }
				list[k * TAKERS + me] = true
#else
				list[k * TAKERS + me] = true;
				atomic { if :: value[k] > 0 -> ready = true :: else -> listed[k] = true fi }
#endif
			}
#ifdef LOOKS_BEFORE_LISTED
			state[me] = WAITS;
#endif
			atomic { if :: !ready && state[me] == WAITS -> sleeps[me] = true :: else fi }
end:			if
			:: !sleeps[me]
			MAY_DIE(me)
			MAY_LOOK
			fi;
			if
			:: dead
			:: else ->
				atomic {
					sleeps[me] = false;
					late = false;
					given[me] = false;
					st = state[me];
					state[me] = AWAKE;
					k = place[me]
				}
				if
				:: st == GRANTED && k >= first -> got = k
				:: st == GRANTED && k < first ->
					s = k;
#ifndef GRANT_NOT_GIVEN_ON
					up(s)
#endif
				:: else -> try(0); try(1)
				fi
			fi
		od;
		if
		:: dead -> break
		:: else ->
			atomic { wants[me] = false; wants[TAKERS + me] = false; downed++ }
			list[me] = false;
			list[TAKERS + me] = false;
			state[me] = FREE
		fi
	}
}
#endif

/* When nothing goes on any more. */
proctype watch() {
	byte t;

	timeout;
	for (t : 0 .. TAKERS - 1) {
		assert(!(wants[t] && value[0] > 0));
		assert(!(wants[TAKERS + t] && value[1] > 0));
		assert(died || state[t] != GRANTED)
	}
#ifndef KILL
	assert(upped == downed + value[0] + value[1])
#endif
}

init {
	byte i;

	atomic {
#if PLAIN > 0
		for (i : 1 .. PLAIN) { run plain(i - 1) }
#endif
#if ALTS > 0
		for (i : 1 .. ALTS) { run alt(PLAIN + i - 1) }
#endif
		for (i : 1 .. UPPERS) { run upper(i) }
#ifdef KILL
		run killer();
#endif
		run watch()
	}
}
