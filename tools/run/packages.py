# SPDX-License-Identifier: MIT
"""Programs of others that the riscv64 machine can have: where their sources come from, how our
compiler wrapper builds them, and what of each the machine gets. Sources are got once, at the first
use, and are what their SHA-256 says; what is built lies below build/shell/trees as the machine has it.
"""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
import urllib.error
import urllib.request

import builder
import setup
from lock import Lock
from ui import BUILD, ROOT, Failure, say

FOLDER = os.path.join(BUILD, "shell")
MIRROR = "http://deb.debian.org/debian/pool/main/"
TARGET = "riscv64-linux-musl"
FETCH_TIMEOUT_S = 30
# name: address, of Debian's a path below the mirror, and the SHA-256 of what is there
SOURCES = {
    "dash": ("d/dash/dash_0.5.12.orig.tar.gz", "6a474ac46e8b0b32916c4c60df694c82058d3297d8b385b74508030ca4a8f28a"),
    "toybox": ("t/toybox/toybox_0.8.9+dfsg.orig.tar.xz",
               "16fb5967531e88ca33b8c9142376987617ebe52e34e2b3f3a779603674b7d07c"),
    "tcc": ("t/tcc/tcc_0.9.27+git20200814.62c30a4a.orig.tar.bz2",
            "d63c113bcdd657f51c8ee197a0b0a24203603313e19a52b5f678d40ab7f5df35"),
    "make": ("m/make-dfsg/make-dfsg_4.4.1.orig.tar.xz",
             "3b16b00ea1079af9f8096bbc71ff7cc00c249fc6a862003da3c42308a0adb0fe"),
    "lua": ("l/lua5.4/lua5.4_5.4.7.orig.tar.gz", "9fbf5e28ef86c69858f6d3d34eccc32e911c1a28b4120ff3e84aaa70cfbf1e30"),
    # Lua's own test suite, of the same release: its package has none, and this one has Lua's repository
    "lua-tests": ("https://files.pythonhosted.org/packages/4d/b0/67735b16f6c3e5c738a8b16a35d18f09b962b449a2726949bebd"
                  "3e326b4b/lupa-2.4.tar.gz", "5300d21f81aa1bd4d45f55e31dddba3b879895696068a3f84cfcb5fd9148aacd"),
    "gawk": ("g/gawk/gawk_5.2.1.orig.tar.xz", "2337a0283b180ec1b9c727973a34781c6478b3ae9bcbdcca0a4dc49861d75a65"),
    "bzip2": ("b/bzip2/bzip2_1.0.8.orig.tar.gz", "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269"),
    "zstd": ("libz/libzstd/libzstd_1.5.7+dfsg.orig.tar.xz",
             "0c092ef267edce57ba7f3f2645c861f72eaf5e76273c6c3632869423464b90a5"),
    # SQLite in one file, with its shell: its own package has the pieces, and needs Tcl to make that of them
    "fossil": ("f/fossil/fossil_2.21.orig.tar.xz", "be63439cc08bec72aeb8ed8c240ef9b3e7ce7916e786ef6c55491d86daf02c5b"),
}
# what programs look users up in
ACCOUNTS = {"passwd": "root:x:0:0:root:/:/bin/sh\n", "group": "root:x:0:\n"}
# TinyCC for riscv64, as Debian has it: file, what is there, what is to be there
MENDS = (
    # differences of pointers are signed
    ("riscv64-gen.c", "    case TOK_PDIV:\n    case TOK_UDIV:\n        ER(0x33 | ll, 5, d, a, b, 1); // divu d, a, b\n",
     "    case TOK_PDIV:\n        ER(0x33 | ll, 4, d, a, b, 1); // div d, a, b\n        break;\n"
     "    case TOK_UDIV:\n        ER(0x33 | ll, 5, d, a, b, 1); // divu d, a, b\n"),
    # the address of a floating-point number goes through a register that holds no argument
    ("riscv64-gen.c", "            EI(0x03, 3, rr, br, fc); // ld RR, fc(BR)\n            br = rr;\n",
     "            EI(0x03, 3, is_freg(r) ? 5 : rr, br, fc); // ld RR, fc(BR)\n            br = is_freg(r) ? 5 : rr;\n"),
    # the two halves of an address need not follow each other: clang's do not
    ("riscv64-link.c", "static struct pcrel_hi last_hi;",
     "static struct pcrel_hi last_hi_of[4096];\n#define last_hi last_hi_of[addr >> 1 & 4095]"),
    ("riscv64-link.c", "if (val != last_hi.addr)", "addr = val;\n        if (val != last_hi.addr)"),
)
TCC_PATHS = ('-DCONFIG_TCCDIR="/usr/lib/tcc"', '-DCONFIG_TCC_CRTPREFIX="/usr/lib"',
             '-DCONFIG_TCC_LIBPATHS="/usr/lib:/usr/lib/tcc"',
             '-DCONFIG_TCC_SYSINCLUDEPATHS="/usr/lib/tcc/include:/usr/include"')
EMPTY_ARCHIVE = "!<arch>\n"


def _digest(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def source(name):
    """The archive of a program's source, which is got when it is not there."""
    where, digest = SOURCES[name]
    address = where if "://" in where else MIRROR + where
    path = os.path.join(FOLDER, os.path.basename(where))
    if os.path.exists(path) and _digest(path) == digest:
        return path
    say(f"getting the source of {name} from {address}")
    part = path + ".part"
    try:
        with urllib.request.urlopen(address, timeout=FETCH_TIMEOUT_S) as got, open(part, "wb") as f:
            shutil.copyfileobj(got, f)
    except (urllib.error.URLError, OSError) as e:
        raise Failure(f"cannot get {address}: {e}; "
                      f"a copy of it may be put into {os.path.relpath(FOLDER, ROOT)}") from None
    if _digest(part) != digest:
        raise Failure(f"{address} is not what it should be: its SHA-256 is {_digest(part)}")
    os.replace(part, path)
    return path


def _unpack(name, folder):
    """The folder of a source in it."""
    folder = os.path.join(folder, name)
    with tarfile.open(source(name)) as tar:
        tar.extractall(folder)
    inside = os.listdir(folder)
    return os.path.join(folder, inside[0]) if len(inside) == 1 else folder


def _call(argv, folder, what, **more):
    p = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, errors="replace", check=False, **more)
    if p.returncode:
        raise Failure(f"{what} cannot be built: {p.stdout[-2000:]}")
    return p.stdout


class Work:
    """Where a package is built: its source, a compiler, and the tree that the machine gets."""

    def __init__(self, name, folder, tree):
        self.name, self.folder, self.tree = name, folder, tree
        self.source = _unpack(name, folder)
        self.compiler = os.path.join(folder, "cc")
        # configuration scripts want one word
        self.write(self.compiler, f'#!/bin/sh\nexec "{os.path.join(ROOT, "atoll")}" cc --port riscv64 "$@"\n', 0o755)

    @staticmethod
    def write(path, text, mode=0o644):
        """A file, and the folders that it needs."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(path, mode)

    def call(self, *argv):
        """Run a command in the source's folder."""
        return _call(argv, self.source, self.name)

    def make(self, *argv):
        """The same for make."""
        return self.call("make", "-s", f"-j{os.cpu_count()}", *argv)

    def configure(self, *options):
        """For the machine. What the tools of automake would make again is newer than what it is made of."""
        begun = time.time() - 9
        for number, pattern in enumerate(("aclocal.m4", "configure", "config*.in", "Makefile.in")):
            for path in glob.glob(os.path.join(self.source, "**", pattern), recursive=True):
                os.utime(path, (begun + number, begun + number))
        self.call("./configure", f"--host={TARGET}", f"CC={self.compiler}", "CC_FOR_BUILD=gcc", "CFLAGS=-Os",
                  "LDFLAGS=-s", "-q", *options)

    def keep(self, path, name, *others):
        """A file that was built, as the machine has it, also under other names in the same folder."""
        to = os.path.join(self.tree, name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(os.path.join(self.source, path), to)
        os.chmod(to, 0o755)
        for other in others:
            os.symlink(os.path.basename(name), os.path.join(os.path.dirname(to), other))


def _build_dash(w):
    w.configure("--without-libedit")
    w.make()
    w.keep("src/dash", "bin/dash", "sh")
    for name, text in ACCOUNTS.items():
        w.write(os.path.join(w.tree, "etc", name), text)


def tools_of(config, table):
    """Names of the commands that a toybox was built with: of its configuration and its table."""
    chosen = set(re.findall(r"^CONFIG_(\w+)=y$", config, re.M))
    found = re.findall(r"^USE_(\w+)\((?:NEWTOY|OLDTOY)\(([^, ]+)", table, re.M)
    return sorted(name for symbol, name in found if symbol in chosen and name != "toybox")


def _build_toybox(w):
    w.call("make", "-s", "defconfig")
    w.make(f"CC={w.compiler}", "HOSTCC=gcc", "CFLAGS=-Os", "NOSTRIP=1")
    with open(os.path.join(w.source, ".config"), encoding="utf-8") as f:
        config = f.read()
    with open(os.path.join(w.source, "generated", "newtoys.h"), encoding="utf-8") as f:
        w.keep("toybox", "bin/toybox", *tools_of(config, f.read()))


def _library(folder):
    """The C library that our compiler links programs with, in position-independent code."""
    with open(os.path.join(folder, "empty.c"), "w", encoding="ascii") as f:
        f.write("int main(void)\n{\n\treturn 0;\n}\n")
    said = _call([setup.zig(), "cc", "-target", TARGET, "-static", "-fPIE", "-pie", "-Os", "-g0", "-s", "empty.c",
                  "-o", "empty"], folder, "an empty program", env={**os.environ, "ZIG_VERBOSE_LINK": "1"})
    found = re.findall(r"\S+/libc\.a", said)
    if not found:
        raise Failure(f"the compiler does not say where its C library is: {said[-500:]}")
    return found[0]


def _build_sysroot(w):
    """What programs are compiled and linked with on the machine."""
    lib, own = os.path.join(w.tree, "usr", "lib"), os.path.join(ROOT, "tools", "sysroot")
    headers = os.path.join(os.path.dirname(setup.zig()), "lib", "libc", "include")
    for libc in ("generic-musl", TARGET):
        shutil.copytree(os.path.join(headers, libc), os.path.join(w.tree, "usr", "include"), dirs_exist_ok=True)
    os.makedirs(os.path.join(lib, "tcc", "include"))
    for path in glob.glob(os.path.join(w.source, "include", "*.h")):
        shutil.copy(path, os.path.join(lib, "tcc", "include"))
    shutil.copyfile(_library(w.folder), os.path.join(lib, "libc.a"))
    for name in ("m", "pthread", "dl", "rt"):
        w.write(os.path.join(lib, f"lib{name}.a"), EMPTY_ARCHIVE)
    w.write(os.path.join(w.source, "empty.c"), "extern int nothing;\n")
    for path, out in ((os.path.join(own, "start.c"), os.path.join(lib, "crt1.o")),
                      ("empty.c", os.path.join(lib, "crti.o")), ("empty.c", os.path.join(lib, "crtn.o")),
                      (os.path.join(own, "memory.c"), "memory.o"), ("lib/lib-arm64.c", "long.o")):
        w.call(w.compiler, "-O2", "-w", "-fno-builtin", "-g0", "-fno-unwind-tables",
               "-fno-asynchronous-unwind-tables", "-c", path, "-o", out)
    w.call(setup.zig(), "ar", "rcs", os.path.join(lib, "tcc", "libtcc1.a"), "memory.o", "long.o")


def _build_tcc(w):
    for name, old, new in MENDS:
        path = os.path.join(w.source, name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if old not in text:
            raise Failure(f"{name} of TinyCC is not as it was")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))
    w.write(os.path.join(w.source, "config.h"), '#define TCC_VERSION "0.9.27"\n')
    # with -Os memcpy would be a loop over bytes
    w.call(w.compiler, "-O2", "-s", "-w", "tcc.c", "-o", "tcc", "-DTCC_TARGET_RISCV64", "-DONE_SOURCE=1",
           "-DCONFIG_TCC_STATIC", *TCC_PATHS)
    w.keep("tcc", "bin/tcc")
    _build_sysroot(w)


def _build_make(w):
    # Debian's source has no documents
    w.write(os.path.join(w.source, "doc", "Makefile.in"), "all:\n")
    w.write(os.path.join(w.source, "doc", "make.1"), "")
    w.configure("--without-guile", "--disable-nls", "--disable-load", "--disable-dependency-tracking",
                "ac_cv_func_mkfifo=no")
    w.make()
    w.keep("make", "bin/make")


def _build_lua(w):
    folder = os.path.join(w.source, "src")
    files = sorted(name for name in os.listdir(folder) if name.endswith(".c") and name != "luac.c")
    w.call(w.compiler, "-Os", "-s", "-w", "-DLUA_COMPAT_5_3", "-DLUA_USE_POSIX", *("src/" + name for name in files),
           "-o", "lua", "-lm")
    w.keep("lua", "bin/lua")


def _unpack_lua(w):
    """Lua's sources, and its tests."""
    shutil.copytree(os.path.join(w.source, "src"), os.path.join(w.tree, "src", "lua"))
    tests = os.path.join(_unpack("lua-tests", w.folder), "third-party", "lua54", "testes")
    shutil.copytree(tests, os.path.join(w.tree, "src", "lua", "testes"), ignore=shutil.ignore_patterns("libs"))


def _build_gawk(w):
    w.configure("--disable-mpfr", "--disable-nls", "--disable-extensions", "--disable-pma", "--without-readline",
                "--disable-dependency-tracking")
    w.make("-C", "support")
    w.make("gawk")
    w.keep("gawk", "bin/gawk", "awk")


def _build_bzip2(w):
    w.make("bzip2", f"CC={w.compiler}", "CFLAGS=-Os -w", "LDFLAGS=-s")
    w.keep("bzip2", "bin/bzip2", "bunzip2", "bzcat")


def _build_zstd(w):
    w.make("-C", "programs", "zstd", f"CC={w.compiler}", "CFLAGS=-Os -w", "LDFLAGS=-s", "HAVE_ZLIB=0", "HAVE_LZMA=0",
           "HAVE_LZ4=0", "ZSTD_NO_ASM=1", "ZSTD_LEGACY_SUPPORT=0", "BACKTRACE=0")
    w.keep("programs/zstd", "bin/zstd", "unzstd", "zstdcat")


def _build_sqlite(w):
    w.call(w.compiler, "-Os", "-s", "-w", "-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DHAVE_FDATASYNC=1",
           "-DHAVE_USLEEP=1", "extsrc/shell.c", "extsrc/sqlite3.c", "-o", "sqlite3", "-lm")
    w.keep("sqlite3", "bin/sqlite3")


# name: its source, and what makes its tree
PACKAGES = {
    "dash": ("dash", _build_dash), "toybox": ("toybox", _build_toybox), "tcc": ("tcc", _build_tcc),
    "make": ("make", _build_make), "lua": ("lua", _build_lua), "lua-source": ("lua", _unpack_lua),
    "gawk": ("gawk", _build_gawk), "bzip2": ("bzip2", _build_bzip2), "zstd": ("zstd", _build_zstd),
    "sqlite": ("fossil", _build_sqlite),
}


def tree(name):
    """Where a package lies as the machine has it."""
    return os.path.join(FOLDER, "trees", name)


def _is_current(name):
    """Is it there, linked with the library that is there now?"""
    library = os.path.join(BUILD, "riscv64", "lib", "libatoll.a")
    return os.path.exists(tree(name)) and os.stat(tree(name)).st_mtime_ns >= os.stat(library).st_mtime_ns


def _build(name):
    """A tree is there whole or not at all."""
    what, build = PACKAGES[name]
    source(what)
    say(f"building {name}")
    with tempfile.TemporaryDirectory(prefix=".part-", dir=FOLDER) as folder:
        made = os.path.join(folder, "tree")
        os.mkdir(made)
        work = Work(what, folder, made)
        build(work)
        os.utime(made)
        shutil.rmtree(tree(name), ignore_errors=True)
        os.makedirs(os.path.dirname(tree(name)), exist_ok=True)
        os.rename(made, tree(name))


def ensure(names, ours=()):
    """Build what is not there, or was linked with another library of ours; and programs of ours."""
    os.makedirs(FOLDER, exist_ok=True)
    builder.ensure_run("riscv64", ours)
    with Lock(os.path.join(FOLDER, ".lock"), "building programs for the machine"):
        for name in names:
            if not _is_current(name):
                _build(name)


def files(name):
    """What a package brings: (path here, name there)."""
    found = []
    for folder, _, inside in os.walk(tree(name)):
        for file in inside:
            path = os.path.join(folder, file)
            found.append((os.path.realpath(path), os.path.relpath(path, tree(name))))
    return sorted(found, key=lambda pair: pair[1])
