/* SPDX-License-Identifier: MIT
 *
 * Included first in every file of a shared library that defines functions of mpi.h, when hidden is
 * the default: these are not.
 */
#ifndef MPI_EXPORT_H
#define MPI_EXPORT_H

_Pragma("GCC visibility push(default)")
#include <mpi.h>
_Pragma("GCC visibility pop")

#endif
