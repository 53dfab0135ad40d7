/* SPDX-License-Identifier: MIT
 *
 * Matching queues.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/match.h>

static void
free_entries(struct list *list, bool in_all)
{
	while (!list_is_empty(list)) {
		struct list *l = list->next;

		list_remove(l);
		free(in_all ? list_entry(l, struct unexpected, all) :
			list_entry(l, struct unexpected, bin));
	}
}

void
mpi_match_exit(struct matcher *m)
{
	free_entries(&m->unexpected_all, true);
	free_entries(&m->spare, false);
}

static unsigned
bin_of(int32_t context, int32_t source)
{
	uint32_t h = (uint32_t)source * 2654435761u + (uint32_t)context * 40503u;

	return (h ^ h >> 16) % MATCH_BINS;
}

static bool
match_fits(const struct request *r, const struct packet *p)
{
	return r->context == p->context && (r->source == p->source ||
		r->source == MPI_ANY_SOURCE) &&
		(r->tag == p->tag || r->tag == MPI_ANY_TAG);
}

void
mpi_match_post(struct matcher *m, struct request *r)
{
	r->order = m->order++;
	r->posted = 1;
	m->posted_count++;
	list_push_back(r->source == MPI_ANY_SOURCE ? &m->posted_any
		: &m->posted[bin_of(r->context, r->source)], &r->link);
}

void
mpi_match_withdraw(struct matcher *m, struct request *r)
{
	list_remove(&r->link);
	r->posted = 0;
	m->posted_count--;
}

static struct request *
oldest_in(struct list *list, const struct packet *p)
{
	for (struct list *l = list->next; l != list; l = l->next) {
		struct request *r = list_entry(l, struct request, link);

		if (match_fits(r, p))
			return r;
	}
	return NULL;
}

struct request *
mpi_match_arrived(struct matcher *m, const struct packet *p)
{
	struct request *r, *any;

	if (m->posted_count == 0)
		return NULL;
	r = oldest_in(&m->posted[bin_of(p->context, p->source)], p);
	any = oldest_in(&m->posted_any, p);
	if (r == NULL || (any != NULL && any->order < r->order))
		r = any;
	if (r != NULL)
		mpi_match_withdraw(m, r);
	return r;
}

static struct unexpected *
new_entry(struct matcher *m)
{
	struct list *l = m->spare.next;

	if (list_is_empty(&m->spare))
		return malloc(sizeof(struct unexpected));
	list_remove(l);
	return list_entry(l, struct unexpected, bin);
}

int
mpi_match_keep(struct matcher *m, const struct packet *p)
{
	struct unexpected *u = new_entry(m);

	if (u == NULL)
		return -1;
	packet_copy(&u->packet, p);
	list_push_back(&m->unexpected[bin_of(p->context, p->source)], &u->bin);
	list_push_back(&m->unexpected_all, &u->all);
	m->unexpected_count++;
	return 0;
}

static struct unexpected *
find_from(struct matcher *m, int32_t context, int32_t source, int32_t tag)
{
	struct list *list = &m->unexpected[bin_of(context, source)];

	for (struct list *l = list->next; l != list; l = l->next) {
		struct unexpected *u = list_entry(l, struct unexpected, bin);

		if (u->packet.context == context && u->packet.source == source &&
				(u->packet.tag == tag || tag == MPI_ANY_TAG))
			return u;
	}
	return NULL;
}

static struct unexpected *
find_any(struct matcher *m, int32_t context, int32_t tag)
{
	struct list *list = &m->unexpected_all;

	for (struct list *l = list->next; l != list; l = l->next) {
		struct unexpected *u = list_entry(l, struct unexpected, all);

		if (u->packet.context == context && (u->packet.tag == tag || tag == MPI_ANY_TAG))
			return u;
	}
	return NULL;
}

struct unexpected *
mpi_match_find(struct matcher *m, int32_t context, int32_t source, int32_t tag)
{
	if (m->unexpected_count == 0)
		return NULL;
	return source == MPI_ANY_SOURCE ? find_any(m, context, tag) :
		find_from(m, context, source, tag);
}

void
mpi_match_take(struct matcher *m, struct unexpected *u)
{
	list_remove(&u->bin);
	list_remove(&u->all);
	m->unexpected_count--;
}

void
mpi_match_spare(struct matcher *m, struct unexpected *u)
{
	list_push_back(&m->spare, &u->bin);
}

void
mpi_match_remove(struct matcher *m, struct unexpected *u)
{
	mpi_match_take(m, u);
	mpi_match_spare(m, u);
}
