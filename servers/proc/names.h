/* SPDX-License-Identifier: MIT
 *
 * The name daemon of a cluster: what programs ask about names (PROCESS_NAME) it answers from the
 * table that they read themselves (servers/name/cache.h), from the names of its own cluster, which
 * it keeps with their owners, or asks the name server for, over a channel that is opened when a
 * name is first used. It waits for nobody: who asks is answered later.
 */
#ifndef SERVERS_PROC_NAMES_H
#define SERVERS_PROC_NAMES_H

#include <servers/name/protocol.h>
#include <servers/proc/agent.h>

/* What a client waits for; the daemon's affair. */
struct name_wait {
	uint8_t state;
	bool unlinks;			/* a name of this cluster, which is none any more */
	uint16_t hash;			/* of the name */
	int16_t error;			/* of the answer that is there, and what it says: */
	uint16_t cluster, port, names;
};

/* `s` is the service of the programs, with a wait for each client, zeros. */
void names_begin(struct agent *a, struct service *s, struct name_wait *waits);

/*
 * Serve a request, a copy, of a client; `proc` is its process if that is of this cluster, else -1.
 * False: the answer comes later.
 */
bool names_serve(uint32_t client, const struct name_message *q, struct name_message *r, int proc);

/* A client is gone. */
void names_client_gone(uint32_t client);

/* As `other` of a service. */
bool names_have_come(void *of, bool is_last);

/* What has come from the name server, and what is due; after each step of the service. */
void names_step(void);

/* A message of another daemon, PROC_NAME_ASK or PROC_NAME_TOLD. */
void names_message(uint32_t cluster, const struct proc_message *m);

/*
 * The line to the name server was woken: is that still there? Its successor is told what it knew.
 */
void names_look_at_line(void);

/* The name server knows of all names that have left this cluster. */
bool names_are_settled(void);

/* A cluster has died. */
void names_look_for_deaths(void);

#endif
