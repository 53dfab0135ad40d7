/* SPDX-License-Identifier: MIT
 *
 * First instructions of a server: argument register and stack as they came, to start_server.
 */
	.text
	.globl	_start
	.hidden	start_server
	.type	_start, @function
_start:
	xor	%ebp, %ebp
	mov	%rsp, %rsi
	and	$-16, %rsp
	call	start_server
	ud2
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
