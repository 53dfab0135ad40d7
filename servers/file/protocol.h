/* SPDX-License-Identifier: MIT
 *
 * Requests to the file server and their answers, by a channel (atoll/service.h). Handles belong to
 * one client and end with it. A handle stands for a description of an open file: its offset, and
 * how it may be used. Names and contents belong to all.
 *
 * A request is a struct file_request, and behind it the paths that it names, or the bytes that are
 * to be written. An answer is a struct file_reply; of FILE_READ bytes, and of FILE_LIST entries,
 * follow it.
 *
 * Bytes that need several messages are moved at one place all the same: the first request says how
 * many more are to follow, the offset moves over all of them, and the rest is moved with the offset
 * given. Whoever moves fewer in the end sets the offset back. Into a pipe go those that were staged
 * (FILE_STAGE) together with those of the write; out of it come as many as there are, of which the
 * first are in the answer, and the rest is asked for (FILE_REST).
 */
#ifndef SERVERS_FILE_PROTOCOL_H
#define SERVERS_FILE_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#define FILE_CLUSTER 0
#define FILE_PORT 2
#define FILE_MAGIC 0x454c4946u		/* "FILE" */
#define FILE_PAGES 1			/* of a channel: one request and one answer lie in it */
#define FILE_MESSAGE 1912		/* what has room in half a page */
#define FILE_DATA_MAX (FILE_MESSAGE - FILE_HEAD)	/* bytes of a file in one message */
#define FILE_PIECE_MAX 4096		/* of a pipe that are written in one piece */
#define FILE_PATH_MAX 640		/* with its zero byte, or two with theirs */
/* a struct service_kind */
#define FILE_SERVICE {.magic = FILE_MAGIC, .message = FILE_MESSAGE, .cluster = FILE_CLUSTER, \
	.port = FILE_PORT, .pages = FILE_PAGES}
#define FILE_NAME_MAX 59		/* of one name in a directory that is in memory */
#define FILE_ENTRY_NAME_MAX 255		/* of one that is listed */
#define FILE_SERVER "bin/file"		/* in the boot archive */
/*
 * there, too: where folders of the host are, a path in each line; the device with mount tag N has
 * the one of line N, counted from 0
 */
#define FILE_SHARES "etc/shares"

/*
 * there, too: parts of the tree that servers of other clusters have, a struct file_place of each
 * (client.h). The server of record N, counted from 0, is number N + 1; number 0 is the leader's,
 * which has all else. A path is plain, and none lies in another one.
 */
#define FILE_TREES "etc/trees"
#define FILE_PLACE_PATH 120
#define FILE_TREES_MAX 7
#define FILE_SERVERS (FILE_TREES_MAX + 1)

/* Which server has made a handle; and a token or a key. */
#define FILE_HANDLE_SHIFT 10
#define FILE_SERVER_OF(number) ((uint32_t)(number) >> FILE_HANDLE_SHIFT & (FILE_SERVERS - 1))

/* errors besides those of errors.tbl; Linux's numbers */
#define FILE_ENODEV 19
#define FILE_ENOTDIR 20
#define FILE_EISDIR 21
#define FILE_ENFILE 23
#define FILE_EXDEV 18
#define FILE_EFBIG 27
#define FILE_ESPIPE 29
#define FILE_EDEADLK 35
#define FILE_ENAMETOOLONG 36
#define FILE_ENOLCK 37
#define FILE_ENOTEMPTY 39
#define FILE_ELOOP 40
#define FILE_ENXIO 6
#define FILE_ENOTSOCK 88
#define FILE_EMSGSIZE 90
#define FILE_EPROTOTYPE 91
#define FILE_EOPNOTSUPP 95
#define FILE_EADDRINUSE 98
#define FILE_ECONNRESET 104
#define FILE_EISCONN 106
#define FILE_ENOTCONN 107
#define FILE_ECONNREFUSED 111
/* not Linux's: it would have to wait, and will be told when it is worth asking again */
#define FILE_LATER 512
/*
 * Nor this: the path leads to what server `value` has, which is to be asked; with `more` not 0 by
 * other paths, which FILE_REST says, with their zero bytes
 */
#define FILE_ELSEWHERE 513
/* Inside of the server: a symbolic link in memory is on the path */
#define FILE_LINKED 514

enum file_op {
	/* path, arg: FILE_CREATE and so on, more: mode of a new file -> handle, size, kind, node */
	FILE_OPEN = 1,
	FILE_CLOSE = 2,		/* handle */
	/*
	 * handle, offset or FILE_AT_OFFSET, arg: bytes, more: that follow -> value: offset of the
	 * first, count and as many bytes, more: that are there and asked for
	 */
	FILE_READ = 3,
	/* the same, and the bytes -> the same; more: for which there is room in the file */
	FILE_WRITE = 4,
	/*
	 * path, arg: FILE_NO_FOLLOW or 0 -> size, kind, node, count: FILE_ARCHIVED or 0, and a
	 * struct file_status
	 */
	FILE_STAT = 5,
	FILE_STAT_OPEN = 6,	/* handle -> the same */
	FILE_RESIZE = 7,	/* handle, offset: new size */
	FILE_REMOVE = 8,	/* path, arg: FILE_DIRECTORY for a directory */
	FILE_MAKE_DIRECTORY = 9,	/* path, more: its mode -> size, kind, node */
	FILE_RENAME = 10,	/* path: old path, zero byte, new path, zero byte */
	/*
	 * handle of a directory, offset: position or FILE_AT_OFFSET, arg: bytes that the entries
	 * may have -> next position, count: bytes, and as many of struct file_entry; 0: no more;
	 * INVAL: there is no room for the next one, and the offset stays
	 */
	FILE_LIST = 11,
	/* handle, offset: signed, arg: enum file_from -> value: the offset of the description */
	FILE_SEEK = 12,
	/*
	 * handle, arg: FILE_APPEND, FILE_NONBLOCK, of which those in `more` are set or cleared ->
	 * value: all that the description has, as for FILE_OPEN
	 */
	FILE_SET_FLAGS = 13,
	/*
	 * Give the descriptions of handles away, for whoever knows the token: arg: how many, and as
	 * many numbers in the place of the path, more: FILE_KEPT or 0 -> value: token
	 */
	FILE_OFFER = 14,
	/*
	 * offset: token -> count, and as many struct file_claimed, in the order of the offer. The
	 * offer is used up then; a kept one ends when it is withdrawn, or with its client.
	 */
	FILE_CLAIM = 15,
	FILE_WITHDRAW = 16,	/* offset: token of an own offer, which ends */
	/* arg: FILE_NONBLOCK or 0 -> two struct file_claimed, the end that is read first */
	FILE_PIPE = 17,
	/*
	 * handle, arg: FILE_POLL_READ, FILE_POLL_WRITE; more: FILE_WATCH or 0, offset: signals that
	 * are pending -> value: which of these would not wait, and what has happened, and a struct
	 * file_waits. If it is none, with FILE_WATCH the client is told when it may be some.
	 */
	FILE_POLL = 18,
	/*
	 * handle of a directory -> count, and as many bytes: its path from the root, with a slash
	 * at the end and a zero byte; NOENT: it was removed
	 */
	FILE_WHERE = 19,
	/* handle, offset: ns, when it changed last; or arg: FILE_NOW */
	FILE_SET_TIME = 20,
	FILE_SET_MODE = 21,	/* handle, arg: bits */
	/* nothing -> handle of what the machine is given to read: a pipe that nobody can write */
	FILE_INPUT = 22,
	/*
	 * handle, offset: bytes -> value: key: the file is memory of the client's cluster, with
	 * room for as many bytes, which that's process server knows (PROCESS_MEMORY). ENODEV: it is
	 * memory of another cluster, or the host's. -> count: pages that the file has
	 */
	FILE_SHARE = 26,
	FILE_SHARED = 49,	/* offset: key -> count: pages that the file has; NOENT: it ended */
	/*
	 * Sockets. arg: enum file_socket, more: FILE_NONBLOCK, FILE_PAIR, offset: pid -> one struct
	 * file_claimed, or two that are connected
	 */
	FILE_SOCKET = 30,
	FILE_BIND = 31,		/* handle, more: mode, struct file_address (no bytes: any) */
	FILE_LISTEN = 32,	/* handle, arg: connections that may wait, offset: pid */
	FILE_CONNECT = 33,	/* handle, struct file_address (no bytes: to nobody any more) */
	FILE_ACCEPT = 34,	/* handle, more: FILE_NONBLOCK -> struct file_accepted */
	/*
	 * handle, arg: priority in a message queue, more: descriptors, offset: FILE_DONT_WAIT and,
	 * in the upper half, the pid of who sends, struct file_address (no bytes: of the other
	 * side), handles -> count: of bytes that were staged before
	 */
	FILE_SEND = 35,
	/*
	 * handle, arg: bytes, more: FILE_PEEK and so on -> value: bytes of the message, or its
	 * priority, more: bytes for FILE_REST, and a struct file_received
	 */
	FILE_RECEIVE = 36,
	FILE_SHUTDOWN = 37,	/* handle, arg: 1: to read, 2: to write, 3 */
	FILE_ENDPOINT = 38,	/* handle, arg: FILE_ENDPOINT_* -> struct file_endpoint */
	/*
	 * Message queues. struct file_name, arg: as for FILE_OPEN, more: mode, offset: messages
	 * and, in the lower half, bytes of each -> struct file_claimed
	 */
	FILE_QUEUE = 39,
	FILE_QUEUE_REMOVE = 40,	/* struct file_name */
	FILE_QUEUE_STATE = 41,	/* handle -> struct file_queue */
	/* handle, arg: signal, 0: none, -1: not any more, offset: pid: told of the next message */
	FILE_QUEUE_NOTIFY = 42,
	FILE_LINK = 25,		/* as FILE_RENAME, but the file has both names then */
	/*
	 * arg: bytes, and as many -> nothing: if the client's next request is a write to a pipe, it
	 * takes them, too, before its own, all in one piece; if it is none, they are gone
	 */
	FILE_STAGE = 23,
	/*
	 * arg: bytes -> count and as many bytes, more: what the request before, a FILE_READ of a
	 * pipe or FILE_REST, has left
	 */
	FILE_REST = 24,
	/*
	 * handle, arg: FILE_LOCK_*, struct file_range -> nothing; of TEST: the lock that is in the
	 * way, or of kind NONE. A range is the client's and goes when it closes a handle of the
	 * file; with OPEN, and WHOLE, it is the description's. AGAIN; LATER: when the client is
	 * told it may ask again, and is to FORGET else; DEADLK, NOLCK
	 */
	FILE_LOCK = 43,
	/*
	 * Buffers (atoll/zio.h): memory that one process has at a time. arg: bytes, more:
	 * FILE_DONT_WAIT or 0 -> struct file_zio: one that is the client's, mapped by its handle of
	 * memory. NOMEM: the client has all that it may have itself, or the memory ends
	 */
	FILE_ZIO_ALLOC = 44,
	FILE_ZIO_FREE = 45,	/* offset: key -> nothing: it is not the client's any more */
	/*
	 * handle of a pipe, offset: key, arg: bytes of it, more: the first of these -> nothing: it
	 * is in the pipe, and not the client's any more. NODEV: it is no pipe
	 */
	FILE_ZIO_WRITE = 46,
	/*
	 * handle, offset or FILE_AT_OFFSET, arg: bytes at most, more: FILE_DONT_WAIT or 0 -> value:
	 * offset of the first, struct file_zio
	 */
	FILE_ZIO_READ = 47,
	FILE_ZIO_COUNT = 48,	/* -> struct file_zio_count */
	/*
	 * Events. arg: enum file_event, more: FILE_NONBLOCK, FILE_SEMAPHORE, offset: the count that
	 * one begins with, the signals, or when the clock of the timer had 0 -> struct file_claimed
	 */
	FILE_EVENT = 52,
	/*
	 * handle; of a timer: a struct file_timer or nothing, arg: `first` is a time of its clock,
	 * 0: from now on -> one as it was, from now on; of signals: offset: others, arg: 1
	 */
	FILE_EVENT_SET = 53,
	/* handle of a list, arg: enum file_list_change, more: number, struct file_listed */
	FILE_LIST_CHANGE = 54,
	/*
	 * handle of a list, arg: at most, offset: signals that are pending -> count, and as many
	 * struct file_ready: what has happened, each once where that is asked for
	 */
	FILE_LIST_TAKE = 55,
	FILE_SYNC = 27,		/* handle: what is in the file outlives the machine */
	FILE_SYMLINK = 28,	/* path: that of the link, zero byte, what it says, zero byte */
	FILE_READ_LINK = 29,	/* path -> count, and as many bytes; INVAL: it is no link */
	FILE_MAKE_PIPE = 56,	/* path, more: its mode -> nothing: a pipe with a name */
	/* handle -> nothing: it is no pipe with a name, or its other end was open since; LATER */
	FILE_OPENED = 57,
	/* path; or handle: of what it lies in -> struct file_space */
	FILE_SPACE = 50,
	FILE_SPACE_OPEN = 51,
};

#define FILE_LINKS_MAX 40		/* symbolic ones that one path leads through, as in Linux */

/* FILE_SET_TIME */
#define FILE_NOW 1

/* FILE_STAT: it is what the boot archive has under that name below files/ */
#define FILE_ARCHIVED 1

/* FILE_OPEN */
#define FILE_CREATE 1
#define FILE_EXCLUSIVE 2
#define FILE_EMPTY 4			/* cut it to nothing */
#define FILE_WRITABLE 8			/* a directory cannot be opened so */
#define FILE_DIRECTORY 16		/* nothing else will do */
#define FILE_READABLE 32
#define FILE_APPEND 64			/* who writes at the offset writes at the end */
#define FILE_NONBLOCK 128
#define FILE_NO_FOLLOW 256		/* a link that the path ends with is meant itself */
#define FILE_WHOLE 512			/* only of an answer: a socket that keeps messages whole */
#define FILE_NAMELESS 1024		/* a new file without a name, where the path is */

/* A handle that no server has given: what was open is lost, and whatever is asked of it is EIO. */
#define FILE_HANDLE_LOST (UINT32_MAX & ~(uint32_t)((FILE_SERVERS - 1) << FILE_HANDLE_SHIFT))

/* The offset of the description, which moves on. */
#define FILE_AT_OFFSET UINT64_MAX

enum file_from {
	FILE_FROM_START = 0,
	FILE_FROM_OFFSET = 1,
	FILE_FROM_END = 2,
};

/* FILE_POLL: asked for; and what has happened to the pipe's other end */
#define FILE_POLL_READ 1
#define FILE_POLL_WRITE 2
#define FILE_POLL_HUNG_UP 4		/* nobody can write any more */
#define FILE_POLL_BROKEN 8		/* nobody can read any more */
#define FILE_POLL_ENDED 16		/* of a socket: the other side sends nothing more */
#define FILE_WATCH 1

enum file_kind {
	FILE_KIND_NONE = 0,
	FILE_KIND_FILE = 1,
	FILE_KIND_DIRECTORY = 2,
	FILE_KIND_PIPE = 3,
	FILE_KIND_SOCKET = 6,
	FILE_KIND_QUEUE = 7,
	FILE_KIND_EVENT = 8,	/* a count, or a timer */
	FILE_KIND_SIGNALS = 9,
	FILE_KIND_LIST = 10,	/* of what is waited for */
	FILE_KIND_LINK = 5,	/* inside of the server: no answer has it */
	FILE_KIND_OTHER = 6,	/* of a host, and not for programs here */
	FILE_KIND_SYMLINK = 11,
	FILE_KIND_DEVICE = 12,	/* that is a file in memory: /dev/zero and its like */
	FILE_KIND_TOLD = 4,	/* no answer: something that was to be waited for has happened */
};

struct file_request {
	uint32_t op;
	uint32_t handle;
	uint64_t offset;
	uint32_t arg;
	uint32_t more;
};

struct file_reply {
	/* 0 or a negative number of Linux's; INVAL: the request made no sense */
	int32_t error;
	uint32_t kind;		/* enum file_kind */
	uint64_t value;		/* size, offset or position */
	union {
		uint32_t handle;
		uint32_t count;
	};
	union {
		uint32_t node;
		uint32_t more;
	};
};

/* A handle of FILE_CLAIM. */
struct file_claimed {
	uint32_t handle;
	uint16_t kind;		/* enum file_kind */
	uint16_t flags;		/* as for FILE_OPEN */
};

/*
 * What follows the answer to FILE_LIST, each at a multiple of 8 bytes: as getdents64 has it. The
 * name ends with a zero byte.
 */
struct file_entry {
	uint64_t node;
	uint64_t next;			/* position of the entry behind it */
	uint16_t bytes;			/* of all of it */
	uint8_t type;			/* DT_DIR and so on */
	char name[];
};

#define FILE_ENTRY_HEAD offsetof(struct file_entry, name)
#define FILE_ENTRY_DIRECTORY 4
#define FILE_ENTRY_FILE 8

/* What follows the answer to FILE_STAT and FILE_STAT_OPEN. */
struct file_status {
	/* ns of the machine's clock. A file in memory has one time */
	uint64_t modified, accessed, changed;
	uint64_t node;
	uint64_t blocks;		/* of 512 bytes */
	uint32_t mode;			/* of a share's also what it is, as Linux has it */
	uint32_t links;
	uint32_t device;		/* FILE_DEVICE_MEMORY and the server; or a share, from 1 */
	uint32_t reserved;
};

/*
 * What follows the answer to FILE_SPACE: of what a file lies in, as Linux's statfs has it. The kind
 * of file system is Linux's number of one; what has no files has no blocks.
 */
struct file_space {
	uint64_t type;
	uint64_t block_bytes;
	uint64_t blocks, free, available;
	uint64_t files, free_files;
	uint64_t id;
	uint64_t name_max;
	uint64_t piece_bytes;
};

#define FILE_SPACE_MEMORY 0x858458f6u	/* ramfs */
#define FILE_SPACE_PROC 0x9fa0u
#define FILE_SPACE_PIPES 0x50495045u
#define FILE_SPACE_SOCKETS 0x534f434bu
#define FILE_SPACE_QUEUES 0x19800202u

#define FILE_DEVICE_MEMORY 256

/* What else than being told may end a wait: a time of kclock, and signals of who waits. */
struct file_waits {
	uint64_t until;
	uint64_t signals;
};

enum file_event { FILE_EVENT_COUNT = 1, FILE_EVENT_TIMER, FILE_EVENT_SIGNALS, FILE_EVENT_LIST };

/* FILE_EVENT: of a count each read takes 1; what it is at most */
#define FILE_SEMAPHORE 1
#define FILE_COUNT_MAX (UINT64_MAX - 1)

/* In ns, 0: never; 0: once */
struct file_timer {
	uint64_t first, period;
};

enum file_list_change { FILE_LIST_ADD = 1, FILE_LIST_REMOVE, FILE_LIST_MODIFY };

/* What is in a list: as Linux's epoll_event has it. */
struct file_ready {
	uint32_t events;
	uint32_t reserved;
	uint64_t data;
};

struct file_listed {
	uint32_t handle;
	uint32_t reserved;
	struct file_ready wanted;
};

#define FILE_READY_READ 1
#define FILE_READY_WRITE 4
#define FILE_READY_ERROR 8
#define FILE_READY_HUNG_UP 0x10
#define FILE_READY_ENDED 0x2000
#define FILE_READY_ONCE 0x40000000u	/* then not until it is modified */
#define FILE_READY_CHANGES 0x80000000u	/* only what has happened since it was taken */

#define FILE_LOCK_NONE 0
#define FILE_LOCK_SHARED 1
#define FILE_LOCK_EXCLUSIVE 2
#define FILE_LOCK_KIND 3
#define FILE_LOCK_WAITS 4
#define FILE_LOCK_TEST 8
#define FILE_LOCK_WHOLE 16
#define FILE_LOCK_FORGET 32
#define FILE_LOCK_OPEN 64

/* Bytes [first, end) of a file. */
struct file_range {
	uint64_t first, end;
	int32_t pid;			/* whose lock it is, as that says */
	uint32_t kind;
};

enum file_socket { FILE_STREAM = 1, FILE_DATAGRAM = 2, FILE_PACKETS = 5 };

#define FILE_PAIR 0x10000
/* FILE_SEND, FILE_RECEIVE */
#define FILE_DONT_WAIT 1
#define FILE_PEEK 2			/* the message stays */
#define FILE_WITH_RIGHTS 4		/* descriptors that come with it are taken */
/* FILE_ENDPOINT */
#define FILE_ENDPOINT_ERROR 1		/* it is taken */
#define FILE_ENDPOINT_TELLS 2		/* who sends is told from now on, */
#define FILE_ENDPOINT_TELLS_NOT 4	/* or no more */
#define FILE_STAGED_MAX 65536		/* bytes that one request takes */
#define FILE_ADDRESS_MAX 108		/* bytes of the name of a socket, sun_path */
#define FILE_ADDRESS_PATH 256
#define FILE_RIGHTS_MAX 32		/* descriptors that come with a message */

/* The name of a socket: abstract if its first byte is 0, else a path; or of a message queue. */
struct file_name {
	uint16_t bytes;
	char at[FILE_ADDRESS_MAX];
};

struct file_address {
	struct file_name name;
	uint16_t reserved;
	char path[FILE_ADDRESS_PATH];	/* where that is one, from the root */
};

_Static_assert(sizeof(struct file_address) % sizeof(uint32_t) == 0, "handles follow it");

struct file_accepted {
	struct file_claimed end;
	struct file_name name;		/* of the other side */
};

struct file_received {
	uint16_t rights;
	uint16_t is_cut;		/* there was no room for all of it */
	int32_t pid;			/* of who has sent it; 0: that is not told */
	struct file_name name;
	struct file_claimed right[FILE_RIGHTS_MAX];
};

struct file_endpoint {
	uint32_t type;			/* enum file_socket */
	uint32_t error;
	uint32_t listens, has_peer, tells;
	int32_t pid;			/* of the other side */
	struct file_name name, peer;
};

struct file_queue {
	uint32_t messages, bytes;	/* at most */
	uint32_t count;
};

#define FILE_ZIO_MAX (2u << 20)		/* bytes of a buffer */

enum file_zio_kind {
	FILE_ZIO_BYTES = 0,	/* they are to be read as all others are */
	FILE_ZIO_BUFFER = 1,	/* a buffer, with its bytes from `first` on; none: the end */
	FILE_ZIO_ARCHIVE = 2,	/* the boot archive has them, `first` bytes behind its begin */
	FILE_ZIO_MEMORY = 3,	/* of a file that the client can map */
};

struct file_zio {
	uint64_t key;
	uint64_t first;
	uint32_t bytes;
	uint32_t pages;		/* of the buffer */
	int32_t handle;		/* of its memory, which the process closes */
	uint32_t kind;		/* enum file_zio_kind */
};

/* An answer to FILE_ZIO_*, with what follows it. */
struct zio_answer {
	struct file_reply head;
	struct file_zio zio;
};

/* Since the server began. */
struct file_zio_count {
	uint64_t moved;		/* bytes that came out of pipes in buffers */
	uint64_t copied;	/* bytes that came out of pipes in messages */
	uint32_t buffers;	/* that there are now */
	uint32_t reserved;
};

/* The server keeps them for its clients, and forbids nothing. */
#define FILE_MODE_BITS 07777
#define FILE_KEPT_BYTES 8192		/* that the server leaves to the next one */
#define FILE_MODE_FIRST 0755		/* of what is there from the start */

#define FILE_NUMBERS 0x7fffffffu	/* `node` of files; above it: of other objects */

#define FILE_OFFER_MAX 128		/* handles in one offer */
#define FILE_KEPT 1			/* FILE_OFFER: several may claim it */

#define FILE_HEAD sizeof(struct file_request)

_Static_assert(sizeof(struct file_reply) == FILE_HEAD, "an answer carries as much as a request");

#endif
