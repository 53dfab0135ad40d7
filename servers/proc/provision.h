/* SPDX-License-Identifier: MIT
 *
 * Who has a core of his own. The kernel puts a new process on the core with the fewest threads, and
 * one that has used its quantum while others waited on an empty core (ADR 0112); it does not know
 * who computes. Here is seen, from look to look, what processes do with their cores. While some
 * that compute share one, those that keep calling the kernel are gathered on few time-sharing
 * cores, so that other cores become empty. Decisions alone, without kernel calls: tested on its
 * own. Source: seed 004 4 (core roles).
 */
#ifndef SERVERS_PROC_PROVISION_H
#define SERVERS_PROC_PROVISION_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/layout.h>
#include <servers/proc/family.h>

#define PROVISION_CORES 64		/* of a cluster: others stay as they are */
#define LOOKS_COMPUTES 2		/* in a row, until it is one that computes */
#define LOOKS_CALLS 3			/* until it is one that keeps calling */
#define LOOKS_REST 8			/* a process is not moved again before */
#define LOOKS_CALM 25			/* without a core that is shared until nobody is gathered */
#define CALLS_LEAST 4			/* in one look, of one that keeps calling */
#define SHARE_CALLS 50			/* of a core, in hundredths, that it needs at most */
#define SHARE_COMPUTES 80		/* that one that computes has at least, if it is alone */
#define SHARE_FULL 80			/* that those gathered on one core need together at most */

/* A process, from look to look. */
struct habit {
	int32_t pid;			/* 0: none */
	bool is_there;			/* it was seen in this look */
	bool is_short;			/* it computes, and has been put off its core for others */
	uint32_t run_us, calls, preempted;	/* in all, at its last look */
	uint16_t core, threads;
	uint16_t gathered;		/* the core where it was gathered, and 1; 0: nowhere */
	uint8_t share;			/* of a core, in hundredths, in the last look */
	uint8_t computes, keeps_calling;	/* looks in a row */
	uint8_t rests;			/* looks until it may be moved again */
};

/* A core. */
struct place {
	uint32_t role, threads;
	bool is_made;			/* it has become a TC for those that are gathered there */
	uint32_t gathered, released;	/* processes, so far */
};

struct provision {
	uint32_t cores;
	bool is_off;			/* nobody is gathered any more */
	bool is_still;			/* in this look no process was new, or had run */
	uint32_t short_looks, calm_looks;	/* in a row */
	struct habit habit[MEMBERS_MAX];
	struct place place[PROVISION_CORES];
};

enum decision_kind {
	DECIDE_NOTHING,
	DECIDE_GATHER,			/* the process goes to the core */
	DECIDE_RELEASE,			/* it may be on each again */
	DECIDE_ROLE,			/* the core gets the role */
};

struct decision {
	enum decision_kind kind;
	uint32_t habit, core, role;
};

/* A look begins: nobody has been seen yet. */
void provision_begin(struct provision *p);

/*
 * A process has done so much, and `us` have passed since the last look. One that has a core by wish
 * is none of these.
 */
void provision_see(struct provision *p, uint32_t habit, int32_t pid,
	const struct thread_counts *counts, uint32_t us);

/* All processes and places have been seen. */
void provision_end(struct provision *p);

/*
 * What is to be done next. Whoever does it says so with provision_done, or with provision_failed
 * that it could not be done; then there may be more to do.
 */
struct decision provision_decide(const struct provision *p);
void provision_done(struct provision *p, const struct decision *d);
void provision_failed(struct provision *p, const struct decision *d);

/* Is a process gathered, or a core a TC for that? */
bool provision_holds(const struct provision *p);

#endif
