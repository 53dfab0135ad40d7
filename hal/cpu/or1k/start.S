/* SPDX-License-Identifier: MIT
 *
 * Start of every core: from reset (trap.S) to hal_main (core.c), translation and interrupts off.
 */
#include "layout.h"

	.macro word reg, value
	l.movhi	\reg, hi(\value)
	l.ori	\reg, \reg, lo(\value)
	.endm

/*
 * r4 configuration of a cache: r5 0, r6 address of the last line, r7 bytes of a line. Changes r4.
 */
	.macro cache_lines
	l.andi	r5, r4, 0x80
	l.srli	r5, r5, 3
	l.addi	r7, r5, 16
	l.srli	r4, r4, 3
	l.andi	r4, r4, 15
	l.sll	r6, r7, r4
	l.sub	r6, r6, r7
	l.ori	r5, r0, 0
	.endm

/*
 * Every core comes here from reset, in the image of cluster 0, with r0 zero: find the cluster of
 * this core in the boot record, and go on in that cluster's own image. A core of no cluster sleeps
 * for ever.
 */
	.section .text.start, "ax"
	.globl hal_start
hal_start:
	l.lwz	r16, RECORD_SLOT(r0)
	l.mfspr	r14, r0, SPR_CORE
	l.ori	r18, r0, 0
	l.lwz	r5, RECORD_CLUSTERS(r16)
	l.addi	r4, r16, RECORD_CLUSTER
3:	l.sfeq	r18, r5
	l.bf	6f
	l.lwz	r6, CLUSTER_FIRST(r4)
	l.sub	r3, r14, r6
	l.lwz	r6, CLUSTER_CORES(r4)
	l.sfltu	r3, r6
	l.bf	4f
	l.addi	r4, r4, CLUSTER_BYTES
	l.j	3b
	l.addi	r18, r18, 1
4:	l.addi	r4, r4, -CLUSTER_BYTES
	l.lwz	r6, CLUSTER_BASE(r4)
	word	r7, hal_reset - VECTOR_RESET
	l.sfeq	r6, r7
	l.bf	5f
	l.addi	r6, r6, VECTOR_RESET
	l.jr	r6
	l.nop
5:	l.mtspr	r0, r7, SPR_EVBAR
	l.ori	r14, r3, 0
	word	r10, hal_core_slots
	l.addi	r3, r3, 1
	l.slli	r3, r3, 12		/* CORE_BYTES */
	l.add	r10, r10, r3
	l.addi	r10, r10, -AREA_BYTES
	l.ori	r1, r10, 0
	l.jal	hal_caches_on
	l.nop
	l.ori	r3, r10, 0
	l.ori	r4, r14, 0
	l.ori	r5, r18, 0
	l.jal	hal_main
	l.ori	r6, r16, 0
6:	l.ori	r3, r0, PMR_DOZE
	l.mtspr	r0, r0, SPR_PICMR
	l.mtspr	r0, r3, SPR_PMR
	l.j	6b
	l.nop

/*
 * Invalidate the instruction cache and the data cache line by line, where there are any, and switch
 * them on. Leaf; keeps r10 .. r18.
 */
hal_caches_on:
	l.mfspr	r3, r0, SPR_UPR
	l.mfspr	r8, r0, SPR_SR
	l.andi	r4, r3, UPR_ICACHE
	l.sfeqi	r4, 0
	l.bf	2f
	l.mfspr	r4, r0, SPR_ICCFGR
	cache_lines
1:	l.mtspr	r0, r5, SPR_ICBIR
	l.sfltu	r5, r6
	l.bf	1b
	l.add	r5, r5, r7
	l.ori	r8, r8, SR_ICACHE
2:	l.andi	r4, r3, UPR_DCACHE
	l.sfeqi	r4, 0
	l.bf	4f
	l.mfspr	r4, r0, SPR_DCCFGR
	cache_lines
3:	l.mtspr	r0, r5, SPR_DCBIR
	l.sfltu	r5, r6
	l.bf	3b
	l.add	r5, r5, r7
	l.ori	r8, r8, SR_DCACHE
4:	l.mtspr	r0, r8, SPR_SR
	l.nop
	l.nop
	l.nop
	l.jr	r9
	l.nop
