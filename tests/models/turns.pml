/* SPDX-License-Identifier: MIT
 *
 * Portal ports that share one connector: PORTS senders, each with BLOCKS blocks for a port of its
 * own at one receiver. Home cores do one thing at a time; the cores that put and take blocks, and
 * events of different senders, interleave freely. While somebody waits, a turn can end at any
 * moment. With NEVER_WRITES or NEVER_READS the core of port 0's writer or reader never comes when
 * its turn has; with LEAVES the reader of port 0 goes away at any moment before its first block,
 * and may come back; with VICTIM the sender of port 0 stops at any moment, its core with it, and
 * the receiver is told.
 *
 * Shown: a block is never put where another lies that is to be taken, or is being put; all blocks
 * are taken once and in order; who never comes, goes away or dies holds back nobody else; in the
 * end the connector is free; at most three events per direction are in flight.
 *
 * proves: kernel/ikc/portal_turn.c turn_begin 0842dd88c10f
 * proves: kernel/ikc/portal_turn.c portal_turn_wait db1f6ab83c66
 * proves: kernel/ikc/portal_turn.c portal_turn_put 9fa63e479df8
 * proves: kernel/ikc/portal_turn.c portal_turn_event 3ab51110d6da
 * proves: kernel/ikc/portal_turn.c turn_ends 7009d57269ae
 * proves: kernel/ikc/portal_event.c portal_ask cf35e3c75ec7
 * proves: kernel/ikc/portal_event.c granted bb35fdc47a94
 * proves: kernel/ikc/portal_event.c on_return e92095dadb01
 * proves: kernel/ikc/portal_event.c sender_gone 09840868f501
 * proves: kernel/ikc/portal_event.c leave_in aa3ada549a4a
 * proves: kernel/ikc/portal.c writer_goes_at_once 2ceea7b8e252
 * proves: kernel/ikc/portal.c portal_wait_home ea55e6bbe926
 * proves: kernel/ikc/portal.c portal_read_start ae5ebb271030
 * proves: kernel/ikc/portal.c portal_read_step 756b4ac6dab4
 *
 * run: -DPORTS=2 -DBLOCKS=3
 * run: -DPORTS=3 -DBLOCKS=1
 * run: -DPORTS=2 -DBLOCKS=2 -DNEVER_WRITES
 * run: -DPORTS=2 -DBLOCKS=2 -DNEVER_READS
 * run: -DPORTS=2 -DBLOCKS=2 -DLEAVES
 * run: -DPORTS=2 -DBLOCKS=2 -DVICTIM
 * mutation: -DPORTS=2 -DBLOCKS=2 -DGRANT_WHAT_IS_NOT_FREE
 * mutation: -DPORTS=2 -DBLOCKS=2 -DNO_GRANT_AFTER_BLOCK
 * mutation: -DPORTS=2 -DBLOCKS=2 -DRETURNED_WHILE_IT_PUTS
 * mutation: -DPORTS=2 -DBLOCKS=2 -DCORE_DOES_NOT_ASK
 * mutation: -DPORTS=2 -DBLOCKS=2 -DDROP_FORGETS
 * mutation: -DPORTS=2 -DBLOCKS=2 -DRETURN_FORGETS_DROP
 * mutation: -DPORTS=2 -DBLOCKS=2 -DLOST_TURN_IS_NOT_ASKED_FOR
 * mutation: -DPORTS=2 -DBLOCKS=2 -DEVENT_BEFORE_PUT
 * mutation: -DPORTS=2 -DBLOCKS=2 -DNEVER_WRITES -DNO_RETURN
 * mutation: -DPORTS=2 -DBLOCKS=2 -DNEVER_READS -DNO_DROP
 * mutation: -DPORTS=2 -DBLOCKS=2 -DLEAVES -DBLOCK_WITHOUT_READER_STAYS
 * mutation: -DPORTS=2 -DBLOCKS=2 -DVICTIM -DDEATH_KEEPS_CONNECTOR
 * mutation: -DPORTS=2 -DBLOCKS=2 -DVICTIM -DDEATH_FREES_WHAT_IS_TAKEN
 * pan: -m200000
 */
#define NOBODY 9

mtype = { ASK, DATA, RETURNED, NEXT, RETURN, DONE };	/* events */
mtype = { ALLOWED, READY, MOVING, WAITING, OVER };	/* a sender */
mtype = { PARKED, FULL, TAKING, WOKEN, AWAY };		/* a reader, and OVER */

chan to_receiver[PORTS] = [3] of { mtype };
chan to_sender[PORTS] = [3] of { mtype, bool };

/* The slot: port and number of the block that was put last; the port whose core puts. */
byte slot_port = NOBODY, slot_block, putting = NOBODY;
bool dead, told;			/* the sender of port 0 */

/* The receiver's home. */
mtype reader[PORTS] = PARKED;
bool wanted[PORTS], dropped[PORTS], recalled;
byte holder = NOBODY;
byte got[PORTS];
chan queue = [PORTS] of { byte };
bool queued[PORTS];

#ifdef VICTIM
#define LIVES(p) (p != 0 || !dead)
#else
#define LIVES(p) true
#endif
#ifdef NEVER_WRITES
#define WRITER_COMES(p) (p != 0)
#else
#define WRITER_COMES(p) true
#endif
#ifdef NEVER_READS
#define READER_COMES(p) (p != 0)
#else
#define READER_COMES(p) true
#endif

inline tell_receiver(kind) {
	assert(nfull(to_receiver[me]));
	to_receiver[me]!kind
}

/* Events to who is dead are lost. */
inline tell_sender(p, kind, what) {
	if
	:: LIVES(p) -> assert(nfull(to_sender[p])); to_sender[p]!kind, what
	:: else
	fi
}

/* --- a sender --- */

#ifdef LOST_TURN_IS_NOT_ASKED_FOR
#define ASKS_AGAIN !woken
#else
#define ASKS_AGAIN (WRITER_COMES(me) || !woken)
#endif

proctype sender(byte me)
{
	mtype state = ALLOWED, kind;
	bool asked, has, again, first, what, woken;
	byte done;

end:	do
	/* the core: it looks whether it is its turn, and asks for one if it has not */
	:: atomic { LIVES(me) && !asked && (state == ALLOWED || state == WAITING) && ASKS_AGAIN -> asked = true; tell_receiver(ASK) }
#ifdef CORE_DOES_NOT_ASK
	:: atomic { LIVES(me) && woken && state != MOVING && state != OVER && WRITER_COMES(me) ->
#else
	:: atomic { LIVES(me) && state == READY && WRITER_COMES(me) ->
#endif
		woken = false;
		has = false;
		done = (first || again -> done : done + 1);
		state = MOVING;
#ifdef EVENT_BEFORE_PUT
		tell_receiver(DATA);
#endif
		assert(putting == NOBODY);
		putting = me }
	:: atomic { LIVES(me) && state == MOVING ->
		assert(putting == me);
		slot_port = me;
		slot_block = done;
		putting = NOBODY;
#ifndef EVENT_BEFORE_PUT
		tell_receiver(DATA);
#endif
		state = WAITING }
	/* home */
	:: atomic { LIVES(me) && nempty(to_sender[me]) ->
		to_sender[me]?kind, what;
		if
		:: kind == NEXT ->
			has = true;
			again = what;
			assert(state == ALLOWED || state == WAITING);
			first = (state == ALLOWED);
			state = READY;
			woken = true
		:: kind == RETURN ->
			if
#ifdef RETURNED_WHILE_IT_PUTS
			:: has || state == MOVING ->
#else
			:: has ->
#endif
				if
				:: state == READY && first -> state = ALLOWED
				:: state == READY && !first -> state = WAITING
				:: else
				fi;
				has = false;
				asked = false;
				tell_receiver(RETURNED)
			:: else
			fi
		:: kind == DONE -> state = OVER
		fi;
		kind = ASK; what = false }
	:: atomic { !LIVES(me) -> break }
	:: atomic { state == OVER -> break }
	od
}

/* --- the receiver --- */

inline turn_begin() {
	if
#ifdef GRANT_WHAT_IS_NOT_FREE
	:: nempty(queue) ->
#else
	:: holder == NOBODY && nempty(queue) ->
#endif
		queue?k;
		queued[k] = false;
		holder = k;
		recalled = false;
		tell_sender(k, NEXT, dropped[k])
	:: else
	fi
}

inline turn_wait(p) {
	if
	:: wanted[p] && holder != p && !queued[p] && reader[p] == PARKED ->
		queued[p] = true;
		queue!p;
		turn_begin()
	:: else
	fi
}

inline free(p) {
	if
	:: holder == p -> holder = NOBODY; turn_begin()
	:: else
	fi
}

inline leave(p) {
	if
	:: queued[p] -> queue??eval(p); queued[p] = false
	:: else
	fi
}

inline on_event(p) {
	if
	:: reader[p] == OVER
	:: (p == 0 && told)
	:: else ->
		if
		:: kind == ASK -> wanted[p] = true; turn_wait(p)
		:: kind == DATA && holder == p && reader[p] == PARKED -> dropped[p] = false; reader[p] = FULL
		:: kind == DATA && holder == p && reader[p] == AWAY ->
#ifndef BLOCK_WITHOUT_READER_STAYS
			dropped[p] = true;
			free(p)
#endif
			skip
		:: kind == RETURNED && holder == p && (reader[p] == PARKED || reader[p] == AWAY) ->
#ifdef RETURN_FORGETS_DROP
			dropped[p] = false;
#endif
			wanted[p] = false;
			free(p)
		:: else
		fi
	fi
}

/* The core of the reader comes. */
inline comes(p) {
	if
	:: reader[p] == FULL ->
		reader[p] = TAKING;
		assert(slot_port == p && slot_block == got[p] && putting == NOBODY)
	:: else -> reader[p] = PARKED; turn_wait(p)
	fi
}

/* It has taken the block. */
inline taken(p) {
	assert(slot_port == p && slot_block == got[p] && putting == NOBODY);
	got[p]++;
	if
	:: got[p] == BLOCKS || (p == 0 && told) ->
		reader[p] = OVER;
		tell_sender(p, DONE, false);
		free(p)
	:: else ->
		reader[p] = PARKED;
#ifdef NO_GRANT_AFTER_BLOCK
		if
		:: holder == p && empty(queue) -> holder = NOBODY
		:: else
		fi;
#else
		free(p);
#endif
		turn_wait(p)
	fi
}

/* Somebody waits, and the turn has lasted too long. */
inline turn_ends() {
	i = holder;
	if
#ifndef NO_DROP
	:: reader[i] == FULL ->
#ifndef DROP_FORGETS
		dropped[i] = true;
#endif
		reader[i] = WOKEN;
		free(i)
#endif
#ifndef NO_RETURN
	:: (reader[i] == PARKED || reader[i] == AWAY) && !recalled -> recalled = true; tell_sender(i, RETURN, false)
#endif
	:: else
	fi
}

/* Is there something to do about the turn? */
#define MAY_END (holder != NOBODY && nempty(queue) && (reader[holder] == FULL || \
	((reader[holder] == PARKED || reader[holder] == AWAY) && !recalled)))

inline dies() {
	told = true;
	leave(0);
	if
	:: reader[0] == OVER
	:: reader[0] == TAKING ->
#ifdef DEATH_FREES_WHAT_IS_TAKEN
		free(0);
#endif
		skip
	:: else ->
		reader[0] = OVER;
#ifndef DEATH_KEEPS_CONNECTOR
		free(0)
#endif
		skip
	fi
}

#define TAKE(p) atomic { to_receiver[p]?kind -> on_event(p); kind = ASK }
#define COMES(p) atomic { (reader[p] == FULL || reader[p] == WOKEN) && READER_COMES(p) -> comes(p) }
#define TAKEN(p) atomic { reader[p] == TAKING -> taken(p) }

proctype receiver()
{
	byte i, k, left;
	mtype kind;

end:	do
	:: TAKE(0)
	:: TAKE(1)
	:: COMES(0)
	:: COMES(1)
	:: TAKEN(0)
	:: TAKEN(1)
#if PORTS > 2
	:: TAKE(2)
	:: COMES(2)
	:: TAKEN(2)
#endif
#if !defined(NO_DROP) && !defined(NO_RETURN)
	:: atomic { MAY_END -> turn_ends() }
#endif
#ifdef LEAVES
	:: atomic { reader[0] == PARKED && got[0] == 0 && left < 2 -> left++; leave(0); reader[0] = AWAY }
	:: atomic { reader[0] == AWAY -> reader[0] = PARKED; turn_wait(0) }
#endif
	:: atomic { dead && !told -> dies() }
	od
}

proctype killer()
{
	atomic {
		dead = true;
		if
		:: putting == 0 -> putting = NOBODY
		:: else
		fi
	}
}

#define MUST(p) (p != 0 || (WRITER_COMES(0) && READER_COMES(0) && !dead))

/* Nothing can happen any more. */
proctype last()
{
	byte n;

end:	timeout;
	do
	:: n < PORTS ->
		assert(!MUST(n) || (reader[n] == OVER && got[n] == BLOCKS));
		assert(!dead || n != 0 || reader[n] == OVER);
		n++
	:: else -> break
	od;
	assert(holder == NOBODY || !MUST(holder) && !dead)
}

init {
	byte n;

	atomic {
		do
		:: n < PORTS -> run sender(n); n++
		:: else -> break
		od;
		run receiver();
#ifdef VICTIM
		run killer();
#endif
		run last()
	}
}
