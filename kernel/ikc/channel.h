/* SPDX-License-Identifier: MIT
 *
 * Channels: memory of a cluster's NoC window that two processes map, mostly of different clusters,
 * and a way to wake who sleeps at the other side. What they do with the memory is their affair
 * (user/include/atoll/channel.h): no kernel looks at it, and none is needed until somebody sleeps.
 *
 * One process makes a channel in its own cluster's window and offers it to whoever reads at a port:
 * the cluster and the port are those of an output mailbox of the caller. Who has that port's input
 * mailbox opens it by a number, which the maker sends in a message. So a number says nothing to
 * anybody else. Either side holds a memory object, named through a view (kernel/mem/memory.h):
 * rights, lending and revocation are those of any memory.
 *
 * The pages of a channel are used again when neither side reaches them any more. The maker's kernel
 * asks for them when no handle and no mapping of its own names the channel: the other side's
 * mappings become lazy memory of their processes then (mappings_take_away), and its kernel answers
 * when no core knows them any more. The pages that a dead cluster had come back when its next life
 * is met: nobody knows before whether it still runs. Home core.
 */
#ifndef KERNEL_IKC_CHANNEL_H
#define KERNEL_IKC_CHANNEL_H

#include <kernel/cluster.h>
#include <kernel/mem/memory.h>

struct channel {
	struct placed placed;
	struct list link;		/* in ikc.leaving */
	struct binding event;		/* EVENT_CHANNEL */
	uint32_t epoch;			/* leaving: the youngest shoot-down that it waits for */
	int16_t error;			/* why the other side is not there any more, or 0 */
	uint8_t peer;
	uint8_t page;			/* the first, in the window of the cluster that made it */
	uint8_t pages;
	uint8_t wiped;			/* leaving: pages that hold zeros again */
	bool is_own;			/* this cluster has made it */
	bool is_away;			/* own: the other cluster may reach its pages */
	bool is_open;			/* its pages are not given back yet */
	bool is_named;			/* by a handle or a mapping */
	bool is_leaving;
	bool is_woken;			/* while nobody had bound it */
	bool wakes;			/* it has sent WAKE and had no answer */
	bool wakes_again;		/* and sends the next one then */
};

/* In ikc_init: pages that an earlier life of the cluster has used hold zeros. */
void channels_init(struct cluster *c);

/* Pages of the own window that are in use. */
uint32_t channel_pages(const struct cluster *c);


/* A handle is gone, or no handle and no mapping names it any more: kernel/mem/memory.h. */
void channel_handle_gone(struct cluster *c, struct memory *m);
void channel_unreferenced(struct cluster *c, struct memory *m);

/*
 * A step for the channel that has left first of those whose pages nobody shall reach any more.
 * False if there is nothing to do now.
 */
bool channels_poll(struct cluster *c);

/*
 * Does no process of this cluster reach pages of another's window any more? All that did lose them,
 * in steps, when that is dead: before it is started again every cluster that lives must say yes.
 */
bool channels_are_away(const struct cluster *c, uint32_t peer);

#endif
