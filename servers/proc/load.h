/* SPDX-License-Identifier: MIT
 *
 * The rank loader: programs from the boot archive into other processes, by kernel calls alone.
 * Pages that nobody writes exist once per cluster and are mapped into every copy; each copy has its
 * own data and stack. A copy's program relocates itself.
 */
#ifndef SERVERS_PROC_LOAD_H
#define SERVERS_PROC_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <base/elf.h>
#include <base/parse.h>
#include <servers/file/client.h>
#include <servers/proc/plan.h>

#define IMAGE_NAME_MAX 255

#define RUNS_MAX 24

/*
 * Frames in runs of powers of two: the kernel aligns a run to its size, so odd sizes would waste
 * what lies between them, and a nearly full memory still has short runs. What copies share is one
 * run where there is one, for each copy maps each run.
 */
struct runs {
	struct {
		int memory;	/* handle */
		uint32_t pages;
	} run[RUNS_MAX];
	uint32_t count;
	uint64_t pages;
};

/* A program that is ready to be copied. */
struct image {
	char name[IMAGE_NAME_MAX + 1];
	struct file file;
	struct elf elf;
	struct plan plan;
	uint64_t page_bytes;
	bool is_fixed;			/* linked for the addresses where it is to be */
	struct runs shared;		/* plan.shared_pages frames, in the order of the segments */
};

/* One copy in a process. */
struct copy {
	int proc;
	/* of the image in the process; before copy_make: addresses that are reserved, or 0 */
	uint64_t base;
	uint64_t stack;			/* lowest address of the stack that is there */
	uint64_t stack_bytes;
	/* below it, whole pages, that come when they are touched, unless it is_prepaged */
	uint64_t lazy_bytes;
	bool is_prepaged;
	/* while it is being filled */
	unsigned char *stack_memory;	/* the loader's view of the stack */
	/* the loader's view of the private segments, then the stack */
	uint64_t window;
	struct runs frames;
};

/*
 * Open a program of the boot archive, and load what its copies share. 0, -E_NOENT, -E_INVAL: not a
 * program for this machine, -E_NOMEM, or -E_NAME of the kernel calls. If it is `of_job`, the job's
 * or a server's, failures are reported on the console, and one for fixed addresses is refused:
 * ranks share their addresses.
 */
int image_open(struct image *im, struct text name, bool of_job);

/* The same of a program in memory, which nobody changes until image_close; nothing is reported. */
int image_open_in(struct image *im, const void *data, size_t bytes);

/* Give up the loader's hold of the shared frames; copies keep theirs. */
void image_close(struct image *im);

/*
 * Make one copy in `proc`, with a stack of c->lazy_bytes and c->stack_bytes (whole pages) above an
 * unmapped page.
 * Fills c; the loader may write c->stack_memory until copy_done. 0 or -E_NAME of the kernel calls;
 * what was mapped then goes with the process.
 */
int copy_make(struct copy *c, const struct image *im, int proc);
void copy_done(struct copy *c);

/*
 * Memory of `pages` zeroed pages that the loader and `proc` both see. 0 and both addresses, that in
 * the process as it was if it is not 0: then it is reserved; or -E_NAME. The loader's view stays
 * until window_close.
 */
struct window {
	unsigned char *memory;		/* the loader's view */
	uint64_t addr;			/* in the process */
	uint64_t pages;
	struct runs frames;
};

int window_open(struct window *w, int proc, uint64_t pages, uint64_t page_bytes);
void window_close(struct window *w);

#endif
