/* SPDX-License-Identifier: MIT
 *
 * A request that needs a host, from its first message to its answer. It goes through stages, each
 * of which is one message; a stage says what comes next. Private to share*.c.
 */
#ifndef SERVERS_FILE_OPERATION_H
#define SERVERS_FILE_OPERATION_H

#include <servers/file/share.h>

#define MODE_KIND 0170000u
#define MODE_KIND_SHIFT 12		/* behind it are types of entries */
#define MODE_DIRECTORY 0040000u
#define MODE_FILE 0100000u
#define MODE_LINK 0120000u
#define MODE_PIPE 0010000u
#define MODE_SOCKET 0140000u
#define MODE_DEVICE 0020000u

enum stage {
	STAGE_DONE,
	STAGE_WALK,
	STAGE_READLINK,
	STAGE_GETATTR,
	STAGE_OPEN,
	STAGE_CREATE,
	STAGE_READ,
	STAGE_WRITE,
	STAGE_LIST,
	STAGE_SETATTR,
	STAGE_MKDIR,
	STAGE_SYMLINK,
	STAGE_REMOVE,
	STAGE_RENAME,
	STAGE_LINK,
	STAGE_SYNC,
	STAGE_SPACE,
	STAGES
};

/* A path on its way: what lies between `base` and `at` has been walked, and has no dots. */
struct way {
	char text[FILE_PATH_MAX];
	uint32_t base;			/* where the share begins in it */
	uint32_t at;
	uint32_t name, name_bytes;	/* its last name, where only the directory is wanted */
	uint32_t fid;			/* SHARE_UNKNOWN: none yet */
	bool is_there;			/* the host knows the fid */
	uint8_t kind;			/* of what is there, NINEP_DIRECTORY and so on */
	uint64_t file;
};

/* In a block. */
struct operation {
	struct operation *next;		/* that waits, too */
	struct share *share;
	struct description *d;		/* it is about; NULL: it has paths */
	struct file_request r;
	uint32_t client;
	int32_t slot;			/* -1: it has none */
	uint8_t stage;
	uint8_t links;
	uint8_t which;			/* way that is walked */
	uint8_t most;			/* names of the next walk at most */
	uint8_t names;			/* in the walk that is on its way */
	uint32_t end;			/* where they end in the way's text */
	bool is_up;			/* the name is ".." */
	bool is_missing;		/* the last name is not there, and is to be made */
	bool is_waiting;
	bool is_sent;			/* and not answered yet */
	bool is_answered;
	bool is_dead;			/* its client is gone */
	bool has_lock;
	uint64_t place;			/* offset of bytes */
	struct ninep_attributes a;
	struct way way[2];
};

_Static_assert(sizeof(struct operation) <= BLOCK_DATA, "it lies in a block");

/* What a stage sends, and what it makes of the answer. */
struct stage_of {
	enum ninep_type type;
	/* 1: nothing is to be sent, the stage has changed; or a negative error, or SHARE_MEMORY */
	int (*ask)(struct serving *s, struct operation *o, struct ninep_out *m);
	/* 0 or a negative error; sets the stage */
	int (*take)(struct serving *s, struct operation *o, struct ninep_in *m);
	/* what an error means: the same, or another one, or 0: the stage is set. NULL: the same */
	int (*fail)(struct serving *s, struct operation *o, int error);
};

extern const struct stage_of share_stage[STAGES];

/* The first fid that is free, used from now on; -FILE_ENFILE. */
int fid_take(struct share *sh);

/* It goes on in another share. */
void operation_move(struct tree *t, struct operation *o, struct share *to);

/* Give one back, as soon as there is a slot. */
void fid_release(struct tree *t, struct share *sh, uint32_t fid);

/* --- share_walk.c --- */

int walk_ask(struct serving *s, struct operation *o, struct ninep_out *m);
int walk_take(struct serving *s, struct operation *o, struct ninep_in *m);
int walk_fail(struct serving *s, struct operation *o, int error);

/* A link leads on: its text takes its place. As `ask`. */
int walk_follow(struct serving *s, struct operation *o, const char *target, size_t len);

/* --- share_stage.c --- */

/* All paths have been walked: the first stage behind that. 0 or a negative error. */
int stage_behind_walk(struct serving *s, struct operation *o);

/* The first stage of a request on a description; 0 (done), or a negative error. */
int stage_of_open(struct serving *s, struct operation *o);

#endif
