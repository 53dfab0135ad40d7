/* SPDX-License-Identifier: MIT
 *
 * Input files: by way of the libc, or, where programs have no file system, from the boot archive as
 * files/NAME.
 */
#ifndef CAPBENCH_INPUT_H
#define CAPBENCH_INPUT_H

#include <stddef.h>

/* A whole file, with a NUL after its end; free it. NULL: there is no such file, or no memory. */
char *input_read(const char *name, size_t *bytes);

/* The last part of a path. */
const char *input_base_name(const char *path);

#endif
