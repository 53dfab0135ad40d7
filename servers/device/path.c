/* SPDX-License-Identifier: MIT
 *
 * The names of a path: see files.h.
 */
#include <stdbool.h>
#include <abi/errors.h>
#include <servers/device/files.h>

static bool
is_dots(const char *name, uint32_t bytes)
{
	return name[0] == '.' && (bytes == 1 || (bytes == 2 && name[1] == '.'));
}

int
path_split(const char *path, struct path_names *names)
{
	names->count = 0;
	while (*path != '\0') {
		uint32_t bytes = 0;

		while (path[bytes] != '\0' && path[bytes] != '/')
			bytes++;
		if (bytes > 0) {
			if (names->count == PATH_NAMES || is_dots(path, bytes))
				return -E_INVAL;
			names->name[names->count] = path;
			names->bytes[names->count++] = bytes;
		}
		path += bytes + (path[bytes] == '/');
	}
	return 0;
}
