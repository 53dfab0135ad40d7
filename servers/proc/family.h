/* SPDX-License-Identifier: MIT
 *
 * The processes of a cluster that programs can name: numbers, parents, and ends that nobody has
 * taken yet. No kernel calls: tested on its own.
 */
#ifndef SERVERS_PROC_FAMILY_H
#define SERVERS_PROC_FAMILY_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/layout.h>
#include <servers/proc/client.h>

#define MEMBERS_MAX 64

enum member_state { MEMBER_FREE, MEMBER_RUNS, MEMBER_ENDED };

struct part;

struct member {
	enum member_state state;
	int32_t pid;
	uint32_t job;			/* that it counts for */
	/*
	 * with which it ends: the cluster's part of the job, or the process of another cluster from
	 * whose request it stems
	 */
	struct mail_sender root;
	uint32_t badge;			/* no other process of the cluster has it */
	struct mail_sender parent;	/* badge 0: nobody takes its end */
	bool is_part;			/* of a job: the agent looks after its end */
	int proc;			/* handle; of a part 0 */
	bool is_starting;		/* it has not said yet that it is ready */
	/* it ends with its parent, which is still making it (PROCESS_FORK); or that is a part */
	bool is_bound;
	struct part *part;		/* of an MPI job that a program has asked for; else NULL */
	uint32_t missing;		/* of a part that has ended: ranks that had not */
	int replaced;			/* handle of what ends then; 0: none */
	uint32_t since;			/* when it was started, in hundredths of a second */
	uint64_t before_ns;		/* for how long its earlier programs ran */
	struct proc_status status;	/* of what has ended */
	/* signals (signals.h): that it is told of, and that it has not been told of yet */
	uint64_t told, pending;
	uint64_t dies_at;		/* it was told of SIGKILL; 0: it was not */
	int32_t group, session;		/* pids of who leads or led them */
	uint8_t stopped;		/* the signal by which it has; 0: it has not */
	bool has_told_stop;		/* its parent knows */
	bool has_continued;		/* which its parent does not know */
	uint16_t core;			/* of the cluster that it was given, and 1; 0: any */
	uint32_t teller;		/* the client in whose channel, and 1; 0: none yet */
	char name[PROCESS_NAME_MAX];
};

struct family {
	uint32_t cluster, clusters;
	uint32_t made;			/* pids given so far */
	uint32_t used;			/* places below it have been used */
	uint32_t runs;			/* members that run */
	struct member *member;
	uint32_t most;			/* of them: MEMBERS_MAX, or fewer in a small cluster */
};

/* `member` are `most` places, zeros. */
void family_init(struct family *f, uint32_t cluster, uint32_t clusters, struct member *member,
	uint32_t most);

/*
 * A new member, that runs, with a pid and a badge of its own; NULL: there are too many. Its root is
 * its parent's, or a parent of another cluster itself.
 */
struct member *family_add(struct family *f, const struct mail_sender *parent, uint32_t job);

/* The cluster's part of a job, with the job's badge and no parent; NULL: there are too many. */
struct member *family_add_part(struct family *f, uint32_t job);

/* A member of whom nothing has come is forgotten. */
void family_drop(struct family *f, struct member *m);

/* A member that runs, by its badge or its pid; NULL: there is none. */
struct member *family_by_badge(struct family *f, uint32_t badge);
struct member *family_by_pid(struct family *f, int32_t pid);

/* The next member from `m` on that runs and is in that group; NULL: there is none. */
struct member *family_in_group(struct family *f, struct member *m, int32_t group);

/* The member with the least pid above `after`, whether it runs or not; NULL: there is none. */
struct member *family_next(struct family *f, int32_t after);

/*
 * A member has ended: its parent may take that; without a parent it is forgotten. Its own children
 * have no parent any more.
 */
void family_end(struct family *f, struct member *m, const struct proc_status *status);

/* A process of another cluster is gone: what it has started is nobody's. */
void family_forget_parent(struct family *f, const struct mail_sender *parent);

/*
 * Take the end of a child, `pid` or PROCESS_ANY, or one of the group -`pid`. Its pid, with
 * r->status and r->missing; -PROCESS_ECHILD: there is no such child; -E_AGAIN: none has ended. With
 * PROCESS_UNTRACED and PROCESS_CONTINUED also that one has stopped, or goes on, once.
 */
int family_take(struct family *f, const struct mail_sender *parent, int32_t pid,
	struct process_reply *r, uint32_t flags);

/* The next member from `m` on that ends with its parent, `parent`; NULL: there is none. */
struct member *family_bound(struct family *f, struct member *m, const struct mail_sender *parent);

/* The next member from `m` on that runs and ends with that root; NULL: there is none. */
struct member *family_of_root(struct family *f, struct member *m, const struct mail_sender *root);

/* How many members a job has, beside its part. */
uint32_t family_count(const struct family *f, uint32_t job);

#endif
