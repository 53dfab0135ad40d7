# SPDX-License-Identifier: MIT
"""From measurements to rows of the table of collectives."""

import unittest

import collbench


def sample(ranks, size, **times):
    """Samples of one collective at one point."""
    return [("bcast", "cluster", ranks, size, name, us) for name, us in times.items()]


class Rows(unittest.TestCase):
    """rows_of."""

    def rows(self, samples):
        """As words."""
        return [(r.ranks, r.bytes, r.blocking, r.started)
                for r in collbench.rows_of(samples, "bcast", "cluster", {"meet"})]

    def test_one_point_holds_for_all(self):
        self.assertEqual(self.rows(sample(2, 8, meet=1, tree=2, ring=3)), [(None, None, "meet", "tree")])

    def test_bounds_lie_half_way(self):
        got = self.rows(sample(2, 8, meet=1, tree=2) + sample(2, 32, meet=5, tree=2) + sample(8, 8, meet=1, tree=2))
        self.assertEqual(got, [(4, 16, "meet", "tree"), (4, None, "tree", "tree"), (None, None, "meet", "tree")])

    def test_more_ranks_that_want_the_same_share_rows(self):
        got = self.rows(sample(2, 8, tree=1, ring=2) + sample(8, 8, tree=1, ring=2) + sample(32, 8, tree=2, ring=1))
        self.assertEqual(got, [(16, None, "tree", "tree"), (None, None, "ring", "ring")])

    def test_noise_changes_nothing(self):
        got = self.rows(sample(2, 8, ring=1.0, tree=2) + sample(2, 32, ring=1.05, tree=1.0) +
                        sample(2, 128, ring=2, tree=1))
        self.assertEqual(got, [(None, 64, "ring", "ring"), (None, None, "tree", "tree")])

    def test_what_was_left_out_is_not_chosen(self):
        self.assertEqual(self.rows(sample(2, 8, ring=1) + sample(2, 32, tree=1)),
                         [(None, 16, "ring", "ring"), (None, None, "tree", "tree")])


class Text(unittest.TestCase):
    """The text that is written can be read."""

    def test_round_trip(self):
        rows = collbench.rows_of(sample(2, 8, meet=1, tree=2) + sample(8, 8, meet=5, tree=2),
                                 "bcast", "cluster", {"meet"})
        again = collbench.colltable.read_rows(collbench.text_of(rows, "Taken in a test."))
        self.assertEqual([vars(r) for r in again], [vars(r) for r in rows])


if __name__ == "__main__":
    unittest.main()
