/* SPDX-License-Identifier: MIT
 *
 * Handlers of programs (kthread_handler, kproc_handler): HANDLER_ENTRY defines where one begins,
 * kcall0 .. kcall6 make calls of any number.
 */
#ifndef ATOLL_HANDLER_H
#define ATOLL_HANDLER_H

#include <usercpu/handler.h>
#include <usercpu/kcall.h>

#endif
