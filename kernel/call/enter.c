/* SPDX-License-Identifier: MIT
 *
 * The entry of calls that need no stub of their own, by what the generated table says of them.
 */
#include <stddef.h>
#include <hal/atomic.h>
#include <hal/trap.h>
#include <kernel/kcalls.h>
#include <kernel/call/kcall_core.h>

long
kcall_give(struct hal_frame *frame, long result, const void *data, int word, size_t size)
{
	if (result >= 0 && hal_copy_out(hal_frame_arg(frame, word), data, size) != 0)
		return -E_FAULT;
	return result;
}

/* The call's `in` buffer: beside the arguments, or staged and published. */
static long
buffer_in(struct core *core, const struct kcall_entry *e, struct kcall_args *args)
{
	void *to = e->flags & KCALL_STAGED ? kcall_staging(core) : args->data;
	unsigned long size = e->size;

	if (e->flags & KCALL_LENGTH) {
		size = args->a[e->buffer + 1];
		if (size > e->size)
			return -E_INVAL;
	}
	if (hal_copy_in(to, args->a[e->buffer], size) != 0)
		return -E_PROBE;
	if (e->flags & KCALL_STAGED) {
		hal_publish(to, size);
		args->a[e->buffer] = (unsigned long)to;
	}
	return 0;
}

/* Leading bytes of struct kcall_args that the call uses. */
static uint32_t
used_bytes(const struct kcall_entry *e)
{
	if (e->flags & (KCALL_IN | KCALL_OUT) && !(e->flags & KCALL_STAGED))
		return (uint32_t)(offsetof(struct kcall_args, data) + ((e->size + 7) & ~7ul));
	return (uint32_t)(offsetof(struct kcall_args, a) + e->words * sizeof(unsigned long));
}

long
kcall_enter_remote(struct core *core, struct thread *caller, struct hal_frame *frame,
	const struct kcall_entry *e)
{
	struct kcall_args *args = kcall_args(core);
	long result = 0;

	args->caller = caller;
	for (int i = 0; i < e->words; i++)
		args->a[i] = hal_frame_arg(frame, i);
	if (e->flags & KCALL_IN)
		result = buffer_in(core, e, args);
	else if (e->flags & KCALL_OUT && hal_user_probe(args->a[e->buffer], e->size) != 0)
		result = -E_PROBE;
	if (result < 0)
		return result;
	result = am_call_kernel(core, e->serve, args, used_bytes(e));
	return e->flags & KCALL_OUT ? kcall_give(frame, result, args->data, e->buffer, e->size) :
		result;
}
