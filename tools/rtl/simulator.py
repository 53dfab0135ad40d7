# SPDX-License-Identifier: MIT
"""Runs programs on a simulated cluster.

    cluster = config.Cluster(["k-core", "u-core", "u-core", "u-core"])
    result = simulator.run(cluster, "kernel.elf", loads=[("record.bin", 0x200000)],
    options=simulator.Options(profile=True))
"""

import dataclasses
import json
import os
import signal
import subprocess
import tempfile

from rtl import build as builder

NO_END, TROUBLE = 124, 125


class SimulatorError(Exception):
    """The simulator cannot be built or did not say how it ended; one line or what the tool said."""


@dataclasses.dataclass
class Options:
    """How to run."""

    max_cycles: int = 0             # 0: no limit
    idle_cycles: int = 20_000_000   # without console output, exception or marker; 0: no limit
    timeout_s: float = 0            # of wall clock; 0: none
    # number of the replication: readable by the program, decides when each core leaves reset
    seed: int = 0
    profile: bool = False           # cycles, instruction cache misses and mispredictions per function
    illegal: str = "kernel"         # which illegal instructions end the run: "none", those of the "kernel", "all"
    trace: int = 0                  # print every retired instruction up to this cycle
    quiet: bool = False             # no progress on the terminal
    stdout: object = None           # where the console goes; None: ours
    stderr: object = None
    symbols: list = dataclasses.field(default_factory=list)  # (ELF file, address that is added)


@dataclasses.dataclass
class Result:
    """How a run ended."""

    status: int                     # the program's; 124 no end, 125 trouble
    end: str                        # "exit", "cycles", "stuck", "illegal", "trouble", "timeout"
    counters: dict                  # the harness's report, or {}
    output: str = ""                # of run_captured


def build(cluster):
    """Path of the simulator; built if that was not done yet."""
    try:
        return builder.cluster(cluster)
    except builder.BuildError as e:
        raise SimulatorError(str(e)) from None


def command(cluster, image, loads=(), options=None, json_path=None):
    """The simulator's command line."""
    o = options or Options()
    argv = [build(cluster), image, "--latency", str(cluster.latency), "--ram", str(cluster.ram), "--seed", str(o.seed),
            "--max-cycles", str(o.max_cycles), "--idle-cycles", str(o.idle_cycles), "--illegal",
            str(("none", "kernel", "all").index(o.illegal))]
    if cluster.clusters > 1:
        own, noc, window = cluster.windows
        argv += ["--own", str(own), "--noc-at", hex(noc), "--window", str(window)]
    for path, address in loads:
        argv += ["--load", f"{path}@{address:#x}"]
    for path, address in o.symbols:
        argv += ["--symbols", f"{path}@{address:#x}"]
    argv += ["--json", json_path] if json_path else []
    argv += ["--trace", str(o.trace)] if o.trace else []
    return argv + ["--profile"] * o.profile + ["--quiet"] * o.quiet


def run(cluster, image, loads=(), options=None):
    """Run an ELF image to its end; the console goes to options.stdout. Returns a Result."""
    o = options or Options()
    if not os.path.exists(image):
        raise SimulatorError(f"{image} is missing")
    with tempfile.TemporaryDirectory(prefix="atoll-rtl-") as folder:
        path = os.path.join(folder, "report.json")
        p = subprocess.Popen(command(cluster, image, loads, o, path), stdin=subprocess.DEVNULL,
                             stdout=o.stdout, stderr=o.stderr)
        try:
            code = p.wait(o.timeout_s or None)
        except subprocess.TimeoutExpired:
            return Result(NO_END, "timeout", {})
        finally:
            if p.poll() is None:
                p.kill()
                p.wait()
        return _result(code, path)


def _result(code, path):
    if code < 0:
        raise SimulatorError(f"the simulator was ended by signal {-code} ({signal.Signals(-code).name})")
    try:
        with open(path, encoding="utf-8") as f:
            counters = json.load(f)
    except (OSError, ValueError):
        return Result(code if code else TROUBLE, "trouble", {})
    return Result(code, counters["end"], counters)


def run_captured(cluster, image, loads=(), options=None):
    """The same with console and messages together as text in the result."""
    with tempfile.TemporaryFile() as f:
        o = dataclasses.replace(options or Options(), stdout=f, stderr=f, quiet=True)
        result = run(cluster, image, loads, o)
        f.seek(0)
        result.output = f.read().decode(errors="replace")
    return result
