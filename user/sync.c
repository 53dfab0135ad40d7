/* SPDX-License-Identifier: MIT
 *
 * Signals that wait until they may be given.
 */
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>

int
sync_give(int sync)
{
	long result;

	while ((result = ksync_signal(sync)) == -E_AGAIN) {
		result = ksync_wait(sync, FOREVER);
		if (result < 0)
			break;
	}
	return (int)result;
}
