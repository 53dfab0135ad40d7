/* SPDX-License-Identifier: MIT
 *
 * Error classes and codes that the program adds.
 */
#ifndef MPI_CORE_ERRCODES_H
#define MPI_CORE_ERRCODES_H

#include <stdbool.h>

struct mpi_rank;

/* The class of a code, or -1: there is no such code. */
int mpi_errcode_class(const struct mpi_rank *self, int code);

/* The text of a code, "" if the program gave none, NULL: there is no such code. */
const char *mpi_errcode_text(const struct mpi_rank *self, int code);

/* The largest code in use, at least MPI_ERR_LASTCODE. */
int mpi_errcode_last(const struct mpi_rank *self);

/* A new code of a class; a new class. Error class. */
int mpi_errcode_add(struct mpi_rank *self, int class, int *code);
int mpi_errcode_add_class(struct mpi_rank *self, int *class);

/* Give a code of the program's a text. MPI_ERR_ARG: it is not one. */
int mpi_errcode_name(struct mpi_rank *self, int code, const char *text);

/*
 * Remove a class (is_class) or a code of the program's; MPI_ERR_OTHER if it still has codes or a
 * text.
 */
int mpi_errcode_remove(struct mpi_rank *self, int code, bool is_class);

/* Remove its text. */
int mpi_errcode_unname(struct mpi_rank *self, int code);

/* Free all. */
void mpi_errcode_exit(struct mpi_rank *self);

#endif
