/* SPDX-License-Identifier: MIT
 *
 * Taking texts apart.
 */
#include <base/parse.h>

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void
skip_blanks(struct text *t)
{
	while (t->len > 0 && is_blank(*t->at)) {
		t->at++;
		t->len--;
	}
}

bool
text_line(struct text *rest, struct text *line)
{
	size_t n = 0;

	if (rest->len == 0)
		return false;
	while (n < rest->len && rest->at[n] != '\n')
		n++;
	*line = (struct text){rest->at, n};
	if (n < rest->len)
		n++;
	rest->at += n;
	rest->len -= n;
	skip_blanks(line);
	while (line->len > 0 && is_blank(line->at[line->len - 1]))
		line->len--;
	return true;
}

bool
text_word(struct text *rest, struct text *word)
{
	size_t n = 0;

	skip_blanks(rest);
	if (rest->len == 0)
		return false;
	while (n < rest->len && !is_blank(rest->at[n]))
		n++;
	*word = (struct text){rest->at, n};
	rest->at += n;
	rest->len -= n;
	skip_blanks(rest);
	return true;
}

bool
text_is(struct text t, const char *s)
{
	size_t i = 0;

	for (; i < t.len; i++)
		if (s[i] == '\0' || s[i] != t.at[i])
			return false;
	return s[i] == '\0';
}

static int
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

bool
text_number(struct text t, uint64_t *value)
{
	bool hex = t.len > 2 && t.at[0] == '0' && t.at[1] == 'x';
	unsigned base = hex ? 16 : 10;
	size_t i = hex ? 2 : 0;

	if (i == t.len)
		return false;
	for (*value = 0; i < t.len; i++) {
		unsigned digit = (unsigned)digit_value(t.at[i]);

		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return true;
}
