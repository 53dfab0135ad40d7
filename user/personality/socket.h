/* SPDX-License-Identifier: MIT
 *
 * Sockets: what their calls have in common. With the lock of the descriptors held, but for
 * socket_call and socket_pieces_call, which take it.
 */
#ifndef USER_PERSONALITY_SOCKET_H
#define USER_PERSONALITY_SOCKET_H

#include <user/personality/files.h>
#include <user/personality/signal.h>

#define SOCKET_BROKEN 515		/* EPIPE and SIGPIPE */

/* A descriptor's socket; NULL: none, and an error in *wrong. */
struct opened *socket_find(const struct handler_event *c, unsigned long fd, int *wrong);

/* A sockaddr_un of a program's. 0 or a negative error. */
int socket_address(const struct handler_event *c, unsigned long from, uint64_t bytes,
	struct file_address *a);

/*
 * A name as sockaddr_un, as much as has room: *bytes, which becomes what it has. Of no name that is
 * the family alone, or nothing. 0 or -E_FAULT.
 */
int socket_tell_name(const struct file_name *name, unsigned long to, uint32_t *bytes,
	bool is_unnamed);

/*
 * Until when a call that reads or writes (OPENED_*) waits, of the socket of its first argument:
 * FOREVER, or as its options say.
 */
uint64_t socket_until(const struct handler_event *c, uint8_t use);

/*
 * Until it is worth asking again: 0; -E_AGAIN: the time is over; -CALL_RESTART, or where there is a
 * time -CALL_INTERRUPTED; -E_IO.
 */
long socket_wait(const struct handler_event *c, uint64_t until);

/*
 * What the server knows of the socket of the call's first argument, and changes (FILE_ENDPOINT_*).
 * 0 or a negative error.
 */
int socket_know(const struct handler_event *c, uint32_t change, struct file_endpoint *e);
bool socket_is_connected(const struct handler_event *c);

long socket_send_call(const struct handler_event *c, unsigned long nr);
long socket_receive_call(const struct handler_event *c, unsigned long nr);
long socket_option_set(const struct handler_event *c);
long socket_option_get(const struct handler_event *c);

#endif
