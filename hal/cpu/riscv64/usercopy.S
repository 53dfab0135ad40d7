/* SPDX-License-Identifier: MIT
 *
 * Access to user memory. While `fixup` is set, a page fault at a user address goes on there with t0
 * and t1 changed; the arguments then go to a function in user.c, whose result is the access's.
 * Addresses were checked to lie in the user half.
 */
#include "layout.h"

	.macro user_begin fix
	lla	t0, \fix
	li	t1, SSTATUS_SUM
	csrs	sstatus, t1
	sd	t0, AREA_FIXUP(tp)
	.endm

	.macro user_end
	sd	zero, AREA_FIXUP(tp)
	li	t1, SSTATUS_SUM
	csrc	sstatus, t1
	.endm

	.text
/*
 * int hal_copy_user(to, from, len): 0 or -E_FAULT. 8 bytes at a time where both ends can be
 * aligned, 32 in a row
 */
	.globl hal_copy_user
hal_copy_user:
	user_begin copy_fault
	mv	a6, a0
	mv	a7, a1
	add	a5, a0, a2		/* end */
	xor	t2, a0, a1
	andi	t2, t2, 7
	bnez	t2, bytes
head:	andi	t2, a0, 7
	beqz	t2, words
	bgeu	a0, a5, done
	lbu	t3, 0(a1)
	sb	t3, 0(a0)
	addi	a1, a1, 1
	addi	a0, a0, 1
	j	head
words:	sub	t2, a5, a0
	li	t6, 32
	bltu	t2, t6, 2f
1:	ld	t3, 0(a1)
	ld	t4, 8(a1)
	ld	t5, 16(a1)
	ld	a3, 24(a1)
	sd	t3, 0(a0)
	sd	t4, 8(a0)
	sd	t5, 16(a0)
	sd	a3, 24(a0)
	addi	a1, a1, 32
	addi	a0, a0, 32
	addi	t2, t2, -32
	bgeu	t2, t6, 1b
2:	li	t6, 8
	bltu	t2, t6, bytes
	ld	t3, 0(a1)
	sd	t3, 0(a0)
	addi	a1, a1, 8
	addi	a0, a0, 8
	addi	t2, t2, -8
	j	2b
bytes:	bgeu	a0, a5, done
	lbu	t3, 0(a1)
	sb	t3, 0(a0)
	addi	a1, a1, 1
	addi	a0, a0, 1
	j	bytes
done:	user_end
	li	a0, 0
	ret

copy_fault:
	user_end
	mv	a0, a6
	mv	a1, a7
	tail	hal_copy_faulted

/* int hal_touch_user(first, last): write nothing to two words of user memory: 0 or -E_FAULT */
	.globl hal_touch_user
hal_touch_user:
	user_begin touch_fault
	amoor.w	zero, zero, (a0)
	amoor.w	zero, zero, (a1)
	user_end
	li	a0, 0
	ret

touch_fault:
	user_end
	tail	hal_touch_faulted

/* int hal_load_user(from, value): 0 or -E_FAULT */
	.globl hal_load_user
hal_load_user:
	user_begin load_fault
	lw	t2, 0(a0)
	fence	r, rw
	user_end
	sw	t2, 0(a1)
	li	a0, 0
	ret

load_fault:
	user_end
	tail	hal_load_faulted
