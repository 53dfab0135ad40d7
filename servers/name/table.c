/* SPDX-License-Identifier: MIT
 *
 * The table of names: see table.h. Entries are found by chains, one for each value of a hash.
 */
#include <stddef.h>
#include <abi/errors.h>
#include <base/str.h>
#include <servers/name/table.h>

#define BIT(cluster) ((uint64_t)1 << (cluster))

static uint16_t *
chain_of(struct name_table *t, const char *name)
{
	uint32_t hash = 5381;

	for (; *name != 0; name++)
		hash = hash * 33 + (unsigned char)*name;
	return &t->chain[(hash ^ hash >> 8) % NAME_CHAINS];
}

static struct name_entry *
entry_find(struct name_table *t, const char *name)
{
	uint32_t i = *chain_of(t, name);

	while (i != 0 && !str_is_equal(t->entry[i - 1].name, name))
		i = t->entry[i - 1].next;
	return i != 0 ? &t->entry[i - 1] : NULL;
}

/* A new entry, that is not linked; NULL: there are too many. */
static struct name_entry *
entry_add(struct name_table *t, const char *name)
{
	uint16_t *chain = chain_of(t, name);

	for (uint32_t i = 0; i < NAMES_MAX; i++) {
		struct name_entry *e = &t->entry[i];

		if (e->name[0] != 0)
			continue;
		str_copy(e->name, sizeof(e->name), name);
		e->next = *chain;
		*chain = (uint16_t)(i + 1);
		return e;
	}
	return NULL;
}

/* A table full of names that are wanted only is not full: who waits for these asks again. */
static void
ask_all_again(struct name_table *t)
{
	for (struct name_entry *e = t->entry; e < t->entry + NAMES_MAX; e++) {
		if (e->is_linked || e->knows != 0)
			continue;
		e->again |= e->waits;
		t->to_tell |= e->waits;
		e->waits = 0;
	}
}

/*
 * An entry has changed: who waits for what has become of it is told, and it is free when nothing is
 * left of it.
 */
static void
settle(struct name_table *t, struct name_entry *e)
{
	uint16_t *link;

	if (e->is_linked)
		return;
	if (e->knows != 0) {
		t->to_tell |= e->knows;
		return;
	}
	if (e->waits != 0 || e->again != 0)
		return;
	link = chain_of(t, e->name);
	while (&t->entry[*link - 1] != e)
		link = &t->entry[*link - 1].next;
	*link = e->next;
	*e = (struct name_entry){0};
}

static void
tell_waiters(struct name_table *t, struct name_entry *e)
{
	e->again |= e->waits;
	e->waits = 0;
	t->to_tell |= e->again;
}

/* --- requests --- */

static int
do_link(struct name_table *t, uint32_t cluster, const struct name_message *q)
{
	struct name_entry *e = entry_find(t, q->name);

	if (q->port >= PORTS_MAX)
		return -E_INVAL;
	if (e != NULL && e->is_linked)
		return -E_EXIST;
	if (e != NULL && e->knows != 0) {
		e->waits |= BIT(cluster);
		return -E_AGAIN;
	}
	if (e == NULL)
		e = entry_add(t, q->name);
	if (e == NULL) {
		ask_all_again(t);
		return -E_NOSPC;
	}
	e->is_linked = true;
	e->cluster = cluster;
	e->port = q->port;
	t->names++;
	tell_waiters(t, e);
	return 0;
}

/* A look-up of a name that is not linked. */
static int
await(struct name_table *t, struct name_entry *e, uint32_t cluster, const struct name_message *q)
{
	if ((q->flags & NAME_WAIT) == 0)
		return -E_NOENT;
	if (e == NULL)
		e = entry_add(t, q->name);
	if (e == NULL) {
		ask_all_again(t);
		return -E_NOSPC;
	}
	e->waits |= BIT(cluster);
	return -E_AGAIN;
}

static int
do_lookup(struct name_table *t, uint32_t cluster, const struct name_message *q,
	struct name_message *r)
{
	struct name_entry *e = entry_find(t, q->name);

	if (e == NULL || !e->is_linked) {
		r->flags &= ~(uint32_t)NAME_FORWARD;
		return await(t, e, cluster, q);
	}
	r->cluster = e->cluster;
	if (q->flags & NAME_FORWARD && e->cluster != cluster) {
		e->asks |= BIT(cluster);
		t->to_tell |= BIT(e->cluster);
		return -E_AGAIN;
	}
	if (q->flags & NAME_WHERE)
		return 0;
	r->port = e->port;
	e->knows |= BIT(cluster);
	return 0;
}

static void
unlink_entry(struct name_table *t, struct name_entry *e)
{
	e->is_linked = false;
	t->names--;
	/* whose question the owner was to answer asks again */
	e->again |= e->asks;
	e->asks = 0;
	t->to_tell |= e->again;
}

static int
do_unlink(struct name_table *t, uint32_t cluster, const struct name_message *q)
{
	struct name_entry *e = entry_find(t, q->name);

	if (e == NULL || !e->is_linked)
		return -E_NOENT;
	if (e->cluster != cluster)
		return -E_ACCES;
	unlink_entry(t, e);
	/* who unlinks it has dropped it */
	e->knows &= ~BIT(cluster);
	if (e->knows != 0 && (q->flags & NAME_OF_DEAD) == 0) {
		e->waits |= BIT(cluster);
		/* what it is told next is that the name is gone, and nothing from before */
		e->again &= ~BIT(cluster);
		settle(t, e);
		return -E_AGAIN;
	}
	settle(t, e);
	return 0;
}

/* The cluster knows the name that it was told to drop no more. */
static int
do_dropped(struct name_table *t, uint32_t cluster)
{
	uint32_t gone = t->gone[cluster];
	struct name_entry *e;

	if (gone == 0)
		return -E_INVAL;
	e = &t->entry[gone - 1];
	t->gone[cluster] = 0;
	t->to_tell |= BIT(cluster);
	e->knows &= ~BIT(cluster);
	if (e->knows == 0)
		tell_waiters(t, e);
	settle(t, e);
	return 0;
}

static int
do_next(const struct name_table *t, const struct name_message *q, struct name_message *r)
{
	uint32_t i = q->names;

	while (i < NAMES_MAX && !t->entry[i].is_linked)
		i++;
	if (i >= NAMES_MAX)
		return -E_NOENT;
	memcpy(r->name, t->entry[i].name, sizeof(r->name));
	r->cluster = t->entry[i].cluster;
	r->port = t->entry[i].port;
	r->names = i + 1;
	return 0;
}

static int
serve_name(struct name_table *t, uint32_t cluster, const struct name_message *q,
	struct name_message *r)
{
	size_t len = str_len_max(q->name, sizeof(q->name));

	if (len == 0 || len == sizeof(q->name))
		return -E_INVAL;
	memcpy(r->name, q->name, sizeof(r->name));
	if (q->op == NAME_LINK)
		return do_link(t, cluster, q);
	return q->op == NAME_LOOKUP ? do_lookup(t, cluster, q, r) : do_unlink(t, cluster, q);
}

void
name_serve(struct name_table *t, uint32_t cluster, const struct name_message *q,
	struct name_message *r)
{
	*r = (struct name_message){.op = q->op, .flags = q->flags, .names = t->names};
	switch (q->op) {
	case NAME_LINK:
	case NAME_LOOKUP:
	case NAME_UNLINK:
		r->error = serve_name(t, cluster, q, r);
		break;
	case NAME_COUNT:
	case NAME_SETTLED: break;
	case NAME_NEXT: r->error = do_next(t, q, r); break;
	case NAME_DROPPED: r->error = do_dropped(t, cluster); break;
	default: r->error = -E_INVAL;
	}
}

bool
name_is_early(struct name_table *t, uint32_t cluster, const struct name_message *q)
{
	if (q->op == NAME_SETTLED)
		t->awaited &= ~BIT(cluster);
	return t->awaited != 0 && !(q->op == NAME_LINK && q->flags & NAME_ANEW);
}

/* --- what is said without being asked --- */

/* What there is to say of an entry, taken: the next look finds it no more. 0: nothing. */
static uint32_t
take_what(struct name_table *t, struct name_entry *e, uint32_t cluster, struct name_message *m)
{
	if (!e->is_linked && e->knows & BIT(cluster) && t->gone[cluster] == 0) {
		t->gone[cluster] = (uint16_t)(e - t->entry + 1);
		return NAME_GONE;
	}
	if (e->again & BIT(cluster)) {
		e->again &= ~BIT(cluster);
		return NAME_AGAIN;
	}
	for (uint32_t c = 0; e->asks != 0 && e->cluster == cluster && c < CLUSTERS_MAX; c++)
		if (e->asks >> c & 1) {
			e->asks &= ~BIT(c);
			m->cluster = c;
			return NAME_ASKED;
		}
	return 0;
}

/* The first entry from `e` on of which there is something to say; NULL: none. */
static struct name_entry *
next_to_tell(struct name_table *t, struct name_entry *e, uint32_t cluster)
{
	for (; e < t->entry + NAMES_MAX; e++)
		if ((!e->is_linked && e->knows & BIT(cluster) && t->gone[cluster] == 0) ||
			e->again & BIT(cluster) || (e->asks != 0 && e->cluster == cluster))
			return e;
	return NULL;
}

bool
name_tell(struct name_table *t, uint32_t cluster, struct name_message *m)
{
	struct name_entry *e = next_to_tell(t, t->entry, cluster);

	*m = (struct name_message){0};
	if (e != NULL) {
		m->op = take_what(t, e, cluster, m);
		memcpy(m->name, e->name, sizeof(m->name));
		settle(t, e);
	}
	t->to_tell &= ~BIT(cluster);
	if (e != NULL && next_to_tell(t, e, cluster) != NULL)
		t->to_tell |= BIT(cluster);
	return e != NULL;
}

void
name_forget(struct name_table *t, uint32_t cluster)
{
	bool was_known;

	t->awaited &= ~BIT(cluster);
	t->gone[cluster] = 0;
	for (struct name_entry *e = t->entry; e < t->entry + NAMES_MAX; e++) {
		if (e->name[0] == 0)
			continue;
		was_known = e->knows != 0;
		if (e->is_linked && e->cluster == cluster)
			unlink_entry(t, e);
		e->knows &= ~BIT(cluster);
		e->waits &= ~BIT(cluster);
		e->again &= ~BIT(cluster);
		e->asks &= ~BIT(cluster);
		if (was_known && !e->is_linked && e->knows == 0)
			tell_waiters(t, e);
		settle(t, e);
	}
	t->to_tell &= ~BIT(cluster);
}
