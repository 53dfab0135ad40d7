/* SPDX-License-Identifier: MIT
 *
 * The favoured thread of a rank (mpi/core/lock.h) enters and leaves its library with plain stores,
 * until another thread calls. Its stores wait in a buffer before others see them, in order; its
 * loads see its own. The other one stores at once, and makes the favoured one's buffer empty (the
 * fence that the system makes in all threads of the process). Both then share the ordinary lock.
 *
 * Shown: never two inside; nobody waits without end.
 *
 * proves: mpi/core/lock.h mpi_rank_favoured_enter e196f810562c
 * proves: mpi/core/lock.h mpi_rank_favoured_leave ad430d3ceda6
 * proves: mpi/core/lock.c mpi_rank_favour_is_over 1de42ed20191
 * proves: mpi/core/lock.c end_favour 70b8a993459c
 * proves: mpi/core/lock.c enter 1f4018b3faf2
 * proves: mpi/core/lock.c lock_take c77982869cd5
 * proves: mpi/core/lock.c give a5a15716ffa4
 *
 * run: -DOTHERS=1
 * run: -DOTHERS=2
 * mutation: -DOTHERS=1 -DNO_FENCE
 * mutation: -DOTHERS=1 -DNO_LOOK_AFTER_ENTERING
 * mutation: -DOTHERS=1 -DNO_WAIT
 * mutation: -DOTHERS=1 -DFENCE_FIRST
 * mutation: -DOTHERS=1 -DNO_LOOK_AFTER_LEAVING
 * mutation: -DOTHERS=1 -DKEEPS_ITS_SAY
 * mutation: -DOTHERS=2 -DNO_WAKE
 */
#define CALLS 3
#define FREE 0
#define HELD 1
#define CONTENDED 2
#define BUFFER 4

byte inside = 0;		/* as all but the favoured one see it */
byte own = 0;			/* as that one does */
chan stores = [BUFFER] of { byte };
byte favours = 1;
byte word = FREE;
byte holders = 0;		/* who is inside, to be checked */
bool asleep_on_inside = false;
byte asleep_on_word = 0;
byte woken = 0;

/* the store buffer is written back at any time */
active proctype memory()
{
	byte value;

end:
	do
	:: atomic { stores?value -> inside = value }
	od
}

inline work()
{
	holders++;
	assert(holders == 1);
	holders--
}

/* an exchange, then a sleep if the word still says so; who is woken tries again */
inline take()
{
	if
	:: atomic { word == FREE -> word = HELD }
	:: atomic { word != FREE -> skip };
		do
		:: atomic {
			if
			:: word == FREE -> word = CONTENDED; break
			:: else -> word = CONTENDED
			fi
		   };
		   atomic {
			if
			:: word == CONTENDED -> asleep_on_word++
			:: else -> goto awake
			fi
		   };
		   atomic { woken > 0 -> woken--; asleep_on_word-- };
awake:		   skip
		od
	fi
}

inline give()
{
	atomic {
		if
#ifndef NO_WAKE
		:: word == CONTENDED && asleep_on_word > woken -> woken++
#endif
		:: else -> skip
		fi;
		word = FREE
	}
}

proctype favoured()
{
	byte n = 0;
	bool mine = true;

	do
	:: n < CALLS ->
		n++;
		if
		:: mine ->
			stores!1; own = 1;
			if
#ifndef NO_LOOK_AFTER_ENTERING
			:: favours == 0 ->
				/* goes, and comes again as any other one */
#ifndef KEEPS_ITS_SAY
				stores!0; own = 0;
				atomic { empty(stores) -> asleep_on_inside = false };
#endif
				mine = false;
				take(); work(); give()
#endif
			:: else ->
				work();
				stores!0; own = 0;
				if
#ifndef NO_LOOK_AFTER_LEAVING
				:: favours == 0 ->
					mine = false;
					/* the system call that wakes is a fence */
					atomic { empty(stores) -> asleep_on_inside = false }
#endif
				:: else
				fi
			fi
		:: else -> take(); work(); give()
		fi
	:: else -> break
	od
}

proctype other()
{
	byte n = 0;

	do
	:: n < CALLS ->
		n++;
		take();
		if
		:: favours == 1 ->
#ifdef FENCE_FIRST
			empty(stores);
			favours = 0;
#else
			favours = 0;
#ifndef NO_FENCE
			empty(stores);
#endif
#endif
#ifndef NO_WAIT
			do
			:: atomic { inside == 0 -> break }
			:: atomic { inside == 1 -> asleep_on_inside = true };
				!asleep_on_inside
			od
#endif
		:: else
		fi;
		work();
		give()
	:: else -> break
	od
}

init
{
	byte i = 0;

	atomic {
		run favoured();
		do
		:: i < OTHERS -> run other(); i++
		:: else -> break
		od
	}
}
