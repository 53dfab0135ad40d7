/* SPDX-License-Identifier: MIT
 *
 * HAL contract: the device behind the console, for home of cluster 0; and the console of last
 * resort. The kernel's ordinary output goes through the console module, which keeps lines whole and
 * waits for nobody.
 */
#ifndef HAL_CONSOLE_H
#define HAL_CONSOLE_H

#include <stddef.h>

/* Hand bytes to the device as long as it takes them without waiting. Returns how many it took. */
size_t hal_console_put(const char *text, size_t len);

/*
 * Write all bytes now: before the machine halts, or in a panic. Any core; lines of several clusters
 * may mix. Waits for the device, but on bare metal not for one that has taken nothing for some
 * seconds.
 */
void hal_console_write(const char *text, size_t len);

#endif
