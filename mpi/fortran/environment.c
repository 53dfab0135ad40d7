/* SPDX-License-Identifier: MIT
 *
 * Routines of the environment, and functions, whose arguments differ from C's.
 */
#include <stdlib.h>
#include <mpi/fortran/routines.h>

static const struct {
	const char *key;
	const char *bytes;
} fortran_sizes[] = {
	{"mpi_logical_size", "4"}, {"mpi_integer_size", "4"}, {"mpi_real_size", "4"},
		{"mpi_double_precision_size", "8"},
};

/*
 * What the library must know of the compiler: gfortran's default kinds. Without them it keeps its
 * own, which are equal.
 */
static void
fortran_tell_library(void)
{
	int yes = 1, no = 0;
	MPI_Info info;

	PMPI_Abi_set_fortran_booleans((int)sizeof(int), &yes, &no);
	if (PMPI_Info_create(&info) != MPI_SUCCESS)
		return;
	for (size_t i = 0; i < sizeof(fortran_sizes) / sizeof(fortran_sizes[0]); i++)
		PMPI_Info_set(info, fortran_sizes[i].key, fortran_sizes[i].bytes);
	PMPI_Abi_set_fortran_info(info);
	PMPI_Info_free(&info);
}

FORTRAN_ROUTINE(init, (int *ierror))
{
	fortran_tell_library();
	*ierror = MPI_Init(NULL, NULL);
}

FORTRAN_ROUTINE(init_thread, (const int *required, int *provided, int *ierror))
{
	fortran_tell_library();
	*ierror = MPI_Init_thread(NULL, NULL, *required, provided);
}

FORTRAN_ROUTINE(pcontrol, (const int *level))
{
	MPI_Pcontrol(*level);
}

FORTRAN_ROUTINE(info_create_env, (int *info, int *ierror))
{
	MPI_Info c = MPI_INFO_NULL;

	*ierror = MPI_Info_create_env(0, NULL, &c);
	*info = MPI_Info_toint(c);
}

/* The buffer's address means nothing in this language: it is the program's own variable. */
FORTRAN_ROUTINE(buffer_detach, (void *buffer, int *size, int *ierror))
{
	void *address;

	(void)buffer;
	*ierror = MPI_Buffer_detach(&address, size);
}

/* The length comes and goes without C's final NUL. */
FORTRAN_ROUTINE(info_get_string,
    (const int *info, const char *key, int *buflen, char *value, int *flag, int *ierror,
	size_t key_len, size_t value_len))
{
	char *key_c = fortran_text_in(key, key_len), value_c[FORTRAN_TEXT] = "";
	int room = *buflen <= 0 ? 0 : *buflen < FORTRAN_TEXT ? *buflen + 1 : FORTRAN_TEXT,
		asks = room == 0;

	*ierror = MPI_Info_get_string(MPI_Info_fromint(*info), key_c, &room, value_c, flag);
	free(key_c);
	if (*ierror != MPI_SUCCESS || !*flag)
		return;
	*buflen = room - 1;
	if (!asks)
		fortran_text_out(value_c, value, value_len);
}

FORTRAN_ROUTINE(session_get_nth_pset,
    (const int *session, const int *info, const int *n, int *len, char *name, int *ierror,
    size_t name_len))
{
	char name_c[FORTRAN_TEXT] = "";
	int room = *len <= 0 ? 0 : *len < FORTRAN_TEXT ? *len + 1 : FORTRAN_TEXT, asks = room == 0;

	*ierror = MPI_Session_get_nth_pset(MPI_Session_fromint(*session), MPI_Info_fromint(*info),
		*n, &room, name_c);
	if (*ierror != MPI_SUCCESS)
		return;
	*len = room - 1;
	if (!asks)
		fortran_text_out(name_c, name, name_len);
}

FORTRAN_FUNCTION(double, wtime, (void))
{
	return MPI_Wtime();
}

FORTRAN_FUNCTION(double, wtick, (void))
{
	return MPI_Wtick();
}

FORTRAN_FUNCTION(MPI_Aint, aint_add, (const MPI_Aint *base, const MPI_Aint *disp))
{
	return MPI_Aint_add(*base, *disp);
}

FORTRAN_FUNCTION(MPI_Aint, aint_diff, (const MPI_Aint *addr1, const MPI_Aint *addr2))
{
	return MPI_Aint_diff(*addr1, *addr2);
}

/*
 * What is at the beginning of the descriptor that the compiler passes for an argument of any type
 * and rank.
 */
struct fortran_descriptor {
	void *address;
	size_t element_bytes;
};

void
mpi_fortran_sizeof(const struct fortran_descriptor *x, int *size, int *ierror)
{
	*size = (int)x->element_bytes;
	*ierror = MPI_SUCCESS;
}
