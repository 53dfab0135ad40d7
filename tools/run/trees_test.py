# SPDX-License-Identifier: MIT
"""What --tree says. No machine is started."""

import pytest
import share
import trees
from ui import Usage


def test_a_tree_has_a_cluster_and_a_place():
    found = trees.parse_all(["1", "2:/tmp", "03:/a//b/"], [])
    assert [(t.cluster, t.mount) for t in found] == [(1, "/n/1"), (2, "/tmp"), (3, "/a/b")]
    (name, data), = trees.members(found)
    assert (name, len(data)) == ("etc/trees", 3 * 128) and trees.members([]) == []
    assert data[128:].startswith(b"\2\0\0\0\4\0\0\0/tmp\0")


@pytest.mark.parametrize("spec", ["", "x", "-1", "1:/", "1:/proc", "1:/dev/x", "1:/a/../b", "1:/a\nb"])
def test_what_is_no_tree_is_said(spec):
    with pytest.raises(Usage, match="--tree"):
        trees.parse_all([spec], [])


@pytest.mark.parametrize("specs", [["1", "1:/b"], ["1:/a", "2:/a/b"], ["1:/a/b", "2:/a"],
                                   [str(i) for i in range(1, 9)]])
def test_trees_are_apart(specs):
    with pytest.raises(Usage, match="--tree"):
        trees.parse_all(specs, [])


def test_no_tree_lies_in_a_share():
    with pytest.raises(Usage, match="--tree"):
        trees.parse_all(["1:/share/x"], [share.Share("/", "/share", False)])


def test_the_machine_has_the_clusters():
    found = trees.parse_all(["1", "3"], [])
    trees.check(found, 4)
    for some in (found, trees.parse_all(["0"], [])):
        with pytest.raises(Usage, match="--tree"):
            trees.check(some, 3)
