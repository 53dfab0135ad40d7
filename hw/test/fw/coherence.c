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
static volatile uint32_t sum;

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

/* The sum of what each core brings; the data cache is off meanwhile and keeps what it has. */
static uint32_t
atomic_sum(uint32_t mine)
{
	uint32_t sr = spr_read(SPR_SR), all;

	spr_write(SPR_SR, sr & ~SR_DCE);
	atomic_add(&sum, mine);
	fw_barrier();
	all = sum;
	fw_barrier();
	sum = 0;
	fw_barrier();
	spr_write(SPR_SR, sr);
	return all;
}

/* Rounds of writing and reading; `drop` makes the readers' lines go away in between. Returns words that were old. */
static uint32_t
exchange(int core, void (*drop)(int core))
{
	uint32_t old = 0;

	for (uint32_t round = 1; round <= ROUNDS; round++) {
		if (core == 0)
			write_round(round);
		meet();
		drop(core);
		meet();
		if (core != 0)
			old += wrong_words(round);
		meet();
	}
	return atomic_sum(old);
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

/* Core 0 publishes in hardware: one store for all 32 lines. */
static void
drop_published(int core)
{
	if (core == 0)
		reg_write(CD_PERF + CD_PERF_DROP, (uint32_t)shared_data | (WORDS / 8 - 1));
}

/* The readers have the lines and wait, their clocks stopped, while core 0 writes. Returns words that were old. */
static uint32_t
exchange_with_sleepers(int core)
{
	uint32_t cores = spr_read(129), old = 0;

	wrong_words(ROUNDS);
	meet();
	if (core == 0) {
		for (uint32_t c = 1; c < cores; c++) {
			uint32_t gated = counter(c, CD_GATED);
			while (counter(c, CD_GATED) - gated < 20)
				;
		}
		write_round(ROUNDS + 1);
		for (uint32_t c = 1; c < cores; c++)
			ipi_send(0, c, 0);
	} else {
		reg_read(CD_PERF + CD_PERF_WAIT);
		ipi_take(core);
		old = wrong_words(ROUNDS + 1);
	}
	meet();
	return atomic_sum(old);
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
	n = exchange(core, drop_published);
	if (core == 0)
		say("stale words after publishing by hardware", n);
	n = exchange_with_sleepers(core);
	if (core == 0)
		say("stale words behind a wait", n);
	meet();
	if (core == 0)
		fw_exit(0);
	for (;;)
		;
}
