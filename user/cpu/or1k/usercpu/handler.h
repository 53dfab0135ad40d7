/* SPDX-License-Identifier: MIT
 *
 * How a handler begins: as a function, whose argument lies above its stack.
 */
#ifndef USERCPU_HANDLER_H
#define USERCPU_HANDLER_H

#include <atoll/handler_entry.h>

/* What a floating-point register would hold: there are none. */
typedef int32_t float_register;

#endif
