/* SPDX-License-Identifier: MIT
 *
 * Load plans.
 */
#include <stdbool.h>
#include <abi/limits.abi.h>
#include <servers/proc/plan.h>

#define PHDR_BYTES 56
#define IMAGE_BYTES_MAX (1ull << 32)

static uint32_t
prot_of(uint32_t flags)
{
	return (flags & ELF_FLAG_READ ? PAGE_READ : 0u) |
		(flags & ELF_FLAG_WRITE ? PAGE_WRITE : 0u) |
	    (flags & ELF_FLAG_EXEC ? PAGE_EXEC : 0u);
}

static bool
add_segment(struct plan *p, const struct elf_segment *s, uint64_t page_bytes)
{
	struct plan_segment *t = &p->segment[p->segments];
	uint64_t first = s->addr & ~(page_bytes - 1);
	uint64_t limit = (s->addr + s->mem_bytes + page_bytes - 1) & ~(page_bytes - 1);

	if (p->segments == PLAN_SEGMENTS_MAX || first < p->span || limit > IMAGE_BYTES_MAX)
		return false;
	*t = (struct plan_segment){
		.addr = first,
		.pages = (limit - first) / page_bytes,
		.data_at = s->addr - first,
		.file_offset = s->offset,
		.file_bytes = s->file_bytes,
		.prot = prot_of(s->flags),
		.is_private = (s->flags & ELF_FLAG_WRITE) != 0,
	};
	if (t->is_private)
		p->private_pages += t->pages;
	else
		p->shared_pages += t->pages;
	if (p->segments == 0)
		p->first = first;
	p->span = limit;
	p->segments++;
	return true;
}

/*
 * Remember where the program headers are in memory: in the segment that holds their place in the
 * file.
 */
static void
find_headers(struct plan *p, const struct elf *e, const struct elf_segment *s)
{
	uint64_t bytes = (uint64_t)e->segments * PHDR_BYTES;

	if (e->headers < s->offset || e->headers - s->offset > s->file_bytes ||
		s->file_bytes - (e->headers - s->offset) < bytes)
		return;
	p->headers = s->addr + (e->headers - s->offset);
	p->header_count = e->segments;
	p->header_bytes = PHDR_BYTES;
}

static bool
entry_is_code(const struct plan *p, uint64_t page_bytes)
{
	for (uint32_t i = 0; i < p->segments; i++) {
		const struct plan_segment *s = &p->segment[i];

		if ((s->prot & PAGE_EXEC) != 0 && p->entry >= s->addr &&
			p->entry - s->addr < s->pages * page_bytes)
			return true;
	}
	return false;
}

enum plan_fault
plan_make(struct plan *p, const struct elf *e, uint16_t machine, uint64_t page_bytes)
{
	*p = (struct plan){.entry = e->entry};
	if (e->machine != machine)
		return PLAN_WRONG_CPU;
	for (unsigned i = 0; i < e->segments; i++) {
		struct elf_segment s = elf_segment(e, i);

		if (s.type == ELF_INTERP)
			return PLAN_DYNAMIC;
		if (s.type != ELF_LOAD || s.mem_bytes == 0)
			continue;
		if (!add_segment(p, &s, page_bytes))
			return PLAN_LAYOUT;
		find_headers(p, e, &s);
	}
	if (!entry_is_code(p, page_bytes))
		return PLAN_LAYOUT;
	return e->type == ELF_TYPE_DYN ? PLAN_OK : PLAN_NOT_PIE;
}

const char *
plan_fault_text(enum plan_fault fault)
{
	switch (fault) {
	case PLAN_OK: return "is fine";
	case PLAN_NOT_ELF: return "is not a well-formed ELF program";
	case PLAN_WRONG_CPU: return "is a program for another CPU";
	case PLAN_NOT_PIE: return "is linked for a fixed address: link it as a static "
		"position-independent executable";
	case PLAN_DYNAMIC: return "needs a dynamic linker: link it statically";
	case PLAN_LAYOUT: return "has segments that cannot be mapped";
	}
	return "cannot be loaded";
}
