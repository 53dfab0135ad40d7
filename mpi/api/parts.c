/* SPDX-License-Identifier: MIT
 *
 * Partitioned messages. The sender cuts a message in pieces of some partitions each, and tells the
 * receiver how when the request is made: that is one message with the program's tag in a context of
 * its own, so that pairs are matched in the order in which they are made, once for all times. Each
 * piece then is a message, sent when its partitions are ready, with a tag that no other piece of
 * the sender has; so receivers may cut in other partitions, and may be started first (ADR 0039).
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/api/parts.h>
#include <mpi/pt2pt/pt2pt.h>

#define PIECES_MAX 64			/* more partitions than that share pieces */
#define TAG_MASK 0x3fffffff

static int
drop_told(struct mpi_rank *self, struct request *r)
{
	(void)self;
	free(r->own);
	return MPI_SUCCESS;
}

static const struct request_class told_class = {.drop = drop_told};

/* A request for the message that tells the cut. NULL: no memory. */
static struct request *
new_told(struct mpi_rank *self, struct comm *c, const struct cut *cut)
{
	struct cut *own = malloc(sizeof(*own));
	struct request *r = own ? mpi_request_new_class(self, c, &told_class, own) : NULL;

	if (r == NULL)
		free(own);
	else
		*own = *cut;
	return r;
}

/* It goes now, or when it is done. */
static void
parts_let_go(struct mpi_rank *self, struct request *r)
{
	if (mpi_request_is_done(r))
		mpi_request_free(self, r);
	else
		mpi_request_detach(self, r);
}

static void
parts_tell(struct mpi_rank *self, const struct parts *p, struct request *told)
{
	const struct message *m = &p->message;

	mpi_send_prepare(told, m->comm, told->own, sizeof(struct cut), m->rank, m->tag);
	told->context = m->comm->context + CONTEXT_PARTITIONED;
	mpi_send_start(self, told);
	parts_let_go(self, told);
}

static void
listen(struct mpi_rank *self, struct parts *p)
{
	const struct message *m = &p->message;

	mpi_recv_prepare(p->told, m->comm, p->told->own, sizeof(struct cut), m->rank, m->tag);
	p->told->context = m->comm->context + CONTEXT_PARTITIONED;
	mpi_recv_start(self, p->told);
}

static size_t
bytes_of_piece(const struct parts *p, uint32_t i)
{
	return i + 1 < p->cut.pieces ? p->cut.piece_bytes : p->cut.bytes - i * p->cut.piece_bytes;
}

/* Elements of a piece; only for pieces that consist of such. */
static struct message
message_of_piece(const struct parts *p, uint32_t i)
{
	struct message m = p->message;
	MPI_Count size = m.type->size, first = size > 0 ?
		(MPI_Count)(i * p->cut.piece_bytes) / size : 0;

	m.buffer = (const char *)m.buffer + first * (MPI_Count)m.type->extent;
	m.count = size > 0 ? (MPI_Count)bytes_of_piece(p, i) / size : 0;
	m.tag = (int)((p->cut.tag + i) & TAG_MASK);
	return m;
}

static void
send_piece(struct mpi_rank *self, struct parts *p, uint32_t i)
{
	struct request *r = &p->pieces[i].request;
	struct message m = message_of_piece(p, i);

	p->pieces[i].left = -1;
	*r = (struct request){.handle = 0};
	message_prepare_send(r, &m, STANDARD);
	r->context = m.comm->context + CONTEXT_PIECES;
	mpi_send_start(self, r);
}

static void
recv_piece(struct mpi_rank *self, struct parts *p, uint32_t i)
{
	struct request *r = &p->pieces[i].request;
	struct message m = message_of_piece(p, i);

	p->pieces[i].taken = false;
	*r = (struct request){.handle = 0};
	if (p->staging != NULL)
		mpi_recv_prepare(r, m.comm, p->staging + i * p->cut.piece_bytes,
			bytes_of_piece(p, i), m.rank, m.tag);
	else
		message_prepare_recv(r, &m);
	r->context = m.comm->context + CONTEXT_PIECES;
	mpi_recv_start(self, r);
}

static MPI_Count
room(const struct parts *p)
{
	return p->partitions * p->message.count * p->message.type->size;
}

/* A piece that is done is where the program wants it. */
static void
parts_take(struct parts *p, uint32_t i)
{
	MPI_Count at = (MPI_Count)(i * p->cut.piece_bytes), bytes = (MPI_Count)bytes_of_piece(p, i),
		fits = room(p) - at;

	if (!p->pieces[i].taken && p->staging != NULL && fits > 0)
		mpi_type_unpack(p->message.type, (void *)(uintptr_t)p->message.buffer, at,
			p->staging + at, bytes < fits ? bytes : fits);
	p->pieces[i].taken = true;
}

/* The cut is known: room for the pieces. Error class. */
static int
learn(struct mpi_rank *self, struct parts *p)
{
	uint64_t size = (uint64_t)p->message.type->size;
	int err = p->told->error;

	p->cut = *(const struct cut *)p->told->own;
	mpi_request_free(self, p->told);
	p->told = NULL;
	if (err != MPI_SUCCESS)
		return err;
	p->too_long = p->cut.bytes > (uint64_t)room(p);
	p->pieces = calloc(p->cut.pieces + 1, sizeof(*p->pieces));
	if (p->cut.bytes > 0 && (p->too_long || p->cut.piece_bytes % size != 0 ||
		p->cut.bytes % size != 0)) {
		p->staging = malloc(p->cut.bytes);
		if (p->staging == NULL)
			return MPI_ERR_NO_MEM;
	}
	p->known = p->pieces != NULL;
	return p->known ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static bool
is_on_its_way(const struct piece *piece)
{
	return piece->left < 0;
}

/*
 * Take note of pieces that are done, in order. True if there were any; the request is done with the
 * last one.
 */
static bool
note(struct request *r, bool receives)
{
	struct parts *p = r->own;
	uint32_t before = p->done;

	while (p->done < p->cut.pieces && is_on_its_way(&p->pieces[p->done]) &&
			mpi_request_is_done(&p->pieces[p->done].request)) {
		int err = p->pieces[p->done].request.error;

		if (receives)
			parts_take(p, p->done);
		if (r->error == MPI_SUCCESS)
			r->error = err;
		p->done++;
	}
	if (p->done == p->cut.pieces)
		mpi_request_complete(r, r->error != MPI_SUCCESS ||
			!p->too_long ? r->error : MPI_ERR_TRUNCATE);
	return p->done > before;
}

static bool
send_advance(struct mpi_rank *self, struct request *r)
{
	(void)self;
	return note(r, false);
}

static bool
is_ready(const struct request *r)
{
	const struct parts *p = r->own;
	const struct piece *next = &p->pieces[p->done];

	return p->done == p->cut.pieces || (is_on_its_way(next) &&
		mpi_request_is_done(&next->request));
}

static void
recv_all(struct mpi_rank *self, struct parts *p)
{
	for (uint32_t i = 0; i < p->cut.pieces; i++) {
		p->pieces[i].left = -1;
		recv_piece(self, p, i);
	}
}

static bool
recv_advance(struct mpi_rank *self, struct request *r)
{
	struct parts *p = r->own;
	int err;

	if (p->known)
		return note(r, true);
	if (p->told == NULL || !mpi_request_is_done(p->told))
		return false;
	err = learn(self, p);
	if (err != MPI_SUCCESS) {
		p->failed = err;
		mpi_request_complete(r, err);
		return true;
	}
	recv_all(self, p);
	note(r, true);
	return true;
}

static bool
recv_is_ready(const struct request *r)
{
	const struct parts *p = r->own;

	return p->known ? is_ready(r) : p->told != NULL && mpi_request_is_done(p->told);
}

static int
parts_begin(struct mpi_rank *self, struct request *r)
{
	struct parts *p = r->own;

	r->done = 0;
	r->error = MPI_SUCCESS;
	p->done = 0;
	if (parts_are_null(p) || p->failed != MPI_SUCCESS)
		mpi_request_complete(r, p->failed);
	else
		mpi_request_run(self, r);
	return MPI_SUCCESS;
}

static int
send_start(struct mpi_rank *self, struct request *r)
{
	struct parts *p = r->own;

	memset(p->marks, 0, (size_t)p->partitions * sizeof(*p->marks));
	for (uint32_t i = 0; i < p->cut.pieces; i++) {
		int rest = p->partitions - (int)i * p->per_piece;

		p->pieces[i].left = rest < p->per_piece ? rest : p->per_piece;
	}
	return parts_begin(self, r);
}

static int
recv_start(struct mpi_rank *self, struct request *r)
{
	struct parts *p = r->own;

	if (p->known)
		recv_all(self, p);
	return parts_begin(self, r);
}

static int
parts_finish(struct mpi_rank *self, struct request *r, MPI_Status *status)
{
	const struct parts *p = r->own;
	MPI_Count fits = room(p);

	(void)self;
	if (parts_are_null(p))
		mpi_status_null(status);
	else if (p->marks != NULL)
		mpi_status_empty(status);
	else
		mpi_status_set(status, p->message.rank, p->message.tag, (MPI_Count)p->cut.bytes <
			fits ? p->cut.bytes : (size_t)fits);
	return r->error;
}

static int
parts_drop(struct mpi_rank *self, struct request *r)
{
	struct parts *p = r->own;

	if (p->told != NULL) {
		mpi_request_cancel(self, p->told);
		parts_let_go(self, p->told);
	}
	mpi_type_release(p->message.type);
	free(p->staging);
	free(p->marks);
	free(p->pieces);
	free(p);
	return MPI_SUCCESS;
}

const struct request_class parts_send_class = {.start = send_start, .ready = is_ready,
	.advance = send_advance, .finish = parts_finish, .drop = parts_drop};
const struct request_class parts_recv_class = {.start = recv_start, .ready = recv_is_ready,
	.advance = recv_advance, .finish = parts_finish,
	.drop = parts_drop};

/* A request of one of the classes; holds what it needs. NULL: no memory. */
static struct request *
parts_make(struct mpi_rank *self, const struct message *m, int partitions,
	const struct request_class *class)
{
	struct parts *p = calloc(1, sizeof(*p));
	struct request *r = p ? mpi_request_new_class(self, m->comm, class, p) : NULL;

	if (r == NULL) {
		free(p);
		return NULL;
	}
	p->message = *m;
	p->partitions = partitions;
	mpi_type_hold(m->type);
	r->persistent = 1;
	r->inactive = 1;
	return r;
}

static void
cut(struct parts *p)
{
	struct comm *c = p->message.comm;
	uint64_t bytes = (uint64_t)(p->message.count * p->message.type->size);

	p->per_piece = (p->partitions + PIECES_MAX - 1) / PIECES_MAX;
	p->cut = (struct cut){.bytes = bytes * (uint64_t)p->partitions, .piece_bytes = bytes *
		(uint64_t)p->per_piece, .tag = c->pieces & TAG_MASK};
	if (p->partitions > 0)
		p->cut.pieces = (uint32_t)((p->partitions + p->per_piece - 1) / p->per_piece);
	c->pieces += p->cut.pieces;
}

int
parts_send(struct mpi_rank *self, const struct message *m, int partitions, struct request **request)
{
	struct request *r = parts_make(self, m, partitions, &parts_send_class), *told = NULL;
	struct parts *p = r ? r->own : NULL;

	if (p == NULL)
		return MPI_ERR_NO_MEM;
	if (!parts_are_null(p)) {
		cut(p);
		told = new_told(self, m->comm, &p->cut);
	}
	p->marks = calloc((size_t)p->partitions + 1, sizeof(*p->marks));
	p->pieces = calloc(p->cut.pieces + 1, sizeof(*p->pieces));
	if (told != NULL && p->marks != NULL && p->pieces != NULL) {
		parts_tell(self, p, told);
	} else if (!parts_are_null(p) || p->marks == NULL || p->pieces == NULL) {
		if (told != NULL)
			mpi_request_free(self, told);
		mpi_request_free(self, r);
		return MPI_ERR_NO_MEM;
	}
	*request = r;
	return MPI_SUCCESS;
}

int
parts_recv(struct mpi_rank *self, const struct message *m, int partitions, struct request **request)
{
	struct request *r = parts_make(self, m, partitions, &parts_recv_class);
	struct parts *p = r ? r->own : NULL;

	if (p == NULL)
		return MPI_ERR_NO_MEM;
	if (!parts_are_null(p)) {
		p->told = new_told(self, m->comm, &p->cut);
		if (p->told == NULL) {
			mpi_request_free(self, r);
			return MPI_ERR_NO_MEM;
		}
		listen(self, p);
	}
	*request = r;
	return MPI_SUCCESS;
}

bool
parts_may_be_ready(const struct parts *p, int partition)
{
	return partition >= 0 && partition < p->partitions && !p->marks[partition];
}

void
parts_ready(struct mpi_rank *self, struct parts *p, int partition)
{
	uint32_t piece = (uint32_t)(p->per_piece > 0 ? partition / p->per_piece : 0);

	p->marks[partition] = true;
	if (!parts_are_null(p) && --p->pieces[piece].left == 0)
		send_piece(self, p, piece);
}

/*
 * The pieces in which a partition of the receiver lies; if it is empty or behind all, those of the
 * same share of the whole.
 */
static void
pieces_of(const struct parts *p, int partition, uint32_t *first, uint32_t *last)
{
	uint64_t bytes = (uint64_t)(p->message.count * p->message.type->size), at = bytes *
		(uint64_t)partition, n = p->cut.pieces;
	uint64_t all = (uint64_t)p->partitions;

	if (bytes > 0 && at + bytes <= p->cut.bytes) {
		*first = (uint32_t)(at / p->cut.piece_bytes);
		*last = (uint32_t)((at + bytes - 1) / p->cut.piece_bytes);
	} else {
		*first = (uint32_t)((uint64_t)partition * n / all);
		*last = (uint32_t)((((uint64_t)partition + 1) * n + all - 1) / all) - 1;
	}
}

bool
parts_have_arrived(struct parts *p, int partition)
{
	uint32_t first, last;

	if (!p->known)
		return false;
	if (p->cut.pieces == 0)
		return true;
	pieces_of(p, partition, &first, &last);
	for (uint32_t i = first; i <= last; i++) {
		if (!mpi_request_is_done(&p->pieces[i].request))
			return false;
		parts_take(p, i);
	}
	return true;
}
