# SPDX-License-Identifier: MIT
"""Two clusters joined by a network: what the network costs in the synthesis, what a message costs on the RTL, what remains of the K-Core's saving.

    ./atoll build or1k; make PORT=or1k kerneltest; python3 tools/codesign/network.py [synthesis] [messages]

Synthesis: one cluster's share (interface and two routers), as tools/codesign/synth.py does it for a core. Messages: tests/kernel/network.c with the
real kernel on both clusters. Both are kept in hw/results/network.csv, each row with the hash of what made it.
"""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "front")]
import elf  # noqa: E402
from codesign import energy, page, paper, rtl, synth  # noqa: E402
from rtl import build  # noqa: E402

STORED = os.path.join(rtl.ROOT, "hw", "results", "network.csv")
FIELDS = ("source", "name", "value")
UNITS = ("netif.sv", "router.sv", "arbiter.sv")
SETUPS = {"k": ["k-core", "u-core", "u-core", "u-core"], "u": ["u-core"] * 4}
WINDOWS = {"message": 16, "block": 17}
COUNTS = (1, 2, 4, 16)
PROGRAM = os.path.join(rtl.ROOT, "build", "or1k", "tests", "kernel", "network")
SCRIPT = """read_verilog -sv @SOURCES@
synth_xilinx -family xc7 -flatten -top noc_top -noiopad -noclkbuf -abc9
tee -q -o stat.json stat -json -tech xilinx
"""
MACHINE = """ports = ["or1k"]
[[cluster]]
count = 2
kernel = "KC"
application = 3
memory = "16M"
[hardware]
cores = {cores}
"""


class Failed(Exception):
    """A run that did not end well; what it said last."""


def read(path=STORED):
    """{name: (value, source)}."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8", newline="") as f:
        return {r["name"]: (float(r["value"]), r["source"]) for r in csv.DictReader(f)}


def keep(found, source, path=STORED):
    """Put {name: value} of a source into the file, in place of what had these names."""
    rows = {**read(path), **{name: (value, source) for name, value in found.items()}}
    with open(f"{path}.{os.getpid()}", "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(FIELDS)
        out.writerows([s, name, f"{value:g}"] for name, (value, s) in sorted(rows.items()))
    os.replace(f.name, path)


def sources():
    """What is synthesised."""
    return [os.path.join(rtl.ROOT, "hw", "rtl", n) for n in UNITS] + [os.path.join(synth.HERE, "noc_top.sv")]


def synthesis_hash():
    """Hash of the RTL, the script and the tool."""
    h = hashlib.sha256(f"{SCRIPT}\0{synth.tool_version()}".encode())
    for path in sources():
        with open(path, "rb") as f:
            h.update(f.read() + b"\0")
    return h.hexdigest()[:16]


def synthesised():
    """Resources of a cluster's share of the network."""
    with tempfile.TemporaryDirectory(prefix="atoll-noc-") as folder:
        for path in sources():
            shutil.copy(path, folder)
        with open(os.path.join(folder, "run.ys"), "w", encoding="utf-8") as f:
            f.write(SCRIPT.replace("@SOURCES@", " ".join(os.path.basename(p) for p in sources())))
        return synth.count(synth.run_tool(folder))


def exchange_hash():
    """Hash of what decides the cycles: RTL, the core, the kernel and the program as they are loaded."""
    h = hashlib.sha256(rtl.digest().encode())
    for path in (os.path.join(rtl.ROOT, "build", "or1k", "kernel.elf"), PROGRAM):
        image = elf.read(path)
        for s in image.segments:
            h.update(f"{s.vaddr:x} {s.mem_bytes:x} ".encode() + image.data[s.offset:s.offset + s.file_bytes])
    return build.digest([h.hexdigest()], build.chip_sources())


def exchanged(setup):
    """{name: cycles or flits} of a message and a block there and back, with the kernel's core of a set-up."""
    with tempfile.TemporaryDirectory(prefix="atoll-noc-") as folder:
        machine, report = os.path.join(folder, "pair.toml"), os.path.join(folder, "report.json")
        with open(machine, "w", encoding="utf-8") as f:
            f.write(MACHINE.format(cores=json.dumps(SETUPS[setup])))
        argv = [os.path.join(rtl.ROOT, "atoll"), "run", "--port", "or1k", "--rtl", "--bare", "--machine", machine, "--report", report,
                PROGRAM]
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if p.returncode or "2 passed, 0 failed" not in p.stdout:
            raise Failed(f"two clusters with a {SETUPS[setup][0]} for the kernel: exit status {p.returncode}\n" + "\n".join(p.stdout.splitlines()[-12:]))
        with open(report, encoding="utf-8") as f:
            found = json.load(f)
    windows = {w["label"]: w for w in found["windows"]}
    out = {f"{name}_cycles_{setup}": sorted(windows[label]["each"])[len(windows[label]["each"]) // 2] for name, label in WINDOWS.items()}
    return {**out, f"flits_{setup}": sum(found["flits"])}


def network_mw(model, found):
    """A cluster's share of the network in the power model: what its resources weigh; the constant is a core's."""
    return sum(w * found[f][0] for f, w in zip(model.features, model.w) if f != "const")


def saved(data, mw, counts=COUNTS):
    """[(clusters, mW saved, percent without the network's share, percent with it)]."""
    alone, joined = (energy.saving_by_clusters(data.k_mw, data.u_mw, noc_mw=n, counts=counts) for n in (0.0, mw))
    return [(c, alone[c][0], alone[c][1], joined[c][1]) for c in counts]


def section(data, path=STORED):
    """The report's part on two clusters."""
    found = read(path)
    head = "<h3>Two clusters, joined by a network</h3>"
    if "lut" not in found:
        return head + page.note("Not synthesised yet: <code>python3 tools/codesign/network.py</code>.")
    mw = network_mw(data.model, found)
    share = 100 * mw / (paper.CLUSTER_CORES * data.u_mw + mw)
    rows = [[c, "simulated" if c <= 2 else "arithmetic", f"{m:.0f}", f"{a:.1f} %", f"{j:.1f} %"] for c, m, a, j in saved(data, mw)]
    out = [head, f"<p>Two clusters of four cores in RTL, each with its own memory and its own kernel, behind network interfaces and routers of ours. A cluster's share of the "
           f"network has {found['lut'][0]:.0f} LUTs and {found['ff'][0]:.0f} flip-flops (synthesis {found['lut'][1]}): <b>{mw:.1f} mW</b> in the model, {share:.1f} % of a "
           "cluster of U-Cores. It is the same whichever core runs the kernel, so it takes that part of the percentage away, once, however many clusters there are.</p>",
           page.table(["clusters", "how", "mW saved", "without the network's power", "with it"], rows,
                      "Static model. The milliwatts grow linearly; the percentage does not depend on the number of clusters beyond the second. Beyond two clusters this is "
                      "arithmetic: a line of routers as here, no longer links.")]
    if "message_cycles_k" in found:
        rows = [[{"k": "1 K + 3 U", "u": "4 U"}[s], *(page.number(found[f"{n}_cycles_{s}"][0]) for n in WINDOWS)] for s in SETUPS
                if found.get(f"message_cycles_{s}", (0, ""))[1] == found["message_cycles_k"][1]]
        out.append(page.table(["each cluster", "message of 128 bytes", "block of 4 KB"], rows, "Cycles there and back between user threads of the two clusters, medians; memory latency 0, source "
                              + found["message_cycles_k"][1] + "."))
    return "".join(out)


def main(argv):
    """Exit status 1 if something is missing or failed."""
    try:
        for what in argv or ("synthesis", "messages"):
            if what == "synthesis":
                keep(synthesised(), synthesis_hash())
            elif what == "messages":
                both = {}
                for setup in SETUPS:
                    both.update(exchanged(setup))
                keep(both, exchange_hash())
            else:
                print(__doc__, file=sys.stderr)
                return 2
    except (Failed, rtl.Missing, synth.Broken) as e:
        print(e, file=sys.stderr)
        return 1
    for name, (value, source) in sorted(read().items()):
        print(f"{name:<20} {value:>10g}  {source}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
