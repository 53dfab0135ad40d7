/* SPDX-License-Identifier: MIT
 *
 * Info objects, also before MPI_Init and after MPI_Finalize; memory; what the library says of
 * itself.
 */
#include "check.h"

static int early_errors;

#define EARLY(condition) \
	do { \
		if (!(condition)) { \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			early_errors++; \
		} \
	} while (0)

static MPI_Info
before(void)
{
	MPI_Info i;
	int n, flag;
	char value[8];

	EARLY(MPI_Info_create(&i) == MPI_SUCCESS);
	EARLY(MPI_Info_set(i, "colour", "blue") == MPI_SUCCESS);
	EARLY(MPI_Info_set(i, "shape", "a circle") == MPI_SUCCESS);
	EARLY(MPI_Info_set(i, "colour", "red") == MPI_SUCCESS);
	EARLY(MPI_Info_get_nkeys(i, &n) == MPI_SUCCESS && n == 2);
	EARLY(MPI_Info_get(i, "shape", 3, value, &flag) == MPI_SUCCESS && flag &&
		strcmp(value, "a c") == 0);
	return i;
}

static void
contents(struct check *c, MPI_Info i)
{
	char text[MPI_MAX_INFO_KEY + 8], value[16];
	int n, flag, len;
	MPI_Info copy;

	MPI_Info_get_nthkey(i, 1, text);
	CHECK(c, strcmp(text, "shape") == 0);
	len = 4;
	MPI_Info_get_string(i, "colour", &len, value, &flag);
	CHECK(c, flag && len == 4 && strcmp(value, "red") == 0);
	len = 0;
	MPI_Info_get_string(i, "shape", &len, NULL, &flag);
	CHECK(c, flag && len == 9);
	len = 3;
	MPI_Info_get_string(i, "shape", &len, value, &flag);
	CHECK(c, strcmp(value, "a ") == 0 && len == 9);
	MPI_Info_get_valuelen(i, "shape", &len, &flag);
	CHECK(c, flag && len == 8);
	MPI_Info_get_valuelen(i, "size", &len, &flag);
	CHECK(c, !flag);
	MPI_Info_dup(i, &copy);
	MPI_Info_delete(copy, "colour");
	MPI_Info_get_nkeys(copy, &n);
	CHECK(c, n == 1);
	CHECK(c, MPI_Info_delete(copy, "colour") == MPI_ERR_INFO_NOKEY);
	MPI_Info_free(&copy);
	CHECK(c, copy == MPI_INFO_NULL);
}

static void
errors(struct check *c, MPI_Info i)
{
	char longest[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
	MPI_Info stale = i, none = MPI_INFO_NULL;
	int n, flag;

	memset(longest, 'x', sizeof(longest));
	longest[MPI_MAX_INFO_VAL] = '\0';
	memset(key, 'k', sizeof(key));
	key[MPI_MAX_INFO_KEY] = '\0';
	CHECK(c, MPI_Info_set(i, key, "v") == MPI_ERR_INFO_KEY);
	CHECK(c, MPI_Info_set(i, "", "v") == MPI_ERR_INFO_KEY);
	CHECK(c, MPI_Info_set(i, "k", longest) == MPI_ERR_INFO_VALUE);
	CHECK(c, MPI_Info_get(i, key, 1, longest, &flag) == MPI_ERR_INFO_KEY);
	CHECK(c, MPI_Info_get_nthkey(i, 9, key) == MPI_ERR_ARG);
	CHECK(c, MPI_Info_get_nkeys(MPI_INFO_NULL, &n) == MPI_ERR_INFO);
	CHECK(c, MPI_Info_free(&none) == MPI_ERR_INFO);
	MPI_Info_dup(i, &stale);
	none = stale;
	MPI_Info_free(&none);
	CHECK(c, MPI_Info_get_nkeys(stale, &n) == MPI_ERR_INFO);
}

static void
memory(struct check *c)
{
	MPI_Info i;
	char *p, *q;
	int x;

	MPI_Info_create(&i);
	MPI_Info_set(i, "mpi_minimum_memory_alignment", "4096");
	CHECK(c, MPI_Alloc_mem(10000, i, &p) == MPI_SUCCESS && (uintptr_t)p % 4096 == 0);
	CHECK(c, MPI_Alloc_mem(0, MPI_INFO_NULL, &q) == MPI_SUCCESS);
	memset(p, 1, 10000);
	CHECK(c, MPI_Free_mem(p) == MPI_SUCCESS && MPI_Free_mem(q) == MPI_SUCCESS);
	CHECK(c, MPI_Free_mem(&x) == MPI_ERR_BASE);
	CHECK(c, MPI_Alloc_mem(-1, MPI_INFO_NULL, &p) == MPI_ERR_ARG);
	MPI_Info_set(i, "mpi_minimum_memory_alignment", "100");
	CHECK(c, MPI_Alloc_mem(1, i, &p) == MPI_ERR_INFO_VALUE);
	MPI_Info_free(&i);
}

static void
about(struct check *c)
{
	char value[MPI_MAX_INFO_VAL + 1];
	int flag, t = 0x01010101, f = 0, back, set;
	MPI_Info i;

	MPI_Abi_get_info(&i);
	MPI_Info_get(i, "mpi_count_size", MPI_MAX_INFO_VAL, value, &flag);
	CHECK(c, flag && strcmp(value, "8") == 0);
	MPI_Info_free(&i);
	MPI_Get_hw_resource_info(&i);
	MPI_Info_get(i, "mpi_shared_memory", MPI_MAX_INFO_VAL, value, &flag);
	CHECK(c, flag && strcmp(value, "true") == 0);
	MPI_Info_free(&i);
	MPI_Info_get(MPI_INFO_ENV, "maxprocs", MPI_MAX_INFO_VAL, value, &flag);
	CHECK(c, flag && atoi(value) == c->size);
	i = MPI_INFO_ENV;
	CHECK(c, MPI_Info_free(&i) == MPI_ERR_INFO);
	MPI_Abi_get_fortran_booleans(4, &back, &back, &set);
	CHECK(c, !set);
	CHECK(c, MPI_Abi_set_fortran_booleans(4, &t, &f) == MPI_SUCCESS);
	CHECK(c, MPI_Abi_set_fortran_booleans(4, &t, &f) == MPI_ERR_ABI);
	MPI_Abi_get_fortran_booleans(4, &back, &f, &set);
	CHECK(c, set && back == t);
	CHECK(c, MPI_Abi_set_fortran_booleans(3, &t, &f) == MPI_ERR_ARG);
	MPI_Pcontrol(1, "nothing");
}

int
main(int argc, char **argv)
{
	MPI_Info i = before(), later;
	struct check c = check_begin(&argc, &argv);
	int status, n;

	c.errors += early_errors;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	contents(&c, i);
	errors(&c, i);
	memory(&c);
	about(&c);
	status = check_end(&c);
	early_errors = 0;
	EARLY(MPI_Info_get_nkeys(i, &n) == MPI_SUCCESS && n == 2);
	EARLY(MPI_Info_dup(i, &later) == MPI_SUCCESS && MPI_Info_free(&later) == MPI_SUCCESS);
	EARLY(MPI_Info_free(&i) == MPI_SUCCESS);
	return early_errors ? 1 : status;
}
