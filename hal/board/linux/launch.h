/* SPDX-License-Identifier: MIT
 *
 * A machine on Linux: one process per cluster, watched by the process that started it.
 */
#ifndef BOARD_LAUNCH_H
#define BOARD_LAUNCH_H

#include <stdbool.h>
#include <abi/boot.h>

struct launch {
	struct boot_record *record;	/* checked; every cluster gets its own copy */
	int archive_fd;			/* of a file of record->archive_bytes bytes, or -1 */
	bool no_fsgsbase;
	unsigned clock_rate;		/* 0: 1 */
	/* cluster that keeps our standard input, or -1; the others read nothing */
	int reader;
};

/*
 * Start the machine, wait until it has ended, leave nothing behind. Returns the exit status: what
 * hal_machine_halt was called with; 1 if a cluster died and the machine did not end by itself; 128
 * + signal if a signal ended it. SIGUSR1 and, before they end, SIGQUIT make every core say on
 * stderr what it does.
 */
int launch_machine(const struct launch *l);

/*
 * Which host CPUs the cores run on. Application cores get a CPU each if there are enough that no
 * other machine of this host has taken; the others, and all if there are not enough, go where Linux
 * puts them. A CPU stays taken while this process lives.
 */
struct host_machine;
void place_cores(struct host_machine *h);

/* Why a record cannot be run, or NULL. `bytes`: of the file it came from. */
const char *launch_check_record(const struct boot_record *r, size_t bytes);

#endif
