/* SPDX-License-Identifier: MIT
 *
 * Descriptors of ranks and the way to the file server. All ranks of a cluster are one process, so
 * one table holds the descriptors of all of them; it comes into being with the first one that is
 * not a standard stream. One thread at a time uses table and server.
 */
#ifndef USER_PERSONALITY_FILES_H
#define USER_PERSONALITY_FILES_H

#include <user/personality/personality.h>
#include <atoll/service.h>
#include <servers/file/protocol.h>

#define OPENED_MAX 120		/* files that a process has open at a time */
#define SLOTS_MAX 240		/* descriptors that its ranks have */
/* those below are standard streams until they are closed, or something else is put there */
#define FD_FIRST 3
#define FD_LIMIT 256

enum opened_kind {
	OPENED_NONE,
	OPENED_STREAM,		/* handle: 0, 1, 2 or STREAM_* */
	OPENED_CLOSED,		/* handle: 0; a standard stream that was closed */
	OPENED_FILE,		/* from here on: the file server's */
	OPENED_DIRECTORY,
	OPENED_PIPE,
	OPENED_SOCKET,
	OPENED_QUEUE,
	OPENED_EVENT,		/* from here on: event_calls.c */
	OPENED_SIGNALS,
	OPENED_LIST,
};

#define STREAM_NULL 3		/* /dev/null */
#define STREAM_TERMINAL 4	/* /dev/tty */
#define NULL_PATH "/dev/null"	/* it is opened without the server */
#define TERMINAL_PATH "/dev/tty"
#define AT_FDCWD (-100)

#define OPENED_READ 1
#define OPENED_WRITE 2
#define OPENED_WHOLE 4		/* a socket that keeps messages whole */

/* What the server has of it, its offset and whether it appends, other processes may share. */
struct opened {
	uint32_t handle;
	uint8_t kind;		/* enum opened_kind */
	uint8_t flags;		/* how it may be used */
	uint16_t refs;		/* descriptors */
};

/* A request that names something. */
struct file_named {
	struct file_request head;
	char path[FILE_PATH_MAX];
};

/* Take and give back table and server. */
void files_lock(void);
void files_unlock(void);

/* The following with the lock held. */

/*
 * What a descriptor of the caller's rank stands for; NULL: nothing. A standard stream that was
 * never changed is *stream, filled.
 */
struct opened *files_find(const struct handler_event *c, unsigned long fd, struct opened *stream);

/* Descriptors are below this. */
long files_limit(const struct handler_event *c);

/*
 * A descriptor for something that is open already; -1 as *fd: the lowest that is free from `low`
 * on. 0 or -E_MFILE, -E_NOMEM, -E_BADF.
 */
int files_attach(const struct handler_event *c, struct opened *o, long *fd, unsigned long low);

/*
 * A descriptor that a child begins with: each rank of the process has it, but the standard input
 * only the job's first one.
 */
struct files_first {
	uint16_t fd;
	bool is_cloexec;
};
void files_begin(const struct handler_event *c, struct opened *o, struct files_first first);

/* A new entry, with no descriptor; NULL: there are too many. */
struct opened *files_new(void);

/*
 * The caller's next descriptor, from *at on, which moves on, and whether another program gets it;
 * NULL: there is none.
 */
struct opened *files_next(const struct handler_event *c, uint32_t *at, uint32_t *fd,
	bool *is_cloexec);

/* Does a handle of this kind belong to the file server? */
static inline bool
files_is_served(uint8_t kind)
{
	return kind >= OPENED_FILE;
}

/* What the server's kind of something is here. */
static inline uint8_t
opened_kind(uint32_t kind)
{
	switch (kind) {
	case FILE_KIND_DIRECTORY: return OPENED_DIRECTORY;
	case FILE_KIND_PIPE: return OPENED_PIPE;
	case FILE_KIND_SOCKET: return OPENED_SOCKET;
	case FILE_KIND_QUEUE: return OPENED_QUEUE;
	case FILE_KIND_EVENT: return OPENED_EVENT;
	case FILE_KIND_SIGNALS: return OPENED_SIGNALS;
	case FILE_KIND_LIST: return OPENED_LIST;
	default: return OPENED_FILE;
	}
}

/* The entry of a handle of a kind; NULL: there is none. */
struct opened *files_by_handle(uint8_t kind, uint32_t handle);

/* Give descriptions of one server away, and take them: 0, or how many were taken; or what
 * files_ask says. */
int files_offer(const uint32_t *handles, uint32_t count, bool is_kept, uint64_t *token);
int files_claim(uint64_t token, struct file_claimed *claimed, uint32_t room);

/* Whether a descriptor is closed when the process gets another program. False if it is none. */
bool files_is_cloexec(const struct handler_event *c, unsigned long fd);
void files_set_cloexec(const struct handler_event *c, unsigned long fd, bool is_cloexec);

/* Give a descriptor up; what was open only through it is closed. 0 or -E_BADF. */
int files_detach(const struct handler_event *c, unsigned long fd);

/*
 * Ask the server. 0 or a negative error; -E_NOENT if the machine has no server. -E_IO: it has ended
 * before it has answered, or what was open is lost with the one before; the next request is its
 * successor's, and so is one that changes nothing. And with `bytes` of paths, which may be others
 * then: those by which the server was asked that has what they name.
 */
int files_ask(const struct file_request *q, struct file_reply *r);
int files_ask_named(struct file_named *q, size_t bytes, struct file_reply *r);

/* With bytes behind it, and behind the answer: how many of these, or an error. */
int files_call(const struct file_request *q, struct service_part data, struct file_reply *r,
	struct service_part room);

/* Bytes behind the answer's head go to `to`. How many, or an error. */
int files_ask_for(const struct file_request *q, struct file_reply *r, void *to, size_t bytes);

/*
 * A request was answered -FILE_LATER: wait until it is worth asking again, up to a time of kclock.
 * Takes and gives back the lock meanwhile, so that what was found before may be gone. 0;
 * -E_TIMEDOUT; -E_INTR: a signal is due. Who asks a server that has ended is told at once.
 */
long files_wait(const struct handler_event *c, uint64_t until);

/* The same for a request that names something: FILE_STAT, FILE_READ_LINK. */
int files_ask_about(struct file_named *q, size_t bytes, struct file_reply *r,
	struct iovec to);

/* The path of a directory that is open (FILE_WHERE), to FILE_PATH_MAX bytes at `path`. */
int files_where(uint32_t handle, char *path);

/*
 * Bytes from and to an open file at `offset`, or at FILE_AT_OFFSET. However many they are, others
 * that share the offset, or append, go before or after all of them. Count or a negative error if it
 * is none at all.
 */
long files_read(const struct opened *o, uint64_t offset, char *to, uint64_t len);
long files_write(const struct opened *o, uint64_t offset, const char *from, uint64_t len);

/*
 * Bytes out of a pipe, as many as there are; and into it, up to FILE_PIECE_MAX in one piece. Count
 * or a negative error; -E_PIPE: nobody reads it, or it was lost with its server.
 */
long files_take(const struct opened *o, char *to, uint64_t len);
long files_put(const struct opened *o, const char *from, uint64_t len);

/* What the next request is to take (FILE_STAGE); what the last one has left (FILE_REST): count. */
int files_stage(const char *from, uint64_t len);
long files_rest(char *to, uint64_t len);

/* Takes the lock: readv and writev of a socket that keeps messages whole. */
long socket_pieces_call(const struct handler_event *c, uint8_t use);

/* Takes the lock: bytes from and to a pipe or a socket, as read and write move them. */
long pipe_move(const struct handler_event *c, uint8_t use, struct iovec piece);

/*
 * Takes the lock: wait until a descriptor has one of `events` (of poll), up to a time of kclock: 1;
 * 0: it was time; -E_INTR: a signal is due.
 */
long pipe_await(const struct handler_event *c, unsigned long fd, int16_t events, uint64_t until);

/*
 * With the lock held: a descriptor for what the server has opened, which is closed if there is
 * none; two of them, to `to`: 0 or a negative error. And what it has opened is closed.
 */
long files_attach_claimed(const struct handler_event *c, const struct file_claimed *end,
	bool is_cloexec);
long files_attach_pair(const struct handler_event *c, const struct file_claimed end[2],
	bool is_cloexec, int32_t *to);
int files_close(uint32_t handle);

/* Takes the lock: eventfd2, timerfd_*, signalfd4, epoll_*. */
long event_call(const struct handler_event *c, unsigned long nr);

/* With the lock held: what a read of signals finds: bytes; -E_AGAIN, -FILE_LATER. */
long event_take_signals(const struct handler_event *c, const struct opened *o, struct iovec piece);

/* Take the lock: ppoll, pselect6. */
long pipe_poll_call(const struct handler_event *c);
long pipe_select_call(const struct handler_event *c);

/* Takes the lock: requests on buffers (PERSONALITY_ZIO). */
long pipe_zio_call(const struct handler_event *c);

/* pipe2, with the lock held. */
long pipe_create(const struct handler_event *c);

/*
 * Put a path into a request, behind what is there: relative to the directory of a descriptor, or to
 * the working directory. How many bytes of paths it has then, or a negative error.
 */
int file_put_path(const struct handler_event *c, struct file_named *q, size_t at, long dir,
	unsigned long from);

/*
 * Somebody wants a right to what lay behind the end of a file that is mapped: is it there now?
 * Without the lock.
 */
bool mapped_reach(uint64_t addr, uint32_t right);

/* mmap of a file, with the lock held. */
long mapped_mmap(const struct handler_event *c);

/*
 * With the lock held: fcntl's locks, flock (`o`: NULL: there is none), and that a descriptor that
 * is closed gives up what the process has locked of its file.
 */
long lock_fcntl(const struct handler_event *c, const struct opened *o);
long lock_flock(const struct handler_event *c, const struct opened *o);
void locks_close(const struct opened *o);

/* The calls about status, times and modes, with the lock held. */
long file_status_call(const struct handler_event *c, unsigned long nr);

/* Is the caller a thread of the rank that has the standard input, or of a child of it? */
bool files_has_input(const struct handler_event *c);

/*
 * What a standard input that is a stream is read from; NULL: it is at its end. It is opened anew of
 * a server that follows one that has ended.
 */
struct opened *files_input(const struct handler_event *c);
void files_lose_input(void);

/* Takes the lock: a rank has ended, or a child that had no program (files_lend). */
void files_close_rank(int rank);

/*
 * Takes the lock. A child that has no program yet has the descriptors of its parent's rank, and
 * what it does to them is its own: it is `child` as a rank, a negative number. 0 or -E_MFILE.
 */
int files_lend(int rank, int child);

#endif
