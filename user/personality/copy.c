/* SPDX-License-Identifier: MIT
 *
 * Bytes from one descriptor to another: sendfile and copy_file_range, a page at a time.
 */
#include <user/personality/files.h>
#include <user/personality/reach.h>

#define PAGE 4096
#define COPY_MAX 0x7ffff000ull	/* bytes in one call, as in Linux */

/* A call on a descriptor, as a program would make it. */
static long
copy_call(const struct handler_event *c, unsigned long nr, unsigned long fd, const uint64_t rest[3])
{
	struct handler_event e = *c;

	e.args[0] = fd;
	for (int i = 0; i < 3; i++)
		e.args[1 + i] = rest[i];
	switch (nr) {
	case SYS_pread64: return io_pread(&e);
	case SYS_pwrite64: return io_pwrite(&e);
	case SYS_write: return io_write(&e);
	default: return file_call(&e, nr);
	}
}

struct copying {
	unsigned long in, out;
	uint64_t buffer;
	uint64_t from;			/* offset in what is read */
	uint64_t to;			/* of what is written; FILE_AT_OFFSET: its own */
	uint64_t len;
};

/* How many bytes, or the first error. */
static __attribute__((noinline)) long
copy_all(const struct handler_event *c, const struct copying *w)
{
	bool is_at = w->to != FILE_AT_OFFSET;
	uint64_t done = 0;
	long got = 0, put = 0;

	while (done < w->len && put == got) {
		got = copy_call(c, SYS_pread64, w->in, (uint64_t[]){w->buffer,
			w->len - done < PAGE ? w->len - done : PAGE, w->from + done});
		if (got <= 0)
			return done > 0 ? (long)done : got == -LINUX_ESPIPE ? -E_INVAL : got;
		put = copy_call(c, is_at ? SYS_pwrite64 : SYS_write, w->out,
			(uint64_t[]){w->buffer, (uint64_t)got, w->to + done});
		if (put < 0)
			return done > 0 ? (long)done : put;
		done += (uint64_t)put;
	}
	return (long)done;
}

/*
 * *in and *out are offsets that move on; without `in` the descriptor's own does, which is read with
 * the bytes of others in between.
 */
static long
copy_between(const struct handler_event *c, struct copying *w, uint64_t *in, uint64_t *out)
{
	long at = in != NULL ? (long)*in :
		copy_call(c, SYS_lseek, w->in, (uint64_t[]){0, FILE_FROM_OFFSET, 0});
	long result;

	if (at < 0)
		return at == -LINUX_ESPIPE ? -E_INVAL : in != NULL ? -E_INVAL : at;
	w->from = (uint64_t)at;
	w->to = out != NULL ? *out : FILE_AT_OFFSET;
	if (w->len > COPY_MAX)
		w->len = COPY_MAX;
	result = kmem_alloc(SELF, PAGE, PAGE_READ | PAGE_WRITE, &w->buffer);
	if (result < 0)
		return result;
	result = copy_all(c, w);
	kpage_unmap(SELF, w->buffer, 1);
	if (result <= 0)
		return result;
	w->from += (uint64_t)result;
	if (in != NULL)
		*in = w->from;
	else
		copy_call(c, SYS_lseek, w->in, (uint64_t[]){w->from, FILE_FROM_START, 0});
	if (out != NULL)
		*out += (uint64_t)result;
	return result;
}

long
copy_sendfile(const struct handler_event *c)
{
	struct copying w = {.out = arg(c, 0), .in = arg(c, 1), .len = arg(c, 3)};

	return copy_between(c, &w, (uint64_t *)arg(c, 2), NULL);
}

long
copy_file_range(const struct handler_event *c)
{
	struct copying w = {.in = arg(c, 0), .out = arg(c, 2), .len = arg(c, 4)};

	return arg(c, 5) != 0 ? -E_INVAL :
		copy_between(c, &w, (uint64_t *)arg(c, 1), (uint64_t *)arg(c, 3));
}
