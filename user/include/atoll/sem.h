/* SPDX-License-Identifier: MIT
 *
 * Semaphores of user level: the kernel is called only by who has to sleep, or finds somebody
 * asleep. They lie in a segment, which is memory of one process, or memory that several have mapped
 * at any addresses. Manual: docs/man/upsem.3.
 *
 * Who sleeps is served in the order of arrival: what upsem gives goes to the oldest sleeper itself,
 * and to nobody who comes later. altsems downs one of any number of semaphores; of those that are
 * ready each has its turn, and a sleeper there has its turn beside the sleepers of downsem.
 *
 * Processes that share a segment can write anything to it at any time, and can end anywhere. What
 * these functions believe (where things lie, and how many) they keep in the handles, in memory of
 * the process's own.
 */
#ifndef ATOLL_SEM_H
#define ATOLL_SEM_H

#include <stddef.h>
#include <stdint.h>

#define SEGMENT_SHARED 1	/* several processes have the memory mapped */
#define SEGMENT_BYTES_MAX (16u << 20)
#define SEGMENT_NAME_MAX 23	/* bytes of a name in a segment */
#define SEM_LOOKS 100		/* before a thread sleeps */
#define SEM_VALUE_MAX (1u << 29)
#define SEM_WAITERS 64		/* threads that sleep in altsems and talt of one segment */

/* All that follows in this part is what these functions know. */
struct sem_state {
	uint32_t word;
	uint32_t turn;
	uint32_t listed[SEM_WAITERS / 32];
};

struct segment {
	unsigned char *base;
	uint32_t bytes;
	uint32_t shared;		/* FUTEX_SHARED, or 0 */
	uint32_t looks;			/* before a thread sleeps; may be changed */
	void *mapped;			/* that segment_open has mapped */
};

struct sem {
	struct sem_state *at;		/* NULL: there is none */
	struct segment *in;
	uint32_t entry;
};

/*
 * Begin to use `bytes` of memory, aligned to 64 bytes, which were zero before anybody began. All
 * who share them say the same number. 0; -E_INVAL: flags, too few or too many bytes, alignment.
 */
int segment_begin(struct segment *g, void *memory, size_t bytes, int flags);

/*
 * Make a semaphore with that value, or open the one that has this name in the segment (NULL: it has
 * none). 0; -E_NOMEM: the segment is full; -E_INVAL: the value, or the name is too long, or is that
 * of something else.
 */
int newsem(struct segment *g, struct sem *s, const char *name, uint32_t value);

/*
 * End a semaphore: who sleeps there is told, -E_PIPE, as is whoever uses it later, by any handle.
 * freesem also gives the handle up, which no other thread may use any more; the place is used again
 * when all handles of it were. 0; -E_INVAL: no handle; what kfutex_wait says.
 */
int endsem(const struct sem *s);
int freesem(struct sem *s);

/* 0; -E_PIPE; -E_INVAL: no handle; -E_NOSPC: the value is SEM_VALUE_MAX; what kfutex_wake says. */
int upsem(const struct sem *s);

/*
 * Down, and wait for it up to a time of kclock; 0: do not wait. 0; -E_AGAIN: it would wait;
 * -E_TIMEDOUT; -E_INTR; -E_PIPE; -E_INVAL: no handle; what kfutex_wait says.
 */
int downsem(const struct sem *s, uint64_t until);

/*
 * Down one of n semaphores of one segment (NULL: none at that place) and return its place. As
 * downsem; -E_INVAL: there is none, or they are of several segments; -E_NOSPC: SEM_WAITERS threads
 * sleep so in the segment.
 */
int altsems(const struct sem *const s[], int n, uint64_t until);

/* What it is now. */
uint32_t semvalue(const struct sem *s);

#endif
