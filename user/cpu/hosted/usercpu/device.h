/* SPDX-License-Identifier: MIT
 *
 * Order of accesses to memory and to registers of devices: those before come before those behind.
 */
#ifndef USERCPU_DEVICE_H
#define USERCPU_DEVICE_H

static inline void
device_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
