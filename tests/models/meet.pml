/* SPDX-License-Identifier: MIT
 *
 * Meetings of the ranks of a cluster, with seats and a table used in turns, and ranks that sleep. The words are in one total order, as they
 * are in the code; seats and the table are plain memory, which the words order. The one that opens is the last to come, or with
 * -DLEADER always rank 0 (meetings between clusters). With -DLANES=2 neighbours are counted first among themselves (ranks that share a core).
 * With -DBRIEF seats and table are there once: nobody but the one that opens reads seats (brief meetings, and all that compute one result).
 *
 * The error of a meeting between clusters is one word beside the table: its leader writes it when all have
 * come, and each rank reads it before it comes again, as with -DBRIEF.
 *
 * Shown: the one that opens reads of every seat what was laid there for this meeting; everybody reads the table and all seats of this
 * meeting after it, whatever the others do meanwhile; nobody leaves before all have come; no wake-up is lost (all reach their end).
 *
 * proves: mpi/coll/meet.c mpi_meet_come 1485361887e4
 * proves: mpi/coll/meet.c mpi_meet_wake 1672d5976f17
 * proves: mpi/coll/meet.c mpi_meet_open 3b4ee84e0344
 * proves: mpi/coll/meet.c counts_lanes 924b2d6513df
 * proves: mpi/coll/meet.c mpi_meet_wait_until 05596bcff677
 * proves: mpi/coll/meet.c must_look 5e5f79804312
 * proves: mpi/coll/brief.c is_last 96b504183e36
 * proves: mpi/coll/brief.c opens_soon c5647cd9eee0
 * proves: mpi/coll/brief.c mpi_brief_barrier ef22aaa53dba
 * proves: mpi/coll/brief.c mpi_brief_allreduce 5424ae1516f3
 * proves: mpi/coll/brief.c fold_and_open cd1526516de0
 * proves: mpi/coll/meet_coll.c meet_near c379b19c96e0
 * proves: mpi/coll/meet_coll.c meet_far ab1b54c3d482
 * proves: mpi/coll/meet_coll.c run 11c3471680dc
 *
 * run: -DRANKS=2 -DROUNDS=4
 * run: -DRANKS=3 -DROUNDS=3
 * run: -DRANKS=3 -DROUNDS=3 -DLEADER
 * run: -DRANKS=3 -DROUNDS=3 -DLANES=2
 * run: -DRANKS=3 -DROUNDS=3 -DLANES=2 -DBRIEF
 * mutation: -DRANKS=2 -DROUNDS=3 -DONE_TURN
 * mutation: -DRANKS=3 -DROUNDS=2 -DNO_SECOND_LOOK
 * mutation: -DRANKS=3 -DROUNDS=2 -DNO_WAKE
 * mutation: -DRANKS=3 -DROUNDS=2 -DLEADER -DNO_WAKE_BY_LAST
 * mutation: -DRANKS=3 -DROUNDS=2 -DCOUNT_NOT_ATOMIC
 * mutation: -DRANKS=3 -DROUNDS=3 -DRESET_AFTER_OPENING
 * mutation: -DRANKS=3 -DROUNDS=2 -DCLEAR_BEFORE_CHANGE
 * mutation: -DRANKS=3 -DROUNDS=3 -DLANES=2 -DRESET_AFTER_OPENING
 * mutation: -DRANKS=3 -DROUNDS=2 -DLANES=2 -DBRIEF -DOPEN_BEFORE_FOLDING
 * mutation: -DRANKS=3 -DROUNDS=2 -DBRIEF -DLAY_AFTER_COMING
 * search: -DSAFETY -DCOLLAPSE
 * pan: -m200000
 */
#if defined(ONE_TURN) || defined(BRIEF)
#define TURN(r) 0
#else
#define TURN(r) ((r) % 2)
#endif

#ifdef LEADER
#define OPENS(last) (_pid == 0)
#else
#define OPENS(last) (last)
#endif

/* shared words */
byte arrived, epoch;
#ifdef LANES
byte lane[LANES];			/* of those who have come */
#define ALL LANES
#define RESET arrived = 0; lane[0] = 0; lane[1] = 0
#else
#define ALL RANKS
#define RESET arrived = 0
#endif
bool drowsy;
bool sleeping[RANKS];
bool token[RANKS];			/* a wake-up that came before its sleep is remembered */

/* memory that they order */
byte seat[2 * RANKS];
byte table[2];

inline wake_all() {
	d_step {
		i = 0;
		do
		:: i < RANKS -> if :: sleeping[i] -> token[i] = true :: else fi; i++
		:: else -> break
		od;
		i = 0
	}
}

/* mpi_meet_wake */
inline wake() {
#ifdef NO_WAKE
	skip
#else
	if
	:: drowsy -> drowsy = false; wake_all()
	:: else
	fi
#endif
}

/* wait_until: leaves when `there` holds; a rank may sleep at once or look many times */
#define WAIT(there) \
	do \
	:: there -> break \
	:: else -> \
		if \
		:: !drowsy -> drowsy = true \
		:: drowsy -> skip \
		fi; \
		sleeping[_pid] = true; \
		if \
		:: SECOND_LOOK(there) -> skip \
		:: else -> token[_pid]; token[_pid] = false \
		fi; \
		sleeping[_pid] = false \
	od

#ifdef NO_SECOND_LOOK
#define SECOND_LOOK(there) false
#else
#define SECOND_LOOK(there) (there || !drowsy)
#endif

inline open() {
#ifdef RESET_AFTER_OPENING
	epoch = old + 1;
	RESET;
#else
	RESET;
#ifdef CLEAR_BEFORE_CHANGE
	if
	:: drowsy -> drowsy = false; wake_all()
	:: else
	fi;
#endif
	epoch = old + 1;
#endif
#ifndef CLEAR_BEFORE_CHANGE
	wake()
#endif
}

active [RANKS] proctype rank() {
	byte round, old, i, seen;
	bool last;

	do
	:: round == ROUNDS -> break
	:: else ->
#ifndef LAY_AFTER_COMING
		seat[TURN(round) * RANKS + _pid] = round + 1;
#endif
		old = epoch;
#ifdef COUNT_NOT_ATOMIC
		seen = arrived;
		arrived = seen + 1;
		last = seen + 1 == RANKS;
		seen = 0;
#else
#ifdef LANES
		d_step { lane[_pid % LANES]++; last = lane[_pid % LANES] == (RANKS - _pid % LANES + LANES - 1) / LANES };
		if
		:: last -> d_step { arrived++; last = arrived == LANES }
		:: else
		fi;
#else
		d_step { arrived++; last = arrived == RANKS };
#endif
#endif
#ifdef LAY_AFTER_COMING
		seat[TURN(round) * RANKS + _pid] = round + 1;
#endif
		if
		:: OPENS(last) ->
#ifdef LEADER
			WAIT(arrived == ALL);
#endif
#ifdef OPEN_BEFORE_FOLDING
			open();
#endif
			i = 0;
			do
			:: i < RANKS -> assert(seat[TURN(round) * RANKS + i] == round + 1); i++
			:: else -> break
			od;
			i = 0;
			table[TURN(round)] = round + 1;
#ifndef OPEN_BEFORE_FOLDING
			open()
#endif
		:: else ->
#ifdef LEADER
#ifndef NO_WAKE_BY_LAST
			if
			:: last -> wake()
			:: else
			fi;
#endif
#endif
			WAIT(epoch != old)
		fi;
		/* take */
		assert(table[TURN(round)] == round + 1);
#ifndef BRIEF
		i = 0;
		do
		:: i < RANKS -> assert(seat[TURN(round) * RANKS + i] == round + 1); i++
		:: else -> break
		od;
#endif
		i = 0;
		old = 0;
		last = false;
		round++
	od
}
