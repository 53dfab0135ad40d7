/* SPDX-License-Identifier: MIT
 *
 * Formatted text into a buffer, as printf does: %d %i %u %x %X %c %s %p %%, the flags - and 0, a
 * width, a precision for %s, each number also with l, ll, z. Anything else is copied as it stands.
 */
#ifndef BASE_FMT_H
#define BASE_FMT_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Write into `buf` of `size` bytes, always ended by a zero byte if size is not 0; what does not fit
 * is cut. Returns the length that the whole text has, as snprintf does.
 */
int fmt_print(char *buf, size_t size, const char *format,
	...) __attribute__((format(printf, 3, 4)));
int fmt_vprint(char *buf, size_t size, const char *format,
	va_list args) __attribute__((format(printf, 3, 0)));

#endif
