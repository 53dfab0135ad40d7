/* SPDX-License-Identifier: MIT
 *
 * A thread waits WAITS times for an object; its core first registers it at home (the object's half
 * of the call, thread_park), then hands the deadline in by a second message (core_park), then takes
 * what comes through its ready ring. Home does one thing at a time: the object's event, the
 * deadline, revocation of the object, an upcall and the kill of the process come in any order and
 * at any moment, also between the two messages. The thread takes its upcalls while it runs.
 *
 * Shown: each wait ends exactly once, by a cause of its own; an event that came is not lost; a
 * deadline never ends another wait than the one that it was set for; a thread with an upcall does
 * not wait; once the process is dead and the thread's record given back, nothing at home knows the
 * thread; everybody reaches the end.
 *
 * proves: kernel/thread/wait.c thread_park 3572d1d90ac3
 * proves: kernel/thread/alarm.c wait_rings 32fa4335032b
 * proves: kernel/thread/alarm.c upcall_cut 1d7435cdd202
 * proves: kernel/thread/wait.c thread_wait_end 98e1019d235c
 * proves: kernel/thread/wait.c thread_ready df2442592a75
 * proves: kernel/thread/run.c park_serve 7224c7fe5885
 * proves: kernel/thread/run.c core_park 9e9c0df2e3c0
 * proves: kernel/thread/deadline.c deadlines_poll 625968471742
 * proves: kernel/proc/proc.c drop_work df7bafd968c9
 *
 * run: -DWAITS=3
 * run: -DWAITS=3 -DREVOKE
 * run: -DWAITS=3 -DKILL
 * run: -DWAITS=2 -DREVOKE -DKILL
 * run: -DWAITS=3 -DUPCALLS=2
 * run: -DWAITS=2 -DUPCALLS=2 -DREVOKE -DKILL
 * mutation: -DWAITS=2 -DPARKS_WITHOUT_LOOKING
 * mutation: -DWAITS=2 -DARMS_WITHOUT_LOOKING
 * mutation: -DWAITS=2 -DEVENT_LEAVES_DEADLINE
 * mutation: -DWAITS=2 -DDEADLINE_LEAVES_QUEUE
 * mutation: -DWAITS=2 -DREVOKE -DREVOCATION_LEAVES_WAITER
 * mutation: -DWAITS=2 -DKILL -DKILL_LEAVES_DEADLINE
 * mutation: -DWAITS=2 -DKILL -DKILL_LEAVES_QUEUE
 * mutation: -DWAITS=2 -DKILL -DEVICTED_TOO_EARLY
 * mutation: -DWAITS=2 -DUPCALLS=1 -DUPCALL_LEAVES_QUEUE
 * mutation: -DWAITS=2 -DUPCALLS=1 -DUPCALL_LEAVES_DEADLINE
 * mutation: -DWAITS=2 -DUPCALLS=1 -DPARKS_WITH_AN_UPCALL
 * mutation: -DWAITS=2 -DUPCALLS=1 -DUPCALL_LEAVES_WAITER
 */
#define EVENT 1
#define LATE 2
#define REVOKED 3
#define CUT 4
#ifndef UPCALLS
#define UPCALLS 0
#endif

bool waiting;			/* home: THREAD_WAITING */
bool queued;			/* the thread is in the object's queue */
bool armed;			/* and among the deadlines */
byte armed_for;			/* the wait that the deadline was set for */
byte happened;			/* events that nobody took yet */
bool gone;			/* the object was taken away */
bool dying;			/* the process */
bool dropped;			/* what its threads waited for */
bool released;			/* the table entry was given back */
byte upcalls = UPCALLS;		/* that are still to come */
bool upcall;			/* the thread has one that it has not taken */
bool on_core = true;		/* the thread's core knows it */
byte events = WAITS;		/* that are still to come: enough for every wait */
chan ring = [1] of { byte };
byte number;			/* of the wait */
byte ends;			/* of this wait */

/* thread_wait_end */
inline leave_all() {
	queued = false;
	armed = false
}

/* thread_ready */
inline ready(result) {
	assert(waiting && !released);
	waiting = false;
	ends++;
	assert(ends == 1);
	if
	:: !dying -> assert(nfull(ring)); ring!result
	:: else
	fi
}

/* upcall_cut */
inline cut() {
	if
	/* with `undo`: in home's loop */
	:: armed = true; armed_for = number
	:: true ->
#ifndef UPCALL_LEAVES_QUEUE
		queued = false;
#endif
#ifndef UPCALL_LEAVES_DEADLINE
		armed = false;
#endif
		ready(CUT)
	fi
}

proctype home() {
	do
	:: atomic { events > 0 ->
		events--;
		if
		:: queued ->
			assert(!released);
			queued = false;
#ifndef EVENT_LEAVES_DEADLINE
			armed = false;
#endif
			ready(EVENT)
		:: else -> happened++
		fi }
	:: atomic { armed ->
		assert(!released && armed_for == number);
		armed = false;
#ifndef DEADLINE_LEAVES_QUEUE
		queued = false;
#endif
		ready(LATE) }
	:: atomic { upcalls > 0 && !upcall && !dying ->
		upcalls--;
		upcall = true;
		if
#ifndef UPCALL_LEAVES_WAITER
		:: waiting -> cut()
#endif
		:: else
		fi }
#ifdef REVOKE
	:: atomic { !gone ->
		gone = true;
		if
#ifndef REVOCATION_LEAVES_WAITER
		:: queued -> leave_all(); ready(REVOKED)
#endif
		:: else -> queued = false
		fi }
#endif
#ifdef KILL
	:: atomic { !dying -> dying = true }
	/* its core has acknowledged: the wait ends, if nothing else has ended it meanwhile (drop_work) */
#ifdef EVICTED_TOO_EARLY
	:: atomic { dying && !dropped ->
#else
	:: atomic { dying && !on_core && !dropped ->
#endif
#ifndef KILL_LEAVES_QUEUE
		queued = false;
#endif
#ifndef KILL_LEAVES_DEADLINE
		armed = false;
#endif
		dropped = true }
	/* the entry is free for another thread */
	:: atomic { dropped && !released -> released = true }
#endif
	:: atomic { number == WAITS + 1 && events == 0 && !armed -> break }
	:: atomic { released && events == 0 && !queued && !armed -> break }
	od
}

/* The thread and its core. A call of a dying process has no effect. */
proctype core() {
	byte result;
	bool parked;

	number = 1;
	do
	:: number == WAITS + 1 -> break
	:: dying -> break
	:: else ->
		/* the object's half: the event is there, the object is gone, or the thread waits */
		atomic {
			assert(!released);
			ends = 0;
			parked = false;
			if
			:: dying
			:: !dying && gone
#ifndef PARKS_WITHOUT_LOOKING
			:: !dying && !gone && happened > 0 -> happened--
			:: !dying && !gone && happened == 0 -> waiting = true; queued = true; parked = true
#else
			:: !dying && !gone -> waiting = true; queued = true; parked = true
#endif
			fi;
#ifndef PARKS_WITH_AN_UPCALL
			if
			:: parked && upcall && !dying -> cut()
			:: else
			fi
#endif
		}
		if
		:: !parked
		:: parked ->
			/* core_park: with or without a deadline */
			if
			:: true ->
				atomic {
					assert(!released);
					if
#ifdef ARMS_WITHOUT_LOOKING
					:: !dying -> armed = true; armed_for = number
#else
					:: !dying && waiting -> assert(!armed || upcall); armed = true; armed_for = number
#endif
					:: else
					fi
				}
			:: true
			fi;
			/* evicted, or what ended the wait */
			if
			:: atomic { ring?result -> assert(ends == 1) }
			:: atomic { waiting && upcall && !armed && !dying -> assert(false) }
			:: dying
			fi
		fi;
		/* it takes its upcall now, or after a later wait */
		if
		:: upcall = false
		:: true
		fi;
		atomic { !dying -> number++ } unless { dying }
	od;
	atomic {
		if
		:: ring?result
		:: empty(ring)
		fi;
		on_core = false
	}
}

init {
	atomic { run home(); run core() }
}
