# SPDX-License-Identifier: MIT
"""Tests of stackdepth.py on disassemblies written by hand: each way in which a stack could be
deeper than thought is noticed.
"""
import pytest

import stackdepth

ENTRY = "hal_trap"


def riscv(**functions):
    """A disassembly: name -> (frame, what it does): a name is a call, `*` a call through a pointer,
    `->` a jump to a name.
    """
    at = {name: 0x1000 * (i + 1) for i, name in enumerate(functions)}
    out = []
    for name, (frame, does) in functions.items():
        out.append(f"{at[name]:016x} <{name}>:")
        out += [f"{at[name]:x}:\tadd\tsp,sp,-{frame}"] if frame else []
        for what in does.split():
            if what == "*":
                out.append(f"{at[name]:x}:\tjalr\ta5")
            elif what.startswith("->"):
                out.append(f"{at[name]:x}:\tj\t{at[what[2:]]:016x} <{what[2:]}>")
            else:
                out.append(f"{at[name]:x}:\tjal\t{at[what]:016x} <{what}>")
        out.append(f"{at[name]:x}:\tret")
    return "\n".join(out)


def depth(text, arch=stackdepth.Riscv):
    functions = stackdepth.parse(text, arch)
    found = stackdepth.Depth(functions)
    return max(found.below(at) for at in stackdepth.resolve(functions))


def test_the_deepest_way_counts():
    text = riscv(hal_trap=(0, "a b"), a=(32, "c"), b=(16, "->d"), c=(16, ""), d=(64, "c"))
    assert depth(text) == (96, (ENTRY, "b", "d", "c"))


def test_calls_through_pointers_go_where_the_table_says():
    text = riscv(hal_trap=(0, "sweep_send"), sweep_send=(16, "*"), shoot_down=(400, ""), core_evict=(32, ""))
    assert depth(text) == (416, (ENTRY, "sweep_send", "shoot_down"))


def test_copies_that_the_compiler_makes_count_as_their_function():
    text = riscv(hal_trap=(0, "sweep_send.isra.0"),
                 **{"sweep_send.isra.0": (16, "*"), "shoot_down.constprop.0": (48, "")})
    assert depth(text) == (64, (ENTRY, "sweep_send", "shoot_down"))


@pytest.mark.parametrize("functions, message", [
    ({"hal_trap": (0, "a"), "a": (16, "*")}, "a calls through a pointer"),
    ({"hal_trap": (0, "a"), "a": (16, ""), "b": (16, "")}, "nobody calls b"),
    ({"hal_trap": (0, "a"), "a": (16, "b"), "b": (16, "a")}, "recursion: a b a"),
])
def test_what_is_not_understood_is_an_error(functions, message):
    with pytest.raises(stackdepth.Wrong, match=message):
        depth(riscv(**functions))


def test_frames_that_functions_of_the_library_make_are_their_callers():
    text = riscv(hal_trap=(0, "a b"), a=(32, "__riscv_save_3 c ->__riscv_restore_3"), c=(16, ""),
                 b=(16, "__riscv_save_4"), __riscv_save_4=(112, ""), __riscv_save_3=(32, "*"),
                 __riscv_restore_3=(0, ""))
    assert depth(text) == (128, (ENTRY, "b"))
    assert depth(text.replace("save_4", "save_1")) == (80, (ENTRY, "a", "c"))


def test_recursion_that_is_bounded_counts_as_often():
    assert depth(riscv(hal_trap=(0, "event_send"), event_send=(16, "event_take"),
                       event_take=(32, "event_send")))[0] == 3 * 48


def test_a_frame_of_unknown_size_is_an_error():
    with pytest.raises(stackdepth.Wrong, match="unknown size"):
        depth("0000000000001000 <hal_trap>:\n1000:\tsub\tsp,sp,a0")


def test_or1k_is_read_too():
    text = (
        "00000c00 <kernel_call>:\n c00:\tl.jal 2000 <f>\n c04:\tl.addi r1,r1,-8\n\n00002000 <f>:\n 2000:\tl.addi"
        " r1,r1,-120\n 2004:\tl.jr r9"
    )
    assert depth(text, stackdepth.Or1k) == (128, ("kernel_call", "f"))


def test_recursion_is_counted_once_from_wherever_it_is_entered():
    functions = riscv(hal_trap=(0, "event_take event_send"), event_take=(32, "event_send"),
                      event_send=(16, "event_take"))
    assert depth(functions)[0] == 4 * 32 + 3 * 16
