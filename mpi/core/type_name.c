/* SPDX-License-Identifier: MIT
 *
 * Names of types.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/core/derived.h>
#include <mpi/core/rank.h>
#include <mpi/core/type_notes.h>

struct predefined_name {
	uint16_t handle;
	const char text[30];
};

static const struct predefined_name names[] = {
	{0x201, "MPI_AINT"}, {0x202, "MPI_COUNT"}, {0x203, "MPI_OFFSET"}, {0x207, "MPI_PACKED"},
		{0x208, "MPI_SHORT"}, {0x209, "MPI_INT"},
	{0x20a, "MPI_LONG"}, {0x20b, "MPI_LONG_LONG"}, {0x20c, "MPI_UNSIGNED_SHORT"},
		{0x20d, "MPI_UNSIGNED"}, {0x20e, "MPI_UNSIGNED_LONG"},
	{0x20f, "MPI_UNSIGNED_LONG_LONG"}, {0x210, "MPI_FLOAT"}, {0x212, "MPI_C_FLOAT_COMPLEX"},
		{0x213, "MPI_CXX_FLOAT_COMPLEX"},
	{0x214, "MPI_DOUBLE"}, {0x216, "MPI_C_DOUBLE_COMPLEX"}, {0x217, "MPI_CXX_DOUBLE_COMPLEX"},
		{0x218, "MPI_LOGICAL"},
	{0x219, "MPI_INTEGER"}, {0x21a, "MPI_REAL"}, {0x21b, "MPI_COMPLEX"},
		{0x21c, "MPI_DOUBLE_PRECISION"}, {0x21d, "MPI_DOUBLE_COMPLEX"},
	{0x21e, "MPI_CHARACTER"}, {0x220, "MPI_LONG_DOUBLE"}, {0x224, "MPI_C_LONG_DOUBLE_COMPLEX"},
		{0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX"},
	{0x228, "MPI_FLOAT_INT"}, {0x229, "MPI_DOUBLE_INT"}, {0x22a, "MPI_LONG_INT"},
		{0x22b, "MPI_2INT"}, {0x22c, "MPI_SHORT_INT"},
	{0x22d, "MPI_LONG_DOUBLE_INT"}, {0x230, "MPI_2REAL"}, {0x231, "MPI_2DOUBLE_PRECISION"},
		{0x232, "MPI_2INTEGER"}, {0x238, "MPI_C_BOOL"},
	{0x239, "MPI_CXX_BOOL"}, {0x23c, "MPI_WCHAR"}, {0x240, "MPI_INT8_T"},
		{0x241, "MPI_UINT8_T"}, {0x243, "MPI_CHAR"},
	{0x244, "MPI_SIGNED_CHAR"}, {0x245, "MPI_UNSIGNED_CHAR"}, {0x247, "MPI_BYTE"},
		{0x248, "MPI_INT16_T"}, {0x249, "MPI_UINT16_T"},
	{0x250, "MPI_INT32_T"}, {0x251, "MPI_UINT32_T"}, {0x258, "MPI_INT64_T"},
		{0x259, "MPI_UINT64_T"}, {0x2c0, "MPI_LOGICAL1"},
	{0x2c1, "MPI_INTEGER1"}, {0x2c8, "MPI_LOGICAL2"}, {0x2c9, "MPI_INTEGER2"},
		{0x2ca, "MPI_REAL2"}, {0x2d0, "MPI_LOGICAL4"},
	{0x2d1, "MPI_INTEGER4"}, {0x2d2, "MPI_REAL4"}, {0x2d3, "MPI_COMPLEX4"},
		{0x2d8, "MPI_LOGICAL8"}, {0x2d9, "MPI_INTEGER8"},
	{0x2da, "MPI_REAL8"}, {0x2db, "MPI_COMPLEX8"}, {0x2e0, "MPI_LOGICAL16"},
		{0x2e1, "MPI_INTEGER16"}, {0x2e2, "MPI_REAL16"},
	{0x2e3, "MPI_COMPLEX16"}, {0x2eb, "MPI_COMPLEX32"},
};

#define NAMES (sizeof(names) / sizeof(names[0]))

static const char *
predefined_name(const struct type *t)
{
	uintptr_t handle = (uintptr_t)mpi_type_predefined_handle(t);

	for (size_t i = 0; i < NAMES; i++)
		if (names[i].handle == handle)
			return names[i].text;
	return "";
}

const char *
mpi_type_name(struct mpi_rank *self, const struct type *t)
{
	const struct type_notes *n;

	if (!(t->flags & TYPE_PREDEFINED))
		return ((const struct derived *)t)->name ? ((const struct derived *)t)->name : "";
	n = mpi_type_notes_find(self, t);
	return n && n->name ? n->name : predefined_name(t);
}

/* Where the name is kept, or NULL: no memory. */
static char **
name_of(struct mpi_rank *self, struct type *t)
{
	struct derived *d = derived_of(t);
	struct type_notes *n = d ? NULL : mpi_type_notes_make(self, t);

	return d ? &d->name : n ? &n->name : NULL;
}

int
mpi_type_set_name(struct mpi_rank *self, struct type *t, const char *name)
{
	size_t len = strnlen(name, MPI_MAX_OBJECT_NAME - 1);
	char **where = name_of(self, t), *copy = where ? malloc(len + 1) : NULL;

	if (copy == NULL)
		return MPI_ERR_NO_MEM;
	memcpy(copy, name, len);
	copy[len] = 0;
	free(*where);
	*where = copy;
	return MPI_SUCCESS;
}
