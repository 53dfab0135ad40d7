# SPDX-License-Identifier: MIT
"""./atoll install: a tree with the MPI library for process ranks, its compiler wrappers and
mpiexec, which stands alone.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess

import builder
import manpages
import setup
from ui import BUILD, ROOT, Failure, Usage, say, take_value

HELP = """usage: ./atoll install --prefix DIR

Builds the MPI library for process ranks and installs it into DIR:

  bin/mpicc bin/mpicxx bin/mpiexec bin/mpirun   lib/libmpi_abi.so.1   include/mpi.h   lib/pkgconfig/mpi.pc
  bin/mpifort bin/mpif77 bin/mpif90   lib/libmpi_fortran.so.1   include/mpif.h   and, if gfortran is
                                      there, the module mpi
  share/man: manual pages of mpicc, mpiexec, atoll and the kernel calls (man -M DIR/share/man mpiexec)

Programs are linked with lib/link/libmpi_abi.so, which names the functions that are implemented, so
that a configure script finds no others. lib/libmpi_abi.so has all functions of the standard: give
-L DIR/lib for a program that names one but does not need it. The tree needs nothing of this one and
may be moved as a whole.
"""

PKGCONFIG = """prefix=${{pcfiledir}}/../..
includedir=${{prefix}}/include
libdir=${{prefix}}/lib

Name: mpi
Description: Atoll MPI, the MPI {version} standard ABI on one host
Version: {version}
Cflags: -I${{includedir}}
Libs: -L${{libdir}}/link -L${{libdir}} -Wl,-rpath,${{libdir}} -lmpi_abi
"""
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](mpi\w*\.h)[>"].*\n', re.M)


def one_header(made, name="mpi.h"):
    """Text of a public header with those of ours that it includes in their places; `made`: the
    folder with the generated ones.
    """
    for folder in (os.path.join(ROOT, "mpi", "include"), os.path.join(made, "include")):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return INCLUDE.sub(lambda m: one_header(made, m.group(1)), f.read())
    raise Failure(f"{name} is not there: run ./atoll build process")


def version(text):
    """The MPI standard's version that mpi.h names."""
    return ".".join(re.search(rf"{n}\s*(?:=\s*)?(\d+)", text).group(1) for n in ("MPI_VERSION", "MPI_SUBVERSION"))


def _write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def _link(folder, name, target):
    path = os.path.join(folder, name)
    if os.path.lexists(path):
        os.unlink(path)
    os.symlink(target, path)


def _copy(source, target, mode):
    """Copy a file over one that may be in use: the old one lives on until its users end."""
    temp = f"{target}.{os.getpid()}"
    shutil.copyfile(source, temp)
    os.chmod(temp, mode)
    os.replace(temp, target)


def _install_fortran(folder, build, made):
    """The binding for Fortran; its module only if there is a compiler, whose own format it has."""
    _copy(os.path.join(build, "lib", "libmpi_fortran.so.1"), os.path.join(folder["lib"], "libmpi_fortran.so.1"), 0o755)
    _link(folder["lib"], "libmpi_fortran.so", "libmpi_fortran.so.1")
    _copy(os.path.join(ROOT, "mpi", "exec", "mpicc.sh"), os.path.join(folder["bin"], "mpifort"), 0o755)
    for name in ("mpif77", "mpif90"):
        _link(folder["bin"], name, "mpifort")
    for name in ("mpif.h", "mpi.f90"):
        _copy(os.path.join(made, "fortran", name), os.path.join(folder["include"], name), 0o644)
    compiler = shutil.which("gfortran")
    if compiler:
        p = subprocess.run([compiler, "-fsyntax-only", "-J", folder["include"],
                            os.path.join(folder["include"], "mpi.f90")],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, errors="replace")
        if p.returncode:
            raise Failure(f"gfortran cannot make the module mpi:\n{p.stdout[-2000:]}")


def install(prefix, build=None):
    """Write the tree; `build` names the folder that holds what was built (other than
    build/process), beside the sources that were generated for it.
    """
    build = build or os.path.join(BUILD, "process")
    made = os.path.join(os.path.dirname(build), "gen")
    header = one_header(made)
    folder = {n: os.path.join(prefix, n) for n in ("bin", "lib", "include", "lib/link", "lib/pkgconfig")}
    for path in folder.values():
        os.makedirs(path, exist_ok=True)
    _copy(os.path.join(build, "bin", "mpiexec"), os.path.join(folder["bin"], "mpiexec"), 0o755)
    _copy(os.path.join(build, "lib", "libmpi_abi.so.1"), os.path.join(folder["lib"], "libmpi_abi.so.1"), 0o755)
    _copy(os.path.join(build, "lib", "link", "libmpi_abi.so"), os.path.join(folder["lib/link"], "libmpi_abi.so"), 0o755)
    _copy(os.path.join(ROOT, "mpi", "exec", "mpicc.sh"), os.path.join(folder["bin"], "mpicc"), 0o755)
    _copy(os.path.join(ROOT, "mpi", "exec", "mpicc.sh"), os.path.join(folder["bin"], "mpicxx"), 0o755)
    _install_fortran(folder, build, made)
    _link(folder["bin"], "mpirun", "mpiexec")
    _link(folder["bin"], "mpic++", "mpicxx")
    _link(folder["lib"], "libmpi_abi.so", "libmpi_abi.so.1")
    _write(os.path.join(folder["include"], "mpi.h"), header)
    _write(os.path.join(folder["lib/pkgconfig"], "mpi.pc"), PKGCONFIG.format(version=version(header)))


def _time_of(path):
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def ensure():
    """Build what process ranks need, and install it into build/process/prefix; returns that folder.
    What was built since is installed anew.
    """
    setup.ensure("process")
    folder = os.path.join(BUILD, "process")
    prefix, built, installed = (os.path.join(folder, n) for n in ("prefix", ".built", ".installed"))
    if not builder.is_current("process"):
        builder.make("process")
    made = _time_of(built)
    if _time_of(installed) != made or not os.path.exists(os.path.join(prefix, "lib", "pkgconfig", "mpi.pc")):
        install(prefix)
        open(installed, "w").close()
        os.utime(installed, ns=(made, made))
    return prefix


def help_of(command):
    """What a command of ours, or the front command itself, prints when it is asked."""
    import main as front	# which imports this module when it is first asked for it

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        front.dispatch([command, "--help"] if command else ["--help"])
    return text.getvalue()


def install_manual(prefix):
    """Write the manual pages into the tree, from what its programs and ours say of themselves."""
    import main as front

    installed = [subprocess.run([os.path.join(prefix, "bin", name), "--help"], capture_output=True,
                                text=True, check=True).stdout
                 for name in ("mpiexec", "mpicc")]
    helps = {name: help_of(name) for name in [""] + [n for n in front.available() if n != "setup"]}
    manpages.write(prefix, manpages.pages(helps, *installed, ROOT))


def main(argv):
    """Exit status 0 when the tree is there."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    prefix, i = None, 0
    while i < len(argv):
        if argv[i] != "--prefix" and not argv[i].startswith("--prefix="):
            raise Usage(f"unknown argument '{argv[i]}': ./atoll install --prefix DIR")
        prefix, i = take_value(argv, i, "--prefix")
    if not prefix:
        raise Usage("where to? ./atoll install --prefix DIR")
    prefix = os.path.abspath(prefix)
    ensure()
    try:
        install(prefix)
        install_manual(prefix)
    except OSError as e:
        raise Failure(f"cannot write {e.filename or prefix}: {e.strerror}") from None
    say(f"installed into {prefix}: {os.path.join(prefix, 'bin', 'mpicc')}, mpicxx, mpiexec")
    return 0
