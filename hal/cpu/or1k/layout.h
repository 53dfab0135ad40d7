/* SPDX-License-Identifier: MIT
 *
 * Numbers of the or1k back end, also read by assembly: special registers, offsets into structures
 * (held against them in core.c), user addresses.
 *
 * The kernel runs untranslated: its addresses are physical. User addresses are translated, and lie
 * where the machine has no memory.
 */
#ifndef CPU_LAYOUT_H
#define CPU_LAYOUT_H

#define USER_FIRST 0x40000000
#define USER_LIMIT 0x80000000
#define USER_REGION 1			/* USER_FIRST >> 30, of every user address */

/* kernel stack of a core, struct hal_core_area at its top */
#define CORE_BYTES 4096
#define AREA_BYTES 256
#define STACK_BYTES (CORE_BYTES - AREA_BYTES)
#define HOME_STACK_BYTES STACK_BYTES
#define CRASH_STACK_BYTES 2048

/* where the loader puts the physical address of the boot record */
#define RECORD_SLOT 8

/* struct boot_record and struct boot_cluster: the low words of 64-bit fields */
#define RECORD_CLUSTERS 12
#define RECORD_CLUSTER 336
#define CLUSTER_BASE 4
#define CLUSTER_CORES 16
#define CLUSTER_FIRST 20
#define CLUSTER_BYTES 40

/* struct hal_core_area */
#define AREA_FRAME 4
#define AREA_LOOKED 52

/* struct hal_frame */
#define FRAME_PC 0
#define FRAME_R(n) (4 * (n) + 4)
#define FRAME_FLAGS 132

/* exceptions */
#define VECTOR_RESET 0x100
#define VECTOR_BUS 0x200
#define VECTOR_DATA 0x300
#define VECTOR_FETCH 0x400
#define VECTOR_TICK 0x500
#define VECTOR_ALIGN 0x600
#define VECTOR_ILLEGAL 0x700
#define VECTOR_INTERRUPT 0x800
#define VECTOR_DTLB 0x900
#define VECTOR_ITLB 0xa00
#define VECTOR_RANGE 0xb00
#define VECTOR_CALL 0xc00
#define VECTOR_FLOAT 0xd00
#define VECTOR_TRAP 0xe00

/* special registers */
#define SPR_UPR 1
#define SPR_DMMUCFGR 3
#define SPR_IMMUCFGR 4
#define SPR_DCCFGR 5
#define SPR_ICCFGR 6
#define SPR_EVBAR 11
#define SPR_SR 17
#define SPR_EPCR 32
#define SPR_EEAR 48
#define SPR_ESR 64
#define SPR_CORE 128
#define SPR_DTLBMR 0xa00
#define SPR_DTLBTR 0xa80
#define SPR_ITLBMR 0x1200
#define SPR_ITLBTR 0x1280
#define SPR_DCBIR 0x1803
#define SPR_ICBIR 0x2002
#define SPR_PMR 0x4000
#define SPR_PICMR 0x4800
#define SPR_PICSR 0x4802
#define SPR_TTMR 0x5000
#define SPR_TTCR 0x5001

#define UPR_DCACHE 2
#define UPR_ICACHE 4
#define PMR_DOZE 0x10

#define SR_SUPERVISOR 1
#define SR_TICK 2
#define SR_INTERRUPTS 4
#define SR_DCACHE 8
#define SR_ICACHE 16
#define SR_DMMU 32
#define SR_IMMU 64
#define SR_FLAGS 0xe00			/* flag, carry, overflow */
#define SR_FIXED 0x8000

/*
 * Shadow registers, which only exceptions and what prepares for them use: first scratch, under the
 * register's own number, then what the core must know when a user thread traps.
 */
#define SHADOW(n) (0x420 + (n))
#define SHADOW_AREA SHADOW(16)
#define SHADOW_FRAME SHADOW(17)		/* of the thread that runs */
/* first-level table of its space, as if it began at address 0 */
#define SHADOW_TABLE SHADOW(18)
#define SHADOW_USER_SR SHADOW(19)	/* status register of user mode, without flags */
#define SHADOW_DSETS SHADOW(20)		/* sets of the TLBs - 1 */
#define SHADOW_ISETS SHADOW(21)
#define SHADOW_DREFILLS SHADOW(22)	/* refill traps, counted */
#define SHADOW_IREFILLS SHADOW(23)

/* Entry of a table; the address and the rights are as the data TLB wants them. */
#define PTE_READ 0x140			/* user and supervisor */
#define PTE_WRITE 0x280
#define PTE_EXEC 0x400
#define PTE_VALID 0x800			/* of pages; an address of a table has no bit here */
#define PTE_UNCACHED 2
/*
 * For software: what hal_protect may give. To the TLB these bits say accessed and dirty, which no
 * processor here keeps.
 */
#define PTE_MAY_WRITE 0x10
#define PTE_MAY_EXEC 0x20
#define ITLB_EXEC 0xc0

#endif
