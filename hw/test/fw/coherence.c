/* SPDX-License-Identifier: MIT
 *
 * Data caches: core 0 writes rounds of data, the others read them. On a cluster whose caches are snooped, or that has none, every reader sees
 * the new data. On one whose caches are not, it sees what it had, until the lines are dropped: by the reader itself, line by line,
 * by the invalidation of the performance block for chosen cores, or by one write for the whole cache, if the core has that (hw/sim/flash.sv).
 * Prints what it found; the harness's test knows what to expect.
 */
#include "fw.h"

#define WORDS 256			/* 1 KB: 32 lines */
#define ROUNDS 20
#define SPR_DCBIR 0x1803		/* block invalidate */
#define SR_DCE 0x8

static volatile uint32_t shared_data[WORDS] __attribute__((aligned(1024)));
static volatile uint32_t stale[FW_CORES_MAX];

uint32_t
fw_exception(uint32_t vector, uint32_t address, uint32_t *regs)
{
	(void)regs;
	fw_puts("unexpected exception ");
	fw_number(vector);
	fw_puts(" at ");
	fw_number(address);
	fw_puts("\n");
	fw_exit(3);
}

static int
has_cache(void)
{
	return (spr_read(1) & 2) != 0;		/* UPR: data cache present */
}

static void
cache_on(void)
{
	if (!has_cache())
		return;
	for (uint32_t a = 0; a < 8192; a += 32)
		spr_write(SPR_DCBIR, a);
	spr_write(SPR_SR, spr_read(SPR_SR) | SR_DCE);
}

/* A barrier in memory itself: the data cache is off meanwhile and keeps what it has. */
static void
meet(void)
{
	uint32_t sr = spr_read(SPR_SR);

	spr_write(SPR_SR, sr & ~SR_DCE);
	fw_barrier();
	spr_write(SPR_SR, sr);
}

static uint32_t
wrong_words(uint32_t round)
{
	uint32_t wrong = 0;

	for (int i = 0; i < WORDS; i++)
		wrong += shared_data[i] != (round << 16 | i);
	return wrong;
}

static void
write_round(uint32_t round)
{
	for (int i = 0; i < WORDS; i++)
		shared_data[i] = round << 16 | i;
	__asm__ volatile("l.msync" ::: "memory");
}

/* Rounds of writing and reading; `drop` makes the readers' lines go away in between. Returns words that were old. */
static uint32_t
exchange(int core, void (*drop)(int core))
{
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		if (core == 0)
			write_round(round);
		meet();
		drop(core);
		meet();
		if (core != 0)
			stale[core] += wrong_words(round);
		meet();
	}
	uint32_t sr = spr_read(SPR_SR), all = 0;
	spr_write(SPR_SR, sr & ~SR_DCE);
	for (uint32_t c = 1; c < spr_read(129); c++)
		all += stale[c];
	fw_barrier();
	stale[core] = 0;
	spr_write(SPR_SR, sr);
	meet();
	return all;
}

static void
drop_nothing(int core)
{
	(void)core;
}

static void
drop_own(int core)
{
	if (core != 0 && has_cache())
		for (uint32_t a = 0; a < sizeof shared_data; a += 32)
			spr_write(SPR_DCBIR, (uint32_t)shared_data + a);
}

static void
drop_at_once(int core)
{
	if (core != 0 && has_cache())
		spr_write(SPR_DCBIR, 1);
}

static void
drop_from_core0(int core)
{
	if (core != 0)
		return;
	mark(30);
	mark(1);
	reg_write(CD_PERF + CD_PERF_INVAL, (uint32_t)shared_data);
	reg_write(CD_PERF + CD_PERF_INVAL_MASK, ((1u << spr_read(129)) - 1) & ~1u);
	reg_write(CD_PERF + CD_PERF_INVAL_LEN, sizeof shared_data);
	while (reg_read(CD_PERF + CD_PERF_INVAL_MASK))
		;
	mark(2);
}

static void
say(const char *what, uint32_t n)
{
	fw_puts(what);
	fw_puts(": ");
	fw_number(n);
	fw_puts("\n");
}

void
fw_main(int core)
{
	uint32_t n;

	cache_on();
	meet();
	n = exchange(core, drop_nothing);
	if (core == 0)
		say("stale words without dropping", n);
	n = exchange(core, drop_own);
	if (core == 0)
		say("stale words after dropping one's own", n);
	n = exchange(core, drop_from_core0);
	if (core == 0)
		say("stale words after the cluster's invalidation", n);
	n = exchange(core, drop_at_once);
	if (core == 0)
		say("stale words after one write for the whole cache", n);
	meet();
	if (core == 0)
		fw_exit(0);
	for (;;)
		;
}
