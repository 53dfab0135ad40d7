/* SPDX-License-Identifier: MIT
 *
 * riscv64: what user code may ask of the machine itself, without the kernel: instructions of the space that the architecture leaves to
 * implementations. They trap as illegal; the HAL carries them out and goes on behind them.
 */
#ifndef ABI_BOARD_CALLS_H
#define ABI_BOARD_CALLS_H

/* a0: nanoseconds. Wait so long, at most BOARD_NAP_MAX_NS, or until somebody wants this core: a thread became ready, a message came. */
#define BOARD_CALL_NAP 0x0000000b

#define BOARD_NAP_MAX_NS 10000000

#endif
