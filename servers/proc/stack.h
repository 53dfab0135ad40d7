/* SPDX-License-Identifier: MIT
 *
 * The first stack of a program: argument count, arguments, environment, auxiliary vector, as the
 * ELF ABI of Linux wants them. Written into memory that lies elsewhere in the program's address
 * space. No kernel calls: tested on its own.
 */
#ifndef SERVERS_PROC_STACK_H
#define SERVERS_PROC_STACK_H

#include <stddef.h>
#include <stdint.h>
#include <abi/startup.h>
#include <base/parse.h>

struct stack_input {
	struct text program;		/* argv[0] */
	const struct text *arg;		/* argv[1] and so on */
	uint32_t args;
	const struct text *env;
	uint32_t envs;
	struct startup *startup;	/* copied onto the stack; AT_ATOLL points to the copy */
	uint64_t headers;		/* AT_PHDR: address */
	uint64_t header_bytes;
	uint64_t header_count;
	uint64_t entry;			/* address */
	uint64_t page_bytes;
	uint64_t random[2];
};

struct stack_place {
	unsigned char *memory;		/* the writer's view of the stack */
	uint64_t addr;			/* its address in the program */
	size_t bytes;
	/* results */
	uint64_t sp;
	uint64_t startup;		/* address of the copy */
};

/*
 * Write the stack; fills place->sp (aligned to 16 bytes) and place->startup. 0, or -E_2BIG: it
 * takes more than half of the stack.
 */
int stack_build(struct stack_place *place, const struct stack_input *in);

#endif
