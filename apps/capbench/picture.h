/* SPDX-License-Identifier: MIT
 *
 * Grey pictures in files of the form PGM (P5, at most 255 grey levels).
 *
 * Where programs have no file system, a picture is read from the boot archive and written to the
 * standard output:
 *	-----BEGIN FILE NAME BYTES-----
 *	base64, 76 characters per line
 *	-----END FILE NAME-----
 */
#ifndef CAPBENCH_PICTURE_H
#define CAPBENCH_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

struct picture {
	int width;
	int height;
	unsigned char *pixels;		/* width * height; free it */
};

/* Read a picture. False, with a message, if there is none or it is damaged. */
bool picture_read(const char *name, struct picture *p);

/*
 * Write a picture; "-" or a name that cannot be created: to the standard output, as above. False,
 * with a message, if that fails.
 */
bool picture_write(const char *name, const struct picture *p);

/* Parse the text of a PGM file. NULL, or what is wrong with it. */
const char *picture_parse(const unsigned char *text, size_t bytes, struct picture *p);

#endif
