/* SPDX-License-Identifier: MIT
 *
 * Who sends what to whom, and which receive gets it: receives are drawn one after the other as the
 * standard's matching goes, so that each one can match one message only. MPI_ANY_SOURCE is used
 * where the tag says who it is.
 */
#include "exchange.h"

#define SMALL 4000

static long
draw_size(const struct differ *d, struct dice *dice)
{
	static const long sizes[] = {0, 8, 60, 300, 1000, 4000, 9000, 20000, 70000, 300000};
	long size = sizes[below(dice, below(dice, 3) ? 7 : 10)];

	size = size / 2 + below(dice, (int)size + 1);
	return size < d->bytes ? size : d->bytes;
}

static void
draw_message(struct message *m, const struct differ *d, const struct place *p, struct dice *dice)
{
	int all = place_count(p);
	struct made made;

	*m = (struct message){.turn = -1};
	m->source = below(dice, all);
	if (!p->inter)
		m->target = below(dice, all);
	else
		m->target = place_side(p, m->source) ? below(dice, p->sizes[0]) :
			p->sizes[0] + below(dice, p->sizes[1]);
	m->tag = step_tag(d, below(dice, TAGS));
	m->mode = (enum mode)below(dice, MODES);
	m->size = draw_size(d, dice);
	m->form = (struct form){.shape = mix(dice->state, 1), .basic = -1,
		.small = m->size < SMALL};
	m->form.plain = below(dice, 3) > 0;
	/* nor can it send structures in pieces */
	if (!m->form.plain && m->size >= SMALL) {
		m->form.small = 1;
		m->size = SMALL;
	}
	made = type_make(&m->form);
	m->count = (int)(m->size / made.size);
	m->size = (long)m->count * made.size;
	/* MPICH 5.0.2 often finds the type invalid where only one end is MPI_PACKED */
	m->packed_in = m->packed_out = below(dice, 8) == 0;
	m->in_others = m->form.plain && !m->packed_in && below(dice, 3) == 0;
	m->spare = below(dice, 3) ? 0 : below(dice, 5);
	type_drop(&made);
}

/* Is the tag used towards this target by this source alone? */
static int
names_source(const struct plan *plan, const struct message *m)
{
	for (int i = 0; i < plan->n; i++)
		if (plan->of[i].target == m->target && plan->of[i].tag == m->tag &&
			plan->of[i].source != m->source)
			return 0;
	return 1;
}

/* The first of a source's messages that has no receive yet (with a tag, or any: -1). */
static struct message *
first_left(struct plan *plan, int source, int target, int tag)
{
	for (int i = 0; i < plan->n; i++) {
		struct message *m = &plan->of[i];

		if (m->source == source && m->target == target && m->turn < 0 &&
			(tag < 0 || m->tag == tag))
			return m;
	}
	return NULL;
}

static struct message *
any_left(struct plan *plan, int target, int number)
{
	for (int i = 0; i < plan->n; i++)
		if (plan->of[i].target == target && plan->of[i].turn < 0 && number-- == 0)
			return &plan->of[i];
	return NULL;
}

/* What an early receive may be, and what may be sent to a late one. */
static void
draw_how(struct message *m, int early, struct dice *dice)
{
	m->early = early;
	m->how = early ? (below(dice, 3) ? IRECV : RECV_INIT) : (enum how)below(dice, HOWS);
	if (!early && (m->mode == SEND || m->mode == SSEND || m->mode == RSEND))
		m->mode = ISEND;
	if (!early && m->mode == IRSEND)
		m->mode = ISSEND;
	if (!early && m->mode == RSEND_INIT)
		m->mode = SSEND_INIT;
}

static void
draw_receives(struct plan *plan, int target, struct dice *dice)
{
	int n = 0, early;

	for (int i = 0; i < plan->n; i++)
		n += plan->of[i].target == target;
	early = below(dice, n + 1);
	for (int turn = 0; turn < n; turn++) {
		struct message *m = any_left(plan, target, below(dice, n - turn));
		int any_tag = below(dice, 4) == 0;

		m = first_left(plan, m->source, target, any_tag ? -1 : m->tag);
		m->turn = turn;
		m->any_tag = any_tag;
		m->any_source = !any_tag && names_source(plan, m) && below(dice, 2);
		draw_how(m, turn < early, dice);
	}
}

void
plan_draw(struct plan *plan, const struct differ *d, const struct place *p, struct dice *dice)
{
	int n = 1 + below(dice, MESSAGES);

	plan->rounds = 1 + (below(dice, 3) == 0);
	plan->n = n < d->most ? n : d->most;
	plan->ready = 0;
	for (int i = 0; i < plan->n; i++) {
		struct dice own = dice_of(d->seed, mix((uint64_t)d->step, (uint64_t)p->salt),
			1000 + (uint64_t)i);

		draw_message(&plan->of[i], d, p, &own);
	}
	for (int target = 0; target < place_count(p); target++)
		draw_receives(plan, target, dice);
	for (int i = 0; i < plan->n; i++)
		plan->ready |= plan->of[i].mode == RSEND || plan->of[i].mode == IRSEND ||
			plan->of[i].mode == RSEND_INIT;
}
