/* SPDX-License-Identifier: MIT
 *
 * Contract between the personality (user/personality) and whoever maps it into a process
 * (servers/proc).
 *
 * The image's entry is the handler of calls (proc_handler) of the process's threads, each on a
 * stack of its own: thread number i of the process has [top - (i + 1) * STACK, top - i * STACK).
 * Stacks 0 .. stacks - 1 are mapped. The others are not even reserved, for what is reserved the
 * kernel walks at the end of the process: memory that a process asks for lies as low as it can, so
 * that it comes to where they lie only if there is a gigabyte of it. The image needs no relocation.
 */
#ifndef ATOLL_PERSONALITY_H
#define ATOLL_PERSONALITY_H

#include <stdint.h>

#define PERSONALITY_STACK_BYTES 4096
#define PERSONALITY_STACK_TOP 0x40000000ul
#define PERSONALITY_THREADS_MAX 512

/*
 * Of the notification of each thread: an answer to the personality has come. It may be set without
 * a reason at any time, also for who sleeps for any bit.
 */
#define PERSONALITY_BIT 30
/* Signals may have come, or the time of an alarm; below PERSONALITY_BIT. */
#define PERSONALITY_SIGNAL_BIT 29

/*
 * A call of the personality's own: fill a block, of PROCESS_INHERIT_MAX bytes, with what processes
 * are to inherit that the caller asks for (servers/proc/client.h); its bytes. What is open they can
 * take as long as this process is there.
 */
#define PERSONALITY_INHERIT 4093

/* Those of atoll/execac.h: execac(core, path, args, envs); rfork(flags), its first half */
#define PERSONALITY_EXECAC 4091
#define PERSONALITY_RFORK 4092

/*
 * And those of atoll/zio.h: (fd or -1, FILE_ZIO_* (servers/file/protocol.h), offset, arg with
 * `more` above 32 bits, struct zio_answer)
 */
#define PERSONALITY_ZIO 4090

/*
 * In the boot archive of a machine that is to say which calls of Linux's a program finds missing:
 * the name of each, by its number, with zeros behind it.
 */
#define PERSONALITY_CALLS "etc/calls"
#define PERSONALITY_CALL_BYTES 32

/* Filled before the process starts; found in the image by its symbol, personality_info. */
struct personality_info {
	uint64_t stack_top;
	/* address of the process's struct job_control, which lies behind the image; 0: none */
	uint64_t control;
	uint32_t stacks;	/* mapped so far */
	uint32_t page_bytes;
	int32_t pid;		/* servers/proc/client.h */
	int32_t parent;		/* its pid; 0: not known here */
	uint64_t inherit;	/* address of what its parent left it; 0: nothing */
	uint64_t program;	/* address of its program's path in the boot archive */
	uint32_t inherit_bytes;
	uint32_t is_child;	/* a program has asked for it */
	uint32_t stops;		/* it is a shell with a terminal, or was started by one */
	uint32_t has_fixup;	/* the personality's own: its kernel knows HANDLE_FIXUP */
	uint32_t calls;		/* how many names PERSONALITY_CALLS has, and where */
	uint32_t calls_at;	/* in the boot archive */
	uint32_t parts;		/* of the tree of files that other clusters' servers have */
	uint32_t text_pages;	/* that the image begins with */
	/* the image: whole pages; those from `data` on are this process's */
	uint64_t image, image_bytes, data, data_bytes;
};

#endif
