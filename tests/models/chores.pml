/* SPDX-License-Identifier: MIT
 *
 * A home core that is a time-sharing core runs one user thread, which never waits. Home works only
 * when that thread is interrupted, or calls: a round takes as many turns as there are senders. A
 * turn serves a message, if one is there, and does one step of something else: it takes an event of
 * the NoC, does a part of a chore (the end of a process, a shoot-down), or ends a wait whose
 * deadline has come. A round that has used all its turns rings home for the next. Another core
 * sends MESSAGES messages, each of which may begin a chore of STEPS steps or set a deadline;
 * another cluster brings EVENTS events; the thread makes CALLS calls, each of which may begin a
 * chore.
 *
 * Home's thread is stopped by an interrupt or an armed tick only. Shown: every message is answered,
 * every event taken, every chore done to its end, every deadline ended, though the thread computes
 * without end.
 *
 * proves: kernel/thread/run.c home_work_if_due 669850733d1c
 * proves: kernel/thread/run.c home_sweeps 61a2a3538dce
 * proves: kernel/thread/run.c home_work 6b9409a78837
 * proves: kernel/thread/run.c home_round c6478f30b0e3
 * proves: kernel/thread/run.c home_follow d038979b7942
 * proves: kernel/thread/run.c tick_follow 1564fc4e0b14
 * proves: kernel/thread/run.c core_interrupted 38331444cf4a
 * proves: kernel/am/am.c call_directly deb137c2fd2a
 * proves: kernel/am/am.c ring_home 3167dea8bbba
 *
 * run: -DMESSAGES=2 -DEVENTS=2 -DCALLS=2 -DSTEPS=2
 * run: -DMESSAGES=3 -DEVENTS=1 -DCALLS=1 -DSTEPS=4
 * mutation: -DMESSAGES=1 -DEVENTS=0 -DCALLS=0 -DSTEPS=3 -DNO_NEXT_ROUND
 * mutation: -DMESSAGES=0 -DEVENTS=3 -DCALLS=0 -DSTEPS=2 -DNO_NEXT_ROUND
 * mutation: -DMESSAGES=0 -DEVENTS=0 -DCALLS=1 -DSTEPS=1 -DNO_LOOK_BEHIND_OWN_CALL
 * mutation: -DMESSAGES=1 -DEVENTS=0 -DCALLS=0 -DSTEPS=1 -DNO_TICK_FOR_DEADLINES
 * mutation: -DMESSAGES=2 -DEVENTS=0 -DCALLS=0 -DSTEPS=1 -DTICK_STILL_THOUGHT_ARMED
 * mutation: -DMESSAGES=1 -DEVENTS=0 -DCALLS=0 -DSTEPS=1 -DNOTIFIES_ONLY
 * mutation: -DMESSAGES=1 -DEVENTS=1 -DCALLS=0 -DSTEPS=1 -DLOOKS_BEFORE_IT_ENDS_THE_INTERRUPT
 * pan: -m1000000
 */
#define SENDERS 2

bool interrupt;
bool armed;			/* the tick, for the only time there is: the earliest deadline */
bool thought_armed;		/* what the core remembers of that: core->tick */
bool message;			/* of the only sender */
byte events;			/* of the NoC, not yet taken */
byte steps;			/* of chores that are left */
byte deadlines;			/* waits with a deadline */
byte messages_left = MESSAGES, events_left = EVENTS;

/* What a call or a message leaves behind. */
inline begin_something() {
	if
	:: true
	:: steps == 0 -> steps = STEPS
	fi
}

/* home_work_if_due, home_work: one step of one thing; nothing only if there are but deadlines that have not come */
inline work() {
	unfinished = true;
	if
	:: deadlines > 0 -> deadlines--
	:: events > 0 -> events--
	:: steps > 0 -> steps--
	:: events == 0 && steps == 0 -> unfinished = false
	fi
}

/* home_round: as many turns as there are senders, or until one finds nothing: another thing is looked for behind one, or a message */
inline round() {
	left = SENDERS;
	some = true;
	do
	:: left > 0 ->
		served = false;
		if
		:: message ->
			begin_something();
			if
			:: deadlines == 0 -> deadlines++
			:: true
			fi;
			message = false;
			served = true
		:: else
		fi;
		if
		:: (served || some) && (steps > 0 || deadlines > 0 || events > 0) -> work(); some = unfinished
		:: else -> some = false
		fi;
		if
		:: served || some -> left--
		:: else -> break
		fi
	:: left == 0 ->
#ifndef NO_NEXT_ROUND
		interrupt = true;
#endif
		break
	od
}

/* tick_follow */
inline follow() {
	if
#ifndef NO_TICK_FOR_DEADLINES
	:: deadlines > 0 && !thought_armed -> armed = true; thought_armed = true
#endif
	:: deadlines == 0 && thought_armed -> armed = false; thought_armed = false
	:: else
	fi
}

proctype home() {
	byte calls = CALLS, others, left;
	bool tick, served, some, unfinished;

	do
	:: interrupt || armed ->
		tick = !interrupt;
#ifndef LOOKS_BEFORE_IT_ENDS_THE_INTERRUPT
		if
		:: tick -> armed = false
		:: else -> interrupt = false
		fi;
#endif
#ifndef TICK_STILL_THOUGHT_ARMED
		if
		:: tick -> thought_armed = false
		:: else
		fi;
#endif
		round();
#ifdef LOOKS_BEFORE_IT_ENDS_THE_INTERRUPT
		if
		:: tick -> armed = false
		:: else -> interrupt = false
		fi;
#endif
		follow()
	/* call_directly: what was sent before comes first */
	:: calls > 0 ->
		calls--;
		if
		:: message -> begin_something(); message = false
		:: else
		fi;
		others = steps;
		begin_something();
#ifndef NO_LOOK_BEHIND_OWN_CALL
		if
		:: steps > others -> interrupt = true
		:: else
		fi
#endif
	:: messages_left == 0 && !message && events_left == 0 && events == 0 && steps == 0 && deadlines == 0 && !interrupt && !armed -> break
	od
}

/* call_home and am_ring_home of another core */
proctype sender() {
	do
	:: messages_left > 0 ->
		message = true;
#ifndef NOTIFIES_ONLY
		interrupt = true;
#endif
		!message;
		messages_left--
	:: messages_left == 0 -> break
	od
}

/* hal_interrupt_home of another cluster */
proctype network() {
	do
	:: events_left > 0 ->
		atomic { events++; events_left-- };
		interrupt = true
	:: events_left == 0 -> break
	od
}

init {
	atomic { run home(); run sender(); run network() }
}
