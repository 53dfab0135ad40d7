/* SPDX-License-Identifier: MIT
 *
 * Memory of other clusters. Each cluster of a machine that was started with `--rmem` has a server
 * that gives pages of its memory (servers/rmem). A program reads and writes them through a cache of
 * its own: what it uses again is here, what was written goes back when its place is needed, or when
 * the program says so. Which page has to make room is decided by a policy.
 *
 * An address is a number of 64 bits, and no pointer. All that a region holds is zeros at first.
 * Other processes of the same job may attach a region by its address. Nothing keeps their
 * caches the same: what one has written others see when it has flushed and they have dropped
 * what they had.
 *
 * One thread uses a struct rmem at a time. A region ends with the last process that uses it.
 *
 * Errors of all functions: -E_PIPE: the server has ended; -E_HOSTDOWN: its cluster. What it
 * gave is lost then: all that would ask it says the same from then on, and what is in the cache
 * is all there is. rmem_open, after rmem_close, leads to the server's successor. -E_IO: the
 * server has said what it cannot say.
 */
#ifndef ATOLL_RMEM_H
#define ATOLL_RMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <atoll/channel.h>

#define RMEM_PAGE 4096				/* bytes, whatever pages the machine has */
#define RMEM_CHANNEL_PAGES 3			/* of a channel to a server */
#define RMEM_REGION_PAGES 65536u		/* of one region, at most */
#define RMEM_REGIONS_OF_ONE 64u			/* that one client uses */

/* Which page goes when all frames of the cache are used. */
enum rmem_policy {
	RMEM_BYPASS,		/* all: nothing is kept from one call to the next */
	RMEM_FIFO,		/* the one that has come first */
	RMEM_LIFO,		/* the one that has come last */
	RMEM_LRU,		/* the one that was not used for longest */
	RMEM_NFU,		/* the one that was used least often since it has come */
	/* as NFU, but what was long ago counts less: halved at each 8th page that comes */
	RMEM_AGING,
	/* the next one in turn that was not used since the turn before */
	RMEM_CLOCK,
	RMEM_POLICIES
};

struct rmem_setup {
	int cluster;			/* whose memory it is; the own one may be */
	int bit;			/* the channel's, of the notification of who uses it */
	enum rmem_policy policy;
	uint32_t frames;		/* pages of the cache; BYPASS has one */
};

/* Counts since rmem_open. */
struct rmem_counts {
	uint64_t hits, misses;
	uint64_t fetched, stored;	/* pages that were moved here, and back */
};

struct rmem_frame;

struct rmem_region {
	uint32_t first, pages;		/* no pages: none */
};

struct rmem {
	struct channel ch;
	struct rmem_frame *frame;
	unsigned char *bytes;		/* of all frames */
	uint32_t *bucket;		/* frames by their pages' numbers */
	uint32_t frames, mask;		/* buckets, less one */
	uint32_t used;			/* frames that have been used; they lie in front */
	uint32_t last;			/* frame that was used last */
	uint32_t now;			/* counts uses, or pages that came */
	uint32_t hand;			/* CLOCK: the next frame that is looked at */
	enum rmem_policy policy;
	int lost;			/* 0, or what all calls say */
	struct rmem_counts counts;
	struct rmem_region region[RMEM_REGIONS_OF_ONE];
	uint64_t memory;		/* the cache: address, and pages of the machine */
	uint32_t memory_pages;
};

/*
 * Open a channel to the server of a cluster, and make the cache. Waits for the server while it is
 * started. 0; -E_NOENT: the machine was started without `--rmem`; -E_INVAL: the setup is wrong;
 * -E_NOMEM: no memory for the cache; -E_NOSPC: the server has as many clients of this cluster as it
 * takes, or the window no room for a channel of RMEM_CHANNEL_PAGES; or what service_open says.
 */
int rmem_open(struct rmem *r, const struct rmem_setup *s);

/* Give up all, also the cache: what was not flushed is lost, and what nobody else uses ends. */
void rmem_close(struct rmem *r);

/*
 * A region of so many pages of RMEM_PAGE bytes, and its address. 0; -E_INVAL: none, or more than
 * RMEM_REGION_PAGES; -E_NOMEM: the cluster has no more to give, or not to this client, which gets
 * half of the cluster's memory at most; -E_NOSPC: the server has too many regions, or the client,
 * of which each uses RMEM_REGIONS_OF_ONE at most.
 */
int rmem_alloc(struct rmem *r, uint32_t pages, uint64_t *at);

/*
 * Use a region that another process of the job has: its pages are *pages. 0; -E_INVAL: there is
 * none; -E_ACCES: of another job; -E_EXIST: it is used already; -E_NOSPC: as for rmem_alloc.
 */
int rmem_attach(struct rmem *r, uint64_t at, uint32_t *pages);

/* Use it no more; what was not flushed is lost. 0; -E_INVAL: this client uses no such region. */
int rmem_free(struct rmem *r, uint64_t at);

/*
 * Copy bytes from or to regions. 0; -E_INVAL: not all of these addresses are in a region that this
 * client uses: some bytes may have been copied.
 */
int rmem_read(struct rmem *r, uint64_t at, void *to, size_t bytes);
int rmem_write(struct rmem *r, uint64_t at, const void *from, size_t bytes);

/*
 * Where the page of an address lies in the cache, until the next call: with `is_written` it may be
 * written there. 0; -E_INVAL: as above, or the policy is BYPASS.
 */
int rmem_page(struct rmem *r, uint64_t at, bool is_written, void **page);

/*
 * All that was written is in the server when this returns: who has dropped what it had reads it
 * from then on. 0; with an error what could not be stored is still to be.
 */
int rmem_flush(struct rmem *r);

/* Keep no page: what is read next is fetched. What was not flushed is lost. */
void rmem_drop(struct rmem *r);

#endif
