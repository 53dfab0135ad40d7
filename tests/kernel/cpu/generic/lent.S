/* SPDX-License-Identifier: MIT
 *
 * Machines that cannot lend cores have no program for one (tests/kernel/lend.c).
 */
	.section .rodata
	.balign 4
	.globl lent_code
	.globl lent_bytes
lent_code:
lent_bytes:
	.4byte 0
	.section .note.GNU-stack, "", @progbits
