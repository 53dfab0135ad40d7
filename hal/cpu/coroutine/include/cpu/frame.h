/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: a stopped user thread. Threads stop at calls only, so a context is all there
 * is to save.
 */
#ifndef CPU_FRAME_H
#define CPU_FRAME_H

#include <context.h>

struct hal_frame {
	struct context context;
	unsigned long number;
	unsigned long args[6];
};

#endif
