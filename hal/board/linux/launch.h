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
};

/*
 * Start the machine, wait until it has ended, leave nothing behind. Returns the exit status: what hal_machine_halt was called
 * with; 1 if a cluster died and the machine did not end by itself; 128 + signal if a signal ended it.
 */
int launch_machine(const struct launch *l);

/* Why a record cannot be run, or NULL. `bytes`: of the file it came from. */
const char *launch_check_record(const struct boot_record *r, size_t bytes);

#endif
