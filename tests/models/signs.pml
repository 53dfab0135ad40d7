/* SPDX-License-Identifier: MIT
 *
 * Signs: ranks that work in rounds, each showing the number of its round on one of TURNS signs, with data beside it. In every round one rank, chosen
 * anew, gives (a broadcast) or all give (an allreduce); who only takes waits for the giver alone, so that ranks are rounds apart. The words are in
 * one total order, as they are in the code; data is plain memory, which they order.
 *
 * Shown: who takes data of a round finds what was laid there in that round, though signs and data are used again; no wake-up is lost (all reach
 * their end).
 *
 * proves: mpi/coll/signs.h mpi_signs_room 301282b400b0
 * proves: mpi/coll/signs.h mpi_signs_show f13b45c0b0b3
 * proves: mpi/coll/signs.h mpi_signs_wait 93a4d0cd2715
 * proves: mpi/coll/signs.c mpi_signs_wait_longer 51a250bfa0a9
 * proves: mpi/coll/signs.c wait_for_all 84f469eebab2
 * proves: mpi/coll/signs.c mpi_signs_wait_for_room 083950d3dba1
 * proves: mpi/coll/signs.c has_shown f85aa62f82b9
 *
 * run: -DRANKS=2 -DROUNDS=5
 * run: -DRANKS=3 -DROUNDS=2
 * mutation: -DRANKS=2 -DROUNDS=5 -DNO_ROOM
 * mutation: -DRANKS=2 -DROUNDS=5 -DTURNS_TOO_MANY
 * mutation: -DRANKS=2 -DROUNDS=3 -DNO_SECOND_LOOK
 * mutation: -DRANKS=2 -DROUNDS=3 -DNO_WAKE
 * mutation: -DRANKS=2 -DROUNDS=3 -DLOOK_BEFORE_SHOWING
 * mutation: -DRANKS=2 -DROUNDS=3 -DSHOW_BEFORE_LAYING
 * search: -DSAFETY -DCOLLAPSE
 * pan: -m200000
 */
#define TURNS 2
#define AT(round, rank) ((round) % TURNS * RANKS + (rank))

byte sign[TURNS * RANKS];		/* rounds count from 1 */
byte data[TURNS * RANKS];
byte how[ROUNDS + 1];			/* who gives in a round (1 ...), or RANKS + 1: all; 0: not chosen yet */
bool drowsy;
bool sleeping[RANKS];
bool token[RANKS];			/* a wake-up that came before its sleep is remembered */

/* mpi_meet_wake */
inline wake() {
	if
	:: drowsy ->
		drowsy = false;
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
#define SECOND_LOOK(there) (there || !drowsy)
#endif

/* mpi_meet_wait_until */
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

inline wait_for_all(shown) {
	j = 0;
	do
	:: j == RANKS -> break
	:: else ->
		WAIT((j == _pid || sign[AT(shown, j)] >= shown));
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
	sign[AT(round, _pid)] = round
#else
	sign[AT(round, _pid)] = round;
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
	WAIT(sign[AT(round, from)] >= round);
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
