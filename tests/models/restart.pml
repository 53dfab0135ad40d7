/* SPDX-License-Identifier: MIT
 *
 * Restart of a cluster X by cluster 0, while a peer P talks to it: P's home core gives a core leave
 * to put a block, the core looks whether the life that it was told of is up, puts, and comes back.
 * X is stopped at any moment, also while it boots, several times. P may die at any moment; its core
 * then goes on until the machine stops it.
 *
 * Shown: no block and no event that was meant for one life comes to a later one, and each restart
 * comes to its end.
 *
 * proves: kernel/ikc/restart.c has_settled ef564b42ddf8
 * proves: kernel/ikc/restart.c answer ef67dce0678c
 * proves: kernel/ikc/restart.c cannot_reach 2c1710bb4645
 * proves: kernel/ikc/restart.c ask 3197b0c22cf8
 * proves: kernel/ikc/restart.c asks f4c6151fb325
 * proves: kernel/ikc/restart.c stops 6107e3d2cdb7
 * proves: kernel/ikc/restart.c start 1a01ee0507a5
 * proves: kernel/ikc/restart.c restart_event 1eaa3f0d98fb
 * proves: kernel/ikc/peer.c peer_refresh 6d9736638eb9
 * proves: kernel/ikc/peer.c peer_gone 347c8e7c1abe
 * proves: kernel/ikc/portal_event.c writer_goes 14fc60dad9bb
 * proves: kernel/ikc/portal_event.c leave_out ce85da61fddf
 * proves: kernel/ikc/portal.c portal_write_step 5721b47d7fcd
 * proves: hal/noc/shm/noc.c slot_place e3697d563f5d
 *
 * run: -DLIVES=3 -DPUTS=3
 * run: -DLIVES=3 -DPUTS=3 -DP_STAYS
 * mutation: -DLIVES=2 -DPUTS=2 -DNOBODY_IS_ASKED
 * mutation: -DLIVES=2 -DPUTS=2 -DCORES_ARE_NOT_WAITED_FOR
 * mutation: -DLIVES=2 -DPUTS=2 -DANSWER_BEFORE_THE_DEATH_IS_KNOWN
 * mutation: -DLIVES=2 -DPUTS=2 -DTHE_DEAD_ARE_NOT_STOPPED
 * mutation: -DLIVES=3 -DPUTS=2 -DP_STAYS -DDEATH_IS_TOLD_BEFORE_THE_STOP
 * mutation: -DLIVES=2 -DPUTS=2 -DTHE_DEAD_ARE_ASKED
 * pan: -m1000000
 */
mtype = { DOWN, UP, DEAD };

/* X */
mtype window = DOWN;		/* its state word */
byte life = 1;			/* that runs, or ran last */
byte incarnation;		/* in its window */
bool runs = true;		/* its cores */

/* P */
bool p_lives = true, p_runs = true;
byte known;			/* life of X that is up, as far as P's home knows; 0: none */
byte moving;			/* cores with leave to put */
byte leave;			/* the life for which the core has it; 0: none */
bool asks, answered;		/* SETTLE, SETTLED: on their way */
byte puts;

/* X boots: it sets its incarnation, then it is up. Each step only while its cores run. */
active proctype x()
{
	byte own = 0, stage;

end_stopped:
	do
	:: d_step { runs && own != life -> own = life; window = DOWN; stage = 1 }
	:: d_step { runs && own == life && stage == 1 -> incarnation = life; stage = 2 }
	:: d_step { runs && own == life && stage == 2 -> window = UP; stage = 3 }
	od
}

/* Cluster 0's home core. */
active proctype zero()
{
	do
	:: life < LIVES ->
#ifdef DEATH_IS_TOLD_BEFORE_THE_STOP
		window = DEAD;
		runs = false;
#else
		runs = false;
		window = DEAD;
#endif
#ifndef NOBODY_IS_ASKED
		if
#ifdef THE_DEAD_ARE_ASKED
		:: true ->
#else
		:: p_lives ->
#endif
			asks = true;
			if
			:: answered
#ifndef THE_DEAD_ARE_ASKED
			:: !p_lives -> goto stop_p
#endif
			fi
		:: !p_lives ->
stop_p:
#ifndef THE_DEAD_ARE_NOT_STOPPED
			p_runs = false;
#else
			skip
#endif
		fi;
#endif
		d_step { answered = false; asks = false };
		window = DOWN;
		d_step { life++; runs = true }
	:: else -> break
	od
}

/* P's home core: every step only while P lives. */
active proctype p_home()
{
end_home:
	do
	:: d_step { p_lives && known != 0 && (window != UP || incarnation != known) -> known = 0 }
	:: d_step { p_lives && known == 0 && window == UP -> known = incarnation }
	:: d_step { p_lives && known != 0 && leave == 0 && moving == 0 && puts < PUTS -> leave = known; moving++; puts++ }
#ifdef CORES_ARE_NOT_WAITED_FOR
	:: d_step { p_lives && asks && known == 0 && window == DEAD -> asks = false; answered = true }
#else
#ifdef ANSWER_BEFORE_THE_DEATH_IS_KNOWN
	:: d_step { p_lives && asks && moving == 0 -> asks = false; answered = true }
#else
	:: d_step { p_lives && asks && known == 0 && window == DEAD && moving == 0 -> asks = false; answered = true }
#endif
#endif
	/* an event for the life that it knows: its stamp is that of the life that is up */
	:: d_step { p_lives && known != 0 && window == UP -> assert(incarnation == known) }
#ifndef P_STAYS
	:: d_step { p_lives -> p_lives = false }
#endif
	od
}

/* The core of P that moves data. */
active proctype p_core()
{
	byte meant;

end_core:
	do
	:: d_step { p_runs && leave != 0 -> meant = leave };
		if
		:: d_step { p_runs && window == UP && incarnation == meant };
			if
			/* the put: after the look, at any time later */
			:: d_step { p_runs -> assert(life == meant) }
			:: !p_runs -> break
			fi
		:: p_runs && (window != UP || incarnation != meant)
		:: !p_runs -> break
		fi;
		/* it comes back, if its home still lives */
		if
		:: d_step { p_runs -> leave = 0; moving-- }
		:: !p_runs -> break
		fi
	:: !p_runs -> break
	od
}
