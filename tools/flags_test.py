# SPDX-License-Identifier: MIT
"""mk/flags.mk: an object is made anew when its flags change, and only then."""

import pathlib
import subprocess

RULES = pathlib.Path(__file__).resolve().parent.parent / "mk" / "flags.mk"
MAKEFILE = f"""include {RULES}
FLAGS := $(call flags_file,out/flags,cc -DNAME='a "b"' $(EXTRA))
object: $(FLAGS)
\t@echo made; touch $@
"""


def made(folder, *words):
    done = subprocess.run(["make", "-s", "-C", str(folder), "object", *words], capture_output=True,
                          text=True, check=True)
    return "made" in done.stdout


def test_object_follows_its_flags(tmp_path):
    (tmp_path / "Makefile").write_text(MAKEFILE)
    assert made(tmp_path)
    assert not made(tmp_path)
    assert made(tmp_path, "EXTRA=-O3")
    assert not made(tmp_path, "EXTRA=-O3")
    assert made(tmp_path), "flags that were taken back are a change"


def test_shorter_flags_are_a_change(tmp_path):
    (tmp_path / "Makefile").write_text(MAKEFILE)
    made(tmp_path, "EXTRA=-O2 -g")
    assert made(tmp_path, "EXTRA=-O2")
