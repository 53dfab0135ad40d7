/* SPDX-License-Identifier: MIT
 *
 * First instructions of a server: argument register and stack as they came, to start_server.
 */
	.text
	.globl	_start
	.hidden	start_server
	.type	_start, @function
_start:
	mv	a1, sp
	andi	sp, sp, -16
	li	fp, 0
	li	ra, 0
	tail	start_server
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
