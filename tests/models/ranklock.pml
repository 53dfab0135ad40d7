/* SPDX-License-Identifier: MIT
 *
 * Threads of one rank wait in MPI (mpi/core/lock.h). Each waits for something else: a message that a peer sends, or room for a send of its
 * own. One of them polls: it looks for messages and sleeps in the kernel, where peers and the kernel wake it by its number; the others sleep in
 * a futex on `turn`. What happens under the rank's lock is one step here.
 *
 * Shown: every thread gets what it waits for (no wait without end), whoever polls, and whoever stops to poll because its own wait is over.
 *
 * proves: mpi/core/lock.c mpi_rank_unlock 91f865fe5afb
 * proves: mpi/core/lock.c mpi_rank_moved e227c5a1b715
 * proves: mpi/core/lock.c may_go_on be5b2842cd80
 * proves: mpi/core/lock.c kick_poller a74724f9a804
 * proves: mpi/core/lock.c mpi_rank_wait a17d6966dc5d
 * proves: mpi/transport/atoll/wait.c become_listener 6cd666bfb631
 * proves: mpi/transport/atoll/wait.c sleep_until_woken 8578c2212dc7
 *
 * run: -DTHREADS=2
 * run: -DTHREADS=3
 * run: -DTHREADS=2 -DREPLY
 * mutation: -DTHREADS=2 -DNO_HANDOVER
 * mutation: -DTHREADS=3 -DNAME_AFTER_SLEEPING
 * mutation: -DTHREADS=2 -DNO_LAST_LOOK
 * mutation: -DTHREADS=2 -DIGNORE_TURN -DIGNORE_OWN
 * mutation: -DTHREADS=2 -DREPLY -DNO_KICK
 * mutation: -DTHREADS=2 -DNO_KICK_AT_END
 * search: -DSAFETY -DCOLLAPSE
 * pan: -m400000
 */
#define NOBODY 255
#define SENDER 0		/* the thread that waits for room; the others wait for a message each */

byte box = 0;			/* messages that nobody has taken; the n-th is for thread n */
byte taken = 0;
bool sleeping = false;
byte name = NOBODY;		/* whom to wake */
bool pending[THREADS];		/* a wake-up, remembered */
bool done[THREADS];
bool room = false;
byte missed = NOBODY;		/* who tried last */

/* under the lock */
byte turn = 0;
byte waiting = 0;
bool polling = false;
bool kick = false;
bool in_futex[THREADS];

byte i_;

inline moved()
{
	if
	:: waiting > 0 || polling ->
		turn++;
		i_ = 0;
		do
		:: i_ < THREADS -> in_futex[i_] = false; i_++
		:: else -> break
		od
	:: else
	fi;
	if
	:: polling && sleeping -> pending[name] = true
	:: else
	fi
}

/* take what has come, try again to send */
inline progress()
{
	if
	:: taken < box ->
		do
		:: taken < box -> taken++; done[taken] = true
		:: else -> break
		od;
		moved()
	:: else
	fi;
	if
	:: !done[SENDER] && room -> done[SENDER] = true; moved()
	:: !done[SENDER] && !room -> missed = _pid - 1
	:: else
	fi
}

inline kick_poller()
{
	if
	:: !done[SENDER] ->
		kick = true;
		if
		:: sleeping -> pending[name] = true
		:: else
		fi
	:: else
	fi
}

proctype thread(byte me)
{
	byte seen;
	bool polls, go;

again:
	atomic {
		progress();
		if
		:: done[me] ->
			if
#ifndef NO_KICK_AT_END
			:: polling -> kick_poller()
#endif
#ifndef NO_HANDOVER
			:: waiting > 0 && !polling -> moved()
#endif
			:: else
			fi;
			goto over
		:: else
		fi;
		seen = turn;
		polls = !polling;
		if
		:: polls -> polling = true
		:: else ->
			waiting++;
#ifndef NO_KICK
			kick_poller()
#endif
		fi
	};
	if
	:: polls ->
#ifdef NAME_AFTER_SLEEPING
		sleeping = true;
		name = me;
#else
		name = me;
		sleeping = true;
#endif
		go = false;
#ifndef NO_LAST_LOOK
		if :: box != taken -> go = true :: else fi;
#endif
#ifndef IGNORE_TURN
		if :: turn != seen -> go = true :: else fi;
#endif
		if :: kick -> go = true :: else fi;
#ifndef IGNORE_OWN
		atomic { if :: done[me] -> go = true :: else fi };
#endif
		if
		:: go
		:: else -> atomic { pending[me] -> pending[me] = false }
		fi;
		sleeping = false;
		atomic { polling = false; kick = false }
	:: else ->
		/* the kernel compares and puts to sleep in one step */
		atomic { if :: turn == seen -> in_futex[me] = true :: else fi };
		!in_futex[me];
		atomic { waiting-- }
	fi;
	goto again;
over:
	skip
}

proctype peer()
{
	byte n = 1;

#ifdef REPLY
	done[SENDER];		/* the messages answer what was sent */
#endif
	do
	:: n < THREADS ->
		n++;
		box++;
		if :: sleeping -> pending[name] = true :: else fi
	:: else -> break
	od
}

proctype kernel()
{
	byte who;

	atomic { room = true; who = missed };
	if :: who != NOBODY -> pending[who] = true :: else fi
}

init
{
	byte i = 0;

	atomic {
		do
		:: i < THREADS -> run thread(i); i++
		:: else -> break
		od;
		run peer();
		run kernel()
	}
}
