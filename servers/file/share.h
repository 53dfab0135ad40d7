/* SPDX-License-Identifier: MIT
 *
 * Folders of the host in the tree: a directory in memory is where a share begins, and what lies
 * below is asked of a 9P server, which QEMU is. What is open there are descriptions as all others;
 * a request that needs the host is put off, and served again when the host has answered, so that
 * nobody waits but who has asked. A client asks one thing at a time: it has one operation at most.
 *
 * The host is outside of the machine's walls: what it answers may be anything (ninep.h). It gets
 * nothing but names and bytes below the share's root: links are followed here, so a link leads to
 * wherever its path leads on the machine, not on the host.
 *
 * No kernel calls: who uses this carries the messages.
 */
#ifndef SERVERS_FILE_SHARE_H
#define SERVERS_FILE_SHARE_H

#include <servers/file/ninep.h>
#include <servers/file/serving.h>

#define SHARE_SLOTS 8			/* messages on their way to a host at a time */
#define SHARE_FIDS 256
#define SHARE_ROOT 0			/* the fid of its root */
#define SHARE_REQUEST 2560		/* bytes of a message to the host at most */
#define SHARE_ANSWER 4608		/* and from it: a link may say 4,095 bytes */
#define SHARE_MESSAGE 16384		/* what we tell the host: QEMU warns of less */
#define SHARE_UNKNOWN 0			/* no fid: the root's is no operation's */

struct operation;

enum fid_state {
	FID_FREE,
	FID_USED,
	FID_CLOSING,			/* it is to be given back */
	FID_GIVEN_BACK,			/* the host has not answered that yet */
};

/* What the host calls a file, while it is open or used by an operation. */
struct share_fid {
	uint8_t state;
	uint8_t kind;			/* enum file_kind */
	bool is_locked;			/* somebody moves its offset, or appends */
	uint32_t mode;
	uint64_t file;			/* the host's number of it: two fids may be of one file */
	uint64_t size;			/* as far as we know */
	struct block *path;		/* of an open directory, from the root, without a slash */
};

struct share_slot {
	unsigned char *request, *answer;
	uint32_t bytes;			/* that have come */
	struct operation *operation;	/* NULL: it gives `fid` back, or the share begins */
	uint32_t fid;
	bool is_used;
};

enum share_state { SHARE_BEGINS, SHARE_ATTACHES, SHARE_IS_THERE, SHARE_IS_BROKEN };

struct share {
	uint8_t number;			/* from 0 */
	uint8_t state;
	uint32_t node;			/* the directory in memory */
	uint32_t closing;		/* fids in this state */
	struct operation *waiting;	/* for a slot, or a lock: the last one first */
	struct share_slot slot[SHARE_SLOTS];
	struct share_fid fid[SHARE_FIDS];
};

/*
 * Put a share at a path, which is made if it is not there: the slots have memory, all else is zero.
 * Sends the first message. 0 or a negative error.
 */
int share_begin(struct tree *t, struct share *s, const char *path);

/* Send `bytes` of the slot's request. Given by whoever uses shares. */
void share_send(struct share *s, uint32_t slot, uint32_t bytes);

/* The request of a client that was put off is to be served again. Given so, too. */
void client_again(uint32_t client);

/* The host has written so many bytes of an answer to the slot's request. */
void share_answer(struct tree *t, struct share *s, uint32_t slot, uint32_t bytes);

/* --- used by the requests of serve.c: results as there, or one of these --- */

/* It is put off: file_serve says FILE_PUT_OFF. */
#define SHARE_LATER 1000
/* All paths lead to memory: as before, or as s->path says now. */
#define SHARE_MEMORY 1001

/* A request that names paths; one on a description of a share; one that was put off. */
int share_serve_paths(struct serving *s);
int share_serve_open(struct serving *s, struct description *d);
int share_go_on(struct serving *s, struct operation *o);
const struct file_request *share_request(const struct operation *o);

/* A client is gone. */
void share_forget(struct tree *t, uint32_t client);

/* A description has no handle any more. And what it is of. */
void share_close(struct tree *t, const struct description *d);
uint64_t share_file(const struct tree *t, const struct description *d);
enum file_kind share_kind(const struct tree *t, const struct description *d);

/* The path of an open directory of a share, to FILE_PATH_MAX bytes. Its bytes, or an error. */
int share_where(const struct tree *t, const struct description *d, char *to);

#endif
