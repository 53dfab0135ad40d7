/* SPDX-License-Identifier: MIT
 *
 * The hosted doorbell: two words and a futex of the host. One core waits for work, others bring work and ring. Every operation on
 * the two words is sequentially consistent in the code, so stores are seen at once here.
 *
 * Shown: no wake-up is lost (the core takes all the work and every process reaches its end). FUTEX_ON_RUNG is how it once was: a ringer
 * that is late with waking makes the core look awake while it goes to sleep, and the next ringer wakes nobody.
 *
 * proves: hal/cpu/hosted/wait.c hal_wait_begin 523581448589
 * proves: hal/cpu/hosted/wait.c sleep_until d8329c9e85e8
 * proves: hal/cpu/hosted/wait.c awaken c74bccaa5485
 * proves: hal/cpu/hosted/wait.c hal_wait be583d046b08
 * proves: hal/cpu/hosted/wait.c hal_notify 78321fe05e05
 *
 * run: -DRINGERS=2 -DRINGS=2
 * run: -DRINGERS=3 -DRINGS=1
 * mutation: -DRINGERS=2 -DRINGS=2 -DFUTEX_ON_RUNG
 * mutation: -DRINGERS=2 -DRINGS=2 -DNO_LAST_LOOK_AT_WORK
 * mutation: -DRINGERS=2 -DRINGS=2 -DNO_LAST_LOOK_AT_RUNG
 * mutation: -DRINGERS=2 -DRINGS=2 -DNO_WAKE
 * search: -DSAFETY -DCOLLAPSE
 * pan: -m200000
 */
#define NOBODY 0
#define AWAKE 1
#define ASLEEP 2

byte waiting = NOBODY;
byte rung = 0;
byte work = 0;		/* brought, not yet taken */
bool in_futex = false;

#ifdef FUTEX_ON_RUNG
#define still_expected (rung == seen)
#else
#define still_expected (waiting == ASLEEP)
#endif

proctype ringer()
{
	byte n = 0;
	bool won;

	do
	:: n < RINGS ->
		n++;
		work++;
		if
		:: waiting == NOBODY
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
		fi
	:: else -> break
	od
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
		seen = rung;
		waiting = AWAKE;
		if
#ifndef NO_LAST_LOOK_AT_WORK
		:: work != 0 -> waiting = NOBODY
#endif
		:: else ->
			if
			:: rung != seen			/* polled, in time */
			:: true ->
				waiting = ASLEEP;
				if
#ifndef NO_LAST_LOOK_AT_RUNG
				:: rung != seen
#endif
				:: else ->
					/* the host looks at the word and puts the core to sleep in one step */
					atomic { if :: still_expected -> in_futex = true :: else fi };
					!in_futex
				fi;
				atomic { if :: waiting == ASLEEP -> waiting = AWAKE :: else fi }
			fi;
			waiting = NOBODY
		fi
	:: else -> break
	od
}

init
{
	byte i = 0;

	atomic {
		run sleeper();
		do
		:: i < RINGERS -> run ringer(); i++
		:: else -> break
		od
	}
}
