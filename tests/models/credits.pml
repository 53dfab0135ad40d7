/* SPDX-License-Identifier: MIT
 *
 * Mailbox ports that share connectors: SENDERS clusters with one connector each at a receiver,
 * which has two ports. Nobody reads port 0, and port 1 is read to the end: any message that is
 * there, or (SELECTIVE) those of the last cluster first. Then both ports are closed. A home core
 * does one thing at a time; puts, events and reads of different clusters interleave freely. With
 * SILENT cluster 0 wants credits again and again, and never answers when it is granted one. With
 * VICTIM it stops at any moment, and the others are told.
 *
 * Shown: what lies at port 0 holds back nothing at port 1: all messages for that are read, whole
 * and in order, also while a cluster is silent or has died; a slot is never written while a message
 * lies there; a cluster has one credit of a port at most; at most one event per direction is in
 * flight for a port and a pair; in the end no cluster keeps a message.
 *
 * proves: kernel/ikc/mail_in.c mail_arrived 4860e2126b7b
 * proves: kernel/ikc/mail_in.c mail_wanted 0e1920cd158c
 * proves: kernel/ikc/mail_in.c mail_in_take 9e18c8b0791f
 * proves: kernel/ikc/mail_in.c mail_in_close d910d85a22b1
 * proves: kernel/ikc/mail_in.c mail_in_serve 37cd7a945c80
 * proves: kernel/ikc/mail_credit.c mail_credit_put 0a3368538f9a
 * proves: kernel/ikc/mail_credit.c mail_credits_give 0ddc88a6ca3b
 * proves: kernel/ikc/mail_credit.c credit_take_back 9c82abd31d2f
 * proves: kernel/ikc/mail_credit.c mail_demand d3f99466f8e5
 * proves: kernel/ikc/mail_credit.c mail_credits_forget cdc4f5287b5e
 * proves: kernel/ikc/mail_credit.c mail_granted bff8a0aa76c1
 * proves: kernel/ikc/mail_out.c mail_out_write 7cdeac112185
 * proves: kernel/ikc/mail_out.c put b5147640f2ef
 * proves: kernel/ikc/mail_out.c emptied e80ea4db55df
 *
 * run: -DSENDERS=2 -DMESSAGES=2
 * run: -DSENDERS=2 -DMESSAGES=3 -DCREDITS=1
 * run: -DSENDERS=2 -DMESSAGES=2 -DSELECTIVE -DCREDITS=1
 * run: -DSENDERS=3 -DMESSAGES=1 -DSILENT
 * run: -DSENDERS=2 -DMESSAGES=2 -DSELECTIVE -DSILENT
 * run: -DSENDERS=2 -DMESSAGES=2 -DVICTIM -DCREDITS=1
 * run: -DSENDERS=2 -DMESSAGES=2 -DVICTIM -DSELECTIVE
 * mutation: -DSENDERS=2 -DMESSAGES=1 -DCONNECTORS_ONLY
 * mutation: -DSENDERS=3 -DMESSAGES=1 -DCREDITS=1 -DNO_GRANT_AFTER_READ
 * mutation: -DSENDERS=2 -DMESSAGES=1 -DCREDITS=1 -DGRANT_WHAT_IS_NOT_FREE
 * mutation: -DSENDERS=2 -DMESSAGES=1 -DCREDITS=1 -DSELECTIVE -DNO_DEMAND
 * mutation: -DSENDERS=2 -DMESSAGES=1 -DCREDITS=1 -DSELECTIVE -DNO_COPY_IS_KEPT
 * mutation: -DSENDERS=2 -DMESSAGES=1 -DCREDITS=1 -DSELECTIVE -DTAKE_BACK_FORGETS
 * mutation: -DSENDERS=3 -DMESSAGES=1 -DSILENT -DCREDITS=1
 * mutation: -DSENDERS=3 -DMESSAGES=1 -DSILENT -DSECOND_CREDIT
 * mutation: -DSENDERS=2 -DMESSAGES=1 -DCREDITS=1 -DCLOSE_FORGETS_WANTED
 * mutation: -DSENDERS=2 -DMESSAGES=1 -DVICTIM -DCREDITS=1 -DDEATH_LEAVES_CREDIT
 * mutation: -DSENDERS=2 -DMESSAGES=1 -DEVENT_BEFORE_PUT
 * pan: -m200000
 */
#ifndef CREDITS
#define CREDITS 2
#endif
#define PORTS 2
#define PAIRS (SENDERS * PORTS)
#define PAIR(s, p) ((s) * PORTS + (p))
#define CONNECTOR 9			/* as a place; below it: a credit */
#define NOBODY 9

mtype = { ARRIVED, WANT, GRANT, FREED, REFUSED };

chan to_receiver[PAIRS] = [1] of { mtype, byte };
chan to_sender[PAIRS] = [1] of { mtype, byte };

/* The receiver's window: number of the message, its port; 0: none lies there. */
byte connector[SENDERS], connector_port[SENDERS];
byte slot[PORTS * CREDITS];
bool dead;				/* cluster 0 has stopped, which its state word says */
bool told;				/* the receiver has seen it */

/* Senders. */
bool connected[SENDERS];
bool sent[PAIRS], kept[PAIRS];
byte written[PAIRS];			/* messages so far: the number of the last */

/* The receiver's home. */
bool pending[PAIRS], wanted[PAIRS];
byte at[PAIRS];
byte credit[PORTS * CREDITS];		/* cluster that has it, + 1 */
byte got[PAIRS];
bool closed;

#ifdef SILENT
#define IS_RIGHT(s) (s != 0)
#else
#define IS_RIGHT(s) true
#endif
#ifdef VICTIM
#define LIVES(s) (s != 0 || !dead)
#else
#define LIVES(s) true
#endif

/* Events to who is dead, or takes none, are lost. */
inline tell_sender(s, p, kind, what) {
	if
	:: LIVES(s) && IS_RIGHT(s) ->
		assert(nfull(to_sender[PAIR(s, p)]));
		to_sender[PAIR(s, p)]!kind, what
	:: else
	fi
}

inline tell_receiver(s, p, kind, what) {
	assert(nfull(to_receiver[PAIR(s, p)]));
	to_receiver[PAIR(s, p)]!kind, what
}

/* --- a sender --- */

#define LAST(p) (p == 0 -> 1 : MESSAGES)
#define MAY_WRITE(p) (!sent[PAIR(me, p)] && written[PAIR(me, p)] < LAST(p))

inline write(p) {
	sent[PAIR(me, p)] = true;
	written[PAIR(me, p)]++;
	if
	:: !connected[me] ->
		connected[me] = true;
#ifdef EVENT_BEFORE_PUT
		tell_receiver(me, p, ARRIVED, CONNECTOR);
		place = CONNECTOR;
		port = p
#else
		assert(connector[me] == 0);
		connector[me] = written[PAIR(me, p)];
		connector_port[me] = p;
		tell_receiver(me, p, ARRIVED, CONNECTOR)
#endif
	:: else ->
		kept[PAIR(me, p)] = true;
		tell_receiver(me, p, WANT, 0)
	fi
}

inline answered(p) {
	assert(sent[PAIR(me, p)]);
	if
	:: kept[PAIR(me, p)] -> kept[PAIR(me, p)] = false
#ifdef NO_COPY_IS_KEPT
	:: !kept[PAIR(me, p)] && connector_port[me] != p -> skip
#endif
	:: else -> connected[me] = false
	fi;
	sent[PAIR(me, p)] = false
}

#ifdef CONNECTORS_ONLY
#define HAS_ROOM !connected[me]
#else
#define HAS_ROOM true
#endif

proctype sender(byte me)
{
	byte port, place = NOBODY;
	mtype kind;

end:	do
	:: atomic { LIVES(me) && place == NOBODY && MAY_WRITE(0) && HAS_ROOM -> write(0) }
	:: atomic { LIVES(me) && place == NOBODY && MAY_WRITE(1) && HAS_ROOM -> write(1) }
	:: atomic { LIVES(me) && place == NOBODY && nempty(to_sender[PAIR(me, 0)]) ->
		to_sender[PAIR(me, 0)]?kind, place; port = 0 }; goto event
	:: atomic { LIVES(me) && place == NOBODY && nempty(to_sender[PAIR(me, 1)]) ->
		to_sender[PAIR(me, 1)]?kind, place; port = 1 }; goto event
#ifdef EVENT_BEFORE_PUT
	:: atomic { LIVES(me) && place == CONNECTOR && kind != GRANT ->
		connector[me] = written[PAIR(me, port)]; connector_port[me] = port; place = NOBODY }
#endif
	:: atomic { !LIVES(me) -> break }
	od;
	goto over;
event:	if
	:: atomic { !LIVES(me) -> goto over }
	:: atomic { LIVES(me) && kind != GRANT -> answered(port); place = NOBODY; kind = FREED }
	:: atomic { LIVES(me) && kind == GRANT ->
		assert(kept[PAIR(me, port)]);
		assert(slot[port * CREDITS + place] == 0);
		slot[port * CREDITS + place] = written[PAIR(me, port)];
#ifdef NO_COPY_IS_KEPT
		kept[PAIR(me, port)] = false
#endif
		};
		atomic {
			if
			:: LIVES(me) -> tell_receiver(me, port, ARRIVED, place)
			:: else
			fi;
			place = NOBODY; kind = FREED
		}
	fi;
	goto end;
over:	skip
}

/* Cluster 0, whose kernel is bad: it asks, and does nothing with what it gets. */
proctype silent()
{
	byte n;

end:	do
	:: atomic { n < 2 * CREDITS && nfull(to_receiver[PAIR(0, 1)]) -> to_receiver[PAIR(0, 1)]!WANT, 0; n++ }
	od
}

/* --- the receiver --- */

inline credit_put(s, p) {
	if
	:: at[PAIR(s, p)] < CREDITS ->
		slot[p * CREDITS + at[PAIR(s, p)]] = 0;
		credit[p * CREDITS + at[PAIR(s, p)]] = 0
	:: else -> connector[s] = 0
	fi;
	at[PAIR(s, p)] = CONNECTOR
}

inline grant(s, p, i) {
	wanted[PAIR(s, p)] = false;
	credit[p * CREDITS + i] = s + 1;
	tell_sender(s, p, GRANT, i)
}

/* One credit that is free, to the first that wants it, if there are both. */
inline give(p) {
	i = 0;
	do
	:: i < CREDITS && credit[p * CREDITS + i] != 0 -> i++
	:: else -> break
	od;
	k = 0;
	do
	:: k < SENDERS && !wanted[PAIR(k, p)] -> k++
	:: else -> break
	od;
#ifdef GRANT_WHAT_IS_NOT_FREE
	if
	:: i == CREDITS -> i = 0
	:: else
	fi;
#endif
	if
	:: i < CREDITS && k < SENDERS -> grant(k, p, i)
	:: else
	fi
}

inline has_credit(s, p) {
	i = 0;
	do
	:: i < CREDITS && credit[p * CREDITS + i] != s + 1 -> i++
	:: else -> break
	od
}

inline on_arrived(s, p) {
	if
	:: (place == CONNECTOR || credit[p * CREDITS + place] == s + 1) && !pending[PAIR(s, p)] ->
		at[PAIR(s, p)] = place;
		if
		:: closed -> credit_put(s, p); tell_sender(s, p, REFUSED, 0); give(p)
		:: else -> pending[PAIR(s, p)] = true
		fi
	:: else
	fi
}

inline on_want(s, p) {
	has_credit(s, p);
	if
	:: pending[PAIR(s, p)] || wanted[PAIR(s, p)]
#ifndef SECOND_CREDIT
	:: i < CREDITS && !pending[PAIR(s, p)] && !wanted[PAIR(s, p)]
#endif
	:: else ->
		if
		:: closed -> tell_sender(s, p, REFUSED, 0)
		:: else -> wanted[PAIR(s, p)] = true; give(p)
		fi
	fi
}

/* What is of the dead is dropped. */
inline on_event(s, p) {
	if
	:: s == 0 && told
	:: else ->
		if
		:: kind == ARRIVED -> on_arrived(s, p)
		:: else -> on_want(s, p)
		fi
	fi
}

/* Read a message of s at port 1. */
inline take(s) {
	got[PAIR(s, 1)]++;
	if
	:: at[PAIR(s, 1)] == CONNECTOR ->
		assert(connector[s] == got[PAIR(s, 1)] && connector_port[s] == 1)
	:: else -> assert(slot[CREDITS + at[PAIR(s, 1)]] == got[PAIR(s, 1)])
	fi;
	pending[PAIR(s, 1)] = false;
	credit_put(s, 1);
	tell_sender(s, 1, FREED, 0);
#ifndef NO_GRANT_AFTER_READ
	give(1)
#endif
}

/* Somebody wants a message of s and no other. */
inline demand(s) {
	i = 0;
	do
	:: i < CREDITS && credit[CREDITS + i] != 0 -> i++
	:: else -> break
	od;
	if
	:: i < CREDITS
	:: else ->
		i = 0;
		do
		:: i < CREDITS && !(pending[PAIR(credit[CREDITS + i] - 1, 1)] && at[PAIR(credit[CREDITS + i] - 1, 1)] == i) -> i++
		:: else -> break
		od;
		if
		:: i < CREDITS ->
			k = credit[CREDITS + i] - 1;
			pending[PAIR(k, 1)] = false;
			at[PAIR(k, 1)] = CONNECTOR;
			slot[CREDITS + i] = 0;
#ifndef TAKE_BACK_FORGETS
			wanted[PAIR(k, 1)] = true
#endif
		:: else
		fi
	fi;
	if
	:: i < CREDITS -> grant(s, 1, i)
	:: else
	fi
}

inline refuse(s, p) {
	if
	:: pending[PAIR(s, p)] ->
		pending[PAIR(s, p)] = false;
		credit_put(s, p);
		tell_sender(s, p, REFUSED, 0)
	:: wanted[PAIR(s, p)] ->
		wanted[PAIR(s, p)] = false;
#ifndef CLOSE_FORGETS_WANTED
		tell_sender(s, p, REFUSED, 0)
#endif
	:: else
	fi
}

/* Cluster 0 is dead; what it has put can still be read. */
inline forget(p) {
	wanted[PAIR(0, p)] = false;
#ifndef DEATH_LEAVES_CREDIT
	i = 0;
	do
	:: i < CREDITS ->
		if
		:: credit[p * CREDITS + i] == 1 && !(pending[PAIR(0, p)] && at[PAIR(0, p)] == i) ->
			credit[p * CREDITS + i] = 0;
			slot[p * CREDITS + i] = 0
		:: else
		fi;
		i++
	:: else -> break
	od;
	give(p)
#endif
}

/* All that must come: of the cluster that is silent or dead, nothing must. */
#define HAS_ALL(s) (got[PAIR(s, 1)] == MESSAGES || !IS_RIGHT(s) || (s == 0 && told))
#if SENDERS > 2
#define HAVE_ALL (HAS_ALL(0) && HAS_ALL(1) && HAS_ALL(2))
#else
#define HAVE_ALL (HAS_ALL(0) && HAS_ALL(1))
#endif

/* Demand would find a credit. */
#define LIES_THERE(i) (pending[PAIR(credit[CREDITS + i] - 1, 1)] && at[PAIR(credit[CREDITS + i] - 1, 1)] == i)
#if CREDITS > 1
#define HAS_CREDIT (credit[CREDITS] == 0 || LIES_THERE(0) || credit[CREDITS + 1] == 0 || LIES_THERE(1))
#else
#define HAS_CREDIT (credit[CREDITS] == 0 || LIES_THERE(0))
#endif

#define TAKE(n) atomic { to_receiver[n]?kind, place -> on_event(n / PORTS, n % PORTS) }

proctype receiver()
{
	byte i, k, s, place;
	mtype kind;

	s = SENDERS - 1;
end:	do
	:: TAKE(0)
	:: TAKE(1)
	:: TAKE(2)
	:: TAKE(3)
#if SENDERS > 2
	:: TAKE(4)
	:: TAKE(5)
#endif
	:: atomic { dead && !told -> told = true; forget(0); forget(1) }
#ifdef SELECTIVE
	:: atomic { !closed && pending[PAIR(s, 1)] -> take(s) }
	:: atomic { !closed && HAS_ALL(s) && s > 0 -> s-- }
#ifndef NO_DEMAND
	:: atomic { !closed && wanted[PAIR(s, 1)] && HAS_CREDIT -> demand(s) }
#endif
#else
	:: atomic { !closed && pending[PAIR(0, 1)] -> take(0) }
	:: atomic { !closed && pending[PAIR(1, 1)] -> take(1) }
#if SENDERS > 2
	:: atomic { !closed && pending[PAIR(2, 1)] -> take(2) }
#endif
#endif
	:: atomic { !closed && HAVE_ALL ->
		closed = true;
		s = 0;
		do
		:: s < SENDERS -> refuse(s, 0); refuse(s, 1); s++
		:: else -> break
		od;
		s = 0 }
	od
}

proctype killer()
{
	dead = true
}

/* Nothing can happen any more. */
proctype last()
{
	byte n;

end:	timeout;
	assert(closed);
	do
	:: n < PAIRS ->
		assert(!LIVES(n / PORTS) || !IS_RIGHT(n / PORTS) ||
			(!sent[n] && !kept[n] && written[n] == (n % PORTS == 0 -> 1 : MESSAGES)));
		assert(!wanted[n] || !LIVES(n / PORTS));
		n++
	:: else -> break
	od
}

init {
	byte n;

	atomic {
		do
		:: n < PAIRS -> at[n] = CONNECTOR; n++
		:: else -> break
		od;
		n = 0;
		do
		:: n < SENDERS ->
			if
			:: IS_RIGHT(n) -> run sender(n)
			:: else -> run silent()
			fi;
			n++
		:: else -> break
		od;
		run receiver();
#ifdef VICTIM
		run killer();
#endif
		run last()
	}
}
