# SPDX-License-Identifier: MIT
"""The measures count what they say."""

import pytest

from checks import measures, source


def test_a_spread_is_median_95_percent_and_most():
    assert measures.spread(range(1, 101)) == "50/96/100" and measures.spread([]) == "-"


def test_headers_are_counted_through_others_and_once(tree):
    tree("base/a.h", "")
    tree("hal/include/hal/b.h", "#include <base/a.h>\n")
    tree("kernel/c.h", "#include <base/a.h>\n#include <hal/b.h>\n#include <stdint.h>\n")
    root = tree("kernel/d.c", '#include "c.h"\n')
    assert measures.Headers(root).of("kernel/d.c") == {"kernel/c.h", "hal/include/hal/b.h", "base/a.h"}


def test_a_body_that_stands_twice_is_found_and_a_short_one_is_not(tree):
    long, short = "{\n" + "\tx();\n" * 4 + "}\n", "{\n\tx();\n}\n"
    tree("base/a.c", "int\nf(void)\n" + long + "int\ng(void)\n" + short)
    root = tree("base/b.c", "int\nh(void)\n" + long.replace("\tx", "\t\tx") + "int\ni(void)\n" + short)
    assert measures.copies(measures.files_of(root, source.ROOMS)) == [[("base/a.c", "f"), ("base/b.c", "h")]]


def test_a_row_has_a_cell_for_each_column(tree):
    root = tree("base/a.c", "/* a */\nint\nf(void)\n{\n}\n#if X\n#endif\n")
    cells = measures.row(root, "all", source.ROOMS, measures.Headers(root))
    assert len(cells) == len(measures.COLUMNS)
    assert cells == ("all", "1", "7/7/7", "1", "3/3/3", "142.9", "14", "0", "0", "0", "0")


def test_tests_are_no_part_of_it(tree):
    tree("base/a_test.c", "")
    assert measures.files_of(tree("tests/x/a.c", ""), source.ROOMS) == []
