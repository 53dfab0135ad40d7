/* SPDX-License-Identifier: MIT
 *
 * HAL contract: interrupts of devices, taken by core 0 around its waits. Ports without a device
 * that a test can have interrupt skip this.
 */
#include <hal/device.h>
#include "testbed.h"

#define DEVICE 0

void
kernel_interrupt(unsigned number)
{
	struct test_core *c = hal_core_local();

	expect(c->bed, hal_core_id() == 0);
	expect(c->bed, number == DEVICE);
	c->bed->interrupts++;
}

/* What core 0 has taken when it has looked. */
static unsigned
taken(struct testbed *bed)
{
	hal_wait_begin();
	hal_wait_cancel();
	return bed->interrupts;
}

static bool
begin(struct testbed *bed)
{
	struct hal_device d;

	if (!user_device_can()) {
		test_skip(bed, "no device that interrupts when it is told to");
		return false;
	}
	expect(bed, hal_device_find(DEVICE, &d) && d.kind != DEVICE_NONE && d.pages > 0);
	bed->interrupts = 0;
	return true;
}

static void
end(void)
{
	user_device_raise(false);
	hal_device_stop(DEVICE);
}

static void
ends_wait(struct testbed *bed)
{
	if (!begin(bed))
		return;
	hal_device_start(DEVICE);
	user_device_raise(true);
	hal_wait_begin();
	hal_wait(hal_clock_ns() + PATIENCE_NS);
	expect(bed, bed->interrupts == 1);
	end();
}

static void
in_cancel(struct testbed *bed)
{
	if (!begin(bed))
		return;
	hal_device_start(DEVICE);
	expect(bed, taken(bed) == 0);
	user_device_raise(true);
	expect(bed, taken(bed) == 1);
	end();
}

static void
masked(struct testbed *bed)
{
	if (!begin(bed))
		return;
	hal_device_start(DEVICE);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		user_device_raise(true);
		expect(bed, taken(bed) == i);
		user_device_raise(true);
		expect(bed, taken(bed) == i);
		hal_device_done(DEVICE);
	}
	expect(bed, taken(bed) == ROUNDS + 1);
	end();
}

static void
stopped(struct testbed *bed)
{
	if (!begin(bed))
		return;
	user_device_raise(true);
	expect(bed, taken(bed) == 0);		/* nobody has started it */
	user_device_raise(false);
	hal_device_stop(DEVICE);
	hal_device_start(DEVICE);
	expect(bed, taken(bed) == 0);
	user_device_raise(true);
	expect(bed, taken(bed) == 1);
	user_device_raise(true);
	hal_device_stop(DEVICE);
	expect(bed, taken(bed) == 1);
	user_device_raise(false);
	hal_device_stop(DEVICE);
	hal_device_start(DEVICE);
	expect(bed, taken(bed) == 1);		/* the last one is forgotten */
	end();
}

const struct hal_test device_tests[] = {
	{"an_interrupt_of_a_device_ends_a_wait", ends_wait, 1, 1},
	{"an_interrupt_of_a_device_is_taken_when_a_wait_is_cancelled", in_cancel, 1, 1},
	{"an_interrupt_of_a_device_is_taken_once_until_it_is_served", masked, 1, 1},
	{"a_device_that_is_stopped_interrupts_no_more", stopped, 1, 1},
	{NULL, NULL, 0, 0},
};
