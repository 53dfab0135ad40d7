/* SPDX-License-Identifier: MIT
 *
 * Handles.
 * needs: mpi/core/handle.c
 */
#include <base/test.h>
#include <stdlib.h>
#include <mpi/core/handle.h>

TEST(a_handle_finds_its_object_until_it_is_dropped)
{
	struct handle_table t = {.kind = HANDLE_COMM};
	int object;
	uintptr_t h = mpi_handle_new(&t, &object);

	expect(mpi_handle_find(&t, h) == &object);
	expect_eq(t.used, 1);
	mpi_handle_drop(&t, h);
	expect(mpi_handle_find(&t, h) == NULL);
	expect_eq(t.used, 0);
	mpi_handle_table_free(&t);
}

TEST(a_stale_handle_does_not_find_what_took_its_place)
{
	struct handle_table t = {.kind = HANDLE_GROUP};
	int first, second;
	uintptr_t old = mpi_handle_new(&t, &first), new;

	mpi_handle_drop(&t, old);
	new = mpi_handle_new(&t, &second);
	expect(new != old);
	expect(mpi_handle_find(&t, old) == NULL);
	expect(mpi_handle_find(&t, new) == &second);
	mpi_handle_drop(&t, old);
	expect(mpi_handle_find(&t, new) == &second);
	mpi_handle_table_free(&t);
}

TEST(handles_of_another_kind_and_garbage_find_nothing)
{
	struct handle_table comms = {.kind = HANDLE_COMM}, groups = {.kind = HANDLE_GROUP};
	int object;
	uintptr_t h = mpi_handle_new(&comms, &object);

	mpi_handle_new(&groups, &object);
	expect(mpi_handle_find(&groups, h) == NULL);
	for (uintptr_t garbage = 0; garbage < 5000; garbage++)
		expect(mpi_handle_find(&comms, garbage) == NULL);
	expect(mpi_handle_find(&comms, (uintptr_t)-1) == NULL);
	expect(mpi_handle_find(&comms, h + 1) == NULL);
	mpi_handle_table_free(&comms);
	mpi_handle_table_free(&groups);
}

TEST(no_handle_is_as_small_as_a_predefined_one)
{
	struct handle_table t = {.kind = HANDLE_COMM};
	int object;

	for (int i = 0; i < 1000; i++)
		expect(mpi_handle_new(&t, &object) > 0xfff);
	mpi_handle_table_free(&t);
}

TEST(a_narrow_table_keeps_its_handles_in_32_bits)
{
	struct handle_table t = {.kind = HANDLE_REQUEST, .narrow = true};
	int object;

	for (int i = 0; i < 1000; i++) {
		uintptr_t h = mpi_handle_new(&t, &object);

		expect(h <= 0xffffffffu);
		expect(mpi_handle_find(&t, h) == &object);
		mpi_handle_drop(&t, h);
	}
	mpi_handle_table_free(&t);
}

int
main(void)
{
	RUN(a_handle_finds_its_object_until_it_is_dropped);
	RUN(a_stale_handle_does_not_find_what_took_its_place);
	RUN(handles_of_another_kind_and_garbage_find_nothing);
	RUN(no_handle_is_as_small_as_a_predefined_one);
	RUN(a_narrow_table_keeps_its_handles_in_32_bits);
	return TEST_FAILED;
}
