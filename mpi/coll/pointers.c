/* SPDX-License-Identifier: MIT
 *
 * Data that ranks of one address space name to each other.
 */
#include <mpi/coll/pointers.h>
#include <mpi/transport/transport.h>

void
mpi_pointers_meet(struct pointers *p)
{
	if (mpi_meet_come(&p->meeting))
		mpi_meet_open(&p->meeting);
	else
		mpi_meet_wait(&p->meeting);
}

bool
mpi_pointers_begin(struct pointers *p, struct mpi_rank *self, struct comm *c, struct pointed mine)
{
	struct venue *v;

	if (mpi_comm_is_inter(c) || c->size < 2 || !transport_shares_memory(self))
		return false;
	v = mpi_venue_of(self, c);
	if (v == NULL || v->place == NULL || v->clusters > 1)
		return false;
	*p = (struct pointers){.v = v, .me = v->rank, .n = v->ranks};
	p->meeting.self = self;
	p->meeting.sync = &v->place->sync;
	p->meeting.ranks = (uint32_t)v->ranks;
	p->meeting.lane = v->lane;
	p->meeting.lane_ranks = v->lane_ranks;
	p->meeting.lanes = v->lanes;
	*(struct pointed *)(void *)venue_seat(v, v->rank) = mine;
	mpi_pointers_meet(p);
	return true;
}

bool
mpi_pointers_are_there(const struct pointers *p)
{
	for (int i = 0; i < p->n; i++)
		if (mpi_pointers_of(p, i)->in == NULL)
			return false;
	return true;
}

void
mpi_pointers_end(struct pointers *p)
{
	mpi_pointers_meet(p);
	p->v->turn ^= 1;
}
