/* SPDX-License-Identifier: MIT
 *
 * Mailboxes between clusters: SENDERS clusters with WRITERS threads each write to one port of a
 * receiving cluster. Each cluster has a home core that does one thing at a time (`home`); put,
 * events and copies of different clusters interleave freely. With VICTIM a cluster stops at any
 * moment and the others are told.
 *
 * A step is what one other cluster can tell apart: the put with its ghosts, an event, the copy, the
 * end of the copy with the look whether the sender is dead. What touches only the own cluster,
 * under `home`, is in one step with what stands before or behind it: nobody can come between,
 * because taking `home` commutes with what others did before and giving it back with what they do
 * after. The look at `dead` commutes with the put and with the end of the copy: of the death only
 * it and what is told of it are seen.
 *
 * This is a machine where each port has a connector; credits.pml is of ports that share them.
 *
 * Shown: messages of a cluster are read once, whole, in order; a slot is never written before it
 * was read; at most one event per direction is in flight for a port and a pair; nobody waits for
 * ever, also when a cluster dies: every process reaches its end.
 *
 * proves: kernel/ikc/mail_out.c mail_out_write 7cdeac112185
 * proves: kernel/ikc/mail_out.c mail_out_result 12cd0037c842
 * proves: kernel/ikc/mail_out.c mail_freed 7ad29a3ca1fc
 * proves: kernel/ikc/mail_out.c mail_out_look 864ad51aea4c
 * proves: kernel/ikc/mail_out.c mail_out_peer_changed 7588ab604507
 * proves: kernel/ikc/mail_in.c mail_arrived 4860e2126b7b
 * proves: kernel/ikc/mail_in.c mail_in_take 9e18c8b0791f
 * proves: kernel/ikc/mail_in.c mail_in_peer_changed fd25adfd2297
 * proves: kernel/ikc/mailbox.c wait_home e16924bb9f63
 * proves: kernel/ikc/wait.c look_at_threads 58b47e587007
 * proves: kernel/ikc/wait.c look_at 913ee8894929
 * proves: kernel/ikc/wait.c ikc_look b45abdc90be8
 * proves: kernel/thread/notify.c thread_signal 1609ca83a1b6
 * proves: kernel/thread/notify.c sleep_serve ff1244da713f
 *
 * run: -DSENDERS=2 -DWRITERS=1 -DMESSAGES=2
 * run: -DSENDERS=1 -DWRITERS=2 -DMESSAGES=2
 * run: -DSENDERS=1 -DWRITERS=2 -DMESSAGES=2 -DVICTIM=RECEIVER
 * run: -DSENDERS=2 -DWRITERS=1 -DMESSAGES=2 -DVICTIM=0
 * mutation: -DSENDERS=1 -DWRITERS=2 -DMESSAGES=2 -DNO_FREED
 * mutation: -DSENDERS=1 -DWRITERS=2 -DMESSAGES=2 -DNO_WAKE_ON_FREED
 * mutation: -DSENDERS=1 -DWRITERS=2 -DMESSAGES=2 -DVICTIM=RECEIVER -DLOOK_ENDS_WITH_ITS_FIRST_STEP
 * mutation: -DSENDERS=1 -DWRITERS=2 -DMESSAGES=2 -DLOOK_WAKES_NOBODY
 * mutation: -DSENDERS=2 -DWRITERS=1 -DMESSAGES=2 -DNO_WAKE_ON_ARRIVED
 * mutation: -DSENDERS=2 -DWRITERS=1 -DMESSAGES=2 -DWRITER_PARKS_WITHOUT_LOOKING
 * mutation: -DSENDERS=2 -DWRITERS=1 -DMESSAGES=2 -DREADER_PARKS_WITHOUT_LOOKING
 * mutation: -DSENDERS=1 -DWRITERS=1 -DMESSAGES=2 -DEVENT_BEFORE_PUT
 * mutation: -DSENDERS=1 -DWRITERS=1 -DMESSAGES=2 -DFREED_BEFORE_COPY
 * mutation: -DSENDERS=1 -DWRITERS=2 -DMESSAGES=2 -DWRITE_INTO_FULL_SLOT
 * mutation: -DSENDERS=2 -DWRITERS=1 -DMESSAGES=2 -DVICTIM=RECEIVER -DNO_WAKE_OF_WRITERS_ON_DEATH
 * mutation: -DSENDERS=2 -DWRITERS=1 -DMESSAGES=2 -DVICTIM=0 -DNO_WAKE_OF_READERS_ON_DEATH
 * mutation: -DSENDERS=2 -DWRITERS=1 -DMESSAGES=2 -DSIGNAL_IS_FORGOTTEN
 * pan: -m200000
 */
#define RECEIVER SENDERS
#define CLUSTERS (SENDERS + 1)
#define NOBODY 255
#define PER_CLUSTER (WRITERS * MESSAGES)

bool home[CLUSTERS];			/* the home core is busy */
bool dead[CLUSTERS];			/* state word in the cluster's window */
bool told[CLUSTERS];			/* death counter of the window has changed */
bool over[CLUSTERS];			/* nothing of the cluster runs any more */

/* The receiver's window, and the rings of both sides: one event per direction is the most that the protocol may have in flight. */
byte slot[SENDERS];			/* number of the message; 0: nothing was ever there */
chan arrived[SENDERS] = [1] of { bit };
chan freed[SENDERS] = [1] of { bit };

/* Sender's home: struct mail_out. */
bool occupied[SENDERS];
bool receiver_gone[SENDERS];		/* writes and waits say so */
bool receiver_gone_known[SENDERS];	/* everybody was woken */
chan waiters[SENDERS] = [WRITERS] of { byte };
bool look[SENDERS];			/* those who wait are looked at */
bool woken[SENDERS * WRITERS];

/* Receiver's home: struct mail_in. */
bool pending[SENDERS];
bool sender_gone[SENDERS];
bool noted;				/* of the reader's notification */
bool reader_waits, reader_woken;

/* Ghosts. */
byte written[SENDERS], read[SENDERS];
bool unread[SENDERS];			/* the slot holds what was not read */

#define ENTER(c) !home[c] -> home[c] = true
#define LEAVE(c) home[c] = false

/*
 * ikc_look: one step; messages and events come between two. The oldest goes on if its wait is over:
 * as long as the slot is free, whoever goes on, and for good when the receiver is gone.
 */
inline look_step(c, t) {
	if
	:: nempty(waiters[c]) && (!occupied[c] || receiver_gone[c]) ->
		waiters[c]?t;
#ifdef LOOK_WAKES_NOBODY
		waiters[c]!t;
		look[c] = false
#else
		woken[t] = true
#endif
#ifdef LOOK_ENDS_WITH_ITS_FIRST_STEP
		; look[c] = false
#endif
	:: else -> look[c] = false
	fi
}

/* The two steps of a write that other clusters see. */
inline put(c) {
	assert(!unread[c]);
	written[c]++;
	unread[c] = true;
	slot[c] = written[c]
}

inline tell(c) {
	assert(nfull(arrived[c]));
	arrived[c]!1
}

#ifdef EVENT_BEFORE_PUT
#define FIRST(c) tell(c)
#define SECOND(c) put(c)
#else
#define FIRST(c) put(c)
#define SECOND(c) tell(c)
#endif

/* mail_out_write, on the home core, up to the first of these steps: true in `done` if it was taken. */
inline write(c, done) {
	done = false;
	if
	:: receiver_gone[c]
#ifdef WRITE_INTO_FULL_SLOT
	:: !receiver_gone[c] ->
#else
	:: !receiver_gone[c] && !occupied[c] ->
#endif
		if
		:: dead[RECEIVER] -> receiver_gone[c] = true	/* hal_noc_put says so */
		:: !dead[RECEIVER] ->
			FIRST(c);
			occupied[c] = true;
			done = true
		fi
	:: else
	fi
}

/* A thread that writes; waits with mailbox_wait when the slot is not for it. */
proctype writer(byte c; byte me) {
	byte left = MESSAGES;
	bool done, no_peer;

	do
	:: left == 0 || no_peer || over[c] -> break
	:: else ->
		atomic {
			ENTER(c);
			write(c, done);
			if
			:: done
			:: else -> no_peer = receiver_gone[c]; LEAVE(c)
			fi
		};
		if
		:: atomic { done -> SECOND(c); no_peer = receiver_gone[c]; LEAVE(c); left-- }
		:: !done && no_peer
		:: else ->
			/* mail_out_wait */
			atomic { !home[c] ->
			woken[me] = false;
			if
#ifndef WRITER_PARKS_WITHOUT_LOOKING
			:: receiver_gone[c] || !occupied[c] -> woken[me] = true
#endif
			:: else -> waiters[c]!me
			fi };
			(woken[me] || over[c])
		fi
	od
}

/* Home core of a sending cluster: FREED, and the receiver's death. */
proctype sender_home(byte c) {
	byte t;

end:	do
	:: atomic { !home[c] && freed[c]?[1] ->
		freed[c]?1;
		occupied[c] = false;
#ifndef NO_WAKE_ON_FREED
		look[c] = true
#endif
		}
	:: atomic { !home[c] && told[c] && dead[RECEIVER] && !receiver_gone_known[c] ->
		receiver_gone_known[c] = true;
		receiver_gone[c] = true;
		occupied[c] = false;
#ifndef NO_WAKE_OF_WRITERS_ON_DEATH
		look[c] = true
#endif
		}
	:: atomic { !home[c] && look[c] -> look_step(c, t) }
	od
}

/* binding_signal, of mail_arrived and mail_in_peer_gone */
inline signal() {
	if
	:: reader_waits -> reader_waits = false; reader_woken = true
#ifdef SIGNAL_IS_FORGOTTEN
	:: else
#else
	:: else -> noted = true
#endif
	fi
}

inline on_arrived(c) {
	arrived[c]?1;
	pending[c] = true;
#ifndef NO_WAKE_ON_ARRIVED
	signal()
#endif
}

inline on_death(c) {
	sender_gone[c] = true;
#ifndef NO_WAKE_OF_READERS_ON_DEATH
	signal()
#endif
}

#define DEATH(c) (told[RECEIVER] && dead[c] && !sender_gone[c])

proctype receiver_home() {
end:	do
	:: atomic { !home[RECEIVER] && arrived[0]?[1] -> on_arrived(0) }
	:: atomic { !home[RECEIVER] && DEATH(0) -> on_death(0) }
#if SENDERS > 1
	:: atomic { !home[RECEIVER] && arrived[1]?[1] -> on_arrived(1) }
	:: atomic { !home[RECEIVER] && DEATH(1) -> on_death(1) }
#endif
	od
}

/* mail_in_take: copy, then free; the steps that other clusters see. */
#define COPY(c, value) value = slot[c]

inline copied(c, freeing) {
	pending[c] = false;
	unread[c] = false;
	freeing = !dead[c]
}

inline free(c, freeing) {
	if
	:: freeing -> assert(nfull(freed[c]));
#ifndef NO_FREED
		freed[c]!1
#endif
	:: else
	fi
}

#define SATISFIED(c) (read[c] == PER_CLUSTER || sender_gone[c])
#if SENDERS > 1
#define COMPLETE (SATISFIED(0) && SATISFIED(1))
#else
#define COMPLETE SATISFIED(0)
#endif

/* The thread that reads until everything has come from the clusters that live. */
proctype reader() {
	byte c, value;
	bool found, freeing;

	do
	:: COMPLETE || over[RECEIVER] -> break
	:: else ->
		atomic {
			ENTER(RECEIVER);
			c = 0;
			do
			:: c < SENDERS && !pending[c] -> c++
			:: else -> break
			od;
			found = c < SENDERS;
			if
#ifdef FREED_BEFORE_COPY
			:: found -> copied(c, freeing)
#else
			:: found -> COPY(c, value)
#endif
			:: else -> LEAVE(RECEIVER)
			fi
		};
		if
		:: found ->
#ifdef FREED_BEFORE_COPY
			atomic { free(c, freeing) };
			atomic { COPY(c, value);
#else
			atomic { copied(c, freeing) };
			atomic { free(c, freeing);
#endif
			read[c]++; assert(value == read[c]); LEAVE(RECEIVER) }
		:: else ->
			/* thread_sleep; nothing that came since the look at COMPLETE may be lost */
			atomic { !home[RECEIVER] ->
			reader_woken = false;
			if
#ifndef READER_PARKS_WITHOUT_LOOKING
			:: noted -> noted = false; reader_woken = true
#endif
			:: else -> reader_waits = true
			fi };
			(reader_woken || over[RECEIVER])
		fi;
		value = 0
	od
}

#ifdef VICTIM
proctype killer() {
	byte c;

	atomic {
		dead[VICTIM] = true;
		over[VICTIM] = true;
		do
		:: c < CLUSTERS -> told[c] = true; c++
		:: else -> break
		od
	}
}
#endif

init {
	byte c, w;

	atomic {
		do
		:: c < SENDERS ->
			run sender_home(c);
			w = 0;
			do
			:: w < WRITERS -> run writer(c, c * WRITERS + w); w++
			:: else -> break
			od;
			c++
		:: else -> break
		od;
		run receiver_home();
		run reader();
#ifdef VICTIM
		run killer()
#endif
	}
}
