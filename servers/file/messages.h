/* SPDX-License-Identifier: MIT
 *
 * Pipes in which messages are: sockets and message queues. What they are made of is in tree.h.
 */
#ifndef SERVERS_FILE_MESSAGES_H
#define SERVERS_FILE_MESSAGES_H

#include <servers/file/tree.h>

/*
 * Messages. In goes what the client has staged, and `len` bytes behind that: count; -FILE_LATER:
 * there is no room; -E_BADF, -E_MFILE, -FILE_ENFILE, -FILE_EOPNOTSUPP: descriptors that cannot come
 * with it; -E_NOMEM. Out comes the first one, or of a stream as much as is asked for.
 */
struct message_put {
	const void *from;
	uint32_t len;
	uint32_t priority;
	int32_t pid;
	const struct file_name *name;
	const uint32_t *right;
	uint32_t rights;
};
struct message_taken {
	void *to;
	uint32_t len, more;		/* to `to`, and behind them to the client's rest */
	bool is_peek;
	bool is_of_one;			/* of a stream what one process has sent */
	struct file_claimed *right;
	uint32_t rights_room;
	/* filled */
	bool is_short;			/* the memory ended: nothing of a message was taken */
	uint32_t done, rest;
	uint32_t whole;			/* bytes of the message */
	uint32_t priority, rights;
	int32_t pid;
	struct file_name name;
};
long message_put(struct tree *t, struct pipe *p, uint32_t client, const struct message_put *what);
void message_take(struct tree *t, struct pipe *p, uint32_t client, struct message_taken *what);
bool message_has_room(const struct pipe *p);
void messages_drop(struct tree *t, struct pipe *p);

/*
 * Sockets. A new one, or NULL: there are too many; two that are connected; its end, when its
 * description is closed.
 */
struct pipe *socket_make(struct tree *t, uint32_t client, enum pipe_type type, int32_t pid);
void socket_join(struct tree *t, struct pipe *p, struct pipe *q);
void socket_close(struct tree *t, struct pipe *p);

/*
 * Sockets may lie in messages to each other, also in circles. At the end of each request, and of a
 * client: those go that lay in messages that are gone, and those that nobody can receive any more.
 */
void sockets_settle(struct tree *t);
bool description_is_socket(const struct tree *t, const struct description *d);

/* Linux's calls: 0 or a negative error. -FILE_LATER: as many wait to be accepted as may. */
int socket_find(struct tree *t, const struct pipe *p, const struct file_address *a,
	struct pipe **found);
int socket_bind(struct tree *t, struct pipe *p, const struct file_address *a, uint32_t mode);
int socket_listen(struct tree *t, struct pipe *p, uint32_t backlog, int32_t pid);
int socket_connect(struct tree *t, uint32_t client, struct pipe *p, struct pipe *to);
void socket_disconnect(struct tree *t, struct pipe *p);
int socket_shutdown(struct tree *t, struct pipe *p, uint32_t how);
/* The next connection that has come; NULL: there is none. */
struct pipe *socket_accept(struct tree *t, struct pipe *l);

/*
 * As message_put, to the peer or (not NULL) to `to`; as message_take: bytes. What keeps a socket
 * from that, and errors that came meanwhile. What of FILE_POLL is true, and when to tell.
 */
long socket_send(struct tree *t, uint32_t client, struct pipe *p, struct pipe *to,
	struct message_put *what);
long socket_receive(struct tree *t, uint32_t client, struct pipe *p, struct message_taken *what);
uint32_t socket_poll(struct tree *t, const struct pipe *p);
void socket_watch(struct tree *t, struct pipe *p, uint32_t client);

/* Message queues, in the same way. A description is closed; the name is gone. */
struct queue_what {
	const struct file_name *name;
	uint32_t messages, bytes;	/* that it has at most, of each */
	uint32_t mode;
};
struct pipe *queue_find(struct tree *t, const struct file_name *name);
int queue_make(struct tree *t, uint32_t client, const struct queue_what *what, struct pipe **made);
int queue_unlink(struct tree *t, const struct file_name *name);
void queue_close(struct tree *t, struct pipe *p);
long queue_send(struct tree *t, uint32_t client, struct pipe *p, struct message_put *what);
long queue_receive(struct tree *t, uint32_t client, struct pipe *p, struct message_taken *what);
uint32_t queue_poll(const struct pipe *p);
/* A signal, 0: none, or QUEUE_NOT_ANY_MORE. -E_BUSY: somebody waits for a message already. */
int queue_notify(struct tree *t, uint32_t client, struct pipe *p, int32_t signal, int32_t pid);
void queues_forget(struct tree *t, uint32_t client);

#endif
