/* SPDX-License-Identifier: MIT
 *
 * The directory /proc: processes and the machine, as programs like ps and top read them. What is in
 * it comes into being when somebody opens it, with what is true then, and is there until nobody has
 * it open. No kernel calls: what it says comes from whoever uses it.
 */
#ifndef SERVERS_FILE_PROC_H
#define SERVERS_FILE_PROC_H

#include <servers/file/tree.h>
#include <servers/name/client.h>
#include <servers/proc/client.h>

struct proc_process {
	int32_t pid, parent;
	uint32_t cluster;
	uint32_t ranks;			/* that are threads of it */
	uint32_t since;			/* when it was started, in hundredths of a second */
	bool has_ended;
	uint32_t core;			/* that it was given, and 1; 0: any */
	uint32_t page_bytes;
	struct process_listed listed;
};

struct proc_machine {
	uint64_t now;			/* ns since it was started */
	uint64_t bytes, free_bytes;	/* of all clusters */
	uint32_t cores;			/* on which programs run */
};

/* A name of the machine (servers/name/client.h), and whose port it stands for. */
struct proc_name {
	char name[NAME_LENGTH_MAX + 1];
	struct name_place place;
};

/* The next name: begin with *at 0. False: there is none. */
bool proc_next_name(uint32_t *at, struct proc_name *n);

/* The process with the least pid above `after`, in the whole machine. False: there is none. */
bool proc_next(int32_t after, struct proc_process *p);
void proc_look(struct proc_machine *m);

/* The number of a client; 0: it has none. */
int32_t proc_number(struct mail_sender who);

/*
 * The clusters where memory of files may be, a bit each, outlive the server. What a server before
 * has left there is taken over, but for what no file has.
 */
void memories_begin(struct tree *t, uint64_t *homes);

/* Make the directory. */
void proc_begin(struct tree *t);

/*
 * A client asks for what a path names in memory: what it names in /proc is there from now on.
 * proc_settle: the request was served, and what nobody has open is gone.
 */
void proc_show(struct tree *t, uint32_t client, enum file_op op, const char *path);
void proc_settle(struct tree *t);

#endif
