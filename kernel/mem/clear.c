/* SPDX-License-Identifier: MIT
 *
 * Kernel cores fill frames with zeros: see clear.h. Source: seed 004 4 (kernel cores).
 */
#include <base/str.h>
#include <kernel/mem/clear.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

#define READY_MAX 32		/* frames */
/* no frame is taken for this where fewer are free: none is short because of those under way */
#define FREE_MIN 64

/* am_post_fn */
static void
clear_frames(struct core *core, const void *data)
{
	uint32_t frame[CLEAR_STEP];

	memcpy(frame, data, sizeof(frame));
	for (unsigned i = 0; i < CLEAR_STEP; i++) {
		void *page = frame_kaddr(&core->cluster->frames, frame[i]);

		hal_zero_pages(page, HAL_PAGE_BYTES);
		hal_publish(page, HAL_PAGE_BYTES);
	}
}

/* Where others are posted something it is tried again with the next frame that is taken. */
static void
clear_some(struct cluster *c)
{
	struct clearing *w = &c->clearing;
	struct frames *f = &c->frames;

	if (w->core == NULL || w->under_way != NULL || f->zeroed_count + CLEAR_STEP > READY_MAX ||
		f->free < FREE_MIN || hal_load32(&w->core->post.busy) != 0)
		return;
	for (unsigned i = 0; i < CLEAR_STEP; i++)
		w->frame[i] = frames_take(f, 1, FRAME_INSIDE, 0);
	am_post(w->core, clear_frames, w->frame, sizeof(w->frame));
	core_interrupt(w->core);
	w->under_way = w->core;
}

bool
clear_poll(struct cluster *c)
{
	struct clearing *w = &c->clearing;

	if (w->under_way == NULL || hal_load32(&w->under_way->post.busy) != 0)
		return false;
	for (unsigned i = 0; i < CLEAR_STEP; i++)
		frames_zeroed_put(&c->frames, w->frame[i]);
	w->under_way = NULL;
	clear_some(c);
	return true;
}

/* Frames have no domains here: those of a machine that has some stay where they are needed. */
void
clear_choose(struct cluster *c)
{
	c->clearing.core = NULL;
	for (uint32_t i = c->cores; i-- > KERNEL_CORE + 1 && c->frames.policy->last_domain == 0;)
		if (core_at(c, i)->role == ROLE_KC)
			c->clearing.core = core_at(c, i);
	clear_some(c);
}

uint32_t
clear_take_ready(struct process *p)
{
	struct cluster *c = proc_cluster(p);
	uint32_t frame = FRAME_NONE;

	clear_poll(c);
	if (c->frames.zeroed != FRAME_NONE && mem_charge(p, 1))
		frame = frames_zeroed_take(&c->frames);
	clear_some(c);
	return frame;
}
