/* SPDX-License-Identifier: MIT
 *
 * Grey pictures: see picture.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "input.h"
#include "picture.h"

#define SIDE_MAX 32768
#define LINE_BYTES 57			/* 76 characters of base64 */

/* --- reading --- */

struct reader {
	const unsigned char *at, *end;
};

static void
skip_space(struct reader *r)
{
	for (; r->at < r->end; r->at++) {
		if (*r->at == '#')
			while (r->at < r->end && *r->at != '\n')
				r->at++;
		else if (strchr(" \t\r\n", *r->at) == NULL || *r->at == '\0')
			return;
	}
}

/* A number up to SIDE_MAX, -1 if there is none. */
static int
read_number(struct reader *r)
{
	int value = 0;

	skip_space(r);
	if (r->at >= r->end || *r->at < '0' || *r->at > '9')
		return -1;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
		value = value * 10 + (*r->at++ - '0');
		if (value > SIDE_MAX)
			return -1;
	}
	return value;
}

const char *
picture_parse(const unsigned char *text, size_t bytes, struct picture *p)
{
	struct reader r = {text, text + bytes};
	size_t size;
	int levels;

	if (bytes < 2 || memcmp(text, "P5", 2) != 0)
		return "not a PGM picture (P5)";
	r.at += 2;
	p->width = read_number(&r);
	p->height = read_number(&r);
	levels = read_number(&r);
	if (p->width < 1 || p->height < 1 || levels < 1 || levels > 255)
		return "bad width, height or number of grey levels";
	size = (size_t)p->width * (size_t)p->height;
	if (r.at >= r.end || (size_t)(r.end - r.at - 1) < size)
		return "shorter than its header says";
	p->pixels = malloc(size);
	if (p->pixels == NULL)
		return "too large for the memory";
	memcpy(p->pixels, r.at + 1, size);
	return NULL;
}

bool
picture_read(const char *name, struct picture *p)
{
	size_t bytes = 0;
	char *text = input_read(name, &bytes);
	const char *wrong = text != NULL ? picture_parse((const unsigned char *)text, bytes, p) :
		"no such file";

	free(text);
	if (wrong != NULL)
		fprintf(stderr, "%s: %s\n", name, wrong);
	return wrong == NULL;
}

/* --- writing --- */

static char
digit(unsigned value)
{
	return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[value & 63];
}

/* One line of base64. */
static void
put_line(const unsigned char *in, size_t len)
{
	char line[LINE_BYTES / 3 * 4 + 2], *out = line;

	for (size_t i = 0; i < len; i += 3) {
		unsigned word = (unsigned)in[i] << 16 | (i + 1 < len ? (unsigned)in[i + 1] << 8
			: 0) | (i + 2 < len ? in[i + 2] : 0);

		*out++ = digit(word >> 18);
		*out++ = digit(word >> 12);
		*out++ = i + 1 < len ? digit(word >> 6) : '=';
		*out++ = i + 2 < len ? digit(word) : '=';
	}
	*out = '\0';
	puts(line);
}

static bool
print_file(const char *name, const unsigned char *text, size_t bytes)
{
	printf("-----BEGIN FILE %s %zu-----\n", name, bytes);
	for (size_t i = 0; i < bytes; i += LINE_BYTES)
		put_line(text + i, bytes - i < LINE_BYTES ? bytes - i : LINE_BYTES);
	printf("-----END FILE %s-----\n", name);
	return fflush(stdout) == 0;
}

static bool
write_file(const char *name, const unsigned char *text, size_t bytes)
{
	FILE *f = strcmp(name, "-") != 0 ? fopen(name, "wb") : NULL;
	bool ok;

	if (f == NULL)
		return print_file(strcmp(name, "-") != 0 ? input_base_name(name) : "picture.pgm",
			text, bytes);
	ok = fwrite(text, 1, bytes, f) == bytes;
	ok &= fclose(f) == 0;
	if (!ok)
		fprintf(stderr, "%s: %s\n", name, strerror(errno));
	return ok;
}

bool
picture_write(const char *name, const struct picture *p)
{
	size_t pixels = (size_t)p->width * (size_t)p->height;
	unsigned char *text = malloc(pixels + 32);
	size_t head;
	bool ok;

	if (text == NULL) {
		fprintf(stderr, "%s: out of memory\n", name);
		return false;
	}
	head = (size_t)sprintf((char *)text, "P5\n%d %d\n255\n", p->width, p->height);
	memcpy(text + head, p->pixels, pixels);
	ok = write_file(name, text, head + pixels);
	free(text);
	return ok;
}
