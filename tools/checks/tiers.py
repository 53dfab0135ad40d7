# SPDX-License-Identifier: MIT
"""The MPI library in tiers: which folder of mpi/ includes which. `python3 tools/checks/tiers.py`
prints the real graph.

A tier includes itself and those below it, so that there are no circles. Where a lower tier needs
the upper one (the transport hands over what has arrived), it declares a function that the upper one
supplies: UPCALLS names each, with both tiers.
"""

import functools
import os
import re
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from checks import source  # noqa: E402

BELOW_PT2PT = ("core", "transport")
# tier -> the tiers below it whose headers it may include
TIERS = {
    "include": (),
    "transport": (),                            # packets, words that ranks share, and what a back end has to supply
    # objects of the library: communicators, types, requests, the lock of a rank
    "core": ("transport",),
    "transport/linux": BELOW_PT2PT,             # what both back ends have of Linux
    "transport/atoll": BELOW_PT2PT,
    "transport/process": BELOW_PT2PT,
    "pt2pt": BELOW_PT2PT,
    "coll": ("pt2pt", *BELOW_PT2PT),
    "api": ("coll", "pt2pt", *BELOW_PT2PT),
    "exec": ("transport", "transport/process"),
    "fortran": (),
}
# a folder of what not every library of a tier has
PART_OF = {"transport/atoll/channel": "transport/atoll"}
# function -> (tier that declares and calls it, tier that supplies it)
UPCALLS = {
    "mpi_arrived": ("transport", "pt2pt"),
    "mpi_cluster_died": ("transport", "pt2pt"),
    "mpi_describe_wait": ("transport", "api"),
    "mpi_can_move": ("core", "pt2pt"),
    "mpi_locality_leave": ("core", "coll"),
}
# declared by the transport, supplied by its back ends
BACK_ENDS = ("transport/linux", "transport/atoll", "transport/process")
PROTOTYPE = re.compile(r"^(?!static|typedef|#|\s|struct \w+ \{)[A-Za-z_][^;{}=]*?\b(\w+)\([^;{}]*\)[^;{}]*;", re.M)


def tier_of(path):
    """The tier that a file of mpi/ belongs to: its folder."""
    folder = os.path.dirname(path).removeprefix("mpi/")
    return PART_OF.get(folder, folder)


def files(root):
    """Sources and headers of the library, without tests."""
    return [p for p in source.c_files(root, ("mpi",)) if not source.is_test(p)]


def _target(root, path, name):
    """The file of mpi/ that an include means, or None."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    for candidate in (name, beside):
        if candidate.startswith("mpi/") and os.path.exists(os.path.join(root, candidate)):
            return candidate
    return None


def arrows(root):
    """(path, line, tier, other tier) of each include from one tier into another."""
    out = []
    for path in files(root):
        for line, name, _ in source.includes(source.read(root, path)):
            target = _target(root, path, name)
            if target and tier_of(target) != tier_of(path):
                out.append((path, line, tier_of(path), tier_of(target)))
    return out


@functools.lru_cache(maxsize=None)
def _declared(text):
    return PROTOTYPE.findall(source.blank_comments(text))


@functools.lru_cache(maxsize=None)
def _defined(text):
    return [(f.name, f.line) for f in source.functions(text)]


def _check_functions(root):
    """Problems of functions that one tier declares and another defines."""
    declared, defined, problems, seen = set(), {}, [], set()
    for path in files(root):
        text = source.read(root, path)
        if path.endswith(".h"):
            declared |= {(name, tier_of(path)) for name in _declared(text)}
        else:
            for name, line in _defined(text):
                defined.setdefault(name, {})[tier_of(path)] = path, line
    for name, low in sorted(declared):
        places = defined.get(name, {})
        if not places or low in places or (low == "transport" and set(places) <= set(BACK_ENDS)):
            continue
        high, (path, line) = sorted(places.items())[0]
        seen.add(name)
        if UPCALLS.get(name) != (low, high):
            problems.append(f"{path}:{line}: {name} is declared in mpi/{low} and supplied by "
                            f"mpi/{high}: an upcall that UPCALLS does not name")
    return problems + [f"mpi: {name} is no upcall: UPCALLS names it in vain" for name in sorted(set(UPCALLS) - seen)]


def check(root):
    """Problems of the tree."""
    problems = []
    for path in files(root):
        if tier_of(path) not in TIERS:
            problems.append(f"{path}: mpi/{tier_of(path)} is no tier")
    for path, line, tier, other in arrows(root):
        if tier in TIERS and other not in TIERS[tier]:
            problems.append(f"{path}:{line}: mpi/{tier} may not include mpi/{other}: tiers include those below them")
    return problems + _check_functions(root)


def graph(root):
    """Lines of text: each tier and how often it includes which other one."""
    counts = {}
    for _, _, tier, other in arrows(root):
        counts.setdefault(tier, {}).setdefault(other, 0)
        counts[tier][other] += 1
    return [f"{tier} -> " + ", ".join(f"{other} {n}{'' if other in TIERS.get(tier, ()) else ' (climbs)'}"
                                      for other, n in sorted(to.items()))
            for tier, to in sorted(counts.items())]


if __name__ == "__main__":
    here = sys.argv[1] if len(sys.argv) > 1 else os.getcwd()
    print("\n".join(graph(here) + check(here)))
