# SPDX-License-Identifier: MIT
"""An independent check of the power model's ordering: the same cores in an open 180-nm cell
library, by another tool.

Logic only (memories stay outside), no wires, no clock tree, the same clock and activity for every
core: absolute figures mean nothing, the order and the share of the flip-flops do. Optional: needs
the set-up group `asic`; the results are kept in hw/results/asic.csv.

    python3 tools/codesign/asic.py      makes what is missing and writes the file
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from codesign import kept, paper, rtl, synth  # noqa: E402

LIBRARY = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib"
LIBRARY_SHA256 = "86f79b2000f1ac46715a9f6dfd5f5a596906418e9ee8a8611077bbaaad3de4e9"      # of qflow-tech-osu018 1.3.17
TIMER = "sta"
CACHE = os.path.join(rtl.ROOT, "build", "codesign", "asic")
STORED = os.path.join(rtl.ROOT, "hw", "results", "asic.csv")
FIELDS = ("label", "config", "source", "area_um2", "mw", "sequential_mw", "combinational_mw")
# the buffering's view of the world: what drives an input and what an output drives (pF)
DRIVE = "set_driving_cell BUFX2\nset_load 0.05\n"


class Source(synth.Source):
    """As for the FPGA, with library, timer's and scripts' texts in the hash.
    The library's hash is known, so that kept rows are checked without it.
    """

    def __init__(self, version=rtl.PAPER):
        super().__init__(version)
        text = "\0".join([self.hash, synth.read("asic.ys"), synth.read("asic.tcl"), LIBRARY_SHA256, DRIVE])
        self.hash = hashlib.sha256(text.encode()).hexdigest()[:16]

    @staticmethod
    def measure(cells):
        """The figures as they are."""
        return cells


def check_tools(library=LIBRARY):
    """Missing if what a measurement needs is not there, or is another library."""
    if not os.path.exists(library) or not shutil.which(TIMER):
        raise rtl.Missing("the open cell library or the timing tool is not installed: run ./atoll setup asic")
    with open(library, "rb") as f:
        found = hashlib.sha256(f.read()).hexdigest()
    if found != LIBRARY_SHA256:
        raise rtl.Missing(f"{library} is another cell library than that of the kept rows: change "
                          f"LIBRARY_SHA256 in tools/codesign/asic.py and measure anew")


def milliwatts(text):
    """{group: mW} of the timing tool's report; Broken if it has none."""
    found = dict(re.findall(r"^(Sequential|Combinational|Total)(?:\s+\S+){3}\s+(\d\S*)", text, re.M))
    if len(found) != 3:
        raise synth.Broken("the timing tool reported no power:\n" + text[-800:])
    return {k: float(v) * 1e3 for k, v in found.items()}


def area(folder):
    """Square micrometres of the cells."""
    import json
    with open(os.path.join(folder, "stat.json"), encoding="utf-8") as f:
        return json.load(f)["design"]["area"]


def run(folder):
    """Synthesise and measure one prepared core."""
    files = sorted(os.path.join("rtl", os.path.relpath(os.path.join(d, n), os.path.join(folder, "rtl")))
                   for d, _, names in os.walk(os.path.join(folder, "rtl")) for n in names
                   if n.endswith(".v") and n not in ("mor1kx-defines.v", "mor1kx-sprs.v"))
    shutil.copy(LIBRARY, os.path.join(folder, "cells.lib"))
    for name, text in (("asic.ys", synth.read("asic.ys").replace("@SOURCES@", " ".join(files))),
                       ("drive.txt", DRIVE), ("asic.tcl", synth.read("asic.tcl"))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    synth.call_tool(folder, "asic.ys")
    p = subprocess.run([TIMER, "-exit", "asic.tcl"], cwd=folder, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, errors="replace", timeout=600)
    found = milliwatts(p.stdout)
    return {"area_um2": round(float(area(folder))), "mw": round(found["Total"], 2),
            "sequential_mw": round(found["Sequential"], 2),
            "combinational_mw": round(found["Combinational"], 2)}


def sweep(say=print):
    """[{field: value}] for the paper's nine cores."""
    check_tools()
    source = Source()
    results = synth.sweep([r[1] for r in paper.TABLE2], source, CACHE, run, say)
    return [{"label": r[0], **{k: results[r[1]][k] for k in FIELDS[1:]}} for r in paper.TABLE2]


def write(rows, path=STORED):
    """Keep the rows."""
    kept.write_rows(path, FIELDS, rows)


def read(path=STORED):
    """The kept rows with numbers, or none."""
    return [{**r, **{k: float(r[k]) for k in FIELDS[3:]}} for r in kept.read_rows(path)]


def clock_share(rows):
    """Share of the power that sits in the flip-flops, mean over the rows: an upper bound of the
    clock's.
    """
    return sum(r["sequential_mw"] / r["mw"] for r in rows) / len(rows)


def main():
    """Exit status 1 if a tool is missing."""
    try:
        rows = sweep(lambda t: print(t, file=sys.stderr, flush=True))
    except (rtl.Missing, synth.Broken) as e:
        print(e, file=sys.stderr)
        return 1
    write(rows)
    for r in rows:
        print(f"{r['label']:<20} {r['area_um2']:>8.0f} um2 {r['mw']:6.1f} mW, "
              f"{100 * r['sequential_mw'] / r['mw']:.0f} % in flip-flops")
    return 0


if __name__ == "__main__":
    sys.exit(main())
