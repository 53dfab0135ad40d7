/* SPDX-License-Identifier: MIT
 *
 * Handlers (proc_handler, thread_handler) of CPUs where one begins as a function of the struct
 * handler_event that lies above its stack.
 */
#ifndef ATOLL_HANDLER_ENTRY_H
#define ATOLL_HANDLER_ENTRY_H

#include <abi/layout.h>
#include <atoll/kcalls.h>

/*
 * Define `name`, the entry of a handler that does fn(event) and returns to its thread with what
 * that returns.
 */
#define HANDLER_ENTRY(name, fn) \
	long fn(const struct handler_event *e); \
	void name(const struct handler_event *e); \
	void \
	name(const struct handler_event *e) \
	{ \
		long value = fn(e); \
	\
		for (;;) \
			kframe_return((unsigned long)value); \
	}

#endif
