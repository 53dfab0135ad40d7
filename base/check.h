/* SPDX-License-Identifier: MIT
 *
 * check(condition): for our own bugs, never for what a user or a peer can cause. A failed check
 * ends in check_failed, which whoever links this defines: the kernel panics, a server reports and
 * exits, a unit test aborts. File and line stand for the text of the condition, which would take
 * 1,700 bytes of the kernel.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

_Noreturn void check_failed(const char *file, int line);

#define check(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__))

#endif
