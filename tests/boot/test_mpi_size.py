# SPDX-License-Identifier: MIT
"""What MPI adds to a static program on bare metal that sends and receives: the library, linked for
the functions that it calls. As test_boot.py.
"""

import os
import re
import sys
import tempfile

import qemu
from test_boot import main

import patience  # noqa: E402
import setup  # noqa: E402

MPI_MAX = 64 << 10
CALLS = ("MPI_Init", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Send", "MPI_Recv", "MPI_Finalize")
# what is written, or holds addresses, is each rank's own: four pages, five where they lie askew, of
# the 13 that a rank of twelve has in 2 MB
PRIVATE_MAX = 16 << 10
# two pages: one more takes 7,000 instructions of each spawn and fork
PERSONALITY_MAX = 8 << 10
LIBRARY = os.path.join(qemu.BUILD, "lib", "libmpi_abi.a")


def sizes(calls):
    """Bytes of text, read-only data and data, by the beginning of the section's name, of the
    library's part of a program with these calls.
    """
    with tempfile.TemporaryDirectory(prefix="atoll-size-") as folder:
        out = os.path.join(folder, "part.o")
        roots = [word for call in calls for word in ("-u", call)]
        patience.run([setup.zig(), "ld.lld", "-r", "--gc-sections", *roots, "-o", out, LIBRARY], check=True, timeout=60)
        text = patience.run(["riscv64-unknown-elf-size", "-A", out], check=True, capture_output=True,
                            text=True, timeout=60).stdout
    found = {}
    for name, size in re.findall(r"^\.(text|rodata|srodata|data|sdata)\S*\s+(\d+)", text, re.M):
        found[name] = found.get(name, 0) + int(size)
    return found


def test_mpi_in_a_program_that_sends_and_receives_is_within_its_size():
    found = sizes(CALLS)
    assert found["text"] > 8 << 10 and found["rodata"] > 0, found
    assert sum(found.values()) <= MPI_MAX, found
    print(f"in all: {sum(found.values()) / 1024:.1f} KB")		# the README's figure


def private_bytes(program):
    """Of the segment that is each process's own."""
    text = patience.run(["riscv64-unknown-elf-readelf", "-lW", program], check=True,
                        capture_output=True, text=True, timeout=60).stdout
    private = [int(size, 16) for size in re.findall(r"^ +LOAD(?: +0x\w+){4} +(0x\w+) +RW ", text, re.M)]
    assert len(private) == 1, text
    return private[0]


def test_what_each_rank_has_of_its_own_is_within_its_size():
    assert 4096 < private_bytes(os.path.join(qemu.BUILD, "tests", "small_memory")) <= PRIVATE_MAX


def test_what_each_process_has_of_the_personality_is_within_its_size():
    assert 4096 < private_bytes(os.path.join(qemu.BUILD, "bin", "personality")) <= PERSONALITY_MAX


def test_more_calls_are_more_bytes():
    assert sum(sizes(CALLS + ("MPI_Allreduce",)).values()) > sum(sizes(CALLS).values())


if __name__ == "__main__":
    sys.exit(main(globals()))
