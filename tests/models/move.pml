/* SPDX-License-Identifier: MIT
 *
 * A thread T is sent from core to core, while it computes, waits and is woken, and its process may
 * be killed at any moment. Home says ASKS times on which of two cores T shall run; T makes CALLS
 * calls in which it may wait. Home is another core. A core that computes is stopped by an interrupt
 * only, and a wait of a core takes the interrupt that ends it.
 *
 * Shown: one core at a time has T; it takes T up with what the core before has written of it, and
 * not with what it knew itself from an earlier time; in the end T is where it was last asked to be
 * and no wake-up is lost; when home gives T's record away no core has it.
 *
 * proves: kernel/thread/move.c move_serve 0e10063fb2f1
 * proves: kernel/thread/move.c thread_moves a57cb02e6885
 * proves: kernel/thread/move.c kc_thread_cores b08f7c7bfac0
 * proves: kernel/thread/move.c thread_confine 0abac8b10a6e
 * proves: kernel/thread/run.c enter_looking 1a78525ebec3
 * proves: kernel/thread/run.c core_evict 2586721ddade
 * proves: kernel/thread/run.c core_drop_current a0ccccc33fd7
 * proves: kernel/thread/run.c drain 5cedf03741fc
 * proves: kernel/am/am.c serve 86d937edc30d
 * proves: kernel/am/am.c call_wait c47b7e5f2bf1
 * proves: kernel/am/am.c look_for_upcall 1d99d66e037a
 * proves: kernel/mem/sweep.c concerns 2fcd7528e1d1
 *
 * run: -DASKS=3 -DCALLS=1
 * run: -DASKS=2 -DCALLS=2
 * run: -DASKS=1 -DCALLS=1 -DKILL
 * run: -DASKS=2 -DCALLS=0 -DKILL
 * mutation: -DASKS=2 -DCALLS=1 -DASKED_WITHOUT_INTERRUPT
 * mutation: -DASKS=2 -DCALLS=1 -DNO_LOOK_BEHIND_THE_CALL
 * mutation: -DASKS=2 -DCALLS=1 -DNO_LOOK_BEFORE_THE_USER
 * mutation: -DASKS=2 -DCALLS=1 -DHOME_MOVES_WHO_WAITS
 * mutation: -DASKS=2 -DCALLS=1 -DSENT_UNPUBLISHED
 * mutation: -DASKS=2 -DCALLS=1 -DMADE_READY_AS_IF_KNOWN
 * mutation: -DASKS=2 -DCALLS=1 -DTHE_WORD_ALONE_IS_CLEARED
 * mutation: -DASKS=2 -DCALLS=1 -DKILL -DTHE_DEAD_ARE_MOVED
 * mutation: -DASKS=2 -DCALLS=1 -DKILL -DONLY_ITS_LAST_CORE_IS_SWEPT
 * mutation: -DASKS=2 -DCALLS=1 -DKILL -DACKNOWLEDGED_WHILE_IT_RUNS
 * pan: -m1000000
 */
#define NONE 2

mtype = { WAIT, MOVE };

/* a core, and what hardware knows of it */
bool interrupt[2], waiting[2], rung[2];
bool ringed[2], first[2];	/* ready ring: T is in it, as one that this core may not know */
bool queued[2], current[2], sent[2], doomed[2], knows[2];

/* between home and a core */
bool busy[2], parked[2], post[2];
mtype message[2];

/* T's record: which core has written of it what it has not published; who has its newest state */
byte dirty = NONE;
bool fresh[2];

/* home */
byte at, asked, move_to;
bool move;			/* the bit in the word that T's core looks at */
bool waits;
bool covers[2];			/* p->cores */
byte asks = ASKS, calls = CALLS, unacknowledged;
bool dying, released;

/* a core that has sent T on does nothing with it, and knows that it had it */
#define has(c) (ringed[c] || queued[c] || (current[c] && !sent[c]))

inline do_interrupt(c) {
	interrupt[c] = true;
	if :: waiting[c] -> rung[c] = true :: else fi
}

inline do_notify(c) {
	if :: waiting[c] -> rung[c] = true :: else fi
}

/* push_ready */
inline push_ready(c, is_first) {
	atomic {
		assert(!ringed[c] && !released);
		first[c] = is_first;
		ringed[c] = true
	}
	do_notify(c)
}

/* kc_thread_cores */
inline ask(to) {
	asks--;
	asked = to;
#ifdef THE_WORD_ALONE_IS_CLEARED
	if :: at != to -> move_to = to :: else fi;
#else
	move_to = to;
#endif
	move = (at != to);
#ifdef HOME_MOVES_WHO_WAITS
	if :: waits && move -> at = to; covers[to] = true; move = false :: else fi;
#endif
#ifndef ASKED_WITHOUT_INTERRUPT
	if :: move && !waits -> do_interrupt(at) :: else fi
#endif
}

/* am_serve_call */
inline serve(c) {
	parked[c] = false;
	if
#ifndef THE_DEAD_ARE_MOVED
	:: dying
#endif
	:: else ->
		if
		:: message[c] == MOVE ->
			move = false;
			at = move_to;
			covers[at] = true;
#ifdef MADE_READY_AS_IF_KNOWN
			push_ready(at, false)
#else
			push_ready(at, true)
#endif
		/* it waits, or what it waits for has come already */
		:: message[c] == WAIT -> waits = true; parked[c] = true
		:: message[c] == WAIT
		fi
	fi;
	busy[c] = false;
	do_notify(c)
}

/* concerns, am_post */
inline kill() {
	atomic {
		dying = true;
		waits = false;
		unacknowledged = 0
	}
	for (k : 0 .. 1) {
		if
#ifdef ONLY_ITS_LAST_CORE_IS_SWEPT
		:: at == k ->
#else
		:: covers[k] && (at == k || knows[k]) ->
#endif
			atomic { unacknowledged++; post[k] = true }
			do_interrupt(k)
		:: else -> covers[k] = false
		fi
	}
	swept = true
}

proctype home() {
	byte k;
	bool swept;

end:	do
	:: asks > 0 && !dying -> ask(0)
	:: asks > 0 && !dying -> ask(1)
	:: busy[0] -> serve(0)
	:: busy[1] -> serve(1)
	/* thread_ready */
	:: waits -> waits = false; push_ready(at, false)
#ifdef KILL
	:: !dying -> kill()
#endif
	:: swept && unacknowledged == 0 && !released ->
		atomic {
			released = true;
			assert(!has(0) && !has(1) && !current[0] && !current[1])
		}
	od
}

/* ready_drain */
inline drain() {
	if
	:: ringed[me] ->
		atomic {
			ringed[me] = false;
			queued[me] = true;
			if :: first[me] -> fresh[me] = true :: else fi
		}
	:: else
	fi
}

/* core_evict, which a post runs */
inline serve_posts() {
	if
	:: post[me] ->
		drain();
		queued[me] = false;
		if
#ifndef ACKNOWLEDGED_WHILE_IT_RUNS
		:: current[me] -> doomed[me] = true
#endif
		:: else -> knows[me] = false; unacknowledged--
		fi;
		post[me] = false
	:: else
	fi
}

/* call_wait */
inline call_home(what) {
	atomic { message[me] = what; busy[me] = true }
	do
	:: busy[me] ->
		waiting[me] = true;
		if
		:: !busy[me] || post[me] -> waiting[me] = false; rung[me] = false
		:: else ->
			rung[me] || interrupt[me];
			atomic { waiting[me] = false; rung[me] = false; interrupt[me] = false }
		fi;
		serve_posts()
	:: !busy[me] -> break
	od
}

inline publish() {
	if :: dirty == me -> dirty = NONE :: else fi
}

/* core_drop_current */
inline drop_current() {
	publish();
	current[me] = false;
	if
	:: doomed[me] -> doomed[me] = false; knows[me] = false; unacknowledged--
	:: else
	fi
}

proctype core(byte me) {
	/* core_loop */
loop:
	serve_posts();
	drain();
	if
	:: queued[me] ->
		atomic {
			queued[me] = false;
			current[me] = true;
			/* one core at a time, with all that is known of T */
			assert(!has(1 - me) && fresh[me] && (dirty == NONE || dirty == me))
		}
		knows[me] = true;
		goto look
	:: else ->
		/* a thread of another process runs in between */
		if :: knows[me] -> knows[me] = false :: true fi;
		waiting[me] = true;
		if
		:: post[me] || ringed[me] -> waiting[me] = false; rung[me] = false
		:: else ->
end_idle:		rung[me] || interrupt[me];
			atomic { waiting[me] = false; rung[me] = false; interrupt[me] = false }
		fi;
		goto loop
	fi;

	/* enter_looking, and handler_upcall on the way back from an interrupt */
look:
	if
	:: doomed[me] -> drop_current(); goto loop
#ifndef NO_LOOK_BEFORE_THE_USER
	:: !doomed[me] && move ->
#else
	:: !doomed[me] && move && false ->
#endif
		/* thread_moves */
#ifndef SENT_UNPUBLISHED
		publish();
#endif
		sent[me] = true;
		call_home(MOVE);
		atomic { current[me] = false; sent[me] = false }
		if
		:: doomed[me] -> doomed[me] = false; knows[me] = false; unacknowledged--
		:: else
		fi;
		goto loop
	:: else
	fi;

user:	atomic {
		assert(current[me] && !released && !has(1 - me));
		dirty = me;
		fresh[me] = true;
		fresh[1 - me] = false
	}
end_user:
	if
	:: interrupt[me] ->
		interrupt[me] = false;
		serve_posts();
		drain();
		goto look
	:: calls > 0 ->
		calls--;
		call_home(WAIT);
		if
		:: doomed[me] || parked[me] -> drop_current(); goto loop
		:: else
		fi;
#ifndef NO_LOOK_BEHIND_THE_CALL
		if :: move -> interrupt[me] = true :: else fi;
#endif
		goto user
	fi
}

/* Nothing happens any more. */
proctype end_is_right() {
	timeout;
	if
	:: dying -> assert(released)
	:: else -> assert(at == asked && !waits && current[at] && !move)
	fi
}

init {
	atomic {
		covers[0] = true;
		ringed[0] = true;
		first[0] = true;
		run home();
		run core(0);
		run core(1);
		run end_is_right()
	}
}
