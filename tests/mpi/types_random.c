/* SPDX-License-Identifier: MIT
 *
 * Types nested at random from a seed, described and packed: one line per type with its numbers, its
 * envelope and a sum of its packed bytes. The same seed gives the same lines with every MPI
 * library. usage: types_random [--seed N] [--types N]; prints the lines with --print.
 *
 * Without --print it checks that what is packed, sent to itself and unpacked arrives.
 */
#include "check.h"
#include <stdint.h>

#define KNOWN 40
#define BYTES_MAX 200000

static uint64_t state;

static long
below(long n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (long)(state >> 11) % n;
}

struct known {
	MPI_Datatype type;
	int derived;
};

static struct known known[KNOWN];
static int count;

static const MPI_Datatype basics[] = {
	MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX,
	MPI_UINT16_T, MPI_DOUBLE_INT, MPI_SHORT_INT,
};

#define BASICS 10
#define PAIRS 2

/* not in external32 and among counted elements, where not every library knows them */
static int with_pairs;

static MPI_Datatype
any(void)
{
	return known[below(count)].type;
}

#define FEW 5

static int
blocks(MPI_Datatype *t)
{
	MPI_Datatype old = any();
	int n = (int)below(FEW) + 1, lengths[FEW], at[FEW], length = (int)below(3) + 1,
		kind = (int)below(4), next = (int)below(6) - 2;
	MPI_Aint where[FEW], lb, extent;

	MPI_Type_get_extent(old, &lb, &extent);
	for (int i = 0; i < n; i++) {
		lengths[i] = kind < 2 ? (int)below(3) + 1 : length;
		at[i] = next;
		where[i] = next * extent + (below(2) ? 8 : 0);
		next += lengths[i] + (int)below(3);
	}
	switch (kind) {
	case 0:
		return MPI_Type_indexed(n, lengths, at, old, t);
	case 1:
		return MPI_Type_create_hindexed(n, lengths, where, old, t);
	case 2:
		return MPI_Type_create_indexed_block(n, length, at, old, t);
	default:
		return MPI_Type_create_hindexed_block(n, length, where, old, t);
	}
}

/* Members at multiples of 16, so that every library agrees on the padding. */
static int
structure(MPI_Datatype *t)
{
	int n = (int)below(FEW) + 1, lengths[FEW];
	MPI_Aint where[FEW], next = 16 * below(3), lb, extent;
	MPI_Datatype types[FEW];

	for (int i = 0; i < n; i++) {
		types[i] = any();
		lengths[i] = (int)below(3) + 1;
		where[i] = next;
		MPI_Type_get_extent(types[i], &lb, &extent);
		next += (lengths[i] * (extent > 0 ? extent : 16) + 31) / 16 * 16;
	}
	return MPI_Type_create_struct(n, lengths, where, types, t);
}

static int
array(MPI_Datatype *t)
{
	int n = (int)below(3) + 1, sizes[3], subsizes[3], starts[3],
		order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;

	for (int i = 0; i < n; i++) {
		sizes[i] = (int)below(5) + 1;
		subsizes[i] = (int)below(sizes[i]) + 1;
		starts[i] = (int)below(sizes[i] - subsizes[i] + 1);
	}
	return MPI_Type_create_subarray(n, sizes, subsizes, starts, order, basics[below(6)], t);
}

static int
dealt(MPI_Datatype *t)
{
	int n = (int)below(3) + 1, sizes[3], kinds[3], arguments[3], grid[3], size = 1;

	for (int i = 0; i < n; i++) {
		sizes[i] = (int)below(7) + 1;
		grid[i] = (int)below(3) + 1;
		kinds[i] = below(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
		arguments[i] = kinds[i] == MPI_DISTRIBUTE_BLOCK ||
			below(2) ? MPI_DISTRIBUTE_DFLT_DARG : (int)below(3) + 1;
		if (below(4) == 0) {
			grid[i] = 1;
			kinds[i] = MPI_DISTRIBUTE_NONE;
		}
		size *= grid[i];
	}
	return MPI_Type_create_darray(size, (int)below(size), n, sizes, kinds, arguments, grid,
		below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
		basics[below(6)], t);
}

static int
derive(MPI_Datatype *t)
{
	MPI_Datatype old = any();
	MPI_Aint lb, extent;

	switch (below(10)) {
	case 0:
		return MPI_Type_contiguous((int)below(4) + 1, old, t);
	case 1:
		return MPI_Type_dup(old, t);
	case 2:
		MPI_Type_get_extent(old, &lb, &extent);
		return MPI_Type_create_resized(old, lb - 16 * below(2), (extent + 31) / 16 * 16, t);
	case 3:
		return MPI_Type_vector((int)below(4) + 1, (int)below(3) + 1, (int)below(9) - 2, old,
			t);
	case 4:
		return MPI_Type_create_hvector((int)below(4) + 1, (int)below(3) + 1,
			16 * (below(20) - 4), old, t);
	case 5:
	case 6:
		return blocks(t);
	case 7:
		return array(t);
	case 8:
		return dealt(t);
	default:
		return structure(t);
	}
}

/* A type that can be described: small, and not without data. */
static int
is_usable(MPI_Datatype t)
{
	MPI_Aint lb, extent, true_lb, true_extent;
	int size;

	MPI_Type_size(t, &size);
	MPI_Type_get_extent(t, &lb, &extent);
	MPI_Type_get_true_extent(t, &true_lb, &true_extent);
	return size > 0 && size < 20000 && extent > -20000 && extent < 20000 &&
		true_extent < 20000 && true_lb > -20000;
}

static unsigned
sum(const unsigned char *b, long len)
{
	unsigned s = 1;

	for (long i = 0; i < len; i++)
		s = s * 31 + b[i];
	return s;
}

static void
describe_contents(MPI_Datatype t)
{
	int ni, na, nt, combiner, integers[64];
	MPI_Aint addresses[16];
	MPI_Datatype types[16];

	MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
	printf(" combiner %d:", combiner);
	if (combiner == MPI_COMBINER_NAMED || ni > 64 || na > 16 || nt > 16)
		return;
	MPI_Type_get_contents(t, ni, na, nt, integers, addresses, types);
	for (int i = 0; i < ni; i++)
		printf(" %d", integers[i]);
	for (int i = 0; i < na; i++)
		printf(" @%ld", (long)addresses[i]);
	for (int i = 0; i < nt; i++) {
		int inner, size, x;

		MPI_Type_get_envelope(types[i], &x, &x, &x, &inner);
		MPI_Type_size(types[i], &size);
		printf(" (%d %d)", inner, size);
		if (inner != MPI_COMBINER_NAMED)
			MPI_Type_free(&types[i]);
	}
}

static void
describe(struct check *c, MPI_Datatype t, int prints)
{
	static unsigned char memory[2 * BYTES_MAX], copy[2 * BYTES_MAX], packed[BYTES_MAX],
		again[BYTES_MAX], external[BYTES_MAX];
	MPI_Aint lb, extent, true_lb, true_extent, position_external = 0;
	int size, n = (int)below(3) + 1, position = 0, elements, got;
	MPI_Status s;

	MPI_Type_size(t, &size);
	MPI_Type_get_extent(t, &lb, &extent);
	MPI_Type_get_true_extent(t, &true_lb, &true_extent);
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (unsigned char)below(256);
	memset(copy, 0, sizeof(copy));
	MPI_Pack(memory + BYTES_MAX, n, t, packed, BYTES_MAX, &position, MPI_COMM_WORLD);
	if (!with_pairs)
		MPI_Pack_external("external32", memory + BYTES_MAX, n, t, external, BYTES_MAX,
			&position_external);
	MPI_Sendrecv(memory + BYTES_MAX, n, t, 0, 0, copy + BYTES_MAX, n, t, 0, 0, MPI_COMM_SELF,
		&s);
	MPI_Get_count(&s, t, &got);
	MPI_Get_elements(&s, t, &elements);
	CHECK(c, position == n * size && got == n);
	position = 0;
	MPI_Pack(copy + BYTES_MAX, n, t, again, BYTES_MAX, &position, MPI_COMM_WORLD);
	if (prints) {
		printf("size %d lb %ld extent %ld true %ld %ld elements %d packed %u external %u "
			"sent %u", size, (long)lb, (long)extent,
			(long)true_lb, (long)true_extent, with_pairs ? 0 : elements,
			sum(packed, (long)n * size),
			sum(external, (long)position_external), sum(copy, sizeof(copy)));
		describe_contents(t);
		printf("\n");
	}
}

static long
option(int argc, char **argv, const char *name, long otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return atol(argv[i + 1]);
	return otherwise;
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int prints = argc > 1 && strcmp(argv[argc - 1], "--print") == 0 && c.rank == 0;
	long wanted = option(argc, argv, "--types", 200),
		seed = option(argc, argv, "--seed", 1 + c.rank);

	state = (uint64_t)seed * 0x9e3779b97f4a7c15u | 1;
	with_pairs = seed % 2 != 0;
	while (count < BASICS - (with_pairs ? 0 : PAIRS)) {
		known[count].type = basics[count];
		count++;
	}
	for (long i = 0; i < wanted; i++) {
		MPI_Datatype t = MPI_DATATYPE_NULL;
		int place = count < KNOWN ? count : BASICS + (int)below(KNOWN - BASICS);

		CHECK(&c, derive(&t) == MPI_SUCCESS);
		if (!is_usable(t)) {
			MPI_Type_free(&t);
			continue;
		}
		MPI_Type_commit(&t);
		describe(&c, t, prints);
		if (known[place].derived)
			MPI_Type_free(&known[place].type);
		known[place] = (struct known){t, 1};
		count = place == count ? count + 1 : count;
	}
	for (int i = 0; i < count; i++)
		if (known[i].derived)
			MPI_Type_free(&known[i].type);
	if (c.errors > 0)
		fprintf(stderr, "seed %ld\n", seed);
	return check_end(&c);
}
