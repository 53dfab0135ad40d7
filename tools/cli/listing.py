# SPDX-License-Identifier: MIT
"""./atoll machines: what machines there are."""

import machine as machines
from ui import Usage

HELP = "usage: ./atoll machines [--json] [NAME]\n"


def row(m):
    """One machine as a dict."""
    return {"name": m.name, "clusters": len(m.clusters), "cores": m.cores(), "shape": m.shape(),
            "ranks_max": m.ranks_max(),
            "ports": m.ports, "description": m.description}


def show(m):
    """One machine in full."""
    print(f"{m.name}: {m.description}")
    print(f"  {len(m.clusters)} clusters, {m.cores()} cores, up to {m.ranks_max()} ranks, ports {', '.join(m.ports)}")
    for i, c in enumerate(m.clusters):
        print(f"  cluster {i:2}: {' '.join(c.roles)}, {c.mem_bytes >> 20} MB")


def main(argv):
    """List all machines, or show one."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    as_json = "--json" in argv
    names = [a for a in argv if a != "--json"]
    if any(n.startswith("-") for n in names) or len(names) > 1:
        raise Usage(HELP.strip())
    try:
        found = [machines.load(n) for n in names or machines.names()]
    except machines.MachineError as e:
        raise Usage(str(e)) from None
    if as_json:
        import json
        print(json.dumps([row(m) for m in found], indent=1))
    elif names:
        show(found[0])
    else:
        rows = [("name", "cores", "shape", "ranks", "ports", "")]
        rows += [(m.name, str(m.cores()), m.shape(), str(m.ranks_max()), ",".join(m.ports), m.description)
                 for m in found]
        widths = [max(len(r[i]) for r in rows) for i in range(5)]
        for r in rows:
            print("  ".join([r[0].ljust(widths[0]), r[1].rjust(widths[1]), r[2].ljust(widths[2]), r[3].rjust(widths[3]),
                             r[4].ljust(widths[4]), r[5]]).rstrip())
    return 0
