/* SPDX-License-Identifier: MIT
 *
 * The empty queues of matching.
 */
#include <mpi/core/matcher.h>

void
mpi_match_init(struct matcher *m)
{
	for (int i = 0; i < MATCH_BINS; i++) {
		list_init(&m->posted[i]);
		list_init(&m->unexpected[i]);
	}
	list_init(&m->posted_any);
	list_init(&m->unexpected_all);
	list_init(&m->spare);
	m->order = 0;
	m->posted_count = 0;
	m->unexpected_count = 0;
}
