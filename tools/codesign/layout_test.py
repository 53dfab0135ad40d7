# SPDX-License-Identifier: MIT
"""Link orders: each function once, another order for each seed, the same for the same seed; an own
order stays in front.
"""

import shutil
import subprocess

import pytest

import elf
from codesign import layout

NAMES = [f".text.f{i}" for i in range(40)]
SOURCE = (
    "".join(f"int f{i}(void);\nint f{i}(void) {{ return {i}; }}\n" for i in range(12))
    + '__attribute__((section(".vectors"))) int hal_reset(void);\nint hal_reset(void) { return '
    + " + ".join(f"f{i}()" for i in range(12))
    + "; }\n"
)


@pytest.mark.parametrize("seed", range(5))
def test_an_order_has_each_function_once(seed):
    found = [line for line in layout.order(NAMES, seed).splitlines() if line.startswith("*")]
    assert sorted(found) == sorted(f"*({n})" for n in NAMES) and found != [f"*({n})" for n in NAMES]
    assert layout.order(NAMES, seed) == layout.order(reversed(NAMES), seed)


def test_seeds_are_other_orders_at_other_places():
    found = [layout.order(NAMES, seed) for seed in range(30)]
    assert len(set(found)) == 30 and len({text.splitlines()[0] for text in found}) > 20


def test_an_own_order_stays_in_front():
    text = layout.order(NAMES, 1, "*(.text.f7)\n*(.text.f3)")
    assert text.index("*(.text.f7)") < text.index("*(.text.f3)") and [
        line for line in text.splitlines() if line.startswith("*")
    ][:2] == ["*(.text.f7)", "*(.text.f3)"]


@pytest.fixture
def kernel(tmp_path):
    """A kernel that is not the real one, in one relocatable file."""
    (tmp_path / "k.c").write_text(SOURCE)
    subprocess.run([shutil.which("or1k-elf-gcc"), "-O2", "-fno-inline", "-ffunction-sections",
                    "-nostdlib", "-r", "-o", tmp_path / "k.o", tmp_path / "k.c"], check=True)
    return str(tmp_path / "k.o")


def addresses(path):
    return [name for _, _, name in sorted(elf.read(path).symbols()) if name.startswith("f")]


def test_what_is_linked_lies_as_the_seed_says(kernel, tmp_path):
    seen = set()
    for seed in (1, 2, 1):
        target = layout.link(kernel, layout.SCRIPT, str(tmp_path / f"image{seed}"), seed)
        order = [line[8:-1] for line in layout.order(layout.functions(kernel), seed).splitlines()
                 if line.startswith("*(.text.f")]
        assert addresses(target + ".elf") == order and addresses(target + "-moved.elf") == order
        seen.add(tuple(order))
    assert len(seen) == 2


def test_what_does_not_link_is_said(tmp_path):
    (tmp_path / "x.c").write_text("int missing(void);\nint hal_reset(void);\n"
                                  "int hal_reset(void) { return missing(); }\n")
    subprocess.run([shutil.which("or1k-elf-gcc"), "-O2", "-c", "-o", tmp_path / "x.o", tmp_path / "x.c"], check=True)
    with pytest.raises(layout.LinkError, match="does not link in order 5"):
        layout.link(str(tmp_path / "x.o"), layout.SCRIPT, str(tmp_path / "image"), 5)
