/* SPDX-License-Identifier: MIT
 *
 * A page of a window that is lent to another cluster as a channel, and is used again and again: the
 * maker M makes the channel and closes it at any time; at U, whoever reads at the port opens it or
 * not, maps it, lets a core look at it, unmaps it and closes it at any time. Home cores do one
 * thing at a time, events of the pair keep their order. With DEATH cluster U counts as dead at some
 * moment, though its cores may still run; later it is stopped, and its next life is met. With
 * NEVER_UNMAPS the process that has opened it does not give it up by itself.
 *
 * Shown: when the page is free for somebody else no core of U can reach it; nothing of one channel
 * is taken for another; in the end it is free, whoever closes first.
 *
 * proves: kernel/ikc/channel.c offered 671f53e54826
 * proves: kernel/ikc/channel.c closed 54fe4bb07b8f
 * proves: kernel/ikc/channel.c come_back bff664ca8f2f
 * proves: kernel/ikc/channel.c channel_leave 8f926111f128
 * proves: kernel/ikc/channel.c channel_unreferenced adf80d4e213b
 * proves: kernel/ikc/channel.c channel_left 4f02676c0d76
 * proves: kernel/ikc/channel.c part 46f9d3b4b56c
 * proves: kernel/ikc/channel.c channel_peer_changed c96aa8f4e819
 *
 * run: -DROUNDS=3
 * run: -DROUNDS=3 -DNEVER_UNMAPS
 * run: -DROUNDS=2 -DDEATH
 * mutation: -DROUNDS=2 -DFREE_WITHOUT_ANSWER
 * mutation: -DROUNDS=2 -DANSWERS_BEFORE_THE_SHOOT_DOWN
 * mutation: -DROUNDS=2 -DANSWERS_WHILE_MAPPED
 * mutation: -DROUNDS=2 -DUNMAPPED_IS_AWAY
 * mutation: -DROUNDS=2 -DNO_ANSWER_FOR_WHAT_IS_NOT_OPEN
 * mutation: -DROUNDS=2 -DASKS_FOR_WHAT_IS_GONE
 * mutation: -DROUNDS=2 -DNEVER_UNMAPS -DTAKES_NOTHING_AWAY
 * mutation: -DROUNDS=2 -DDEATH -DFREE_AT_DEATH
 * mutation: -DROUNDS=2 -DDEATH -DEVENTS_OF_THE_DEAD_COUNT
 */
mtype = { OFFER, CLOSE, GONE, NONE, OFFERED, OPEN };

chan to_u = [4] of { mtype, byte };	/* and, as a ghost, which channel it is about */
chan to_m = [4] of { mtype, byte };

/* M */
bool in_use, named, away;
byte made;			/* channels so far: the page is that of this one */
bool dead, met;			/* U: what M believes */

/* U */
mtype far = NONE;
byte which;			/* ghost: which channel U has */
bool held, mapped, leaving;
bool sweeping;			/* a shoot-down runs */
bool known;			/* a core of U may reach the page */

inline free_page() {
	assert(!known && !mapped);
	in_use = false
}

proctype maker() {
	do
	:: atomic { !in_use && made < ROUNDS && !dead ->
		made++;
		in_use = true; named = true; away = true;
		to_u!OFFER, made }
	:: atomic { named ->
		named = false;
		if
#ifdef FREE_WITHOUT_ANSWER
		:: true -> to_u!CLOSE, made; away = false; free_page()
#else
		:: away && !dead -> to_u!CLOSE, made
		:: away && dead -> skip
		:: !away ->
#ifdef ASKS_FOR_WHAT_IS_GONE
			to_u!CLOSE, made
#else
			free_page()
#endif
#endif
		fi }
	:: atomic { nempty(to_m) && (!dead
#ifdef EVENTS_OF_THE_DEAD_COUNT
		|| true
#endif
		) ->
		byte about = 0;
		to_m?GONE, about;
		assert(about == made && away);	/* none of an earlier channel, none twice */
		away = false;
		if
		:: !named -> free_page()
		:: else
		fi;
		about = 0 }
	/* channel_peer_changed: the next life is met */
	:: atomic { dead && met && in_use && away ->
		away = false;
		if
		:: !named -> free_page()
		:: else
		fi }
#ifdef FREE_AT_DEATH
	:: atomic { dead && !met && in_use && !named && away -> away = false; free_page() }
#endif
	:: atomic { made == ROUNDS && !in_use -> break }
	:: atomic { dead && met && !in_use -> break }
	od
}

/* Home of U: events, and the chore. */
inline answer() {
	to_m!GONE, which;
	far = NONE;
	which = 0
}

#define RUNS (!dead)

proctype home() {
	byte about = 0;

end:	do
	:: atomic { RUNS && nempty(to_u) ->
		if
		:: to_u?OFFER, about ->
			assert(far == NONE);
			which = about;
			far = OFFERED;
			if
			:: true
			:: true -> answer()	/* nobody has the port */
			fi
		:: to_u?CLOSE, about ->
			if
			:: far == OPEN -> assert(about == which); leaving = true
			:: far == OFFERED ->
				assert(about == which);
#ifndef NO_ANSWER_FOR_WHAT_IS_NOT_OPEN
				answer()
#else
				far = NONE; which = 0
#endif
			:: far == NONE
			fi
		fi;
		about = 0 }
#ifndef TAKES_NOTHING_AWAY
	:: atomic { RUNS && leaving && mapped -> mapped = false; sweeping = true }
#endif
	/* the cores acknowledge */
	:: atomic { RUNS && sweeping -> sweeping = false; known = mapped }
	:: atomic { (RUNS && leaving
#ifndef ANSWERS_WHILE_MAPPED
		&& !mapped
#endif
#ifndef ANSWERS_BEFORE_THE_SHOOT_DOWN
		&& !sweeping
#endif
		) -> leaving = false; answer() }
	od
}

/* A process of U, and a core that runs it. */
proctype taker() {
end:	do
	:: atomic { RUNS && far == OFFERED -> far = OPEN; held = true }
	:: atomic { RUNS && held && !mapped && far == OPEN && !leaving -> mapped = true }
	:: atomic { mapped && !known -> known = true }	/* also when the cluster only seems to be dead */
#ifndef NEVER_UNMAPS
	/* page_unmap, and the record of the mapping is gone */
	:: atomic { RUNS && mapped && !sweeping ->
		mapped = false;
		sweeping = true;
		if
		:: !held -> leaving = true
		:: else
		fi }
#endif
	/* handle_close */
	:: atomic { RUNS && held ->
		held = false;
		if
#ifdef UNMAPPED_IS_AWAY
		:: far == OPEN && !mapped -> leaving = true; sweeping = false
#else
		:: far == OPEN && !mapped -> leaving = true
#endif
		:: else
		fi }
	od
}

#ifdef DEATH
proctype death() {
	dead = true;
	/* its cores are stopped before its next life begins; of its past life no event counts */
	atomic { mapped = false; known = false; met = true }
}
#endif

init {
	atomic {
		run maker();
		run home();
		run taker();
#ifdef DEATH
		run death()
#endif
	}
}
