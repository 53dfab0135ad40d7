/* SPDX-License-Identifier: MIT
 *
 * What a name daemon keeps: the names of its own cluster with their owners, and the table of names
 * that programs read. The memory for both comes when names are first asked for.
 */
#ifndef SERVERS_PROC_NAMES_LOCAL_H
#define SERVERS_PROC_NAMES_LOCAL_H

#include <stdbool.h>
#include <stdint.h>
#include <servers/name/client.h>
#include <servers/proc/agent.h>

/*
 * LINKING: the name server has been asked; OVER: the same, but the owner has ended. LEAVING: the
 * owner is no more, and the name server has not been told yet.
 */
enum local_state { LOCAL_FREE, LOCAL_LINKING, LOCAL_OVER, LOCAL_LINKED, LOCAL_LEAVING };

struct local_name {
	char name[NAME_LENGTH_MAX + 1];
	uint32_t state;
	uint32_t badge, port;
	uint32_t period;		/* ms; 0: none */
	uint64_t until;			/* it lives if it has a period */
};

/* Have the memory. 0; -E_NOENT: the machine has no name server; or -E_NAME of the kernel. */
int local_begin(const struct agent *a);

/* A name of this cluster; NULL: it is none. */
struct local_name *local_find(const char *name);

/* A place for one, that is free until its state says otherwise; NULL: there is none. */
struct local_name *local_add(const char *name);

/* It was heard of now, and lives for its period; it is no more. */
void local_beat(struct local_name *l, uint64_t now);
void local_leave(struct local_name *l);

/* All linked names of a process that have a period are heard of: how many. */
uint32_t local_beat_all(uint32_t badge, uint64_t now);

/* A process has ended. */
void local_forget(uint32_t badge);

/* Names that were not heard of for too long leave. When to look again; FOREVER: never. */
uint64_t local_look_at_beats(uint64_t now);

/* A name that leaves; NULL: none. Whoever has told the name server of it frees the place. */
struct local_name *local_leaving(void);
void local_told(void);			/* the name server knows of one more that has left */
bool local_is_settled(void);		/* it knows of all */

/*
 * The name server is another one, which knows nothing: those that are linked are all that is left.
 * The next of them from place *at on; NULL: that were all.
 */
void local_begin_anew(void);
const struct local_name *local_linked(uint32_t *at);

/* The table that programs read: put a name, take it out, look for one. */
void known_put(const char *name, const struct name_place *place);
void known_drop(const char *name);
void known_drop_all(void);
bool known_find(const char *name, struct name_place *place);

/* Lend it to a process: the handle there, or -E_NAME. */
long known_lend(int proc, uint32_t *pages);

/* 16 bits of a name. */
uint16_t known_hash(const char *name);

#endif
