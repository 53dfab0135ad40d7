/* SPDX-License-Identifier: MIT
 *
 * Non-blocking collectives with flags: each call has a round; a rank may have several on its way,
 * shows its rounds in order, and is over with them in any order. In every round one rank, chosen
 * anew, gives (a broadcast) or all give (an allreduce). A rank that is over with all rounds before
 * one shows that, but not before OVER of them are new, by a word of its own, and beside each flag
 * that it shows at once; who has seen all flags of a round looks at both. The words are in one
 * total order, as they are in the code; data is plain memory.
 *
 * LARGE is a round whose data lies where there is room for one round only: who starts it shows what
 * is over, and shows each round that is while it is open.
 *
 * Shown: who takes data of a round finds what was laid there in that round, though flags and data
 * are used again; no wake-up is lost, and room always comes up (all reach their end, whoever sleeps
 * when).
 *
 * proves: mpi/coll/rounds.h rounds_show_over 0ee8a03867b2
 * proves: mpi/coll/rounds.h rounds_show_over_with_flag 7a5920466a14
 * proves: mpi/coll/rounds.h rounds_over_on 476c91a4fafd
 * proves: mpi/coll/rounds.h rounds_look_what_is_over 0da4bb91910d
 * proves: mpi/coll/rounds.h rounds_buffer_is_free b0ff934fd46c
 * proves: mpi/coll/rounds.h rounds_is_shown 2413a94871a3
 * proves: mpi/coll/started_coll.c over_before b7506ea4938b
 * proves: mpi/coll/started_coll.c all_wait_for_all 4815eec78c9c
 * proves: mpi/coll/started_coll.c give 2bb7e279cfcb
 * proves: mpi/coll/started_coll.c take_part 2a31e319945e
 * proves: mpi/coll/started_coll.c started_room 5de04d714f77
 * proves: mpi/coll/flags_fast.c start_bcast f068b4ff4ed7
 * proves: mpi/coll/flags_fast.c start_large_bcast a5f7bdbc6ab0
 * proves: mpi/coll/flags_fast.c mpi_flags_start_bcast cf737516ce82
 * proves: mpi/coll/started_coll.c givers_have_come 8554f538b97b
 * proves: mpi/coll/started_coll.c can_give f8041c751b6b
 * proves: mpi/coll/started_coll.c step a735658a6712
 * proves: mpi/coll/started_coll.c finish c050d00992f9
 * proves: mpi/coll/started_coll.c started_can_move abf133bddfa7
 * proves: mpi/coll/flags.h mpi_flags_show d503e4caa6d2
 *
 * run: -DRANKS=2 -DROUNDS=3
 * run: -DRANKS=2 -DROUNDS=4 -DFEW_WAYS
 * run: -DRANKS=2 -DROUNDS=3 -DLARGE=2
 * run: -DRANKS=2 -DROUNDS=3 -DLARGE=3
 * mutation: -DRANKS=2 -DROUNDS=3 -DNO_ROOM
 * mutation: -DRANKS=2 -DROUNDS=4 -DFEW_WAYS -DOVER_WITH_THE_LAST
 * mutation: -DRANKS=2 -DROUNDS=3 -DOVER=3
 * mutation: -DRANKS=2 -DROUNDS=4 -DFEW_WAYS -DFLAG_SAYS_ALL_BEFORE_IT
 * mutation: -DRANKS=2 -DROUNDS=3 -DLARGE=3 -DNOTHING_AT_THE_START
 * mutation: -DRANKS=2 -DROUNDS=3 -DLARGE=3 -DNOTHING_WHILE_IT_IS_OPEN
 * mutation: -DRANKS=2 -DROUNDS=3 -DOUT_OF_ORDER
 * mutation: -DRANKS=2 -DROUNDS=3 -DNO_SECOND_LOOK
 * mutation: -DRANKS=2 -DROUNDS=3 -DNO_HAS_SLEEPERS
 * mutation: -DRANKS=2 -DROUNDS=3 -DNO_WAKE_WHEN_OVER
 * mutation: -DRANKS=2 -DROUNDS=3 -DSHOW_BEFORE_LAYING
 * pan: -m200000
 */
#ifndef TURNS
#define TURNS 2
#endif
#define LAST ROUNDS
#define AT(round, rank) ((round) % TURNS * RANKS + (rank))
#ifndef OVER
#define OVER 2
#endif

#ifndef LARGE
#define LARGE 0
#endif
#define PLACE(round, rank) ((round) == LARGE -> TURNS * RANKS + (rank) : AT(round, rank))
#define TURNS_OF(round) ((round) == LARGE -> 1 : TURNS)

byte flag[TURNS * RANKS];		/* rounds count from 1 */
byte data[TURNS * RANKS + RANKS];	/* those of a large round apart */
byte before[RANKS];			/* all rounds before this one are over there */
byte with_flag[TURNS * RANKS];		/* the same, beside a flag */
byte how[ROUNDS + 1];			/* who gives in a round (1 ...), or RANKS + 1: all; 0: not chosen yet */
bool has_sleepers;
bool sleeping[RANKS];
bool token[RANKS];			/* a wake-up that came before its sleep is remembered */

/* mpi_central_wake */
inline wake() {
	if
	:: has_sleepers ->
		has_sleepers = false;
		d_step {
			i = 0;
			do
			:: i < RANKS -> if :: sleeping[i] -> token[i] = true :: else fi; i++
			:: else -> break
			od;
			i = 0
		}
	:: else
	fi
}

#define GIVES(round) (how[round] == _pid + 1 || how[round] == RANKS + 1)
#define SHOWN(round, rank) ((rank) >= RANKS || (rank) == _pid || flag[AT(round, rank)] >= (round))
#define ALL_SHOWN(round) (SHOWN(round, 0) && SHOWN(round, 1) && SHOWN(round, 2))
#define CAME(round) (how[round] == RANKS + 1 && ALL_SHOWN(round) || \
	how[round] <= RANKS && SHOWN(round, how[round] - 1))
#define OVER_ON(round, rank) ((rank) >= RANKS || before[rank] + TURNS_OF(round) > (round) || \
	(round) - seen_round < TURNS && with_flag[AT(seen_round, rank)] + TURNS_OF(round) > (round))
#ifdef NO_ROOM
#define ROOM(round) true
#else
#define ROOM(round) (OVER_ON(round, 0) && OVER_ON(round, 1) && OVER_ON(round, 2))
#endif
#ifdef OUT_OF_ORDER
#define CAN_GIVE(round) ((round) <= started && !given[round] && (!GIVES(round) || ROOM(round)))
#else
#define CAN_GIVE(round) ((round) <= started && !given[round] && given[round - 1] && (!GIVES(round) || ROOM(round)))
#endif
#define CAN_TAKE(round) ((round) <= started && given[round] && !over[round] && CAME(round))
#define CAN_MOVE(round) ((round) <= ROUNDS && (CAN_GIVE(round) || CAN_TAKE(round)))
#define CAN_GO_ON (CAN_MOVE(1) || CAN_MOVE(2) || CAN_MOVE(3) || CAN_MOVE(LAST))
#define IS_OVER(round) ((round) > started || over[round])
#define ALL_OVER (IS_OVER(1) && IS_OVER(2) && IS_OVER(3) && IS_OVER(LAST))

/* all before this one are over here */
inline first_open(into) {
	into = 1;
	do
	:: into <= started && over[into] -> into++
	:: else -> break
	od
}

inline give(round) {
	d_step {
		first_open(j);
#ifdef FLAG_SAYS_ALL_BEFORE_IT
		j = round
#endif
	};
#ifndef SHOW_BEFORE_LAYING
	if :: GIVES(round) -> data[PLACE(round, _pid)] = round :: else fi;
#endif
	with_flag[AT(round, _pid)] = j;
	j = 0;
	flag[AT(round, _pid)] = round;
	wake();
#ifdef SHOW_BEFORE_LAYING
	if :: GIVES(round) -> data[PLACE(round, _pid)] = round :: else fi;
#endif
	given[round] = true
}

inline show_over(round, most) {
	d_step {
#ifdef OVER_WITH_THE_LAST
		j = round + 1;
#else
		first_open(j);
#endif
		k = j - before[_pid];
		j = (k >= most && k < 100 -> j : 0);
		k = 0
	}
	if
	:: j != 0 ->
		before[_pid] = j;
#ifndef NO_WAKE_WHEN_OVER
		wake();
#endif
	:: else
	fi;
	j = 0
}

inline take(round) {
	k = 0;
	do
	:: k == RANKS -> break
	:: else ->
		if
		:: k != _pid && (how[round] == k + 1 || how[round] == RANKS + 1) ->
			assert(data[PLACE(round, k)] == round)
		:: else
		fi;
		k++
	od;
	k = 0;
	if
	:: how[round] == RANKS + 1 -> seen_round = round
	:: else
	fi;
	over[round] = true;
	show_over(round, now);
	if
	:: ALL_OVER -> now = OVER
	:: else
	fi
}

/* started_room */
inline start(round) {
	if
	:: round == LARGE ->
#ifndef NOTHING_WHILE_IT_IS_OPEN
		now = 1;
#endif
#ifndef NOTHING_AT_THE_START
		show_over(started, 1)
#endif
	:: else
	fi
}

inline choose(round) {
	atomic {
		if
		:: how[round] == 0 ->
			if
			:: how[round] = 1
#ifndef FEW_WAYS
			:: how[round] = RANKS
#endif
			:: how[round] = RANKS + 1
			fi
		:: else
		fi
	}
}

/* transport_idle with started_can_move */
inline sleep() {
	sleeping[_pid] = true;
#ifndef NO_HAS_SLEEPERS
	has_sleepers = true;
#endif
	if
#ifndef NO_SECOND_LOOK
	:: CAN_GO_ON -> skip
	:: else -> token[_pid]; token[_pid] = false
#else
	:: token[_pid] -> token[_pid] = false
#endif
	fi;
	sleeping[_pid] = false
}

active [RANKS] proctype rank() {
	byte started, i, j, k;
	byte now = OVER;		/* rounds that must be new before they are shown */
	byte seen_round;		/* in which all gave, and whose flags this rank has seen */
	bool given[ROUNDS + 2], over[ROUNDS + 2];

	given[0] = true;
	do
	:: started == ROUNDS && ALL_OVER -> break
	:: started < ROUNDS ->
		choose(started + 1);
		start(started + 1);
		started++
	:: CAN_GIVE(1) -> give(1)
	:: CAN_TAKE(1) -> take(1)
	:: CAN_GIVE(2) -> give(2)
	:: CAN_TAKE(2) -> take(2)
	:: CAN_GIVE(3) -> give(3)
	:: CAN_TAKE(3) -> take(3)
#if ROUNDS > 3
	:: CAN_GIVE(4) -> give(4)
	:: CAN_TAKE(4) -> take(4)
#endif
	:: !ALL_OVER && !CAN_GO_ON -> sleep()
	od
}
