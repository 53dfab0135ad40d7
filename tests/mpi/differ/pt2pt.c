/* SPDX-License-Identifier: MIT
 *
 * Smaller kinds of messages: from anybody at all, round a ring, too long, never sent.
 */
#include "differ.h"

#define WILD 12
#define WILD_BYTES 3000

static int
length_of(const struct differ *d, int source, int target, int number)
{
	struct dice dice = dice_of(mix(d->seed, (uint64_t)d->step),
		mix((uint64_t)source, (uint64_t)target), (uint64_t)number);

	return below(&dice, below(&dice, 4) ? 100 : WILD_BYTES);
}

/* Messages from one to another. */
static int
number_of(const struct differ *d, int source, int target)
{
	struct dice dice = dice_of(mix(d->seed, (uint64_t)d->step), mix(900, (uint64_t)source),
		(uint64_t)target);

	return below(&dice, d->most < 4 ? d->most + 1 : 4);
}

/* What comes from one source comes in order; which source is next is anybody's guess. */
static void
take_wild(struct differ *d, int n)
{
	unsigned char in[WILD_BYTES];
	struct sum *of = calloc((size_t)d->size, sizeof(*of));
	MPI_Comm comm = d->places[1].comm;
	MPI_Message message;
	MPI_Status s;
	int len;

	for (int i = 0; i < n; i++) {
		memset(in, 0, sizeof(in));
		if (below(&d->own, 2)) {
			MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &s);
			MPI_Mrecv(in, WILD_BYTES, MPI_BYTE, &message, &s);
		} else {
			MPI_Recv(in, WILD_BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
		}
		MPI_Get_count(&s, MPI_BYTE, &len);
		sum_number(&of[s.MPI_SOURCE], s.MPI_TAG);
		sum_number(&of[s.MPI_SOURCE], len);
		sum_bytes(&of[s.MPI_SOURCE], in, (size_t)len);
	}
	for (int i = 0; i < d->size; i++)
		sum_number(&d->sum, (long long)of[i].value);
	free(of);
}

void
step_wild(struct differ *d, struct dice *dice)
{
	MPI_Request *r = calloc((size_t)d->size * 4, sizeof(*r));
	unsigned char *out = calloc((size_t)d->size * 4, WILD_BYTES);
	int n = 0, expected = 0;

	(void)dice;
	for (int to = 0; to < d->size; to++) {
		expected += number_of(d, to, d->rank);
		for (int i = 0; i < number_of(d, d->rank, to); i++, n++) {
			unsigned char *b = out + (size_t)n * WILD_BYTES;
			int len = length_of(d, d->rank, to, i);

			for (int j = 0; j < len; j++)
				b[j] = (unsigned char)(j * 7 + i + d->rank);
			MPI_Isend(b, len, MPI_BYTE, to, TAG_WILD + i, d->places[1].comm, &r[n]);
		}
	}
	take_wild(d, expected);
	MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	/* nobody's next messages may come among these */
	MPI_Barrier(d->places[1].comm);
	free(r);
	free(out);
}

/* Sendrecv in its forms, round the members of an intracommunicator. */
void
step_around(struct differ *d, struct dice *dice)
{
	const struct place *p = &d->places[below(dice, PLACES - 1)];
	int shift = below(dice, 5), replaces = below(dice, 2), waits = below(dice, 2),
		tag = TAG_AROUND + below(dice, 1000), n, to, from;
	struct form f = {.shape = mix(dice->state, 3), .plain = 1, .basic = -1};
	struct made made, other;
	struct space in, out;
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Status s;

	if (p->comm == MPI_COMM_NULL)
		return;
	f.where = (uint64_t)p->rank;
	/* MPICH 5.0.2's MPI_Isendrecv_replace works with basic types only */
	made = replaces && waits ? (struct made){.type = MPI_DOUBLE, .size = 8} : type_make(&f);
	f.where = replaces ? f.where : 1000 + (uint64_t)p->rank;
	other = replaces ? made : type_make(&f);
	n = (int)(below(dice, d->bytes < 30000 ? (int)d->bytes : 30000) / made.size);
	to = (p->rank + shift) % p->sizes[0];
	from = (p->rank + (shift / p->sizes[0] + 1) * p->sizes[0] - shift) % p->sizes[0];
	if (below(dice, 4) == 0) {
		/* the ring is a line */
		to = p->rank + shift < p->sizes[0] ? to : MPI_PROC_NULL;
		from = p->rank - shift >= 0 ? from : MPI_PROC_NULL;
	}
	out = space_make(made.type, n - 1);
	in = space_make(other.type, n - 1);
	space_fill(&out, (uint64_t)p->rank);
	space_fill(&in, 500);
	if (replaces && !waits)
		MPI_Sendrecv_replace(out.at, n, made.type, to, tag, from, tag, p->comm, &s);
	else if (replaces)
		MPI_Isendrecv_replace(out.at, n, made.type, to, tag, from, tag, p->comm, &r);
	else if (!waits)
		MPI_Sendrecv(out.at, n, made.type, to, tag, in.at, n, other.type, from, tag,
			p->comm, &s);
	else
		MPI_Isendrecv(out.at, n, made.type, to, tag, in.at, n, other.type, from, tag,
			p->comm, &r);
	if (waits)
		MPI_Wait(&r, &s);
	SAY(d, "%s: around replaces %d waits %d n %d to %d from %d", p->name, replaces, waits, n,
		to, from);
	type_say(d, "out", &made);
	type_say(d, "in", &other);
	space_say(d, replaces ? "out" : "in", replaces ? &out : &in);
	/* of the others, MPICH's says nothing */
	if (!waits)
		status_sum(&d->sum, &s, other.type, !other.odd);
	space_sum(&out, &d->sum);
	space_sum(&in, &d->sum);
	space_drop(&in);
	space_drop(&out);
	type_drop(&made);
	if (!replaces)
		type_drop(&other);
}

/*
 * A receive that is too short fails, and the next message is whole; one that nothing matches can be
 * cancelled.
 */
void
step_short(struct differ *d, struct dice *dice)
{
	static const int lengths[] = {3, 40, 800, 5000, 20000, 100000};
	int n = lengths[below(dice, 6)], room = below(dice, n), early = below(dice, 2),
		cancelled = 0, result;
	int to = (d->rank + 1) % d->size, from = (d->rank + d->size - 1) % d->size;
	MPI_Comm comm = d->places[1].comm;
	char *out = malloc((size_t)n), *in = calloc((size_t)n, 1), never[4];
	MPI_Request r = MPI_REQUEST_NULL, first, sends[2];
	MPI_Status s;

	memset(out, 1 + d->rank, (size_t)n);
	MPI_Irecv(never, 4, MPI_BYTE, MPI_ANY_SOURCE, TAG_NEVER, comm, &first);
	if (early)
		MPI_Irecv(in, room, MPI_BYTE, from, TAG_SHORT, comm, &r);
	MPI_Isend(out, n, MPI_BYTE, to, TAG_SHORT, comm, &sends[0]);
	MPI_Isend(out, n, MPI_BYTE, to, TAG_SHORT, comm, &sends[1]);
	result = early ? MPI_Wait(&r, &s) : MPI_Recv(in, room, MPI_BYTE, from, TAG_SHORT, comm, &s);
	sum_number(&d->sum, class_of(result));
	memset(in, 0, (size_t)n);
	result = MPI_Recv(in, n, MPI_BYTE, from, TAG_SHORT, comm, &s);
	sum_number(&d->sum, class_of(result));
	status_sum(&d->sum, &s, MPI_BYTE, 1);
	sum_bytes(&d->sum, in, (size_t)n);
	MPI_Cancel(&first);
	MPI_Wait(&first, &s);
	MPI_Test_cancelled(&s, &cancelled);
	sum_number(&d->sum, cancelled);
	MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
	free(in);
	free(out);
}
