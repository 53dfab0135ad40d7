# SPDX-License-Identifier: MIT
"""Two clusters joined by a network: what the network costs in the synthesis, what a message costs
on the RTL, what remains of the K-Core's saving.

    .venv/bin/python3 tools/codesign/network.py [synthesis] [messages]

Synthesis: one cluster's share (interface and two routers), as tools/codesign/synth.py does it for a
core. Messages: tests/kernel/network.c with the kept kernel (images.py) on both clusters, 10
replications of link order and phase for each set-up. Both are kept in hw/results/network.csv, each
row with the hash of what made it.
"""

import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import rooms  # noqa: E402,F401
from codesign import cycles, energy, kept, page, paper, rtl, study, synth  # noqa: E402
from rtl import build, config  # noqa: E402

STORED = os.path.join(rtl.ROOT, "hw", "results", "network.csv")
FIELDS = ("source", "name", "value")
UNITS = ("netif.sv", "router.sv", "arbiter.sv")
SETUPS = {"k": ["k-core", "u-core", "u-core", "u-core"], "u": ["u-core"] * 4}
WINDOWS = {"message": 16, "block": 17}
COUNTS = (1, 2, 4, 16)
REPLICATIONS = 10
PROGRAM = os.path.join(rtl.ROOT, "build", "or1k", "tests", "kernel", "network")
SCRIPT = """read_verilog -sv @SOURCES@
synth_xilinx -family xc7 -flatten -top noc_top -noiopad -noclkbuf -abc9
tee -q -o stat.json stat -json -tech xilinx
"""

class Failed(Exception):
    """A run that did not end well; what it said last."""


def read(path=STORED):
    """{name: (value, source)}."""
    return {r["name"]: (float(r["value"]), r["source"]) for r in kept.read_rows(path)}


def keep(found, source, path=STORED):
    """Put {name: value} of a source into the file, in place of what had these names, or the older
    source of one of them.
    """
    old = read(path)
    gone = {old[name][1] for name in found if name in old}
    rows = {**{n: r for n, r in old.items() if r[1] not in gone},
            **{name: (value, source) for name, value in found.items()}}
    kept.write_rows(path, FIELDS,
                    [{"source": s, "name": name, "value": f"{value:.12g}"} for name,
                     (value, s) in sorted(rows.items())])


def units():
    """What is synthesised."""
    return [os.path.join(rtl.ROOT, "hw", "rtl", n) for n in UNITS] + [os.path.join(synth.HERE, "noc_top.sv")]


def synthesis_hash():
    """Hash of the RTL, the script and the tool."""
    h = hashlib.sha256(f"{SCRIPT}\0{synth.tool_version()}".encode())
    for path in units():
        with open(path, "rb") as f:
            h.update(f.read() + b"\0")
    return h.hexdigest()[:16]


def synthesised():
    """Resources of a cluster's share of the network."""
    with tempfile.TemporaryDirectory(prefix="atoll-noc-") as folder:
        for path in units():
            shutil.copy(path, folder)
        with open(os.path.join(folder, "run.ys"), "w", encoding="utf-8") as f:
            f.write(SCRIPT.replace("@SOURCES@", " ".join(os.path.basename(p) for p in units())))
        return synth.count(synth.run_tool(folder))


def program():
    """Build what runs: for tools/codesign/freeze.py, which keeps it."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    p = subprocess.run(["make", "-s", "-C", rtl.ROOT, "--no-print-directory", "PORT=or1k", "kerneltest"],
                       env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if p.returncode:
        raise Failed("the program does not build:\n" + "\n".join(p.stdout.splitlines()[-12:]))


def exchange_hash():
    """The source of messages' cycles: the kept images, the core, both clusters and their network.
    """
    return study.source("network", units=build.chip_sources)


def exchanged(setup, replication=0):
    """{name: cycles or flits} of a message and a block there and back, with the kernel's core of a
    set-up; a replication has its own link order and phase.
    """
    try:
        found = study.run("network", study.kernel("opt", replication),
                          config.Cluster(SETUPS[setup], clusters=2), replication)
    except (study.RunFailed, *study.TROUBLES) as e:
        raise Failed(f"two clusters with a {SETUPS[setup][0]} for the kernel: {e}") from None
    windows = {w["label"]: w for w in found["windows"]}
    out = {f"{name}_cycles_{setup}": statistics.median(windows[label]["each"]) for name, label in WINDOWS.items()}
    return {**out, f"flits_{setup}": sum(found["flits"])}


def exchanges(replications, run=exchanged, say=print):
    """Each run's figures (NAME_rREPLICATION), means over replications, half widths of their 95 %
    intervals, and the ratio of the set-ups, pair by pair.
    """
    runs = {s: [] for s in SETUPS}
    for r in range(replications):
        for setup, found in runs.items():
            say(f"two clusters, kernel on a {SETUPS[setup][0]}, replication {r}")
            found.append(run(setup, r))
    out = {"replications": replications,
           **{f"{name}_r{r}": value for found in runs.values() for r, f in enumerate(found) for name,
              value in f.items()}}
    for found in runs.values():
        for name in found[0]:
            s = cycles.Summary([f[name] for f in found])
            out.update({name: round(s.mean, 1), **({} if s.half is None else {f"{name}_half": round(s.half, 1)})})
    for name in WINDOWS:
        s = cycles.Summary([k[f"{name}_cycles_k"] / u[f"{name}_cycles_u"] for k, u in zip(runs["k"], runs["u"])])
        out.update({f"{name}_ratio": round(s.mean, 4),
                    **({} if s.half is None else {f"{name}_ratio_half": round(s.half, 4)})})
    return out


def not_again(found, setup="k", replication=0, run=exchanged):
    """Run a kept run again: the names whose figures are not as kept, in words."""
    again = {f"{name}_r{replication}": value for name, value in run(setup, replication).items()}
    return [f"{name}: kept {found[name][0] if name in found else 'nothing'}, now {value}" for name,
            value in again.items() if name not in found or found[name][0] != value]


def network_mw(model, found):
    """A cluster's share of the network in the power model: what its resources weigh; the constant
    is a core's.
    """
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
    rows = [[c, "simulated" if c <= 2 else "arithmetic", f"{m:.0f}", f"{a:.1f} %", f"{j:.1f} %"] for c,
            m, a, j in saved(data, mw)]
    out = [head, f"<p>Two clusters of four cores in RTL, each with its own memory and its own "
                 f"kernel, behind network interfaces and routers of ours. A cluster's share of the "
           f"network has {found['lut'][0]:.0f} LUTs and {found['ff'][0]:.0f} flip-flops (synthesis "
           f"{found['lut'][1]}): <b>{mw:.1f} mW</b> in the model, {share:.1f} % of a "
           "cluster of U-Cores. It is the same whichever core runs the kernel, so it takes that "
           "part of the percentage away, once, however many clusters there are.</p>",
           page.table(["clusters", "how", "mW saved", "without the network's power", "with it"], rows,
                      "Static model. The milliwatts grow linearly; the percentage does not depend "
                      "on the number of clusters beyond the second. Beyond two clusters this is "
                      "arithmetic: a line of routers as here, no longer links.")]
    return "".join(out) + exchange_table(found)


def exchange_table(found):
    """Messages and blocks between clusters; nothing if they were not measured for both set-ups with
    one source.
    """
    wanted = [f"{n}_cycles_{s}" for n in WINDOWS for s in SETUPS] + [f"{n}_ratio" for n in WINDOWS]
    if not set(wanted) <= set(found) or len({found[n][1] for n in wanted}) != 1:
        return page.note("Messages between clusters are not measured yet: <code>python3 "
                         "tools/codesign/network.py messages</code>.")

    def shown(name, digits):
        half = found.get(f"{name}_half")
        return page.number(found[name][0], digits) + (f" ± {half[0]:.{digits}f}" if half else "")
    rows = [[{"k": "1 K + 3 U", "u": "4 U"}[s], *(shown(f"{n}_cycles_{s}", 0) for n in WINDOWS)] for s in SETUPS]
    rows.append(["K-Core / U-Core", *(shown(f"{n}_ratio", 3) for n in WINDOWS)])
    return page.table(["each cluster", "message of 128 bytes", "block of 4 KB"], rows,
                      f"Cycles there and back between user threads of the two clusters: means of "
                      f"{found['replications'][0]:g} replications of each run's median, with 95 % "
                      f"intervals; memory latency 0, source {found[wanted[0]][1]}.")


def main(argv):
    """Exit status 1 if something is missing or failed."""
    if not set(argv) <= {"synthesis", "messages"}:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        for what in argv or ("synthesis", "messages"):
            if what == "synthesis":
                keep(synthesised(), synthesis_hash())
            else:
                now = exchange_hash()
                found = exchanges(REPLICATIONS, say=lambda t: print(t, file=sys.stderr, flush=True))
                if exchange_hash() != now:
                    raise Failed("the sources changed while they were measured: start again")
                keep(found, now)
    except (Failed, kept.Damaged, rtl.Missing, synth.Broken) as e:
        print(e, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped: nothing of this run is kept", file=sys.stderr)
        return 130
    for name, (value, source) in sorted(read().items()):
        print(f"{name:<24} {value:>12.12g}  {source}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
