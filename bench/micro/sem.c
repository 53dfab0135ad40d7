/* SPDX-License-Identifier: MIT
 *
 * Semaphores and tubes of user level on one core. usage: sem [--size BYTES] [--rounds N]. Source:
 * seed 004 5. Windows: label 16: upsem and 17: downsem, where nobody sleeps; 18: altsems of 16, of
 * which the last is up; 19: a send and a receive by a tube; 20: talt of a send and a receive, of
 * which one can be done.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/sem.h>
#include <atoll/tube.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WINDOWS 10
#define SEMS 16
#define LONGEST 4096
#define NS 1e-9

static _Alignas(64) unsigned char memory[65536];
static _Alignas(8) unsigned char out[LONGEST], in[LONGEST];
static struct segment here;
static struct sem sem[SEMS];
static const struct sem *all[SEMS];
static struct tube tube;

static void
check_result(int result)
{
	if (result < 0)
		MPI_Abort(MPI_COMM_WORLD, -result);
}

static void
send_and_receive(void)
{
	tsend(&tube, out, FOREVER);
	treceive(&tube, in, FOREVER);
}

static void
up_and_down(void)
{
	upsem(&sem[0]);
	downsem(&sem[0], FOREVER);
}

static void
one_of_many(void)
{
	upsem(&sem[SEMS - 1]);
	altsems(all, SEMS, FOREVER);
}

static void
either(void)
{
	struct talt a[] = {{&tube, out, TALT_SEND, NULL}, {&tube, in, TALT_RECEIVE, NULL}};

	talt(a, 2, FOREVER);
}

static void
count_instructions(void)
{
	for (int i = 0; i < 4; i++) {
		up_and_down();
		send_and_receive();
		one_of_many();
		either();
	}
	hal_mark(LABEL);
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		upsem(&sem[0]);
		hal_mark(MARK_END);
	}
	hal_mark(LABEL + 1);
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		downsem(&sem[0], FOREVER);
		hal_mark(MARK_END);
	}
	hal_mark(LABEL + 2);
	for (int n = 0; n < WINDOWS; n++) {
		upsem(&sem[SEMS - 1]);
		hal_mark(MARK_BEGIN);
		altsems(all, SEMS, FOREVER);
		hal_mark(MARK_END);
	}
	hal_mark(LABEL + 3);
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		tsend(&tube, out, FOREVER);
		treceive(&tube, in, FOREVER);
		hal_mark(MARK_END);
	}
	hal_mark(LABEL + 4);
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		either();
		hal_mark(MARK_END);
	}
}

static void
time_of(const char *name, void (*what)(void), long rounds, const char *params)
{
	double start = MPI_Wtime();

	for (long n = 0; n < rounds; n++)
		what();
	row(name, (MPI_Wtime() - start) / NS / (double)rounds, "ns", params);
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 100000);
	long size = number(argc, argv, "--size", 64);

	MPI_Init(&argc, &argv);
	if (size < 1 || size > LONGEST)
		MPI_Abort(MPI_COMM_WORLD, 1);
	check_result(segment_begin(&here, memory, sizeof(memory), 0));
	for (int i = 0; i < SEMS; i++) {
		check_result(newsem(&here, &sem[i], NULL, 0));
		all[i] = &sem[i];
	}
	check_result(newtube(&here, &tube, NULL, (uint32_t)size, 8));
	count_instructions();
	time_of("up_down", up_and_down, rounds, "");
	time_of("altsems_of_16", one_of_many, rounds, "");
	time_of("tube", send_and_receive, rounds, "");
	MPI_Finalize();
	return 0;
}
