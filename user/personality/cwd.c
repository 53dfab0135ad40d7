/* SPDX-License-Identifier: MIT
 *
 * Working directories: see cwd.h.
 */
#include <abi/startup.h>
#include <base/str.h>
#include <user/personality/cwd.h>
#include <user/personality/process.h>

/* [ranks][FILE_PATH_MAX], from the first change on; an empty text is the root */
static char *cwd_table;

static char *
cwd_place(const struct handler_event *c)
{
	const struct thread_record *r = thread_record(c);

	if (r->borrowed != 0)
		return process_borrowed_cwd(r);
	return cwd_table == NULL || r->rank < 0 ? NULL :
		cwd_table + (size_t)r->rank * FILE_PATH_MAX;
}

const char *
cwd_get(const struct handler_event *c)
{
	const char *at = cwd_place(c);

	return at == NULL || at[0] == 0 ? "/" : at;
}

int
path_join(const char *from, const char *path, char *to, size_t room)
{
	size_t dir = str_len(from), len = str_len_max(path, FILE_PATH_MAX);
	bool has_slash = dir == 0 || from[dir - 1] == '/';

	if (path[0] == 0)
		dir = 0;	/* no path names nothing, not the directory */
	if (dir + !has_slash + len >= room)
		return -FILE_ENAMETOOLONG;
	memcpy(to, from, dir);
	if (dir > 0 && !has_slash)
		to[dir++] = '/';
	memcpy(to + dir, path, len);
	to[dir + len] = 0;
	return (int)(dir + len + 1);
}

int
cwd_path(const struct handler_event *c, const char *path, char *to, size_t room)
{
	return path_join(path[0] == '/' ? "" : cwd_get(c), path, to, room);
}

void
cwd_make_plain(char *path)
{
	const char *from = path;
	char *to = path;

	while (*from != 0) {
		size_t len = 0;

		while (*from == '/')
			from++;
		while (from[len] != 0 && from[len] != '/')
			len++;
		if (len == 2 && from[0] == '.' && from[1] == '.') {
			while (to > path && *--to != '/')
				continue;
		} else if (len > 1 || (len == 1 && from[0] != '.')) {
			*to++ = '/';
			memmove(to, from, len);
			to += len;
		}
		from += len;
	}
	*to = 0;
}

static int
make_table(void)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;
	uint64_t addr;

	if (cwd_table != NULL)
		return 0;
	if (kmem_alloc(SELF, (j != NULL ? j->ranks : 1) * FILE_PATH_MAX, PAGE_READ | PAGE_WRITE,
		&addr) < 0)
		return -E_NOMEM;
	cwd_table = (char *)addr;
	return 0;
}

int
cwd_begin(const struct handler_event *c, const char *path)
{
	int result = thread_record(c)->borrowed == 0 ? make_table() : 0;
	char *place = result == 0 ? cwd_place(c) : NULL;

	if (place == NULL)
		return -E_NOMEM;
	str_copy(place, FILE_PATH_MAX, path);
	return 0;
}

/* Of several ranks each has its own. */
void
cwd_begin_all(const struct handler_event *c, const char *path)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;

	if (cwd_begin(c, path) != 0 || j == NULL)
		return;
	for (uint32_t r = 0; r < j->ranks; r++)
		str_copy(cwd_table + (size_t)r * FILE_PATH_MAX, FILE_PATH_MAX, path);
}

/* The server says where the path leads, which may be through links. */
__attribute__((noinline)) int
cwd_set(const struct handler_event *c, char *path)
{
	struct file_named q;
	struct file_reply r;
	size_t len;
	int result;

	q.head = (struct file_request){.op = FILE_OPEN, .arg = FILE_DIRECTORY};
	str_copy(q.path, sizeof(q.path), path[0] == 0 ? "/" : path);
	result = files_ask_named(&q, str_len(q.path) + 1, &r);
	if (result != 0)
		return result;
	result = files_where(r.handle, path);
	files_close(r.handle);
	len = str_len(path);
	if (result != 0 || len == 0)
		return result;
	path[len - 1] = 0;
	return cwd_begin(c, path);
}
