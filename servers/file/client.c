/* SPDX-License-Identifier: MIT
 *
 * Files of the boot archive.
 */
#include <atoll/kcalls.h>
#include <base/cpio.h>
#include <base/str.h>
#include <servers/file/client.h>

struct span {
	uint64_t addr;
	uint64_t bytes;
};

static struct span archive;

/* Map the archive on first use. */
static int
map_archive(void)
{
	struct span s;
	long result;

	if (archive.addr != 0)
		return 0;
	result = karchive_map(SELF, &s);
	if (result < 0)
		return (int)result;
	archive = s;
	return 0;
}

int
file_open(const char *name, struct file *f)
{
	struct cpio_file found;
	int result = map_archive();

	if (result == 0)
		result = cpio_find((const void *)(uintptr_t)archive.addr, archive.bytes, name,
			&found);
	if (result != 0)
		return result;
	*f = (struct file){found.data, found.bytes};
	return 0;
}

size_t
file_offset(const struct file *f)
{
	return (uintptr_t)f->data - archive.addr;
}

const struct file_place *
file_place(uint32_t number)
{
	struct file list;

	return number < FILE_TREES_MAX && file_open(FILE_TREES, &list) == 0 &&
		number < list.bytes / sizeof(struct file_place) ?
		(const struct file_place *)list.data + number : NULL;
}

bool
file_place_has(const struct file_place *p, const char *path)
{
	return str_len_max(path, p->bytes) == p->bytes && memcmp(path, p->path, p->bytes) == 0 &&
		(path[p->bytes] == '/' || path[p->bytes] == 0);
}

size_t
file_read(const struct file *f, size_t offset, void *to, size_t len)
{
	size_t left = offset < f->bytes ? f->bytes - offset : 0;

	if (len > left)
		len = left;
	memcpy(to, (const char *)f->data + offset, len);
	return len;
}
