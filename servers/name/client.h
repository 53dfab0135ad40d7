/* SPDX-License-Identifier: MIT
 *
 * Client of the name server. A client owns the input mailbox at which it reads answers; one thread
 * uses it at a time.
 */
#ifndef SERVERS_NAME_CLIENT_H
#define SERVERS_NAME_CLIENT_H

#include <stdint.h>

struct name_client {
	int out;		/* mailbox to the server */
	int in;			/* own input mailbox */
	uint32_t port;		/* its port */
	uint32_t next_id;
};

/*
 * Open a client that reads its answers at input mailbox `in` of port `port`. 0 or -E_NAME of
 * kmailbox_open.
 */
int name_open(struct name_client *c, int in, uint32_t port);
void name_close(struct name_client *c);

/*
 * Register a port of this cluster under a name of 1 to NAME_LENGTH_MAX bytes. 0, -E_EXIST,
 * -E_NOSPC, -E_INVAL, or -E_NAME of the mailbox.
 */
int name_register(struct name_client *c, const char *name, uint32_t port);

/*
 * Find a name. 0 and the place, -E_NOENT, -E_INVAL, or -E_NAME of the mailbox. Waits for the
 * answer.
 */
int name_lookup(struct name_client *c, const char *name, uint32_t *cluster, uint32_t *port);

/*
 * Forget a name that this job registered in this cluster. 0, -E_NOENT, -E_ACCES, -E_INVAL, or
 * -E_NAME of the mailbox.
 */
int name_unregister(struct name_client *c, const char *name);

/* How many names are registered. 0 or -E_NAME of the mailbox. */
int name_count(struct name_client *c, uint32_t *names);

/*
 * Have all names forgotten that processes of a cluster with this badge (0: any) have registered:
 * they are gone. For the own cluster, from cluster 0 for any. Never waits. 0 or -E_NAME of the
 * mailbox: -E_AGAIN: its slot is full (EVENT_ROOM), or there is no server yet.
 */
int name_forget(uint32_t cluster, uint32_t badge);

#endif
