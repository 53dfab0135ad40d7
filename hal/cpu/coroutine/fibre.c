/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: what the sanitizers must know about stacks. Without a sanitizer all of this
 * is nothing.
 */
#include "internal.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

static const void *outside_bottom;
static size_t outside_bytes;

void
coro_stack_unpoison(struct coro_core *core)
{
	__asan_unpoison_memory_region(core->stack, STACK_BYTES);
}

/* The running stack is about to be left: for a core's, or for the one outside (NULL). */
void
coro_fibre_to(struct coro_core *core, void **save_fake)
{
	if (core == NULL)
		__sanitizer_start_switch_fiber(save_fake, outside_bottom, outside_bytes);
	else if (core->in_user)
		__sanitizer_start_switch_fiber(save_fake, (char *)core->sp - STACK_BYTES,
			2 * STACK_BYTES);
	else
		__sanitizer_start_switch_fiber(save_fake, core->stack, STACK_BYTES);
}

void
coro_fibre_arrived(void *fake)
{
	const void *bottom;
	size_t bytes;

	__sanitizer_finish_switch_fiber(fake, &bottom, &bytes);
	if (outside_bottom == NULL && coro_machine.switches == 0) {
		outside_bottom = bottom;
		outside_bytes = bytes;
	}
}
#else
void
coro_stack_unpoison(struct coro_core *core)
{
	(void)core;
}

void
coro_fibre_to(struct coro_core *core, void **save_fake)
{
	(void)core;
	(void)save_fake;
}

void
coro_fibre_arrived(void *fake)
{
	(void)fake;
}
#endif
