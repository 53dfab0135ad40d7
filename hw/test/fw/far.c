/* SPDX-License-Identifier: MIT
 *
 * Two clusters behind their network: what software may rely on beyond it. Memory order in two
 * litmus tests over many timings (A is core 0, B the first core of the other cluster; `near`
 * words lie with A, `far` words with B), l.swa, interrupts between clusters. Prints a line per
 * check; ends with status 0 if all held. Replications 1005 and 1006 load and store where the
 * other cluster has no memory.
 */
#include "fw.h"

#ifndef ROUNDS
#define ROUNDS 600
#endif
#define BLOCK 16
#define QUEUE 4				/* stores in front of the one that counts, so that it is under way for long */
#define DATA 0x1234
#define BEYOND 0x8000			/* in the other cluster's window, where the memory has ended in replications 1005 and 1006 */

static volatile uint32_t near_word[1 + QUEUE], near_flag, seen_a, seen_b;
static volatile uint32_t far_word[1 + QUEUE] FW_FAR, far_block[BLOCK] FW_FAR, linked FW_FAR, other FW_FAR, go FW_FAR;
static volatile uint32_t old_words, both_old[2], from_wrong[FW_CORES_MAX], data_wrong[FW_CORES_MAX], unread;

static uint32_t
cluster_cores(void)
{
	return reg_read(CD_PERF + CD_PERF_CORES);
}

static void
linger(uint32_t n)
{
	for (; n > 0; n--)
		__asm__ volatile("l.nop");
}

static inline void
msync(void)
{
	__asm__ volatile("l.msync" ::: "memory");
}

/* Stores there, a load here: with a fence in between at least one side sees the other's store. Returns what this side sees. */
static uint32_t
store_and_look(volatile uint32_t *mine, const volatile uint32_t *theirs, uint32_t round, int fence)
{
	for (int i = 0; i < QUEUE; i++)
		mine[1 + i] = round;
	mine[0] = round;
	if (fence)
		msync();
	return *theirs;
}

static void
store_buffering(int core, int fence)
{
	uint32_t b = cluster_cores();

	for (uint32_t round = 1; round <= ROUNDS; round++) {
		uint32_t stamp = round << 1 | fence;
		fw_barrier();
		linger(core == 0 ? round & 31 : round >> 5);
		if (core == 0)
			seen_a = store_and_look(far_word, near_word, stamp, fence);
		else if ((uint32_t)core == b)
			seen_b = store_and_look(near_word, far_word, stamp, fence);
		fw_barrier();
		if (core == 0)
			both_old[fence] += seen_a != stamp && seen_b != stamp;
	}
	fw_barrier();
	if (core == 0 && fence)
		fw_check("with l.msync one side of two sees the other's store", both_old[1], 0);
	if (core == 0 && !fence)
		fw_check("without it stores are seen late", both_old[0] > 0, 1);
}

/* A writes a block with B and then a flag at home; who sees the flag sees the block. No fence: stores keep their order. */
static void
message_passing(int core)
{
	uint32_t b = cluster_cores();

	for (uint32_t round = 1; round <= ROUNDS; round++) {
		fw_barrier();
		if (core == 0) {
			linger(round & 31);
			for (int i = 0; i < BLOCK; i++)
				far_block[i] = round;
			near_flag = round;
		} else if ((uint32_t)core == b) {
			while (near_flag != round)
				;
			for (int i = BLOCK - 1; i >= 0; i--)
				old_words += far_block[i] != round;
		} else if ((uint32_t)core > b)
			for (int i = 0; i < 100; i++)
				(void)far_word[0];	/* B's bus is busy, and the stores that come for it wait */
	}
	fw_barrier();
	if (core == 0)
		fw_check("who sees the flag sees what was stored before it", old_words, 0);
}

static inline uint32_t
load_linked(const volatile uint32_t *p)
{
	uint32_t v;

	__asm__ volatile("l.lwa %0, 0(%1)" : "=r"(v) : "r"(p) : "memory");
	return v;
}

static inline uint32_t
store_linked(volatile uint32_t *p, uint32_t v)
{
	uint32_t done;

	__asm__ volatile("l.swa 0(%1), %2\n	l.bf 1f\n	l.addi %0, r0, 1\n	l.addi %0, r0, 0\n1:"
		: "=&r"(done) : "r"(p), "r"(v) : "memory", "cc");
	return done;
}

/* Loads between l.lwa and l.swa change nothing: neither for better nor for worse. */
static void
links(int core)
{
	uint32_t first, done;

	if (core == 0) {
		other = 77;
		first = load_linked(&linked);
		fw_check("another word is loaded in between", other, 77);
		done = store_linked(&linked, 5);
		fw_check("l.swa compares with what l.lwa loaded", done << 8 | linked, 1 << 8 | (first + 5));
		first = load_linked(&linked);
		go = 1;
		while (other != 7)
			;
		done = store_linked(&linked, 99);
		fw_check("l.swa fails if the word has changed to what was loaded elsewhere", done << 8 | linked, 7);
	} else if ((uint32_t)core == cluster_cores()) {
		while (go == 0)
			;
		linked = 7;
		other = 7;
	}
	fw_barrier();
}

/* In turn each core sends one word to every core: the receiver finds the sender's number; the sender's word acknowledges and can be read. */
static void
interrupts(int core, uint32_t acknowledge)
{
	uint32_t cores = spr_read(129), pair = CD_OMPIC + 8 * core, wrong = 0;

	for (uint32_t from = 0; from < cores; from++)
		for (uint32_t to = 0; to < cores; to++) {
			uint32_t word = CD_OMPIC_SEND | acknowledge | to << 16 | (DATA + from);
			fw_barrier();
			if ((uint32_t)core == from && from != to) {
				if (acknowledge)
					ipi_send(core, core, 1);
				reg_write(pair, word);
				wrong += reg_read(pair) != word || (reg_read(pair + 4) & CD_OMPIC_PENDING) != 0;
			} else if ((uint32_t)core == to && from != to) {
				uint32_t control = reg_read(pair);
				reg_read(CD_PERF + CD_PERF_WAIT);
				uint32_t status = reg_read(pair + 4);
				from_wrong[core] += (status >> 16 & 0x3fff) != from;
				data_wrong[core] += (status & 0xffff) != DATA + from || reg_read(pair) != control;
				ipi_take(core);
			}
		}
	atomic_add(&unread, wrong);
	fw_barrier();
	for (uint32_t c = 1; core == 0 && c < cores; c++) {
		from_wrong[0] += from_wrong[c];
		data_wrong[0] += data_wrong[c];
	}
	if (core == 0) {
		fw_check("an interrupt says which core of the machine sent it", from_wrong[0], 0);
		fw_check("an interrupt brings its data and nothing else", data_wrong[0], 0);
		fw_check(acknowledge ? "a word may send and acknowledge" : "the word sent can be read", unread, 0);
	}
}

void
fw_main(int core)
{
	if (reg_read(CD_PERF + CD_PERF_SEED) == 1005 && core == 0) {
		reg_read((uint32_t)far_word | BEYOND);
		fw_exit(1);
	}
	if (reg_read(CD_PERF + CD_PERF_SEED) == 1006 && core == 0) {
		reg_write((uint32_t)far_word | BEYOND, 1);
		linger(1000);
		fw_exit(1);
	}
	store_buffering(core, 0);
	store_buffering(core, 1);
	message_passing(core);
	links(core);
	interrupts(core, 0);
	interrupts(core, CD_OMPIC_ACK);
	fw_barrier();
	if (core == 0) {
		far_word[0] = 1;
		fw_puts("ok this byte waits for a store and is sent once\n");
	}
	if (core == 0)
		fw_exit(fw_failures ? 1 : 0);
	for (;;)
		;
}
