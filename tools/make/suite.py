# SPDX-License-Identifier: MIT
"""mpi4py, built against the installed MPI library in build/mpi4py: the source package as it is, and
what is compiled of it, without optimisation.

What is built depends on mpi.h and on the versions of the packages; as long as these are the same,
it is there already. The library itself may change: the extension finds it where it is installed.
"""

import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile

import install
import setup
from lock import Lock
from ui import BUILD, Failure, say

FOLDER = os.path.join(BUILD, "mpi4py")
REQUIREMENTS = "requirements-mpi4py.txt"
FLAGS = "-O0 -g0"


def _python():
    return os.path.join(setup.VENV, "bin", "python3")


def _key(prefix):
    """What the compiled extension depends on."""
    h = hashlib.sha256()
    with open(os.path.join(prefix, "include", "mpi.h"), "rb") as f:
        h.update(f.read())
    builders = [p for p in setup.pinned("requirements-dev.txt") if p.startswith(("cython==", "setuptools=="))]
    h.update(f"{setup.pinned(REQUIREMENTS)} {builders} {sys.version} {FLAGS} {prefix}".encode())
    return h.hexdigest()[:20]


def _call(argv, what, **more):
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)
    if p.returncode:
        raise Failure(f"{what} failed: {p.stdout[-2000:]}")


def _fetch(package):
    """The source package, unpacked; returns its folder."""
    top = os.path.join(FOLDER, package.replace("==", "-"))
    if os.path.isdir(top):
        return top
    part = f"{FOLDER}.{os.getpid()}"
    try:
        # what it needs to be built is in .venv: no second environment for that
        _call([_python(), "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation",
               "--no-binary", package.split("==")[0], "-d", part, package],
              f"fetching {package}")
        archive = glob.glob(os.path.join(part, "*.tar.gz"))[0]
        with tarfile.open(archive) as tar:
            tar.extractall(part, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(part)
        os.makedirs(FOLDER, exist_ok=True)
        os.rename(archive[:-len(".tar.gz")], top)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return top


def ensure():
    """Build it if it is not there; several may ask at a time.
    Returns (folder of the package, folder of its tests).
    """
    setup.ensure("dev")
    with Lock(os.path.join(BUILD, ".lock-mpi4py"), "building mpi4py"):
        return _ensure()


def _ensure():
    prefix = install.ensure()
    package = setup.pinned(REQUIREMENTS)[0]
    out = os.path.join(FOLDER, "built-" + _key(prefix))
    top = _fetch(package)
    if not os.path.isdir(out):
        say(f"building {package} against our MPI")
        part = f"{out}.{os.getpid()}"
        env = dict(os.environ, MPICC=os.path.join(prefix, "bin", "mpicc"), CFLAGS=FLAGS)
        try:
            _call([_python(), "setup.py", "-q", "build_src", "build_py", "--build-lib", part,
                   "build_ext", "--build-lib", part, "--build-temp", part + ".temp"],
                  f"building {package}", env=env, cwd=top)
            os.rename(part, out)
        finally:
            shutil.rmtree(part, ignore_errors=True)
            shutil.rmtree(part + ".temp", ignore_errors=True)
    return out, os.path.join(top, "test")
