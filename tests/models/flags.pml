/* SPDX-License-Identifier: MIT
 *
 * Flags: ranks that work in rounds, each showing the number of its round on one of TURNS flags,
 * with data beside it. In every round one rank, chosen anew, gives (a broadcast) or all give (an
 * allreduce); who only takes waits for the giver alone, so that ranks are rounds apart. The words
 * are in one total order, as they are in the code; data is plain memory, which they order.
 *
 * Shown: who takes data of a round finds what was laid there in that round, though flags and data
 * are used again; no wake-up is lost (all reach their end).
 *
 * proves: mpi/coll/flags.h mpi_flags_buffer 35e15ddde14d
 * proves: mpi/coll/flags.h mpi_flags_show d503e4caa6d2
 * proves: mpi/coll/flags.h mpi_flags_wait a1ab74873ff4
 * proves: mpi/coll/flags.c mpi_flags_wait_longer c61ceda446b3
 * proves: mpi/coll/flags.c wait_for_all 0769fe3b01b8
 * proves: mpi/coll/flags.c mpi_flags_wait_for_buffer d3ac391d7aa0
 * proves: mpi/coll/flags.c has_shown 66d5143a8cfc
 *
 * run: -DRANKS=2 -DROUNDS=5
 * run: -DRANKS=3 -DROUNDS=2
 * mutation: -DRANKS=2 -DROUNDS=5 -DNO_ROOM
 * mutation: -DRANKS=2 -DROUNDS=5 -DTURNS_TOO_MANY
 * mutation: -DRANKS=2 -DROUNDS=3 -DNO_SECOND_LOOK
 * mutation: -DRANKS=2 -DROUNDS=3 -DNO_WAKE
 * mutation: -DRANKS=2 -DROUNDS=3 -DLOOK_BEFORE_SHOWING
 * mutation: -DRANKS=2 -DROUNDS=3 -DSHOW_BEFORE_LAYING
 * pan: -m200000
 */
#define TURNS 2
#define AT(round, rank) ((round) % TURNS * RANKS + (rank))

byte flag[TURNS * RANKS];		/* rounds count from 1 */
byte data[TURNS * RANKS];
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

#ifdef NO_SECOND_LOOK
#define SECOND_LOOK(there) false
#else
#define SECOND_LOOK(there) (there || !has_sleepers)
#endif

/* mpi_central_wait_until */
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

inline wait_for_all(shown) {
	j = 0;
	do
	:: j == RANKS -> break
	:: else ->
		WAIT((j == _pid || flag[AT(shown, j)] >= shown));
		j++
	od;
	j = 0;
	seen = shown
}

inline room() {
#ifdef NO_ROOM
	skip
#else
#ifdef TURNS_TOO_MANY
	if :: round - seen > TURNS -> wait_for_all(round - TURNS / 2) :: else fi
#else
	if :: round - seen >= TURNS -> wait_for_all(round - TURNS / 2) :: else fi
#endif
#endif
}

inline show_round() {
#ifdef LOOK_BEFORE_SHOWING
	wake();
	flag[AT(round, _pid)] = round
#else
	flag[AT(round, _pid)] = round;
#ifndef NO_WAKE
	wake()
#endif
#endif
}

inline give() {
	room();
#ifdef SHOW_BEFORE_LAYING
	show_round();
	data[AT(round, _pid)] = round
#else
	data[AT(round, _pid)] = round;
	show_round()
#endif
}

inline take(from) {
	WAIT(flag[AT(round, from)] >= round);
	assert(data[AT(round, from)] == round)
}

inline choose() {
	atomic {
		if
		:: how[round] == 0 ->
			if
			:: how[round] = 1
			:: how[round] = RANKS
			:: how[round] = RANKS + 1
			fi
		:: else
		fi
	}
}

active [RANKS] proctype rank() {
	byte round, seen, i, j, k;

	do
	:: round == ROUNDS -> break
	:: else ->
		round++;
		choose();
		if
		:: how[round] == RANKS + 1 ->
			give();
			k = 0;
			do
			:: k == RANKS -> break
			:: else -> if :: k != _pid -> take(k) :: else fi; k++
			od;
			k = 0;
			seen = round
		:: how[round] == _pid + 1 -> give()
		:: else ->
			show_round();
			take(how[round] - 1)
		fi
	od
}
