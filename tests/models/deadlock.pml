/* SPDX-License-Identifier: MIT
 *
 * The launcher's look at ranks that may be in a deadlock. Ranks send to one another as long as
 * they like, and receive; a receive sleeps as process ranks do: it sets `sleeping`, looks once
 * more, counts `slept` up (odd) and waits; who sends brings the message and then wakes. All these
 * accesses are sequentially consistent in the code. The launcher looks at every `slept`, at every
 * `sleeping`, and at every `slept` again.
 *
 * Shown: when it says that there is a deadlock, every rank sleeps, with nothing in its inbox, and
 * nobody is left to wake one. (That it says so at last when there is one follows from looking
 * again and again.)
 *
 * proves: mpi/transport/process/wait.c sleep_until_woken f3faf4402f1c
 * proves: mpi/transport/process/wait.c transport_wake_owner b7cb63448721
 * proves: mpi/exec/deadlock.c all_sleep e1b0ba9d4c35
 * proves: mpi/exec/deadlock.c none_is_woken 379e71155538
 * proves: mpi/exec/deadlock.c all_still_sleep 1e7a112687b1
 * proves: mpi/exec/deadlock.c is_deadlock 163a682d6d44
 *
 * run: -DRANKS=2 -DSENDS=2
 * run: -DRANKS=3 -DSENDS=1
 * mutation: -DRANKS=2 -DSENDS=2 -DNO_LOOK_AT_SLEEPING
 * mutation: -DRANKS=2 -DSENDS=2 -DNO_SECOND_LOOK
 * mutation: -DRANKS=2 -DSENDS=2 -DCOUNTED_BEFORE_THE_LAST_LOOK
 * mutation: -DRANKS=2 -DSENDS=2 -DSLEEPING_FIRST
 * pan: -m200000
 */
byte box[RANKS];		/* messages that have arrived */
bool sleeping[RANKS];
byte slept[RANKS];
bool in_futex[RANKS];		/* for the assertion: nothing but a wake-up makes it go on */

inline send(to)
{
	box[to]++;
	if
	:: sleeping[to] ->
		/* the swap succeeds for one */
		atomic { if :: sleeping[to] -> sleeping[to] = false :: else fi }
	:: else
	fi
}

proctype rank(byte me)
{
	byte sends = 0, to;

	do
	:: sends < SENDS ->
		sends++;
		select(to : 0 .. RANKS - 1);
		send(to)
	:: box[me] > 0 -> box[me]--
	:: box[me] == 0 ->
		sleeping[me] = true;
#ifdef COUNTED_BEFORE_THE_LAST_LOOK
		slept[me]++;
#endif
		if
		:: box[me] == 0 ->
			/* after this it looks at nothing more */
#ifndef COUNTED_BEFORE_THE_LAST_LOOK
			atomic { slept[me]++; in_futex[me] = true };
#else
			in_futex[me] = true;
#endif
end_asleep:		!sleeping[me];
			in_futex[me] = false;
			slept[me]++
		:: else ->
#ifdef COUNTED_BEFORE_THE_LAST_LOOK
			slept[me]++
#else
			skip
#endif
		fi;
		sleeping[me] = false
	od
}

inline all_sleep()
{
	for (i : 0 .. RANKS - 1) {
		before[i] = slept[i];
		if :: before[i] % 2 == 0 -> goto again :: else fi
	}
}

inline none_is_woken()
{
	for (i : 0 .. RANKS - 1) {
		if :: !sleeping[i] -> goto again :: else fi
	}
}

proctype launcher()
{
	byte before[RANKS];
	byte i;

again:
#ifdef SLEEPING_FIRST
	none_is_woken();
#endif
	all_sleep();
#ifndef NO_LOOK_AT_SLEEPING
#ifndef SLEEPING_FIRST
	none_is_woken();
#endif
#endif
#ifndef NO_SECOND_LOOK
	for (i : 0 .. RANKS - 1) {
		if :: slept[i] != before[i] -> goto again :: else fi
	}
#endif
	for (i : 0 .. RANKS - 1) {
		assert(in_futex[i] && sleeping[i] && box[i] == 0)
	}
}

init
{
	byte r;

	atomic {
		for (r : 0 .. RANKS - 1) { run rank(r) }
		run launcher()
	}
}
