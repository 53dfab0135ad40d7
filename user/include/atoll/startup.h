/* SPDX-License-Identifier: MIT
 *
 * What the loader told this program.
 */
#ifndef ATOLL_STARTUP_H
#define ATOLL_STARTUP_H

#include <stdbool.h>
#include <abi/startup.h>

/*
 * The start-up record, or NULL if the program was not started by Atoll. Valid as long as the
 * program runs.
 */
const struct startup *atoll_startup(void);

/*
 * End this rank with a status (0..255): its thread runs no further, and the last rank of the
 * cluster ends the process. A program that is not part of a job ends its process. Neither runs
 * handlers nor flushes anything; exit() ends here.
 */
_Noreturn void rank_exit(int status);

/*
 * From now on the end of this rank ends the job (true), or no longer (false), as others may wait
 * for it. Its exit then says so on standard error and ends the job with its status, or 1 if that is
 * 0. Nothing outside a job. Never blocks.
 */
void rank_hold(bool held);

/* End the whole job with a status (0..255; 0 counts as 1): all its ranks in all clusters. */
_Noreturn void job_abort(int status);

#endif
