/* SPDX-License-Identifier: MIT
 *
 * The first process of a cluster: mapped by the kernel from the segments that the boot record
 * lists. Home core.
 */
#ifndef KERNEL_PROC_INIT_H
#define KERNEL_PROC_INIT_H

#include <kernel/cluster.h>

/*
 * Map init's image and stack, write its startup record and start it on an application core. Its
 * start argument is the address of its struct startup; its stack holds argc, argv and the auxiliary
 * vector as a Linux program expects them. Panics if the record is wrong.
 */
void init_start(struct cluster *c);

/* init has ended: so has the cluster; in cluster 0 the machine halts. Never returns. */
_Noreturn void init_ended(struct cluster *c, const struct process *p);

#endif
