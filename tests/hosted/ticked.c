/* SPDX-License-Identifier: MIT
 *
 * Ranks that share a time-sharing core, stopped wherever they are. The first argument says what
 * they do:
 *
 *	hold N [threads]	allocate, print and compute with vectors until the core has had N
 *				ticks; `threads`: each rank has a thread of its own besides, which
 *				takes the same libc's locks
 *	keep WAY		compute for ever, `plain` or with `vectors`, but for the last rank,
 *				which ends the job with status 7
 */
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>

#define BLOCKS 24
#define LANES 8
#define VECTORS 12
#define STEPS 300
#define LETTERS 1000

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static const struct startup *self;
/* thread-local: the rank's number, and 1000 more in its second thread */
static __thread unsigned own;
static int failures;
static uint32_t over;			/* the second thread may end */

#define expect(condition) ((condition) ? (void)0 : wrong(__LINE__, #condition))

static void
wrong(int line, const char *what)
{
	__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
	printf("FAIL rank %u line %d: %s (errno %d)\n", self->rank, line, what, errno);
}

/* --- work that notices damage --- */

struct heap {
	unsigned char *block[BLOCKS];
	size_t bytes[BLOCKS];
	uint32_t random;
};

static uint32_t
draw(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void
churn(struct heap *h)
{
	unsigned i = draw(&h->random) % BLOCKS;
	unsigned char mark = (unsigned char)(own + i);
	size_t old = h->bytes[i];

	for (size_t n = 0; n < old; n++)
		if (h->block[i][n] != mark)
			wrong(__LINE__, "a block of the heap was written");
	h->bytes[i] = draw(&h->random) % 16 == 0 ? 200000 + draw(&h->random) % 100000 :
		1 + draw(&h->random) % 600;
	if (draw(&h->random) % 3 == 0) {
		h->block[i] = realloc(h->block[i], h->bytes[i]);
	} else {
		free(h->block[i]);
		h->block[i] = malloc(h->bytes[i]);
	}
	if (h->block[i] == NULL) {
		wrong(__LINE__, "no memory");
		exit(1);
	}
	h->bytes[i] = h->bytes[i] < 600 ? h->bytes[i] : 600;
	memset(h->block[i], mark, h->bytes[i]);
}

/* Formatted into a stream of memory, letter by letter and as numbers, and compared. */
static void
print(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	unsigned number;
	double part;

	expect(f != NULL);
	for (int i = 0; i < LETTERS; i++)
		putc('a' + (int)((unsigned)i + own) % 26, f);
	fprintf(f, "%u %.6f", own, 1.0 / (own + 3));
	expect(fclose(f) == 0 && len > LETTERS);
	for (int i = 0; i < LETTERS; i++)
		if (text[i] != 'a' + (int)((unsigned)i + own) % 26)
			wrong(__LINE__, "a stream was damaged");
	expect(sscanf(text + LETTERS, "%u %lf", &number, &part) == 2 && number == own && part > 0 &&
		part * (own + 3) - 1 < 1e-4);
	free(text);
}

/* Twelve vectors stay in registers; what becomes of each lane is known from plain integers. */
#define COMPUTE \
	lanes v[VECTORS], sum = {0}; \
	for (int i = 0; i < VECTORS; i++) \
		for (int k = 0; k < LANES; k++) \
			v[i][k] = seed + (uint64_t)(i * LANES + k); \
	for (int n = 0; n < STEPS; n++) \
		for (int i = 0; i < VECTORS; i++) { \
			v[i] ^= v[i] << 13; \
			v[i] ^= v[i] >> 7; \
			v[i] ^= v[i] << 17; \
		} \
	for (int i = 0; i < VECTORS; i++) \
		sum += v[i]; \
	return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7]

__attribute__((target("avx512f"), noinline)) static uint64_t compute_512(uint64_t seed) { COMPUTE; }
__attribute__((target("avx2"), noinline)) static uint64_t compute_256(uint64_t seed) { COMPUTE; }
__attribute__((noinline)) static uint64_t compute_128(uint64_t seed) { COMPUTE; }

__attribute__((noinline)) static uint64_t
compute_plain(uint64_t seed)
{
	uint64_t all = 0;

	for (int k = 0; k < LANES; k++) {
		uint64_t sum = 0;

		for (int i = 0; i < VECTORS; i++) {
			uint64_t x = seed + (uint64_t)(i * LANES + k);

			for (int n = 0; n < STEPS; n++) {
				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
			}
			sum += x;
		}
		all ^= sum;
	}
	return all;
}

static uint64_t (*compute)(uint64_t seed) = compute_128;

static void
find_vectors(void)
{
	unsigned a, b, c, d, states = 0;

	if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE))
		__asm__("xgetbv" : "=a"(states) : "c"(0) : "edx");
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return;
	if ((b & bit_AVX2) && (states & 6) == 6)
		compute = compute_256;
	if ((b & bit_AVX512F) && (states & 0xe6) == 0xe6)
		compute = compute_512;
}

static void
work(struct heap *h, uint64_t expected)
{
	unsigned is = own;

	for (int i = 0; i < 8; i++)
		churn(h);
	print();
	expect(compute(is) == expected && own == is);
}

/* --- what the ranks do --- */

static uint64_t
ticks(void)
{
	uint64_t n = 0;

	expect(kcore_count(COUNT_TICKS, &n) >= 0);
	return n;
}

static void *
second_thread(void *arg)
{
	struct heap h = {.random = self->rank + 77};
	uint64_t expected;

	own = self->rank + 1000;
	expected = compute_plain(own);
	while (__atomic_load_n(&over, __ATOMIC_RELAXED) == 0)
		work(&h, expected);
	return arg;
}

static void
hold(uint64_t n, bool threads)
{
	struct heap h = {.random = self->rank};
	uint64_t expected = compute_plain(own), rounds = 0;
	pthread_t second;

	if (threads)
		expect(pthread_create(&second, NULL, second_thread, NULL) == 0);
	for (; ticks() < n; rounds++)
		work(&h, expected);
	over = 1;
	if (threads)
		expect(pthread_join(second, NULL) == 0);
	expect(rounds > 0);
	if (self->rank == 0)
		printf("# %llu ticks, vectors of %s bits\n", (unsigned long long)ticks(),
			compute == compute_512 ? "512" : compute == compute_256 ? "256" : "128");
}

static void
keep(bool vectors)
{
	if (self->rank == self->ranks - 1)
		kproc_exit(7);
	for (;;)
		if (vectors)
			compute(1);
		else
			__asm__ volatile("" : : : "memory");
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	self = atoll_startup();
	own = self->rank;
	find_vectors();
	if (strcmp(what, "hold") == 0)
		hold(strtoull(argv[2], NULL, 0), argc > 3);
	else
		keep(strcmp(argv[2], "vectors") == 0);
	return failures != 0;
}
