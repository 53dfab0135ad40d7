/* SPDX-License-Identifier: MIT
 *
 * check(condition): for our own bugs, never for what a user or a peer can cause. A failed check
 * ends in check_failed, which whoever links this defines: the kernel panics, a server reports and
 * exits, a unit test aborts.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

_Noreturn void check_failed(const char *file, int line, const char *what);

#define check(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

#endif
