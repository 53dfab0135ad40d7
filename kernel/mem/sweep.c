/* SPDX-License-Identifier: MIT
 *
 * Sweeps: see sweep.h.
 */
#include <base/str.h>
#include <kernel/cluster.h>
#include <kernel/mem/calls.h>
#include <kernel/thread/thread.h>

#define POSTS_PER_STEP 4	/* cores that are posted to */
#define FRAMES_PER_STEP 6	/* that are freed */
#define SWEEPS_PER_POLL 4	/* for which something can be done, from the oldest on */

void
sweep_begin(struct cluster *c, struct sweep *s)
{
	if (++c->sweeps.epoch == 0)
		c->sweeps.epoch = 1;
	s->epoch = c->sweeps.epoch;
	s->unposted = 0;
	s->limbo = FRAME_NONE;
	s->proc->holds++;
	if (s->caller != NULL)
		s->caller->proc->holds++;
	hal_store32(&s->pending, 1);	/* ours, until the sweep is sent */
	memset(s->todo, 0, sizeof(s->todo));
	list_push_back(&c->sweeps.running, &s->link);
}

/* Post to some of the cores that have room. True if any was posted to. */
static bool
post_some(struct cluster *c, struct sweep *s)
{
	struct sweep_post message = {s, s->proc};
	unsigned posted = 0;

	for (uint32_t i = 0; i < c->cores + c->guests && s->unposted > 0 && posted < POSTS_PER_STEP;
		i++) {
		if (!bitmap_test(s->todo, i))
			continue;
		if (am_post(core_at(c, i), s->fn, &message, sizeof(message)) != 0)
			continue;
		bitmap_clear(s->todo, i);
		s->unposted--;
		posted++;
		core_interrupt(core_at(c, i));
	}
	return posted > 0;
}

/*
 * Retire a sweep that every core has acknowledged, when no frame waits for it any more: at most
 * *frames are seen to. *any: something was done.
 */
static bool
retire(struct cluster *c, struct sweep *s, unsigned *frames, bool *any)
{
	if (s->unposted > 0 || hal_load32(&s->pending) != 0)
		return false;
	*any = true;
	if (!frames_limbo_drain(&c->frames, &c->sweeps, s, frames))
		return false;
	list_remove(&s->link);
	c->chores--;
	c->sweeps.sent--;
	s->proc->holds--;
	if (s->caller != NULL)
		s->caller->proc->holds--;
	return true;
}

/*
 * Does the sweep concern this core? One that had threads of the process and has left its space
 * since does not count any more: only a thread that home places there makes it enter that again.
 * Nor does a shoot-down concern a core that is lent, which has left its space until it is back.
 */
static bool
concerns(const struct cluster *c, const struct sweep *s, struct process *p, uint32_t core)
{
	if (!bitmap_test(p->cores, core))
		return false;
	if (p->placed[core] != 0)
		return s->fn != shoot_down || core_at(c, core)->role != ROLE_XC;
	if (hal_load32(&core_at(c, core)->knows) == SPACE_NAME(&p->space))
		return true;
	bitmap_clear(p->cores, core);
	return false;
}

bool
sweep_needs_only(const struct cluster *c, const struct process *p, uint32_t core)
{
	for (uint32_t i = 0; i < BITMAP_WORDS(c->cores + c->guests); i++)
		if ((p->cores[i] & ~(i == core / 32 ? 1u << core % 32 : 0)) != 0)
			return false;
	return true;
}

void
sweep_cover(struct cluster *c, struct sweep *s, struct process *p, int except)
{
	uint32_t cores = 0;

	for (uint32_t i = 0; i < c->cores + c->guests; i++) {
		if (bitmap_test(s->todo, i) || ((int)i == except && i != KERNEL_CORE))
			continue;
		if (i == KERNEL_CORE ? !bitmap_test(p->cores, i) : !concerns(c, s, p, i))
			continue;
		bitmap_set(s->todo, i);
		cores++;
	}
	hal_add32(&s->pending, cores);
}

bool
sweep_send(struct cluster *c, struct sweep *s)
{
	struct sweep_post message = {s, s->proc};
	unsigned frames = FRAMES_PER_STEP;
	bool any;

	c->chores++;
	c->sweeps.sent++;
	s->unposted = hal_load32(&s->pending) - 1;
	if (bitmap_test(s->todo, KERNEL_CORE)) {
		bitmap_clear(s->todo, KERNEL_CORE);
		s->unposted--;
		s->fn(core_at(c, KERNEL_CORE), &message);
	}
	hal_add32(&s->pending, (uint32_t)-1);
	post_some(c, s);
	return retire(c, s, &frames, &any);
}

bool
sweeps_poll(struct cluster *c)
{
	struct list *node, *after;
	unsigned looks = 0, frames = FRAMES_PER_STEP;
	bool any = false;

	list_each(node, after, &c->sweeps.running) {
		struct sweep *s = list_entry(node, struct sweep, link);

		if (s->unposted == 0 && hal_load32(&s->pending) != 0)
			continue;
		if (looks++ == SWEEPS_PER_POLL)
			break;
		if (s->unposted > 0)
			any |= post_some(c, s);
		if (retire(c, s, &frames, &any))
			s->done(c, s);
	}
	return any;
}

bool
sweeps_want(struct cluster *c, uint32_t core)
{
	struct list *node, *after;

	list_each(node, after, &c->sweeps.running)
		if (bitmap_test(list_entry(node, struct sweep, link)->todo, core))
			return true;
	return false;
}

void
sweep_acknowledge(struct cluster *c, struct sweep *s)
{
	if (hal_add32(&s->pending, (uint32_t)-1) == 1 && !core_is_home(core_self()))
		am_ring_home(c);
}
