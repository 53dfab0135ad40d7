/* SPDX-License-Identifier: MIT
 *
 * Where ranks of other clusters are: by the tables that the job was started with, or, for
 * comparison (seed 002 5.6), by names: each rank links itself, and finds a peer when it has a
 * message for it first. The ranks of a cluster share a client of its name daemon, and take turns.
 * Nobody waits there for a peer that has not linked itself yet: that one's cluster may wait for a
 * rank of this one, which needs its turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <mpi/transport/atoll/state.h>
#include <mpi/transport/shared.h>

#define BIT_NAMES 3			/* beside those of state.h */
#define NAME_BYTES 32
#define FREE 0
#define TAKEN 1
#define WANTED 2			/* taken, and somebody sleeps for it */

/* No table of texts: each rank of a small cluster would have a copy of it. */
bool
transport_names_are_used(uint32_t *flags)
{
	const char *way = getenv("ATOLL_MPI_NAMES");

	*flags = 0;
	if (way == NULL || strcmp(way, "table") == 0)
		return false;
	if (strcmp(way, "two-steps") == 0)
		*flags = NAME_TWO_STEPS;
	if (strcmp(way, "forward") == 0)
		*flags = NAME_FORWARD;
	return true;
}

static void
take_turn(struct finder *f)
{
	uint32_t free = FREE;

	if (swap_strong(&f->turn, &free, TAKEN))
		return;
	while (exchange_total(&f->turn, WANTED) != FREE)
		kfutex_wait((uintptr_t)&f->turn, WANTED, FOREVER);
}

static void
end_turn(struct finder *f)
{
	if (exchange_total(&f->turn, FREE) == WANTED)
		kfutex_wake((uintptr_t)&f->turn, 1);
}

static void
name_of(const struct transport *t, uint32_t rank, char *name)
{
	snprintf(name, NAME_BYTES, "mpi%u.%u", t->startup->job, rank);
}

_Noreturn static void
names_fail(struct mpi_rank *self, const char *what, int error)
{
	char text[96];

	snprintf(text, sizeof(text), "the name daemon: %s: %s", what, error_text(error));
	mpi_die(self, 1, text);
}

void
transport_names_begin(struct mpi_rank *self, uint32_t port)
{
	struct transport *t = self->transport;
	char name[NAME_BYTES];
	int error = 0;

	if (t->finder == NULL)
		return;
	t->places = calloc((size_t)self->world_size, sizeof(*t->places));
	if (t->places == NULL)
		names_fail(self, "no memory", -E_NOMEM);
	name_of(t, (uint32_t)self->world_rank, name);
	take_turn(t->finder);
	if (!t->finder->is_open)
		error = name_open(&t->finder->names, BIT_NAMES);
	t->finder->is_open = error == 0;
	if (error == 0)
		error = name_link(&t->finder->names, name, port, 0);
	end_turn(t->finder);
	if (error != 0)
		names_fail(self, name, error);
}

void
transport_names_end(struct transport *t)
{
	free(t->places);
}

/* Each look is of its own turn: see above. */
static struct name_place
find_peer(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;
	struct name_place place = {0};
	char name[NAME_BYTES];
	int error;

	name_of(t, peer, name);
	do {
		take_turn(t->finder);
		error = name_lookup(&t->finder->names, name, t->finder_flags, &place);
		end_turn(t->finder);
	} while (error == -E_NOENT && kthread_yield() == 0);
	if (error != 0)
		names_fail(self, name, error);
	return place;
}

struct name_place
transport_names_place(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;

	/* port 0 is no rank's */
	if (t->places[peer].port == 0)
		t->places[peer] = find_peer(self, peer);
	return t->places[peer];
}
