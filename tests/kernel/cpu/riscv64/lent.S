/* SPDX-License-Identifier: MIT
 *
 * A program for a core that is lent, as tests/kernel/lend.c copies it to the start of its memory:
 * a0 says what it does (enum lent_job there), a1 its address, a2 its bytes. It leaves what it found
 * at FOUND.
 */
#define FOUND 0x400
#define STIMECMP 0x14d
#define SIE_STIE 32

	.section .rodata
	.balign 8
	.globl lent_code
lent_code:
	.option push
	.option norvc
	.option norelax
	.option arch, +d
	mv	s0, a1
	add	s1, a1, a2
	li	t0, 1
	beq	a0, t0, traps
	li	t0, 2
	beq	a0, t0, spins
	li	t0, 3
	beq	a0, t0, leaves
	li	t0, 4
	beq	a0, t0, rings
	li	t0, 5
	beq	a0, t0, spoils
	li	t0, 6
	beq	a0, t0, ends_below_zero

	/* 0: says where it is */
	sd	a1, FOUND(s0)
	sd	a2, FOUND + 8(s0)
	li	a0, 42
	ecall

	/* 1: an instruction that there is not, and what lies before and behind the memory */
traps:	lla	t0, counts
	csrw	stvec, t0
	li	s2, 0
	unimp
	ld	t1, -8(s0)
	sd	zero, 0(s1)
	mv	a0, s2
	ecall
	.balign 4
counts:	csrr	t1, scause
	li	t2, 1
	sll	t2, t2, t1
	or	s2, s2, t2
	csrr	t1, sepc
	addi	t1, t1, 4
	csrw	sepc, t1
	sret

	/* 2: until somebody takes the core away */
spins:	csrw	sie, zero
	li	t0, 0
1:	addi	t0, t0, 1
	sd	t0, FOUND(s0)
	j	1b

	/* 3: to an address that is not its own, without a handler */
leaves:	li	t0, 0x1000
	jr	t0

	/* 4: sleeps until its own timer rings */
rings:	lla	t0, rung
	csrw	stvec, t0
	li	s2, 0
	csrr	t0, time
	li	t1, 2000
	add	t0, t0, t1
	csrw	STIMECMP, t0
	li	t0, SIE_STIE
	csrw	sie, t0
1:	wfi				/* ends with interrupts off, too */
	csrsi	sstatus, 2
	csrci	sstatus, 2
	beqz	s2, 1b
	mv	a0, s2
	ecall
	.balign 4
rung:	csrr	s2, scause
	li	t1, -1
	csrw	STIMECMP, t1
	andi	s2, s2, 0x3f
	sret

	/* 5: all that a core has which a thread or a kernel cares for */
spoils:	li	t0, 0x12345
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\
		16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	fmv.d.x	f\n, t0
	.endr
	csrw	fcsr, 0x11
	csrw	stvec, zero
	csrw	sscratch, t0
	csrw	scounteren, zero
	li	t0, -1
	csrw	STIMECMP, zero
	csrw	sie, t0
	li	t0, -3			/* interrupts stay off */
	csrs	sstatus, t0
	li	a0, 5
	ecall

	/* 6: more than 31 bits */
ends_below_zero:
	li	a0, -1
	ecall
	.option pop
lent_end:
	.balign 4
	.globl lent_bytes
lent_bytes:
	.4byte lent_end - lent_code
