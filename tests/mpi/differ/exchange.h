/* SPDX-License-Identifier: MIT
 *
 * The plan of an exchange: every member draws the whole of it, and does its part.
 */
#ifndef TESTS_MPI_DIFFER_EXCHANGE_H
#define TESTS_MPI_DIFFER_EXCHANGE_H

#include "differ.h"

#define MESSAGES 20
#define TAGS 3

enum mode {
	SEND, SSEND, BSEND, RSEND, ISEND, ISSEND, IBSEND, IRSEND, SEND_INIT, SSEND_INIT, BSEND_INIT,
	RSEND_INIT, MODES
};

enum how {
	RECV, IRECV, RECV_INIT, PROBE, IPROBE, MPROBE, IMPROBE, HOWS
};

struct message {
	int source;			/* endpoints */
	int target;
	int tag;
	enum mode mode;
	int packed_out;			/* leaves as MPI_PACKED, arrives so */
	int packed_in;
	/* how it is received, and when among all that its target receives */
	enum how how;
	int turn;
	int early;			/* before anything is sent */
	int any_source;
	int any_tag;
	/* elements of its type for which there would be room, too */
	int spare;
	int in_others;			/* received as another type over the same basic one */
	struct form form;		/* the layouts are drawn from it and the endpoint */
	int count;
	long size;			/* bytes of data */
};

struct plan {
	int n;
	int ready;			/* is there a message that needs its receive to be there? */
	int rounds;
	struct message of[MESSAGES];
};

void plan_draw(struct plan *plan, const struct differ *d, const struct place *p, struct dice *dice);

#endif
