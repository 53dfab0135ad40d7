/* SPDX-License-Identifier: MIT
 *
 * Bytes copied by one instruction, which has many lines on their way at once.
 */
#ifndef USERCPU_COPY_H
#define USERCPU_COPY_H

#include <stddef.h>

static inline void
copy_by_instruction(void *to, const void *from, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

#endif
