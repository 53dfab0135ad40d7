/* SPDX-License-Identifier: MIT
 *
 * A hosted machine has no devices that processes drive.
 */
#include <hal/device.h>

bool
hal_device_find(unsigned number, struct hal_device *d)
{
	(void)number;
	(void)d;
	return false;
}

void
hal_device_start(unsigned number)
{
	(void)number;
}

void
hal_device_done(unsigned number)
{
	(void)number;
}

void
hal_device_stop(unsigned number)
{
	(void)number;
}
