/* SPDX-License-Identifier: MIT
 *
 * What -v shows of a type: how it was made, as the library tells it.
 */
#include "differ.h"

#define ROW 32			/* bytes of a line */
#define SHOWN 4096		/* of more only sums are shown */

static void
say_type(MPI_Datatype t, int depth)
{
	int ni, na, nt, combiner, integers[64], x, inner, name_len;
	MPI_Aint addresses[16];
	MPI_Datatype types[16];
	char name[MPI_MAX_OBJECT_NAME];

	MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
	if (combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_VALUE_INDEX || ni > 64 ||
		na > 16 || nt > 16 || depth > 6) {
		MPI_Type_get_name(t, name, &name_len);
		fprintf(stderr, " %s", name);
		return;
	}
	MPI_Type_get_contents(t, ni, na, nt, integers, addresses, types);
	fprintf(stderr, " [%d:", combiner);
	for (int i = 0; i < ni; i++)
		fprintf(stderr, " %d", integers[i]);
	for (int i = 0; i < na; i++)
		fprintf(stderr, " @%ld", (long)addresses[i]);
	for (int i = 0; i < nt; i++) {
		say_type(types[i], depth + 1);
		MPI_Type_get_envelope(types[i], &x, &x, &x, &inner);
		if (inner != MPI_COMBINER_NAMED && inner != MPI_COMBINER_VALUE_INDEX)
			MPI_Type_free(&types[i]);
	}
	fprintf(stderr, "]");
}

void
type_say(const struct differ *d, const char *what, const struct made *m)
{
	MPI_Aint lb, extent, true_lb, true_extent;

	if (!d->verbose)
		return;
	MPI_Type_get_extent(m->type, &lb, &extent);
	MPI_Type_get_true_extent(m->type, &true_lb, &true_extent);
	fprintf(stderr, "rank %d step %d: %s: size %d lb %ld extent %ld true %ld %ld", d->rank,
		d->step, what, m->size, (long)lb, (long)extent,
		(long)true_lb, (long)true_extent);
	say_type(m->type, 0);
	fprintf(stderr, "\n");
}

void
space_say(const struct differ *d, const char *what, const struct space *s)
{
	if (!d->verbose)
		return;
	for (size_t i = 0; i < s->len; i += ROW) {
		size_t n = s->len - i < ROW ? s->len - i : ROW;
		struct sum sum = {1};

		fprintf(stderr, "rank %d step %d: %s: at %ld:", d->rank, d->step, what,
			(long)(s->memory + i - s->at));
		for (size_t j = 0; s->len <= SHOWN && j < n; j++)
			fprintf(stderr, " %02x", (unsigned char)s->memory[i + j]);
		sum_bytes(&sum, s->memory + i, n);
		if (s->len > SHOWN)
			fprintf(stderr, " sum %016llx", (unsigned long long)sum.value);
		fprintf(stderr, "\n");
	}
}
