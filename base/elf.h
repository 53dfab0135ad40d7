/* SPDX-License-Identifier: MIT
 *
 * Reader for ELF images in memory, of either class and byte order. Nothing in the file is believed:
 * every offset and length is checked against the image before use, so that a malformed file gives
 * an error and never an access outside.
 */
#ifndef BASE_ELF_H
#define BASE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MACHINE_X86_64 62
#define ELF_MACHINE_OR1K 92
#define ELF_MACHINE_RISCV 243

#define ELF_TYPE_EXEC 2
#define ELF_TYPE_DYN 3

/* segment types and flags that matter here */
#define ELF_LOAD 1
#define ELF_DYNAMIC 2
#define ELF_INTERP 3
#define ELF_TLS 7
#define ELF_FLAG_EXEC 1
#define ELF_FLAG_WRITE 2
#define ELF_FLAG_READ 4

struct elf_form;

struct elf {
	const unsigned char *image;
	size_t bytes;
	const struct elf_form *form;	/* class */
	bool is_big;		/* byte order */
	uint16_t machine;
	uint16_t type;		/* ELF_TYPE_* */
	uint64_t entry;		/* offset from the image base (ELF_TYPE_DYN) */
	uint64_t headers;	/* file offset of the program headers */
	uint16_t segments;	/* number of program headers */
	/* symbol table; symbols is 0 if there is none */
	uint64_t symtab;
	uint64_t symbols;
	uint64_t strtab;
	uint64_t strtab_bytes;
};

struct elf_segment {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t addr;
	uint64_t file_bytes;
	uint64_t mem_bytes;
	uint64_t align;
};

/*
 * Read the headers of an image. 0, or -E_INVAL if it is not a well-formed ELF executable: bad
 * magic, class or byte order, headers or a loadable segment outside the file, a segment whose file
 * size exceeds its memory size or whose end wraps.
 */
int elf_open(struct elf *e, const void *image, size_t bytes);

/* Program header i < e->segments. */
struct elf_segment elf_segment(const struct elf *e, unsigned i);

/* Lowest and highest address of the loadable segments. -E_INVAL if there is none. */
int elf_span(const struct elf *e, uint64_t *first, uint64_t *limit);

/*
 * Name the function that contains `addr` (offset from the image base). NULL without symbols or
 * outside every function. The name lies in the image and is ended by a zero byte.
 */
const char *elf_symbol_at(const struct elf *e, uint64_t addr, uint64_t *offset);

/* Does the image ask to be relocated at start (a dynamic section with relocations)? */
bool elf_is_relocated(const struct elf *e);

/* Address of a named function or object. 0, or -E_NOENT. */
int elf_symbol_find(const struct elf *e, const char *name, uint64_t *addr);

#endif
