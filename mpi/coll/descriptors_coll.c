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
#include <mpi/coll/flags.h>
#include <mpi/coll/pattern.h>
#include <mpi/transport/transport.h>

#define ALIGNED(n) (((n) + 15) & ~(size_t)15)
/* more is copied once: buffers are several, and leave the cache */
#define DESC_BUFFER 4096
/* of processes */
#define BUFFER_MAX 32768
#define DESC_INLINE (FLAGS_SMALL - 16)	/* bytes of data on the line */

/* the line has room for a block for each of so many ranks */
#define DESC_SLOTS 4

enum where { ON_LINE, IN_BUFFER, IN_MESSAGE };

/* Blocks that a rank offers, one for all or one for each rank, or a description. */
struct descriptor {
	const void *what;		/* NULL: data */
	uint8_t where;			/* of data: enum where */
	uint8_t truncated;		/* what was described had less room than data */
	uint8_t slot[DESC_SLOTS];	/* bytes of each block on the line */
	_Alignas(16) union {
		char data[DESC_INLINE];
		/* of each block in the buffer, where they follow one another */
		uint16_t bytes[FLAGS_RANKS_MAX];
	};
};

_Static_assert(sizeof(struct descriptor) == FLAGS_SMALL, "it lies on the line of a flag");
_Static_assert(BUFFER_MAX <= UINT16_MAX, "sizes in a buffer have 16 bits");

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

static struct descriptor *
descriptor_of(const struct flags *g, int rank)
{
	return (struct descriptor *)(void *)flags_of(g, g->round, rank)->small;
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
	return descriptor_of(g, g->me);
}

static void
show(struct flags *g, const void *what, enum where where)
{
	struct descriptor *n = descriptor_of(g, g->me);

	n->what = what;
	n->where = (uint8_t)where;
	mpi_flags_show(g);
}

/*
 * Show a description, or only that this rank has come; or that what another rank had described is
 * where it wanted it, whole or truncated.
 */
static void
desc_show(struct flags *g, const void *what, bool truncated)
{
	own_line(g, false)->truncated = truncated;
	show(g, what, ON_LINE);
}

/* Of several blocks, that of this rank is not for others. */
static size_t
bytes_for_others(const struct flags *g, const struct span own[], int blocks, int i)
{
	return blocks > 1 && i == g->me ? 0 : span_size(own[i]);
}

/* Room on the line for each block. */
static size_t
slot_of(int blocks)
{
	return blocks <= DESC_SLOTS ? DESC_INLINE / (size_t)blocks & ~(size_t)7 : 0;
}

static bool
fit_on_line(const struct flags *g, const struct span own[], int blocks)
{
	for (int i = 0; i < blocks; i++)
		if (bytes_for_others(g, own, blocks, i) > slot_of(blocks))
			return false;
	return true;
}

static bool
fit_in_buffer(const struct flags *g, const struct span own[], int blocks)
{
	size_t bytes = 0;

	for (int i = 0; i < blocks && desc_fits(g, bytes); i++)
		bytes += blocks > 1 ? ALIGNED(bytes_for_others(g, own, blocks, i))
			: span_size(own[i]);
	return desc_fits(g, bytes);
}

/* Blocks for which the line has no slot are empty. Compiled for each place apart. */
ALWAYS_INLINE void
lay_blocks(struct flags *g, const struct span own[], int blocks, enum where where)
{
	bool line = where == ON_LINE;
	struct descriptor *n = own_line(g, !line);
	char *to = line ? n->data : buffer_of(g, g->me);

	for (int i = 0; i < blocks && (!line || i < DESC_SLOTS); i++) {
		size_t bytes = bytes_for_others(g, own, blocks, i);

		if (line)
			n->slot[i] = (uint8_t)bytes;
		else
			n->bytes[i] = (uint16_t)bytes;
		span_copy(span_bytes(to, bytes), own[i]);
		to += line ? slot_of(blocks) : ALIGNED(bytes);
	}
	show(g, NULL, where);
}

/*
 * Offer a block for all, or one for each rank. False: only where they lie, or that a message brings
 * them.
 */
static bool
offer(struct flags *g, const struct span own[], int blocks)
{
	if (fit_on_line(g, own, blocks)) {
		lay_blocks(g, own, blocks, ON_LINE);
		return true;
	}
	if (fit_in_buffer(g, own, blocks)) {
		lay_blocks(g, own, blocks, IN_BUFFER);
		return true;
	}
	own_line(g, false)->truncated = false;
	if (is_read_in_place(g))
		show(g, own, ON_LINE);
	else
		show(g, NULL, IN_MESSAGE);
	return false;
}

/* Take what a rank offers to all, or to this one. */
static int
desc_take(const struct flags *g, int from, bool each, struct span to)
{
	const struct descriptor *n = descriptor_of(g, from);
	int i = each ? g->me : 0;
	size_t slot = slot_of(each ? g->n : 1);
	const char *buffer = buffer_of(g, from);

	if (n->what != NULL)
		return span_copy_block(to, ((const struct span *)n->what)[i]);
	if (n->where == IN_BUFFER) {
		for (int before = 0; before < i; before++)
			buffer += ALIGNED((size_t)n->bytes[before]);
		return span_copy_block(to, span_bytes(buffer, n->bytes[i]));
	}
	/* more blocks than slots: all are empty */
	return slot > 0 ? span_copy_block(to, span_bytes(n->data + (size_t)i * slot, n->slot[i]))
		: MPI_SUCCESS;
}

/* Another round, after which nobody needs what was described in this one. */
static void
descriptors_part(struct flags *g)
{
	mpi_flags_next(g);
	desc_show(g, NULL, false);
	mpi_flags_wait_all(g);
}

/* The blocks that this rank gives; how many there are. */
static int
own_blocks(struct span own[], const struct flags *g, const struct collective *k)
{
	int n = patterns[k->kind].each ? g->n : 1;

	own[0] = k->send.in_place ? side_block(&k->recv, g->me) : side_block(&k->send, 0);
	for (int i = 1; i < n; i++)
		own[i] = side_block(&k->send, i);
	return n;
}

/* --- gather: the root describes where it wants the blocks --- */

static int
desc_put(struct flags *g, const struct collective *k)
{
	struct span own = side_block(&k->send, 0);
	const struct side *all;

	if (desc_fits(g, span_size(own))) {
		offer(g, &own, 1);
		return MPI_SUCCESS;
	}
	mpi_flags_wait(g, k->root);
	all = descriptor_of(g, k->root)->what;
	desc_show(g, all, span_copy_block(side_block(all, g->me), own) != MPI_SUCCESS);
	return MPI_SUCCESS;
}

/* The block of a rank that has shown something; the error is the root's, whoever copied. */
static int
desc_get(const struct flags *g, int rank, struct span to)
{
	const struct descriptor *n = descriptor_of(g, rank);

	if (n->what == NULL)
		return desc_take(g, rank, false, to);
	return n->truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static int
gather_at_root(struct flags *g, const struct collective *k)
{
	int err = MPI_SUCCESS;

	desc_show(g, &k->recv, false);
	if (!k->send.in_place)
		err = span_copy_block(side_block(&k->recv, g->me), side_block(&k->send, 0));
	for (int i = 0; i < g->n; i++) {
		if (i == g->me)
			continue;
		mpi_flags_wait(g, i);
		err = later_error(err, desc_get(g, i, side_block(&k->recv, i)));
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
	err = desc_take(g, k->root, true, side_block(&k->recv, 0));
	desc_show(g, NULL, false);
	return err;
}

static int
scatter_at_root(struct flags *g, const struct collective *k)
{
	struct span own[FLAGS_RANKS_MAX];
	bool laid = offer(g, own, own_blocks(own, g, k));
	int err = k->recv.in_place ? MPI_SUCCESS
		: span_copy_block(side_block(&k->recv, 0), own[g->me]);

	if (!laid)
		mpi_flags_wait_all(g);
	return err;
}

/* --- allgather, alltoall --- */

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

/*
 * Who showed where data lies stays until the others have it. All processes take a number for
 * messages, of which most often there are none.
 */
static int
all_to_all(struct flags *g, struct comm *c, const struct collective *k)
{
	struct span own[FLAGS_RANKS_MAX];
	int blocks = own_blocks(own, g, k), err = MPI_SUCCESS;
	bool each = blocks > 1, some = !offer(g, own, blocks);

	if (!k->send.in_place)
		err = span_copy_block(side_block(&k->recv, g->me), own[each ? g->me : 0]);
	mpi_flags_wait_all(g);
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n;
		const struct descriptor *n = descriptor_of(g, from);

		some |= n->what != NULL || n->where == IN_MESSAGE;
		if (n->where != IN_MESSAGE)
			err = later_error(err, desc_take(g, from, each,
				side_block(&k->recv, from)));
	}
	if (!is_read_in_place(g)) {
		if (some)
			return later_error(err, exchange_messages(mpi_sched_new(g->self, c), g, k,
				own[0]));
		c->collectives++;
	} else if (some) {
		descriptors_part(g);
	}
	return err;
}

/* --- all --- */

static int
pass(struct flags *g, struct comm *c, const struct collective *k)
{
	switch (k->kind) {
	case COLL_GATHER: return g->me == k->root ? gather_at_root(g, k) : desc_put(g, k);
	case COLL_SCATTER: return g->me == k->root ? scatter_at_root(g, k) : take_from_root(g, k);
	default: return all_to_all(g, c, k);
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
	*err = pass(&g, c, k);
	mpi_flags_end(&g);
	return true;
}

const struct algorithm mpi_algorithm_gather_descriptors = {.run = descriptors_run};
const struct algorithm mpi_algorithm_scatter_descriptors = {.run = descriptors_run};
const struct algorithm mpi_algorithm_allgather_descriptors = {.run = descriptors_run};
const struct algorithm mpi_algorithm_alltoall_descriptors = {.run = descriptors_run};
