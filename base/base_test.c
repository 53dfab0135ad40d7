/* SPDX-License-Identifier: MIT
 *
 * Lists, rings, bitmaps, texts, numbers and formatting.
 *
 * needs: base/bitmap.c base/str.c base/fmt.c base/parse.c
 */
#include <limits.h>
#include <base/bitmap.h>
#include <base/fmt.h>
#include <base/list.h>
#include <base/parse.h>
#include <base/ring.h>
#include <base/str.h>
#include <base/test.h>

struct thing {
	int value;
	struct list node;
};

TEST(a_list_keeps_the_order_and_survives_removal_while_walking)
{
	struct list head, *node, *after;
	struct thing things[4] = {{.value = 0}, {.value = 1}, {.value = 2}, {.value = 3}};
	int sum = 0;

	list_init(&head);
	expect(list_is_empty(&head));
	expect(list_pop_front(&head) == NULL);
	for (int i = 0; i < 3; i++)
		list_push_back(&head, &things[i].node);
	list_push_front(&head, &things[3].node);
	list_each(node, after, &head)
		if (list_entry(node, struct thing, node)->value == 1)
			list_remove(node);
	list_remove(&things[1].node);
	while ((node = list_pop_front(&head)) != NULL)
		sum = sum * 10 + list_entry(node, struct thing, node)->value;
	expect_eq(sum, 302);
}

TEST(ring_counters_wrap)
{
	uint32_t got = UINT32_MAX - 1, put = got;

	expect(ring_is_empty(put, got));
	put += 4;
	expect(ring_is_full(put, got, 4));
	expect_eq(ring_used(put, got), 4);
	expect_eq(ring_slot(put, 4), 2);
	expect_eq(ring_slots(5), 8);
	expect_eq(ring_slots(1), 1);
	expect_eq(ring_slots(8), 8);
}

TEST(bitmaps_find_clear_bits_and_runs)
{
	uint32_t map[3] = {UINT32_MAX, UINT32_MAX, 0};

	expect_eq(bitmap_find_clear(map, 96, 0), 64);
	expect_eq(bitmap_find_clear(map, 64, 0), -1);
	bitmap_clear(map, 33);
	expect_eq(bitmap_find_clear(map, 96, 0), 33);
	expect_eq(bitmap_find_clear(map, 96, 34), 64);
	expect_eq(bitmap_find_clear_run(map, 96, 0, 2), 64);
	expect_eq(bitmap_find_clear_run(map, 96, 0, 32), 64);
	expect_eq(bitmap_find_clear_run(map, 96, 0, 33), -1);
	for (uint32_t i = 0; i < 64; i++) {
		bitmap_clear(map, i);
		expect_eq(bitmap_find_clear(map, 64, 0), i < 33 ? i : 33);
		expect_eq(bitmap_find_clear(map, 64, i), i);
		expect_eq(bitmap_find_clear(map, i, 0), i > 33 ? 33 : -1);
		if (i != 33)
			bitmap_set(map, i);
	}
	bitmap_set(map, 70);
	expect_eq(bitmap_count(map, 96), 64);
	expect(bitmap_test(map, 70) && !bitmap_test(map, 33));
}

TEST(texts_are_cut_and_compared)
{
	char buf[4];

	expect_eq(str_copy(buf, sizeof(buf), "abcdef"), 3);
	expect_str(buf, "abc");
	expect(str_is_equal("", "") && !str_is_equal("a", "ab") && !str_is_equal("ab", "a"));
	expect_eq(str_len_max("abc", 2), 2);
	expect_eq(str_len("abc"), 3);
}

static void
expect_number(const char *s, bool good, uint64_t want)
{
	uint64_t value = 0;

	expect_eq(text_number((struct text){s, strlen(s)}, &value), good);
	if (good)
		expect_eq(value, want);
}

TEST(numbers_are_read_whole_or_not_at_all)
{
	expect_number("0", true, 0);
	expect_number("18446744073709551615", true, UINT64_MAX);
	expect_number("0xffffffffffffffff", true, UINT64_MAX);
	expect_number("18446744073709551616", false, 0);
	expect_number("0x10000000000000000", false, 0);
	expect_number("", false, 0);
	expect_number("0x", false, 0);
	expect_number("12a", false, 0);
	expect_number("-1", false, 0);
	expect_number(" 1", false, 0);
}

TEST(lines_and_words_are_cut_off)
{
	struct text rest = {"  a  bc \r\n\nd", 13}, line, word;

	rest.len = strlen(rest.at);
	expect(text_line(&rest, &line) && text_word(&line, &word) && text_is(word, "a"));
	expect(text_word(&line, &word) && text_is(word, "bc") && !text_is(word, "b") &&
		!text_is(word, "bcd"));
	expect(!text_word(&line, &word));
	expect(text_line(&rest, &line) && line.len == 0);
	expect(text_line(&rest, &line) && text_is(line, "d"));
	expect(!text_line(&rest, &line));
}

#define SAME(...) \
	do { \
		char have[128], want[128]; \
		int n = fmt_print(have, sizeof(have), __VA_ARGS__); \
		expect_eq(n, snprintf(want, sizeof(want), __VA_ARGS__)); \
		expect_str(have, want); \
	} while (0)

TEST(formatting_is_that_of_printf)
{
	SAME("plain %% %c|%s|%5s|%-5s|%.2s|", 'x', "abc", "ab", "ab", "abc");
	SAME("%d %d %u %x %X", 0, INT_MIN, UINT_MAX, 0xbeefu, 0xbeefu);
	SAME("%5d|%-5d|%05d|%08x|%3d", -42, -42, -42, 0x1fu, 12345);
	SAME("%ld %lu %lx %lld %llu %llx %zu", LONG_MIN, ULONG_MAX, 1ul << 40, LLONG_MIN,
		ULLONG_MAX, 1ull << 63, (size_t)7);
	SAME("%p", (void *)0x1234);
}

TEST(formatting_cuts_what_does_not_fit)
{
	char buf[5] = "xxxx";

	expect_eq(fmt_print(buf, sizeof(buf), "%d", 1234567), 7);
	expect_str(buf, "1234");
	expect_eq(fmt_print(NULL, 0, "%s", "abc"), 3);
	expect_eq(fmt_print(buf, 1, "abc"), 3);
	expect_str(buf, "");
}

int
main(void)
{
	RUN(a_list_keeps_the_order_and_survives_removal_while_walking);
	RUN(ring_counters_wrap);
	RUN(bitmaps_find_clear_bits_and_runs);
	RUN(texts_are_cut_and_compared);
	RUN(numbers_are_read_whole_or_not_at_all);
	RUN(lines_and_words_are_cut_off);
	RUN(formatting_is_that_of_printf);
	RUN(formatting_cuts_what_does_not_fit);
	return TEST_FAILED;
}
