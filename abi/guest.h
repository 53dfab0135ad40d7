/* SPDX-License-Identifier: MIT
 *
 * Threads that the host's system made, not ours (hosted port): how they become guests of the
 * kernel, and cease to be. Only such threads may ask; the gate's answer to any other call of theirs
 * is -E_PERM.
 */
#ifndef ABI_GUEST_H
#define ABI_GUEST_H

/*
 * gate(GUEST_ENTER, image, &entry): the calling thread becomes one of the process that has the
 * address `image`. It must leave before it ends. Returns its handle; -E_NOSPC: too many guests;
 * -E_NOMEM; -E_MFILE; -E_SRCH: no such process.
 */
#define GUEST_ENTER 0x47554553

struct guest_entry {
	void (*leave)(void);
};

/*
 * Signals of the host by which the kernel stops threads, for a doorbell and for a tick; a program
 * may not block them.
 */
#define GUEST_SIGNAL_DOORBELL 23	/* SIGURG: ignored by default, unused by libc */
#define GUEST_SIGNAL_TICK 61

#endif
