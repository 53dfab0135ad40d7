/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: a small machine's boot record for tests.
 */
#include <string.h>
#include "internal.h"

size_t noc_window_bytes(const struct boot_record *record);	/* hal/noc/shm */

void
coro_record(struct boot_record *record, unsigned clusters, unsigned cores)
{
	*record = (struct boot_record){.magic = BOOT_MAGIC, .version = BOOT_VERSION,
		.bytes = sizeof(*record), .clusters = clusters,
		.mailbox_ports = 4, .portal_ports = 2, .portal_unit_bytes = 256,
		.channel_bytes = 4 * HAL_PAGE_BYTES,
		.flags = BOOT_NO_INIT | BOOT_QUIET};
	for (unsigned i = 0; i < clusters; i++) {
		record->cluster[i] = (struct boot_cluster){.mem_bytes = 1 << 20, .cores = cores,
			.first_core = i * cores,
			.incarnation = 1 + i};
		for (unsigned k = 0; k < cores; k++)
			record->roles[i * cores + k] = k == 0 ? ROLE_KC : ROLE_AC;
	}
	record->noc_window_bytes = noc_window_bytes(record);
	strcpy(record->machine, "coroutine");
}
