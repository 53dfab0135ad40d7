/* SPDX-License-Identifier: MIT
 *
 * Inside of rank.c that the personality shares.
 */
#ifndef USER_RANK_H
#define USER_RANK_H

#include <stdint.h>

struct job_control;

/* End local rank number `local` as struct job_control says. */
_Noreturn void rank_end(struct job_control *c, uint32_t local, int status);

#endif
