/* SPDX-License-Identifier: MIT
 *
 * Two views, one below the other, of one object. A handle of each; a thread waits for the object by
 * the lower one, another by the upper one. Others revoke either view, again and again, close the
 * lower handle and make it anew in the same place, and kill the process of the first thread; the
 * object's event and deadlines come, too. Home does one thing at a time. What a handle names is
 * found by generations alone, which wrap: after LIVES revocations the view is replaced.
 *
 * Shown: a handle that was revoked or closed never names anything again; each wait ends exactly
 * once; none goes on by a handle that is dead, and none that waits by a living one is ended for
 * that reason; of a dead process nothing waits. Waits for mailboxes end so some steps of home
 * later, each of which looks the handle up again: see mailbox.pml.
 *
 * proves: kernel/object/handle.c view_is_alive 1e13c0cfd3f0
 * proves: kernel/object/handle.c entry_find 293f53d46952
 * proves: kernel/object/handle.c handle_revoke 254fca712fcb
 * proves: kernel/object/handle.c view_replace 382224669dbc
 * proves: kernel/object/handle.c entry_close 743d747eaa23
 * proves: kernel/object/object.c wait_ends f119f7a1a3aa
 * proves: kernel/object/object.c object_handle_gone 03742164190e
 * proves: kernel/ikc/endpoint.c wait_ends 801d4fe89bc9
 * proves: kernel/ikc/endpoint.c ikc_handle_gone 0d276faab074
 * proves: kernel/proc/proc.c drop_work df7bafd968c9
 *
 * run: -DREVOKES=3
 * run: -DREVOKES=2 -DCLOSE
 * run: -DREVOKES=2 -DKILL
 * run: -DREVOKES=2 -DCLOSE -DEVENT -DDEADLINE
 * mutation: -DREVOKES=2 -DREVOKES_WITHOUT_LOOKING
 * mutation: -DREVOKES=0 -DCLOSE -DCLOSES_WITHOUT_LOOKING
 * mutation: -DREVOKES=1 -DLOOKS_AT_ITS_OWN_VIEW
 * mutation: -DREVOKES=2 -DPARENT_FORGOTTEN
 * mutation: -DREVOKES=3 -DGENERATION_WRAPS
 * mutation: -DREVOKES=2 -DKILL -DKILL_LEAVES_WAITER
 * mutation: -DREVOKES=2 -DDEADLINE -DDEADLINE_LEAVES_QUEUE
 * mutation: -DREVOKES=1 -DENDS_ALL
 */
#define LIVES 2			/* generations of a view: 1 .. LIVES */
#define THREADS 2
#define NONE 255

/* Views: 0 is on top, 1 is below it. A replaced view is another: views 2 and 3. Life 0: dead for ever. */
byte life[4] = 1;
byte parent_life = 1;		/* generation of view 0 that view 1 was made for */
byte top = 0;			/* the view that the upper revoker's handle names */

/* The two handles: generation of the place (0: closed), and what it names. */
byte name[THREADS] = 1;
byte view[THREADS];
byte of_life[THREADS] = 1;
bool dead[THREADS];		/* the oracle: revoked or closed since it was made */

/* The threads. */
bool waiting[THREADS];
byte by[THREADS];		/* name of the handle by which it waits, 0: none */
bool by_dead[THREADS];		/* the oracle: that handle has died */
byte ends[THREADS];
bool queued[THREADS];		/* in the object's list of those that wait */
bool dying;
bool dropped;

/* entry_is_alive by view_is_alive, for the handle in place i if it has this name */
#ifdef PARENT_FORGOTTEN
#define VIEW_LIVES(v, l) (life[v] == (l))
#else
#define VIEW_LIVES(v, l) (life[v] == (l) && ((v) != 1 || life[0] == parent_life))
#endif
#define ALIVE(i, n) (name[i] == (n) && (n) != 0 && VIEW_LIVES(view[i], of_life[i]))

/* thread_ready */
inline ready(i) {
	assert(waiting[i]);
	queued[i] = false;
	by[i] = 0;
	waiting[i] = false;
	by_dead[i] = false;
	ends[i]++;
	assert(ends[i] == 1)
}

/* wait_ends, for one that is in the object's list */
inline wait_ends(i) {
	if
#ifdef ENDS_ALL
	:: queued[i] ->
#else
	:: queued[i] && !ALIVE(i, by[i]) ->
#endif
		assert(by_dead[i]);
		ready(i)
	:: else
	fi
}

/* object_handle_gone: whatever view of the object the handle named */
inline handle_gone() {
	wait_ends(0);
#ifndef LOOKS_AT_ITS_OWN_VIEW
	wait_ends(1)
#endif
}

/* What dies with view v: the oracle goes the way of each handle. */
inline died(i) {
	dead[i] = true;
	if
	:: by[i] != 0 && by[i] == name[i] -> by_dead[i] = true
	:: else
	fi
}

/* A thread that waits by the handle in its place, if that lives. */
proctype user(byte i) {
	byte n;
	byte times = 0;

	do
	:: times < 2 ->
		times++;
		atomic {
			n = name[i];
			if
			:: i == 0 && dying -> break
			:: else
			fi;
			/* the look-up agrees with the oracle */
			assert(ALIVE(i, n) == (n != 0 && !dead[i]));
			ends[i] = 0;
			if
			:: ALIVE(i, n) -> waiting[i] = true; queued[i] = true; by[i] = n; by_dead[i] = false
			:: else
			fi
		}
end_wait:	!waiting[i] || (i == 0 && dying)
	:: times == 2 -> break
	od;
}

/* Who revokes: the upper view kills both handles below it, the lower one its own. */
proctype revoker() {
	byte n = 0;

	do
	:: n < REVOKES ->
		n++;
		atomic {
			if
			:: true ->		/* the upper: handles of threads 0 and 1 */
				if
#ifdef GENERATION_WRAPS
				:: top == 0 && life[0] == LIVES -> life[0] = 1
#else
				:: top == 0 && life[0] == LIVES -> life[0] = 0; top = 2
#endif
				:: top == 0 && life[0] < LIVES -> life[0]++
				:: top != 0
				fi;
				died(0);
				died(1)
			:: life[1] != 0 ->	/* the lower: that of thread 0 */
				if
				:: life[1] == LIVES -> life[1] = 0
				:: else -> life[1]++
				fi;
				if
				:: view[0] == 1 -> died(0)
				:: else
				fi
			fi;
#ifndef REVOKES_WITHOUT_LOOKING
			handle_gone()
#endif
		}
	:: n == REVOKES -> break
	od;
}

#ifdef CLOSE
/* Close the handle of thread 0; the place is used for another handle of the upper view, made by somebody whose own handle lives. */
proctype closer() {
	atomic {
		if
		:: name[0] != 0 ->
			died(0);
			name[0] = 0;
#ifndef CLOSES_WITHOUT_LOOKING
			handle_gone()
#endif
		:: else
		fi
	}
	atomic {
		if
		:: name[0] == 0 && top == 0 -> name[0] = 2; view[0] = 0; of_life[0] = life[0]; dead[0] = false
		:: else
		fi
	}
}
#endif

proctype home() {
	do
#ifdef EVENT
	:: atomic { queued[0] -> ready(0) }
	:: atomic { queued[1] -> ready(1) }
#endif
#ifdef DEADLINE
	:: atomic { waiting[0] ->
#ifdef DEADLINE_LEAVES_QUEUE
		waiting[0] = false; by[0] = 0; ends[0]++
#else
		ready(0)
#endif
		}
#endif
#ifdef KILL
	:: atomic { !dying -> dying = true }
	/* no core runs it any more: drop_work */
	:: atomic { dying && !dropped ->
		dropped = true;
		by_dead[0] = false;
		waiting[0] = false;
#ifndef KILL_LEAVES_WAITER
		queued[0] = false
#endif
		}
#endif
	/* all have done what they do: who still waits does so by a living handle */
	:: timeout -> atomic {
		assert(!(waiting[0] && by_dead[0]) && !(waiting[1] && by_dead[1]));
		assert(waiting[0] == queued[0] && waiting[1] == queued[1]);
		break }
	od
}

init {
	atomic {
		view[0] = 1;
		view[1] = 0;
		run home();
		run user(0);
		run user(1);
		run revoker();
#ifdef CLOSE
		run closer();
#endif
	}
}
