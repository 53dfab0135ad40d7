/* SPDX-License-Identifier: MIT
 *
 * What the test firmware shares: registers, atomics, console. Runs on bare cores without translation; no multiply, no divide.
 */
#ifndef HW_TEST_FW_H
#define HW_TEST_FW_H

#include <stdint.h>

#include "abi/codesign.h"

#define FW_CORES_MAX 8

/* On two clusters: what lies with the second one. All other variables lie with the first. */
#define FW_FAR __attribute__((section(".far")))

#define SR_TEE 0x2
#define SR_IEE 0x4
#define SPR_SR 17
#define SPR_PICMR 0x4800
#define SPR_PICSR 0x4802
#define SPR_TTMR 0x5000
#define SPR_TTCR 0x5001
#define SPR_PMR 0x4000

#define spr_read(n) ({ uint32_t v_; __asm__ volatile("l.mfspr %0, r0, %1" : "=r"(v_) : "K"(n)); v_; })
#define spr_write(n, v) __asm__ volatile("l.mtspr r0, %0, %1" :: "r"(v), "K"(n) : "memory")
#define mark(n) __asm__ volatile("l.nop %0" :: "K"(CD_MARK + (n)) : "memory")

static inline uint32_t
reg_read(uint32_t address)
{
	return *(volatile uint32_t *)address;
}

static inline void
reg_write(uint32_t address, uint32_t value)
{
	*(volatile uint32_t *)address = value;
}

/* Add to a word that all cores change; returns what it was. */
static inline uint32_t
atomic_add(volatile uint32_t *p, uint32_t n)
{
	uint32_t old, new;

	__asm__ volatile(
		"1:	l.lwa	%0, 0(%2)\n"
		"	l.add	%1, %0, %3\n"
		"	l.swa	0(%2), %1\n"
		"	l.bnf	1b\n"
		"	l.nop\n" : "=&r"(old), "=&r"(new) : "r"(p), "r"(n) : "memory", "cc");
	return old;
}

static inline uint32_t
counter(int core, int n)
{
	return reg_read(CD_PERF + CD_PERF_COUNTER(core, n));
}

static inline void
ipi_send(int from, int to, uint32_t data)
{
	reg_write(CD_OMPIC + 8 * from, CD_OMPIC_SEND | to << 16 | data);
}

static inline void
ipi_take(int core)
{
	reg_write(CD_OMPIC + 8 * core, CD_OMPIC_ACK);
}

void fw_puts(const char *s);
void fw_number(uint32_t n);
void fw_exit(int status) __attribute__((noreturn));
/* All cores meet; any number of times. */
void fw_barrier(void);
/* Core 0 reports one check. */
void fw_check(const char *what, uint32_t got, uint32_t want);

/* The program: what each core runs, and what an exception does (returns where to go on; fw.c has one that ends the run). */
void fw_main(int core);
uint32_t fw_exception(uint32_t vector, uint32_t address, uint32_t *regs);

extern int fw_failures;

#endif
