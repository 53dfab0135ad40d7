/* SPDX-License-Identifier: MIT
 *
 * What software and the co-designed cluster in RTL (hw/) agree on: device addresses, the
 * performance block, markers. Everything up to OMPIC is as on QEMU's machine "virt" for or1k, so
 * that one image runs on both; the performance block lies where that machine has nothing: there its
 * registers read as 0. Plain numbers, for C and for assembler.
 */
#ifndef ABI_CODESIGN_H
#define ABI_CODESIGN_H

/* 16550 subset, one byte per register: +0 data (write sends), +5 line status, 0x60 always */
#define CD_UART 0x90000000
#define CD_EXIT 0x96000000		/* word: 0x5555 ends with status 0, STATUS << 16 | 0x3333 with that status */
#define CD_OMPIC 0x98000000		/* inter-core interrupts: per core +8*c control, +8*c+4 status */
#define CD_PERF 0x99000000		/* performance block */

#define CD_EXIT_OK 0x5555
#define CD_EXIT_FAIL 0x3333

#define CD_OMPIC_ACK 0x80000000		/* control of the core's own pair: take the interrupt back */
#define CD_OMPIC_SEND 0x40000000	/* control of the sender's pair: | destination << 16 | 16 bits of data */
#define CD_OMPIC_PENDING 0x40000000	/* status: | source << 16 | data */
#define CD_OMPIC_IRQ 1			/* line at the PIC, level-triggered */

/* Performance block, whole words only. */
#define CD_PERF_MAGIC 0x41544f4c	/* "ATOL" in the first word: this is the RTL; 0: it is not */
#define CD_PERF_VERSION 0x004		/* 1 */
#define CD_PERF_CORES 0x008
#define CD_PERF_RAM 0x00c		/* bytes of memory */
#define CD_PERF_CYCLE 0x010		/* cycles since reset, low word; high word at +4: read high, low, high again */
#define CD_PERF_LATENCY 0x018		/* wait cycles of the memory */
#define CD_PERF_CLOCK 0x01c		/* nominal clock in Hz: 50,000,000 */
#define CD_PERF_SEED 0x020		/* number of the replication, from the simulator's command line */
#define CD_PERF_SELF 0x024		/* number of the core that reads */
/* a load waits, clock gated, until an interrupt is pending for the reading core; gives its lines */
#define CD_PERF_WAIT 0x028
/* address: the next two registers act on the data cache of the core (variants with one) */
#define CD_PERF_INVAL 0x02c
/* bytes: drop the lines of [address, address + bytes) in the caches of CD_PERF_INVAL_MASK */
#define CD_PERF_INVAL_LEN 0x030
#define CD_PERF_INVAL_MASK 0x034	/* cores, one bit each; reads as 0 when the dropping is done */
/* line | lines behind it (0..31): a store that ends when no other core's data cache has them */
#define CD_PERF_DROP 0x038
#define CD_PERF_DROP_OWN 0x03c		/* the same, only the storing core's own: in front of an l.lwa */

/* Counters of core c, 64 bits each: low word at CD_PERF_COUNTER(c, n), high word at +4. */
#define CD_PERF_COUNTER(c, n) (0x1000 + (c) * 0x100 + (n) * 8)
#define CD_CYCLES 0			/* out of reset */
#define CD_INSTRUCTIONS 1		/* retired */
#define CD_ICACHE_MISSES 2		/* lines filled */
#define CD_MISPREDICTS 3		/* conditional branches predicted wrongly */
#define CD_STALLS 4			/* cycles without a retired instruction, not dozing */
#define CD_LOADS 5			/* retired */
#define CD_STORES 6			/* retired */
#define CD_GRANTS 7			/* bus transactions: words, or bursts of a line */
#define CD_DOZE 8			/* cycles waiting at CD_PERF_WAIT */
#define CD_BRANCHES 9			/* conditional branches retired */
#define CD_DCACHE_MISSES 10		/* lines filled */
#define CD_BUSWAIT 11			/* cycles in which a request of the core waited for the bus */
#define CD_EXCEPTIONS 12		/* taken, of any kind, interrupts and system calls too */
#define CD_TLBMISSES 13			/* instruction and data TLB miss exceptions */
#define CD_GATED 14			/* cycles in which the clock of the core stood still */
#define CD_TOGGLES 15			/* bit changes at the core's ports: the activity */
#define CD_COUNTERS 16

/*
 * Markers: "l.nop CD_MARK + n" on any core, seen by the simulator as it retires; without effect
 * elsewhere. As everywhere (hal/include/hal/perf.h): n = 1 opens a window of counting, 2 closes it,
 * 3 precedes one round of a polling loop; from CD_MARK_LABEL on n names the core's next windows. A
 * window is one core's; the counters of all cores are read at its ends.
 */
#define CD_MARK 0xa000
#define CD_MARK_LABEL 16

#endif
