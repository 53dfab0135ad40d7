/* SPDX-License-Identifier: MIT
 *
 * Load plan of a program: which pages it needs and what goes where, from its ELF file. No kernel
 * calls: tested on its own.
 */
#ifndef SERVERS_PROC_PLAN_H
#define SERVERS_PROC_PLAN_H

#include <stdint.h>
#include <base/elf.h>

#define PLAN_SEGMENTS_MAX 8

/* One segment in whole pages; addresses are offsets from the image base. */
struct plan_segment {
	uint64_t addr;		/* first page */
	uint64_t pages;
	uint64_t data_at;	/* where the file's bytes begin inside the first page */
	uint64_t file_offset;
	uint64_t file_bytes;
	uint32_t prot;		/* PAGE_* */
	uint32_t is_private;	/* each rank has its own frames */
};

struct plan {
	struct plan_segment segment[PLAN_SEGMENTS_MAX];
	uint32_t segments;
	uint64_t first;		/* page of the first segment */
	uint64_t span;		/* bytes from the image base to the last page's end */
	uint64_t private_pages;
	uint64_t shared_pages;
	uint64_t entry;
	uint64_t headers;	/* address of the program headers, for AT_PHDR; 0: not in memory */
	uint32_t header_count;
	uint32_t header_bytes;
};

enum plan_fault {
	PLAN_OK,
	PLAN_NOT_ELF,		/* malformed, or no ELF file at all */
	PLAN_WRONG_CPU,
	/* linked for a fixed address; the plan is made all the same: the image base is 0 */
	PLAN_NOT_PIE,
	PLAN_DYNAMIC,		/* needs a dynamic linker */
	/* segments share pages, are out of order or too many, or the entry lies outside */
	PLAN_LAYOUT,
};

/* Make the plan of an image for a CPU (ELF_MACHINE_*) and its page size. */
enum plan_fault plan_make(struct plan *p, const struct elf *e, uint16_t machine,
	uint64_t page_bytes);

/* What a fault means, for a message. */
const char *plan_fault_text(enum plan_fault fault);

#endif
