# SPDX-License-Identifier: MIT
"""Makes hw/results/images: builds the kernels and the programs of the study from the tree as it is
now and keeps them.

    .venv/bin/python3 tools/codesign/freeze.py [cycles] [caches] [messages]

The cycles in hw/results belong to these images. Freezing anew begins a new study: its cycles are
then measured anew. There are three, which do not share kernels: cycles (rtlbench.py; and the code
that instructions.csv counts), caches (coherence.py), messages between clusters (network.py; on a
kernel of the first). Without an argument all are frozen.
"""

import json
import os
import subprocess
import sys
import tempfile

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOOLS)
import rooms  # noqa: E402,F401
import builder  # noqa: E402
import launch  # noqa: E402
import or1k  # noqa: E402
import run  # noqa: E402
from codesign import coherence, images, instructions, kept, layout, network, rtl, rtlbench, sources  # noqa: E402
from rtl import config, programs  # noqa: E402
from ui import Failure, Usage  # noqa: E402

KERNELS = os.path.join(rtl.ROOT, "build", "codesign", "kernel")
STRIP = "or1k-elf-objcopy"


class BuildFailed(Exception):
    """Something of the study does not build; what make said last."""


def make(port, folder, targets, variables=()):
    """Make targets of a port in a build folder; returns the port's part of it."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    argv = ["make", "-C", rtl.ROOT, "--no-print-directory", f"PORT={port}",
            f"BUILD={os.path.relpath(folder, rtl.ROOT)}", *targets, *variables]
    p = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if p.returncode:
        raise BuildFailed(f"the kernel for {port} does not build with "
                          f"{' '.join(variables) or 'the usual switches'}:\n" + "\n".join(p.stdout.splitlines()[-12:]))
    return os.path.join(folder, port)


def stripped(path, tool=STRIP, flags=("--strip-debug",)):
    """A file's bytes without what only debuggers read."""
    with tempfile.TemporaryDirectory(prefix="atoll-freeze-") as folder:
        out = os.path.join(folder, "out")
        subprocess.run([tool, *flags, path, out], check=True, stdin=subprocess.DEVNULL)
        with open(out, "rb") as f:
            return f.read()


def read(path):
    """A file's bytes."""
    with open(path, "rb") as f:
        return f.read()


def loose(name, port="or1k"):
    """Path of a kernel of the study in one relocatable file, built now from the tree."""
    return os.path.join(make(port, os.path.join(KERNELS, name), ["loose"], rtlbench.variables(name)), "kernel-loose.o")


def kernel_members(say):
    """The study's kernels."""
    out = {}
    for name in rtlbench.KERNELS:
        say(f"building kernel {name}")
        out[f"kernels/{name}.o"] = stripped(loose(name))
        if rtlbench.has_own_order(name):
            out[f"kernels/{name}.ld"] = layout.own_order().encode()
    return out


def cache_members(say):
    """The kernels for data caches that nobody keeps coherent, one for each way to mend them."""
    out = {}
    for way in coherence.WAYS:
        say(f"building the kernel for data caches: {way}")
        folder = make("or1k", os.path.join(KERNELS, f"caches-{way}"), ["loose"], [f"CACHES={way}"])
        out[f"caches/{way}.o"] = stripped(os.path.join(folder, "kernel-loose.o"))
        out[f"caches/{way}.ld"] = layout.own_order().encode()
    return out


def job_members(name, cluster, program, words):
    """Boot record and archive of a program on a cluster, and job.json."""
    with tempfile.TemporaryDirectory(prefix="atoll-freeze-") as folder:
        path = os.path.join(folder, os.path.basename(program))
        with open(path, "wb") as f:
            f.write(stripped(program, flags=("--strip-all",)))
        options = run.parse(["--port", "or1k", "--machine", programs.machine_file(cluster, folder),
                             "--rtl", "--bare", path, *words])
        job = run.make_job(options)
    where, bases = launch.boot_data(job), job.machine.clusters[0].mem_bytes
    spec = {"ram": where.ram_bytes, "windows": [bases, where.noc, where.window]
            if len(job.machine.clusters) > 1 else None, "words": words,
            "moved": [b for b in where.clusters if b],
            "loads": [["slot.bin", or1k.RECORD_SLOT], ["record.bin", where.record], ["archive.cpio", where.archive]]}
    data = {"job.json": json.dumps(spec, indent=1).encode(), "slot.bin": where.record.to_bytes(4, "big"),
            "record.bin": job.made[0], "archive.cpio": bytes(job.made[1])}
    return {f"jobs/{name}/{n}": d for n, d in data.items()}


def text_members(say):
    """The code of the portable kernel and of the hardware layers, for counting instructions."""
    out = {}
    for port, source in instructions.FROZEN.items():
        say(f"building the kernel for {port}")
        folder = os.path.join(KERNELS, source) if source else os.path.join(rtl.ROOT, "build")
        make(instructions.port_of(port), folder, ["kernel"], rtlbench.variables(source) if source else ())
        for part in instructions.PARTS:
            files = instructions.objects(instructions.port_of(port), part, folder)
            out[f"text/{port}-{part}.o"] = instructions.joined(instructions.port_of(port), files)
    return out


def cycles_part(say):
    """What rtlbench.py and instructions.py need."""
    suite, out = rtlbench.program(), {**kernel_members(say), **text_members(say)}
    for users in rtlbench.USERS:
        out.update(job_members(f"suite-{users}",
                               config.Cluster(["k-core", *["u-core"] * users], ram=rtlbench.MEMORY),
                               suite, rtlbench.words(users)))
    return out


def caches_part(say):
    """What coherence.py needs."""
    cluster = config.Cluster(coherence.CORES, ram=rtlbench.MEMORY)
    return {**cache_members(say), **job_members("caches", cluster, rtlbench.program(), coherence.WORDS)}


def messages_part(say):
    """What network.py needs beside a kernel of the first part."""
    say("building the program for two clusters")
    network.program()
    return job_members("network", config.Cluster(network.SETUPS["k"], clusters=2), network.PROGRAM, [])


PARTS = {"cycles": (cycles_part, ("kernels/", "text/", "jobs/suite-")),
         "caches": (caches_part, ("caches/", "jobs/caches/")), "messages": (messages_part, ("jobs/network/",))}


def frozen(parts, old, say):
    """The members of an archive with some parts built anew from the tree.
    How kernels are linked is common to all.
    """
    script = read(layout.SCRIPT)
    if set(parts) < set(PARTS) and old.get("kernel.ld") not in (None, script):
        raise BuildFailed("the linker script has changed since the other parts were kept: freeze all of them")
    out = {n: d for n, d in old.items() if not any(n.startswith(PARTS[p][1]) for p in parts)}
    for part in parts:
        out.update(PARTS[part][0](say))
    return {**out, "kernel.ld": script}


def main(argv):
    """Exit status 1 if something does not build."""
    def say(text):
        print(text, file=sys.stderr, flush=True)
    parts = argv or list(PARTS)
    if not set(parts) <= set(PARTS):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        builder.ensure("or1k")
        found = frozen(parts, images.read() if set(parts) < set(PARTS) else {}, say)
    except (BuildFailed, Failure, Usage, kept.Damaged, rtl.Missing, config.ConfigError,
            layout.LinkError, network.Failed) as e:
        print(e, file=sys.stderr)
        return 1
    rooms = sources.rooms() if "cycles" in parts else images.about()["rooms"]
    images.write(found, {"linker": layout.version(), "rooms": rooms})
    print(f"{len(found)} files, {os.path.getsize(images.PATH) >> 10} KB in {os.path.relpath(images.PATH, rtl.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
