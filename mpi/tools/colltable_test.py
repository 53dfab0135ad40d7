# SPDX-License-Identifier: MIT
"""The table of collectives: what is refused, and what is made of it."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import colltable  # noqa: E402

SECTION = """/* --- words ---
 *
 * Cost: {0}.
 */
int f(void);
const struct algorithm mpi_algorithm_{1} = {{{2}}};
"""
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "coll")


def table(bcast):
    """A table for all, with these rows for one collective and mapping."""
    lines = [f"{k} {m} - - x x" for k in colltable.ROWS for m in colltable.MAPPINGS if (k, m) != ("bcast", "cluster")]
    return colltable.read_rows("\n".join(lines + bcast))


def known():
    """Algorithms for it."""
    return [colltable.Algorithm(k, "x", ".write = f", "a")
            for k in colltable.KINDS] + [colltable.Algorithm("bcast", "central", ".run = f", "a")]


class Table(unittest.TestCase):
    """read_rows and check."""

    def refuse(self, bcast, words):
        """It is refused with these words."""
        with self.assertRaisesRegex(colltable.TableError, words):
            colltable.check(table(bcast), known())

    def test_good(self):
        colltable.check(table(["bcast cluster 4 64 central x", "bcast cluster 4 - x x",
                               "bcast cluster - - central x"]), known())

    def test_unknown_algorithm(self):
        self.refuse(["bcast cluster - - y x"], "no algorithm 'y'")

    def test_what_central_barriers_have_no_room_for(self):
        algorithms = known() + [colltable.Algorithm("alltoall", "central", ".run = f", "a")]
        others = [r for r in table(["bcast cluster - - x x"]) if (r.kind, r.mapping) != ("alltoall", "cluster")]
        for row, fits in (("16 256", True), ("16 257", False), ("64 32", True), ("64 33", False), ("- 8", False)):
            end = "" if row.startswith("-") else f"alltoall cluster {row.split()[0]} - x x\n"
            rows = others + colltable.read_rows(
                f"alltoall cluster {row} central x\n{end}alltoall cluster - - x x")
            if fits:
                colltable.check(rows, algorithms)
            else:
                with self.assertRaisesRegex(colltable.TableError, "blocks of"):
                    colltable.check(rows, algorithms)

    def test_schedules_only_where_calls_do_not_block(self):
        self.refuse(["bcast cluster - - central central"], "blocking calls only")

    def test_bounds(self):
        for rows in (["bcast cluster 4 - x x"],
                     ["bcast cluster - 8 x x", "bcast cluster - 4 x x", "bcast cluster - - x x"],
                     ["bcast cluster 4 8 x x", "bcast cluster - - x x"], []):
            self.refuse(rows, "bounds must go up")

    def test_not_all_know_the_sizes_of_blocks_that_differ(self):
        rows = [r for r in table(["bcast cluster - - x x"]) if r.kind != "gatherv" or r.mapping != "cluster"]
        with self.assertRaisesRegex(colltable.TableError, "not all ranks know"):
            colltable.check(rows + colltable.read_rows("gatherv cluster - 8 x x\ngatherv cluster - - x x"), known())

    def test_words(self):
        for line in ("bcast cluster - - x", "broadcast cluster - - x x", "bcast cluster few - x x"):
            with self.assertRaisesRegex(colltable.TableError, "line 1"):
                colltable.read_rows(line)


class Files(unittest.TestCase):
    """algorithms_in."""

    def test_ours_fit_the_table(self):
        with open(os.path.join(FOLDER, "table.tbl"), encoding="utf-8") as f:
            colltable.check(colltable.read_rows(f.read()), colltable.algorithms_in(FOLDER))

    def test_each_collective_has_one_that_can_do_anything(self):
        algorithms = colltable.algorithms_in(FOLDER)
        for kind in colltable.KINDS:
            self.assertTrue(any(a.general for a in algorithms if a.kind == kind), kind)

    def test_name_and_cost(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "x.c"), "w", encoding="utf-8") as f:
                f.write("/* SPDX\n *\n * Words.\n *\n * Cost: n a\n * + b.\n */\n"
                        "const struct algorithm mpi_algorithm_reduce_scatter_ring = {.write = w};\n")
            found = colltable.algorithms_in(folder)
        self.assertEqual([(a.kind, a.name, a.meets, a.general, a.cost) for a in found],
                         [("reduce_scatter", "ring", False, True, "n a + b.")])

    def test_each_says_its_own_cost_and_those_that_follow_one_another_the_same(self):
        text = "/* SPDX */\n" + SECTION.format("a", "scan_x", ".write = w") + \
            "const struct algorithm mpi_algorithm_exscan_x = {.run = w};\n" + \
            SECTION.format("b", "scan_y", ".fits = f, .write = w")
        found = colltable.algorithms_of("x.c", text)
        self.assertEqual([(a.kind, a.name, a.meets, a.general, a.cost) for a in found],
                         [("scan", "x", False, True, "a."), ("exscan", "x", True, False, "a."),
                          ("scan", "y", False, False, "b.")])

    def test_without_cost(self):
        one = "const struct algorithm mpi_algorithm_scan_z = {0};\n"
        for text in ("/* SPDX */\n" + one,
                     "/* SPDX */\n" + SECTION.format("a", "scan_x", "0") + "int f(void);\n" + one):
            with self.assertRaisesRegex(colltable.TableError, "no cost of scan_z"):
                colltable.algorithms_of("x.c", text)


if __name__ == "__main__":
    unittest.main()
