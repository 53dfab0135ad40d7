/* SPDX-License-Identifier: MIT
 *
 * Sync points: the ONE and PARTNERS other clusters. ALL_TO_ONE: each partner signals ROUNDS times
 * as soon as it may, the ONE waits; with CLOSE it closes its end after a round and makes a new one.
 * TO_ALL: the ONE signals, each partner waits. Each home core does one thing at a time (a step is
 * atomic); events of a pair keep their order, those of different pairs interleave freely. With
 * DEATH partner 0 stops at any moment.
 *
 * Shown: a round takes one signal of each, none is lost or counted twice, also one that comes
 * before the waiting end exists; at most one signal and one answer of a pair are under way; nobody
 * is more than one signal ahead; a signal for a life that is over is not taken by another one;
 * whoever waits goes on: every process reaches its end.
 *
 * proves: kernel/ikc/sync_event.c sync_result c33635f531ec
 * proves: kernel/ikc/sync_event.c changed 4d1dda8025db
 * proves: kernel/ikc/sync_event.c sync_take 9c6d92c256b9
 * proves: kernel/ikc/sync_event.c sync_give 30a3b784d2d0
 * proves: kernel/ikc/sync_event.c sync_begin 5a85c4b48e38
 * proves: kernel/ikc/sync_event.c sync_end 9e95cfeaba60
 * proves: kernel/ikc/sync_event.c on_signal 432e9bee4d80
 * proves: kernel/ikc/sync_event.c on_answer 21c825adf71f
 * proves: kernel/ikc/sync_event.c end_told 07feda3e28da
 * proves: kernel/ikc/sync.c wait_home 8fd681a5a1e9
 * proves: kernel/ikc/sync.c kc_sync_signal f5aa124c99df
 *
 * run: -DROUNDS=3
 * run: -DROUNDS=2 -DCLOSE
 * run: -DROUNDS=2 -DDEATH
 * run: -DROUNDS=3 -DTO_ALL
 * mutation: -DROUNDS=2 -DNO_ANSWER
 * mutation: -DROUNDS=2 -DNO_WAKE_ON_SIGNAL
 * mutation: -DROUNDS=2 -DNO_WAKE_ON_ANSWER
 * mutation: -DROUNDS=2 -DPARKS_WITHOUT_LOOKING
 * mutation: -DROUNDS=2 -DTAKES_WHAT_IS_THERE
 * mutation: -DROUNDS=2 -DSIGNAL_STAYS
 * mutation: -DROUNDS=3 -DSIGNALS_WITHOUT_ANSWER
 * mutation: -DROUNDS=2 -DEARLY_SIGNAL_IS_LOST
 * mutation: -DROUNDS=2 -DEARLY_SIGNAL_IS_MISSING
 * mutation: -DROUNDS=2 -DCLOSE -DCLOSE_REFUSES_NOTHING
 * mutation: -DROUNDS=2 -DCLOSE -DLIVES_ARE_ONE
 * mutation: -DROUNDS=2 -DDEATH -DNO_WAKE_ON_DEATH
 * mutation: -DROUNDS=3 -DTO_ALL -DSIGNALS_WITHOUT_ANSWER
 * mutation: -DROUNDS=2 -DTO_ALL -DNO_WAKE_ON_ANSWER
 * mutation: -DROUNDS=2 -DTO_ALL -DNO_WAKE_ON_SIGNAL
 * pan: -m200000
 */
#define PARTNERS 2
#define TAKEN 1
#define REFUSED 2

/* The rings: a signal says for which life of the waiting end it is (0: any), an answer what it is and of which life. */
chan signal[PARTNERS] = [1] of { byte };
chan answer[PARTNERS] = [1] of { byte, byte };

/* Signalling home: struct sync_pair. */
bool outstanding[PARTNERS];
byte known[PARTNERS];		/* life of the waiting end */
bool broken[PARTNERS];		/* its end says -E_PIPE */
bool giver_waits[PARTNERS], giver_woken[PARTNERS];

/* Waiting home. */
bool pending[PARTNERS];
bool is_open[PARTNERS];		/* ALL_TO_ONE: [0] is for all */
byte life[PARTNERS];
byte missing[PARTNERS];
bool taker_waits[PARTNERS], taker_woken[PARTNERS];

bool dead, told;		/* partner 0 */
bool given_up;			/* by the ONE, for that reason */

/* Ghosts. */
byte given[PARTNERS], taken[PARTNERS], refused[PARTNERS];
byte meant[PARTNERS];		/* life that the signal that is kept is for; 0: any */

#ifdef TO_ALL
#define END(i) i
#define WANTED 1
#else
#define END(i) 0
#define WANTED PARTNERS
#endif

#define IS_DEAD(i) (dead && (i) == 0)

inline reply(i, what) {
	if
	:: IS_DEAD(i)
#ifdef NO_ANSWER
	:: else
#else
	:: else -> assert(nfull(answer[i])); answer[i]!what, life[END(i)]
#endif
	fi
}

/* sync_give for one partner */
inline give(i) {
	assert(nfull(signal[i]));
	outstanding[i] = true;
	given[i]++;
	signal[i]!known[i]
}

inline take_one(i) {
	assert(pending[i]);		/* a round takes one signal of each */
	assert(meant[i] == 0 || meant[i] == life[END(i)]);
	taken[i]++;
	missing[END(i)]++;
#ifndef SIGNAL_STAYS
	pending[i] = false;
#endif
	reply(i, TAKEN)
}

/* on_signal: `e` is the end that it is for */
inline on_signal(i, e, was) {
	signal[i]?was;
	if
#ifdef LIVES_ARE_ONE
	:: is_open[e] || was == 0 ->
#else
	:: (is_open[e] && (was == 0 || was == life[e])) || (!is_open[e] && was == 0) ->
#endif
		assert(!pending[i]);	/* none is counted as another one */
#ifdef EARLY_SIGNAL_IS_LOST
		pending[i] = is_open[e];
#else
		pending[i] = true;
#endif
		meant[i] = was;
		if
		:: is_open[e] ->
			missing[e]--;
			if
#ifndef NO_WAKE_ON_SIGNAL
			:: missing[e] == 0 && taker_waits[e] ->
				taker_waits[e] = false;
				taker_woken[e] = true;
#ifdef TO_ALL
				take_one(i)
#else
				take_one(0);
				take_one(1)
#endif
#endif
			:: else
			fi
		:: else
		fi
	:: else -> refused[i]++; reply(i, REFUSED)
	fi;
	was = 0
}

/* on_answer */
inline on_answer(i, e, what, lives) {
	answer[i]?what, lives;
	outstanding[i] = false;
	if
	:: what == TAKEN -> known[i] = lives
	:: else -> broken[i] = true
	fi;
#ifndef NO_WAKE_ON_ANSWER
	if
#ifdef TO_ALL
	:: giver_waits[e] && !outstanding[0] && !outstanding[1] -> giver_waits[e] = false; giver_woken[e] = true
#else
	:: giver_waits[e] -> giver_waits[e] = false; giver_woken[e] = true
#endif
	:: else
	fi;
#endif
	what = 0;
	lives = 0
}

/* sync_begin */
inline begin(e) {
	life[e]++;
	is_open[e] = true;
#ifdef EARLY_SIGNAL_IS_MISSING
	missing[e] = WANTED
#else
#ifdef TO_ALL
	missing[e] = 1 - pending[e]
#else
	missing[e] = 2 - pending[0] - pending[1]
#endif
#endif
}

/* sync_wait at the waiting end of partner (TO_ALL) or of the ONE (e is 0) */
inline wait(e, ok) {
	atomic {
	taker_woken[e] = false;
	if
#ifndef PARKS_WITHOUT_LOOKING
#ifdef TAKES_WHAT_IS_THERE
	:: missing[e] < WANTED ->
#else
	:: missing[e] == 0 ->
#endif
#ifdef TO_ALL
		take_one(e);
#else
		take_one(0);
		take_one(1);
#endif
		taker_woken[e] = true
#endif
	:: else -> taker_waits[e] = true
	fi };
	atomic { (taker_woken[e] || (told && !taker_waits[e]) || (told && missing[e] > 0
#ifdef NO_WAKE_ON_DEATH
		&& false
#endif
		)) ->
		ok = taker_woken[e];
		taker_waits[e] = false }
}

#ifndef TO_ALL
/* A partner signals; when its end is broken it opens another. */
proctype partner(byte i) {
	byte left = ROUNDS;
	bool done;

	do
	:: left == 0 || IS_DEAD(i) || given_up -> break
	:: else ->
		atomic {
		done = false;
		if
		:: broken[i] -> broken[i] = false; known[i] = 0;
			/* the signal that was refused counts for nobody */
			left = left + refused[i]; refused[i] = 0
#ifdef SIGNALS_WITHOUT_ANSWER
		:: !broken[i] ->
#else
		:: !broken[i] && !outstanding[i] ->
#endif
			give(i); left--; done = true
		:: else -> giver_waits[i] = true; giver_woken[i] = false
		fi };
		if
		:: giver_waits[i] || giver_woken[i] -> (giver_woken[i] || IS_DEAD(i) || given_up); giver_woken[i] = false
		:: else
		fi;
#ifdef CLOSE
		/* the last signal may still be refused */
		if
		:: left == 0 -> (!outstanding[i]); left = left + refused[i];
			atomic { if :: broken[i] -> broken[i] = false; known[i] = 0; refused[i] = 0 :: else fi }
		:: else
		fi
#endif
	od
}

proctype one() {
	byte rounds = 0;
	bool ok = true;

	atomic { begin(0) };
	do
	:: rounds == ROUNDS || !ok -> break
	:: else ->
		wait(0, ok);
		if
		:: ok ->
			rounds++;
			assert(taken[0] == rounds && taken[1] == rounds);
			assert(given[0] + given[1] >= 2 * rounds)
		:: else
		fi;
#ifdef CLOSE
		if
		:: rounds == 1 && ok ->
			atomic {
				/* sync_end */
				is_open[0] = false;
#ifndef CLOSE_REFUSES_NOTHING
				if
				:: pending[0] -> pending[0] = false; refused[0]++; reply(0, REFUSED)
				:: else
				fi;
				if
				:: pending[1] -> pending[1] = false; refused[1]++; reply(1, REFUSED)
				:: else
				fi
#endif
			};
			atomic { begin(0) }
		:: else
		fi
#endif
	od;
	assert(ok || dead);
	given_up = !ok
}
#else
/* The ONE signals all as soon as it may. */
proctype one() {
	byte left = ROUNDS;

	do
	:: left == 0 -> break
	:: else ->
		atomic {
		if
#ifdef SIGNALS_WITHOUT_ANSWER
		:: true ->
#else
		:: !outstanding[0] && !outstanding[1] ->
#endif
			give(0); give(1); left--
		:: else -> giver_waits[0] = true; giver_woken[0] = false
		fi };
		if
		:: giver_waits[0] || giver_woken[0] -> giver_woken[0]; giver_woken[0] = false
		:: else
		fi
	od
}

proctype partner(byte i) {
	byte rounds = 0;
	bool ok;

	atomic { begin(i) };
	do
	:: rounds == ROUNDS -> break
	:: else ->
		wait(i, ok);
		rounds++;
		assert(ok && taken[i] == rounds && given[i] >= rounds && given[i] <= rounds + 1)
	od
}
#endif

proctype events() {
	byte was, what, lives;

end:	do
	:: atomic { nempty(signal[0]) -> on_signal(0, END(0), was) }
	:: atomic { nempty(signal[1]) -> on_signal(1, END(1), was) }
#ifdef TO_ALL
	:: atomic { nempty(answer[0]) -> on_answer(0, 0, what, lives) }
	:: atomic { nempty(answer[1]) -> on_answer(1, 0, what, lives) }
#else
	:: atomic { nempty(answer[0]) && !dead -> on_answer(0, 0, what, lives) }
	:: atomic { nempty(answer[1]) -> on_answer(1, 1, what, lives) }
#endif
	od
}

#ifdef DEATH
proctype death() {
	dead = true;
	told = true
}
#endif

init {
	atomic {
		run one();
		run partner(0);
		run partner(1);
		run events();
#ifdef DEATH
		run death()
#endif
	}
}
