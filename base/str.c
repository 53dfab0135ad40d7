/* SPDX-License-Identifier: MIT
 *
 * Texts.
 */
#include <base/str.h>

size_t
str_len(const char *s)
{
	size_t n = 0;

	while (s[n] != '\0')
		n++;
	return n;
}

size_t
str_len_max(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n] != '\0')
		n++;
	return n;
}

bool
str_is_equal(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

size_t
str_copy(char *to, size_t size, const char *from)
{
	size_t n = 0;

	for (; n + 1 < size && from[n] != '\0'; n++)
		to[n] = from[n];
	to[n] = '\0';
	return n;
}
