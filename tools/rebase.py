# SPDX-License-Identifier: MIT
"""Move or1k images, whose linker makes no position-independent programs. Standard library only.

An image is linked twice, the second time `delta` higher. Words that differ hold an address, or the
upper half of one in an instruction: which of both tells the difference. Anything else that differs
cannot be moved. Images move by multiples of 64 KB, so lower halves stay.
"""

import struct

import elf

DELTA = 0x1000000
UNIT = 0x10000


class RebaseError(Exception):
    """Two links of one image that differ in more than their address; one line."""


def flatten(e):
    """(address, bytes) of an image's loaded part, zeroed data included."""
    parts = [s for s in e.segments if s.mem_bytes]
    if not parts:
        raise RebaseError(f"{e.name} has nothing to load")
    first, end = min(s.vaddr for s in parts), max(s.vaddr + s.mem_bytes for s in parts)
    data = bytearray(end - first)
    for s in parts:
        data[s.vaddr - first:s.vaddr - first + s.file_bytes] = e.data[s.offset:s.offset + s.file_bytes]
    return first, data


def differences(low, high, name, delta=DELTA):
    """Offsets of words that hold addresses, and of instructions that hold upper halves, in two flat
    images.
    """
    if len(low) != len(high):
        raise RebaseError(f"{name}: its two links differ in size")
    words, halves = [], []
    count = len(low) // 4
    for i, (a, b) in enumerate(zip(struct.unpack_from(f">{count}I", low), struct.unpack_from(f">{count}I", high))):
        if a == b:
            continue
        if b - a == delta:
            words.append(4 * i)
        elif b - a == delta >> 16:
            halves.append(4 * i)
        else:
            raise RebaseError(f"{name}: the word at {4 * i:#x} cannot be moved")
    return words, halves


def moved(low_elf, high_elf, by):
    """(address, bytes) of the image moved by `by` bytes from where low_elf was linked."""
    at, low = flatten(low_elf)
    if by == 0:
        return at, bytes(low)
    if by % UNIT:
        raise RebaseError(f"{low_elf.name} can only be moved by multiples of {UNIT >> 10} KB")
    words, halves = differences(low, flatten(high_elf)[1], low_elf.name)
    for offsets, step in ((words, by), (halves, by >> 16)):
        for i in offsets:
            struct.pack_into(">I", low, i, struct.unpack_from(">I", low, i)[0] + step & 0xffffffff)
    return at + by, bytes(low)
