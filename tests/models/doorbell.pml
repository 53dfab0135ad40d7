/* SPDX-License-Identifier: MIT
 *
 * The hosted doorbell: two words and a futex of the host. One core waits for work, others bring
 * work and ring. Every operation on the two words is sequentially consistent in the code, so stores
 * are seen at once here.
 *
 * Shown: no wake-up is lost (the core takes all the work and every process reaches its end).
 * FUTEX_ON_RUNG is how it once was: a ringer that is late with waking makes the core look awake
 * while it goes to sleep, and the next ringer wakes nobody.
 *
 * INTERRUPT: the ringers are hal_interrupt, and the core may run a user thread, where only a signal
 * reaches it. The signal is spared where the ring ends a wait. BEGIN_IS_A_WAIT: a core that is
 * about to wait may still decide to run a user thread.
 *
 * DIES: one of the ringers may be killed at any moment, as the process of its cluster. The launcher
 * then tells of the death, rings, and wakes whoever the dead one was about to wake.
 *
 * proves: hal/cpu/hosted/wait.c hal_wait_begin 4832cfdc32c7
 * proves: hal/cpu/hosted/wait.c sleep_until d8329c9e85e8
 * proves: hal/cpu/hosted/wait.c awaken c74bccaa5485
 * proves: hal/cpu/hosted/wait.c hal_wait be583d046b08
 * proves: hal/cpu/hosted/wait.c ring b5863950d879
 * proves: hal/cpu/hosted/wait.c host_cluster_gone 28f986f83695
 *
 * run: -DRINGERS=2 -DRINGS=2
 * run: -DRINGERS=3 -DRINGS=1
 * run: -DRINGERS=2 -DRINGS=2 -DINTERRUPT
 * run: -DRINGERS=3 -DRINGS=1 -DINTERRUPT
 * run: -DRINGERS=2 -DRINGS=2 -DDIES
 * run: -DRINGERS=2 -DRINGS=2 -DDIES -DINTERRUPT
 * mutation: -DRINGERS=2 -DRINGS=1 -DDIES -DNOBODY_WAKES_FOR_THE_DEAD
 * mutation: -DRINGERS=2 -DRINGS=2 -DFUTEX_ON_RUNG
 * mutation: -DRINGERS=2 -DRINGS=2 -DNO_LAST_LOOK_AT_WORK
 * mutation: -DRINGERS=2 -DRINGS=2 -DNO_LAST_LOOK_AT_RUNG
 * mutation: -DRINGERS=2 -DRINGS=2 -DNO_WAKE
 * mutation: -DRINGERS=2 -DRINGS=1 -DINTERRUPT -DBEGIN_IS_A_WAIT
 * mutation: -DRINGERS=2 -DRINGS=1 -DINTERRUPT -DNO_SIGNAL
 * pan: -m200000
 */
#define NOBODY 0
#define BEGINS 1
#define ASLEEP 2
#define AWAKE 3

byte waiting = NOBODY;
byte rung = 0;
byte work = 0;		/* brought, not yet taken */
bool in_futex = false;
bool dies = false;
bool pending = false;	/* a signal that did not find a user thread running, or the interrupt that it is to one */

#ifdef FUTEX_ON_RUNG
#define still_expected (rung == seen)
#else
#define still_expected (waiting == ASLEEP)
#endif

/* Ring for what was brought. */
inline ring()
{
	found = waiting;
	if
	:: found == NOBODY
	:: else ->
		rung++;
		won = false;
		atomic { if :: waiting == ASLEEP -> waiting = AWAKE; won = true :: else fi }
		if
#ifndef NO_WAKE
		:: won -> in_futex = false
#endif
		:: else
		fi
	fi;
#if defined(INTERRUPT) && !defined(NO_SIGNAL)
	if
#ifdef BEGIN_IS_A_WAIT
	:: found == NOBODY -> pending = true
#else
	:: found == NOBODY || found == BEGINS -> pending = true
#endif
	:: else
	fi
#endif
}

proctype ringer(bool may_die)
{
	byte n = 0, found;
	bool won;

	{
		do
		:: n < RINGS ->
			atomic { n++; work++ };
			ring()
		:: else -> break
		od
	} unless { may_die && dies };
	if
	:: may_die && dies ->
		/* the launcher: what will not come any more is news, too */
		work = work + RINGS - n;
		ring();
#ifndef NOBODY_WAKES_FOR_THE_DEAD
		in_futex = false
#endif
	:: else
	fi
}

#ifdef DIES
active proctype death()
{
	dies = true
}
#endif

/* A user thread runs until a signal comes. */
inline run_user()
{
	pending;
	pending = false
}

proctype sleeper()
{
	byte taken = 0;
	byte seen;

	do
	:: taken < RINGERS * RINGS ->
		atomic { taken = taken + work; work = 0 }
		if
		:: taken == RINGERS * RINGS -> break
		:: else
		fi;
#ifdef INTERRUPT
		if
		:: run_user(); goto next
		:: true
		fi;
#endif
		seen = rung;
		pending = false;
		waiting = BEGINS;
		if
#ifndef NO_LAST_LOOK_AT_WORK
		:: work != 0 -> waiting = NOBODY
#endif
		:: else ->
#ifdef INTERRUPT
			if
			:: waiting = NOBODY; run_user(); goto next	/* another source had a thread to run */
			:: true
			fi;
#endif
			waiting = AWAKE;
			if
			:: rung != seen || pending	/* polled, in time */
			:: true ->
				waiting = ASLEEP;
				if
#ifndef NO_LAST_LOOK_AT_RUNG
				:: rung != seen || pending
#endif
				:: else ->
					/* the host looks at the word and puts the core to sleep in one step */
					atomic { if :: still_expected -> in_futex = true :: else fi };
					!in_futex
				fi;
				atomic { if :: waiting == ASLEEP -> waiting = AWAKE :: else fi }
			fi;
			waiting = NOBODY
		fi;
next:		skip
	:: else -> break
	od
}

init
{
	byte i = 0;

	atomic {
		run sleeper();
		do
		:: i < RINGERS -> run ringer(i == 0); i++
		:: else -> break
		od
	}
}
