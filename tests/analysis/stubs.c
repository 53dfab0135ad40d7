/* SPDX-License-Identifier: MIT
 *
 * How all kernel calls are entered, by generated stubs or by what the table says of them, with
 * arguments of any value: they keep inside the core's areas for arguments and staged memory, and
 * copy out nothing that was not written.
 */
#include "unknown.h"
#include <kernel/call/kcall_core.h>

/* As an expression: what was compared is then known to be what is used. */
#define hal_frame_arg(frame, i) ((frame)->x[10 + (i)])
#include "../../kernel/call/enter.c"
#include "kcall_kernel.c"

static struct core core;
static struct thread caller;

/* The user's memory holds anything, and is there or not. */
int
hal_copy_in(void *to, unsigned long from, size_t len)
{
	(void)from;
	unknown_bytes(to, len);
	return (int)unknown(0, 1) - 1;
}

/*@ requires \valid_read((const unsigned char *)from + (0 .. len - 1));
    requires \initialized((const unsigned char *)from + (0 .. len - 1));
    assigns \result \from to; ensures \result == 0 || \result == -1; */
int hal_copy_out(unsigned long to, const void *from, size_t len);

int
hal_user_probe(unsigned long addr, size_t len)
{
	(void)addr, (void)len;
	return (int)unknown(0, 1) - 1;
}

long
am_call_kernel(struct core *of, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes)
{
	(void)of;
	//@ assert room: bytes <= sizeof(*args);
	return fn(args);
}

long
am_call_last(struct core *of, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes)
{
	return am_call_kernel(of, fn, args, bytes);
}

int
main(void)
{
	struct hal_frame frame;
	long result;

	for (unsigned nr = 0; nr < KC_COUNT; nr++) {
		/* so that the entry of the table is known, where one function enters many calls */
		//@ split nr;
		unknown_bytes(&frame, sizeof(frame));
		result = kcall_table[nr].enter(&core, &caller, &frame, &kcall_table[nr]);
		if (result == -E_PARK && (kcall_table[nr].flags & KCALL_BLOCKS) &&
			kcall_table[nr].finish != NULL) {
			unsigned char brought[KCALL_WAKE_BYTES];

			unknown_bytes(brought, sizeof(brought));
			kcall_table[nr].finish(&frame, (long)unknown(0, 1) - 1, brought);
		}
	}
	return 0;
}

/*
 * What a call does, generated from abi/kcalls.tbl: reads whole `in` buffers, fills `out` buffers.
 */
#include "kc_models.h"
