/* SPDX-License-Identifier: MIT
 *
 * Input files: see input.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <servers/file/client.h>
#include "input.h"

#define STEP 65536

const char *
input_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static char *
slurp(FILE *f, size_t *bytes)
{
	char *text = NULL, *more;
	size_t got = 1;

	*bytes = 0;
	while (got > 0 && (more = realloc(text, *bytes + STEP + 1)) != NULL) {
		text = more;
		got = fread(text + *bytes, 1, STEP, f);
		*bytes += got;
	}
	if (text != NULL)
		text[*bytes] = '\0';
	return text;
}

static char *
from_archive(const char *name, size_t *bytes)
{
	char member[256], *text;
	struct file file;

	snprintf(member, sizeof(member), "files/%s", input_base_name(name));
	if (file_open(member, &file) != 0 || (text = malloc(file.bytes + 1)) == NULL)
		return NULL;
	*bytes = file.bytes;
	memcpy(text, file.data, file.bytes);
	text[file.bytes] = '\0';
	return text;
}

char *
input_read(const char *name, size_t *bytes)
{
	FILE *f = fopen(name, "rb");
	char *text;

	if (f == NULL)
		return from_archive(name, bytes);
	text = slurp(f, bytes);
	fclose(f);
	return text;
}
