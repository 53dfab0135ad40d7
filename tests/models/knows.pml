/* SPDX-License-Identifier: MIT
 *
 * Shoot-downs skip cores that cannot hold a translation. Home maps and unmaps a page of space P; a
 * core runs threads of P and of Q that home places there, and after the last thread of P stays in
 * its space until it needs another. Home knows which cores had threads of P (`had`), how many each
 * has (its own count), and reads the word `knows` of a core, which says what space it used last. It
 * skips a core that has no thread of P and whose word names another space, and then forgets that it
 * had any.
 *
 * While a core's space is P, its hardware may walk the page table at any moment, whatever the core
 * does. Stores of the core and of home are seen later by others, in the order that the release
 * stores of messages and rings give.
 *
 * Shown: no thread ever uses a page by a translation whose frame was freed; no core that is skipped
 * can walk the tables, which change; a process that is gone has no core left in its space, so that
 * its tables and its entry can be used again.
 *
 * proves: kernel/mem/sweep.c concerns 2fcd7528e1d1
 * proves: kernel/mem/sweep.c sweep_cover eb6956ae33d7
 * proves: kernel/mem/sweep.c sweep_send 88c98e981fe7
 * proves: kernel/mem/sweep.c post_some 9717c92fc537
 * proves: kernel/mem/sweep.c sweep_acknowledge ed0ef55de65a
 * proves: kernel/mem/calls.c shoot_down 93544214c0b1
 * proves: kernel/thread/run.c use_space 0cb0fe4ef8b4
 * proves: kernel/thread/run.c thread_enter 8297aca75949
 * proves: kernel/thread/run.c core_drop_current a0ccccc33fd7
 * proves: kernel/thread/run.c core_evict 2586721ddade
 * proves: kernel/thread/table.c thread_make 50743839c660
 * proves: kernel/thread/table.c thread_unplace 30deac0a2f38
 * proves: hal/cpu/riscv64/mmu.c hal_space_use 6a88e0484c0d
 * proves: hal/cpu/or1k/mmu.c hal_space_use 970fba639c0e
 *
 * run: -DTHREADS=3 -DUNMAPS=2
 * run: -DTHREADS=2 -DUNMAPS=1 -DKILL
 * mutation: -DTHREADS=2 -DUNMAPS=1 -DWORD_BEFORE_THE_SWITCH
 * mutation: -DTHREADS=2 -DUNMAPS=1 -DWORD_NOT_ORDERED
 * mutation: -DTHREADS=2 -DUNMAPS=1 -DWORD_NOT_SET_ON_ENTERING
 * mutation: -DTHREADS=2 -DUNMAPS=1 -DTHREADS_NOT_COUNTED
 * mutation: -DTHREADS=2 -DUNMAPS=1 -DFORGOTTEN_WITH_THE_LAST_THREAD
 * mutation: -DTHREADS=3 -DUNMAPS=1 -DTRANSLATIONS_KEPT
 * mutation: -DTHREADS=2 -DUNMAPS=1 -DTABLE_NOT_PUBLISHED
 * mutation: -DTHREADS=2 -DUNMAPS=1 -DKILL -DACKNOWLEDGED_IN_THE_SPACE
 * mutation: -DTHREADS=2 -DUNMAPS=1 -DKILL -DIDLE_CORE_STAYS
 * pan: -m1000000
 */
#define NONE 0
#define P 1
#define Q 2

/* the page table: which frame the page lies in, as home and as others see it */
byte frame = 1, seen = 1;
byte freed;			/* frames up to this one are free */

/* the core's word, as others see it, and the store of it that they do not see yet */
byte knows, stored;
bool held;

/* the core */
byte mmu;			/* space that its hardware uses */
byte tlb;			/* frame that it remembers for the page of P; 0: none */
byte space;			/* core->space */
byte current;
bool doomed;

/* home */
bool had;
byte placed;			/* threads of P on the core */
byte threads = THREADS, unmaps = UNMAPS;
bool sweeping;			/* waits for the acknowledgement of a shoot-down */
bool dying, gone;

/* between them */
chan ring = [THREADS + 1] of { byte };
bool ending;			/* message: the current thread, of P, ends */
bool flush_post, evict_post, flushed, evicted;

#define drained() held -> knows = stored; held = false

/* hal_store32: what was stored earlier is seen earlier */
inline release() {
	atomic {
		if
		:: drained()
		:: else
		fi
	}
}

/* use_space */
inline use_space(s) {
#ifdef WORD_BEFORE_THE_SWITCH
	release();
	stored = s; held = true;
#endif
	atomic {
		mmu = s;
#ifndef TRANSLATIONS_KEPT
		tlb = 0
#endif
	}
	space = s;
#ifndef WORD_BEFORE_THE_SWITCH
#ifdef WORD_NOT_SET_ON_ENTERING
	if
	:: s != P -> release(); stored = s; held = true
	:: else
	fi
#else
	release();
	atomic { stored = s; held = true }
#endif
#endif
}

inline serve_posts() {
	if
	:: flush_post -> atomic { tlb = 0; flush_post = false }; release(); flushed = true
	:: evict_post ->
		evict_post = false;
		/* the ready ring and the run queue lose the threads of P */
		atomic {
			do
			:: ring??[P] -> ring??P
			:: else -> break
			od
		}
#ifdef ACKNOWLEDGED_IN_THE_SPACE
		evicted = true
#else
		if
		:: current == P -> doomed = true
		:: else ->
#ifndef IDLE_CORE_STAYS
			if
			:: space == P -> use_space(NONE)
			:: else
			fi;
#endif
			release();
			evicted = true
		fi
#endif
	:: else
	fi
}

inline drop_current() {
	current = NONE;
	if
	:: doomed -> doomed = false; use_space(NONE); release(); evicted = true
	:: else
	fi
}

proctype core() {
	byte t;

end:	do
	:: current == NONE && nempty(ring) && !flush_post && !evict_post ->
		ring?t;
		current = t;
		if
		:: space != t -> use_space(t)
		:: else
		fi
	:: flush_post || evict_post ->
		serve_posts();
		if
		:: doomed -> drop_current()
		:: else
		fi
	/* user mode: the page is used */
	:: current == P ->
		atomic {
			if
			:: tlb == 0 -> tlb = seen
			:: else
			fi;
			assert(mmu == P && tlb > freed && !gone)
		}
	/* a thread ends: home hears of it by a message, and the core waits for the answer */
	:: current == P ->
#ifndef WORD_NOT_ORDERED
		release();
#endif
		ending = true;
		do
		:: !ending -> break
		:: ending && (flush_post || evict_post) -> serve_posts()
		od;
		drop_current()
	:: current == Q -> current = NONE
	od
}

/* What happens by itself: stores are seen in the end, and the hardware walks tables. */
proctype machine() {
end:	do
	:: atomic { drained() }
	:: atomic { seen != frame -> seen = frame }
	:: atomic { mmu == P && tlb == 0 && !gone -> tlb = seen }
	od
}

/* concerns */
#ifdef THREADS_NOT_COUNTED
#define known (knows == P)
#else
#define known (placed > 0 || knows == P)
#endif

inline publish_table() {
#ifndef TABLE_NOT_PUBLISHED
	seen = frame;
#endif
	skip
}

proctype home() {
end:	do
	:: threads > 0 && !dying ->
		threads--;
		if
		:: placed++; had = true; publish_table(); ring!P
		:: publish_table(); ring!Q
		fi
	:: ending ->
		placed--;
#ifdef FORGOTTEN_WITH_THE_LAST_THREAD
		if
		:: placed == 0 -> had = false
		:: else
		fi;
#endif
		ending = false
	:: unmaps > 0 && !sweeping && !dying ->
		unmaps--;
		frame++;
		if
		:: had && known -> sweeping = true; publish_table(); flush_post = true
		:: else -> assert(mmu != P); had = false; freed = frame - 1
		fi
	:: flushed -> flushed = false; sweeping = false; freed = frame - 1
#ifdef KILL
	:: !dying && !sweeping ->
		dying = true;
		if
		:: had && known -> evict_post = true
		:: else -> assert(mmu != P); had = false; gone = true
		fi
	/* proc_wait: threads that are left are no more; tables and entry are used again */
	:: atomic { evicted -> evicted = false; gone = true; assert(mmu != P && current != P && !ring??[P]) }
	:: dying && !evict_post && gone && threads > 0 -> threads--; ring!Q
#endif
	od
}

init {
	atomic { run core(); run machine(); run home() }
}
