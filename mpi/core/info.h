/* SPDX-License-Identifier: MIT
 *
 * Info objects: an ordered set of (key, value) texts.
 */
#ifndef MPI_CORE_INFO_H
#define MPI_CORE_INFO_H

#include <stddef.h>
#include <stdint.h>
#include <mpi.h>

struct mpi_rank;

struct info_pair {
	char *key;
	char *value;
};

struct info {
	struct info_pair *pair;
	int count;
	int room;
	uintptr_t handle;		/* 0: none */
};

/* Thread levels as texts. A text that is none of them (also NULL) is MPI_THREAD_SINGLE. */
const char *mpi_info_level_name(int level);
int mpi_info_level(const char *name);

/* The info object of a handle, or NULL (also for MPI_INFO_NULL). */
struct info *mpi_info_find(struct mpi_rank *self, MPI_Info handle);

/* A new one without a handle. NULL: no memory. */
struct info *mpi_info_new(void);
struct info *mpi_info_copy(const struct info *from);
void mpi_info_drop(struct info *i);	/* may be NULL */

/* Give it a handle (it is dropped on failure). Error class. */
int mpi_info_publish(struct mpi_rank *self, struct info *i, MPI_Info *handle);

/* The value under a key, or NULL. The object may be NULL. */
const char *mpi_info_value(const struct info *i, const char *key);

/* Set or replace. Error class. */
int mpi_info_set(struct info *i, const char *key, const char *value);

/* MPI_ERR_INFO_NOKEY if there is none. */
int mpi_info_delete(struct info *i, const char *key);

#endif
