/* SPDX-License-Identifier: MIT
 *
 * Balanced dimensions and grids, against naive answers.
 * needs: mpi/core/dims.c mpi/core/topology.c
 */
#include <base/test.h>
#include <mpi.h>
#include <mpi/core/topology.h>

/*
 * The smallest difference between the largest and the smallest of k descending factors, tried out
 * one by one.
 */
static int
smallest_difference(int left, int k, int limit, int first)
{
	int best = 1 << 30;

	if (k == 1)
		return left <= limit ? (first ? first - left : 0) : best;
	for (int d = 1; d <= limit && d <= left; d++) {
		int found = left % d == 0 ? smallest_difference(left / d, k - 1, d,
			first ? first : d) : best;

		best = found < best ? found : best;
	}
	return best;
}

TEST(dimensions_are_as_close_as_can_be)
{
	for (int n = 1; n <= 300; n++) {
		for (int k = 1; k <= 4; k++) {
			int dims[4] = {0}, product = 1;

			expect_eq(mpi_dims_create(n, k, dims), MPI_SUCCESS);
			for (int i = 0; i < k; i++) {
				product *= dims[i];
				expect(i == 0 || dims[i] <= dims[i - 1]);
			}
			expect_eq(product, n);
			expect_eq(dims[0] - dims[k - 1],
				k == 1 ? 0 : smallest_difference(n, k, n, 0));
		}
	}
}

/*
 * Where several splits differ equally little and begin alike, the one whose small factors are
 * larger.
 */
TEST(of_equal_splits_the_one_with_larger_small_factors)
{
	static const int wanted[][6] = {{18000, 10, 10, 6, 6, 5}, {52200, 29, 10, 6, 6, 5},
		{98784, 14, 14, 9, 8, 7}};

	for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++) {
		int dims[5] = {0};

		expect_eq(mpi_dims_create(wanted[k][0], 5, dims), MPI_SUCCESS);
		for (int i = 0; i < 5; i++)
			expect_eq(dims[i], wanted[k][i + 1]);
	}
}

TEST(given_dimensions_stay)
{
	int dims[40] = {0}, wrong[2] = {5, 0}, negative[1] = {-2}, full[2] = {3, 4};

	dims[7] = 6;
	expect_eq(mpi_dims_create(6 * 4, 40, dims), MPI_SUCCESS);
	expect(dims[0] == 2 && dims[1] == 2 && dims[2] == 1 && dims[7] == 6 && dims[39] == 1);
	expect_eq(mpi_dims_create(6, 2, wrong), MPI_ERR_DIMS);
	expect_eq(mpi_dims_create(6, 1, negative), MPI_ERR_DIMS);
	expect_eq(mpi_dims_create(12, 2, full), MPI_SUCCESS);
	expect_eq(mpi_dims_create(24, 2, full), MPI_ERR_DIMS);
}

TEST(neighbours_of_a_grid_find_each_other)
{
	int dims[3] = {4, 2, 1}, periods[3] = {0, 1, 1};

	for (int rank = 0; rank < 8; rank++) {
		struct topology *t = mpi_topology_cart(3, dims, periods, rank);

		expect_eq(mpi_cart_rank(&t->cart, t->cart.coords), rank);
		for (int d = 0; d < 3; d++) {
			for (int disp = -9; disp <= 9; disp++) {
				int at[3], to = mpi_cart_shifted(&t->cart, rank, d, disp);

				mpi_cart_coords(&t->cart, rank, at);
				at[d] += disp;
				expect_eq(to, mpi_cart_rank(&t->cart, at));
				expect(to == MPI_PROC_NULL ||
					mpi_cart_shifted(&t->cart, to, d, -disp) == rank);
			}
			expect_eq(t->near.sources[2 * d + 1],
				mpi_cart_shifted(&t->cart, rank, d, 1));
		}
		mpi_topology_release(t);
	}
}

int
main(void)
{
	RUN(dimensions_are_as_close_as_can_be);
	RUN(of_equal_splits_the_one_with_larger_small_factors);
	RUN(given_dimensions_stay);
	RUN(neighbours_of_a_grid_find_each_other);
	return TEST_FAILED;
}
