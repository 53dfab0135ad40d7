/* SPDX-License-Identifier: MIT
 *
 * First instructions of a program: argument register and stack as they came, to start_server.
 */
	.text
	.globl	_start
	.hidden	start_server
	.type	_start, @function
_start:
	l.ori	r4, r1, 0
	l.addi	r2, r0, -16
	l.and	r1, r1, r2
	l.movhi	r2, 0
	l.j	start_server
	l.movhi	r9, 0
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
