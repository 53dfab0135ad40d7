/* SPDX-License-Identifier: MIT
 *
 * What the files of the or1k back end share. Private to this folder. The back end has mutable data
 * of its own: each cluster runs its own copy of the image, so it is the cluster's.
 */
#ifndef CPU_OR1K_H
#define CPU_OR1K_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/boot.h>
#include <hal/atomic.h>
#include <hal/core.h>
#include <hal/mmu.h>
#include <hal/trap.h>
#include "layout.h"

#define spr_read(spr) ({ uint32_t v_; __asm__ volatile("l.mfspr %0, r0, %1" : "=r"(v_) : \
	"i"(spr) : "memory"); v_; })
#define spr_write(spr, value) \
	__asm__ volatile("l.mtspr r0, %0, %1" : : "r"((uint32_t)(value)), "i"(spr) : "memory")
#define spr_write_at(spr, index, value) \
	__asm__ volatile("l.mtspr %0, %1, %2" : : "r"((uint32_t)(index)), "r"((uint32_t)(value)), \
		"i"(spr) : "memory")

/* The machine as this cluster sees it; set by core 0 before anything else runs. */
struct hal_machine {
	const struct boot_record *record;
	uint32_t mem_base, mem_bytes;
	uint32_t noc_base, noc_window_bytes;
	uint32_t cores;
	uint32_t code_epoch;		/* 32-bit operations: counts what becomes executable */
};

extern struct hal_machine hal_machine;

/*
 * The timer interrupted a user thread: true and which kind of trap that is, or false if it is none.
 */
bool hal_timer_taken(enum hal_trap_kind *kind);

/* Interrupt a core of this cluster: INTERRUPT_*. */
void hal_core_ring(struct hal_core_area *a, uint32_t why);

/* Let this core stop for ever, asleep. */
_Noreturn void hal_core_stop(void);

/* The cached translations of this core, and its cached instructions, become none. */
void hal_icache_flush(void);

/*
 * Where a user address of a space is in memory: `*left` is set to the bytes up to the end of its
 * page. NULL if it is not mapped, or not writable although `write`.
 */
void *hal_space_reach(const struct hal_space *s, uintptr_t addr, bool write, size_t *left);

/* trap.S */
_Noreturn void hal_resume(void);

#endif
