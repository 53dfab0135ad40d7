/* SPDX-License-Identifier: MIT
 *
 * Beginnings and ends of functions that are compiled with -msave-restore: `call t0, __riscv_save_N`
 * makes room for ra and the registers s0 to s(N-1) and keeps them, `tail __riscv_restore_N` is the
 * end of the function. Two numbers have one frame, for stacks lie at 16 bytes.
 */

.macro both what, one, other
	.globl __riscv_\what\()_\one, __riscv_\what\()_\other
	.hidden __riscv_\what\()_\one, __riscv_\what\()_\other
__riscv_\what\()_\one:
__riscv_\what\()_\other:
.endm

/* the registers from \first on lie one behind the other, ra is the highest */
.macro keep bytes, first, regs:vararg
	addi sp, sp, -\bytes
	.set at, \first
	.irp r, \regs
	sd \r, at(sp)
	.set at, at + 8
	.endr
	jr t0
.endm

	.section .text.save, "ax"
	both save, 12, 12x
	keep 112, 8, s11, s10, s9, s8, s7, s6, s5, s4, s3, s2, s1, s0, ra
	both save, 11, 10
	keep 96, 0, s10, s9, s8, s7, s6, s5, s4, s3, s2, s1, s0, ra
	both save, 9, 8
	keep 80, 0, s8, s7, s6, s5, s4, s3, s2, s1, s0, ra
	both save, 7, 6
	keep 64, 0, s6, s5, s4, s3, s2, s1, s0, ra
	both save, 5, 4
	keep 48, 0, s4, s3, s2, s1, s0, ra
	both save, 3, 2
	keep 32, 0, s2, s1, s0, ra
	both save, 1, 0
	keep 16, 0, s0, ra

.macro give high, low
	ld \high, 0(sp)
	ld \low, 8(sp)
	addi sp, sp, 16
.endm

	both restore, 12, 12x
	ld s11, 8(sp)
	addi sp, sp, 16
	both restore, 11, 10
	give s10, s9
	both restore, 9, 8
	give s8, s7
	both restore, 7, 6
	give s6, s5
	both restore, 5, 4
	give s4, s3
	both restore, 3, 2
	give s2, s1
	both restore, 1, 0
	give s0, ra
	ret
