/* SPDX-License-Identifier: MIT
 *
 * Messages of the file server. It listens on mailbox port FILE_PORT of cluster 0; answers go to
 * port FILE_REPLY_PORT of the asking cluster, whose number comes from the kernel. A cluster has one
 * request at a time on its way. Handles belong to the cluster and the badge that opened them; when
 * a job has ended in a cluster, that one's process server has them forgotten. Names and contents
 * belong to all.
 */
#ifndef SERVERS_FILE_PROTOCOL_H
#define SERVERS_FILE_PROTOCOL_H

#include <stdint.h>
#include <abi/limits.abi.h>

#define FILE_CLUSTER 0
#define FILE_PORT 2
#define FILE_REPLY_PORT 3
#define FILE_MAGIC 0x454c4946u		/* "FILE" */
#define FILE_DATA_MAX 96		/* bytes of one message: of a path with its zero byte, or of a file */
#define FILE_NAME_MAX 59		/* of one name in a directory */
#define FILE_SERVER "bin/file"		/* in the boot archive */

/* errors besides those of errors.tbl; Linux's numbers */
#define FILE_ENOTDIR 20
#define FILE_EISDIR 21
#define FILE_EFBIG 27
#define FILE_ENAMETOOLONG 36
#define FILE_ENOTEMPTY 39

enum file_op {
	/* data: path, arg: FILE_CREATE and so on -> handle, and as FILE_STAT */
	FILE_OPEN = 1,
	FILE_CLOSE = 2,		/* handle */
	FILE_READ = 3,		/* handle, offset, arg: bytes -> count, data */
	/* handle, offset or FILE_AT_END, arg: bytes of data -> count, offset behind them */
	FILE_WRITE = 4,
	FILE_STAT = 5,		/* data: path -> size, kind, node */
	FILE_STAT_OPEN = 6,	/* handle -> the same */
	FILE_RESIZE = 7,	/* handle, offset: new size */
	FILE_REMOVE = 8,	/* data: path, arg: FILE_DIRECTORY for a directory */
	FILE_MAKE_DIRECTORY = 9,	/* data: path */
	FILE_RENAME = 10,	/* data: old path, zero byte, new path, zero byte */
	/*
	 * handle of a directory, offset: position -> next position, kind, node, data: name; NOENT:
	 * no more
	 */
	FILE_LIST = 11,
	/*
	 * arg: cluster, handle: badge (0: any) whose handles are closed; of another cluster only by
	 * cluster 0. No answer
	 */
	FILE_FORGET = 12,
};

/* FILE_OPEN */
#define FILE_CREATE 1
#define FILE_EXCLUSIVE 2
#define FILE_EMPTY 4			/* cut it to nothing */
#define FILE_WRITABLE 8			/* a directory cannot be opened so */
#define FILE_DIRECTORY 16		/* nothing else will do */

#define FILE_AT_END UINT64_MAX

enum file_kind {
	FILE_KIND_NONE = 0,
	FILE_KIND_FILE = 1,
	FILE_KIND_DIRECTORY = 2,
};

struct file_request {
	uint32_t magic;
	uint32_t op;
	uint32_t id;		/* chosen by the client, comes back */
	uint32_t handle;
	uint64_t offset;
	uint32_t arg;
	uint32_t reserved;
	char data[FILE_DATA_MAX];
};

struct file_reply {
	uint32_t magic;
	uint32_t id;
	/* 0 or a negative number of Linux's; INVAL: the request made no sense */
	int32_t error;
	uint32_t kind;		/* enum file_kind */
	uint64_t value;		/* size, count or position */
	uint32_t handle;
	uint32_t node;
	char data[FILE_DATA_MAX];
};

_Static_assert(sizeof(struct file_request) == MAILBOX_MSG_SIZE, "a request is one message");
_Static_assert(sizeof(struct file_reply) == MAILBOX_MSG_SIZE, "a reply is one message");

#endif
