/* SPDX-License-Identifier: MIT
 *
 * The tree of files in memory. Contents are chains of blocks; a file of the boot archive is read in
 * place until somebody changes it. No kernel calls: memory comes from blocks_more; tested on its
 * own.
 */
#ifndef SERVERS_FILE_TREE_H
#define SERVERS_FILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/layout.h>
#include <servers/file/client.h>
#include <servers/file/listed.h>
#include <servers/file/protocol.h>
#include <servers/file/token.h>

#define NODES_MAX 2048
#define TABLE_NODES 32			/* that come into being together */
#define ROOT 0
#define CLIENTS_MAX 128
#define DESCRIPTIONS_MAX 512
#define HANDLES_MAX 1024		/* of all clients */
#define HANDLES_OF_CLIENT_MAX 256	/* with those that it offers */
#define OFFERS_MAX 64
#define OFFERS_OF_CLIENT_MAX 4
#define PIPES_MAX 128			/* that clients make */
#define PIPE_INPUT PIPES_MAX		/* what the machine is given to read */
#define PIPES_OF_CLIENT_MAX 32
#define SHARES_MAX 8
#define QUEUES_MAX 64
#define QUEUE_MESSAGES 10		/* of one, at most, and bytes of each: as Linux's */
#define QUEUE_BYTES 8192
#define QUEUE_PRIORITIES 32768
#define QUEUE_QUIETLY (-1)		/* somebody waits for a message, and is not told */
#define QUEUE_NOT_ANY_MORE (-1)
#define NOBODY CLIENTS_MAX		/* whose handles are on their way in messages */
/* then their numbers begin again; 1023 is that of FILE_HANDLE_LOST */
#define SERVER_LIVES 1022
/* The description of what a server before this one had open, when it is passed on: it stays. */
#define DESCRIPTION_LOST DESCRIPTIONS_MAX
#define SOCKET_BYTES 65536		/* that are on their way to one */
#define SOCKET_MESSAGES 32
#define FILE_SIZE_MAX ((uint64_t)1 << 40)
#define BLOCK_BYTES 4096
#define BLOCK_DATA (BLOCK_BYTES - 8)
#define PIPE_BYTES (4 * BLOCK_DATA)	/* that are in a pipe at most */
#define SHARED_PAGE 4096
#define SHARED_PAGES_MAX 4096		/* of one file */
#define BUFFERS_MAX 64
#define BUFFERS_OF_CLIENT_MAX 16	/* that it has made */
#define BUFFER_PAGES_OF_CLIENT_MAX (SHARED_PAGES_MAX / 2)
#define BUFFERS_OF_PIPE_MAX 8

/*
 * Blocks of files outlive the server, and the next one may have them at another address: a file's
 * chain is of their numbers, which begin with 1.
 */
struct block {
	union {
		struct block *next;	/* of what ends with the server, or free */
		struct {
			uint32_t behind;	/* in a file: the next one; 0: there is none */
			uint32_t is_used;	/* while a life begins: a file or a table has it */
		};
	};
	unsigned char data[BLOCK_DATA];
};

_Static_assert(sizeof(struct block) == BLOCK_BYTES, "a block");

/* Bytes in a chain of blocks: those from `begin` in the first one to `end` in the last one. */
struct bytes {
	struct block *first, *last;
	uint32_t begin, end;
	uint32_t count;
};

/* Memory that processes of one cluster map: its process server has it. */
struct shared_memory {
	uint64_t key;			/* that names it there */
	uint32_t home;			/* the cluster */
	uint32_t pages;
};

struct node {
	char name[FILE_NAME_MAX + 1];
	uint16_t mode;			/* FILE_MODE_BITS of it */
	uint8_t kind;			/* enum file_kind; NONE: free; LINK: another name of: */
	bool is_unlinked : 1;		/* only descriptions know it */
	bool is_renamed : 1;		/* the archive has not this name for it */
	bool is_shown : 1;		/* of /proc (proc.h): it is there while it is open */
	bool is_shared : 1;		/* its contents are memory of a cluster: `memory` */
	/*
	 * a share that begins here: its number, from 1; or the part of server N: SHARES_MAX + N;
	 * 0: neither
	 */
	uint8_t share : 4;
	uint32_t parent;		/* the root's is itself */
	uint16_t opens;			/* descriptions of it */
	uint16_t links;			/* other names of it */
	uint64_t size;
	uint64_t modified;		/* when what is in it changed last, in ns */
	/* the contents, where they are the archive's: how far from its beginning; 0: elsewhere */
	uint64_t fixed;
	union {
		struct {
			uint32_t first;		/* number of the first block; 0: there is none */
			struct block *at;	/* where the last access was, and its number */
		};
		struct shared_memory memory;
	};
	union {
		uint32_t at_index;
		/* LINK: the node, which is none; DEVICE: enum memory_device */
		uint32_t target;
	};
	uint32_t life;			/* of all nodes, how many were made before it */
};

enum memory_device { MEMORY_NULL, MEMORY_ZERO, MEMORY_FULL, MEMORY_RANDOM };

#define SAVED_MAX 8			/* nodes that one change is about, at most */

/* A node as it was before the change that is under way. */
struct node_saved {
	uint32_t number;
	struct node node;
};

/*
 * What outlives the server, besides blocks (lasting.c): the next one takes it up as it was behind
 * the last change that was done. All zero: there is no tree yet.
 */
struct lasting {
	uint32_t is_begun;		/* files of the archive are in it */
	uint32_t nodes;			/* that there are, used or not */
	uint32_t lives;			/* nodes that were made */
	uint32_t saved;			/* those of `save` that are to be put back */
	/* blocks that are tables of nodes; 0 is `first` */
	uint32_t table[NODES_MAX / TABLE_NODES];
	struct node_saved save[SAVED_MAX];
	struct node first[TABLE_NODES];	/* 0: the root */
};

/* An open file, as POSIX has it. */
struct description {
	/* of a pipe with a name: how often the other end had been opened without being open */
	uint64_t offset;
	uint32_t object;		/* a node, or a pipe; or a share and its fid (share.h) */
	uint16_t handles;		/* that stand for it; 0: free */
	uint16_t flags;			/* FILE_READABLE and so on; one of them: an end of a pipe */
	bool is_pipe;
	bool is_host;			/* it is of a share */
};

struct handle {
	uint32_t life;		/* changes with each use of the entry: an old number does not fit */
	uint16_t description;
	uint16_t owner;			/* client */
	bool is_open;
	bool is_offered;		/* to whom claims it: its owner cannot use it */
	uint16_t next;			/* of its offer */
};

struct offer {
	uint64_t token;			/* 0: free */
	uint16_t owner;
	uint16_t handles;
	uint16_t first;
	bool is_kept;			/* who claims it gets copies */
};

enum pipe_end { PIPE_READ, PIPE_WRITE };

/* What is in a pipe: bytes, or messages of a message queue or to a socket. */
enum pipe_type {
	PIPE_PLAIN,
	PIPE_QUEUE,
	/* event.c: no bytes are in them */
	PIPE_COUNT,
	PIPE_TIMER,
	PIPE_SIGNALS,
	PIPE_LIST,
	PIPE_STREAM,			/* sockets from here on */
	PIPE_DATAGRAM,
	PIPE_PACKETS,
};

struct message {
	struct message *next;
	struct bytes bytes;
	uint32_t priority;		/* of a message queue */
	uint16_t rights, first_right;	/* handles that come with it */
	int32_t pid;			/* of who has sent it, and the name of that */
	struct file_name name;
};

enum buffer_state {
	BUFFER_NONE,
	BUFFER_FREE,			/* in the pool of its maker */
	BUFFER_HELD,			/* a client has it */
	BUFFER_SENT,			/* in a pipe */
};

/* Memory of a cluster that one client has at a time. */
struct buffer {
	struct shared_memory memory;
	struct buffer *next;		/* SENT: the next one in its pipe */
	struct bytes behind;		/* SENT: bytes that follow it */
	uint32_t first, bytes;		/* SENT: those of it that have not been read */
	uint16_t maker;			/* client; NOBODY: it is gone, and so is a free buffer */
	uint16_t owner;			/* HELD: client */
	uint8_t state;			/* enum buffer_state */
};

struct pipe {
	struct bytes bytes;		/* before all buffers */
	struct buffer *buffer, *last_buffer;
	uint16_t buffers;
	/* a pipe with a name: the node, 0: it has none; and how often each end was opened */
	uint16_t node;
	uint16_t came[2];
	struct message *messages;	/* those of a priority in order, the highest first */
	uint32_t message_bytes;
	uint16_t message_count;
	uint16_t limit;			/* PIPE_QUEUE: messages at most */
	uint32_t size;			/* PIPE_QUEUE: bytes of one */
	uint8_t type;			/* enum pipe_type */
	bool is_over;			/* PIPE_INPUT: the next read of nothing finds the end */
	uint16_t ends[2];		/* descriptions of each end; both 0: free */
	uint16_t maker;			/* client, or CLIENTS_MAX: it is gone */
	uint16_t changes;		/* how often it was told of, and so others of it */
	uint32_t watch[2][CLIENTS_MAX / 32];	/* clients that are to be told, a bit for each */
};

enum endpoint_state { ENDPOINT_NEW, ENDPOINT_LISTENS, ENDPOINT_CONNECTED };

#define SHUT_READ 1
#define SHUT_WRITE 2

/* What a pipe of event.c is. */
struct event {
	uint64_t value;			/* a count; when the timer is over, 0: never; signals */
	uint64_t period;		/* of the timer, 0: once */
	uint64_t began;			/* when its clock had 0 */
	bool is_semaphore;
	uint16_t next;			/* of a list: where the next look begins */
};

/* What a pipe with messages is besides: a socket, to which they come, or a message queue. */
struct endpoint {
	struct event event;
	struct file_name name;		/* of no bytes: it has none */
	uint32_t node, life;		/* the node that has its name; 0: none */
	uint8_t state;			/* enum endpoint_state */
	uint8_t shut;
	uint16_t peer;			/* number + 1; 0: none */
	bool is_peer_gone;		/* it had one */
	bool tells;			/* who receives here hears who has sent it */
	uint16_t error;			/* that the next call says */
	uint16_t backlog, waiting;	/* connections that have not been accepted */
	uint16_t next;			/* the next one of these, number + 1 */
	uint16_t opens;			/* descriptions of a message queue */
	uint16_t mode;
	int32_t pid, peer_pid;		/* who made it, who the other side is */
	uint32_t watch_client;		/* of a message queue: whom a message is told, */
	int32_t watch_pid, watch_signal;	/* and how; 0: nobody; -1: not at all */
};

/* What a client's next request may take, and what its last one has left for FILE_REST. */
struct client_bytes {
	struct client_bytes *next;
	struct bytes staged, rest;
};

#define TABLE_ENDPOINTS 16

_Static_assert(sizeof(struct endpoint[TABLE_ENDPOINTS]) <= BLOCK_DATA && PIPES_MAX %
	TABLE_ENDPOINTS == 0, "a table of endpoints");
_Static_assert(sizeof(struct node[TABLE_NODES]) <= BLOCK_DATA, "a table of nodes");

#define LOCKS_MAX 192
#define LOCK_WAITS 64

struct file_lock {
	uint64_t first, end;
	uint64_t file;
	int32_t pid;
	uint16_t owner;			/* client; is_whole, is_open: description */
	uint8_t share;			/* its number, from 1; 0: none */
	bool is_used : 1;
	bool is_whole : 1;
	bool is_open : 1;
	bool is_exclusive : 1;
};

struct tree {
	struct lasting *lasting;
	struct block *block;		/* the first of those that outlive the server */
	uint32_t blocks;		/* so many */
	/* tables of nodes: the first one, others in blocks, which they keep */
	struct node *table[NODES_MAX / TABLE_NODES];
	uint32_t nodes;			/* that there are, used or not */
	struct node ended;		/* what it had is free when the change is done; or NONE */
	struct description description[DESCRIPTIONS_MAX + 1];	/* DESCRIPTION_LOST */
	struct handle handle[HANDLES_MAX];
	struct block *free;
	uint32_t handles;		/* open ones */
	uint32_t listed;		/* places of `list` that have been used */
	uint16_t listed_of[CLIENTS_MAX + 1];	/* also of NOBODY */
	uint32_t life;			/* of the server, from 1 to SERVER_LIVES */
	uint16_t handles_of[CLIENTS_MAX + 1];	/* also of NOBODY */
	struct offer offer[OFFERS_MAX];
	uint16_t offers_of[CLIENTS_MAX];
	struct tokens tokens;
	uint32_t pipes;			/* places of them that have been used, but for PIPE_INPUT */
	struct pipe pipe[PIPES_MAX + 1];
	/* in blocks, which they keep: of the pipe with that number; there once it was needed */
	struct endpoint *endpoints[PIPES_MAX / TABLE_ENDPOINTS];
	uint64_t random;		/* what was last read of a device */
	uint32_t names_made;		/* by sockets that are bound to none */
	struct message *free_message;
	uint32_t sockets_sent;		/* handles of sockets that are on their way in messages */
	/*
	 * of these the first, number + 1, that is to be closed: sockets_settle does that, so that
	 * no end is in another one
	 */
	uint16_t dropped;
	bool may_be_lost;		/* a socket that is on its way may have no other handle */
	uint32_t kept_blocks;		/* that records of messages, clients and endpoints have */
	uint16_t pipes_of[CLIENTS_MAX];	/* that it has made */
	struct client_bytes *of_client[CLIENTS_MAX];	/* NULL: it has none */
	struct client_bytes *free_client;
	uint32_t proc;			/* the node of /proc; 0: there is none */
	uint32_t shown;			/* nodes there */
	bool is_showing;		/* one is being made: nobody else may */
	/* what a client asks for in memory is to be there (proc.h); NULL: all is there */
	void (*show)(struct tree *t, uint32_t client, enum file_op op, const char *path);
	uint32_t cores;			/* the node of /dev/cores; 0: none */
	uint32_t memory;		/* of /dev/memory */
	const unsigned char *archive;	/* where the boot archive begins here */
	uint32_t buffer_waits[CLIENTS_MAX / 32];	/* clients that wait for one to be free */
	struct file_zio_count zio;
	uint64_t began;			/* ns since 1970, when time_now was 0; 0: not known */
	struct share *share[SHARES_MAX];
	uint32_t shares;
	struct {			/* places.h */
		uint32_t number;	/* of this server */
		uint32_t node;		/* where its part begins */
		uint32_t count;
		const struct file_place *at[FILE_TREES_MAX];
	} place;
	struct operation *operation[CLIENTS_MAX];	/* for which a host is asked; NULL: none */
	uint32_t locks;			/* places of them that have been used */
	struct file_lock lock[LOCKS_MAX];
	struct file_lock wanted[LOCK_WAITS];	/* that clients wait for */
	uint8_t lock_wait[CLIENTS_MAX];	/* which of them, from 1; 0: none */
	struct buffer buffer[BUFFERS_MAX];
	struct listed list[LISTED_MAX];
};

static inline struct block *
block_of(const struct tree *t, uint32_t number)
{
	return &t->block[number - 1];
}

static inline uint32_t
block_number(const struct tree *t, const struct block *b)
{
	return (uint32_t)(b - t->block) + 1;
}

/*
 * What was stored before is there when what is stored behind it is: for who takes up the memory of
 * a thread that was ended anywhere. The core keeps its own order, so only the compiler is told.
 */
static inline void
stored(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline struct node *
node_of(const struct tree *t, uint32_t n)
{
	return &t->table[n / TABLE_NODES][n % TABLE_NODES];
}

/* The node that an entry of a directory stands for. */
static inline uint32_t
tree_node_of(const struct tree *t, uint32_t entry)
{
	return node_of(t, entry)->kind == FILE_KIND_LINK ? node_of(t, entry)->target : entry;
}

/* A number that no other node has had for a long time, below FILE_NUMBERS. */
static inline uint32_t
node_number(const struct tree *t, uint32_t n)
{
	return (node_of(t, n)->life * NODES_MAX + n) % FILE_NUMBERS + 1;
}

/*
 * More blocks, chained, or NULL: the memory ends. And of those that are `there` only the first
 * `used` are needed: how many there are then. Given by whoever uses the tree.
 */
struct block *blocks_more(void);
uint32_t blocks_give_back(uint32_t there, uint32_t used);

/* Blocks that the memory has, and that nobody uses. Given so, too. */
void blocks_count(uint64_t *all, uint64_t *unused);

/* The time in ns, which is also something that no client knows, for tokens. Given so, too. */
uint64_t time_now(void);

/*
 * Somebody wants so many bytes of PIPE_INPUT, in which there are none: input_give is to be called
 * when they have come. Given so, too.
 */
void input_want(uint32_t bytes);

/* A process gets a signal. Given so, too. */
void process_signal(int32_t pid, int32_t signal);

/* A client is to be told that it may ask again (FILE_KIND_TOLD). Given so, too. */
void client_tell(uint32_t client);

/*
 * Shared memory at its home: made, as long as its key is not known there, with so many pages at
 * least, which count as the job's of the process with that badge, 0: nobody's; read, written or
 * (NULL) cleared; ended. 0 or a negative error. And who a client is. Given so, too.
 */
int memory_make(const struct shared_memory *m, uint32_t badge);
int memory_read(const struct shared_memory *m, uint64_t offset, void *to, size_t len);
int memory_write(const struct shared_memory *m, uint64_t offset, const void *from, size_t len);
void memory_end(const struct shared_memory *m);
struct mail_sender client_from(uint32_t client);

/*
 * What such memory holds becomes the process's with that badge, of its home: a handle of it there.
 * And it is nobody's any more, who has it mapped or not; *is_short: its home should have it back
 * (NULL: that is not asked). 0 or a negative error. Given so, too.
 */
int memory_lend(const struct shared_memory *m, uint32_t badge, int32_t *handle);
int memory_revoke(const struct shared_memory *m, int32_t *is_short);

/*
 * The tree of `lasting`, whose blocks are there, in memory that is zero; `archive` is set. True:
 * it is the one of a server before; else it is empty, and lasts from tree_begun on.
 */
bool tree_init(struct tree *t);
void tree_begun(struct tree *t);

/*
 * A change of nodes begins with a copy of each, before anything is stored there, and is done with
 * tree_commit, all or nothing: who takes up the tree before that puts the copies back.
 */
void node_save(struct tree *t, uint32_t n);
void tree_commit(struct tree *t);

/* TABLE_NODES more; false: there are as many as there may be, or the memory ends. */
bool nodes_add(struct tree *t);

/* What a server before has left becomes as it was behind the last change that was done. */
void tree_take_up(struct tree *t);

/*
 * Add a file whose contents lie in memory that stays, with the directories above it. 0 or a
 * negative error.
 */
int tree_add_fixed(struct tree *t, const char *path, const void *data, uint64_t bytes);

/* The node at a path, relative ones from the root. Its number or a negative error. */
int tree_find(const struct tree *t, const char *path);

/* What the last name of a path is to who asks. */
enum last_name {
	LAST_FOLLOWED,			/* what a symbolic link there leads to is meant */
	LAST_ITSELF,			/* unless a slash follows it */
	LAST_IN_DIRECTORY,		/* it may be a new one, or go */
};

/*
 * The first symbolic link of a path that is to be followed, and where its name begins and ends; 0:
 * there is none. Whoever walks a path, or finds what it names, says -FILE_LINKED where a directory
 * is wanted and one of these is found.
 */
uint32_t tree_find_link(const struct tree *t, const char *path, enum last_name last,
	uint32_t span[2]);

/*
 * Does a path lead into a share? Its number, from 0, and where it begins in the path; or -1. Or
 * into the part of another server: SHARES_MAX and its number, from 0.
 */
int tree_enter(const struct tree *t, const char *path, uint32_t *base);

/* Does a path from a directory on lead above that? Where the first of it that does ends. */
bool tree_leaves(const struct tree *t, uint32_t dir, const char *path, uint32_t *end);

/*
 * The path of a directory from the root, with a slash at its end, to FILE_PATH_MAX bytes. Its bytes
 * with the zero byte; -E_NOENT: it was removed; -FILE_ENAMETOOLONG.
 */
int node_path(const struct tree *t, uint32_t dir, char *to);

/* The directories above a path are made. 0 or a negative error. */
int tree_make_above(struct tree *t, const char *path);

/* Changes of the tree. 0 (tree_make: the node's number) or a negative error. */
int tree_make(struct tree *t, const char *path, enum file_kind kind, uint32_t mode);
/* A file that no directory has, beside what is in this one: it ends with its last description. */
int tree_make_nameless(struct tree *t, const char *path, uint32_t mode);
int tree_remove(struct tree *t, const char *path, bool is_directory);
int tree_rename(struct tree *t, const char *from, const char *to);
int tree_link(struct tree *t, const char *from, const char *to);
/* A symbolic link that says `to`, of FILE_PATH_MAX bytes at most. */
int tree_symlink(struct tree *t, const char *path, const char *to);

/*
 * Free a node that has neither a name nor a description any more: as a part of a change, or as one.
 */
void node_end(struct tree *t, uint32_t n);
void node_settle(struct tree *t, uint32_t n);

/* Contents. Count of bytes or a negative error; a write that the memory ends is short. */
long node_read(struct tree *t, uint32_t n, uint64_t offset, void *to, size_t len);
long node_write(struct tree *t, uint32_t n, uint64_t offset, const void *from, size_t len);
int node_resize(struct tree *t, uint32_t n, uint64_t size);

/* The devices that are files in memory. */
void devices_make(struct tree *t);

/* A file's blocks are free; and they are as its size says when a life begins, and marked. */
void contents_free(struct tree *t, uint32_t first);
void contents_begin(struct tree *t, struct node *n);

/* Where the contents of a file lie that are the archive's. */
static inline const unsigned char *
node_fixed(const struct tree *t, const struct node *n)
{
	return (const unsigned char *)((uintptr_t)t->archive + (uintptr_t)n->fixed);
}

/*
 * The contents become memory of a process's cluster, with room for so many bytes, if they are not
 * yet. 0; -FILE_ENODEV: they are another cluster's; or a negative error.
 */
int node_share(struct tree *t, uint32_t n, struct mail_sender who, uint64_t bytes);

/* Memory with a key of its own, of a home and with so many pages. As memory_make. */
int shared_make(struct tree *t, struct shared_memory *m, uint32_t badge);

/* May a client have so many handles more? 0; -E_MFILE: it has its share; -FILE_ENFILE: all have. */
int handle_check_room(const struct tree *t, uint32_t client, uint32_t count);

/* The first free description from number `from` on, not taken yet, or NULL. */
struct description *description_find_free(struct tree *t, uint32_t from);

/* A handle for a description; there is room for it. */
struct handle *handle_open(struct tree *t, uint32_t client, struct description *d);

/* Its number, as its client knows it; and back: NULL if it is none of this client's. */
uint32_t handle_number(const struct tree *t, const struct handle *h);
struct handle *handle_find(struct tree *t, uint32_t client, uint32_t number);

/* Why there is no such handle: -E_IO: a server before this one gave it; -E_BADF. */
int handle_error(const struct tree *t, uint32_t number);

/* Close one; the last one of a description closes that. */
void handle_close(struct tree *t, struct handle *h);

/*
 * Offer the descriptions of so many handles of a client. 0; -E_INVAL, -E_BADF: the numbers;
 * -E_NOSPC: too many offers; or as handle_check_room.
 */
struct offer_what {
	const uint32_t *numbers;
	uint32_t count;
	bool is_kept;
};
int offer_make(struct tree *t, uint32_t client, const struct offer_what *what, uint64_t *token);

/*
 * The handles of an offer become a client's, *count of them, which `claimed` has room for; of one
 * that is kept it gets copies. 0; -E_NOENT: no such offer; -E_MFILE: the client has too many;
 * -FILE_ENFILE.
 */
int offer_claim(struct tree *t, uint32_t client, uint64_t token, struct file_claimed *claimed,
	uint32_t *count);

/* A client ends an own offer, or all. 0 or -E_NOENT. */
int offer_withdraw(struct tree *t, uint32_t client, uint64_t token);
void offers_forget(struct tree *t, uint32_t client);

/* Blocks, filled with zeros; NULL: the memory ends. And a chain of them back. */
struct block *block_take(struct tree *t);
void chain_free(struct tree *t, struct block *b);

/*
 * All of `len` bytes go in, or none: false, the memory ends. Up to `len` go out, how many; from one
 * to another all that there are, or none.
 */
bool bytes_put(struct tree *t, struct bytes *b, const void *from, uint32_t len);
uint32_t bytes_take(struct tree *t, struct bytes *b, void *to, uint32_t len);
/* They stay: `len` are copied to memory, and `more` behind these into other bytes. As bytes_put. */
bool bytes_copy(struct tree *t, const struct bytes *from, void *to, uint32_t len,
	struct bytes *behind, uint32_t more);
bool bytes_move(struct tree *t, struct bytes *from, struct bytes *to, uint32_t len);
void bytes_drop(struct tree *t, struct bytes *b);

/* Those of a client, NULL: it has none; made if need be, NULL: the memory ends. */
struct client_bytes *client_bytes(struct tree *t, uint32_t client);
static inline struct client_bytes *
client_bytes_there(struct tree *t, uint32_t client)
{
	return t->of_client[client];
}
void client_bytes_forget(struct tree *t, uint32_t client);

/*
 * A pipe, and a handle for each end, with FILE_NONBLOCK or 0. 0; -E_NOSPC: the client has made too
 * many, or all have; -FILE_ENFILE; or as handle_check_room.
 */
int pipe_make(struct tree *t, uint32_t client, uint32_t flags, struct file_claimed ends[2]);

/*
 * Take bytes out for a client: up to `len` to `to`, and up to `more` behind them to its rest, *rest
 * of them. Count of the first; -FILE_LATER: there is nothing. No bytes are the end of the file, or
 * were asked for.
 */
struct pipe_put {
	const void *from;
	uint32_t len;
};
struct pipe_taken {
	void *to;
	uint32_t len, more;
	uint32_t rest;
};
long pipe_read(struct tree *t, struct pipe *p, uint32_t client, struct pipe_taken *what);

/*
 * Put in what the client has staged, and `len` bytes behind that: all or none. Count;
 * -FILE_LATER: there is no room for all; -E_PIPE: nobody can read it; -E_NOMEM.
 */
long pipe_write(struct tree *t, struct pipe *p, uint32_t client, struct pipe_put what);

/*
 * The ends of a pipe with a name that a new description is of, as its flags say. 0; -FILE_ENXIO:
 * nobody reads it, and who writes does not wait for that; -FILE_ENFILE. Has the other end been open
 * since? Who has it open waits for that.
 */
int pipe_open(struct tree *t, uint32_t client, uint32_t n, struct description *d);
bool pipe_is_met(const struct pipe *p, const struct description *d);

/* A pipe of a type that a client makes, whose end to read is open. NULL: there are too many. */
struct pipe *pipe_begin(struct tree *t, uint32_t client, enum pipe_type type);

/* Both ends are closed: it is free. */
void pipe_free(struct tree *t, struct pipe *p);

/* Who watches an end is told. */
void pipe_tell(struct pipe *p, enum pipe_end end);

uint32_t pipe_number(const struct tree *t, const struct pipe *p);
struct endpoint *endpoint_of(const struct tree *t, const struct pipe *p);
/* Room for it; false: the memory ends. */
bool endpoint_has_place(struct tree *t, const struct pipe *p);
bool file_name_is(const struct file_name *a, const struct file_name *b);
struct pipe *endpoint_peer(struct tree *t, const struct pipe *p);

/*
 * PIPE_INPUT: a handle of its end to read, or as handle_check_room. What has come is put in, of
 * which it has room for as much as was wanted; no bytes: its end, which one read finds.
 */
int input_open(struct tree *t, uint32_t client, uint32_t *handle);
void input_give(struct tree *t, const void *from, uint32_t len);

/*
 * Buffers in pipes. When there are no bytes before them, some of the first one become such: 0; or
 * -E_NOMEM, -E_IO. What was read to its end goes. All go; and all of a client.
 */
int buffers_pull(struct tree *t, struct pipe *p);
void buffers_settle(struct tree *t, struct pipe *p);
void buffers_drop(struct tree *t, struct pipe *p);
void buffers_forget(struct tree *t, uint32_t client);

/* Where bytes that are written now go. */
static inline struct bytes *
pipe_tail(struct pipe *p)
{
	return p->last_buffer != NULL ? &p->last_buffer->behind : &p->bytes;
}

/* Counts, timers, signals and lists (event.c): is a pipe one? */
static inline bool
pipe_is_event(const struct pipe *p)
{
	return p->type >= PIPE_COUNT && p->type <= PIPE_LIST;
}

/* A description has ended: it is in no list any more; and what is listed in this pipe. */
void listed_end(struct tree *t, const struct description *d);
void list_drop(struct tree *t, const struct pipe *p);

/* A client is gone: its places are nobody's. */
void listed_forget(struct tree *t, uint32_t client);

/* What of FILE_POLL is true of an end. */
uint32_t pipe_poll(struct pipe *p, enum pipe_end end);

/* The client is told when that may have changed. */
void pipe_watch(struct pipe *p, enum pipe_end end, uint32_t client);

/* The last handle of a description of a pipe's end was closed. */
void pipe_close(struct tree *t, const struct description *d);

/* The end of a pipe that a description is of; the one that is read, if it is of both. */
static inline enum pipe_end
end_of(const struct description *d)
{
	return (d->flags & FILE_READABLE) != 0 ? PIPE_READ : PIPE_WRITE;
}

/* With a name it may be of both. */
static inline bool
is_of_both(const struct description *d)
{
	return (d->flags & (FILE_READABLE | FILE_WRITABLE)) == (FILE_READABLE | FILE_WRITABLE);
}

/* A client is gone: it is not told anything any more. */
void pipes_forget(struct tree *t, uint32_t client);

/* The kind of what a description is of. */
enum file_kind description_kind(const struct tree *t, const struct description *d);

/*
 * Answer one request of a client, of so many bytes. `answer` has room for FILE_MESSAGE bytes; how
 * many it has is returned, or FILE_PUT_OFF: it needs a host, and is to be served again when
 * client_again says so (share.h). Whatever the request contains, it is answered, and nothing else
 * happens on an error. Both may change meanwhile: they lie in memory that the client writes, too.
 */
#define FILE_PUT_OFF UINT32_MAX
uint32_t file_serve(struct tree *t, uint32_t client, const void *request, uint32_t bytes,
	void *answer);

/* Close all handles of a client. */
void file_forget(struct tree *t, uint32_t client);

#endif
