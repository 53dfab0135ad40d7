/* SPDX-License-Identifier: MIT
 *
 * Getting at the job segment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>
#include <mpi/transport/process/join.h>
#include <mpi/transport/process/state.h>
#include <mpi/transport/transport.h>

static int
number(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? atoi(text) : otherwise;
}

void
transport_identify(struct mpi_rank *self)
{
	bool in_job = getenv(JOIN_SOCKET) != NULL;

	self->world_rank = in_job ? number(JOIN_RANK, 0) : 0;
	self->world_size = in_job ? number(JOIN_RANKS, 1) : 1;
	self->app = in_job ? number(JOIN_APP, 0) : 0;
}

/* The segment with all heaps closed, or NULL. */
static struct segment *
map(uint32_t ranks, uint64_t bytes, int fd)
{
	int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE :
		MAP_SHARED | MAP_NORESERVE;
	void *at = mmap(NULL, bytes, PROT_NONE, flags, fd, 0);

	if (at == MAP_FAILED)
		return NULL;
	if (mprotect(at, segment_common_bytes(ranks), PROT_READ | PROT_WRITE) == 0)
		return at;
	munmap(at, bytes);
	return NULL;
}

/*
 * Peers may read our memory, also where the system lets only parents do so: they are the launcher's
 * descendants.
 */
static void
let_peers_read(int launcher)
{
	if (launcher > 0)
		prctl(PR_SET_PTRACER, launcher, 0, 0, 0);
}

/* What is said by a rank that has died reaches people only if it has left the process. */
static void
write_whole_lines(void)
{
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

static int
attach_to_job(struct mpi_rank *self, struct transport *t)
{
	uint32_t ranks = (uint32_t)self->world_size, shift;
	struct join j;

	if (join_job((uint32_t)self->world_rank, &j) != 0)
		return MPI_ERR_OTHER;
	/* of another version, its size is another one */
	shift = segment_heap_shift_of(ranks, j.bytes);
	if (shift == 0)
		return MPI_ERR_OTHER;
	t->segment = map(ranks, j.bytes, j.segment);
	close(j.segment);
	if (t->segment == NULL)
		return MPI_ERR_NO_MEM;
	if (!segment_is_laid_out(t->segment, ranks, shift) ||
	    join_guard((uint32_t)self->world_rank, &j,
	    &t->segment->rank[self->world_rank].answered) != 0)
		return MPI_ERR_OTHER;
	/* a program that this one starts is not this rank */
	unsetenv(JOIN_SOCKET);
	let_peers_read(j.launcher);
	write_whole_lines();
	return MPI_SUCCESS;
}

static int
make_alone(struct transport *t)
{
	uint32_t shift = segment_heap_shift(1);

	t->segment = map(1, segment_bytes(1, shift), -1);
	if (t->segment == NULL)
		return MPI_ERR_NO_MEM;
	segment_layout(t->segment, 1, shift);
	return MPI_SUCCESS;
}

static enum fetch
chosen_fetch(const char *text)
{
	if (text == NULL)
		return FETCH_AS_FASTER;
	return text[0] == 'n' ? FETCH_NEVER : FETCH_ALWAYS;
}

/*
 * Whoever reads our memory by our number looks at the token first: the number may be another
 * process's in the namespace of the reader.
 */
static void
show_token(struct transport *t)
{
	struct segment_rank *r = &t->segment->rank[t->rank];

	/* without one, nobody takes us for us */
	if (getrandom(&t->token, sizeof(t->token), 0) != sizeof(t->token))
		return;
	r->token = t->token;
	r->token_at = (uintptr_t)&t->token;
}

int
transport_attach(struct mpi_rank *self)
{
	struct transport *t = self->transport;
	int err = getenv(JOIN_SOCKET) != NULL ? attach_to_job(self, t) : make_alone(t);
	struct segment *s = t->segment;

	if (err != MPI_SUCCESS)
		return err;
	t->rank = (uint32_t)self->world_rank;
	t->ranks = s->ranks;
	t->cells = s->cells;
	t->inbox = (struct inbox_reader){.box = segment_inbox(s, t->rank), .mask = s->cells - 1};
	t->heap = (struct heap){.base = segment_heap(s, t->rank),
		.bytes = (size_t)1 << s->heap_shift};
	t->opened = calloc(s->ranks, sizeof(t->opened[0]));
	t->proven = calloc(s->ranks, sizeof(t->proven[0]));
	t->fetch = chosen_fetch(getenv("ATOLL_MPI_FETCH"));
	show_token(t);
	return t->opened != NULL && t->proven != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void
transport_detach(struct transport *t)
{
	heap_exit(&t->heap);
	free(t->opened);
	free(t->proven);
	munmap(t->segment, t->segment->bytes);
}
