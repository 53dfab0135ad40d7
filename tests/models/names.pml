/* SPDX-License-Identifier: MIT
 *
 * A slot of the table of names: one writer writes a name and its place (two words here) again and
 * again, between an odd version and an even one. Readers look at the version, at the words, and at
 * the version again, and believe the words if both versions are the same even one. What the writer
 * stores becomes visible at any later time, stores to different words in any order, but not across
 * a fence; what a reader looks at between two fences it looks at in any order. Looks at one word
 * never go back.
 *
 * Shown: a reader that believes what it has read has read two words that were written together.
 *
 * proves: servers/name/cache.c slot_read e39b6357c81a
 * proves: servers/name/cache.c slot_write 2e1932ef067e
 *
 * run: -DWRITES=2
 * run: -DWRITES=3
 * mutation: -DWRITES=2 -DNO_FENCE_AFTER_ODD
 * mutation: -DWRITES=2 -DNO_FENCE_BEFORE_EVEN
 * mutation: -DWRITES=2 -DNO_FENCE_AFTER_FIRST_LOOK
 * mutation: -DWRITES=2 -DNO_FENCE_BEFORE_SECOND_LOOK
 * mutation: -DWRITES=2 -DNO_SECOND_LOOK
 * mutation: -DWRITES=2 -DNO_ODD
 * mutation: -DWRITES=2 -DODD_IS_BELIEVED
 */
#define VERSION 0
#define WORDS 3				/* the version and two words */
#define STORES 6			/* of the writer that are not visible yet */

byte memory[WORDS];
byte store_word[STORES];		/* the oldest first */
byte store_value[STORES];
byte store_fences[STORES];		/* fences before it */
byte stores;
byte fences;

inline store(word, value) {
	atomic {
		stores < STORES;
		store_word[stores] = word;
		store_value[stores] = value;
		store_fences[stores] = fences;
		stores++
	}
}

inline fence() {
	fences++
}

/* A store may become visible when none before it is to the same word, or before a fence. */
active proctype network() {
	byte i, j;
	bool may;

end:
	do
	:: atomic {
		stores > 0 ->
		if
		:: i = 0
		:: stores > 1 -> i = 1
		:: stores > 2 -> i = 2
		:: stores > 3 -> i = 3
		:: stores > 4 -> i = 4
		:: stores > 5 -> i = 5
		fi;
		may = true;
		j = 0;
		do
		:: j < i ->
			if
			:: store_word[j] == store_word[i] || store_fences[j] < store_fences[i] -> may = false
			:: else
			fi;
			j++
		:: else -> break
		od;
		if
		:: may ->
			memory[store_word[i]] = store_value[i];
			j = i;
			do
			:: j + 1 < stores ->
				store_word[j] = store_word[j + 1];
				store_value[j] = store_value[j + 1];
				store_fences[j] = store_fences[j + 1];
				j++
			:: else -> break
			od;
			stores--
		:: else
		fi;
		i = 0;
		j = 0
	}
	od
}

/* slot_write */
active proctype writer() {
	byte n;

	do
	:: n == WRITES -> break
	:: else ->
		n++;
#ifndef NO_ODD
		store(VERSION, 2 * n - 1);
#endif
#ifndef NO_FENCE_AFTER_ODD
		fence();
#endif
		store(1, n);
		store(2, n);
#ifndef NO_FENCE_BEFORE_EVEN
		fence();
#endif
		store(VERSION, 2 * n)
	od
}

/* slot_read: look[0] and look[3] are at the version; those of a stretch are done in any order. */
active proctype reader() {
	byte seen[4];
	bool done[4];

#ifdef NO_FENCE_AFTER_FIRST_LOOK
#define FIRST_MAY (!done[0])
#define WORD_MAY(i) (!done[i])
#else
#define FIRST_MAY (!done[0])
#define WORD_MAY(i) (!done[i] && done[0])
#endif
#ifdef NO_FENCE_BEFORE_SECOND_LOOK
#define SECOND_MAY (!done[3] && done[0])
#else
#define SECOND_MAY (!done[3] && done[0] && done[1] && done[2])
#endif
	do
	:: atomic { FIRST_MAY -> seen[0] = memory[VERSION]; done[0] = true }
	:: atomic { WORD_MAY(1) -> seen[1] = memory[1]; done[1] = true }
	:: atomic { WORD_MAY(2) -> seen[2] = memory[2]; done[2] = true }
	:: atomic { SECOND_MAY -> seen[3] = memory[VERSION]; done[3] = true }
	:: done[0] && done[1] && done[2] && done[3] -> break
	od;
	if
#ifdef NO_SECOND_LOOK
	:: seen[0] % 2 == 0 ->
#else
#ifdef ODD_IS_BELIEVED
	:: seen[0] == seen[3] ->
#else
	:: seen[0] == seen[3] && seen[0] % 2 == 0 ->
#endif
#endif
		assert(seen[1] == seen[2])
	:: else
	fi
}
