/* SPDX-License-Identifier: MIT
 *
 * Contract between the generated kernel-call stubs (tools/kcallgen.py, build/gen/kcall_kernel.c)
 * and the kernel.
 *
 * The dispatcher (kernel/call) takes number - KC_FIRST < KC_COUNT and runs
 * kcall_table[nr].enter(core, caller, frame, &kcall_table[nr]) on the calling core. What it returns
 * is the call's result; or -E_PROBE: nothing has happened, for memory of the user could not be
 * reached; or -E_PARK: there is no result now. Then the thread waits, unless it has ended. A parked
 * call whose entry has `finish` ends with
 *	result = finish(frame, result, data)
 * on the thread's own core and in its address space, where data (KCALL_WAKE_BYTES at most) is what
 * the wake-up brought.
 */
#ifndef KERNEL_CALL_KCALL_GLUE_H
#define KERNEL_CALL_KCALL_GLUE_H

#include <stddef.h>
#include <stdint.h>

struct core;
struct thread;
struct hal_frame;

#define KCALL_DATA 136		/* bytes of `in` and `out` buffers that travel with the arguments */

/* Where a call leaves what it tells: the stubs have aligned that for words of 64 bits. */
#define KCALL_OUT_WORD(to) __builtin_assume_aligned((to), sizeof(uint64_t))

/* Arguments of one remote call. A call uses a leading part of it: `bytes` of am_call_kernel. */
struct kcall_args {
	struct thread *caller;
	unsigned long a[6];	/* plain values, lengths, and addresses in the staging buffer */
	_Alignas(8) unsigned char data[KCALL_DATA];
};

/* Runs on the kernel core inside the active message. Returns the call's result; never blocks. */
typedef long kcall_serve_fn(struct kcall_args *args);

/* How a call is executed. */
#define KCALL_LOCAL 1		/* kc_NAME runs on the calling core */
#define KCALL_REMOTE 2		/* kc_NAME runs on the kernel core */
#define KCALL_BLOCKS 4		/* may return -E_PARK */
#define KCALL_FAST 8		/* local, no buffers, never blocks */
/* Its one buffer, where kcall_enter_remote enters it. */
#define KCALL_IN 16		/* copied in */
#define KCALL_OUT 32		/* copied out */
#define KCALL_LENGTH 64		/* of KCALL_IN: the word behind the address says how long it is */
#define KCALL_STAGED 128	/* of KCALL_IN: does not travel with the arguments */

struct kcall_entry {
	long (*enter)(struct core *core, struct thread *caller, struct hal_frame *frame,
		const struct kcall_entry *e);
	union {
		/* NULL: nothing to copy out */
		long (*finish)(struct hal_frame *frame, long result, const void *data);
		kcall_serve_fn *serve;	/* where enter is kcall_enter_remote */
	};
	uint8_t flags;		/* KCALL_* */
	/*
	 * its deadline is this argument word, from 1 (and the next, where words are short); 0: it
	 * has none
	 */
	uint8_t until;
	/* for kcall_enter_remote: */
	uint8_t words;		/* argument words, the addresses of buffers among them */
	uint8_t buffer;		/* the argument word that is its buffer's address, if it has one */
	unsigned long size;	/* of its buffer at most, in bytes */
};	/* four words: the table is indexed by a shift */

_Static_assert(sizeof(struct kcall_entry) == 4 * sizeof(long), "indexed by a shift");

/*
 * Enter a remote call with at most one buffer, as its entry describes it: its arguments and its
 * `in` buffer go into the message, its `out` buffer is probed, and copied out if the result is not
 * negative. Runs on the calling core; never blocks. The result of e->serve, or -E_INVAL: the buffer
 * is longer than e->size; -E_PROBE: the buffer cannot be reached, and nothing has happened;
 * -E_FAULT: it was taken away while the call ran. Remote calls that are made often have a stub of
 * their own.
 */
long kcall_enter_remote(struct core *core, struct thread *caller, struct hal_frame *frame,
	const struct kcall_entry *e);

/*
 * Copy out the one buffer of a local call that has it: `size` bytes from `data` to the address that
 * is argument word `word`, if the result is not negative. Runs on the thread's own core. The
 * result, or -E_FAULT.
 */
long kcall_give(struct hal_frame *frame, long result, const void *data, int word, size_t size);

/*
 * Run fn(args) on the kernel core and wait for its result. The first `bytes` bytes of *args are
 * visible to fn, and what fn wrote there is visible to the caller afterwards. On the kernel core
 * itself: calls fn directly.
 */
long am_call_kernel(struct core *core, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes);

/*
 * The same where the caller may be gone after the answer, or looks by itself at what its doorbell
 * rang for; no call of the thread is counted.
 */
long am_call_last(struct core *core, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes);

#endif
