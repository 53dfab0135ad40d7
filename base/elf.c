/* SPDX-License-Identifier: MIT
 *
 * ELF64 reader. Fields are fetched byte by byte: an image may lie at any address, and 32-bit kernels read it too.
 */
#include <abi/errors.h>
#include <base/elf.h>
#include <base/str.h>

#define EHDR_BYTES 64
#define PHDR_BYTES 56
#define SHDR_BYTES 64
#define SYM_BYTES 24
#define SHT_SYMTAB 2
#define STT_FUNC 2
#define DYN_BYTES 16
#define DT_RELASZ 8
#define DT_RELSZ 18
#define DT_RELRSZ 35

static uint64_t
fetch(const struct elf *e, uint64_t at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = bytes; i-- > 0;)
		value = value << 8 | e->image[at + i];
	return value;
}

/* [at, at + len) lies inside [0, limit) */
static bool
is_inside(uint64_t at, uint64_t len, uint64_t limit)
{
	return at <= limit && len <= limit - at;
}

static bool
is_elf64(const struct elf *e)
{
	static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

	if (e->bytes < EHDR_BYTES)
		return false;
	for (unsigned i = 0; i < sizeof(ident); i++)
		if (e->image[i] != ident[i])
			return false;
	return true;
}

struct elf_segment
elf_segment(const struct elf *e, unsigned i)
{
	uint64_t at = e->headers + (uint64_t)i * PHDR_BYTES;

	return (struct elf_segment){
		.type = (uint32_t)fetch(e, at, 4),
		.flags = (uint32_t)fetch(e, at + 4, 4),
		.offset = fetch(e, at + 8, 8),
		.addr = fetch(e, at + 16, 8),
		.file_bytes = fetch(e, at + 32, 8),
		.mem_bytes = fetch(e, at + 40, 8),
		.align = fetch(e, at + 48, 8),
	};
}

static bool
segment_is_sound(const struct elf *e, const struct elf_segment *s)
{
	if (s->type != ELF_LOAD && s->type != ELF_TLS && s->type != ELF_DYNAMIC)
		return true;
	if (!is_inside(s->offset, s->file_bytes, e->bytes) || s->file_bytes > s->mem_bytes)
		return false;
	return is_inside(s->addr, s->mem_bytes, UINT64_MAX) && (s->align & (s->align - 1)) == 0;
}

/* Remember the symbol table if the file has a sound one; a file without is fine. */
static void
find_symbols(struct elf *e)
{
	uint64_t sections = fetch(e, 40, 8);
	uint64_t count = fetch(e, 60, 2);

	if (fetch(e, 58, 2) != SHDR_BYTES || !is_inside(sections, count * SHDR_BYTES, e->bytes))
		return;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = sections + i * SHDR_BYTES;
		uint64_t link = fetch(e, at + 40, 4);
		uint64_t text = sections + link * SHDR_BYTES;

		if (fetch(e, at + 4, 4) != SHT_SYMTAB || link >= count)
			continue;
		if (!is_inside(fetch(e, at + 24, 8), fetch(e, at + 32, 8), e->bytes) ||
		    !is_inside(fetch(e, text + 24, 8), fetch(e, text + 32, 8), e->bytes))
			continue;
		e->symtab = fetch(e, at + 24, 8);
		e->symbols = fetch(e, at + 32, 8) / SYM_BYTES;
		e->strtab = fetch(e, text + 24, 8);
		e->strtab_bytes = fetch(e, text + 32, 8);
		return;
	}
}

int
elf_open(struct elf *e, const void *image, size_t bytes)
{
	*e = (struct elf){.image = image, .bytes = bytes};
	if (!is_elf64(e))
		return -E_INVAL;
	e->type = (uint16_t)fetch(e, 16, 2);
	e->machine = (uint16_t)fetch(e, 18, 2);
	e->entry = fetch(e, 24, 8);
	e->headers = fetch(e, 32, 8);
	e->segments = (uint16_t)fetch(e, 56, 2);
	if (e->type != ELF_TYPE_EXEC && e->type != ELF_TYPE_DYN)
		return -E_INVAL;
	if (e->segments > 0 && fetch(e, 54, 2) != PHDR_BYTES)
		return -E_INVAL;
	if (!is_inside(e->headers, (uint64_t)e->segments * PHDR_BYTES, bytes))
		return -E_INVAL;
	for (unsigned i = 0; i < e->segments; i++) {
		struct elf_segment s = elf_segment(e, i);

		if (!segment_is_sound(e, &s))
			return -E_INVAL;
	}
	find_symbols(e);
	return 0;
}

int
elf_span(const struct elf *e, uint64_t *first, uint64_t *limit)
{
	*first = UINT64_MAX;
	*limit = 0;
	for (unsigned i = 0; i < e->segments; i++) {
		struct elf_segment s = elf_segment(e, i);

		if (s.type != ELF_LOAD || s.mem_bytes == 0)
			continue;
		if (s.addr < *first)
			*first = s.addr;
		if (s.addr + s.mem_bytes > *limit)
			*limit = s.addr + s.mem_bytes;
	}
	return *limit > *first ? 0 : -E_INVAL;
}

bool
elf_is_relocated(const struct elf *e)
{
	for (unsigned i = 0; i < e->segments; i++) {
		struct elf_segment s = elf_segment(e, i);

		if (s.type != ELF_DYNAMIC)
			continue;
		for (uint64_t at = s.offset; at + DYN_BYTES <= s.offset + s.file_bytes; at += DYN_BYTES) {
			uint64_t tag = fetch(e, at, 8);

			if ((tag == DT_RELASZ || tag == DT_RELSZ || tag == DT_RELRSZ) && fetch(e, at + 8, 8) != 0)
				return true;
		}
	}
	return false;
}

/* The text at an offset of the string table, or NULL if it does not end inside. */
static const char *
string_at(const struct elf *e, uint64_t offset)
{
	for (uint64_t i = offset; i < e->strtab_bytes; i++)
		if (e->image[e->strtab + i] == '\0')
			return (const char *)e->image + e->strtab + offset;
	return NULL;
}

const char *
elf_symbol_at(const struct elf *e, uint64_t addr, uint64_t *offset)
{
	for (uint64_t i = 0; i < e->symbols; i++) {
		uint64_t at = e->symtab + i * SYM_BYTES;
		uint64_t value = fetch(e, at + 8, 8);
		uint64_t size = fetch(e, at + 16, 8);

		if ((fetch(e, at + 4, 1) & 15) != STT_FUNC || addr < value || addr - value >= (size ? size : 1))
			continue;
		*offset = addr - value;
		return string_at(e, fetch(e, at, 4));
	}
	return NULL;
}

int
elf_symbol_find(const struct elf *e, const char *name, uint64_t *addr)
{
	for (uint64_t i = 0; i < e->symbols; i++) {
		uint64_t at = e->symtab + i * SYM_BYTES;
		const char *have = string_at(e, fetch(e, at, 4));

		if (have == NULL || fetch(e, at + 6, 2) == 0 || !str_is_equal(have, name))
			continue;
		*addr = fetch(e, at + 8, 8);
		return 0;
	}
	return -E_NOENT;
}
