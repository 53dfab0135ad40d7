/* SPDX-License-Identifier: MIT
 *
 * Preemption against wake-ups and kills. A time-sharing core runs LOW and, with -DTWO, another
 * thread of the same priority; neither waits for anything, and LOW makes CALLS calls to home. HIGH
 * has the higher priority: it sleeps, is woken by home WAKES times in all (by an event or a
 * deadline, whatever ends its wait: see wait.pml), and its process may be killed at any moment.
 * Home is another core. A thread stays with its core; what changes the core is the record of a
 * thread, which home gives to another one once the killed one is gone.
 *
 * A core that computes is stopped by an interrupt or an armed tick only, so a wake-up that is lost
 * ends the search in a state that is no end. Shown: no wake-up is lost, whatever the core does when
 * it comes; threads of one priority have their turns; one that is cut short goes on before its
 * equal; the tick is armed in user mode just while another thread can run; no core knows a record
 * that home gives away.
 *
 * proves: kernel/thread/wait.c push_ready f6ca392e52b1
 * proves: kernel/thread/wait.c thread_ready df2442592a75
 * proves: kernel/thread/wait.c core_interrupt dfbba09660f9
 * proves: kernel/thread/run.c drain 5cedf03741fc
 * proves: kernel/thread/run.c tick_follow 1564fc4e0b14
 * proves: kernel/thread/run.c quantum_follow d9907110c5f6
 * proves: kernel/thread/run.c quantum_begin 0322bf243036
 * proves: kernel/thread/run.c cut_short 8377818a3eed
 * proves: kernel/thread/run.c give_way da69380a8476
 * proves: kernel/thread/run.c core_interrupted 38331444cf4a
 * proves: kernel/thread/run.c core_drop_current a0ccccc33fd7
 * proves: kernel/thread/run.c core_evict 2586721ddade
 * proves: kernel/thread/run.c core_wait 2a2c41c54d66
 * proves: kernel/thread/run.c core_go_on 50bc2e7d14a9
 * proves: kernel/thread/run.c core_loop 745f75ca1e85
 * proves: kernel/am/am.c call_wait c47b7e5f2bf1
 * proves: kernel/am/am.c call_shared 6e81034ae6cb
 *
 * run: -DWAKES=3 -DCALLS=2
 * run: -DWAKES=2 -DCALLS=2 -DKILL
 * run: -DWAKES=2 -DCALLS=1 -DTWO
 * run: -DWAKES=2 -DCALLS=1 -DTWO -DKILL
 * mutation: -DWAKES=2 -DCALLS=1 -DNOTIFIES_ONLY
 * mutation: -DWAKES=2 -DCALLS=1 -DINTERRUPTS_TOO_EARLY
 * mutation: -DWAKES=2 -DCALLS=1 -DNO_LOOK_BEHIND_THE_CALL
 * mutation: -DWAKES=2 -DCALLS=1 -DNO_LOOK_BEFORE_THE_WAIT
 * mutation: -DWAKES=2 -DCALLS=1 -DTWO -DNOT_ARMED_FOR_EQUALS
 * mutation: -DWAKES=2 -DCALLS=1 -DTWO -DNOT_DISARMED
 * mutation: -DWAKES=2 -DCALLS=1 -DTWO -DCUT_SHORT_TO_THE_BACK
 * mutation: -DWAKES=2 -DCALLS=1 -DKILL -DEVICTED_WITHOUT_DRAINING
 * mutation: -DWAKES=2 -DCALLS=1 -DKILL -DACKNOWLEDGED_WHILE_IT_RUNS
 * mutation: -DWAKES=2 -DCALLS=1 -DKILL -DKILLED_WITHOUT_INTERRUPT
 * pan: -m1000000
 */
#define NOBODY 0
#define LOW 1
#define OTHER 2
#define HIGH 3

/* what hardware knows of the core */
bool interrupt;			/* hal_interrupt: stays until it is taken */
bool waiting;			/* hal_wait_begin */
bool rung;			/* hal_notify while it was waiting */
bool armed;			/* the tick */

/* the core */
byte current = NOBODY;
chan low = [2] of { byte };	/* run queue of the lower priority */
bool high_queued;
bool doomed;
byte cut = NOBODY;		/* the thread that a higher priority cut short, and whose turn goes on */
bool quantum;			/* the quantum of `current` has an end */

/* between home and core */
chan ring = [1] of { byte };	/* ready ring: one thread only is ever woken */
bool busy;			/* am_call: under way */
bool sleeps;			/* the call is HIGH's thread_sleep */
bool parked;			/* and its answer is -E_PARK */
bool post;			/* am_post: the kill */
bool acknowledged;

/* home */
bool high_waits;
bool told;			/* a bit of HIGH's notification */
byte events = WAKES;		/* still to come */
bool dying;
bool released;

byte other_turns;
bool other_ended;

#ifdef TWO
#define all_had_turns (other_ended)
#else
#define all_had_turns true
#endif
#define all_done (all_had_turns && (released || (!dying && events == 0 && high_waits)))
#define others_can_run (high_queued || len(low) > 0)

/* hal_interrupt of the core: also ends its wait */
inline do_interrupt() {
	interrupt = true;
	if :: waiting -> rung = true :: else fi
}

/* hal_notify: nothing, unless the core waits */
inline do_notify() {
	if :: waiting -> rung = true :: else fi
}

/* push_ready: the slot, the count, then the interrupt */
inline push_ready() {
#ifdef INTERRUPTS_TOO_EARLY
	do_interrupt();
#endif
	assert(nfull(ring) && !released);
	ring!HIGH;
#ifdef NOTIFIES_ONLY
	do_notify()
#else
#ifndef INTERRUPTS_TOO_EARLY
	do_interrupt()
#endif
#endif
}

proctype home() {
end:	do
	/* an event or a deadline; thread_signal */
	:: events > 0 && !released ->
		events--;
		if
		:: high_waits -> high_waits = false; push_ready()
		:: else -> told = true
		fi
	/* am_serve_call */
	:: busy ->
		atomic {
			parked = false;
			if
			:: sleeps && !dying && !told -> high_waits = true; parked = true
			:: sleeps && !dying && told -> told = false
			:: else
			fi
		}
		busy = false;
		do_notify()
#ifdef KILL
	/* proc_end: nobody waits any more; the post, then the interrupt */
	:: !dying ->
		atomic { dying = true; high_waits = false }
		post = true;
#ifdef KILLED_WITHOUT_INTERRUPT
		do_notify()
#else
		do_interrupt()
#endif
#endif
	/* the entry is free for another thread, perhaps of another core */
	:: acknowledged && !released ->
		atomic {
			released = true;
			assert(current != HIGH && !high_queued && len(ring) == 0)
		}
	od
}

/* ready_drain */
inline drain() {
	if
	:: nempty(ring) -> ring?_; high_queued = true
	:: empty(ring)
	fi
}

/* core_evict, which a post runs */
inline serve_posts() {
	if
	:: post ->
#ifndef EVICTED_WITHOUT_DRAINING
		drain();
#endif
		high_queued = false;
		if
#ifndef ACKNOWLEDGED_WHILE_IT_RUNS
		:: current == HIGH -> doomed = true
#endif
		:: else -> acknowledged = true
		fi;
		post = false;
		follow()
	:: else
	fi
}

/* quantum_follow, tick_follow */
inline follow() {
	if
	:: current == NOBODY
	:: current != NOBODY && others_can_run ->
		quantum = true;
#ifdef NOT_ARMED_FOR_EQUALS
		armed = high_queued
#else
		armed = true
#endif
	:: current != NOBODY && !others_can_run ->
		quantum = false;
#ifndef NOT_DISARMED
		armed = false
#endif
	fi
}

/* call_wait: what ends the wait is taken, and only answers and posts are looked at */
inline call_home(is_sleep) {
	atomic { sleeps = is_sleep; busy = true }
	do
	:: busy ->
		waiting = true;
		if
#ifndef NO_LOOK_BEFORE_THE_WAIT
		:: !busy || post -> waiting = false; rung = false
#endif
		:: else ->
			rung || interrupt;
			atomic { waiting = false; rung = false; interrupt = false }
		fi;
		serve_posts()
	:: !busy -> break
	od;
#ifndef NO_LOOK_BEHIND_THE_CALL
	if
	:: nempty(ring) -> interrupt = true
	:: empty(ring)
	fi
#endif
}

/* core_drop_current */
inline drop_current() {
	current = NOBODY;
	if
	:: doomed -> doomed = false; acknowledged = true
	:: else
	fi
}

proctype core() {
	byte calls = CALLS, t;
	bool tick;

	goto loop;

	/* user mode; hal_user_enter and the way back from a trap end here */
user:
	assert(current != NOBODY && !(current == HIGH && released));
	if
	:: current == HIGH -> goto high
	:: else
	fi;
	assert(!high_queued);
	assert(armed == (quantum && others_can_run));
	if
	:: current == OTHER && other_turns < 2 -> other_turns++
	:: current == OTHER && other_turns == 2 && !other_ended ->
		/* thread_exit; home's part of it is not of interest here */
		other_ended = true;
		drop_current();
		goto loop
	:: else
	fi;
	if
	:: interrupt -> interrupt = false; tick = false; goto interrupted
	:: armed -> armed = false; tick = true; goto interrupted
	:: current == LOW && calls > 0 -> calls--; call_home(false); goto user
	:: all_done && !interrupt && !armed && !post -> goto finished
	fi;

	/* HIGH has been woken: it sleeps again */
high:
	if
	:: interrupt -> interrupt = false; tick = false; goto interrupted
	:: armed -> armed = false; tick = true; goto interrupted
	:: true ->
		call_home(true);
		if
		:: doomed || parked -> drop_current(); goto loop
		:: else -> goto user
		fi
	fi;

	/* core_interrupted */
interrupted:
	serve_posts();
	drain();
	if
	:: doomed -> drop_current(); goto loop
	:: else
	fi;
	if
	/* give_way: the quantum may be over whatever interrupted */
	:: current != HIGH && len(low) > 0 && quantum -> low!current; cut = NOBODY; current = NOBODY; goto take
	:: !tick && current != HIGH && high_queued ->
		cut = current;
#ifdef CUT_SHORT_TO_THE_BACK
		low!current;
#else
		if
		:: nempty(low) -> low?t; low!current; low!t
		:: empty(low) -> low!current
		fi;
#endif
		current = NOBODY;
		goto take
	:: tick && high_queued && current != HIGH && len(low) == 0 -> low!current; current = NOBODY; goto take
	:: tick && (current == HIGH || !others_can_run)
	:: !tick && (current == HIGH || !high_queued)
	fi;
	follow();
	goto user;

	/* core_loop */
loop:
	serve_posts();
	drain();
	/* core_go_on */
take:
	if
	:: high_queued -> high_queued = false; current = HIGH
	:: !high_queued && nempty(low) ->
		low?t;
		assert(cut == NOBODY || cut == t);
		cut = NOBODY;
		current = t
	:: !high_queued && empty(low) ->
		armed = false;
		waiting = true;
		if
		:: post || nempty(ring) -> waiting = false; rung = false
		:: !post && empty(ring) ->
			rung || interrupt;
			atomic { waiting = false; rung = false; interrupt = false }
		fi;
		goto loop
	fi;
	/* quantum_begin */
	quantum = others_can_run;
	follow();
	goto user;
finished:
	skip
}

init {
	atomic {
		low!LOW;
#ifdef TWO
		low!OTHER;
#endif
		high_queued = true;
		run home();
		run core()
	}
}
