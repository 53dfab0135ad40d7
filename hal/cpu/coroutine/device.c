/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: devices of cluster 0, which a test drives: coro_device_raise. A device has a
 * page that the test sees at coro_device_page. An interrupt that comes before the last one is
 * served is remembered, once.
 */
#include <string.h>
#include <abi/limits.abi.h>
#include <hal/device.h>
#include "internal.h"

static _Alignas(4096) unsigned char page[CORO_DEVICES][4096];

static struct coro_device *
device(unsigned number)
{
	if (number >= CORO_DEVICES)
		coro_fail("device %u does not exist", number);
	return &coro_machine.device[number];
}

/* A device that core 0 would take an interrupt of now, or NULL. */
static struct coro_device *
device_pending(const struct coro_core *core)
{
	for (unsigned i = 0; i < CORO_DEVICES && core->index == 0; i++) {
		struct coro_device *d = &coro_machine.device[i];

		if (d->is_on && d->is_raised && !d->is_taken)
			return d;
	}
	return NULL;
}

bool
coro_device_is_pending(const struct coro_core *core)
{
	return device_pending(core) != NULL;
}

void
coro_device_take(void)
{
	struct coro_device *d = device_pending(coro_now);

	if (d == NULL)
		return;
	d->is_raised = false;
	d->is_taken = true;
	d->taken++;
	kernel_interrupt((unsigned)(d - coro_machine.device));
}

static void
device_follow(void)
{
	struct coro_core *home = &coro_machine.core[0];

	if (device_pending(home) != NULL && home->state == CORE_WAITING)
		coro_make_ready(home);
}

bool
hal_device_find(unsigned number, struct hal_device *d)
{
	if (coro_now->cluster != 0 || number >= CORO_DEVICES)
		return false;
	*d = (struct hal_device){.base = (uintptr_t)page[number], .pages = 1,
		.kind = DEVICE_TEST};
	return true;
}

void
hal_device_start(unsigned number)
{
	coro_op(OP_DEVICE, __FILE__, __LINE__, number);
	device(number)->is_on = true;
	device_follow();
}

void
hal_device_done(unsigned number)
{
	coro_op(OP_DEVICE, __FILE__, __LINE__, number);
	device(number)->is_taken = false;
	device_follow();
}

void
hal_device_stop(unsigned number)
{
	struct coro_device *d = device(number);

	coro_op(OP_DEVICE, __FILE__, __LINE__, number);
	d->is_on = d->is_taken = d->is_raised = false;
	d->stopped++;
}

void
coro_device_raise(unsigned number)
{
	coro_op(OP_DEVICE, "test", 0, number);
	device(number)->is_raised = true;
	device_follow();
}

void *
coro_device_page(unsigned number)
{
	return page[number];
}

struct coro_device *
coro_device(unsigned number)
{
	return device(number);
}

/* For kernels that have no devices. */
__attribute__((weak)) void
kernel_interrupt(unsigned number)
{
	(void)number;
}
