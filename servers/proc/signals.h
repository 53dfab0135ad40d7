/* SPDX-License-Identifier: MIT
 *
 * Signals to the processes of this cluster. A process says of which it wants to be told, and in
 * which channel (PROCESS_CATCH): those are noted and told there. Of the others the server does what
 * is the default: the process ends, or nothing happens. A process may want to be told of SIGKILL:
 * then it has GRACE_NS to end by itself; a second one ends it at once.
 */
#ifndef SERVERS_PROC_SIGNALS_H
#define SERVERS_PROC_SIGNALS_H

#include <servers/proc/agent.h>

/* Who sent a signal, or which child has ended. */
struct signal_note {
	int32_t pid;
	struct proc_status status;
};

/* Before the first call: whose channels they are. */
void signals_begin(struct agent *a, struct service *s);

/* A member is told of these signals, too, from now on: by that client, unless that is -1. */
void signals_catch(struct member *m, uint64_t told, int client);

/* The member becomes another program, which is told of these alone. */
void signals_replace(struct member *m, uint64_t told);

/*
 * 0; -E_INVAL: no signal; -E_ACCES: the default of the job's part; -E_AGAIN: one with a value has
 * no place.
 */
int signals_send(struct member *m, int sig, bool is_default, const struct signal_note *note);

/* It is time (BIT_TYPED): who was told of SIGKILL and has not ended is ended. */
void signals_look(void);

/* A child of a process of this cluster has ended, or stopped. */
void signals_child(const struct mail_sender *parent, int32_t pid, const struct proc_status *what);

/* For the service: write what a client is to be told, and what a client that is gone was. */
uint32_t signals_tell(uint32_t client, void *message);
void signals_gone(uint32_t client);

#endif
