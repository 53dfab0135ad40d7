/* SPDX-License-Identifier: MIT
 *
 * What the files of the shared-memory NoC share: finding windows and their parts. Private to this folder.
 */
#ifndef NOC_SHM_H
#define NOC_SHM_H

#include <hal/atomic.h>
#include <hal/core.h>
#include "window.h"

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

/* Is the cluster that owns this window up? Its incarnation goes to *incarnation (0 if it never was). */
static inline bool
window_is_up(const struct window *w, uint32_t *incarnation)
{
	bool up = hal_load32(&w->state) == WINDOW_UP && hal_load32(&w->magic) == WINDOW_MAGIC;

	*incarnation = hal_load32(&w->incarnation);
	return up && *incarnation != 0;
}

#endif
