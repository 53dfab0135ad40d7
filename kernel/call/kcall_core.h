/* SPDX-License-Identifier: MIT
 *
 * What the generated entry stubs take from a core. May become inline functions where struct core is known.
 */
#ifndef KERNEL_CALL_KCALL_CORE_H
#define KERNEL_CALL_KCALL_CORE_H

#include <kernel/call/kcall_glue.h>

/* The core's area for the arguments of its remote call: free whenever a user thread enters the kernel. */
struct kcall_args *kcall_args(struct core *core);

/* The core's buffer of KCALL_STAGING_BYTES for `in` buffers that do not fit into kcall_args; aligned to 8 bytes. */
void *kcall_staging(struct core *core);

#endif
