/* SPDX-License-Identifier: MIT
 *
 * Channels: messages between two threads through memory that both have mapped, in both directions,
 * without the kernel unless somebody sleeps. The memory is that of a kernel channel between two
 * clusters (channel_make, channel_take), or any that two processes of one cluster share
 * (channel_begin). Each direction is a ring of slots for messages of at most so many bytes, which
 * both sides must agree on, as on the number of pages.
 *
 * One thread uses each end. Who waits looks a while and sleeps then for a bit of its notification,
 * having said so in the shared memory: the other side calls the kernel only if it finds that. The
 * bit is the channel's: it may be set without a reason.
 *
 * The other side can write anything to the memory at any time. What this library believes (how many
 * messages there were, how large the rings are) it keeps in memory of its own; a message is copied
 * before anything of it is looked at.
 *
 * A side that is gone: whoever waits is told, -E_PIPE, or -E_HOSTDOWN if its cluster died. What
 * the one that opened the channel had not received then is lost, for it has no memory of it any
 * more: who gives a channel up waits for the answer to its last message first.
 */
#ifndef ATOLL_CHANNEL_H
#define ATOLL_CHANNEL_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

/* One direction, as its user here sees it. */
struct channel_way {
	unsigned char *first;		/* slot */
	unsigned char *next;		/* slot that is used next */
	const unsigned char *end;
	/* shared words: how many the receiver has taken, now and then */
	uint32_t *taken;
	uint32_t *sleeps;		/* the receiver may sleep */
	uint32_t *waits;		/* the sender may sleep: it finds no free slot */
	uint32_t count;			/* messages so far */
	/* sender: of those that were taken; receiver: that it has told */
	uint32_t seen;
};

struct channel {
	struct channel_way out, in;
	uint32_t slots;			/* of each direction */
	uint32_t stride;		/* bytes of a slot */
	uint32_t message;		/* bytes of the largest message */
	/*
	 * before a thread sleeps; may be changed: 0 where the other side needs this core to go on
	 */
	uint32_t looks;
	uint32_t bits;			/* here */
	/* of the other thread's notification, or 0: by the kernel channel */
	uint32_t bits_there;
	int handle;			/* of the kernel channel, or of the other thread */
	/* that channel_make or channel_take has mapped; NULL: none */
	void *memory;
	int pages;
};

/* Which of the two a side is: who made the memory, or who got it. */
enum channel_side { CHANNEL_MADE, CHANNEL_TOOK };

/*
 * Begin in `bytes` of shared memory at `memory`, aligned to a cache line, which were zero before
 * either side began. Who sleeps here is woken by `bit` of the calling thread; the other by `bits`
 * of the thread that `handle` names (RIGHT_SIGNAL), or with bits 0 by the kernel channel `handle`,
 * whose event is bound to the bit. 0; -E_INVAL: there is no room for one message; or what
 * event_bind says.
 */
struct channel_setup {
	void *memory;
	size_t bytes;
	uint32_t message;
	enum channel_side side;
	int bit;
	int handle;
	uint32_t bits;
};
int channel_begin(struct channel *ch, const struct channel_setup *s);

/*
 * Make a kernel channel for whoever reads where an output mailbox leads, map it and begin; the
 * other side takes it by *number. 0; or what channel_create, mem_alloc, page_map or channel_begin
 * say.
 */
int channel_make(struct channel *ch, int mailbox, int pages, uint32_t message, int bit,
	uint32_t *number);

/* Open, map and begin what a process of `cluster` has made for an input mailbox of this one. */
struct channel_offer {
	int cluster;
	uint32_t number;
	int pages;
	uint32_t message;
};
int channel_take(struct channel *ch, int mailbox, const struct channel_offer *offer, int bit);

/*
 * Give up what channel_make or channel_take has made: the memory and the handle. 0; or what
 * page_unmap says.
 */
int channel_end(struct channel *ch);

/* Send a message. 0; -E_INVAL: it is too long; -E_AGAIN: no slot is free now. */
int channel_try_send(struct channel *ch, const void *message, uint32_t bytes);

/* Receive one into `room` bytes: its bytes, of which `room` are there at most; -E_AGAIN: none. */
int channel_try_receive(struct channel *ch, void *message, uint32_t room);

/*
 * The same without a copy of one's own. channel_place: where the next message of at most
 * ch->message bytes is written, or NULL: no slot is free now; channel_put sends it. channel_look:
 * the next message that has come and its bytes, which are no more than a message may have, or NULL;
 * channel_took goes on to the next one. The other side can change what lies there while it is
 * looked at: only what was copied before stays what it was.
 */
void *channel_place(struct channel *ch);
void channel_put(struct channel *ch, uint32_t bytes);
const void *channel_look(const struct channel *ch, uint32_t *bytes);
void channel_took(struct channel *ch);

/*
 * The sender is told of what was taken each half ring; from this on it knows of all.
 */
void channel_tell(struct channel *ch);

/*
 * For who sleeps for several channels at once. channel_listen: a message from now on sets the bit,
 * and for who has something to send (`for_room`) a slot that becomes free, if none is; who has said
 * so looks once more, and sleeps then. channel_check: the bit was set: is the other side still
 * there? 0; -E_PIPE, -E_HOSTDOWN. It is asked after what has come was looked at, for the bit says
 * once that it is not. The calling thread is the one that is told from then on.
 */
void channel_listen(struct channel *ch, bool for_room);
int channel_check(const struct channel *ch);

/* Wait until a message can be received, up to a time of kclock. 0; or as channel_receive. */
int channel_await(struct channel *ch, uint64_t until);

/*
 * The same as channel_try_send and channel_try_receive, but wait until it can be done, up to a time
 * of kclock. Also -E_TIMEDOUT; -E_INTR; -E_PIPE, -E_HOSTDOWN: the other side is gone.
 */
int channel_send(struct channel *ch, const void *message, uint32_t bytes, uint64_t until);
int channel_receive(struct channel *ch, void *message, uint32_t room, uint64_t until);

#endif
