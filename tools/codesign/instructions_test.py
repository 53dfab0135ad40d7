# SPDX-License-Identifier: MIT
"""Each instruction is in the class that it belongs to, on every ISA; what no rule knows is refused.
"""

import os
import shutil
import subprocess

import pytest

from codesign import instructions as ins

KNOWN = [
    ("or1k", "l.lwz", "r3,4(r1)", "load"), ("or1k", "l.sb", "0(r3),r4", "store"),
    ("or1k", "l.or", "r3,r4,r4", "move"), ("or1k", "l.or", "r3,r4,r5", "arithmetic"),
    ("or1k", "l.ori", "r3,r0,0x11", "move"), ("or1k", "l.addi", "r1,r1,-8", "arithmetic"),
    ("or1k", "l.mul", "r3,r4,r5", "multiply"), ("or1k", "l.bf", "8", "branch"),
    ("or1k", "l.divu", "r3,r4,r5", "divide"), ("or1k", "l.sfeqi", "r3,0", "compare"),
    ("or1k", "l.swa", "0(r3),r4", "atomic"), ("or1k", "lf.add.s", "r3,r4,r5", "float"),
    ("or1k", "l.jalr", "r11", "jump"), ("or1k", "l.mtspr", "r0,r3,17", "system"),
    ("or1k", "l.slli", "r3,r3,2", "shift"), ("or1k", "l.nop", "0x0", "nop"),
    ("riscv64", "ld", "a0,8(sp)", "load"), ("riscv64", "fsd", "fs0,8(a0)", "store"),
    ("riscv64", "sll", "a0,a0,3", "shift"), ("riscv64", "mulw", "a0,a0,a1", "multiply"),
    ("riscv64", "remu", "a0,a0,a1", "divide"), ("riscv64", "fadd.d", "fa0,fa1,fa2", "float"),
    ("riscv64", "amoswap.w.aqrl", "a0,a1,(a2)", "atomic"),
    ("riscv64", "fence", "rw,rw", "atomic"), ("riscv64", "fence.i", "", "atomic"),
    ("riscv64", "frcsr", "a0", "system"), ("riscv64", "bgeu", "a0,a1,8", "branch"),
    ("riscv64", "sltu", "a0,a1,a2", "compare"), ("riscv64", "sext.w", "a0,a0", "move"),
    ("riscv64", "sfence.vma", "", "system"), ("riscv64", "ret", "", "jump"),
    ("x86-64", "mov", "rax,QWORD PTR [rdi]", "load"),
    ("x86-64", "mov", "DWORD PTR [rdx+0xc],eax", "store"), ("x86-64", "mov", "rax,rbx", "move"),
    ("x86-64", "lea", "rax,[rdi+8]", "move"), ("x86-64", "imul", "rax,rbx,3", "multiply"),
    ("x86-64", "div", "rcx", "divide"), ("x86-64", "jne", "8", "branch"),
    ("x86-64", "jmp", "8", "jump"), ("x86-64", "addsd", "xmm0,xmm1", "float"),
    ("x86-64", "xchg", "DWORD PTR [rdi],eax", "atomic"), ("x86-64", "shl", "rax,3", "shift"),
    ("x86-64", "movaps", "XMMWORD PTR [rdi],xmm0", "store"), ("x86-64", "push", "rbp", "store"),
    ("x86-64", "pop", "rbp", "load")]


@pytest.mark.parametrize("isa, word, operands, kind", KNOWN)
def test_the_class_of(isa, word, operands, kind):
    assert ins.classify(isa, word, operands) == kind


@pytest.mark.parametrize("isa", ["or1k", "riscv64", "x86-64"])
def test_an_unknown_instruction_is_not_guessed(isa):
    with pytest.raises(ins.Unknown, match="'frobnicate"):
        ins.classify(isa, "frobnicate", "r1")


def test_a_disassembly_is_read_by_function():
    text = ("a.o:     file format elf32-or1k\n\nDisassembly of section .text.f:\n\n00000000 <f>:\n"
            "   0:\tl.addi r1,r1,-8\n   4:\tl.mul r3,r3,r4\n"
            "00000008 <.L1>:\n   8:\tl.divu r3,r3,r4\n\t...\n0000000c <g>:\n   c:\tl.jr r9\n")
    assert ins.scan("or1k", text) == [("f", "arithmetic"), ("f", "multiply"), ("f", "divide"), ("g", "jump")]
    assert ins.scan("x86-64", "   0:\tlock add DWORD PTR [rdi],eax\n   4:\tcs nop WORD PTR [rax]\n") == [
        ("", "atomic"),
        ("", "nop"),
    ]


def test_what_a_compiler_makes_is_counted(tmp_path):
    for port, compiler in (("or1k", "or1k-elf-gcc"), ("riscv64", "riscv64-unknown-elf-gcc"), ("hosted", "gcc")):
        folder = tmp_path / port / "k" / "kernel"
        folder.mkdir(parents=True)
        (folder / "a.c").write_text("unsigned f(unsigned a, unsigned b) { return a * b; }\n"
                                    "unsigned g(unsigned a, unsigned b) { return a / b; }\n")
        subprocess.run([shutil.which(compiler), "-O2", "-c", "-o", folder / "a.o", folder / "a.c"], check=True)
        found = ins.analyse(port, str(tmp_path))
        assert ins.where(found, ("multiply",)) == {"f": 1} and ins.where(found, ("divide",)) == {"g": 1}
        assert sum(ins.counts(found)["kernel"].values()) == len(found)


def test_a_kernel_that_was_not_built_says_what_to_do(tmp_path):
    with pytest.raises(ins.rtl.Missing, match="./atoll build or1k"):
        ins.analyse("or1k", str(tmp_path))


def test_what_is_kept_is_what_was_written(tmp_path):
    tables = {"or1k": {"kernel": {k: i for i, k in enumerate(ins.CLASSES)}}}
    path = os.path.join(tmp_path, "results", "i.csv")
    ins.write(tables, path)
    assert ins.read(path) == tables
