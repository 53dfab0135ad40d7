/* SPDX-License-Identifier: MIT
 *
 * What the files of the shared-memory NoC share: finding windows and their parts, and what a
 * cluster keeps to itself. Private to this folder.
 */
#ifndef NOC_SHM_H
#define NOC_SHM_H

#include <hal/atomic.h>
#include <hal/core.h>
#include "window.h"

/* What no peer can reach. Constant after hal_noc_init but for what is the home core's. */
struct noc_own {
	struct window_geometry geometry;
	uint32_t incarnation;
	/* home core */
	uint32_t looked;		/* activity when all rings were last found empty */
	uint32_t next_peer;		/* where hal_noc_poll looks first */
	uint32_t tail[CLUSTERS_MAX];	/* of the ring of each peer */
};

_Static_assert(sizeof(struct noc_own) <= HAL_NOC_PRIVATE_BYTES, "hal/noc.h");

static inline struct noc_own *
noc_own(void)
{
	return hal_noc_private();
}

static inline struct window *
window_of(unsigned cluster)
{
	return hal_noc_window(cluster);
}

static inline struct window *
window_own(void)
{
	return hal_noc_window(hal_cluster_id());
}

/* The part of a window at an offset of the geometry. */
static inline void *
window_part(struct window *w, uint32_t offset)
{
	return (char *)w + offset;
}

static inline void *
ring_data(struct window_ring *r)
{
	return r + 1;
}

/*
 * Something came for this cluster, which was said in full order before: its home core looks at it
 * soon, whatever it runs.
 */
void noc_ring_home(unsigned cluster);

/*
 * Is the cluster that owns this window up? Its incarnation goes to *incarnation (0 if it never
 * was).
 */
static inline bool
window_is_up(const struct window *w, uint32_t *incarnation)
{
	bool up = hal_load32(&w->state) == WINDOW_UP && hal_load32(&w->magic) == WINDOW_MAGIC;

	*incarnation = hal_load32(&w->incarnation);
	return up && *incarnation != 0;
}

#endif
