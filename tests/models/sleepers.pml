/* SPDX-License-Identifier: MIT
 *
 * The last one to fall asleep. Ranks of one cluster send to one another as long as they like, and
 * receive; a receive sleeps as thread ranks do: it sets `sleeping`, looks once more, adds itself to
 * the count of those that sleep, and sleeps until a wake-up, which is remembered. Who sends brings
 * the message, looks at `sleeping`, takes the sleeper off the count, and only then changes
 * `sleeping` and wakes. All these accesses are sequentially consistent in the code.
 *
 * Shown: when a rank is counted as the last one, every rank is inside a receive, nothing is in any
 * inbox, and nobody is sending. And the other way round: when all sleep for ever, one of them has
 * found it out (else the search ends in a state that is no end).
 *
 * proves: mpi/transport/atoll/wait.c sleep_until_woken 571e2b88985c
 * proves: mpi/transport/atoll/transport.c wake d55600de0ce0
 * proves: mpi/transport/atoll/transport.c wake_if_asleep e3a26672b5ea
 * proves: mpi/transport/atoll/deadlock.c transport_falls_asleep dddad5776cc6
 * proves: mpi/transport/atoll/deadlock.c transport_woke_up b10f8e1012b2
 * proves: mpi/transport/atoll/deadlock.c transport_stays_awake fb3529e35896
 * proves: mpi/transport/atoll/deadlock.c transport_take_off d06d4bcdad70
 *
 * run: -DRANKS=2 -DSENDS=2
 * run: -DRANKS=3 -DSENDS=1
 * mutation: -DRANKS=2 -DSENDS=2 -DCOUNTED_BEFORE_THE_LAST_LOOK
 * mutation: -DRANKS=2 -DSENDS=2 -DTAKEN_OFF_AFTER_THE_SWAP
 * mutation: -DRANKS=2 -DSENDS=2 -DNOT_TAKEN_OFF
 * mutation: -DRANKS=2 -DSENDS=2 -DSTAYS_AWAKE_UNCOUNTED
 * mutation: -DRANKS=3 -DSENDS=1 -DIN_VAIN_AND_NOT_PUT_BACK
 * pan: -m200000
 */
byte box[RANKS];		/* messages that have arrived */
bool sleeping[RANKS];
bool woken[RANKS];		/* a wake-up that the kernel remembers */
bool receives[RANKS];		/* for the assertion */
int count;
bool found;

/* Who swaps `sleeping` back; `won` says whether it was the caller. */
inline swap(who)
{
	atomic { won = sleeping[who]; sleeping[who] = false }
}

/* Off the count first: at no time are more counted than sleep. */
inline take_off(who)
{
#ifndef TAKEN_OFF_AFTER_THE_SWAP
	count--;
#endif
	swap(who);
#ifdef TAKEN_OFF_AFTER_THE_SWAP
	if :: won -> count-- :: else fi
#else
#ifndef IN_VAIN_AND_NOT_PUT_BACK
	if :: !won -> count++ :: else fi
#endif
#endif
}

inline send(to)
{
	box[to]++;
	if
	:: sleeping[to] ->
#ifdef NOT_TAKEN_OFF
		swap(to);
#else
		take_off(to);
#endif
		if :: won -> woken[to] = true :: else fi
	:: else
	fi
}

inline be_counted()
{
	atomic {
		count++;
		if
		:: count == RANKS ->
			found = true;
			for (i : 0 .. RANKS - 1) {
				assert(receives[i] && box[i] == 0)
			}
		:: else
		fi
	}
}

proctype rank(byte me)
{
	byte sends = 0, to, i;
	bool won;

again:
	if
	:: sends < SENDS ->
		sends++;
		select(to : 0 .. RANKS - 1);
		send(to);
		goto again
	:: true
	fi;
	receives[me] = true;
	do
	:: box[me] > 0 ->
		receives[me] = false;
		box[me]--;
		goto again
	:: found -> break
	:: box[me] == 0 && !found ->
		sleeping[me] = true;
#ifdef COUNTED_BEFORE_THE_LAST_LOOK
		be_counted();
#endif
		if
		:: box[me] == 0 ->
#ifndef COUNTED_BEFORE_THE_LAST_LOOK
			be_counted();
#endif
			if
			:: woken[me] -> woken[me] = false
			:: found -> break
			fi;
#ifdef NOT_TAKEN_OFF
			swap(me);
			count--
#else
			take_off(me)
#endif
		:: else ->
			swap(me);
#ifdef COUNTED_BEFORE_THE_LAST_LOOK
			if :: won -> count-- :: else fi
#else
#ifndef STAYS_AWAKE_UNCOUNTED
			if :: !won -> count++ :: else fi
#endif
#endif
		fi
	od
}

init
{
	byte r;

	atomic {
		for (r : 0 .. RANKS - 1) { run rank(r) }
	}
}
