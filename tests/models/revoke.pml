/* SPDX-License-Identifier: MIT
 *
 * A view of memory is revoked, and what was mapped through it goes. One page; view 1 lies below
 * view 0; process i maps the page through a copy of a handle of view i and runs on core i, which
 * may keep its translation. One thread revokes view 0, another view 1, at the same time; their
 * process, or one that has mapped the page, is killed; the last handles are closed. Home does one
 * bounded step at a time: a message, a look at one mapping, the end of a shoot-down, a part of the
 * end of a process. Cores acknowledge when they get to it.
 *
 * Shown: when a revocation has returned, what was mapped through its view is in no page table and
 * in no core's memory of translations; nobody ever uses the frame when it is free; it has one
 * reference for each mapping, not more and not less; whoever dies, in the end all mappings that are
 * dead are gone, and the frame is free when nothing names it.
 *
 * proves: kernel/mem/mapping.c mapping_begin 4ed22294fb5f
 * proves: kernel/mem/mapping.c mappings_cut 4188c3507fa8
 * proves: kernel/mem/mapping.c mappings_revoke b2904b0c0fb9
 * proves: kernel/mem/mapping.c unmap_dead fa137b3ab56a
 * proves: kernel/mem/mapping.c look_at_some be0ed0c5bd29
 * proves: kernel/mem/mapping.c revokes_poll 8eb59b84a840
 * proves: kernel/mem/mapping.c revoke_done 9e1275f9980e
 * proves: kernel/mem/calls.c shoot_down_begin ea36b7a4560a
 * proves: kernel/mem/calls.c shoot_down_done dd1b9978c13e
 * proves: kernel/mem/sweep.c sweep_begin 26adac8efb1b
 * proves: kernel/mem/sweep.c sweep_cover eb6956ae33d7
 * proves: kernel/mem/sweep.c retire ae9faf43b297
 * proves: kernel/mem/frame.c frame_put 5ea0a3b165ce
 * proves: kernel/mem/frame.c free_after 73a77ff6feb7
 * proves: kernel/mem/frame.c frames_limbo_drain c5ed1af886ca
 * proves: kernel/mem/mem.c release_area 1c464febbe32
 * proves: kernel/mem/frame.c frames_put aa0f43b5026d
 *
 * run:
 * run: -DKILL_REVOKER
 * run: -DKILL_USER
 * mutation: -DNO_SHOOT_DOWN
 * mutation: -DFREED_AT_ONCE
 * mutation: -DEARLIER_ONES_FORGOTTEN
 * mutation: -DONE_STEP_ONLY
 * mutation: -DLOOKS_NOT_COUNTED
 * mutation: -DTURNS_NOT_KEPT
 * mutation: -DMAPS_WITHOUT_LOOKING
 * mutation: -DPARENT_NOT_LOOKED_AT
 * mutation: -DKILL_REVOKER -DDEATH_ENDS_THE_WALK
 * mutation: -DKILL_USER -DRELEASE_LEAVES_THE_RECORD
 */
#define KILLED 2		/* the sweep of a kill; 0 and 1 are those of the revokers */
#define BIT(n) (1 << (n))

byte life[2] = 1;		/* of the views: copies of handles have generation 1 */

/* the memory: its list of mappings, by when they were looked at */
byte list[2], listed;
byte looked[2], looks;
bool closed, object = true;	/* no handle is left; it refers to its frame */

/* the frame */
byte refs = 1;
bool freed, limbo;
byte limbo_for;			/* sweeps that must end first */
byte before;			/* those that ran when a mapping went that was not the last reference */

/* page tables, and what cores remember of them */
bool mapped[2], tlb[2];
bool dying[2], left[2], gone[2];	/* process i is killed; core i has left it; its memory is given back */

/* revocations */
byte queue[2], queued;
bool asked[2], walks[2], sent[2];
bool killed;			/* the process of the revokers */

/* sweeps: those that run; cores that they cover, and whose acknowledgement they wait for */
byte running, covered[2], posted[2];

#ifdef PARENT_NOT_LOOKED_AT
#define LIVES(i) (life[i] == 1)
#else
#define LIVES(i) (life[i] == 1 && life[0] == 1)
#endif

/* From here on it is somebody else's. */
inline free() {
	assert(!tlb[0] && !tlb[1]);
	freed = true
}

/* frame_put: with a sweep, or with none where no core knows the mapping any more */
inline put(by) {
	assert(refs > 0);
	refs--;
	if
#ifdef FREED_AT_ONCE
	:: refs == 0 -> free()
#else
	:: refs == 0 && (before | by) != 0 -> limbo = true; limbo_for = before | by
	:: refs == 0 && (before | by) == 0 -> free()
#endif
#ifndef EARLIER_ONES_FORGOTTEN
	:: refs > 0 && by != 0 -> before = running
#endif
	:: else
	fi
}

/* The object goes with its last name: handles, mappings through views, and revocations that look at it. */
inline object_look() {
	if
	:: object && closed && listed == 0 && !walks[0] && !walks[1] -> object = false; put(0)
	:: else
	fi
}

/* retire */
inline sweep_ended(s) {
	running = running & ~BIT(s);
	limbo_for = limbo_for & ~BIT(s);
	before = before & ~BIT(s);
	if
	:: limbo && limbo_for == 0 -> limbo = false; free()
	:: else
	fi
}

inline record_drop(n) {
	if
	:: listed > 0 && list[0] == n -> list[0] = list[1]; listed--
	:: listed == 2 && list[0] != n && list[1] == n -> listed--
	:: else
	fi
}

/* mapping_begin, and the page table */
inline map(n) {
	mapped[n] = true;
	refs++;
	looked[n] = looks;
	list[listed] = n;
	listed++
}

/* The call returns: unless its process is killed, somebody relies on it. */
inline returns(r) {
	assert(killed || (!mapped[1] && !tlb[1]));
	assert(killed || r == 1 || (!mapped[0] && !tlb[0]))
}

/* handle_revoke and mappings_revoke */
inline revoke(r) {
	asked[r] = true;
	if
	:: LIVES(r) ->
		life[r]++;
		if
#ifdef TURNS_NOT_KEPT
		:: listed == 0 -> returns(r)
#else
		:: listed == 0 && queued == 0 -> returns(r)
#endif
		:: else ->
#ifndef LOOKS_NOT_COUNTED
			looks++;
#endif
			running = running | BIT(r);
			walks[r] = true;
			queue[queued] = r;
			queued++
		fi
	:: else		/* -E_BADF */
	fi
}

/* sweep_send */
inline send(r) {
	walks[r] = false;
	object_look();
	sent[r] = true;
	posted[r] = covered[r]
}

/* unmap_dead */
inline unmap(r, n) {
	if
	:: mapped[n] -> mapped[n] = false; put(BIT(r))
	:: else
	fi;
	record_drop(n);
	if
#ifdef NO_SHOOT_DOWN
	:: true
#else
	:: !left[n] -> covered[r] = covered[r] | BIT(n)
	:: else
#endif
	fi
}

/* look_at_some, one mapping at a time */
inline walk(r, n) {
	if
	:: listed == 0 || looked[list[0]] == looks -> send(r)
	:: else ->
		n = list[0];
		if
		:: LIVES(n) ->
			looked[n] = looks;
			list[0] = list[listed - 1];
			list[listed - 1] = n
		:: else ->
			unmap(r, n);
#ifdef ONE_STEP_ONLY
			send(r)
#endif
		fi
	fi
}

inline revocation_ended(r) {
	sent[r] = false;
	sweep_ended(r);
	queue[0] = queue[1];
	queued--;
	returns(r)
}

active proctype home() {
	byte n, r;

	do
	:: atomic { !asked[0] && !closed && !killed -> revoke(0) }
	:: atomic { !asked[1] && !closed && !killed -> revoke(1) }
	:: atomic { queued > 0 && walks[queue[0]] -> r = queue[0]; walk(r, n); n = 0; r = 0 }
	:: atomic { queued > 0 && sent[queue[0]] && posted[queue[0]] == 0 -> r = queue[0]; revocation_ended(r); r = 0 }
#ifdef MAPS_WITHOUT_LOOKING
	:: atomic { !mapped[0] && !gone[0] && !closed && looks < 2 -> map(0) }
	:: atomic { !mapped[1] && !gone[1] && !closed && looks < 2 -> map(1) }
#else
	:: atomic { !mapped[0] && !dying[0] && !closed && LIVES(0) -> map(0) }
	:: atomic { !mapped[1] && !dying[1] && !closed && LIVES(1) -> map(1) }
#endif
	:: atomic { !closed -> closed = true; object_look() }
#ifdef KILL_REVOKER
	:: atomic { !killed && asked[0] ->
		killed = true;
#ifdef DEATH_ENDS_THE_WALK
		walks[0] = false;
		walks[1] = false;
		queued = 0;
		running = 0;
		object_look()
#endif
		}
#endif
#ifdef KILL_USER
	:: atomic { !dying[1] -> dying[1] = true; running = running | BIT(KILLED) }
	:: atomic { (running & BIT(KILLED)) && left[1] -> sweep_ended(KILLED) }
	/* release_area: the table goes as a whole, later */
	:: atomic { left[1] && !(running & BIT(KILLED)) && !gone[1] ->
		gone[1] = true;
		if
		:: mapped[1] ->
			put(0);
#ifndef RELEASE_LEAVES_THE_RECORD
			mapped[1] = false;
			record_drop(1);
#endif
			object_look()
		:: else
		fi }
#endif
	:: atomic { timeout -> break }
	od;
	assert(!mapped[0] || LIVES(0));
	assert(!mapped[1] || LIVES(1));
	assert(refs == object + mapped[0] + mapped[1]);
	assert(freed == (refs == 0))
}

/* Its hardware walks the page table at any time. */
proctype core(byte i) {
end:
	do
	:: atomic { mapped[i] && !left[i] && !tlb[i] -> assert(!freed); tlb[i] = true }
	:: atomic { posted[0] & BIT(i) -> tlb[i] = false; posted[0] = posted[0] & ~BIT(i) }
	:: atomic { posted[1] & BIT(i) -> tlb[i] = false; posted[1] = posted[1] & ~BIT(i) }
	:: atomic { dying[i] && !left[i] -> tlb[i] = false; left[i] = true }
	od
}

init {
	run core(0);
	run core(1)
}
