/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on the hosted port: an ordinary function call to the gate, whose address came with
 * the start-up record.
 */
#ifndef USERCPU_KCALL_H
#define USERCPU_KCALL_H

typedef long kcall_gate(unsigned long nr, unsigned long a0, unsigned long a1, unsigned long a2,
	unsigned long a3, unsigned long a4,
    unsigned long a5);

/* Set by startup_set before the program's first kernel call. */
extern kcall_gate *kcall_gate_address __attribute__((visibility("hidden")));

#define kcall6(nr, a0, a1, a2, a3, a4, a5) kcall_gate_address(nr, a0, a1, a2, a3, a4, a5)
#define kcall5(nr, a0, a1, a2, a3, a4) kcall6(nr, a0, a1, a2, a3, a4, 0)
#define kcall4(nr, a0, a1, a2, a3) kcall6(nr, a0, a1, a2, a3, 0, 0)
#define kcall3(nr, a0, a1, a2) kcall6(nr, a0, a1, a2, 0, 0, 0)
#define kcall2(nr, a0, a1) kcall6(nr, a0, a1, 0, 0, 0, 0)
#define kcall1(nr, a0) kcall6(nr, a0, 0, 0, 0, 0, 0)
#define kcall0(nr) kcall6(nr, 0, 0, 0, 0, 0, 0)

/* What calls go through, for those who keep it, and a call without arguments through it. */
#define kcall_way() ((uintptr_t)kcall_gate_address)
#define kcall_by(way, nr) (((kcall_gate *)(way))(nr, 0, 0, 0, 0, 0, 0))

#endif
