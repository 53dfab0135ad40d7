/* SPDX-License-Identifier: MIT
 *
 * Where the kernel enters with a trapped Linux call: a0 = sp = address of the thread's struct context. Never returns.
 */
	.text
	.globl	_start
	.hidden	personality_main
	.type	_start, @function
_start:
	andi	sp, sp, -16
	li	fp, 0
	li	ra, 0
	tail	personality_main
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
