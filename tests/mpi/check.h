/* SPDX-License-Identifier: MIT
 *
 * What the MPI test programs share. A program counts its errors; rank 0 prints "No errors" if no
 * rank had any, and every rank returns 0 then. Nothing here is changed at run time but by the rank
 * itself.
 */
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
	int rank;
	int size;
	int errors;
};

/* Starts MPI. */
struct check check_begin(int *argc, char ***argv);

/* Ends MPI; the result is the program's exit status. */
int check_end(struct check *c);

/* Count an error, and say so if it is one of the first. */
void check_fail(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define CHECK(c, condition) \
	do { \
		if (!(condition)) \
			check_fail((c), "%s:%d: %s", __FILE__, __LINE__, #condition); \
	} while (0)

/* The class of what an MPI function returned: other libraries return codes of their own. */
static inline int
check_class(int code)
{
	int class = code;

	MPI_Error_class(code, &class);
	return class;
}

/* Byte i of a message that `who` sends as its number `which`. */
static inline unsigned char
check_byte(int who, int which, size_t i)
{
	return (unsigned char)(who * 31 + which * 7 + (int)(i * 13 % 251));
}

void check_fill(void *buffer, size_t len, int who, int which);

/* Is the buffer what check_fill made? */
int check_same(const void *buffer, size_t len, int who, int which);

#endif
