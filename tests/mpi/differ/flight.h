/* SPDX-License-Identifier: MIT
 *
 * Collectives that are on their way: blocks of data per peer, calls in their three forms.
 */
#ifndef TESTS_MPI_DIFFER_FLIGHT_H
#define TESTS_MPI_DIFFER_FLIGHT_H

#include "differ.h"

enum form_of_call { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* name(...), Iname(...) or name_init(...) and its start. */
#define CALL(f, name, iname, ...) \
	do { \
		if ((f)->form == BLOCKING) { \
			MPI_##name(__VA_ARGS__, (f)->comm); \
		} else if ((f)->form == NONBLOCKING) { \
			MPI_##iname(__VA_ARGS__, (f)->comm, &(f)->request); \
		} else { \
			MPI_##name##_init(__VA_ARGS__, (f)->comm, MPI_INFO_NULL, &(f)->request); \
			MPI_Start(&(f)->request); \
		} \
	} while (0)

enum layout { REGULAR, VECTOR, BYTES };

/* What a rank sends or receives: a block per peer. */
struct blocks {
	int n;
	int *counts;
	int *at;			/* in extents, or bytes if laid out so */
	MPI_Aint *far_at;		/* the same */
	MPI_Datatype *types;		/* BYTES: one each, otherwise [0] */
	struct made *made;
	int made_n;
	struct space space;
};

/* counts [n]; shapes: of each block (BYTES) or [0]. Contents are filled from `seed`. */
struct blocks_plan {
	int n;
	const int *counts;
	const uint64_t *shapes;
	uint64_t where;
	enum layout layout;
	uint64_t seed;
};

void blocks_make(struct blocks *b, const struct blocks_plan *plan);
void blocks_drop(struct blocks *b);

struct flight {
	int kind;
	enum form_of_call form;
	MPI_Comm comm;
	const struct place *place;
	int peers;			/* of the other group, or all */
	int root;			/* as this rank names it */
	int root_endpoint;
	int at_root;
	int takes_part;			/* intercommunicator: not the root's side but for itself */
	int in_place;
	struct blocks out;
	struct blocks in;
	MPI_Request request;
};

/* The endpoint that peer i is. */
int flight_peer(const struct flight *f, int i);
void flight_root(struct flight *f, struct dice *dice);
void flight_describe(struct flight *f, const struct place *p);

/* Begin, and end, up to three collectives on a place. */
#define FLIGHTS 3
struct squadron {
	int n;
	struct flight of[FLIGHTS];
};
void squadron_start(struct differ *d, struct squadron *s, const struct place *p, struct dice *dice);
void squadron_finish(struct differ *d, struct squadron *s);

#endif
