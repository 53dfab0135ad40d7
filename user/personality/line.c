/* SPDX-License-Identifier: MIT
 *
 * See line.h.
 */
#include <atoll/server.h>
#include <base/str.h>
#include <user/personality/line.h>

#define DIGITS_MAX 20

void
line_text(struct line *l, const char *text)
{
	while (*text != 0 && l->len < LINE_BYTES)
		l->text[l->len++] = *text++;
	l->text[l->len] = 0;
}

void
line_number(struct line *l, uint64_t value, uint32_t base)
{
	char digits[DIGITS_MAX + 1];
	char *at = digits + DIGITS_MAX;

	*at = 0;
	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value > 0);
	line_text(l, at);
}

void
line_say(const struct line *l)
{
	console_put(l->text, l->len);
}

void
line_say_text(const char *text)
{
	console_put(text, (uint32_t)str_len(text));
}
