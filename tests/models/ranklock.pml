/* SPDX-License-Identifier: MIT
 *
 * Threads of one rank wait in MPI (mpi/core/lock.h), each for something of another kind. One of
 * them polls: it looks for messages and sleeps in the kernel, where peers and the kernel wake it by
 * its number; the others sleep, each on a word of its own. What happens under the rank's lock is
 * one step here. A peer looks whether the one that polls sleeps after it has changed something.
 *
 *	MESSAGE	a packet in the inbox, for which whoever makes progress looks
 *	ROOM	room at a peer in another cluster; the kernel wakes the thread that has tried last
 *	FLAG	a word of the waiting thread that a peer sets
 *	STEP	the same, but progress must be made once more after it
 *	GIVEN	what another thread of the rank does inside of the library, without making progress
 *	PART	the same, but progress must be made once more after it
 *	BULK	a thread beside the rank, which wakes the one that peers know at that time
 *
 * Shown: every thread gets what it waits for (no wait without end), whoever polls, and whoever
 * stops to poll because its own wait is over.
 *
 * proves: mpi/core/lock.c rouse_ready ee511910f08b
 * proves: mpi/core/lock.c poller_must_look 47e57233154d
 * proves: mpi/core/lock.c call_waiters ab7821ae3919
 * proves: mpi/core/lock.c mpi_rank_unlock fd0d544cdeab
 * proves: mpi/core/lock.c mpi_rank_pause cde44353218a
 * proves: mpi/core/lock.c a_sleeper_is_ready e180c55c64a1
 * proves: mpi/core/lock.c may_go_on 3f5fce9e7a8c
 * proves: mpi/core/lock.c poll c6d78f89730f
 * proves: mpi/core/lock.c sleep_until_woken 552373ffd537
 * proves: mpi/core/lock.c mpi_rank_wait 1d1e6ec6bd1e
 * proves: mpi/pt2pt/progress.c mpi_can_move e12f36241677
 * proves: mpi/transport/atoll/wait.c nothing_new 4a256b05b3fb
 * proves: mpi/transport/atoll/wait.c become_listener b6ec71f28189
 * proves: mpi/transport/atoll/wait.c sleep_until_woken 571e2b88985c
 * proves: mpi/transport/atoll/writer.c write_all dbf79aa3df49
 *
 * run: -DTHREADS=2 -DK0=ROOM -DK1=MESSAGE
 * run: -DTHREADS=3 -DK0=ROOM -DK1=MESSAGE -DK2=MESSAGE
 * run: -DTHREADS=2 -DK0=ROOM -DK1=MESSAGE -DREPLY
 * run: -DTHREADS=3 -DK0=GIVEN -DK1=FLAG -DK2=MESSAGE
 * run: -DTHREADS=3 -DK0=GIVEN -DK1=GIVEN -DK2=FLAG
 * run: -DTHREADS=3 -DK0=STEP -DK1=PART -DK2=FLAG
 * run: -DTHREADS=3 -DK0=FLAG -DK1=FLAG -DK2=MESSAGE -DREPLY
 * run: -DTHREADS=3 -DK0=BULK -DK1=MESSAGE -DK2=GIVEN
 * run: -DTHREADS=3 -DK0=ROOM -DK1=FLAG -DK2=GIVEN
 * mutation: -DTHREADS=1 -DK0=GIVEN -DONLY_WHAT_MOVED
 * mutation: -DTHREADS=2 -DK0=FLAG -DK1=GIVEN -DONLY_WHAT_MOVED
 * mutation: -DTHREADS=1 -DK0=PART -DONLY_WHAT_MOVED
 * mutation: -DTHREADS=2 -DK0=FLAG -DK1=MESSAGE -DREPLY -DASKS_FOR_ITSELF
 * mutation: -DTHREADS=2 -DK0=FLAG -DK1=MESSAGE -DREPLY -DNO_LOOK_FOR_OTHERS
 * mutation: -DTHREADS=2 -DK0=MESSAGE -DK1=MESSAGE -DNO_HANDOVER
 * mutation: -DTHREADS=3 -DK0=MESSAGE -DK1=MESSAGE -DK2=MESSAGE -DNEVER_RISEN
 * mutation: -DTHREADS=3 -DK0=ROOM -DK1=MESSAGE -DK2=MESSAGE -DNAME_AFTER_LOOK
 * mutation: -DTHREADS=2 -DK0=ROOM -DK1=MESSAGE -DNO_LAST_LOOK
 * mutation: -DTHREADS=1 -DK0=FLAG -DIGNORE_OWN
 * mutation: -DTHREADS=1 -DK0=STEP -DIGNORE_STEPS
 * mutation: -DTHREADS=2 -DK0=ROOM -DK1=MESSAGE -DREPLY -DNO_KICK_FOR_ROOM
 * mutation: -DTHREADS=2 -DK0=ROOM -DK1=MESSAGE -DREPLY -DIGNORE_KICK
 * mutation: -DTHREADS=2 -DK0=BULK -DK1=MESSAGE -DIGNORE_WRITER
 * pan: -m400000
 */
#define NOBODY 255
#define MESSAGE 0
#define ROOM 1
#define FLAG 2
#define STEP 3
#define GIVEN 4
#define PART 5
#define BULK 6

#ifndef K1
#define K1 MESSAGE
#endif
#ifndef K2
#define K2 MESSAGE
#endif
#define KIND(i) (i == 0 -> K0 : (i == 1 -> K1 : K2))
#define NEEDS_STEP(i) (KIND(i) == STEP || KIND(i) == PART)

byte box = 0;			/* messages that nobody has taken; whose they are, `taken` counts */
byte taken = 0;
bool sleeping = false;
byte name = 0;			/* whom to wake */
bool pending[THREADS];		/* a wake-up, remembered */
bool word[THREADS];		/* set by a peer or by another thread */
bool done[THREADS];
bool over_[THREADS];		/* has got what it waited for, and has left */
bool room = false;
byte missed = NOBODY;		/* who tried last */

/* under the lock */
byte poller = NOBODY;
bool asleep[THREADS];		/* in the list of sleepers */
byte asleep_count = 0;
bool woken[THREADS];
byte rising = 0;
bool kick = false;

byte i_, j_, n_;
bool moved_, is_, move_;

/* is_ = has come what thread i waits for? */
inline ready(i)
{
	is_ = done[i] || (word[i] && (KIND(i) == FLAG || KIND(i) == GIVEN))
}

/* move_ = would progress move anything besides messages? */
inline can_move()
{
	move_ = false;
	j_ = 0;
	do
	:: j_ < THREADS ->
#ifndef IGNORE_STEPS
		move_ = move_ || (!done[j_] && word[j_] && NEEDS_STEP(j_));
#endif
		j_++
	:: else -> break
	od
}

/* take what has come, try again to send */
inline progress(who)
{
	moved_ = false;
	n_ = 0;
	i_ = 0;
	do
	:: i_ < THREADS ->
		if
		:: KIND(i_) == MESSAGE ->
			n_++;
			if
			:: n_ > taken && n_ <= box -> taken++; done[i_] = true; moved_ = true
			:: else
			fi
		:: KIND(i_) == ROOM && !done[i_] && room -> done[i_] = true; moved_ = true
		:: KIND(i_) == ROOM && !done[i_] && !room -> missed = who
		:: (NEEDS_STEP(i_) || KIND(i_) == BULK) && !done[i_] && word[i_] ->
			done[i_] = true;
			moved_ = true
		:: else
		fi;
		i_++
	:: else -> break
	od
}

inline rouse(i)
{
	asleep[i] = false;
	asleep_count--;
	rising++;
	woken[i] = true
}

inline rouse_ready()
{
	i_ = 0;
	do
	:: i_ < THREADS ->
		ready(i_);
		if
		:: asleep[i_] && is_ -> rouse(i_)
		:: else
		fi;
		i_++
	:: else -> break
	od
}

inline wants_room()
{
	move_ = false;
	j_ = 0;
	do
	:: j_ < THREADS -> move_ = move_ || (KIND(j_) == ROOM && !done[j_]); j_++
	:: else -> break
	od
}

/* before others are let in */
inline call_waiters()
{
	rouse_ready();
	if
	:: poller == NOBODY ->
		if
#ifndef NO_HANDOVER
		:: rising == 0 && asleep_count > 0 ->
			i_ = 0;
			do
			:: asleep[i_] -> rouse(i_); break
			:: else -> i_++
			od
#endif
		:: else
		fi
	:: else ->
		can_move();
		ready(poller);
		is_ = is_ || move_;
#ifndef NO_KICK_FOR_ROOM
		wants_room();
		is_ = is_ || move_;
#endif
		if
		:: is_ && !kick ->
			kick = true;
			if
			:: sleeping -> pending[name] = true
			:: else
			fi
		:: else
		fi
	fi
}

/* the thread that polls leaves, or asks once more before it sleeps: for itself, and for others */
inline look(me, go)
{
	can_move();
	go = go || move_;
#ifndef IGNORE_OWN
	ready(me);
	go = go || is_;
#endif
#if !defined(ASKS_FOR_ITSELF) && !defined(NO_LOOK_FOR_OTHERS)
	i_ = 0;
	do
	:: i_ < THREADS -> ready(i_); go = go || (asleep[i_] && is_); i_++
	:: else -> break
	od
#endif
}

proctype thread(byte me)
{
	bool go;

again:
	atomic {
		progress(me);
		ready(me);
		if
		:: is_ -> call_waiters(); goto over
		:: else
		fi;
#ifdef ONLY_WHAT_MOVED
		if
		:: moved_ -> call_waiters(); goto again
		:: else
		fi;
#endif
		if
		:: poller == NOBODY ->
			poller = me;
#ifndef ASKS_FOR_ITSELF
			rouse_ready();
#endif
			goto polls
		:: else -> asleep[me] = true; asleep_count++; call_waiters()
		fi
	};
	/* the kernel compares and puts to sleep in one step */
	atomic {
		woken[me] ->
		woken[me] = false;
#ifndef NEVER_RISEN
		rising--
#endif
	};
	goto again;
polls:
#ifndef NAME_AFTER_LOOK
	name = me;
#endif
	sleeping = true;
	go = false;
#ifndef NO_LAST_LOOK
	if :: box != taken -> go = true :: else fi;
#endif
#ifndef IGNORE_WRITER
	atomic {
		i_ = 0;
		do
		:: i_ < THREADS -> go = go || (KIND(i_) == BULK && word[i_] && !done[i_]); i_++
		:: else -> break
		od
	};
#endif
#ifndef IGNORE_KICK
	if :: kick -> go = true :: else fi;
#endif
	atomic { look(me, go) };
#ifdef NAME_AFTER_LOOK
	name = me;
#endif
	if
	:: go
	:: else -> atomic { pending[me] -> pending[me] = false }
	fi;
	sleeping = false;
	atomic { poller = NOBODY; kick = false };
	goto again;
over:
	over_[me] = true
}

inline wake()
{
	if :: sleeping -> pending[name] = true :: else fi
}

/* sends messages and sets words; with -DREPLY a message comes when the thread before has gone on */
proctype peer()
{
	byte n = 0;

	do
	:: n < THREADS && (KIND(n) == FLAG || KIND(n) == STEP) ->
		word[n] = true;
		wake();
		n++
	:: n < THREADS && KIND(n) == MESSAGE ->
#ifdef REPLY
		if :: n > 0 -> over_[n - 1] :: else fi;
#endif
		box++;
		wake();
		n++
	:: n < THREADS && (KIND(n) == ROOM || KIND(n) >= GIVEN) -> n++
	:: n == THREADS -> break
	od
}

/* another thread of the rank, in a call that moves nothing */
proctype helper()
{
	byte n = 0;

	do
	:: n < THREADS && (KIND(n) == GIVEN || KIND(n) == PART) ->
		atomic {
			word[n] = true;
#ifndef ONLY_WHAT_MOVED
			call_waiters()
#endif
		};
		n++
	:: n < THREADS && KIND(n) != GIVEN && KIND(n) != PART -> n++
	:: n == THREADS -> break
	od
}

proctype kernel()
{
	byte who;

	atomic { room = true; who = missed };
	if :: who != NOBODY -> pending[who] = true :: else fi
}

proctype writer()
{
	byte n = 0, who;

	do
	:: n < THREADS && KIND(n) == BULK ->
		word[n] = true;
		who = name;
		pending[who] = true;
		n++
	:: n < THREADS && KIND(n) != BULK -> n++
	:: n == THREADS -> break
	od
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
		run helper();
		run kernel();
		run writer()
	}
}
