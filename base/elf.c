/* SPDX-License-Identifier: MIT
 *
 * ELF reader. Fields are fetched byte by byte: an image may lie at any address, and 32-bit kernels
 * read it too.
 */
#include <abi/errors.h>
#include <base/elf.h>
#include <base/str.h>

#define SHT_SYMTAB 2
#define STT_FUNC 2
#define DT_RELASZ 8
#define DT_RELSZ 18
#define DT_RELRSZ 35

/* Where fields lie in each class of file, and how long its structures are. */
static const struct elf_form {
	uint8_t word;
	struct { uint8_t bytes, headers, sections, header_bytes, count, section_bytes,
		section_count; } file;
	struct { uint8_t bytes, flags, offset, addr, file_bytes, mem_bytes, align; } header;
	struct { uint8_t bytes, offset, size, link; } section;
	struct { uint8_t bytes, value, size, info, index; } symbol;
} narrow = {4, {52, 28, 32, 42, 44, 46, 48}, {32, 24, 4, 8, 16, 20, 28}, {40, 16, 20, 24},
	{16, 4, 8, 12, 14}},
  wide = {8, {64, 32, 40, 54, 56, 58, 60}, {56, 4, 8, 16, 32, 40, 48}, {64, 24, 32, 40},
  {24, 8, 16, 4, 6}};

static uint64_t
fetch(const struct elf *e, uint64_t at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | e->image[at + (e->is_big ? i : bytes - 1 - i)];
	return value;
}

/* An address, offset or length. */
static uint64_t
fetch_word(const struct elf *e, uint64_t at)
{
	return fetch(e, at, e->form->word);
}

/* [at, at + len) lies inside [0, limit) */
static bool
is_inside(uint64_t at, uint64_t len, uint64_t limit)
{
	return at <= limit && len <= limit - at;
}

/* Take class and byte order from the file's first bytes. */
static bool
take_form(struct elf *e)
{
	const unsigned char *p = e->image;

	if (e->bytes < wide.file.bytes || p[0] != 0x7f || p[1] != 'E' || p[2] != 'L' ||
		p[3] != 'F' || p[6] != 1)
		return false;
	e->form = p[4] == 2 ? &wide : &narrow;
	e->is_big = p[5] == 2;
	return (p[4] == 1 || p[4] == 2) && (p[5] == 1 || p[5] == 2);
}

struct elf_segment
elf_segment(const struct elf *e, unsigned i)
{
	const struct elf_form *f = e->form;
	uint64_t at = e->headers + (uint64_t)i * f->header.bytes;

	return (struct elf_segment){
		.type = (uint32_t)fetch(e, at, 4),
		.flags = (uint32_t)fetch(e, at + f->header.flags, 4),
		.offset = fetch_word(e, at + f->header.offset),
		.addr = fetch_word(e, at + f->header.addr),
		.file_bytes = fetch_word(e, at + f->header.file_bytes),
		.mem_bytes = fetch_word(e, at + f->header.mem_bytes),
		.align = fetch_word(e, at + f->header.align),
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
	const struct elf_form *f = e->form;
	uint64_t sections = fetch_word(e, f->file.sections);
	uint64_t count = fetch(e, f->file.section_count, 2);

	if (fetch(e, f->file.section_bytes, 2) != f->section.bytes ||
			!is_inside(sections, count * f->section.bytes, e->bytes))
		return;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = sections + i * f->section.bytes;
		uint64_t link = fetch(e, at + f->section.link, 4);
		uint64_t text = sections + link * f->section.bytes;

		if (fetch(e, at + 4, 4) != SHT_SYMTAB || link >= count)
			continue;
		if (!is_inside(fetch_word(e, at + f->section.offset),
			fetch_word(e, at + f->section.size), e->bytes) ||
		    !is_inside(fetch_word(e, text + f->section.offset),
			fetch_word(e, text + f->section.size), e->bytes))
			continue;
		e->symtab = fetch_word(e, at + f->section.offset);
		e->symbols = fetch_word(e, at + f->section.size) / f->symbol.bytes;
		e->strtab = fetch_word(e, text + f->section.offset);
		e->strtab_bytes = fetch_word(e, text + f->section.size);
		return;
	}
}

int
elf_open(struct elf *e, const void *image, size_t bytes)
{
	*e = (struct elf){.image = image, .bytes = bytes};
	if (!take_form(e))
		return -E_INVAL;
	e->type = (uint16_t)fetch(e, 16, 2);
	e->machine = (uint16_t)fetch(e, 18, 2);
	e->entry = fetch_word(e, 24);
	e->headers = fetch_word(e, e->form->file.headers);
	e->segments = (uint16_t)fetch(e, e->form->file.count, 2);
	if (e->type != ELF_TYPE_EXEC && e->type != ELF_TYPE_DYN)
		return -E_INVAL;
	if (e->segments > 0 && fetch(e, e->form->file.header_bytes, 2) != e->form->header.bytes)
		return -E_INVAL;
	if (!is_inside(e->headers, (uint64_t)e->segments * e->form->header.bytes, bytes))
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
		for (uint64_t at = s.offset, word = e->form->word;
				at + 2 * word <= s.offset + s.file_bytes; at += 2 * word) {
			uint64_t tag = fetch_word(e, at);

			if ((tag == DT_RELASZ || tag == DT_RELSZ || tag == DT_RELRSZ) &&
				fetch_word(e, at + word) != 0)
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
		uint64_t at = e->symtab + i * e->form->symbol.bytes;
		uint64_t value = fetch_word(e, at + e->form->symbol.value);
		uint64_t size = fetch_word(e, at + e->form->symbol.size);

		if ((fetch(e, at + e->form->symbol.info, 1) & 15) != STT_FUNC || addr < value ||
				addr - value >= (size ? size : 1))
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
		uint64_t at = e->symtab + i * e->form->symbol.bytes;
		const char *have = string_at(e, fetch(e, at, 4));

		if (have == NULL || fetch(e, at + e->form->symbol.index, 2) == 0 ||
			!str_is_equal(have, name))
			continue;
		*addr = fetch_word(e, at + e->form->symbol.value);
		return 0;
	}
	return -E_NOENT;
}
