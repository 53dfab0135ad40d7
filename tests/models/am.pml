/* SPDX-License-Identifier: MIT
 *
 * Active messages to the home core: ticket, order ring, slot, doorbell; and the doorbell itself, as
 * every back end builds it from two flags. Stores wait in a buffer per core (first in, first out)
 * until it drains by itself or a fence, an atomic add or a wait empties it, so that what a fence is
 * for can be seen.
 *
 * Shown: service in the order of the tickets; every call served once, with its data, and its result
 * returned to its sender; no order slot overwritten before it was read; no wake-up lost (every
 * process reaches its end). -DNO_BUFFERS: stores are seen at once, to keep three senders small.
 *
 * proves: kernel/am/am.c call_home d9722b0d035c
 * proves: kernel/am/am.c call_wait c47b7e5f2bf1
 * proves: kernel/am/am.c am_serve_call dc6cdfe24fa8
 * proves: kernel/am/am.c ring_home 3167dea8bbba
 * proves: kernel/thread/run.c home_wait 5657e3483598
 * proves: hal/cpu/hosted/wait.c hal_wait_begin 4832cfdc32c7
 * proves: hal/cpu/hosted/wait.c hal_wait be583d046b08
 * proves: hal/cpu/hosted/wait.c ring b5863950d879
 * proves: hal/cpu/riscv64/include/cpu/core.h hal_wait_begin 233967da9b94
 * proves: hal/cpu/riscv64/include/cpu/core.h hal_wait 161c2f8d9b72
 * proves: hal/cpu/riscv64/include/cpu/core.h hal_notify 50b6d1ff54f1
 *
 * run: -DSENDERS=2 -DCALLS=2
 * run: -DSENDERS=3 -DCALLS=1 -DNO_BUFFERS
 * mutation: -DSENDERS=2 -DCALLS=2 -DNO_FENCE_IN_NOTIFY
 * mutation: -DSENDERS=2 -DCALLS=2 -DNO_FENCE_IN_WAIT_BEGIN
 * mutation: -DSENDERS=2 -DCALLS=2 -DNO_RESCAN_BY_HOME
 * mutation: -DSENDERS=2 -DCALLS=2 -DNO_RESCAN_BY_SENDER
 * mutation: -DSENDERS=2 -DCALLS=2 -DNO_RING_BY_SENDER
 * mutation: -DSENDERS=2 -DCALLS=2 -DNO_RING_BY_HOME
 * mutation: -DSENDERS=2 -DCALLS=2 -DNO_PUBLISH_OF_ARGS
 * mutation: -DSENDERS=2 -DCALLS=2 -DNO_PUBLISH_OF_RESULT
 * mutation: -DSENDERS=2 -DCALLS=2 -DBUSY_AFTER_TICKET
 * mutation: -DSENDERS=2 -DCALLS=2 -DTICKET_NOT_ATOMIC
 * mutation: -DSENDERS=3 -DCALLS=1 -DNO_BUFFERS -DRING_TOO_SHORT
 * pan: -m200000
 */
#define CORES (SENDERS + 1)		/* core 0 is home */
#ifdef RING_TOO_SHORT
#define SLOTS 2
#else
#define SLOTS 4				/* a power of two, at least the number of senders */
#endif
#define DEPTH 2				/* of a store buffer */

/* Shared words that are stored (not only added to). */
#define ORDER(t) ((t) % SLOTS)
#define BUSY(c) (SLOTS + (c))
#define WAITING(c) (SLOTS + CORES + (c))
#define WORDS (SLOTS + 2 * CORES)

byte memory[WORDS];
byte ticket;
bool rung[CORES];			/* set behind a fence by whoever rings, together with what wakes the core */

/* Store buffers: what a core has stored and others do not see yet; the core itself does. */
typedef buffer {
	byte place[DEPTH];
	byte value[DEPTH];
	byte used;
};
buffer pending[CORES];

/* The call's data: what the sender wrote, what others can see of it, and the same for the result. */
byte args[CORES], args_seen[CORES], result[CORES], result_seen[CORES];

/* Ghosts. */
byte holder[SENDERS * CALLS + 1];	/* who drew a ticket */
byte served;				/* calls, which is home's position in the ring */
byte ended;

inline drain_one(c) {
	memory[pending[c].place[0]] = pending[c].value[0];
	pending[c].place[0] = pending[c].place[1];
	pending[c].value[0] = pending[c].value[1];
	pending[c].place[1] = 0;
	pending[c].value[1] = 0;
	pending[c].used--;
}

inline store(c, p, v) {
#ifdef NO_BUFFERS
	memory[p] = v
#else
	atomic {
		if
		:: pending[c].used == DEPTH -> drain_one(c)
		:: else
		fi;
		pending[c].place[pending[c].used] = p;
		pending[c].value[pending[c].used] = v;
		pending[c].used++
	}
#endif
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

/* hal_notify */
inline notify(me, target, seen) {
#ifndef NO_FENCE_IN_NOTIFY
	fence(me);
#endif
	load(me, WAITING(target), seen);
	if
	:: seen -> rung[target] = true
	:: else
	fi
}

/* hal_wait_begin, hal_wait_cancel, hal_wait */
inline wait_begin(me) {
	rung[me] = false;
	store(me, WAITING(me), 1);
#ifndef NO_FENCE_IN_WAIT_BEGIN
	fence(me);
#endif
}

inline wait_cancel(me) {
	store(me, WAITING(me), 0);
}

inline wait(me) {
	rung[me] -> store(me, WAITING(me), 0);
}

#ifndef NO_BUFFERS
/* Buffers drain by themselves, at any time. */
active [CORES] proctype drain() {
	byte core = _pid;
end:	do
	:: atomic { pending[core].used > 0 -> drain_one(core) }
	od
}
#endif

inline draw_ticket(me, t) {
#ifdef TICKET_NOT_ATOMIC
	t = ticket;
	ticket = t + 1;
	holder[t] = me;
#else
	atomic {
		fence(me);
		t = ticket;
		ticket++;
		holder[t] = me
	}
#endif
}

/* am_call_kernel, call_wait */
proctype sender(byte me) {
	byte number, t, value;

	do
	:: number == CALLS -> break
	:: else ->
		args[me] = number + 1;
#ifndef NO_PUBLISH_OF_ARGS
		args_seen[me] = args[me];
#endif
#ifdef BUSY_AFTER_TICKET
		draw_ticket(me, t);
		assert(memory[ORDER(t)] == 0);
		store(me, ORDER(t), me + 1);
		store(me, BUSY(me), 1);
#else
		store(me, BUSY(me), 1);
		draw_ticket(me, t);
		/* home has taken what lay here before */
		assert(memory[ORDER(t)] == 0 || pending[0].used > 0);
		store(me, ORDER(t), me + 1);
#endif
#ifndef NO_RING_BY_SENDER
		notify(me, 0, value);
#endif
		do
		:: load(me, BUSY(me), value);
			if
			:: value == 0 -> break
			:: else
			fi;
			wait_begin(me);
			load(me, BUSY(me), value);
#ifdef NO_RESCAN_BY_SENDER
			value = 1;
#endif
			if
			:: value == 0 -> wait_cancel(me)
			:: else -> wait(me)
			fi
		od;
		/* acquired: the result is that of this call */
		assert(result_seen[me] == 10 * me + number + 1);
		number++
	od;
	ended++
}

/* am_serve_calls and the home core's loop */
proctype home() {
	byte from, value;

	do
	:: load(0, ORDER(served), from);
		if
		:: from != 0 ->
			assert(holder[served] == from - 1);
			store(0, ORDER(served), 0);
			served++;
			/* acquired: the data is that of a call that was not served before */
			assert(args_seen[from - 1] != 0);
			assert(result[from - 1] != 10 * (from - 1) + args_seen[from - 1]);
			result[from - 1] = 10 * (from - 1) + args_seen[from - 1];
#ifndef NO_PUBLISH_OF_RESULT
			result_seen[from - 1] = result[from - 1];
#endif
			store(0, BUSY(from - 1), 0);
#ifndef NO_RING_BY_HOME
			notify(0, from - 1, value)
#endif
		:: else ->
			wait_begin(0);
			load(0, ORDER(served), from);
#ifdef NO_RESCAN_BY_HOME
			from = 0;
#endif
			if
			:: from != 0 -> wait_cancel(0)
			:: else ->
				/* nothing is on its way any more: waiting for ever is right */
end:				wait(0)
			fi
		fi;
		from = 0;
		value = 0
	od
}

/* Whoever waits for ever while a call is open has lost a wake-up. */
active proctype judge() {
	byte i = 1;

	atomic {
		do
		:: i < CORES -> run sender(i); i++
		:: else -> break
		od;
		run home()
	}
	ended == SENDERS -> assert(served == SENDERS * CALLS && ticket == SENDERS * CALLS)
}
