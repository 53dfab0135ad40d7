/* SPDX-License-Identifier: MIT
 *
 * The program of a process that is to be started. What the boot archive has, the process server
 * finds there; what was written on this machine is brought to it (process_bring). A script is its
 * interpreter, with the script as an argument.
 */
#include <base/str.h>
#include <servers/proc/client.h>
#include <user/personality/files.h>
#include <user/personality/process.h>

#define EXECUTE_BITS 0111
#define PROGRAM_BYTES_MAX (1u << 23)

/* A file that is read into memory of the process server's. */
struct reading {
	struct opened file;
	uint64_t bytes;
	uint64_t addr;			/* where it is mapped */
};

static __attribute__((noinline)) int
open_file(const char *path, struct reading *f)
{
	struct file_named q;
	struct file_reply r;
	int result;

	q.head = (struct file_request){.op = FILE_OPEN, .arg = FILE_READABLE};
	str_copy(q.path, sizeof(q.path), path);
	result = files_ask_named(&q, str_len(q.path) + 1, &r);
	if (result != 0)
		return result;
	*f = (struct reading){.file = {.handle = r.handle, .kind = OPENED_FILE,
		.flags = OPENED_READ}, .bytes = r.value};
	return 0;
}

static int
pages_of(const struct reading *f)
{
	return (int)((f->bytes + personality_info.page_bytes - 1) / personality_info.page_bytes);
}

/* Into memory that has this handle. */
static long
fill(struct reading *f, int memory)
{
	int pages = pages_of(f);
	long result = kmem_alloc(SELF, (uint64_t)pages * personality_info.page_bytes, 0, &f->addr);

	if (result < 0)
		return result;
	result = kpage_map(SELF, f->addr, memory, 0, pages, PAGE_READ | PAGE_WRITE);
	if (result >= 0)
		result = files_read(&f->file, 0, (char *)f->addr, f->bytes);
	kpage_unmap(SELF, f->addr, pages);
	return result < 0 ? result : (uint64_t)result < f->bytes ? -E_IO : 0;
}

static long
bring(struct channel *ch, struct reading *f)
{
	long result;
	int memory;

	if (f->bytes == 0 || f->bytes > PROGRAM_BYTES_MAX)
		return f->bytes == 0 ? -PROCESS_ENOEXEC : -E_NOMEM;
	memory = process_bring(ch, (uint32_t)pages_of(f));
	if (memory < 0)
		return memory;
	result = fill(f, memory);
	khandle_close(memory);
	return result;
}

/* 1: the file server has it, and the boot archive has not; 0: it may be one of the archive. */
static __attribute__((noinline)) int
is_own(const char *path)
{
	struct file_status status;
	struct file_named q;
	struct file_reply r;
	int result;

	q.head = (struct file_request){.op = FILE_STAT};
	str_copy(q.path, sizeof(q.path), path);
	result = files_ask_about(&q, str_len(q.path) + 1, &r,
		(struct iovec){(uint64_t)&status, sizeof(status)});
	if (result < 0)
		return result == -E_NOENT ? 0 : result;
	return r.kind != FILE_KIND_FILE || (status.mode & EXECUTE_BITS) == 0 ? -E_ACCES :
		r.count != FILE_ARCHIVED;
}

static long
bring_file(struct channel *ch, const char *path)
{
	struct reading f;
	long result = open_file(path, &f);

	if (result != 0)
		return result;
	result = bring(ch, &f);
	files_close(f.file.handle);
	return result == 0 ? PROCESS_BROUGHT : result;
}

/* The flag for process_spawn if it was brought; 0: it may be one of the boot archive's. */
static long
bring_if_own(struct channel *ch, const char *path)
{
	long result;

	files_lock();
	result = is_own(path);
	if (result > 0)
		result = bring_file(ch, path);
	files_unlock();
	return result;
}

static long
spawn_once(struct channel *ch, const struct process_spawn *what)
{
	struct process_spawn with = *what;
	long how = bring_if_own(ch, what->path);

	with.flags |= how > 0 ? (uint32_t)how : 0;
	return how < 0 ? how : process_spawn(ch, &with);
}

/* --- files that begin with a line "#!INTERPRETER [ARGUMENT]" --- */

#define LINE_BYTES 256

/* One page. */
struct script {
	char line[LINE_BYTES];
	char path[FILE_PATH_MAX];	/* of the interpreter */
	char *arg[PROCESS_WORDS_MAX + 1];
};

/* The beginning of a file, with a zero byte behind it. How many bytes, or an error. */
static __attribute__((noinline)) long
read_line(const char *path, char *line)
{
	struct reading f;
	long result;

	files_lock();
	result = open_file(path, &f);
	if (result == 0) {
		result = files_read(&f.file, 0, line, LINE_BYTES - 1);
		files_close(f.file.handle);
	}
	files_unlock();
	if (result >= 0)
		line[result] = 0;
	return result;
}

static char *
skip_blanks(char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* The words of the first line: the argument, or NULL if there is none. False: it names nothing. */
static bool
cut_line(char *line, char **interpreter, char **argument)
{
	char *end = line, *at = skip_blanks(line + 2);

	while (*end != 0 && *end != '\n')
		end++;
	if (*end == 0 && end == line + LINE_BYTES - 1)
		return false;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = 0;
	*interpreter = at;
	while (*at != 0 && *at != ' ' && *at != '\t')
		at++;
	*argument = *at != 0 ? skip_blanks(at + 1) : NULL;
	*at = 0;
	return (*interpreter)[0] != 0;
}

_Static_assert(sizeof(struct script) <= 4096, "a page");

/* What is to be started in place of the file: its interpreter, which gets the file's path. */
static long
make_script(const struct handler_event *c, const char *name, struct script *s,
	struct process_spawn *what)
{
	char *interpreter, *argument;
	char *const *args = what->args;
	uint32_t n = 0;
	long result = read_line(what->path, s->line);

	if (result < 0)
		return result;
	if (result < 2 || s->line[0] != '#' || s->line[1] != '!' ||
		!cut_line(s->line, &interpreter, &argument))
		return -PROCESS_ENOEXEC;
	s->arg[n++] = interpreter;
	if (argument != NULL)
		s->arg[n++] = argument;
	s->arg[n++] = (char *)name;
	for (uint32_t i = 1; args != NULL && args[0] != NULL && args[i] != NULL; i++) {
		if (n == PROCESS_WORDS_MAX)
			return -E_2BIG;
		s->arg[n++] = args[i];
	}
	s->arg[n] = NULL;
	what->args = s->arg;
	what->path = process_path(c, interpreter, s->path, sizeof(s->path));
	return what->path == NULL ? -FILE_ENAMETOOLONG : 0;
}

static __attribute__((noinline)) long
spawn_script(const struct handler_event *c, const char *name, struct channel *ch,
	const struct process_spawn *what)
{
	struct process_spawn with = *what;
	uint64_t at;
	long result = kmem_alloc(SELF, sizeof(struct script), PAGE_READ | PAGE_WRITE, &at);

	if (result < 0)
		return result;
	result = make_script(c, name, (struct script *)at, &with);
	if (result == 0)
		result = spawn_once(ch, &with);
	kpage_unmap(SELF, at, 1);
	return result;
}

long
program_spawn(const struct handler_event *c, const char *name, struct channel *ch,
	const struct process_spawn *what)
{
	long result = spawn_once(ch, what);

	return result == -PROCESS_ENOEXEC ? spawn_script(c, name, ch, what) : result;
}
