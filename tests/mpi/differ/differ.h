/* SPDX-License-Identifier: MIT
 *
 * A random program, deterministic by construction: the same seed must give the same data with every
 * MPI library and any number of steps left out. A step draws all it does from (seed, step), does
 * it, and adds what it received, and what it was told about it, to a sum per rank.
 */
#ifndef TESTS_MPI_DIFFER_H
#define TESTS_MPI_DIFFER_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 64			/* bytes around each buffer, which nobody may touch */

struct dice {
	uint64_t state;
};

struct sum {
	uint64_t value;
};

/*
 * A communicator, and who is in it. Endpoints are numbered: of an intracommunicator by rank, of an
 * intercommunicator first those of side 0.
 */
struct place {
	MPI_Comm comm;			/* MPI_COMM_NULL: not here */
	const char *name;
	int inter;
	int side;
	int sizes[2];			/* of each side; intracommunicator: [0] */
	int rank;
	/* communicators of one name that exist side by side draw differently */
	int salt;
};

#define PLACES 6

struct differ {
	uint64_t seed;
	int step;
	int rank;
	int size;
	int most;			/* messages of an exchange at most */
	long bytes;			/* of a message at most */
	int verbose;
	int ours;			/* is this our library? */
	int errors;			/* of completions */
	/* this rank's alone: order of completion and the like, which must not change the data */
	struct dice own;
	struct place places[PLACES];
	struct sum sum;			/* of this step */
	MPI_Comm reports;
	void *attached;
	MPI_Op compose;			/* does not commute; of two MPI_UINT32_T */
	MPI_Op add;			/* does; of types of `add_type` */
	MPI_Datatype two;
	MPI_Datatype gapped;		/* two MPI_UINT32_T in 16 bytes */
};

static inline uint64_t
mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + 0x94d049bb133111ebu;

	x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93u;
	x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
	return x ^ (x >> 32);
}

static inline struct dice
dice_of(uint64_t seed, uint64_t a, uint64_t b)
{
	return (struct dice){mix(mix(seed, a), b) | 1};
}

/* 0 .. n - 1. Not twice in one list of arguments or initialisers, whose order is the compiler's. */
static inline int
below(struct dice *d, int n)
{
	d->state = mix(d->state, 77);
	return (int)((d->state >> 20) % (uint64_t)n);
}

static inline void
sum_bytes(struct sum *s, const void *from, size_t len)
{
	const unsigned char *b = from;

	for (size_t i = 0; i < len; i++)
		s->value = (s->value ^ b[i]) * 0x100000001b3u;
	s->value ^= s->value >> 29;
}

static inline void
sum_number(struct sum *s, long long n)
{
	sum_bytes(s, &n, sizeof(n));
}

/*
 * Tags of exchanges differ from step to step, for a step begins while others are still in the one
 * before.
 */
static inline int
step_tag(const struct differ *d, int tag)
{
	return d->step % 5000 * 4 + tag;
}

/* Tags of the other steps. */
enum { TAG_WILD = 25000, TAG_NEVER = 30000, TAG_SHORT, TAG_PACKED, TAG_AROUND = 31000 };

static inline int
class_of(int code)
{
	int class = code;

	MPI_Error_class(code, &class);
	return class;
}

/* The endpoint that this rank is, how many there are, and how one is named by others. */
int place_me(const struct place *p);
int place_count(const struct place *p);
int place_rank(const struct place *p, int endpoint);
int place_side(const struct place *p, int endpoint);
void places_open(struct differ *d);
void places_close(struct differ *d);

/* What both ends of a message agree on, and where the data lie at one of them. */
struct form {
	uint64_t shape;			/* seed of the signature */
	uint64_t where;			/* seed of the layout */
	/* all elements of one basic type, so that elements can be counted */
	int plain;
	int basic;			/* which one; -1: any */
	/*
	 * goes in one piece: negative strides and pairs, which MPICH 5.0.2 cannot send in several
	 */
	int small;
};

struct made {
	MPI_Datatype type;
	int derived;
	int size;
	/* has what makes MPICH 5.0.2 unable to count basic elements */
	int odd;
};

/* Types of equal `shape` have equal signatures; they never overlap themselves. */
struct made type_make(const struct form *f);
void type_drop(struct made *m);
MPI_Datatype type_basic(int number);
int type_basics(void);

/*
 * Memory for elements from `first` on to `last` (counted in extents) of a type; the address is that
 * of element 0.
 */
struct space {
	char *memory;
	size_t len;
	char *at;
};

struct space space_make(MPI_Datatype type, MPI_Aint last);
void space_fill(struct space *s, uint64_t seed);
void space_sum(const struct space *s, struct sum *sum);
void space_drop(struct space *s);

/* With -v: how a type was made, sums of pieces of memory. */
void type_say(const struct differ *d, const char *what, const struct made *m);
void space_say(const struct differ *d, const char *what, const struct space *s);

/* Add what a status says. `type` MPI_DATATYPE_NULL: not how much. */
void status_sum(struct sum *sum, const MPI_Status *s, MPI_Datatype type, int elements);

/*
 * Complete requests in one of all the ways that there are. Statuses end in `s`. Returns the number
 * of errors. The second form does without MPI_Testall, which MPICH 5.0.2 refuses for persistent
 * requests.
 */
int finish_all(struct differ *d, int n, MPI_Request *r, MPI_Status *s);
int finish_collectives(struct differ *d, int n, MPI_Request *r, MPI_Status *s);

/* The steps. */
struct flight;
void step_exchange(struct differ *d, struct dice *dice);
void step_wild(struct differ *d, struct dice *dice);
void step_around(struct differ *d, struct dice *dice);
void step_short(struct differ *d, struct dice *dice);
void step_pack(struct differ *d, struct dice *dice);
void step_collectives(struct differ *d, struct dice *dice);
void step_mixed(struct differ *d, struct dice *dice);
void step_reductions(struct differ *d, struct dice *dice);
void step_neighbors(struct differ *d, struct dice *dice);
void step_groups(struct differ *d, struct dice *dice);
void step_comms(struct differ *d, struct dice *dice);
void step_topologies(struct differ *d, struct dice *dice);
void step_types(struct differ *d, struct dice *dice);

/* All messages of an exchange among the members of a place. */
void exchange(struct differ *d, const struct place *p, struct dice *dice);

/* Say something with --verbose. */
#define SAY(d, ...) \
	do { \
		if ((d)->verbose) { \
			fprintf(stderr, "rank %d step %d: ", (d)->rank, (d)->step); \
			fprintf(stderr, __VA_ARGS__); \
			fprintf(stderr, "\n"); \
		} \
	} while (0)

#endif
