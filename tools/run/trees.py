# SPDX-License-Identifier: MIT
"""Parts of the tree of files that servers of other clusters have: what --tree says, and the boot archive
tells the machine.
"""

import os
import struct

import share
from ui import Usage

MEMBER = "etc/trees"
TREES_MAX = 7		# servers/file/protocol.h


class Tree:
    """A cluster, and where what its file server has begins."""

    def __init__(self, cluster, mount):
        self.cluster, self.mount = cluster, mount


def parse(spec):
    """CLUSTER or CLUSTER:PLACE."""
    cluster, _, mount = spec.partition(":")
    if not cluster.isdecimal():
        raise Usage(f"--tree {spec}: '{cluster}' is no number of a cluster")
    return Tree(int(cluster), share.place("--tree", spec, mount or f"/n/{int(cluster)}"))


def parse_all(specs, shares):
    """The trees of a command line, beside its shares."""
    trees = [parse(spec) for spec in specs]
    if len(trees) > TREES_MAX:
        raise Usage(f"--tree: {TREES_MAX} at most")
    if len({tree.cluster for tree in trees}) < len(trees):
        raise Usage("--tree: a cluster has one file server")
    share.check_apart("--tree", [*trees, *shares])
    return trees


def check(trees, clusters):
    """Has the machine such clusters?"""
    for tree in trees:
        if not 0 < tree.cluster < clusters:
            raise Usage(f"--tree {tree.cluster}: the machine has clusters 0 to {clusters - 1}, and cluster 0 has the "
                        "file server of all else")


def members(trees):
    """Where they are, for the machine."""
    records = [struct.pack("<II120s", tree.cluster, len(os.fsencode(tree.mount)), os.fsencode(tree.mount))
               for tree in trees]
    return [(MEMBER, b"".join(records))] if trees else []
