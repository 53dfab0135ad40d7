/* SPDX-License-Identifier: MIT
 *
 * Attributes: values under keys of the program, on communicators, datatypes and windows. One engine
 * for all; an object embeds a struct attr_list (zero: no attributes) and says its handle where
 * callbacks may run.
 *
 * Attributes are deleted in the reverse order of their setting. Callbacks may call the library,
 * also for the same object.
 */
#ifndef MPI_CORE_ATTR_H
#define MPI_CORE_ATTR_H

#include <stdbool.h>
#include <stdint.h>
#include <mpi.h>

struct mpi_rank;
struct attr;

struct attr_list {
	struct attr *last;		/* set last; the others follow */
};

enum attr_kind { ATTR_COMM, ATTR_TYPE, ATTR_WIN };

/*
 * What the program hands over for a key; copy 0: is not copied, 1: the value itself is; delete 0:
 * nothing to do. Cast to the kind's type.
 */
struct attr_functions {
	void (*copy)(void);
	void (*drop)(void);
	void *extra;
};

/* A new key. Error class. */
int mpi_keyval_new(struct mpi_rank *self, enum attr_kind kind, struct attr_functions f,
	int *keyval);

/*
 * The program frees a key; the attributes under it stay. *keyval becomes MPI_KEYVAL_INVALID. Error
 * class.
 */
int mpi_keyval_free(struct mpi_rank *self, enum attr_kind kind, int *keyval);

/* An object with attributes, for what the program may ask. */
struct attr_object {
	struct attr_list *list;
	enum attr_kind kind;
	uintptr_t handle;
};

/* Error class; that of a callback, then nothing changes. */
int mpi_attr_set(struct mpi_rank *self, struct attr_object o, int keyval, void *value);
int mpi_attr_get(struct mpi_rank *self, struct attr_object o, int keyval, void **value,
	bool *found);
int mpi_attr_delete(struct mpi_rank *self, struct attr_object o, int keyval);

/*
 * A new object inherits what the copy functions of the old one's attributes give it. On error `to`
 * is as it was.
 */
int mpi_attr_copy(struct mpi_rank *self, struct attr_object from, struct attr_object to);

/* An object goes. The first error of a callback ends it: what is left stays. */
int mpi_attr_delete_all(struct mpi_rank *self, struct attr_list *list, uintptr_t handle);

#endif
