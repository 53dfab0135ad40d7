/* SPDX-License-Identifier: MIT
 *
 * Names of paths.
 *
 * needs: servers/device/path.c
 */
#include <string.h>
#include <abi/errors.h>
#include <base/test.h>
#include <servers/device/files.h>

static int
is_name(const struct path_names *n, unsigned i, const char *name)
{
	return i < n->count && n->bytes[i] == strlen(name) &&
		memcmp(n->name[i], name, n->bytes[i]) == 0;
}

TEST(names_lie_between_slashes)
{
	struct path_names n;

	expect_eq(path_split("", &n), 0);
	expect_eq(n.count, 0);
	expect_eq(path_split("///", &n), 0);
	expect_eq(n.count, 0);
	expect_eq(path_split("/a//bc/.d/..e/", &n), 0);
	expect_eq(n.count, 4);
	expect(is_name(&n, 0, "a") && is_name(&n, 1, "bc") && is_name(&n, 2, ".d") &&
		is_name(&n, 3, "..e"));
}

TEST(names_that_lead_elsewhere_are_refused)
{
	struct path_names n;

	expect_eq(path_split("..", &n), -E_INVAL);
	expect_eq(path_split("a/../b", &n), -E_INVAL);
	expect_eq(path_split("a/.", &n), -E_INVAL);
}

TEST(a_path_has_so_many_names)
{
	struct path_names n;

	expect_eq(path_split("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", &n), 0);
	expect_eq(n.count, PATH_NAMES);
	expect_eq(path_split("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", &n), -E_INVAL);
}

int
main(void)
{
	RUN(names_lie_between_slashes);
	RUN(names_that_lead_elsewhere_are_refused);
	RUN(a_path_has_so_many_names);
	return TEST_FAILED;
}
