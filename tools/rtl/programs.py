# SPDX-License-Identifier: MIT
"""Runs a program with the real kernel on a cluster in RTL, as `./atoll run --port or1k --rtl
--bare` does, and gives the harness's report.
"""

import json
import os
import subprocess
import tempfile

import launch
import run
from rtl import simulator

MEMORY = 8 << 20                # at most: what the kernel clears before it starts costs cycles
MACHINE = """ports = ["or1k"]
[[cluster]]
count = {clusters}
kernel = "KC"
application = {application}
memory = "{memory}"
[hardware]
cores = {cores}
latency = {latency}
data_cache = "{data_cache}"
{coherence}tlb_refill = "{tlb_refill}"
"""


class RunFailed(Exception):
    """The program did not end well; says what the console said last."""


def machine_file(cluster, folder):
    """Write a machine with the cores of a config.Cluster; returns its path."""
    path = os.path.join(folder, "cluster.toml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(MACHINE.format(clusters=cluster.clusters, application=len(cluster.cores) - 1,
                               memory=f"{min(cluster.ram, MEMORY) >> 20}M",
                               cores=json.dumps(list(cluster.cores)), latency=cluster.latency,
                               data_cache=cluster.data_cache,
                               coherence=f'coherence = "{cluster.coherence}"\n' if cluster.coherence
                               else "", tlb_refill=cluster.tlb_refill))
    return path


def report(cluster, program, arguments=(), *, seed=0, kernel=None, extra=()):
    """Run; the report as a dictionary.
    `kernel` is an image without its ending, `extra` options of the simulator.
    """
    with tempfile.TemporaryDirectory(prefix="atoll-rtl-") as folder:
        path = os.path.join(folder, "report.json")
        words = ["--port", "or1k", "--machine", machine_file(cluster, folder), "--rtl", "--bare",
                 "--seed", str(seed), "--report", path,
                 "--keep", folder] + (["--kernel", kernel] if kernel else [])
        argv = launch.prepare(run.make_job(run.parse(words + [program, *arguments]))) + ["--quiet", *extra]
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if p.returncode:
            raise RunFailed(f"{program} on {cluster.title()} ended with {p.returncode}:\n" +
                            "\n".join(p.stdout.splitlines()[-30:]))
        with open(path, encoding="utf-8") as f:
            return json.load(f)


def window(found, label):
    """The window with a label of a report; RunFailed if there is none."""
    for w in found["windows"]:
        if w["label"] == label and w["times"]:
            return w
    raise RunFailed(f"the program opened no window {label}")


TROUBLES = (RunFailed, simulator.SimulatorError)
