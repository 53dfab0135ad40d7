/* SPDX-License-Identifier: MIT
 *
 * Pages that are copied when they are written to, against shoot-downs. A page of process A is
 * written by threads on two cores, each its own word, through translations that the cores remember.
 * A third thread copies the page into process B: both have its frame then, and A's may not be
 * written to any more. Whoever writes asks home for a frame, copies the page on its own core, and
 * home puts the frame in the page's place; other cores forget the old one before the thread goes
 * on. When B is gone A's page may be written to again where it is. With ENTERS home places a thread
 * of A on the second core later: until then nothing is asked of that core.
 *
 * A frame that was the page's stays what it is until no core knows it any more (limbo, model
 * view.pml and knows.pml), so it is not used again here.
 *
 * Shown: B's page never changes once the copying has ended; a thread finds what it and the other
 * wrote last, so no write goes to a frame that is the page's no longer; a frame that nobody refers
 * to is written by nobody.
 *
 * proves: kernel/mem/demand.c look_serve d26f98bc3354
 * proves: kernel/mem/demand.c look_private 2a60fbc235d5
 * proves: kernel/mem/demand.c take_over 5de4a1af19ca
 * proves: kernel/mem/demand.c show_serve dc85d0f9266e
 * proves: kernel/mem/demand.c replace 55314e729a40
 * proves: kernel/mem/demand.c bring 350a24ec5f4a
 * proves: kernel/mem/copy.c copy_step 7b543f491155
 * proves: kernel/mem/frame.c frames_get 544106281bcf
 * proves: kernel/mem/copy.c run_copied c0046b9e1e80
 * proves: kernel/mem/copy.c copy_serve fb5171bd1f9a
 *
 * run: -DWRITES=2 -DCOPIES=1
 * run: -DWRITES=2 -DCOPIES=1 -DENDS
 * run: -DWRITES=2 -DCOPIES=2
 * run: -DWRITES=2 -DCOPIES=1 -DENTERS
 * mutation: -DWRITES=2 -DCOPIES=1 -DCOPIED_BEFORE_THE_SHOOT_DOWN_ENDS
 * mutation: -DWRITES=2 -DCOPIES=1 -DOTHERS_MAY_WRITE_YET
 * mutation: -DWRITES=2 -DCOPIES=1 -DSTILL_WRITABLE
 * mutation: -DWRITES=2 -DCOPIES=1 -DOTHERS_KEEP_THE_FRAME
 * mutation: -DWRITES=2 -DCOPIES=1 -DGOES_ON_AT_ONCE
 * mutation: -DWRITES=2 -DCOPIES=1 -DENTERS -DKNOWN_TOO_LATE
 * mutation: -DWRITES=2 -DCOPIES=1 -DREPLACED_TWICE
 * mutation: -DWRITES=2 -DCOPIES=1 -DSHARED_FRAME_TAKEN_OVER
 * mutation: -DWRITES=2 -DCOPIES=1 -DOWN_CORE_KEEPS_THE_FRAME
 * mutation: -DWRITES=2 -DCOPIES=1 -DENDS -DCOPIED_WITHOUT_A_REFERENCE
 * pan: -m1000000
 */
#define CORES 2
#define FRAMES (CORES * WRITES + 2)
#define NONE 255

/* words of each frame, one for each core */
byte word0[FRAMES], word1[FRAMES];
byte refs[FRAMES];
byte frames = 1;		/* that were ever used */

/* A's page table entry of the page, and what the cores remember of it */
byte page = 0;
bool writable = true;
byte tlb[CORES];
bool tlb_writable[CORES];
bool forget[CORES];		/* a shoot-down that the core has not served */
bool knows[CORES];		/* process->cores: it has a thread of A, or had one */

/* B */
byte copy = NONE;		/* its frame */
bool copied;			/* the copying has ended */
byte had0, had1;

byte last0, last1;		/* what the threads stored last */

inline drop(f) {
	assert(refs[f] > 0);
	refs[f]--
}

/* Serve a shoot-down, at any place where the core looks at its inbox. */
inline serve(me) {
	atomic { forget[me] -> forget[me] = false; tlb[me] = NONE }
}

inline flush_own(me) {
#ifndef OWN_CORE_KEEPS_THE_FRAME
	tlb[me] = NONE
#else
	skip
#endif
}

/* demand_bring: the page may be written to then, or the access is tried again */
inline bring(me) {
	/* look_serve and look_private */
	atomic {
		old = NONE;
		fresh = NONE;
		if
		:: writable
#ifndef OTHERS_MAY_WRITE_YET
		/* process->holds: tried again */
		:: !writable && (forget[0] || forget[1])
#define SETTLED (!writable && !forget[0] && !forget[1])
#else
#define SETTLED (!writable)
#endif
#ifdef SHARED_FRAME_TAKEN_OVER
		:: SETTLED -> writable = true
#else
		:: SETTLED && refs[page] == 1 -> writable = true
		:: SETTLED && refs[page] > 1 ->
			old = page;
			fresh = frames;
			frames++;
#ifndef COPIED_WITHOUT_A_REFERENCE
			refs[old]++
#endif
#endif
		fi
	}
	if
	:: fresh == NONE -> flush_own(me)
	:: else ->
		/* copy: word by word */
		atomic { assert(refs[old] > 0); word0[fresh] = word0[old] };
		atomic { assert(refs[old] > 0); word1[fresh] = word1[old] };
		/* show_serve and replace */
		atomic {
			if
#ifdef REPLACED_TWICE
			:: true ->
#else
			:: page == old && !writable ->
#endif
				refs[fresh] = 1;
				page = fresh;
				writable = true;
				/* that of the page, and that of the copying */
				drop(old);
#ifndef COPIED_WITHOUT_A_REFERENCE
				drop(old);
#endif
#ifndef OTHERS_KEEP_THE_FRAME
				forget[1 - me] = knows[1 - me];
#endif
				fresh = NONE
#ifndef REPLACED_TWICE
			:: else ->
#ifndef COPIED_WITHOUT_A_REFERENCE
				drop(old)
#else
				skip
#endif
#endif
			fi
		}
		flush_own(me);
#ifndef GOES_ON_AT_ONCE
		/* parked until the other core has answered */
		do
		:: serve(me)
		:: fresh != NONE || !forget[1 - me] -> break
		od
#endif
	fi
}

proctype core(byte me) {
	byte n, old, fresh;

	n = 0;
#ifdef KNOWN_TOO_LATE
	if
	:: knows[me]
	:: !knows[me] -> tlb[me] = page; tlb_writable[me] = writable
	fi;
#endif
	knows[me] = true;
	do
	:: serve(me)
	:: n < WRITES ->
		/* a store: by what is remembered, or what the page table says */
		if
		:: atomic { tlb[me] != NONE && tlb_writable[me] ->
			assert(refs[tlb[me]] > 0);
			n++;
			if
			:: me == 0 -> word0[tlb[me]] = n; last0 = n
			:: else -> word1[tlb[me]] = n; last1 = n
			fi }
		:: atomic { !(tlb[me] != NONE && tlb_writable[me]) && writable ->
			tlb[me] = page; tlb_writable[me] = true }
		:: atomic { !(tlb[me] != NONE && tlb_writable[me]) && !writable -> skip };
			bring(me)
		fi
	/* a load, of both words: it finds what was stored last */
	:: atomic { tlb[me] != NONE -> assert(word0[tlb[me]] == last0 && word1[tlb[me]] == last1) }
	:: atomic { tlb[me] == NONE -> tlb[me] = page; tlb_writable[me] = writable }
	:: n == WRITES && !forget[me] -> break
	od;
	/* other threads run: shoot-downs are served for ever */
end:	do
	:: serve(me)
	:: atomic { tlb[me] != NONE -> assert(word0[tlb[me]] == last0 && word1[tlb[me]] == last1) } ; break
	:: tlb[me] == NONE -> break
	od;
end2:	do
	:: serve(me)
	od
}

proctype copier() {
	byte n;

	do
	:: n == COPIES -> break
	:: else ->
		n++;
		atomic {
			copy = page;
			refs[page]++;
#ifndef STILL_WRITABLE
			writable = false;
#endif
			forget[0] = knows[0];
			forget[1] = knows[1]
		}
#ifndef COPIED_BEFORE_THE_SHOOT_DOWN_ENDS
		(!forget[0] && !forget[1]);
#endif
		atomic { had0 = word0[copy]; had1 = word1[copy]; copied = true }
		/* B lives for a while */
		if
		:: true -> assert(word0[copy] == had0 && word1[copy] == had1)
		fi;
#ifdef ENDS
		atomic { copied = false; drop(copy); copy = NONE }
#else
		if
		:: n < COPIES -> atomic { copied = false; drop(copy); copy = NONE }
		:: else
		fi
#endif
	od
}

/* B looks at any moment. */
active proctype b() {
end:	do
	:: atomic { copied && (refs[copy] == 0 || word0[copy] != had0 || word1[copy] != had1) -> assert(false) }
	od
}

init {
	atomic {
		refs[0] = 1;
		tlb[0] = NONE;
		tlb[1] = NONE;
#ifndef ENTERS
		knows[1] = true;
#endif
		knows[0] = true;
		run core(0);
		run core(1);
		run copier()
	}
}
