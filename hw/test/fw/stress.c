/* SPDX-License-Identifier: MIT
 *
 * Random work on all cores, chosen by the number of the replication: atomic adds, locked sections, plain stores of bytes and half-words into
 * words that others write too, messages through memory with an interrupt, waiting for them. At the end everything must add up. On two
 * clusters the words lie with the second one, and what a lock guards lies with the other than the lock.
 */
#include "fw.h"

#define ROUNDS 1500
#define WORDS 16
#define LOCKS 4

static volatile uint32_t word[WORDS] FW_FAR, lock[LOCKS], guarded[LOCKS][2] FW_FAR, mine[FW_CORES_MAX][WORDS], entered[FW_CORES_MAX][LOCKS];
static volatile uint8_t lanes[FW_CORES_MAX][4];		/* one byte of each word per core */
static volatile uint32_t box[FW_CORES_MAX][FW_CORES_MAX], sent[FW_CORES_MAX][FW_CORES_MAX], got[FW_CORES_MAX], done_count;
static volatile uint32_t interrupts[FW_CORES_MAX];

static uint32_t
next(uint32_t *state)
{
	uint32_t x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *state = x;
}

/* Take what is in the boxes of this core; an interrupt may stand for several messages. */
static void
serve(int core)
{
	for (uint32_t from = 0; from < spr_read(129); from++) {
		uint32_t n = box[core][from];
		if (n) {
			box[core][from] = 0;
			got[core] += n;
		}
	}
}

uint32_t
fw_exception(uint32_t vector, uint32_t address, uint32_t *regs)
{
	uint32_t core = spr_read(128);

	(void)regs;
	if (vector != 8) {
		fw_puts("unexpected exception\n");
		fw_exit(3);
	}
	interrupts[core]++;
	ipi_take(core);
	return address;
}

static void
locked_section(int core, uint32_t l)
{
	uint32_t old;

	do {
		__asm__ volatile(
			"1:	l.lwa	%0, 0(%1)\n"
			"	l.sfnei	%0, 0\n"
			"	l.bf	2f\n"
			"	l.nop\n"
			"	l.swa	0(%1), %2\n"
			"	l.bnf	1b\n"
			"	l.nop\n"
			"2:	l.nop\n" : "=&r"(old) : "r"(&lock[l]), "r"(1) : "memory", "cc");
	} while (old);
	guarded[l][0]++;
	guarded[l][1]++;
	entered[core][l]++;
	lock[l] = 0;
}

/* Hand a number to another core once its box is empty, and interrupt it. */
static void
post(int core, uint32_t to)
{
	if (box[to][core])
		return;
	box[to][core] = 1;
	sent[core][to]++;
	ipi_send(core, to, 5);
}

static void
work(int core)
{
	uint32_t state = 0x9e3779b9 ^ reg_read(CD_PERF + CD_PERF_SEED) << 4 ^ (uint32_t)core << 20, cores = spr_read(129);

	for (int i = 0; i < 8; i++)
		next(&state);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t r = next(&state), w = r >> 8 & (WORDS - 1);
		switch (r & 7) {
		case 0: case 1: case 2:
			atomic_add(&word[w], r >> 16);
			mine[core][w] += r >> 16;
			break;
		case 3:
			locked_section(core, r >> 8 & (LOCKS - 1));
			break;
		case 4:
			lanes[core][r >> 8 & 3] = r >> 16;
			if (lanes[core][r >> 8 & 3] != (uint8_t)(r >> 16)) {
				fw_puts("a byte is lost\n");
				fw_exit(4);
			}
			break;
		case 5: {
			uint32_t to = (r >> 8 & 7);
			if (to < cores && to != (uint32_t)core)
				post(core, to);
			break;
		}
		case 6:
			serve(core);
			break;
		case 7:
			for (uint32_t n = r >> 8 & 31; n > 0; n--)
				__asm__ volatile("l.nop");
			break;
		}
	}
}

/* Everybody who is done dozes until all are, waking for messages: the last one wakes the others. */
static void
finish(int core)
{
	uint32_t cores = spr_read(129);

	spr_write(SPR_SR, spr_read(SPR_SR) & ~SR_IEE);
	if (atomic_add(&done_count, 1) + 1 == cores)
		for (uint32_t c = 0; c < cores; c++)
			if (c != (uint32_t)core)
				ipi_send(core, c, 9);
	while (done_count != cores) {
		reg_read(CD_PERF + CD_PERF_WAIT);
		ipi_take(core);
		while (reg_read(CD_OMPIC + 8 * core + 4) & CD_OMPIC_PENDING)
			;
		serve(core);
	}
	serve(core);
}

static uint32_t
sum_up(uint32_t *locked, uint32_t *messages, uint32_t *served)
{
	uint32_t cores = spr_read(129), wrong = 0;

	for (int w = 0; w < WORDS; w++) {
		uint32_t want = 0;
		for (uint32_t c = 0; c < cores; c++)
			want += mine[c][w];
		wrong += want != word[w];
	}
	for (int l = 0; l < LOCKS; l++) {
		uint32_t want = 0;
		for (uint32_t c = 0; c < cores; c++)
			want += entered[c][l];
		*locked += guarded[l][0] != want || guarded[l][1] != want;
	}
	for (uint32_t c = 0; c < cores; c++) {
		*served += got[c];
		for (uint32_t d = 0; d < cores; d++)
			*messages += sent[c][d];
	}
	return wrong;
}

void
fw_main(int core)
{
	uint32_t wrong, locked = 0, messages = 0, served = 0;

	spr_write(SPR_PICMR, 1u << CD_OMPIC_IRQ);
	fw_barrier();
	spr_write(SPR_SR, spr_read(SPR_SR) | SR_IEE);
	work(core);
	finish(core);
	fw_barrier();
	serve(core);
	fw_barrier();
	if (core != 0)
		for (;;)
			;
	wrong = sum_up(&locked, &messages, &served);
	fw_check("words that lost an add", wrong, 0);
	fw_check("locks that did not exclude", locked, 0);
	fw_check("messages served", served, messages);
	fw_check("somebody was interrupted", interrupts[0] + interrupts[1] > 0, spr_read(129) > 1);
	fw_exit(fw_failures ? 1 : 0);
}
