/* SPDX-License-Identifier: MIT
 *
 * Descriptors that a child gets from its parent. What is open in the file server is offered there
 * (FILE_OFFER) and claimed by the child before anything else; the block that the process server
 * carries over says which descriptor is which.
 */
#ifndef USER_PERSONALITY_INHERIT_H
#define USER_PERSONALITY_INHERIT_H

#include <user/personality/files.h>
#include <user/personality/limits.h>
#include <user/personality/signal.h>

#define INHERIT_ENTRIES 112
#define INHERIT_MAGIC 0x52484e49u

struct inherit_entry {
	uint8_t fd;
	uint8_t number;			/* of a stream, or in the offer */
	uint8_t flags;			/* OPENED_* */
	uint8_t kind;			/* enum opened_kind */
	uint8_t server;			/* whose offer that is */
	uint8_t is_cloexec;		/* of a child of fork */
};

_Static_assert(FD_LIMIT <= 1 << 8, "what an entry has room for");

struct inherit {
	/* of the offer of each file server that the machine has; 0: there is none */
	uint64_t token[FILE_SERVERS];
	uint32_t magic;			/* else a program left something of its own */
	uint16_t offered;		/* descriptions in all of them */
	uint16_t entries;
	uint64_t mask, ignored, pending;	/* signals */
	uint32_t cwd_bytes;		/* behind the entries, with its zero byte; 0: the root */
	uint32_t umask_changed;		/* as in struct kept */
	uint32_t stops;			/* as in struct personality_info */
	uint32_t used, used_children;	/* usage.h */
	uint32_t limits_changed;	/* limits.h; these are behind the working directory */
	uint32_t timer_bytes;		/* of struct timer, behind these; 0: none is set */
	struct inherit_entry entry[INHERIT_ENTRIES];
	char room[FILE_PATH_MAX + LIMITS * sizeof(struct limit) + TIMERS * sizeof(struct timer)];
};

/* Where the working directory lies. */
static inline const char *
inherit_cwd(const struct inherit *b)
{
	return (const char *)&b->entry[b->entries];
}

/* Bytes of a block that are in use. */
static inline uint32_t
inherit_bytes(const struct inherit *b)
{
	return (uint32_t)(offsetof(struct inherit, entry) + b->entries * sizeof(b->entry[0])) +
		b->cwd_bytes + limits_bytes(b->limits_changed) + b->timer_bytes;
}

enum inherit_how {
	INHERIT_PROGRAM,	/* what another program gets */
	INHERIT_ALL,		/* also what that would not get */
	INHERIT_KEPT,		/* as INHERIT_PROGRAM, for several that may claim it */
};

/*
 * Fill a block with what the caller has open, and offer it. 0; -E_MFILE: that is too much; or what
 * files_ask says.
 */
int inherit_offer(const struct handler_event *c, struct inherit *b, enum inherit_how how);

/* The call SYS_inherit: the block for processes that the caller asks for itself, and its bytes. */
long inherit_call(const struct handler_event *c);

/* There is no child: take the offer back. */
void inherit_withdraw(const uint64_t token[FILE_SERVERS]);

/* As a child, at the start: take what the parent left. What cannot be had is not open. */
void inherit_claim(const struct handler_event *c, const struct inherit *b);

/* The block that the process server carried over; NULL: a program left something of its own. */
const struct inherit *inherit_carried(void);

#endif
