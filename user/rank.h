/* SPDX-License-Identifier: MIT
 *
 * Inside of rank.c that the personality shares.
 */
#ifndef USER_RANK_H
#define USER_RANK_H

#include <stdbool.h>
#include <stdint.h>

struct job_control;

/* End local rank number `local` as struct job_control says. */
_Noreturn void rank_end(struct job_control *c, uint32_t local, int status);

/*
 * Whether the end of local rank number `local` must end the job, because it holds it. The caller
 * then says so and calls job_abort. True once in a cluster: who comes later sleeps until the
 * process ends, so that what is said and the status are one rank's.
 */
bool rank_breaks_job(struct job_control *c, uint32_t local);

#endif
