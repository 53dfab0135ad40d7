# SPDX-License-Identifier: MIT
"""Runs the kept kernels (images.py) on the cluster in RTL, each with its functions in a random
order, and says what the cycles depend on.
"""

import json
import os

import rebase
from codesign import images, layout, rtl, sources
from rtl import build, config, simulator

MAX_CYCLES = 60_000_000
TROUBLES = (layout.LinkError, simulator.SimulatorError, config.ConfigError)


class RunFailed(Exception):
    """A run did not end well; says what the console said last."""


def source(job="suite-", room="kernels/", units=build.cluster_sources):
    """The source of rows that would be measured now with the kernels of a room and the jobs that
    begin so: kept images, core, RTL, harness, simulator. Builds nothing."""
    used = {n: d for n, d in images.read().items() if n.startswith((room, "kernel.ld", f"jobs/{job}"))}
    return build.digest([images.digest(used), rtl.digest(), build.VERSION,
                         *map(sources.text, units() + build.harness_sources())], [])


def kernel(name, seed, room="kernels"):
    """Path without ending of a kept kernel, linked in the order of a seed."""
    folder = images.folder()
    target = os.path.join(folder, "links", f"{room}-{name}-{seed}")
    if not (os.path.exists(target + ".elf") and os.path.exists(target + "-moved.elf")):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        own = images.read().get(f"{room}/{name}.ld", b"").decode()
        layout.link(os.path.join(folder, room, f"{name}.o"), os.path.join(folder, "kernel.ld"), target, seed, own)
    return target


def image(path):
    """What says which image a row is of."""
    return sources.image(path + ".elf")[:12]


def _loads(folder, spec, path, keep):
    """(file, address) of everything in memory but the first cluster's kernel."""
    out = [(os.path.join(folder, name), at) for name, at in spec["loads"]]
    for base in spec["moved"]:
        at, data = rebase.moved(*(rebase.elf.read(path + end) for end in (".elf", "-moved.elf")), base)
        name = f"{path}-at{base:x}.bin"
        with open(f"{name}.{os.getpid()}", "wb") as f:
            f.write(data)
        os.replace(f.name, name)
        keep.append(name)
        out.append((name, at))
    return out


def run(job, path, cluster, seed):
    """The simulator's report of a kept job on a cluster with the kernel at `path`; `seed` decides
    when each core leaves reset.
    """
    folder, moved = os.path.join(images.folder(), "jobs", job), []
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as f:
        spec = json.load(f)
    cluster.ram, cluster.windows = spec["ram"], spec["windows"]
    options = simulator.Options(seed=seed, max_cycles=MAX_CYCLES)
    try:
        result = simulator.run_captured(cluster, path + ".elf", _loads(folder, spec, path, moved), options)
    finally:
        for name in moved:
            os.unlink(name)
    if result.status:
        raise RunFailed(f"{job} on {cluster.title()} ended with {result.status}:\n" +
                        "\n".join(result.output.splitlines()[-30:]))
    return result.counters
