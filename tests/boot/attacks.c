/* SPDX-License-Identifier: MIT
 *
 * Attacks of the last cluster on the rest of the machine: see attacks.h. Its own page table leads
 * everywhere, so only the fence around the hart is in the way.
 */
#include <base/check.h>
#include <base/fmt.h>
#include <hal/board.h>
#include <hal/board/virt/virt.h>
#include <hal/core.h>
#include <hal/mmu.h>
#include <tests/boot/attacks.h>

#define BREACH_ENTRY 200		/* of the top page table */
#define PTE_KERNEL_RWX 0xcf
#define GB ((uint64_t)1 << 30)
#define WORD 4

/* Of the machine, and nobody's here. */
#define VIRT_RTC 0x101000
#define VIRT_MTIMECMP 0x2004000
#define VIRT_MTIME 0x200bff8
#define VIRT_FW_CFG 0x10100000
#define VIRT_FLASH 0x20000000

enum way { LOAD, STORE, AMO, FETCH };

static const char *const way_name[ATTACK_WAYS] = {"load", "store", "amo", "fetch"};

static const char *const target_name[ATTACK_TARGETS] = {
	"cluster 0, first word", "cluster 0, last word", "the cluster before, first word",
	"the cluster before, last word", "behind the own memory", "behind the windows",
	"the machine start", "before the image", "the image", "before the record",
	"behind the record", "software interrupt of hart 0", "software interrupt of the own hart",
	"timer of hart 0", "time", "what ends the machine", "its page, last word", "clock",
	"interrupt controller", "interrupt controller, last word", "slots for devices",
	"before the doorbells", "behind the doorbells", "firmware's table", "flash",
};

static const char *const more_name[ATTACK_MORE] = {
	"store the record", "amo the record, last word", "fetch the record", "fetch a window",
	"fetch a device",
};

static const char *const register_name[ATTACK_REGISTERS] = {
	"write pmpaddr0", "write pmpcfg0", "write pmpcfg2", "write mtvec", "write mie",
	"write mstatus", "write medeleg", "write mideleg", "write mscratch", "write mcounteren",
	"run mret", "run a read of mhartid",
};

static uint64_t
end_of(const struct boot_cluster *c)
{
	return c->mem_base + c->mem_bytes;
}

static uint64_t
target(const struct boot_record *r, unsigned number)
{
	const struct boot_cluster *own = &r->cluster[hal_cluster_id()];
	const uint64_t at[ATTACK_TARGETS] = {
		r->cluster[0].mem_base, end_of(&r->cluster[0]) - WORD, own[-1].mem_base,
		end_of(&own[-1]) - WORD, end_of(own),
		r->noc_base + r->clusters * r->noc_window_bytes,
		VIRT_RAM, VIRT_KERNEL - WORD, VIRT_KERNEL, VIRT_RECORD - WORD,
		VIRT_RECORD + VIRT_RECORD_BYTES, VIRT_MSWI, VIRT_MSWI + WORD * own->first_core,
		VIRT_MTIMECMP, VIRT_MTIME, VIRT_FINISHER, VIRT_FINISHER + VIRT_PAGE - WORD,
		VIRT_RTC, VIRT_PLIC, VIRT_PLIC + VIRT_PLIC_BYTES - WORD, VIRT_VIRTIO,
		VIRT_SSWI - WORD, VIRT_SSWI + VIRT_SSWI_BYTES, VIRT_FW_CFG, VIRT_FLASH,
	};

	return at[number];
}

/* The physical address, where this core reaches it. */
static volatile uint32_t *
reach(uint64_t paddr)
{
	uint64_t satp, *root;

	__asm__ volatile("csrr %0, satp" : "=r"(satp));
	root = hal_kaddr(satp << 12);
	root[BREACH_ENTRY] = paddr / GB << 28 | PTE_KERNEL_RWX;
	hal_tlb_flush();
	return (volatile uint32_t *)((BREACH_ENTRY * GB) + paddr % GB);
}

/* 0 where nothing is changed if it succeeds. */
static void
access(enum way way, uint64_t paddr)
{
	volatile uint32_t *at = reach(paddr);
	uint32_t nothing = 0;

	switch (way) {
	case LOAD:
		(void)*at;
		break;
	case STORE:
		*at = paddr == VIRT_FINISHER ? VIRT_FINISHER_PASS : 0;
		break;
	case AMO:
		__asm__ volatile("amoadd.w zero, %0, (%1)" : : "r"(nothing), "r"(at) : "memory");
		break;
	default:
		((void (*)(void))(uintptr_t)at)();
	}
}

static void
more(const struct boot_record *r, unsigned number)
{
	switch (number) {
	case 0:
		access(STORE, VIRT_RECORD);
		break;
	case 1:
		access(AMO, VIRT_RECORD + VIRT_RECORD_BYTES - WORD);
		break;
	case 2:
		access(FETCH, VIRT_RECORD);
		break;
	case 3:
		access(FETCH, r->noc_base + hal_cluster_id() * r->noc_window_bytes);
		break;
	default:
		access(FETCH, VIRT_SSWI);
	}
}

#define SET(csr) __asm__ volatile("csrw " #csr ", zero")

static void
set_register(unsigned number)
{
	switch (number) {
	case 0: SET(pmpaddr0); break;
	case 1: SET(pmpcfg0); break;
	case 2: SET(pmpcfg2); break;
	case 3: SET(mtvec); break;
	case 4: SET(mie); break;
	case 5: SET(mstatus); break;
	case 6: SET(medeleg); break;
	case 7: SET(mideleg); break;
	case 8: SET(mscratch); break;
	case 9: SET(mcounteren); break;
	case 10: __asm__ volatile("mret"); break;
	default: __asm__ volatile("csrr t0, mhartid" : : : "t0");
	}
}

void
attack(const struct boot_record *r, unsigned number)
{
	const unsigned accesses = ATTACK_TARGETS * ATTACK_WAYS;

	if (number < accesses)
		access((enum way)(number % ATTACK_WAYS), target(r, number / ATTACK_WAYS));
	else if (number < accesses + ATTACK_MORE)
		more(r, number - accesses);
	else
		set_register(number - accesses - ATTACK_MORE);
}

const char *
attack_name(unsigned number)
{
	const unsigned accesses = ATTACK_TARGETS * ATTACK_WAYS;
	static char name[80];

	if (number >= accesses + ATTACK_MORE)
		return register_name[number - accesses - ATTACK_MORE];
	if (number >= accesses)
		return more_name[number - accesses];
	fmt_print(name, sizeof(name), "%s %s", way_name[number % ATTACK_WAYS],
		target_name[number / ATTACK_WAYS]);
	return name;
}

/*
 * At its own borders, at what all may read, and at what all clusters have: the windows, the
 * doorbells, the UART.
 */
void
attack_nothing(const struct boot_record *r)
{
	const struct boot_cluster *own = &r->cluster[hal_cluster_id()];
	uint64_t windows_end = r->noc_base + r->clusters * r->noc_window_bytes;
	const uint64_t own_words[] = {own->mem_base, end_of(own) - WORD, r->noc_base,
		r->noc_base + r->noc_window_bytes - WORD, windows_end - WORD};

	for (unsigned i = 0; i < sizeof(own_words) / sizeof(own_words[0]); i++) {
		access(LOAD, own_words[i]);
		access(AMO, own_words[i]);
	}
	access(LOAD, VIRT_RECORD);
	access(LOAD, VIRT_RECORD + VIRT_RECORD_BYTES - WORD);
	access(STORE, VIRT_SSWI + WORD * own->first_core);
	access(LOAD, VIRT_SSWI + VIRT_SSWI_BYTES - WORD);
	check(*(volatile uint8_t *)(reach(VIRT_UART) + 1) != 0xff);
}
