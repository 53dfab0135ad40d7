/* SPDX-License-Identifier: MIT
 *
 * Programs and processes on cores of one's choice, for programs with a libc on riscv64. Manual:
 * docs/man/execac.3. Source: seed 004 4 (user interface).
 */
#ifndef ATOLL_EXECAC_H
#define ATOLL_EXECAC_H

/* Plan 9's numbers */
#define RFPROC (1u << 4)	/* a child, as of fork; without it the caller itself is meant */
#define RFPREPAGE (1u << 15)	/* all that it has mapped is there from now on */
#define RFCORE (1u << 17)	/* it goes to an AC */
#define RFCCORE (1u << 18)	/* it goes to a TC */
#define RFALL (RFPROC | RFPREPAGE | RFCORE | RFCCORE)

/*
 * Become a program all of which is there before it begins; the environment stays. core 0: where the
 * process was before; < 0: on an AC; > 0: on this core. Returns only errors, as negative numbers.
 */
int execac(int core, const char *path, char *const args[]);

/* The pid of the child, in the child and without RFPROC 0, or an error as a negative number. */
int rfork(unsigned flags);

#endif
