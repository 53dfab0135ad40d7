# SPDX-License-Identifier: MIT
"""Moving images that were linked twice."""

import struct

import pytest

import rebase


class Image:
    """What rebase reads of a parsed ELF file: one segment."""

    def __init__(self, at, words, name="x"):
        self.data, self.name = struct.pack(f">{len(words)}I", *words), name
        self.segments = [self]
        self.vaddr, self.offset, self.file_bytes, self.mem_bytes = at, 0, len(self.data), len(self.data) + 8


def pair(low, high):
    return Image(0x100, low), Image(0x100 + rebase.DELTA, high)


def test_addresses_and_upper_halves_move_and_nothing_else():
    low, high = pair([7, 0x1234, 0x18600001, 0xA8630000], [7, 0x1001234, 0x18600101, 0xA8630000])
    at, data = rebase.moved(low, high, 0x2000000)
    assert at == 0x2000100 and struct.unpack(">6I", data) == (7, 0x2001234, 0x18600201, 0xA8630000, 0, 0)


def test_an_image_that_stays_is_as_it_was():
    assert rebase.moved(Image(0, [1, 2]), None, 0) == (0, struct.pack(">4I", 1, 2, 0, 0))


def test_other_differences_and_odd_distances_are_refused():
    low, high = pair([1, 2], [1, 3])
    with pytest.raises(rebase.RebaseError, match="cannot be moved"):
        rebase.moved(low, high, 0x10000)
    with pytest.raises(rebase.RebaseError, match="multiples of 64 KB"):
        rebase.moved(low, low, 0x1000)
    with pytest.raises(rebase.RebaseError, match="differ in size"):
        rebase.differences(b"1234", b"12345678", "x")
