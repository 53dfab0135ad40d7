/* SPDX-License-Identifier: MIT
 *
 * The cpio reader.
 *
 * needs: base/cpio.c base/str.c
 */
#include <abi/errors.h>
#include <base/cpio.h>
#include <base/test.h>

static size_t
add_of(char *to, size_t at, const char *name, const char *data, unsigned mode)
{
	at += (size_t)sprintf(to + at,
		"070701%08X%08X%08X%08X%08X%08X%08zX%08X%08X%08X%08X%08zX%08X%s", 1, mode, 0, 0,
		1, 0,
	    strlen(data), 0, 0, 0, 0, strlen(name) + 1, 0, name) + 1;
	at = (at + 3) & ~(size_t)3;
	memcpy(to + at, data, strlen(data));
	return (at + strlen(data) + 3) & ~(size_t)3;
}

static size_t
add(char *to, size_t at, const char *name, const char *data)
{
	return add_of(to, at, name, data, 0100644);
}

static char *
make(size_t *len)
{
	char *p = calloc(1, 1024);
	size_t at = add(p, 0, "etc/job", "ranks 4\n");

	at = add(p, at, "./bin/fn", "xyz");
	at = add_of(p, at, "bin/gf", "/bin/fn", 0120777);
	at = add(p, at, "empty", "");
	*len = add(p, at, "TRAILER!!!", "");
	return p;
}

TEST(files_are_found_by_name)
{
	size_t len;
	char *p = make(&len);
	struct cpio_file f;

	expect_eq(cpio_find(p, len, "etc/job", &f), 0);
	expect_eq(f.bytes, 8);
	expect(memcmp(f.data, "ranks 4\n", 8) == 0);
	expect_eq(f.mode, 0100644);
	expect_eq(cpio_find(p, len, "bin/fn", &f), 0);
	expect_eq(f.bytes, 3);
	expect_eq((uintptr_t)f.data % 4, 0);
	expect_eq(cpio_find(p, len, "empty", &f), 0);
	expect_eq(f.bytes, 0);
	expect_eq(cpio_find(p, len, "bin", &f), -E_NOENT);
	free(p);
}

TEST(a_link_is_the_file_that_it_names)
{
	static const char *const bad[] = {"bin/fn", "/bin/f", "/bin/fnn", "/bin/gf", "/", ""};
	size_t len, at = 0;
	char *p = make(&len);
	struct cpio_file f, to;
	int n = 0;

	expect_eq(cpio_find(p, len, "bin/gf", &f), 0);
	expect_eq(cpio_find(p, len, "bin/fn", &to), 0);
	expect(f.data == to.data && f.bytes == 3 && f.mode == 0100644);
	expect(strcmp(f.name, "bin/gf") == 0);
	while (cpio_next(p, len, &at, &f) > 0)
		n += f.data == to.data;
	expect_eq(n, 2);
	free(p);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		p = calloc(1, 1024);
		at = add(p, 0, "./bin/fn", "xyz");
		at = add_of(p, at, "bin/gf", bad[i], 0120777);
		len = add(p, at, "TRAILER!!!", "");
		expect_eq(cpio_find(p, len, "bin/gf", &f), -E_INVAL);
		at = 0;
		expect_eq(cpio_next(p, len, &at, &f), 1);
		expect_eq(cpio_next(p, len, &at, &f), -E_INVAL);
		free(p);
	}
}

TEST(a_truncated_archive_is_malformed_at_every_length)
{
	size_t len;
	char *whole = make(&len);
	struct cpio_file f;

	for (size_t n = 0; n < len - 1; n++) {
		char *p = malloc(n ? n : 1);
		int result;

		memcpy(p, whole, n);
		result = cpio_find(p, n, "nothing", &f);
		expect(result == -E_INVAL || n + 3 >= len);
		free(p);
	}
	free(whole);
}

TEST(any_flipped_byte_is_survived)
{
	size_t len;

	for (size_t i = 0;; i++) {
		char *p = make(&len);
		char *exact = malloc(len);
		struct cpio_file f;

		if (i >= len) {
			free(p);
			free(exact);
			break;
		}
		p[i] ^= 0x40;
		memcpy(exact, p, len);
		cpio_find(exact, len, "nothing", &f);
		free(p);
		free(exact);
	}
}

TEST(lengths_beyond_the_archive_are_malformed)
{
	size_t len;
	char *p = make(&len);
	struct cpio_file f;

	memcpy(p + 6 + 6 * 8, "FFFFFFF0", 8);
	expect_eq(cpio_find(p, len, "bin/fn", &f), -E_INVAL);
	memcpy(p + 6 + 6 * 8, "00000008", 8);
	memcpy(p + 6 + 11 * 8, "00000000", 8);
	expect_eq(cpio_find(p, len, "bin/fn", &f), -E_INVAL);
	memcpy(p + 6 + 11 * 8, "FFFFFFFF", 8);
	expect_eq(cpio_find(p, len, "bin/fn", &f), -E_INVAL);
	memcpy(p + 6 + 11 * 8, "0000000G", 8);
	expect_eq(cpio_find(p, len, "bin/fn", &f), -E_INVAL);
	free(p);
}

int
main(void)
{
	RUN(files_are_found_by_name);
	RUN(a_link_is_the_file_that_it_names);
	RUN(a_truncated_archive_is_malformed_at_every_length);
	RUN(any_flipped_byte_is_survived);
	RUN(lengths_beyond_the_archive_are_malformed);
	return TEST_FAILED;
}
