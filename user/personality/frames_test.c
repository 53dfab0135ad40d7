/* SPDX-License-Identifier: MIT
 *
 * Unit tests of the console's frames.
 */
/* needs: user/personality/frames.c base/str.c */
#include <base/str.h>
#include <base/test.h>
#include <user/personality/frames.h>

TEST(a_frame_says_its_kind_its_head_and_its_text)
{
	struct frame f;

	frame_begin(&f, 'e', "1a;");
	expect_eq(frame_add(&f, "text\n", 5), 5);
	frame_end(&f);
	expect_eq(f.len, 2 + 3 + 5 + 2);
	expect(memcmp(f.text, "\020e1a;text\n\020\n", f.len) == 0);
}

TEST(a_mark_in_the_text_stands_twice)
{
	struct frame f;

	frame_begin(&f, 'o', "");
	expect_eq(frame_add(&f, "a\020b\020", 4), 4);
	frame_end(&f);
	expect_eq(f.len, 2 + 6 + 2);
	expect(memcmp(f.text, "\020oa\020\020b\020\020\020\n", f.len) == 0);
	expect(frame_needed("a\020", 2) && !frame_needed("a\020", 1) && !frame_needed("", 0));
}

TEST(a_frame_takes_what_fits_into_one_write)
{
	static char marks[CONSOLE_WRITE_MAX], letters[CONSOLE_WRITE_MAX];
	struct frame f;

	memset(marks, FRAME_DLE, sizeof(marks));
	memset(letters, 'x', sizeof(letters));
	for (size_t lead = 0; lead < 4; lead++) {
		size_t taken;

		frame_begin(&f, 'o', "");
		expect_eq(frame_add(&f, letters, lead), lead);
		taken = frame_add(&f, marks, sizeof(marks));
		expect(taken > 200 && taken < sizeof(marks));
		frame_end(&f);
		expect(f.len <= CONSOLE_WRITE_MAX && f.len > CONSOLE_WRITE_MAX - 3);
	}
}

int
main(void)
{
	RUN(a_frame_says_its_kind_its_head_and_its_text);
	RUN(a_mark_in_the_text_stands_twice);
	RUN(a_frame_takes_what_fits_into_one_write);
	return TEST_FAILED;
}
