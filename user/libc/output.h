/* SPDX-License-Identifier: MIT
 *
 * What a program has written to standard output.
 */
#ifndef USER_LIBC_OUTPUT_H
#define USER_LIBC_OUTPUT_H

#include <stdint.h>

/*
 * The status with which a rank ends that would end with `status`, after its streams were flushed:
 * if that is 0, and its standard output could not be written, the rank says so, and it is 1.
 */
int output_status(uint32_t rank, int status);

/* Then the rank ends: on riscv64 the personality does it, which knows how long a process ran. */
_Noreturn void output_exit(int status);

#endif
