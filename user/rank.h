/* SPDX-License-Identifier: MIT
 *
 * What the personality shares with rank.c.
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
 * then says so and calls job_abort. True once in a cluster: a rank that comes later sleeps until
 * the process ends, so that the message and the status are those of one rank.
 */
bool rank_breaks_job(struct job_control *c, uint32_t local);

#endif
