/* SPDX-License-Identifier: MIT
 *
 * Derived types against naive type maps: nested at random, packed and unpacked whole and in pieces.
 * SEED=n repeats a run.
 * needs: mpi/core/type.c mpi/core/derived.c mpi/core/type_make.c mpi/core/type_move.c
 *	mpi/core/shape.c mpi/core/shape_basic.c
 *	mpi/core/shape_move.c mpi/core/shape_count.c mpi/core/handle.c
 */
#include <base/test.h>
#include <mpi/core/rank.h>
#include <mpi/core/typemap_test.h>

#define KNOWN 24
#define BYTES_MAX (4 * MAP_MAX * 16)

static struct mpi_rank rank;
static struct map known[KNOWN];
static long at[BYTES_MAX];
static unsigned long long seed_now;

struct mpi_rank *
mpi_self(void)
{
	return &rank;
}

#define SAME(a, b) \
	do { \
		long long a_ = (long long)(a), b_ = (long long)(b); \
		if (a_ != b_) \
			fprintf(stderr, "SEED=%llu: %s is %lld, should be %lld\n", seed_now, #a, \
				a_, b_); \
		expect(a_ == b_); \
	} while (0)

static void
check_numbers(const struct map *m)
{
	const struct type *t = m->type;
	long low, high, size = 0;

	for (int i = 0; i < m->entries; i++)
		size += m->entry[i].size;
	map_range(m, &low, &high);
	SAME(t->size, size);
	SAME(t->lb, m->any ? m->lb : 0);
	SAME(t->extent, map_extent(m));
	SAME(t->true_lb, low);
	SAME(t->true_extent, high - low);
	SAME(mpi_type_shape(t)->size, size);
	SAME(mpi_type_shape(t)->elements, m->entries);
}

/*
 * A block of memory for count elements, filled with what no other byte has; the buffer's address in
 * it.
 */
static unsigned char *
memory_for(long bytes, unsigned char **buffer, long *length)
{
	unsigned char *memory;
	long low = 0, high = 0;

	for (long i = 0; i < bytes; i++) {
		low = at[i] < low ? at[i] : low;
		high = at[i] + 1 > high ? at[i] + 1 : high;
	}
	*length = high - low;
	memory = malloc((size_t)*length + 1);
	for (long i = 0; i < *length; i++)
		memory[i] = (unsigned char)map_random(256);
	*buffer = memory - low;
	return memory;
}

/* Packs [from, to) in a block of its own, so that a byte too much is found. */
static void
check_piece(const struct map *m, const unsigned char *buffer, long from, long to)
{
	unsigned char *out = malloc((size_t)(to - from) + 1);
	long wrong = 0;

	mpi_type_pack(m->type, buffer, from, out, to - from);
	for (long i = from; i < to; i++)
		wrong += out[i - from] != buffer[at[i]];
	SAME(wrong, 0);
	free(out);
}

static void
check_unpacked(const struct map *m, long bytes)
{
	unsigned char *buffer, *memory, *expected, *in = malloc((size_t)bytes + 1);
	long length, from = bytes > 0 ? map_random(bytes + 1) : 0, to = from + (bytes > from
		? map_random(bytes - from + 1) : 0);

	memory = memory_for(bytes, &buffer, &length);
	expected = malloc((size_t)length + 1);
	memcpy(expected, memory, (size_t)length);
	for (long i = 0; i < bytes; i++)
		in[i] = (unsigned char)map_random(256);
	for (long i = from; i < to; i++)
		expected[buffer - memory + at[i]] = in[i];
	mpi_type_unpack(m->type, buffer, from, in + from, to - from);
	SAME(memcmp(memory, expected, (size_t)length), 0);
	free(expected);
	free(memory);
	free(in);
}

static void
check_moves(const struct map *m)
{
	long count = map_random(4), bytes = map_bytes(m, count, at), length;
	unsigned char *buffer, *memory = memory_for(bytes, &buffer, &length);

	check_piece(m, buffer, 0, bytes);
	for (int i = 0; i < 8; i++) {
		long from = map_random(bytes + 1), to = from + map_random(bytes - from + 1);

		check_piece(m, buffer, from, to);
	}
	free(memory);
	check_unpacked(m, bytes);
}

/* Elements in each number of bytes, and back. */
static void
check_elements(const struct map *m)
{
	MPI_Count bytes = 0;

	for (int i = 0; i < m->entries; i++) {
		SAME(mpi_type_basic_bytes(m->type, i), bytes);
		SAME(mpi_type_basic_elements(m->type, bytes), i);
		if (m->entry[i].size > 1)
			SAME(mpi_type_basic_elements(m->type, bytes + 1), MPI_UNDEFINED);
		bytes += m->entry[i].size;
	}
	if (m->entries > 0)
		SAME(mpi_type_basic_elements(m->type, 3 * bytes), 3 * m->entries);
}

static void
check_signature(const struct map *m)
{
	uint64_t signature = 0;

	for (int i = 0; i < m->entries; i++)
		signature = signature * SIGNATURE_FACTOR + SIGNATURE_OF(m->entry[i].rep);
	expect(mpi_type_shape(m->type)->signature == signature);
}

static void
one_family(void)
{
	int n = 0;

	while (n < 4)
		map_basic(&known[n++]);
	for (int tries = 0; tries < 3 * KNOWN && n < KNOWN; tries++)
		if (map_derive(&known[n], known, n))
			n++;
	for (int i = 0; i < n; i++) {
		check_numbers(&known[i]);
		check_moves(&known[i]);
		check_elements(&known[i]);
		check_signature(&known[i]);
	}
	/* parents first or children first: the rest keeps what it needs */
	for (int i = 0; i < n; i++)
		mpi_type_release(known[i].type);
}

TEST(random_types_move_what_their_type_maps_say)
{
	const char *given = getenv("SEED");
	unsigned long long first = given ? strtoull(given, NULL, 0) : 1;

	for (unsigned long long seed = first; seed < first + (given ? 1 : 150); seed++) {
		seed_now = seed;
		map_seed = seed * 0x9e3779b97f4a7c15u | 1;
		one_family();
	}
}

static struct type *
make(struct type_arguments a)
{
	struct type *t = NULL;

	expect_eq(mpi_type_make(&a, &t), MPI_SUCCESS);
	return t;
}

TEST(what_is_regular_becomes_a_loop_and_what_touches_one_piece)
{
	MPI_Count at_[] = {0, 3, 6, 9}, touching[] = {0, 1, 2, 3}, blocks[] = {1, 1, 1, 1};
	struct type *i32 = mpi_type_find(MPI_INT);
	struct type *t = make((struct type_arguments){.combiner = MPI_COMBINER_INDEXED, .count = 4,
		.blocks = blocks, .displacements = at_,
		.old = i32});
	struct type *u = make((struct type_arguments){.combiner = MPI_COMBINER_INDEXED, .count = 4,
		.blocks = blocks,
		.displacements = touching, .old = i32});

	expect_eq(mpi_type_shape(t)->kind, SHAPE_LOOP);
	expect(!mpi_type_is_plain(t) && mpi_type_is_plain(u));
	mpi_type_release(t);
	mpi_type_release(u);
}

TEST(numbers_beyond_63_bits_are_refused)
{
	struct type *c = mpi_type_find(MPI_CHAR), *d = mpi_type_find(MPI_DOUBLE), *t = NULL;
	MPI_Count far[] = {-INT64_MAX, INT64_MAX}, one[] = {1, 1},
		half[] = {INT64_MAX / 2, INT64_MAX / 2 + 2};
	struct type_arguments a = {.combiner = MPI_COMBINER_CONTIGUOUS, .count = INT64_MAX / 4,
		.old = d};

	expect_eq(mpi_type_make(&a, &t), MPI_ERR_VALUE_TOO_LARGE);
	a = (struct type_arguments){.combiner = MPI_COMBINER_VECTOR, .count = 2, .block = 1,
		.stride = INT64_MAX / 2, .old = d};
	expect_eq(mpi_type_make(&a, &t), MPI_ERR_VALUE_TOO_LARGE);
	a = (struct type_arguments){.combiner = MPI_COMBINER_HINDEXED, .count = 2, .blocks = one,
		.displacements = far, .old = c};
	expect_eq(mpi_type_make(&a, &t), MPI_ERR_VALUE_TOO_LARGE);
	a = (struct type_arguments){.combiner = MPI_COMBINER_HINDEXED, .count = 2, .blocks = half,
		.displacements = one, .old = c};
	expect_eq(mpi_type_make(&a, &t), MPI_ERR_VALUE_TOO_LARGE);
	expect(t == NULL);
}

TEST(counts_beyond_32_bits_work)
{
	struct type *big = make((struct type_arguments){.combiner = MPI_COMBINER_CONTIGUOUS,
		.count = 3000000000, .old = mpi_type_find(MPI_INT)});
	struct type *wide = make((struct type_arguments){.combiner = MPI_COMBINER_HVECTOR,
		.count = 2, .block = 1, .stride = 40000000000,
		.old = big});

	expect_eq(big->size, 12000000000);
	expect_eq(wide->size, 24000000000);
	expect_eq(wide->extent, 52000000000);
	expect_eq(mpi_type_basic_elements(wide, 12000000004), 3000000001);
	mpi_type_release(big);
	mpi_type_release(wide);
}

/* A chain of structures, each with the one before and a byte of its own. */
TEST(deep_nesting_stays_shallow_and_needs_no_stack)
{
	enum { LEVELS = 3000 };
	struct type *c = mpi_type_find(MPI_CHAR), *t = c;
	unsigned char in[2 * LEVELS + 2], out[LEVELS + 1];
	int wrong = 0;

	for (int i = 0; i < LEVELS; i++) {
		MPI_Count blocks[] = {1, 1}, at_[] = {0, 2 * (i + 1)};
		struct type *types[] = {t, c}, *old = t;

		t = make((struct type_arguments){.combiner = MPI_COMBINER_STRUCT, .count = 2,
			.blocks = blocks, .displacements = at_,
			.types = types});
		mpi_type_release(old);
	}
	expect(mpi_type_shape(t)->depth < 200);
	for (int i = 0; i < 2 * LEVELS + 2; i++)
		in[i] = (unsigned char)(i * 7 + i / 256);
	mpi_type_pack(t, in, 0, out, LEVELS + 1);
	for (int i = 0; i <= LEVELS; i++)
		wrong += out[i] != in[2 * i];
	expect_eq(wrong, 0);
	mpi_type_release(t);
}

TEST(types_of_different_making_have_one_signature)
{
	struct type *i32 = mpi_type_find(MPI_INT), *f64 = mpi_type_find(MPI_DOUBLE);
	struct type *three = make((struct type_arguments){.combiner = MPI_COMBINER_CONTIGUOUS,
		.count = 3, .old = i32});
	struct type *vector = make((struct type_arguments){.combiner = MPI_COMBINER_VECTOR,
		.count = 3, .block = 2, .stride = 5, .old = i32});

	expect(mpi_type_signature_equal(three, 4, i32, 12));
	expect(mpi_type_signature_equal(three, 4, vector, 2));
	expect(!mpi_type_signature_equal(three, 4, i32, 11));
	expect(!mpi_type_signature_equal(three, 4, f64, 12));
	mpi_type_release(three);
	mpi_type_release(vector);
}

TEST(data_goes_from_any_type_to_any_other)
{
	struct type *i32 = mpi_type_find(MPI_INT);
	struct type *a = make((struct type_arguments){.combiner = MPI_COMBINER_VECTOR,
		.count = 1000, .block = 2, .stride = 3, .old = i32});
	struct type *b = make((struct type_arguments){.combiner = MPI_COMBINER_VECTOR,
		.count = 2000, .block = 1, .stride = 2, .old = i32});
	static int in[3000], out[4000];
	int wrong = 0;

	for (int i = 0; i < 3000; i++)
		in[i] = i;
	mpi_type_copy(b, out, a, in, a->size);
	for (int i = 0; i < 2000; i++)
		wrong += out[2 * i] != i / 2 * 3 + i % 2;
	expect_eq(wrong, 0);
	mpi_type_copy(i32, out, a, in, 400);
	expect(out[99] == 148 && out[100] == 75);
	mpi_type_release(a);
	mpi_type_release(b);
}

int
main(void)
{
	rank.tables[HANDLE_TYPE].kind = HANDLE_TYPE;
	RUN(random_types_move_what_their_type_maps_say);
	RUN(what_is_regular_becomes_a_loop_and_what_touches_one_piece);
	RUN(numbers_beyond_63_bits_are_refused);
	RUN(counts_beyond_32_bits_work);
	RUN(deep_nesting_stays_shallow_and_needs_no_stack);
	RUN(types_of_different_making_have_one_signature);
	RUN(data_goes_from_any_type_to_any_other);
	return TEST_FAILED;
}
