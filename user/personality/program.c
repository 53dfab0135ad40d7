/* SPDX-License-Identifier: MIT
 *
 * The program of a process that is to be started. What the boot archive has, the process server
 * finds there; what was written on this machine is brought to it (process_bring).
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
	struct file_request q = {.op = FILE_OPEN, .arg = FILE_READABLE};
	struct file_reply r;
	int result;

	str_copy(q.path, sizeof(q.path), path);
	result = files_ask(&q, str_len(q.path) + 1, &r);
	if (result != 0)
		return result;
	*f = (struct reading){.file = {.handle = r.handle, .kind = OPENED_FILE,
		.flags = OPENED_READ}, .bytes = r.value};
	return 0;
}

static __attribute__((noinline)) void
close_file(const struct reading *f)
{
	const struct file_request q = {.op = FILE_CLOSE, .handle = f->file.handle};
	struct file_reply r;

	files_ask(&q, 0, &r);
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
	struct file_request q = {.op = FILE_STAT};
	struct file_status status;
	struct file_reply r;
	int result;

	str_copy(q.path, sizeof(q.path), path);
	result = files_status(&q, str_len(q.path) + 1, &r, &status);
	if (result != 0)
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
	close_file(&f);
	return result == 0 ? PROCESS_BROUGHT : result;
}

long
program_bring(struct channel *ch, const char *path)
{
	long result;

	files_lock();
	result = is_own(path);
	if (result > 0)
		result = bring_file(ch, path);
	files_unlock();
	return result;
}
