/* SPDX-License-Identifier: MIT
 *
 * Core 0 becomes a TC and a KC again while others call home. As a KC it looks for messages itself,
 * so a core that calls only stores its message; as a TC it may run a thread, and only an interrupt
 * makes it look. Which of the two a core does tells a shared word, which it reads behind its
 * ticket. Stores wait in a buffer per core (first in, first out) until it drains by itself or a
 * fence or a ticket empties it. That a waiting core wakes up is shown in am.pml; here it does at
 * once.
 *
 * Shown: no message waits while core 0 runs a thread and nobody interrupts it (every process
 * reaches its end).
 *
 * proves: kernel/am/am.c ring_home 3167dea8bbba
 * proves: kernel/am/am.c am_waiting dcc04151efb8
 * proves: kernel/thread/role.c home_says 8af06c305e08
 * proves: kernel/thread/role.c home_is_open abae0bca6a7a
 * proves: kernel/thread/role.c home_takes 387c1fd27315
 *
 * run: -DCALLERS=1 -DCALLS=3
 * mutation: -DCALLERS=1 -DCALLS=2 -DNO_FENCE_BEFORE_THE_TICKETS
 * mutation: -DCALLERS=1 -DCALLS=2 -DOPENS_AT_ONCE
 * mutation: -DCALLERS=1 -DCALLS=2 -DCLOSES_WITH_A_THREAD
 * mutation: -DCALLERS=1 -DCALLS=2 -DWORD_BEFORE_THE_TICKET
 * pan: -m200000
 */
#define CORES (CALLERS + 2)		/* core 0 is home, core 1 gives it its roles */
#define SLOTS 16			/* more than there are messages: am.pml shows that places are taken anew */
#define DEPTH 2				/* of a store buffer */

#define ORDER(t) ((t) % SLOTS)
#define RUNS_USERS SLOTS		/* home_runs_users */
#define WORDS (SLOTS + 1)

#define CALL 0
#define TO_TC 1
#define TO_KC 2

byte memory[WORDS];
byte ticket;
bool interrupt;
byte asks[CORES];
bool busy[CORES], again[CORES];

/* Home's own. */
byte served, opened;
bool is_tc, has_thread;

typedef buffer {
	byte place[DEPTH];
	byte value[DEPTH];
	byte used;
};
buffer pending[CORES];

inline drain_one(c) {
	memory[pending[c].place[0]] = pending[c].value[0];
	pending[c].place[0] = pending[c].place[1];
	pending[c].value[0] = pending[c].value[1];
	pending[c].place[1] = 0;
	pending[c].value[1] = 0;
	pending[c].used--;
}

inline store(c, p, v) {
	atomic {
		if
		:: pending[c].used == DEPTH -> drain_one(c)
		:: else
		fi;
		pending[c].place[pending[c].used] = p;
		pending[c].value[pending[c].used] = v;
		pending[c].used++
	}
}

inline fence(c) {
	atomic {
		do
		:: pending[c].used > 0 -> drain_one(c)
		:: else -> break
		od
	}
}

/* The core's own latest store, or what everybody sees. */
inline load(c, p, v) {
	atomic {
		if
		:: pending[c].used == 2 && pending[c].place[1] == (p) -> v = pending[c].value[1]
		:: else ->
			if
			:: pending[c].used >= 1 && pending[c].place[0] == (p) -> v = pending[c].value[0]
			:: else -> v = memory[p]
			fi
		fi
	}
}

active [CORES] proctype drain() {
	byte core = _pid;
end:	do
	:: atomic { pending[core].used > 0 -> drain_one(core) }
	od
}

/* call_home, ring_home, call_wait */
inline call_home(me, what) {
	asks[me] = what;
	busy[me] = true;
#ifdef WORD_BEFORE_THE_TICKET
	load(me, RUNS_USERS, value);
#endif
	atomic { fence(me); t = ticket; ticket++; assert(ticket < SLOTS) };
	store(me, ORDER(t), me + 1);
#ifndef WORD_BEFORE_THE_TICKET
	load(me, RUNS_USERS, value);
#endif
	if
	:: value -> fence(me); interrupt = true
	:: else
	fi;
	value = 0;
	t = 0;
	!busy[me]
}

proctype caller(byte me) {
	byte n, t, value;

	do
	:: n == CALLS -> break
	:: else -> call_home(me, CALL); n++
	od
}

/* kc_core_role: in steps, until home says that this was all. */
proctype giver() {
	byte n, t, value;

	do
	:: n == 2 -> break
	:: else ->
		do
		:: call_home(1, TO_TC); if :: !again[1] -> break :: else fi
		od;
		call_home(1, TO_KC);
		n++
	od
}

inline home_says(v) {
	store(0, RUNS_USERS, v)
}

/* role_begin */
inline serve(from) {
	if
	:: asks[from] == TO_TC ->
		load(0, RUNS_USERS, value);
		if
		:: value == 0 ->
			home_says(1);
#ifndef NO_FENCE_BEFORE_THE_TICKETS
			fence(0);
#endif
			opened = ticket + 1
		:: else
		fi;
#ifdef OPENS_AT_ONCE
		opened = 0;
#endif
		again[from] = served < opened;
		is_tc = !again[from]
	:: asks[from] == TO_KC ->
		is_tc = false;
#ifdef CLOSES_WITH_A_THREAD
		home_says(0)
#endif
	:: else
	fi
}

proctype home() {
	byte from, value;

	do
	:: load(0, ORDER(served), from);
		if
		:: from != 0 ->
			store(0, ORDER(served), 0);
			served++;
			serve(from - 1);
			busy[from - 1] = false;
			from = 0;
			value = 0
		:: else ->
			if
			:: is_tc -> has_thread = true	/* one is placed here */
			:: true
			fi;
			if
			:: has_thread ->
				/* it runs until somebody interrupts it, or it calls the kernel */
				if
				:: atomic { interrupt -> interrupt = false }
				:: true ->
endruns:				atomic { interrupt -> interrupt = false }
				:: has_thread = false
				fi
			:: else ->
				/* home_takes */
				load(0, RUNS_USERS, value);
				if
				:: value != 0 && !is_tc && served >= opened -> home_says(0)
				:: else
				fi;
				value = 0;
endwaits:			memory[ORDER(served)] != 0 || interrupt -> interrupt = false
			fi
		fi
	od
}

init {
	byte i = 2;

	atomic {
		run home();
		run giver();
		do
		:: i < CORES -> run caller(i); i++
		:: else -> break
		od
	}
}
