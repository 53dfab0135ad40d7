/* SPDX-License-Identifier: MIT
 *
 * Unit tests: each test is a function named as a sentence. A test file looks like this:
 *
 *	TEST(a_full_ring_says_so) { expect(ring_is_full(4, 0, 4)); expect_eq(ring_used(4, 1), 3); }
 *	int main(void) { RUN(a_full_ring_says_so); return TEST_FAILED; }
 *
 * Each test prints `ok NAME` or `FAIL NAME: why`; the exit status is 0 or 1. For hosted programs.
 */
#ifndef BASE_TEST_H
#define BASE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_state {
	int failed;		/* tests */
	int wrong;		/* expectations of the running test */
	const char *name;
};

static struct test_state test_state;

static inline void
test_wrong(const char *file, int line, const char *what)
{
	printf("FAIL %s: %s:%d: %s\n", test_state.name, file, line, what);
	test_state.wrong++;
}

static inline void
test_compare(const char *file, int line, const char *what, long long have, long long want)
{
	char text[256];

	if (have == want)
		return;
	snprintf(text, sizeof(text), "%s is %lld, not %lld", what, have, want);
	test_wrong(file, line, text);
}

static inline void
test_run(const char *name, void (*test)(void))
{
	test_state.name = name;
	test_state.wrong = 0;
	test();
	if (test_state.wrong == 0)
		printf("ok %s\n", name);
	else
		test_state.failed++;
	fflush(stdout);
}

#define TEST(name) static void test_##name(void)
#define RUN(name) test_run(#name, test_##name)
#define TEST_FAILED (test_state.failed != 0)

#define expect(condition) ((condition) ? (void)0 : test_wrong(__FILE__, __LINE__, #condition))
#define expect_eq(have, want) test_compare(__FILE__, __LINE__, #have, (long long)(have), \
	(long long)(want))
#define expect_str(have, want) (strcmp(have, want) == 0 ? (void)0 : \
	test_wrong(__FILE__, __LINE__, have))

#endif
