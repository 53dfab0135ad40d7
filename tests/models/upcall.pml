/* SPDX-License-Identifier: MIT
 *
 * Upcalls of one thread. Home sets bits of it: it writes the thread's word and rings its core. The
 * core may be in the user thread, where the doorbell interrupts it; in a call, whose wait for home
 * takes doorbells; away from the thread, where its own waits take them; or in the thread's handler.
 * When a doorbell interrupts the thread its core asks home for the bits, by a call like any other,
 * and starts the handler.
 *
 * Shown: when nothing more happens, no bit is left that the handler has not taken, and no handler
 * has begun inside another.
 *
 * proves: kernel/thread/alarm.c upcall_begin 150980f7d63a
 * proves: kernel/thread/alarm.c upcall_serve d80a655afc6b
 * proves: kernel/thread/wait.c core_interrupt dfbba09660f9
 * proves: kernel/thread/thread.h thread_upcall 9297f1a10401
 * proves: kernel/am/am.c look_for_upcall 1d99d66e037a
 * proves: kernel/am/am.c am_call_kernel b18044995661
 * proves: kernel/am/am.c call_shared 6e81034ae6cb
 * proves: kernel/am/am.c call_wait c47b7e5f2bf1
 * proves: kernel/thread/run.c enter_looking 1a78525ebec3
 * proves: kernel/thread/run.c enter_shared e8db5f40ebd3
 * proves: kernel/thread/run.c enter_otherwise d65af07e36dd
 * proves: kernel/thread/run.c enter_user 5a3424ff6468
 * proves: kernel/call/handler.c handler_upcall 415b3a1ceaad
 * proves: kernel/call/handler.c return_otherwise efd0d3b9995f
 * proves: kernel/call/handler.c handler_return 0269a8d9f188
 * proves: kernel/call/trap.c interrupted d3d0df5415a6
 *
 * run: -DSETS=3 -DCALLS=2 -DLEAVES=2
 * mutation: -DSETS=1 -DCALLS=0 -DLEAVES=0 -DRINGS_FIRST
 * mutation: -DSETS=1 -DCALLS=1 -DLEAVES=0 -DNO_LOOK_AFTER_A_CALL
 * mutation: -DSETS=1 -DCALLS=0 -DLEAVES=1 -DNO_LOOK_AT_ENTRY
 * mutation: -DSETS=2 -DCALLS=0 -DLEAVES=0 -DFORGOTTEN_IN_THE_HANDLER
 * mutation: -DSETS=2 -DCALLS=0 -DLEAVES=0 -DSTARTS_IN_THE_HANDLER
 * mutation: -DSETS=1 -DCALLS=0 -DLEAVES=0 -DNOT_RUNG
 */
bool bits;			/* home: set and not taken */
bool upcall;			/* the thread's word */
bool interrupt;			/* the core's doorbell, if it shall interrupt a user thread */
bool asked, takes;		/* a call is under way; it takes the bits */
bool in_handler, more;
byte sets = SETS, calls = CALLS, leaves = LEAVES;

active proctype home() {
	do
	:: sets > 0 ->
		sets--;
#ifdef RINGS_FIRST
		interrupt = true;
		atomic { bits = true; upcall = true }
#else
		if
		:: atomic { upcall -> bits = true }
		:: atomic { !upcall -> bits = true; upcall = true };
#ifndef NOT_RUNG
			interrupt = true
#endif
		fi
#endif
	/* the answer rings, too, but interrupts nobody */
	:: atomic { asked ->
		if
		:: takes -> bits = false; upcall = false
		:: else
		fi;
		asked = false }
	:: atomic { timeout -> assert(!bits && !in_handler); break }
	od
}

inline call(what) {
	atomic { takes = what; asked = true };
	/* each wait of the call takes the doorbell, the last one, too */
	do
	:: interrupt = false;
		if
		:: !asked -> break
		:: asked
		fi
	od;
#ifndef NO_LOOK_AFTER_A_CALL
	if
	:: upcall -> interrupt = true
	:: else
	fi
#endif
}

/* handler_upcall */
inline look() {
	if
	:: !upcall
#ifndef STARTS_IN_THE_HANDLER
	:: upcall && in_handler ->
#ifndef FORGOTTEN_IN_THE_HANDLER
		more = true
#else
		skip
#endif
	:: upcall && !in_handler ->
#else
	:: upcall ->
#endif
		call(true);
		assert(!in_handler);
		in_handler = true
	fi
}

active proctype core() {
end:	do
	:: calls > 0 -> calls--; call(false)
	:: leaves > 0 ->
		leaves--;
		if
		:: interrupt = false
		:: true
		fi;
#ifndef NO_LOOK_AT_ENTRY
		look()
#endif
	:: atomic { interrupt -> interrupt = false }; look()
	:: in_handler ->
		in_handler = false;
		if
		:: more -> more = false; interrupt = true
		:: else
		fi
	od
}
