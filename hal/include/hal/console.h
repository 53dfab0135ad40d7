/* SPDX-License-Identifier: MIT
 *
 * HAL contract: console of last resort. Writes bytes now, without waiting for another core; lines of several clusters may
 * mix. The kernel's ordinary output goes through the console module, which keeps lines whole.
 */
#ifndef HAL_CONSOLE_H
#define HAL_CONSOLE_H

#include <stddef.h>

void hal_console_write(const char *text, size_t len);

#endif
