/* SPDX-License-Identifier: MIT
 *
 * cpio "newc" reader: a 110-byte header of hexadecimal fields, the name, the data; name and data
 * padded to 4 bytes.
 */
#include <stdbool.h>
#include <abi/errors.h>
#include <base/cpio.h>
#include <base/str.h>

#define HEADER_BYTES 110
#define FIELD_MODE 1
#define FIELD_FILESIZE 6
#define FIELD_NAMESIZE 11
#define MODE_TYPE 0170000u
#define MODE_LINK 0120000u

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Field i of a header; false if it is not hexadecimal. */
static bool
read_field(const char *header, unsigned i, uint32_t *value)
{
	*value = 0;
	for (unsigned k = 0; k < 8; k++) {
		int digit = hex_digit(header[6 + i * 8 + k]);

		if (digit < 0)
			return false;
		*value = *value << 4 | (uint32_t)digit;
	}
	return true;
}

static bool
magic_is_newc(const char *header)
{
	return str_len_max(header, 6) == 6 && memcmp(header, "07070", 5) == 0 &&
		(header[5] == '1' || header[5] == '2');
}

static int
entry_next(const void *archive, size_t len, size_t *at, struct cpio_file *file)
{
	const char *header = (const char *)archive + *at;
	uint32_t mode, file_bytes, name_bytes;
	size_t data, left;

	if (*at > len || len - *at < HEADER_BYTES || !magic_is_newc(header))
		return -E_INVAL;
	if (!read_field(header, FIELD_MODE, &mode) ||
		!read_field(header, FIELD_FILESIZE, &file_bytes) ||
	    !read_field(header, FIELD_NAMESIZE, &name_bytes))
		return -E_INVAL;
	left = len - *at - HEADER_BYTES;
	if (name_bytes == 0 || name_bytes > left || header[HEADER_BYTES + name_bytes - 1] != '\0')
		return -E_INVAL;
	data = (*at + HEADER_BYTES + name_bytes + 3) & ~(size_t)3;
	if (str_is_equal(header + HEADER_BYTES, "TRAILER!!!"))
		return 0;
	if (data > len || file_bytes > len - data)
		return -E_INVAL;
	file->name = header + HEADER_BYTES;
	if (file->name[0] == '.' && file->name[1] == '/')
		file->name += 2;
	file->data = (const char *)archive + data;
	file->bytes = file_bytes;
	file->mode = mode;
	*at = (data + file_bytes + 3) & ~(size_t)3;
	return 1;
}

/* Does the target of a link say this name, as "/NAME"? */
static bool
is_target(const struct cpio_file *link, const char *name)
{
	const char *target = link->data;
	size_t n = str_len(name);

	return link->bytes == n + 1 && target[0] == '/' && memcmp(target + 1, name, n) == 0;
}

/* A link is the file that it names. 1, or -E_INVAL: it names none, or a link. */
static int
link_follow(const void *archive, size_t len, struct cpio_file *file)
{
	struct cpio_file to;
	size_t at = 0;

	if ((file->mode & MODE_TYPE) != MODE_LINK)
		return 1;
	while (entry_next(archive, len, &at, &to) > 0)
		if ((to.mode & MODE_TYPE) != MODE_LINK && is_target(file, to.name)) {
			to.name = file->name;
			*file = to;
			return 1;
		}
	return -E_INVAL;
}

int
cpio_next(const void *archive, size_t len, size_t *at, struct cpio_file *file)
{
	int found = entry_next(archive, len, at, file);

	return found > 0 ? link_follow(archive, len, file) : found;
}

int
cpio_find(const void *archive, size_t len, const char *name, struct cpio_file *file)
{
	size_t at = 0;
	int found;

	while ((found = entry_next(archive, len, &at, file)) > 0)
		if (str_is_equal(file->name, name))
			return link_follow(archive, len, file) > 0 ? 0 : -E_INVAL;
	return found < 0 ? found : -E_NOENT;
}
