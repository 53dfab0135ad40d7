/* SPDX-License-Identifier: MIT
 *
 * What the start-up code must know about the CPU.
 */
#ifndef USERCPU_START_H
#define USERCPU_START_H

#define START_RELATIVE 21	/* R_OR1K_RELATIVE */

#define START_MACHINE 92	/* ELF machine of programs */

/* what a call leaves on the stack below an aligned address */
#define CONTEXT_CALL_BYTES 0

#endif
