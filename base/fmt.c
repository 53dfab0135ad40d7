/* SPDX-License-Identifier: MIT
 *
 * Formatted text. No floating point, no memory of its own, no division by anything but 10 and 16.
 */
#include <stdbool.h>
#include <stdint.h>
#include <base/fmt.h>
#include <base/str.h>

struct sink {
	char *buf;
	size_t size;
	size_t len;
};

struct spec {
	bool left;
	bool zero;
	size_t width;
	size_t precision;
	int longs;		/* number of l (z counts as one) */
};

static void
fmt_put(struct sink *s, char c)
{
	if (s->len + 1 < s->size)
		s->buf[s->len] = c;
	s->len++;
}

static void
put_padded(struct sink *s, const struct spec *p, const char *text, size_t len)
{
	size_t pad = len < p->width ? p->width - len : 0;
	bool zero = p->zero && !p->left;

	if (zero && len > 0 && *text == '-') {
		fmt_put(s, '-');
		text++;
		len--;
	}
	for (size_t i = 0; !p->left && i < pad; i++)
		fmt_put(s, zero ? '0' : ' ');
	for (size_t i = 0; i < len; i++)
		fmt_put(s, text[i]);
	for (size_t i = 0; p->left && i < pad; i++)
		fmt_put(s, ' ');
}

static void
put_number(struct sink *s, const struct spec *p, unsigned long long value, bool negative,
	const char *digits)
{
	char text[24];
	size_t at = sizeof(text);
	bool hex = digits[10] != '\0';

	do {
		text[--at] = digits[hex ? value & 15 : value % 10];
		value = hex ? value >> 4 : value / 10;
	} while (value != 0);
	if (negative)
		text[--at] = '-';
	put_padded(s, p, text + at, sizeof(text) - at);
}

static size_t
read_number(const char **format)
{
	size_t n = 0;

	for (; **format >= '0' && **format <= '9'; (*format)++)
		n = n * 10 + (size_t)(**format - '0');
	return n < 4096 ? n : 4096;
}

static const char *
read_spec(struct spec *p, const char *format)
{
	*p = (struct spec){.precision = SIZE_MAX};
	for (; *format == '-' || *format == '0'; format++) {
		p->left |= *format == '-';
		p->zero |= *format == '0';
	}
	p->width = read_number(&format);
	if (*format == '.') {
		format++;
		p->precision = read_number(&format);
	}
	for (; *format == 'l' || *format == 'z'; format++)
		p->longs++;
	return format;
}

static unsigned long long
next_unsigned(const struct spec *p, va_list *args)
{
	if (p->longs == 0)
		return va_arg(*args, unsigned);
	return p->longs == 1 ? va_arg(*args, unsigned long) : va_arg(*args, unsigned long long);
}

static long long
next_signed(const struct spec *p, va_list *args)
{
	if (p->longs == 0)
		return va_arg(*args, int);
	return p->longs == 1 ? va_arg(*args, long) : va_arg(*args, long long);
}

static void
put_signed(struct sink *s, const struct spec *p, long long value)
{
	put_number(s, p, value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value,
		value < 0, "0123456789");
}

static void
put_text(struct sink *s, const struct spec *p, const char *text)
{
	if (text == NULL)
		text = "(null)";
	put_padded(s, p, text, str_len_max(text, p->precision));
}

/* One conversion; false if its letter is unknown. */
static bool
convert(struct sink *s, const struct spec *p, char letter, va_list *args)
{
	char c;

	switch (letter) {
	case 'd':
	case 'i':
		put_signed(s, p, next_signed(p, args));
		return true;
	case 'u':
		put_number(s, p, next_unsigned(p, args), false, "0123456789");
		return true;
	case 'x':
		put_number(s, p, next_unsigned(p, args), false, "0123456789abcdef");
		return true;
	case 'X':
		put_number(s, p, next_unsigned(p, args), false, "0123456789ABCDEF");
		return true;
	case 'p':
		fmt_put(s, '0');
		fmt_put(s, 'x');
		put_number(s, p, (uintptr_t)va_arg(*args, void *), false, "0123456789abcdef");
		return true;
	case 's':
		put_text(s, p, va_arg(*args, const char *));
		return true;
	case 'c':
		c = (char)va_arg(*args, int);
		put_padded(s, p, &c, 1);
		return true;
	default:
		return false;
	}
}

int
fmt_vprint(char *buf, size_t size, const char *format, va_list args)
{
	struct sink s = {.buf = buf, .size = size};
	struct spec p;
	va_list list;

	va_copy(list, args);
	while (*format != '\0') {
		const char *start = format;

		if (*format++ != '%') {
			fmt_put(&s, *start);
			continue;
		}
		format = read_spec(&p, format);
		if (*format == '\0' || !convert(&s, &p, *format, &list)) {
			fmt_put(&s, '%');
			format = *format == '%' ? format + 1 : start + 1;
			continue;
		}
		format++;
	}
	va_end(list);
	if (size > 0)
		buf[s.len < size ? s.len : size - 1] = '\0';
	return (int)s.len;
}

int
fmt_print(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = fmt_vprint(buf, size, format, args);
	va_end(args);
	return len;
}
