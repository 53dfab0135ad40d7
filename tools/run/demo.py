# SPDX-License-Identifier: MIT
"""./atoll demo: the Gaussian filter on a photograph and friendly numbers on a range, on both ports,
each result checked.
"""

import os
import subprocess
import sys
import time

import builder
import machine as machines
import setup
from ui import BUILD, ROOT, Failure, Steps, Usage, say

HELP = """usage: ./atoll demo

Runs two MPI programs on this computer (machine laptop) and on RISC-V in QEMU (machine riscv-4x4: 4
clusters of 4 cores): a Gaussian filter over a photograph, and a search for friendly numbers. Each
result is compared with an independent computation. The pictures are left in build/demo.
"""
FOLDER = os.path.join(BUILD, "demo")
PROGRAMS = ("gf", "fn")
TIMEOUT_S = 120
MASK, SD = 15, 1.8
FIRST, COUNT = 1, 20000
RANKS = {"hosted": 6, "riscv64": 12}
MACHINES = {"hosted": "laptop", "riscv64": "riscv-4x4"}
WHERE = {"hosted": "on this computer", "riscv64": "on RISC-V in QEMU"}


def oracle(*argv):
    """Run the independent computations (demo_oracle.py) with the private Python; their output."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo_oracle.py")
    p = subprocess.run([os.path.join(setup.VENV, "bin", "python3"), script, *argv],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode:
        raise Failure(f"demo: {(p.stderr or p.stdout).strip().splitlines()[-1]}")
    return p.stdout.strip()


def run(port, name, *argv, options=()):
    """Run a program of ours; (standard output, standard error, wall seconds)."""
    start = time.monotonic()
    line = [os.path.join(ROOT, "atoll"), "run", "-n", str(RANKS[port]), "--port", port, "--machine",
            MACHINES[port], "--timeout", str(TIMEOUT_S),
            *options, name, *argv]
    p = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, errors="replace")
    if p.returncode:
        sys.stderr.write(p.stderr)
        raise Failure(f"demo: {name} on port {port} ended with status {p.returncode}")
    return p.stdout, p.stderr, time.monotonic() - start


def remark(text, name):
    """What a program says of its own time."""
    lines = [line for line in text.splitlines() if line.startswith(name + ":") and " s on " in line]
    return lines[-1] if lines else f"{name}: (no time told)"


def describe(port):
    """What the machine is, for people."""
    m = machines.load(MACHINES[port])
    print(f"\n{WHERE[port]}: machine {m.name}, {m.shape()} cores")
    for i, c in enumerate(m.clusters):
        part = next((p for p in m.places() if p[0] == i), None)
        print(f"  cluster {i}: {' '.join(c.roles)}" +
              (f"   ranks on cores {part[1]}..{part[1] + part[2] - 1}" if part else "   servers"))


def filter_photograph(port):
    """gf on the photograph; checks it and writes the picture. Returns the lines to show."""
    picture, raw = os.path.join(FOLDER, "camera.pgm"), os.path.join(FOLDER, f"gf-{port}.out")
    out, err, seconds = run(port, "gf", "--in", "camera.pgm", "--out", "-", "--mask", str(MASK),
                            "--sd", str(SD), options=("--file", picture))
    with open(raw, "w", encoding="utf-8") as f:
        f.write(out)
    verdict = oracle("picture", FOLDER, port, str(MASK), str(SD))
    return f"{remark(out + err, 'gf')}; {seconds:.2f} s with boot and end", verdict


def find_friends(port):
    """fn on the range; checks it. Returns the lines to show."""
    out, err, seconds = run(port, "fn", "--from", str(FIRST), "--count", str(COUNT))
    raw = os.path.join(FOLDER, f"fn-{port}.out")
    with open(raw, "w", encoding="utf-8") as f:
        f.write(out)
    verdict = oracle("friends", raw, str(FIRST), str(COUNT))
    return f"{remark(out + err, 'fn')}; {seconds:.2f} s with boot and end", verdict


def show_port(port, steps):
    """Everything that one port has to show, each result checked when it is there."""
    builder.ensure_run(port, PROGRAMS)
    describe(port)
    for what, function in (("Gaussian filter", filter_photograph), ("friendly numbers", find_friends)):
        steps.step(f"{what} {WHERE[port]}")
        lines = function(port)
        steps.clear()
        print("\n".join(f"  {line}" for line in lines), flush=True)


def main(argv):
    """Exit status 0 if every result is right.
    What the second port needs is installed and built when the first one's results are shown.
    """
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    if argv:
        raise Usage("usage: ./atoll demo")
    setup.ensure("demo")
    os.makedirs(FOLDER, exist_ok=True)
    print(oracle("prepare", FOLDER), flush=True)
    steps = Steps("demo", 2 * len(MACHINES))
    for port in MACHINES:
        show_port(port, steps)
    steps.end("every result is right")
    print(f"\npictures: {os.path.relpath(FOLDER)}/camera.png (the photograph), camera-hosted.png, "
          f"camera-riscv64.png (filtered), "
          "beside.png (photograph and result)")
    say("now try: ./atoll run -n 16 hello, or your own program: ./atoll run -n 16 prog.c")
    return 0
