/* SPDX-License-Identifier: MIT
 *
 * Central barriers of the ranks of a cluster, with slots and a table used in turns, and ranks that
 * sleep. The words are in one total order, as they are in the code; slots and the table are plain
 * memory, which the words order. The releasing rank is the last to come, or with -DLEADER always
 * rank 0 (central barriers between clusters). With -DLANES=2 ranks are counted in lanes first; the
 * last one of a lane counts for it, and clears the lane's count before that. With -DSPREAD as well
 * each lane has a word of its own on which it sees that all have come (ranks with a core each),
 * beside which lies a copy of the table, as the result of a fast path of a central barrier does.
 * With -DFAST slots and table are there once: nobody but the releasing rank reads slots (the fast
 * path of central barriers, and all that compute one result).
 *
 * The error of a barrier between clusters is one word beside the table: its leader writes it when
 * all have come, and each rank reads it before it comes again, as with -DFAST.
 *
 * Shown: the releasing rank reads of every slot what was laid there for this barrier; everybody
 * reads the table and all slots of this barrier after it, whatever the others do meanwhile; nobody
 * leaves before all have come; no wake-up is lost (all reach their end).
 *
 * proves: mpi/coll/central.c mpi_central_arrive 065fb551ba3c
 * proves: mpi/coll/central.c mpi_central_wake 671d0fe5808b
 * proves: mpi/coll/central.c mpi_central_release 60d49b528cac
 * proves: mpi/coll/central.c counts_lanes ad9769da0fea
 * proves: mpi/coll/central.c mpi_central_wait_until fc2303009e5a
 * proves: mpi/coll/central.c must_look 980b92ac199d
 * proves: mpi/coll/central_fast.c is_last bfe7ea8a6cca
 * proves: mpi/coll/central_fast.c released_soon 9c44db877ee3
 * proves: mpi/coll/central_fast.c mpi_central_fast_barrier ec974d26ec62
 * proves: mpi/coll/central_fast.c mpi_central_fast_allreduce 62b8a656835b
 * proves: mpi/coll/central_fast.c fold_and_release a0259aa92b9d
 * proves: mpi/coll/central_coll.c central_near 562dc5f02ebd
 * proves: mpi/coll/central_coll.c central_far 5027100e4651
 * proves: mpi/coll/central_coll.c run 9d4c565e5430
 *
 * run: -DRANKS=2 -DROUNDS=4
 * run: -DRANKS=3 -DROUNDS=3
 * run: -DRANKS=3 -DROUNDS=3 -DLEADER
 * run: -DRANKS=3 -DROUNDS=3 -DLANES=2
 * run: -DRANKS=3 -DROUNDS=3 -DLANES=2 -DFAST
 * run: -DRANKS=3 -DROUNDS=3 -DLANES=2 -DSPREAD
 * run: -DRANKS=3 -DROUNDS=3 -DLANES=2 -DSPREAD -DFAST
 * mutation: -DRANKS=2 -DROUNDS=3 -DONE_TURN
 * mutation: -DRANKS=3 -DROUNDS=2 -DNO_SECOND_LOOK
 * mutation: -DRANKS=3 -DROUNDS=2 -DNO_WAKE
 * mutation: -DRANKS=3 -DROUNDS=2 -DLEADER -DNO_WAKE_BY_LAST
 * mutation: -DRANKS=3 -DROUNDS=2 -DCOUNT_NOT_ATOMIC
 * mutation: -DRANKS=3 -DROUNDS=3 -DRESET_AFTER_RELEASE
 * mutation: -DRANKS=3 -DROUNDS=2 -DCLEAR_BEFORE_CHANGE
 * mutation: -DRANKS=3 -DROUNDS=3 -DLANES=2 -DRESET_AFTER_RELEASE
 * mutation: -DRANKS=3 -DROUNDS=3 -DLANES=2 -DLANE_CLEARED_LATE
 * mutation: -DRANKS=3 -DROUNDS=2 -DLANES=2 -DSPREAD -DONE_LANE_ONLY
 * mutation: -DRANKS=3 -DROUNDS=2 -DLANES=2 -DSPREAD -DFAST -DRELEASE_BEFORE_COPY
 * mutation: -DRANKS=3 -DROUNDS=2 -DLANES=2 -DFAST -DRELEASE_BEFORE_FOLDING
 * mutation: -DRANKS=3 -DROUNDS=2 -DFAST -DLAY_AFTER_COMING
 * pan: -m200000
 */
#if defined(ONE_TURN) || defined(FAST)
#define TURN(r) 0
#else
#define TURN(r) ((r) % 2)
#endif

#ifdef LEADER
#define RELEASES(last) (_pid == 0)
#else
#define RELEASES(last) (last)
#endif

/* shared words */
byte arrived;
#ifdef LANES
byte lane[LANES];			/* of those who have come */
#define ALL LANES
#else
#define ALL RANKS
#endif
#define RESET arrived = 0

#ifdef SPREAD
byte release[LANES], result[LANES];
#define EPOCH release[_pid % LANES]
#define RESULT result[_pid % LANES]
#ifdef RELEASE_BEFORE_COPY
#define LET_GO(i) release[i] = old + 1; result[i] = table[TURN(round)]
#else
#define LET_GO(i) result[i] = table[TURN(round)]; release[i] = old + 1
#endif
#ifdef ONE_LANE_ONLY
#define LET_ALL_GO LET_GO(_pid % LANES)
#else
#define LET_ALL_GO LET_GO(0); LET_GO(1)
#endif
#else
byte epoch;
#define EPOCH epoch
#define RESULT table[TURN(round)]
#define LET_ALL_GO epoch = old + 1
#endif
bool has_sleepers;
bool sleeping[RANKS];
bool token[RANKS];			/* a wake-up that came before its sleep is remembered */

/* memory that they order */
byte slot[2 * RANKS];
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

/* mpi_central_wake */
inline wake() {
#ifdef NO_WAKE
	skip
#else
	if
	:: has_sleepers -> has_sleepers = false; wake_all()
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
		:: !has_sleepers -> has_sleepers = true \
		:: has_sleepers -> skip \
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
#define SECOND_LOOK(there) (there || !has_sleepers)
#endif

inline let_go() {
#ifdef RESET_AFTER_RELEASE
	LET_ALL_GO;
	RESET;
#else
	RESET;
#ifdef CLEAR_BEFORE_CHANGE
	if
	:: has_sleepers -> has_sleepers = false; wake_all()
	:: else
	fi;
#endif
	LET_ALL_GO;
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
		slot[TURN(round) * RANKS + _pid] = round + 1;
#endif
		old = EPOCH;
#ifdef COUNT_NOT_ATOMIC
		seen = arrived;
		arrived = seen + 1;
		last = seen + 1 == RANKS;
		seen = 0;
#else
#ifdef LANES
		d_step { lane[_pid % LANES]++; last = lane[_pid % LANES] == (RANKS - _pid % LANES + LANES - 1) / LANES };
		if
		:: last ->
#ifndef LANE_CLEARED_LATE
			lane[_pid % LANES] = 0;
#endif
			d_step { arrived++; last = arrived == LANES };
#ifdef LANE_CLEARED_LATE
			lane[_pid % LANES] = 0
#endif
		:: else
		fi;
#else
		d_step { arrived++; last = arrived == RANKS };
#endif
#endif
#ifdef LAY_AFTER_COMING
		slot[TURN(round) * RANKS + _pid] = round + 1;
#endif
		if
		:: RELEASES(last) ->
#ifdef LEADER
			WAIT(arrived == ALL);
#endif
#ifdef RELEASE_BEFORE_FOLDING
			let_go();
#endif
			i = 0;
			do
			:: i < RANKS -> assert(slot[TURN(round) * RANKS + i] == round + 1); i++
			:: else -> break
			od;
			i = 0;
			table[TURN(round)] = round + 1;
#ifndef RELEASE_BEFORE_FOLDING
			let_go()
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
			WAIT(EPOCH != old)
		fi;
		/* take */
		assert(RESULT == round + 1);
#ifndef FAST
		i = 0;
		do
		:: i < RANKS -> assert(slot[TURN(round) * RANKS + i] == round + 1); i++
		:: else -> break
		od;
#endif
		i = 0;
		old = 0;
		last = false;
		round++
	od
}
