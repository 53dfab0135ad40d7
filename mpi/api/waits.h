/* SPDX-License-Identifier: MIT
 *
 * What a rank waits for, in words.
 */
#ifndef MPI_API_WAITS_H
#define MPI_API_WAITS_H

#include <stddef.h>

struct mpi_rank;

/*
 * Describe for people what the calling rank waits for, in the MPI function of this name (NULL:
 * unknown): peers, tags, communicators, and the messages that have arrived and that nobody has
 * received. Only while no other thread is in the library.
 */
void mpi_describe_wait(struct mpi_rank *self, const char *function, char *text, size_t room);

#endif
