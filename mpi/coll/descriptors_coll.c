/* SPDX-License-Identifier: MIT
 *
 * Collectives of any blocks among few ranks of one address space, with flags (coll/flags.h). Each
 * rank shows data on the line of its flag, or in its buffer if that is large enough, and goes on;
 * otherwise it shows a description of what it gives or gets, and stays until the others are done.
 * Ranks that are processes gather to all in the same way, but for blocks that have no buffer: of
 * these they show that a message brings them. Only a rank's own handles mean something to it, so
 * that a description of blocks with a type each is made of spans. The others copy large blocks of a
 * scatter at the same time from the root's memory, and those of a gather to where the root, which
 * shows that, wants them.
 *
 * Cost: a cache line from each rank that gives to each that takes, two if blocks are large. To
 * copy: m b on each rank where there is a root, and n m b there unless blocks are large; n m b on
 * each otherwise, at the same time. No message but of processes, n - 1 for a block without a
 * buffer.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/sched.h>
#include <mpi/coll/flags.h>
#include <mpi/transport/transport.h>

#define ALIGNED(n) (((n) + 15) & ~(size_t)15)
/* more is copied once: buffers are several, and leave the cache */
#define DESC_BUFFER 4096
/* of processes; sizes and places in a buffer have 16 bits */
#define BUFFER_MAX 32768
#define DESC_INLINE (FLAGS_SMALL - 16)	/* bytes of data on the line */

/* the line has room for a block for each of so many ranks */
#define DESC_SLOTS 4

enum where { ON_LINE, IN_BUFFER, IN_MESSAGE };

struct descriptor {
	const void *what;		/* NULL: data */
	uint8_t where;			/* of data: enum where */
	uint8_t truncated;		/* what was described had less room than data */
	uint16_t bytes;			/* of the data, if it is one block */
	uint8_t slot[DESC_SLOTS];	/* bytes of each rank's block on the line */
	_Alignas(16) char data[DESC_INLINE];
};

_Static_assert(sizeof(struct descriptor) == FLAGS_SMALL, "it lies on the line of a flag");

/* Blocks for each rank in a buffer: where they begin, and how long they are, comes first. */
struct dealt {
	struct {
		uint16_t at;
		uint16_t bytes;
	} block[FLAGS_RANKS_MAX];
};

_Static_assert(BUFFER_MAX <= UINT16_MAX, "sizes and places in a buffer have 16 bits");

/* Can others read what this rank describes? */
static bool
is_read_in_place(const struct flags *g)
{
	return transport_shares_memory(g->self);
}

/* Is so much data put into the buffer? */
static bool
desc_fits(const struct flags *g, size_t bytes)
{
	return bytes <= (is_read_in_place(g) ? DESC_BUFFER : BUFFER_MAX) &&
		bytes <= g->v->round_bytes;
}

static const struct descriptor *
descriptor_of(const struct flags *g, int rank)
{
	return (const struct descriptor *)(const void *)flags_of(g, g->round, rank)->small;
}

/* A round begins; false, on all ranks: not for this communicator. */
static bool
descriptors_begin(struct flags *g, struct mpi_rank *self, struct comm *c)
{
	if (!mpi_flags_begin(g, self, c, FLAGS_SMALL + 1))
		return false;
	mpi_flags_next(g);
	return true;
}

static char *
buffer_of(const struct flags *g, int rank)
{
	return mpi_flags_data(g, rank, g->v->round_bytes);
}

/* The own line, when it may be written; with the buffer. */
static struct descriptor *
own_line(struct flags *g, bool buffer)
{
	mpi_flags_buffer(g, buffer ? g->v->round_bytes : FLAGS_SMALL);
	return (struct descriptor *)(void *)flags_of(g, g->round, g->me)->small;
}

static void
show(struct flags *g, const void *what, enum where where)
{
	struct descriptor *n = (struct descriptor *)(void *)flags_of(g, g->round, g->me)->small;

	n->what = what;
	n->where = (uint8_t)where;
	n->truncated = false;
	mpi_flags_show(g);
}

/* Show a description, or only that this rank has come. */
static void
desc_show(struct flags *g, const void *what)
{
	own_line(g, false);
	show(g, what, ON_LINE);
}

/* Show that what another rank had described is where it wanted it, whole or truncated. */
static void
desc_show_copied(struct flags *g, const void *what, bool truncated)
{
	struct descriptor *n = own_line(g, false);

	n->what = what;
	n->where = ON_LINE;
	n->truncated = truncated;
	mpi_flags_show(g);
}

/* Show one block for all; false: where it lies, or that a message brings it. */
static bool
desc_give(struct flags *g, const struct span *own)
{
	size_t bytes = span_size(*own);
	bool buffer = bytes > DESC_INLINE, fits = desc_fits(g, bytes);
	struct descriptor *n = own_line(g, buffer && fits);

	n->bytes = (uint16_t)bytes;
	if (fits)
		span_copy(span_bytes(buffer ? buffer_of(g, g->me) : n->data, bytes), *own);
	if (fits)
		show(g, NULL, buffer ? IN_BUFFER : ON_LINE);
	else if (is_read_in_place(g))
		show(g, own, ON_LINE);
	else
		show(g, NULL, IN_MESSAGE);
	return fits;
}

/* Copy a block as each side describes it. */
static int
desc_copy(struct span to, struct span from)
{
	span_copy(to, from);
	return span_size(to) < span_size(from) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* What lies there, as far as it is expected. */
static int
take_bytes(struct span to, const char *data, size_t bytes)
{
	return desc_copy(to, span_bytes(data, bytes));
}

/* Take that of a rank. MPI_ERR_TRUNCATE: there was less room than data. */
static int
desc_take(const struct flags *g, int from, struct span to)
{
	const struct descriptor *n = descriptor_of(g, from);

	if (n->what != NULL)
		return desc_copy(to, *(const struct span *)n->what);
	return take_bytes(to, n->where == IN_BUFFER ? buffer_of(g, from) : n->data, n->bytes);
}

static size_t
dealt_bytes(const struct flags *g, const struct span own[])
{
	size_t bytes = sizeof(struct dealt);

	for (int i = 0; i < g->n && bytes <= g->v->round_bytes; i++)
		bytes += i == g->me ? 0 : ALIGNED(span_size(own[i]));
	return bytes;
}

/* Room on the line for each rank's block. */
static size_t
slot_of(const struct flags *g)
{
	return g->n <= DESC_SLOTS ? DESC_INLINE / (size_t)g->n & ~(size_t)7 : 0;
}

static bool
fit_on_line(const struct flags *g, const struct span own[])
{
	for (int i = 0; i < g->n; i++)
		if (i != g->me && span_size(own[i]) > slot_of(g))
			return false;
	return true;
}

static void
deal_on_line(struct flags *g, const struct span own[])
{
	struct descriptor *n = own_line(g, false);

	for (int i = 0; i < g->n && i < DESC_SLOTS; i++) {
		if (i == g->me)
			continue;
		n->slot[i] = (uint8_t)span_size(own[i]);
		span_copy(span_bytes(n->data + (size_t)i * slot_of(g), slot_of(g)), own[i]);
	}
	show(g, NULL, ON_LINE);
}

/* The same as desc_give with a block for each rank. */
static bool
desc_deal(struct flags *g, const struct span own[])
{
	bool fits = desc_fits(g, dealt_bytes(g, own));
	size_t at = sizeof(struct dealt);
	struct dealt *dealt;
	char *buffer;

	if (fit_on_line(g, own)) {
		deal_on_line(g, own);
		return true;
	}
	own_line(g, fits);
	buffer = buffer_of(g, g->me);
	dealt = (struct dealt *)(void *)buffer;
	for (int i = 0; fits && i < g->n; i++) {
		size_t bytes = i == g->me ? 0 : span_size(own[i]);

		dealt->block[i].at = (uint16_t)at;
		dealt->block[i].bytes = (uint16_t)bytes;
		span_copy(span_bytes(buffer + at, bytes), own[i]);
		at += ALIGNED(bytes);
	}
	show(g, fits ? NULL : own, fits ? IN_BUFFER : ON_LINE);
	return fits;
}

/* The same as desc_take. */
static int
desc_take_own(const struct flags *g, int from, struct span to)
{
	const struct descriptor *n = descriptor_of(g, from);
	const char *buffer = buffer_of(g, from);
	const struct dealt *dealt = (const struct dealt *)(const void *)buffer;

	if (n->what != NULL)
		return desc_copy(to, ((const struct span *)n->what)[g->me]);
	if (n->where == IN_BUFFER)
		return take_bytes(to, buffer + dealt->block[g->me].at, dealt->block[g->me].bytes);
	/* more ranks than slots: all blocks are empty */
	return slot_of(g) > 0 ? take_bytes(to, n->data + (size_t)g->me * slot_of(g),
		n->slot[g->me]) : MPI_SUCCESS;
}

/* Another round, after which nobody needs what was described in this one. */
static void
descriptors_part(struct flags *g)
{
	mpi_flags_next(g);
	desc_show(g, NULL);
	mpi_flags_wait_all(g);
}

/* --- the collectives --- */

/* The later of two errors. */
static int
worse(int err, int bad)
{
	return bad != MPI_SUCCESS ? bad : err;
}

/* --- gather --- */

static int
desc_put(struct flags *g, const struct collective *k)
{
	struct span own = side_block(&k->send, 0);
	const struct side *all;
	int err;

	if (desc_fits(g, span_size(own))) {
		desc_give(g, &own);
		return MPI_SUCCESS;
	}
	mpi_flags_wait(g, k->root);
	all = descriptor_of(g, k->root)->what;
	err = desc_copy(side_block(all, g->me), own);
	desc_show_copied(g, all, err != MPI_SUCCESS);
	return MPI_SUCCESS;
}

/* The block of a rank that has shown something; the error is the root's, whoever copied. */
static int
desc_get(const struct flags *g, int rank, struct span to)
{
	const struct descriptor *n = descriptor_of(g, rank);

	if (n->what == NULL)
		return desc_take(g, rank, to);
	return n->truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static int
gather_at_root(struct flags *g, const struct collective *k)
{
	int err = MPI_SUCCESS;

	desc_show(g, &k->recv);
	if (!k->send.in_place)
		err = desc_copy(side_block(&k->recv, g->me), side_block(&k->send, 0));
	for (int i = 0; i < g->n; i++) {
		if (i == g->me)
			continue;
		mpi_flags_wait(g, i);
		err = worse(err, desc_get(g, i, side_block(&k->recv, i)));
	}
	g->b->seen = g->round;
	return err;
}

/* --- scatter --- */

static int
take_from_root(struct flags *g, const struct collective *k)
{
	int err;

	mpi_flags_wait(g, k->root);
	err = desc_take_own(g, k->root, side_block(&k->recv, 0));
	desc_show(g, NULL);
	return err;
}

static void
blocks_of(struct span own[], const struct collective *k, int n)
{
	for (int i = 0; i < n; i++)
		own[i] = side_block(&k->send, i);
}

static int
scatter_at_root(struct flags *g, const struct collective *k)
{
	struct span own[FLAGS_RANKS_MAX];
	int err = MPI_SUCCESS;
	bool laid;

	blocks_of(own, k, g->n);
	laid = desc_deal(g, own);
	if (!k->recv.in_place)
		err = desc_copy(side_block(&k->recv, 0), own[g->me]);
	if (!laid)
		mpi_flags_wait_all(g);
	return err;
}

/* --- allgather, alltoall --- */

/* `err`: what the own block came to; `stays`: this rank only showed where its data lies. */
static int
take_from_all(struct flags *g, const struct collective *k, bool stays, int err)
{
	mpi_flags_wait_all(g);
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n;
		struct span to = side_block(&k->recv, from);
		int bad = k->kind == COLL_ALLTOALL ? desc_take_own(g, from, to) :
			desc_take(g, from, to);

		stays |= descriptor_of(g, from)->what != NULL;
		err = worse(err, bad);
	}
	if (stays)
		descriptors_part(g);
	return err;
}

static int
allgather(struct flags *g, const struct collective *k)
{
	struct span own = k->send.in_place ? side_block(&k->recv, g->me) : side_block(&k->send, 0);
	bool laid = desc_give(g, &own);
	int err = k->send.in_place ? MPI_SUCCESS : desc_copy(side_block(&k->recv, g->me), own);

	return take_from_all(g, k, !laid, err);
}

/* Messages of the processes whose blocks have no buffer; all ranks have seen who these are. */
static int
exchange_messages(struct sched *s, const struct flags *g, const struct collective *k,
	struct span own)
{
	bool sends = descriptor_of(g, g->me)->where == IN_MESSAGE;

	if (s == NULL)
		return MPI_ERR_NO_MEM;
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n;

		if (descriptor_of(g, from)->where == IN_MESSAGE)
			mpi_sched_recv(s, side_block(&k->recv, from), from);
		if (sends)
			mpi_sched_send(s, own, from);
	}
	return mpi_sched_run(s);
}

/* Of processes. All take a number for messages, of which most often there are none. */
static int
allgather_apart(struct flags *g, struct comm *c, const struct collective *k)
{
	struct span own = k->send.in_place ? side_block(&k->recv, g->me) : side_block(&k->send, 0);
	bool some = !desc_give(g, &own);
	int err = k->send.in_place ? MPI_SUCCESS : desc_copy(side_block(&k->recv, g->me), own);

	mpi_flags_wait_all(g);
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n;

		if (descriptor_of(g, from)->where == IN_MESSAGE)
			some = true;
		else
			err = worse(err, desc_take(g, from, side_block(&k->recv, from)));
	}
	if (some)
		return worse(err, exchange_messages(mpi_sched_new(g->self, c), g, k, own));
	c->collectives++;
	return err;
}

static int
alltoall(struct flags *g, const struct collective *k)
{
	struct span own[FLAGS_RANKS_MAX];
	bool laid;

	blocks_of(own, k, g->n);
	laid = desc_deal(g, own);
	return take_from_all(g, k, !laid, desc_copy(side_block(&k->recv, g->me), own[g->me]));
}

/* --- all --- */

static int
pass(struct flags *g, const struct collective *k)
{
	switch (k->kind) {
	case COLL_GATHER: return g->me == k->root ? gather_at_root(g, k) : desc_put(g, k);
	case COLL_SCATTER: return g->me == k->root ? scatter_at_root(g, k) : take_from_root(g, k);
	case COLL_ALLGATHER: return allgather(g, k);
	default: return alltoall(g, k);
	}
}

/* An alltoall in place gives what it takes. */
static bool
descriptors_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	bool apart = !transport_shares_memory(self);
	struct flags g;

	if ((apart && k->kind != COLL_ALLGATHER) || (k->kind == COLL_ALLTOALL && k->send.in_place))
		return false;
	if (!descriptors_begin(&g, self, c))
		return false;
	*err = apart ? allgather_apart(&g, c, k) : pass(&g, k);
	mpi_flags_end(&g);
	return true;
}

const struct algorithm mpi_algorithm_gather_descriptors = {.run = descriptors_run};
const struct algorithm mpi_algorithm_scatter_descriptors = {.run = descriptors_run};
const struct algorithm mpi_algorithm_allgather_descriptors = {.run = descriptors_run};
const struct algorithm mpi_algorithm_alltoall_descriptors = {.run = descriptors_run};
