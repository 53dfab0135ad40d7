/* SPDX-License-Identifier: MIT
 *
 * The ELF reader, on a small image made here and on every way to spoil it.
 *
 * needs: base/elf.c base/str.c
 */
#include <abi/errors.h>
#include <base/elf.h>
#include <base/test.h>

#define IMAGE 1024
#define SEGMENT 64
#define SECTIONS 256
#define SYMBOLS 512
#define STRINGS 640

static void
put(unsigned char *image, unsigned at, unsigned bytes, unsigned long long value)
{
	for (unsigned i = 0; i < bytes; i++)
		image[at + i] = (unsigned char)(value >> (8 * i));
}

static void
put_segment(unsigned char *p, unsigned i, unsigned long long addr, unsigned long long file_bytes)
{
	unsigned at = SEGMENT + i * 56;

	put(p, at, 4, ELF_LOAD);
	put(p, at + 4, 4, ELF_FLAG_READ);
	put(p, at + 8, 8, 0);
	put(p, at + 16, 8, addr);
	put(p, at + 32, 8, file_bytes);
	put(p, at + 40, 8, file_bytes + 16);
	put(p, at + 48, 8, 4096);
}

/*
 * Two segments, three sections (none, symbols, strings), one function "main" at 0x1010..0x1020. The
 * exact size is on the heap, so that the sanitizer sees every access outside. */
static unsigned char *
make(void)
{
	unsigned char *p = calloc(1, IMAGE);

	memcpy(p, "\177ELF\2\1\1", 7);
	put(p, 16, 2, ELF_TYPE_DYN);
	put(p, 18, 2, ELF_MACHINE_RISCV);
	put(p, 24, 8, 0x1010);
	put(p, 32, 8, SEGMENT);
	put(p, 40, 8, SECTIONS);
	put(p, 54, 2, 56);
	put(p, 56, 2, 2);
	put(p, 58, 2, 64);
	put(p, 60, 2, 3);
	put_segment(p, 0, 0x1000, 512);
	put_segment(p, 1, 0x3000, 256);
	put(p, SECTIONS + 64 + 4, 4, 2);
	put(p, SECTIONS + 64 + 24, 8, SYMBOLS);
	put(p, SECTIONS + 64 + 32, 8, 48);
	put(p, SECTIONS + 64 + 40, 4, 2);
	put(p, SECTIONS + 128 + 4, 4, 3);
	put(p, SECTIONS + 128 + 24, 8, STRINGS);
	put(p, SECTIONS + 128 + 32, 8, 6);
	put(p, SYMBOLS + 24, 4, 1);
	put(p, SYMBOLS + 24 + 4, 1, 2);
	put(p, SYMBOLS + 24 + 6, 2, 1);
	put(p, SYMBOLS + 24 + 8, 8, 0x1010);
	put(p, SYMBOLS + 24 + 16, 8, 0x10);
	memcpy(p + STRINGS + 1, "main", 5);
	return p;
}

/* The same in 32 bits and the other byte order, with one segment. */
static unsigned char *
make_narrow(void)
{
	static const struct { unsigned at, bytes; unsigned long value; } fields[] = {
		{16, 2, ELF_TYPE_DYN}, {18, 2, ELF_MACHINE_OR1K}, {24, 4, 0x1010}, {28, 4, 64},
			{32, 4, SECTIONS}, {42, 2, 32}, {44, 2, 1},
		{46, 2, 40}, {48, 2, 3}, {64, 4, ELF_LOAD}, {64 + 8, 4, 0x1000}, {64 + 16, 4, 512},
			{64 + 20, 4, 528}, {64 + 24, 4, ELF_FLAG_WRITE},
		{64 + 28, 4, 8192}, {SECTIONS + 40 + 4, 4, 2}, {SECTIONS + 40 + 16, 4, SYMBOLS},
			{SECTIONS + 40 + 20, 4, 32},
		{SECTIONS + 40 + 24, 4, 2}, {SECTIONS + 80 + 16, 4, STRINGS},
			{SECTIONS + 80 + 20, 4, 6}, {SYMBOLS + 16, 4, 1},
		{SYMBOLS + 16 + 4, 4, 0x1010}, {SYMBOLS + 16 + 8, 4, 0x10},
			{SYMBOLS + 16 + 12, 1, 2}, {SYMBOLS + 16 + 14, 2, 1},
	};
	unsigned char *p = calloc(1, IMAGE);

	memcpy(p, "\177ELF\1\2\1", 7);
	memcpy(p + STRINGS + 1, "main", 5);
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		for (unsigned b = 0; b < fields[i].bytes; b++)
			p[fields[i].at + b] =
				(unsigned char)(fields[i].value >> 8 * (fields[i].bytes - 1 - b));
	return p;
}

static int
open_with(unsigned at, unsigned bytes, unsigned long long value)
{
	unsigned char *p = make();
	struct elf e;
	int result;

	put(p, at, bytes, value);
	result = elf_open(&e, p, IMAGE);
	free(p);
	return result;
}

TEST(a_sound_image_is_read)
{
	unsigned char *p = make();
	struct elf e;
	uint64_t first, limit, offset;

	expect_eq(elf_open(&e, p, IMAGE), 0);
	expect_eq(e.segments, 2);
	expect_eq(e.entry, 0x1010);
	expect_eq(elf_segment(&e, 1).addr, 0x3000);
	expect_eq(elf_span(&e, &first, &limit), 0);
	expect_eq(first, 0x1000);
	expect_eq(limit, 0x3000 + 256 + 16);
	expect_str(elf_symbol_at(&e, 0x1014, &offset), "main");
	expect_eq(offset, 4);
	expect(elf_symbol_at(&e, 0x1020, &offset) == NULL);
	expect_eq(elf_symbol_find(&e, "main", &offset), 0);
	expect_eq(offset, 0x1010);
	expect_eq(elf_symbol_find(&e, "mai", &offset), -E_NOENT);
	expect(elf_symbol_at(&e, 0x100f, &offset) == NULL);
	free(p);
}

TEST(a_sound_32_bit_image_of_the_other_byte_order_is_read)
{
	unsigned char *p = make_narrow();
	struct elf e;
	uint64_t first, limit, offset;

	expect_eq(elf_open(&e, p, IMAGE), 0);
	expect_eq(e.machine, ELF_MACHINE_OR1K);
	expect_eq(e.entry, 0x1010);
	expect_eq(elf_segment(&e, 0).flags, ELF_FLAG_WRITE);
	expect_eq(elf_segment(&e, 0).align, 8192);
	expect_eq(elf_span(&e, &first, &limit), 0);
	expect_eq(first, 0x1000);
	expect_eq(limit, 0x1000 + 528);
	expect_str(elf_symbol_at(&e, 0x101f, &offset), "main");
	expect_eq(elf_symbol_find(&e, "main", &offset), 0);
	expect_eq(offset, 0x1010);
	p[64 + 17] = 1;
	expect_eq(elf_open(&e, p, IMAGE), -E_INVAL);
	free(p);
}

TEST(a_file_that_is_no_elf_is_refused)
{
	struct elf e;

	for (unsigned i = 0; i < 7; i++)
		expect_eq(open_with(i, 1, 0xff), -E_INVAL);
	expect_eq(open_with(16, 2, 1), -E_INVAL);
	expect_eq(elf_open(&e, "", 0), -E_INVAL);
}

TEST(headers_outside_the_file_are_refused)
{
	expect_eq(open_with(32, 8, IMAGE - 55), -E_INVAL);
	expect_eq(open_with(32, 8, ~0ull), -E_INVAL);
	expect_eq(open_with(56, 2, 0xffff), -E_INVAL);
	expect_eq(open_with(54, 2, 32), -E_INVAL);
}

TEST(segments_outside_the_file_or_the_address_space_are_refused)
{
	expect_eq(open_with(SEGMENT + 8, 8, IMAGE), -E_INVAL);
	expect_eq(open_with(SEGMENT + 8, 8, ~0ull - 4), -E_INVAL);
	expect_eq(open_with(SEGMENT + 32, 8, ~0ull), -E_INVAL);
	expect_eq(open_with(SEGMENT + 40, 8, 511), -E_INVAL);
	expect_eq(open_with(SEGMENT + 40, 8, ~0ull), -E_INVAL);
	expect_eq(open_with(SEGMENT + 16, 8, ~0ull - 8), -E_INVAL);
	expect_eq(open_with(SEGMENT + 48, 8, 3), -E_INVAL);
}

TEST(an_image_without_loadable_segments_has_no_span)
{
	unsigned char *p = make();
	struct elf e;
	uint64_t first, limit;

	put(p, SEGMENT, 4, 0);
	put(p, SEGMENT + 56, 4, 0);
	expect_eq(elf_open(&e, p, IMAGE), 0);
	expect_eq(elf_span(&e, &first, &limit), -E_INVAL);
	free(p);
}

TEST(an_image_with_relocations_is_told)
{
	unsigned char *p = make();
	struct elf e;

	expect_eq(elf_open(&e, p, IMAGE), 0);
	expect(!elf_is_relocated(&e));
	put(p, SEGMENT + 56, 4, ELF_DYNAMIC);
	put(p, SEGMENT + 56 + 8, 8, IMAGE - 256);
	expect(!elf_is_relocated(&e));
	put(p, IMAGE - 24, 8, 8);
	expect(!elf_is_relocated(&e));
	put(p, IMAGE - 16, 8, 8);
	put(p, IMAGE - 8, 8, 24);
	expect(elf_is_relocated(&e));
	free(p);
}

TEST(spoilt_symbols_are_ignored)
{
	static const struct { unsigned at, bytes; unsigned long long value; } spoil[] = {
		{40, 8, ~0ull}, {60, 2, 0xffff}, {58, 2, 1}, {SECTIONS + 64 + 24, 8, IMAGE},
			{SECTIONS + 64 + 32, 8, ~0ull},
		{SECTIONS + 64 + 40, 4, 99}, {SECTIONS + 128 + 24, 8, ~0ull},
		{SYMBOLS + 24, 4, 0xffffffff},
		{SECTIONS + 128 + 32, 8, 4},
	};

	for (unsigned i = 0; i < sizeof(spoil) / sizeof(spoil[0]); i++) {
		unsigned char *p = make();
		struct elf e;
		uint64_t offset;

		put(p, spoil[i].at, spoil[i].bytes, spoil[i].value);
		expect_eq(elf_open(&e, p, IMAGE), 0);
		expect(elf_symbol_at(&e, 0x1010, &offset) == NULL);
		free(p);
	}
}

TEST(every_truncation_and_every_flipped_byte_is_survived)
{
	for (unsigned len = 0; len < IMAGE; len++) {
		unsigned char *whole = make();
		unsigned char *p = malloc(len ? len : 1);
		struct elf e;
		uint64_t offset;

		memcpy(p, whole, len);
		if (elf_open(&e, p, len) == 0)
			elf_symbol_at(&e, 0x1010, &offset);
		whole[len] ^= 0x80;
		if (elf_open(&e, whole, IMAGE) == 0)
			elf_symbol_at(&e, 0x1010, &offset);
		free(whole);
		free(p);
	}
}

int
main(void)
{
	RUN(a_sound_image_is_read);
	RUN(a_sound_32_bit_image_of_the_other_byte_order_is_read);
	RUN(a_file_that_is_no_elf_is_refused);
	RUN(headers_outside_the_file_are_refused);
	RUN(segments_outside_the_file_or_the_address_space_are_refused);
	RUN(an_image_without_loadable_segments_has_no_span);
	RUN(an_image_with_relocations_is_told);
	RUN(spoilt_symbols_are_ignored);
	RUN(every_truncation_and_every_flipped_byte_is_survived);
	return TEST_FAILED;
}
