/* SPDX-License-Identifier: MIT
 *
 * Services: a server and its clients talk over channels (atoll/channel.h), one for each client, of
 * the same or of another cluster. A client opens its channel once, through the server's mailbox:
 * the message names the channel, and the kernel writes into it whose it is, cluster and badge. From
 * then on requests and answers are messages of the channel, one answer to each request, in order.
 *
 * The memory of a channel is the client's, and so is what a client does to it: a server reads a
 * request only when there is room for its answer, so a client that reads no answers is not served,
 * and nobody waits for it. A client that is gone, or its cluster, ends with all that it had.
 */
#ifndef ATOLL_SERVICE_H
#define ATOLL_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/layout.h>
#include <abi/limits.abi.h>
#include <atoll/channel.h>

/* What server and clients must agree on. */
struct service_kind {
	uint32_t magic;			/* of the message that opens */
	uint32_t message;		/* bytes of the longest request or answer */
	int cluster, port;		/* where the server reads its mailbox */
	int pages;			/* of a channel */
};

/* Looks without work before either side sleeps: they cost no more than a sleep and a wake. */
#define SERVICE_LOOKS 80

/* Bytes of a request or an answer. */
struct service_part {
	void *at;
	uint32_t bytes;
};

/* --- the client's side --- */

/*
 * Open a channel to a service: the server answers in it. `bit` of the notification of whichever
 * thread waits for an answer is the channel's: it may be set then, and later, without a reason.
 * Waits for the server. 0; -E_NOSPC: the server has as many clients of this cluster as it takes, or
 * the window no pages left; or what mailbox_open, channel_make and channel_await say.
 */
int service_open(struct channel *ch, const struct service_kind *kind, int bit);

/* Its steps, for who waits for other things, too. Zero but for `kind` and `bit` at the start. */
struct service_opening {
	const struct service_kind *kind;
	int bit;
	bool is_begun, is_made;
	bool is_named;			/* false again: to name it once more */
	/*
	 * the channel before has just ended, and its pages come back soon: without any it is
	 * -E_AGAIN, and `lacks_pages`, which nothing tells the end of
	 */
	bool is_anew, lacks_pages;
	int out;			/* mailbox to the server */
	uint32_t number;		/* of the channel */
	uint64_t named;			/* when it was */
};

/*
 * Go on with opening a channel: 0: it is open; -E_AGAIN: call it again when there may be room for
 * a message to the server (EVENT_ROOM), or once it is named, when something has come in the
 * channel. It may have to be named again: a server that cannot open it now has no way to say so. A
 * server that has ended before it answered has a successor, who is asked instead. Or what
 * service_open says: it was not opened.
 */
int service_try_open(struct channel *ch, struct service_opening *o);

/* All steps: as service_open, but with `is_anew` it waits a second for pages that come back. */
int service_open_all(struct channel *ch, struct service_opening *o);

/*
 * The server has ended (-E_PIPE), and will be started again: give up the channel, and open one to
 * its successor as service_open does. Without success there is no channel.
 */
int service_reopen(struct channel *ch, const struct service_kind *kind, int bit);

/*
 * Send a request of two parts, and wait for its answer, whose first `answer[0].bytes` go to the
 * first part, the rest to the second one. One call of a channel at a time, from any thread. The
 * bytes of the second part; -E_INVAL: the request is too long; -E_IO: the answer is too short;
 * -E_AGAIN: there are requests without an answer; -E_PIPE, -E_HOSTDOWN: the server is gone.
 */
int service_call(struct channel *ch, const struct service_part request[2],
	const struct service_part answer[2]);

/* Its halves: several requests may be on their way, as many as the channel has room for. */
int service_send(struct channel *ch, const struct service_part request[2]);
int service_receive(struct channel *ch, const struct service_part answer[2]);

/* --- the server's side --- */

struct service_client {
	struct channel ch;
	struct mail_sender from;	/* whose it is: the kernel of its cluster says so */
	struct service_client *next;	/* that is awake */
	bool is_there;
	bool is_awake;			/* it is looked at in each round; else it sets its bit */
	bool was_woken;			/* its bit was set: it may be gone */
	bool is_waiting;		/* its request was put off: see SERVICE_LATER */
	bool is_to_tell;		/* see service_tell */
};

#define SERVICE_BIT_MAIL 0		/* of the server's thread: a message has come */
/* this one and all above are the clients'; those between are free */
#define SERVICE_BIT_CLIENT 9

/* What `serve` returns instead of a number of bytes: the answer comes later. */
#define SERVICE_LATER UINT32_MAX

struct service {
	const struct service_kind *kind;
	/*
	 * Answer a request of client number `client`: write at most kind->message bytes to `answer`
	 * and return how many. Both lie where the client can change them at any time: what is
	 * looked at twice is copied before. It must not wait for the client. With SERVICE_LATER
	 * nothing is answered and the request stays where it is: the client may change it, and is
	 * not looked at until service_again.
	 */
	uint32_t (*serve)(void *of, uint32_t client, struct service_part request, void *answer);
	/* A client is gone, and what it had with it; its number may be given to another one. */
	void (*gone)(void *of, uint32_t client);
	/* A message that answers no request, as `serve` writes one; for service_tell. */
	uint32_t (*tell)(void *of, uint32_t client, void *message);
	/*
	 * A message of the mailbox that opens no channel; MAILBOX_MSG_SIZE bytes. What a client has
	 * sent so before it opened its channel comes before anything from that. NULL: none is
	 * looked at.
	 */
	void (*mail)(void *of, const struct mail_sender *from, const void *message);
	/*
	 * Has something come from elsewhere that the server is to look at, in a channel to another
	 * service? With `is_last` it sleeps unless this is so, and has to be woken from now on.
	 * NULL: there is nothing else.
	 */
	bool (*other)(void *of, bool is_last);
	void *of;
	int in;				/* its mailbox */
	struct service_client *client;	/* zeros at first */
	uint32_t clients;		/* at most; each cluster has an equal share of them */
	/* of them, for the own cluster, and the others share the rest; 0: it has a share, too */
	uint32_t own;
	uint32_t looks;			/* without work before it sleeps: SERVICE_LOOKS */
	/* what the clients must be: -E_ACCES is for all others; 0: anybody */
	uint32_t badge;
	uint64_t until;			/* a sleep ends then; FOREVER from service_begin on */

	/* from service_begin on */
	struct service_client *awake;	/* the first */
	uint32_t used;			/* places below it have been used */
	uint32_t share[2];		/* clients at most: of another cluster, of the own one */
	uint32_t here;			/* the own cluster */
	uint32_t of_cluster[CLUSTERS_MAX];	/* clients that it has */
	bool has_mail;
	uint32_t busy;			/* rounds since the last look at who has woken it */
};

/* Begin; the fields up to `badge` are filled. 0 or what event_bind says. */
int service_begin(struct service *s);

/*
 * There is no such service: who has asked for it in this mailbox is answered that. To be called
 * when something has come there. The bit may be set then.
 */
void service_refuse(int in, const struct service_kind *kind, int error, int bit);

/*
 * Serve one request of each client that has one, and take some that open; if there was nothing to
 * do for `looks` looks, sleep until there is, or until a bit of the server's own is set. Returns
 * such bits, below SERVICE_BIT_CLIENT; also where clients keep it from sleeping. The calling thread
 * is always the same.
 */
uint32_t service_step(struct service *s);

/*
 * Try a request again that was put off with SERVICE_LATER: `serve` is called with it once more, in
 * a later step or in this one. Nothing happens if the client does not wait, or is not there. It may
 * be called from `serve` for another client, and from `gone`. A client that waits costs nothing but
 * a look at whether it is still there each time it wakes the server; if it is gone, `gone` says so.
 */
void service_again(struct service *s, uint32_t client);

/*
 * Have a client told something that it did not ask for, as soon as there is room in its channel:
 * `tell` writes the message then. Requests that are served after this call are answered behind it.
 * Calls before the message is sent are for the same one. Nothing happens if the client is not
 * there. From where service_again may be called, for any client.
 */
void service_tell(struct service *s, uint32_t client);

#endif
