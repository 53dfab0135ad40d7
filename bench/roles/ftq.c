/* SPDX-License-Identifier: MIT
 *
 * FTQ, fixed time quantum: how much work a thread does in each of many equal times. The ends of
 * these are multiples of the quantum, whatever kept the thread, so that the series can be taken
 * apart into frequencies. Records have 16 bytes, as in the source: 256 of them are a page, which
 * with --fault yes comes when the first of them is written. usage: ftq [--quanta N] [--bits N]
 * [--unit N]; a quantum is 2^bits ticks, a unit of work N additions. Options of roles.h.
 * Source: seed 004 9.3.
 */
#include "roles.h"

struct record {
	uint64_t time, work;
};

static struct record *records;
static long quanta, unit;
static uint64_t quantum;

static inline void
work_unit(void)
{
	for (long i = 0; i < unit; i++)
		__asm__ volatile("" : "+r"(i));
}

static uint64_t
next_end(uint64_t now)
{
	return (now + quantum) & ~(quantum - 1);
}

static void
count_work(void)
{
	uint64_t now = ticks_now(), end;

	window_begin();
	for (end = next_end(now) + quantum; (now = ticks_now()) < end;)
		continue;
	for (long i = 0; i < quanta; i++) {
		uint64_t work = 0, began = now;

		end = next_end(now);
		for (; now < end; work++) {
			work_unit();
			now = ticks_now();
		}
		records[i].time = began;
		records[i].work = work;
	}
	window_end();
}

int
main(int argc, char **argv)
{
	quanta = number(argc, argv, "--quanta", 2560);
	unit = number(argc, argv, "--unit", 16);
	quantum = 1ull << number(argc, argv, "--bits", 20);
	if (quanta < 2 || unit < 0)
		role_fail("--quanta is at least 2", quanta);
	records = role_memory(argc, argv, (size_t)quanta * sizeof(*records));
	role_measure(argc, argv, count_work);
	for (long i = 0; i < quanta; i++)
		printf("sample %llu %llu\n",
			(unsigned long long)(records[i].time - records[0].time),
			(unsigned long long)records[i].work);
	return 0;
}
