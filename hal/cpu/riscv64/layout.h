/* SPDX-License-Identifier: MIT
 *
 * Addresses and offsets of the riscv64 back end, also read by assembly. layout_check.c holds them
 * against the structures.
 *
 *	KERNEL_BASE	the cluster's memory, linear; the kernel image is at its start, equal in
 *			every cluster
 *	PHYS_BASE	physical addresses that clusters share: boot record, archive, NoC windows
 *	DEVICE_BASE	devices, whose physical addresses are below DEVICE_LIMIT
 *	STACK_BASE	the cores' kernel stacks a second time, each above a page that is not
 *			mapped: a stack that overflows faults there. The stack pointer is always in
 *			this mapping, tp and pointers to areas are in the linear one
 *
 * The upper bits of DEVICE_BASE and STACK_BASE are equal, so that one table leads to both. What is
 * shared and the devices are mapped by large pages, which need no table of their own.
 */
#ifndef CPU_LAYOUT_H
#define CPU_LAYOUT_H

#define USER_FIRST 0x10000
#define USER_LIMIT 0x4000000000
#define USER_BITS 38			/* of a user address */
#define KERNEL_BASE 0xffffffc000000000
#define PHYS_BASE 0xffffffe000000000
#define DEVICE_BASE 0xffffffffc0000000
#define DEVICE_LIMIT 0x30000000
#define STACK_BASE (DEVICE_BASE + DEVICE_LIMIT)
#define STACK_STRIDE 8192

/*
 * A core's page: its kernel stack, struct hal_core_area at the top of that, the kernel's record of
 * the core. The stack of core 0 has a page more below.
 */
#define CORE_BYTES 4096
#define AREA_BYTES 256
#define RECORD_BYTES 1408
#define STACK_BYTES (CORE_BYTES - AREA_BYTES - RECORD_BYTES)
#define HOME_STACK_BYTES (STACK_BYTES + CORE_BYTES)
#define CRASH_STACK_BYTES 2048

/* struct hal_core_area */
#define AREA_FRAME 8
#define AREA_SCRATCH 16
#define AREA_FIXUP 24
#define AREA_FP_OWNER 56
#define AREA_CORE 64
#define AREA_SCRATCH2 72
#define AREA_FAULT 96
#define AREA_STACK 104
#define AREA_INTERRUPTED 128
#define AREA_STARTED 132

/* struct hal_frame */
#define FRAME_PC 0
#define FRAME_X(n) (8 * (n) + 8)
#define FRAME_FCSR 264
#define FRAME_F(n) (8 * (n) + 272)
#define FRAME_FP_HOME 528
#define FRAME_AREA 8			/* the place of x0 */

/* struct hal_trap */
#define TRAP_CAUSE 0
#define TRAP_ADDR 8

#define CAUSE_USER_CALL 8
#define CAUSE_FETCH_PAGE 12
#define CAUSE_LOAD_PAGE 13
#define CAUSE_STORE_PAGE 15
#define SIP_SSIP 2
#define SIP_SEIP 512
#define SIE_STIE 32
#define SSTATUS_SUM 0x40000
#define SSTATUS_SPP 0x100
#define SSTATUS_VS 0x600
#define SSTATUS_FS 0x6000
#define SSTATUS_FS_INITIAL 0x2000
#define SSTATUS_FS_CLEAN 0x4000
#define STIMECMP 0x14d
#define SCOUNTEREN 7			/* user code reads cycle, time, instret */

#endif
