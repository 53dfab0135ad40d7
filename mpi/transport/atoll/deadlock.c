/* SPDX-License-Identifier: MIT
 *
 * A deadlock of ranks that are threads of one cluster (ADR 0052). A word that they share counts
 * those that sleep: a rank adds itself after its last look, and whoever is about to wake it takes
 * it off first. So the rank with which all are counted knows that all sleep, that nobody is being
 * woken, and that nobody is left to send: no time and no second look is needed. It begins a chain
 * in which each rank says what it waits for and wakes the next one; the last one ends the job.
 * tests/models/sleepers.pml
 */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <atoll/kcalls.h>
#include <mpi/transport/atoll/state.h>
#include <mpi/transport/transport.h>

#define EXIT_DEADLOCK 35		/* EDEADLK of Linux */
#define LINES_MAX 64
#define LINE_BYTES 480
#define HEAD \
	"MPI: deadlock: all ranks wait inside MPI, no message is on its way, and nobody is left " \
	"to send one"
#define ONE_LESS UINT32_MAX

/* who can make threads or start programs is not judged: they might end the wait */
#pragma weak pthread_create
#pragma weak posix_spawn

static bool
is_chosen(const char *word)
{
	const char *chosen = getenv("MPIEXEC_ON_DEADLOCK");

	return strcmp(chosen != NULL ? chosen : "end", word) == 0;
}

static void
deadlock_say(const char *line)
{
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		return;
}

/* Do only these ranks decide whether the wait ends? */
static bool
is_judged(const struct mpi_rank *self)
{
	const struct transport *t = self->transport;

	return t->local_ranks == (uint32_t)self->world_size &&
		load_relaxed(&t->sleepers->several) == 0 &&
	       pthread_create == NULL && posix_spawn == NULL && !is_chosen("ignore");
}

static void
pass_on(const struct transport *t, uint32_t local_rank)
{
	store_total(&t->sleepers->turn, local_rank + 1);
	kthread_wakeup(transport_inbox(t, local_rank)->tid, WOKEN_BY_PEER);
}

/* All sleep, and so will the caller in a moment. */
static void
deadlock_begin(const struct transport *t)
{
	uint32_t none = 0;

	if (!swap_strong(&t->sleepers->found, &none, 1))
		return;
	deadlock_say(is_chosen("report") ? HEAD "\n" :
		HEAD ": the job is ended (MPIEXEC_ON_DEADLOCK)\n");
	pass_on(t, 0);
}

static void
end(struct mpi_rank *self)
{
	char line[40];

	if (self->world_size > LINES_MAX) {
		snprintf(line, sizeof(line), "MPI: and %d more ranks\n",
			self->world_size - LINES_MAX);
		deadlock_say(line);
	}
	if (!is_chosen("report"))
		transport_abort(self, EXIT_DEADLOCK);
}

/* In its turn each rank says what it waits for. */
static void
deadlock_tell(struct mpi_rank *self)
{
	const struct transport *t = self->transport;
	char line[LINE_BYTES];
	int len;

	if (load_total(&t->sleepers->turn) != t->local_rank + 1)
		return;
	transport_flush();
	len = snprintf(line, sizeof(line), "MPI rank %d waits in ", self->world_rank);
	mpi_describe_wait(self, NULL, line + len, sizeof(line) - (size_t)len - 1);
	deadlock_say(strcat(line, "\n"));
	if (t->local_rank + 1 < t->local_ranks && t->local_rank + 1 < LINES_MAX) {
		pass_on(t, t->local_rank + 1);
		return;
	}
	store_total(&t->sleepers->turn, 0);
	end(self);
}

void
transport_falls_asleep(const struct mpi_rank *self)
{
	const struct transport *t = self->transport;

	if (add_total(&t->sleepers->count, 1) + 1 == t->local_ranks && is_judged(self))
		deadlock_begin(t);
}

void
transport_woke_up(struct mpi_rank *self)
{
	const struct transport *t = self->transport;

	/* a wake-up that was meant for an earlier sleep has taken nobody off */
	if (load_total(&t->inbox.box->sleeping) == SLEEPING)
		transport_take_off(t, t->inbox.box);
	if (load_relaxed(&t->sleepers->found) != 0)
		deadlock_tell(self);
}

void
transport_stays_awake(const struct transport *t)
{
	uint32_t sleeping = SLEEPING;

	if (!swap_strong(&t->inbox.box->sleeping, &sleeping, AWAKE))
		add_total(&t->sleepers->count, 1);
}

bool
transport_take_off(const struct transport *t, struct inbox *box)
{
	uint32_t sleeping = SLEEPING;

	/* first: at no time may more be counted than sleep */
	add_total(&t->sleepers->count, ONE_LESS);
	if (swap_strong(&box->sleeping, &sleeping, AWAKE))
		return true;
	add_total(&t->sleepers->count, 1);
	return false;
}
