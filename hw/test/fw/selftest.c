/* SPDX-License-Identifier: MIT
 *
 * The cluster tests itself: identity, atomics, locks, interrupts between cores, waiting, timer, counters, exceptions. Prints a line per check; ends
 * with status 0 if all held. The number of the replication (CD_PERF_SEED) chooses a scenario that must end otherwise: 1001 ... 1005.
 */
#include "fw.h"

#define ADDS 500
#define LOCKED 200
#define PINGS 20

static volatile uint32_t reserved, others, fetched, sum, locked, next_ticket, serving, ids, pongs[FW_CORES_MAX], wakes[FW_CORES_MAX], ticks;
static volatile uint32_t last_vector[FW_CORES_MAX], illegal_seen[FW_CORES_MAX], system_calls[FW_CORES_MAX];
static uint32_t plain[64];

uint32_t
fw_exception(uint32_t vector, uint32_t address, uint32_t *regs)
{
	uint32_t core = spr_read(128);

	last_vector[core] = vector;
	switch (vector) {
	case 5:
		ticks++;
		spr_write(SPR_TTMR, 0);
		return address;
	case 7:
		illegal_seen[core]++;
		return address + 4;
	case 8:
		pongs[core]++;
		ipi_take(core);
		return address;
	case 12:
		system_calls[core]++;
		regs[11] = regs[3] + 1;
		return address;
	}
	fw_puts("unexpected exception ");
	fw_number(vector);
	fw_puts("\n");
	fw_exit(3);
}

static void
test_identity(int core)
{
	atomic_add(&ids, 1u << core);
	atomic_add(&others, reg_read(CD_PERF + CD_PERF_SELF) != (uint32_t)core);
	fw_barrier();
	if (core != 0)
		return;
	fw_check("every core has its number", ids, (1u << spr_read(129)) - 1);
	fw_check("the block says who it is", reg_read(CD_PERF), CD_PERF_MAGIC);
	fw_check("the block knows the cores", reg_read(CD_PERF + CD_PERF_CORES), spr_read(129));
	fw_check("the block knows who asks", others, 0);
	fw_check("the line status has room", *(volatile uint8_t *)(CD_UART + 5), 0x60);
}

static void
test_atomics(int core)
{
	for (int i = 0; i < ADDS; i++)
		atomic_add(&sum, 1);
	fw_barrier();
	if (core == 0)
		for (uint32_t c = 0, n = 0; c < spr_read(129); c++) {
			n += ADDS;
			if (c + 1 == spr_read(129))
				fw_check("adds of all cores arrive", sum, n);
		}
}

/* A ticket lock around a word that is changed with plain loads and stores. */
static void
test_lock(int core)
{
	for (int i = 0; i < LOCKED; i++) {
		uint32_t mine = atomic_add(&next_ticket, 1);
		while (serving != mine)
			;
		locked = locked + 1;
		__asm__ volatile("l.msync" ::: "memory");
		serving = mine + 1;
	}
	fw_barrier();
	if (core == 0)
		fw_check("a lock excludes", locked, next_ticket);
}

/* Core 0 interrupts each of the others, which run with interrupts on. */
static void
test_interrupts(int core)
{
	int cores = spr_read(129);

	spr_write(SPR_PICMR, 1u << CD_OMPIC_IRQ);
	if (core != 0)
		spr_write(SPR_SR, spr_read(SPR_SR) | SR_IEE);
	fw_barrier();
	if (core == 0) {
		for (int i = 0; i < PINGS; i++)
			for (int c = 1; c < cores; c++) {
				uint32_t before = pongs[c];
				ipi_send(0, c, i);
				while (pongs[c] == before)
					;
			}
		uint32_t all = 0;
		for (int c = 1; c < cores; c++)
			all += pongs[c] == PINGS;
		fw_check("each interrupt arrives once", all, cores - 1);
		fw_check("the status keeps source and data", reg_read(CD_OMPIC + 8 + 4), PINGS - 1);
	}
	fw_barrier();
	spr_write(SPR_SR, spr_read(SPR_SR) & ~SR_IEE);
}

static uint32_t
doze(void)
{
	spr_write(SPR_PMR, 0x10);
	return reg_read(CD_PERF + CD_PERF_WAIT);
}

/* The others doze with interrupts off; core 0 wakes each in turn; the clock of a dozing core stands still. */
static void
test_doze(int core)
{
	int cores = spr_read(129);

	if (core != 0)
		for (int i = 0; i < PINGS; i++) {
			uint32_t lines = doze();
			if (lines == 1u << CD_OMPIC_IRQ)
				wakes[core]++;
			ipi_take(core);
			while (reg_read(CD_OMPIC + 8 * core + 4) & CD_OMPIC_PENDING)
				;
		}
	else
		for (int i = 1; i <= PINGS; i++)
			for (int c = 1; c < cores; c++) {
				uint32_t gated = counter(c, CD_GATED);
				for (int w = 0; w < 50 && counter(c, CD_GATED) == gated; w++)
					;
				ipi_send(0, c, 7);
				while (wakes[c] != (uint32_t)i)
					;
			}
	fw_barrier();
	if (core == 0 && cores > 1) {
		fw_check("waiting ends with the interrupt's line", wakes[cores - 1], PINGS);
		fw_check("cycles of waiting are counted", counter(1, CD_DOZE) > 0, 1);
		fw_check("the clock of a waiting core stands still", counter(1, CD_GATED) > 0, 1);
		fw_check("core 0 never waited", counter(0, CD_DOZE), 0);
	}
}

/* A wait at the end of a line of the instruction cache whose next line is not there: it is being fetched when the wait begins. */
static void
wait_while_fetching(void)
{
	__asm__ volatile(
		"	l.movhi	r13, hi(1f)\n"
		"	l.ori	r13, r13, lo(1f)\n"
		"	l.mtspr	r0, r13, 0x2002\n"
		"	l.j	2f\n"
		"	l.nop\n"
		"	.balign	32\n"
		"2:	l.nop\n	l.nop\n	l.nop\n	l.nop\n	l.nop\n	l.nop\n"
		"	l.lwz	r13, 0(%0)\n"
		"	l.nop\n"
		"1:	l.nop\n	l.nop\n	l.nop\n	l.nop\n	l.nop\n	l.nop\n	l.nop\n	l.nop\n"
		: : "r"(CD_PERF + CD_PERF_WAIT) : "r13", "memory");
}

static void
test_fetch(int core)
{
	for (uint32_t i = 0; i < 40; i++) {
		fw_barrier();
		if (core == 1) {
			wait_while_fetching();
			ipi_take(core);
			fetched++;
		} else if (core == 0 && spr_read(129) > 1) {
			for (uint32_t n = i + 20; n > 0; n--)
				__asm__ volatile("l.nop");
			ipi_send(0, 1, 3);
		}
	}
	fw_barrier();
	if (core == 0 && spr_read(129) > 1)
		fw_check("an instruction fetched during the wait is whole", fetched, 40);
}

/* l.lwa, doze, l.swa in one piece. Returns whether the store happened. */
static uint32_t
swa_after_wait(volatile uint32_t *p, uint32_t value)
{
	uint32_t done;

	__asm__ volatile(
		"	l.lwa	%0, 0(%1)\n"
		"	l.lwz	%0, 0(%3)\n"
		"	l.swa	0(%1), %2\n"
		"	l.bf	1f\n"
		"	l.addi	%0, r0, 1\n"
		"	l.addi	%0, r0, 0\n"
		"1:\n" : "=&r"(done) : "r"(p), "r"(value), "r"(CD_PERF + CD_PERF_WAIT) : "memory", "cc");
	return done;
}

/* An interrupt that came before the wait ends it at once; a timer ends it too. */
static void
test_wait_alone(int core)
{
	if (core == 0) {
		ipi_send(0, 0, 1);
		while (!(reg_read(CD_OMPIC + 4) & CD_OMPIC_PENDING))
			;
		fw_check("a pending interrupt ends the wait at once", doze(), 1u << CD_OMPIC_IRQ);
		ipi_take(0);
		spr_write(SPR_TTCR, 0);
		spr_write(SPR_TTMR, 0x60000000 | 300);
		fw_check("the timer ends the wait", doze(), 0x80000000);
		spr_write(SPR_SR, spr_read(SPR_SR) | SR_TEE);
		while (ticks == 0)
			;
		spr_write(SPR_SR, spr_read(SPR_SR) & ~SR_TEE);
		fw_check("the timer interrupts", ticks, 1);
	}
	fw_barrier();
}

/* Core 1 waits between l.lwa and l.swa, its clock stopped. Its l.swa fails if core 0 stored to the word meanwhile, and only then. */
static void
test_reservation(int core)
{
	uint32_t done[2] = {0, 0};

	for (int touch = 0; touch < 2; touch++) {
		fw_barrier();
		if (core == 1) {
			done[touch] = swa_after_wait(&reserved, touch + 1);
			ipi_take(core);
		} else if (core == 0 && spr_read(129) > 1) {
			uint32_t gated = counter(1, CD_GATED);
			while (counter(1, CD_GATED) - gated < 20)
				;
			if (touch)
				reserved = 9;
			ipi_send(0, 1, 3);
		}
		fw_barrier();
	}
	if (core == 1) {
		fw_check("a reservation outlives the wait if nobody stores", done[0], 1);
		fw_check("a store during the wait takes the reservation away", done[1] << 8 | reserved, 9);
	}
	fw_barrier();
}

/*
 * A stretch of known length: what was counted is what ran. One assembler block each, so that nothing slips in between; the loop has 100 rounds of
 * load, two stores, add, compare, branch and delay slot, and one instruction before it.
 */
#define COUNTED_LOOP \
	"	l.addi	r13, r0, 100\n" \
	"1:	l.lwz	r15, 0(%3)\n" \
	"	l.sw	4(%3), r15\n" \
	"	l.sw	8(%3), r15\n" \
	"	l.addi	r13, r13, -1\n" \
	"	l.sfeqi	r13, 0\n" \
	"	l.bnf	1b\n" \
	"	l.nop\n"
#define BETWEEN(stretch) ({ \
	uint32_t a_, b_; \
	__asm__ volatile("l.lwz %0, 0(%2)\n" stretch "l.lwz %1, 0(%2)\n" : "=&r"(a_), "=&r"(b_) : "r"(at), "r"(plain) : "r13", "r15", "memory", "cc"); \
	b_ - a_; })

static uint32_t
counted(int n)
{
	uint32_t at = CD_PERF + CD_PERF_COUNTER(0, n), empty = 0, loop = 0;

	/* twice: the second time the lines are in the cache */
	for (int round = 0; round < 2; round++) {
		empty = BETWEEN("");
		loop = BETWEEN(COUNTED_LOOP);
	}
	return loop - empty;
}

static void
test_counters(int core)
{
	if (core == 0) {
		fw_check("instructions are counted", counted(CD_INSTRUCTIONS), 701);
		fw_check("loads are counted", counted(CD_LOADS), 100);
		fw_check("stores are counted", counted(CD_STORES), 200);
		fw_check("branches are counted", counted(CD_BRANCHES), 100);
		fw_check("mispredictions are counted", counted(CD_MISPREDICTS), 1);
		fw_check("lines in the cache are not filled again", counted(CD_ICACHE_MISSES), 0);
		fw_check("lines were filled", counter(0, CD_ICACHE_MISSES) > 0, 1);
		fw_check("toggles were counted", counter(0, CD_TOGGLES) > 0, 1);
		uint32_t cycle = reg_read(CD_PERF + CD_PERF_CYCLE);
		fw_check("the cycle counter runs", reg_read(CD_PERF + CD_PERF_CYCLE) > cycle, 1);
	}
	fw_barrier();
}

static void
test_exceptions(int core)
{
	uint32_t before = counter(core, CD_EXCEPTIONS), answer;

	__asm__ volatile("l.addi r3, r0, 41\n	l.sys 0\n	l.or %0, r11, r11" : "=r"(answer) :: "r3", "r11", "memory");
	if (core == 0) {
		fw_check("a system call goes in and comes back", answer, 42);
		fw_check("exceptions are counted", counter(0, CD_EXCEPTIONS) - before, 1);
	}
	__asm__ volatile("l.addi r15, r0, 6\n	l.addi r13, r0, 7\n	l.mul %0, r13, r15" : "=r"(answer) :: "r13", "r15");
	if (core == 0)
		fw_check("a K-Core has no multiplier", illegal_seen[0], 1);
	fw_barrier();
	if (core == 1) {
		fw_check("a U-Core multiplies", answer, 42);
		fw_check("a U-Core finds nothing illegal in it", illegal_seen[1], 0);
	}
	fw_barrier();
}

/* Scenarios that end the run in their own way. */
static void
scenario(int core, uint32_t which)
{
	switch (which) {
	case 1001:		/* status */
		if (core == 0)
			fw_exit(42);
		break;
	case 1002:		/* everybody waits and nobody comes */
		for (;;)
			doze();
	case 1003:		/* nobody gets anywhere, with instructions */
		for (;;)
			;
	case 1004:		/* an instruction that a K-Core does not have */
		if (core == 0)
			__asm__ volatile("l.div r13, r13, r13" ::: "r13");
		break;
	case 1005:		/* memory that is not there */
		if (core == 0)
			reg_read(0x7ffffff0);
		break;
	}
	for (;;)
		;
}

void
fw_main(int core)
{
	uint32_t which = reg_read(CD_PERF + CD_PERF_SEED);

	if (which > 1000 && which < 1100)
		scenario(core, which);
	test_identity(core);
	test_atomics(core);
	test_lock(core);
	test_interrupts(core);
	test_doze(core);
	test_wait_alone(core);
	test_reservation(core);
	test_fetch(core);
	test_counters(core);
	test_exceptions(core);
	fw_barrier();
	if (core == 0)
		fw_exit(fw_failures ? 1 : 0);
}
