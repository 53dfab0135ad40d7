/* SPDX-License-Identifier: MIT
 *
 * HAL contract: guests. Threads that are not the kernel's, made by a program on a host that has
 * threads of its own. While it is a guest, such a thread is a core with one thread: it makes every
 * kernel call, and where it waits, the core waits, which to the host is a thread in a futex. It
 * joins the process of one of the kernel's threads. The back end gives it a core[] entry beyond the
 * machine's own and calls these functions on it, on whatever stack it has.
 *
 * A guest that leaves must not be wanted any more: a sweep that has counted its core waits for it.
 * So home lets it go only when no sweep will post to it, and strikes the core from the process in
 * the same step; what was posted before is served afterwards. tests/models/guest.pml
 */
#ifndef HAL_GUEST_H
#define HAL_GUEST_H

#include <stdbool.h>
#include <stdint.h>

struct hal_frame;
struct hal_space;

/* What a guest needs to enter and leave the kernel as a thread. */
struct guest_thread {
	struct hal_frame *frame;
	struct hal_space *space;
};

/*
 * The calling host thread, as core number `core`, gets a thread in the process that has the address
 * `image`. `home`: home's own hal_core_local(). Returns its handle; -E_SRCH: no such process, or it
 * is dying; -E_NOSPC: the table is full; -E_NOMEM, -E_MFILE: no handle.
 */
int kernel_guest_enter(void *home, unsigned core, uintptr_t image, struct guest_thread *g);

/*
 * The guest's thread ends. False: its process is dying, the core must enter the kernel and never
 * leave it.
 */
bool kernel_guest_leave(void);

#endif
