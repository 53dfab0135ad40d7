/* SPDX-License-Identifier: MIT
 *
 * Descriptors of mailboxes and portals: one table per cluster, each entry owned by a process. An id is the table index with a tag
 * above it that changes when the entry is used again, so that a closed id never means somebody else's object.
 */
#include <kernel/ikc/state.h>

#define TAG_MAX ((1u << (31 - ID_INDEX_BITS)) - 1)

static uint32_t *
count_of(struct cluster *c, enum desc_kind kind)
{
	return kind == DESC_MAIL_IN || kind == DESC_MAIL_OUT ? &c->ikc.mailboxes : &c->ikc.portals;
}

struct ikc_desc *
desc_new(struct cluster *c, struct process *p, enum desc_kind kind)
{
	struct ikc_desc *d = desc_at(c, c->ikc.desc_free);

	if (d == NULL)
		return NULL;
	c->ikc.desc_free = d->next;
	++*count_of(c, kind);
	d->owner = p;
	d->kind = (uint8_t)kind;
	d->next = NONE;
	d->tag = d->tag < TAG_MAX ? d->tag + 1 : 1;
	d->references = 1;
	d->incarnation = 0;
	d->generation = 0;
	d->error = 0;
	d->state = PORTAL_IDLE;
	d->revoked = false;
	d->writer = NULL;
	d->event = (struct binding){0, 0};
	return d;
}

void
desc_release(struct cluster *c, struct ikc_desc *d)
{
	--*count_of(c, (enum desc_kind)d->kind);
	d->kind = DESC_FREE;
	d->owner = NULL;
	d->next = (int16_t)c->ikc.desc_free;
	c->ikc.desc_free = desc_index(c, d);
}

struct ikc_desc *
desc_find(struct cluster *c, const struct process *p, int id, enum desc_kind kind)
{
	struct ikc_desc *d;

	if (id < 0 || ID_INDEX(id) >= c->ikc.desc_count)
		return NULL;
	d = &c->ikc.desc[ID_INDEX(id)];
	if (d->kind != kind || d->owner != p || d->tag != (uint32_t)id >> ID_INDEX_BITS)
		return NULL;
	return d;
}

int
desc_id(const struct cluster *c, const struct ikc_desc *d)
{
	return (int)(d->tag << ID_INDEX_BITS | (uint32_t)desc_index(c, d));
}

void
desc_link(struct cluster *c, int16_t *head, struct ikc_desc *d)
{
	d->next = *head;
	*head = desc_index(c, d);
}

void
desc_unlink(struct cluster *c, int16_t *head, struct ikc_desc *d)
{
	int16_t index = desc_index(c, d);

	while (*head != index)
		head = &c->ikc.desc[*head].next;
	*head = d->next;
	d->next = NONE;
}
