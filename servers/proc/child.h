/* SPDX-License-Identifier: MIT
 *
 * Processes that programs have asked for: their start and their end.
 */
#ifndef SERVERS_PROC_CHILD_H
#define SERVERS_PROC_CHILD_H

#include <servers/proc/agent.h>
#include <servers/proc/brought.h>

/* What to start. */
struct spawn {
	char path[IMAGE_NAME_MAX + 1];
	struct words words;
	const void *inherit;
	uint32_t inherit_bytes;
	int32_t parent;			/* its pid; 0: not known here */
	/* the program, if it is not one of the boot archive; else NULL */
	const struct brought *brought;
	bool is_prepaged;		/* nothing of it comes when it is touched */
};

/*
 * Start a process for a member of the family, which gets its handle. 0; -E_NOENT; -PROCESS_ENOEXEC:
 * not a program for this machine; -E_2BIG: the words do not fit on its stack; -E_NOSPC; -E_NOMEM.
 * Without success nothing of it is left. Makes kernel calls alone, and reads the archive in memory.
 */
int child_start(struct agent *a, struct member *m, const struct spawn *q);

/*
 * A process for a member of the family that has nothing yet, which the process `parent` (a handle)
 * may change: the handle by which it does so there. -E_NOSPC; -E_NOMEM; -E_MFILE; nothing of it is
 * left then.
 */
int child_form(struct agent *a, struct member *m, int parent);

/*
 * What starting takes: a program of the boot archive, under its name there, or as programs see it
 * (`run --file`); a new process is the member's from now on; and its name.
 */
int child_find_image(const char *path, struct image **image);
long child_admit(struct agent *a, struct member *m, int proc);
void child_name(struct member *m, const char *path);

/* A process becomes another program, or has ended: those that are bound to it end. */
void child_end_bound(struct agent *a, const struct member *parent);

/*
 * Processes may have ended (BIT_CHILD): what has is noted in the family. `ended` is called for each
 * with the parent that it had.
 */
void child_reap(struct agent *a,
	void (*ended)(struct member *m, const struct mail_sender *parent));

/* End all that have a root. */
void child_end_all(struct agent *a, const struct mail_sender *root);

#endif
