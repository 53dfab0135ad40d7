/* SPDX-License-Identifier: MIT
 *
 * Bytes that may not be there are touched, for programs that know nothing of Atoll.
 */
#ifndef TESTS_JOBS_TOUCH_H
#define TESTS_JOBS_TOUCH_H

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include "unaware.h"

static sigjmp_buf touch_back;
static volatile int touch_signal, touch_code;
static void *volatile touch_where;

static inline void
touch_failed(int sig, siginfo_t *info, void *context)
{
	(void)context;
	touch_signal = sig;
	touch_code = info->si_code;
	touch_where = info->si_addr;
	siglongjmp(touch_back, 1);
}

/* Before the first touch. SIGSEGV and SIGBUS are taken on the other stack, if a thread has one. */
static inline void
touch_begin(void)
{
	struct sigaction a = {.sa_flags = SA_SIGINFO | SA_ONSTACK};

	a.sa_sigaction = touch_failed;
	sigaction(SIGSEGV, &a, NULL);
	sigaction(SIGBUS, &a, NULL);
}

/* Read or write a byte: 0; the signal that came, its code in touch_code; -1: of another byte. */
static inline int
touch(char *at, int is_written)
{
	if (sigsetjmp(touch_back, 1) != 0)
		return touch_where == at ? touch_signal : -1;
	if (is_written)
		*(volatile char *)at = 'w';
	else
		(void)*(volatile char *)at;
	return 0;
}

#endif
