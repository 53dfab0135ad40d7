/* SPDX-License-Identifier: MIT
 *
 * What the generated entry stubs take from a core.
 */
#ifndef KERNEL_CALL_KCALL_CORE_H
#define KERNEL_CALL_KCALL_CORE_H

#include <base/tune.h>
#include <kernel/call/kcall_glue.h>
#include <kernel/cluster.h>

/*
 * The core's area for the arguments of its remote call: free whenever a user thread enters the
 * kernel.
 */
hot_inline struct kcall_args *
kcall_args(struct core *core)
{
	return &core->call.args;
}

/*
 * The core's buffer of KCALL_STAGING_BYTES for `in` buffers that do not fit into kcall_args;
 * aligned to 8 bytes.
 */
hot_inline void *
kcall_staging(struct core *core)
{
	return core->staging;
}

#endif
