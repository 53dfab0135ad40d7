/* SPDX-License-Identifier: MIT
 *
 * A guest leaves while home sweeps (hal/guest.h). Home posts each sweep to the guest's core if the
 * process still counts it, one post at a time, and waits for the acknowledgement; the guest asks to
 * leave, and serves posts as long as it is there.
 *
 * Shown: every sweep ends (home reaches its end state), and the guest gets away. After it has gone
 * nobody serves its core.
 *
 * proves: kernel/thread/guest.c leave_serve 4fc4343b0302
 * proves: kernel/thread/guest.c kernel_guest_leave e3b670c60476
 * proves: kernel/mem/sweep.c sweeps_want 97c372885d87
 * proves: kernel/mem/sweep.c post_some 9717c92fc537
 *
 * run: -DSWEEPS=1
 * run: -DSWEEPS=3
 * mutation: -DSWEEPS=2 -DNO_LAST_SERVICE
 * mutation: -DSWEEPS=2 -DIGNORE_WANTED
 * mutation: -DSWEEPS=2 -DLEAVES_MASK
 * mutation: -DSWEEPS=2 -DWAITS_FOR_POST
 */
#define NOTHING 0
#define ASKS 1
#define AGAIN 2
#define GO 3

byte call = NOTHING;		/* the guest's active message */
bool counted = true;		/* the core is in the process's mask */
bool post = false;		/* the slot towards the guest's core is busy */
byte todo = 0;			/* sweeps that have yet to be posted */
byte pending = 0;		/* acknowledgements that are missing */
bool gone = false;

proctype home()
{
	byte begun = 0;

	do
	:: begun < SWEEPS ->
		begun++;
		if
		:: counted -> todo++; pending++
		:: else
		fi
	:: todo > 0 && !post -> todo--; post = true
	:: call == ASKS ->
		if
#ifndef IGNORE_WANTED
		:: todo > 0 -> call = AGAIN
#endif
		:: else ->
#ifndef LEAVES_MASK
			counted = false;
#endif
			call = GO
		fi
	:: begun == SWEEPS && todo == 0 && pending == 0 && gone -> break
	od
}

inline serve()
{
	if
	:: post -> pending--; post = false
	:: else
	fi
}

proctype guest()
{
	do
	:: true ->
		call = ASKS;
		do
		:: post -> serve()
		:: call != ASKS -> break
		od;
		if
		:: call == GO -> break
		:: else ->
			call = NOTHING
#ifdef WAITS_FOR_POST
			/* it may have been served while the answer was on its way */
			; post -> serve()
#endif
		fi
	od;
#ifndef NO_LAST_SERVICE
	serve();
#endif
	gone = true
}

init
{
	atomic { run home(); run guest() }
}
