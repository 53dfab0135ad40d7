# SPDX-License-Identifier: MIT
"""Headers are read as C reads them."""

import os
import re
import shutil
import subprocess

import pytest

import cheader

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEXT = """
#ifndef A_H
#define A_H
#define ONE 1u		/* one */
#define SHIFTED (ONE << 20)
#define LINE_UP(n) (((n) + 63) / 64 * 64)
#define BOTH(a, b) (LINE_UP(a) + \\
	SHIFTED * (b))
#define TEXT "text"
#define CALL(x) f(x)->y
struct inner {
	uint64_t a;
	uint32_t b;		/* of a; or b */
	int32_t c;
};
struct outer {
	uint32_t head;
	uint32_t more;
	struct inner in[ONE + 1];
	uint8_t bytes[4];
	char name[4];
};
struct gap {
	uint32_t a;
	uint64_t b;
};
"""


@pytest.fixture
def header(tmp_path):
    (tmp_path / "a.h").write_text(TEXT)
    return cheader.Header(tmp_path / "a.h")


def test_numbers_and_formulas(header):
    assert header.ONE == 1 and header.SHIFTED == 1 << 20 and header.BOTH(65, 2) == 128 + (2 << 20)


def test_what_is_no_number_is_not_there(header):
    for name in ("TEXT", "A_H", "nothing"):
        with pytest.raises(cheader.HeaderError, match=f"no header defines {name}"):
            getattr(header, name)


def test_a_structure_is_packed_by_names(header):
    data = header.pack(">", "outer",
                       {"head": 1, "more": 2, "in": [{"a": 3, "b": 4, "c": -1}], "bytes": b"\5", "name": b"x"})
    assert (
        data == bytes.fromhex("00000001 00000002 0000000000000003 00000004 ffffffff") + bytes(16) + b"\5\0\0\0x\0\0\0"
    )
    assert len(data) == header.size("outer")


@pytest.mark.parametrize("kind, values, words", [
    ("inner", {"a": 1, "b": 2}, "c is not on both sides"),
    ("inner", {"a": 1, "b": 2, "c": 3, "d": 4}, "d is not on both sides"),
    ("gap", {"a": 1, "b": 2}, "gap before b"),
    ("outer", {"head": 1, "more": 2, "in": [{"a": 3, "b": 4, "c": -1}] * 3, "bytes": b"", "name": b""}, "too many"),
])
def test_what_does_not_fit_is_refused(header, kind, values, words):
    with pytest.raises(cheader.HeaderError, match=words):
        header.pack("<", kind, values)


@pytest.mark.parametrize("path", ["abi/limits.abi.h", "abi/boot.h", "abi/window.abi.h", "hal/board/virt/virt.h"])
def test_c_reads_the_same_numbers(path, tmp_path):
    found = cheader.Header(os.path.join(ROOT, "abi/limits.abi.h"), os.path.join(ROOT, path))
    numbers = {n: v for n, v in found.names.items() if isinstance(v, int) and v < 1 << 62}
    assert len(numbers) > 5
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        includes = "".join(re.findall(r"^#include <abi/.*>\n", f.read(), re.M))
    text = (
        f'#include <stdio.h>\n#include <abi/limits.abi.h>\n{includes}#include "{os.path.join(ROOT, path)}"\nint'
        ' main(void) {\n'
    )
    text += "".join(f'printf("{n} %lld\\n", (long long)({n}));\n' for n in numbers) + "}\n"
    (tmp_path / "n.c").write_text(text)
    subprocess.run([shutil.which("gcc"), "-w", "-I", ROOT, "-I", os.path.join(ROOT, "hal/include"),
                    "-o", tmp_path / "n", tmp_path / "n.c"], check=True)
    out = subprocess.run([tmp_path / "n"], capture_output=True, text=True, check=True).stdout
    assert dict(line.split() for line in out.splitlines()) == {n: str(v) for n, v in numbers.items()}


def test_what_was_packed_can_be_unpacked(header):
    values = {"head": 1, "more": 2, "in": [{"a": 3, "b": 4, "c": -1}] * 2, "bytes": b"", "name": b""}
    data = header.pack("<", "outer", values)
    back = header.unpack("<", "outer", data)
    assert header.pack("<", "outer", back) == data and back["in"] == values["in"]
