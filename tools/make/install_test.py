# SPDX-License-Identifier: MIT
"""What is installed for process ranks is what was built last, whoever built it."""

import os

import pytest

import builder
import install
import setup


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """A build folder of its own; what ensure() does there is noted."""
    done = []
    monkeypatch.setattr(install, "BUILD", str(tmp_path))
    monkeypatch.setattr(builder, "BUILD", str(tmp_path))
    monkeypatch.setattr(setup, "ensure", lambda level: None)
    monkeypatch.setattr(builder, "is_current", lambda port: (tmp_path / port / ".built").exists())

    def make(port):
        done.append("make")
        builder.mark(port, 1000, True)

    def put(prefix):
        done.append("install")
        os.makedirs(os.path.join(prefix, "lib", "pkgconfig"), exist_ok=True)
        open(os.path.join(prefix, "lib", "pkgconfig", "mpi.pc"), "w").close()

    monkeypatch.setattr(builder, "make", make)
    monkeypatch.setattr(install, "install", put)
    return done


def test_it_is_built_and_installed_once(calls):
    assert install.ensure() == install.ensure() and calls == ["make", "install"]


def test_what_another_command_has_built_since_is_installed(calls):
    install.ensure()
    builder.mark("process", 2000, True)		# ./atoll test, which builds without installing
    install.ensure()
    install.ensure()
    assert calls == ["make", "install", "install"]


def test_all_that_is_installed_is_from_the_folder_that_was_built(tmp_path, monkeypatch):
    build = tmp_path / "other" / "process"
    for name in ("process/bin/mpiexec", "process/lib/libmpi_abi.so.1", "process/lib/link/libmpi_abi.so",
                 "process/lib/libmpi_fortran.so.1", "gen/fortran/mpif.h", "gen/fortran/mpi.f90",
                 "gen/include/mpi_functions.h"):
        path = tmp_path / "other" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("! of the other build\n")
    monkeypatch.setattr(install, "BUILD", str(tmp_path / "never built"))
    install.install(str(tmp_path / "prefix"), str(build))
    for name in ("mpif.h", "mpi.h"):
        assert "! of the other build\n" in (tmp_path / "prefix" / "include" / name).read_text()
