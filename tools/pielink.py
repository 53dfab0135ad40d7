# SPDX-License-Identifier: MIT
"""Link a static position-independent program for or1k: pielink.py LINKER... -o OUT ARG...

Links twice with user/cpu/or1k/program.ld, at 0 and elsewhere; the words that differ are the
program's relative relocations (tools/rebase.py). They are counted first, as their table is part of
the program. Standard library only.
"""

import os
import struct
import subprocess
import sys

import elf
import rebase

RELATIVE = 21                   # R_OR1K_RELATIVE
RELA_BYTES = 12
HEADERS = 52 + 3 * 32             # of the file, loaded with it, and read by nobody there


def link(argv, out, base, rela_bytes):
    """One link. Returns the parsed program."""
    line = argv + ["-o", out, f"-Wl,--defsym,BASE={base:#x}", f"-Wl,--defsym,RELA_BYTES={rela_bytes}"]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return elf.read(out)


def relocations(argv, out, rela_bytes):
    """(the program at 0, offsets of the words that move with it)."""
    moved = link(argv, out + ".moved", rebase.DELTA, rela_bytes)
    program = link(argv, out, 0, rela_bytes)
    words, halves = rebase.differences(rebase.flatten(program)[1], rebase.flatten(moved)[1], out)
    words = [w for w in words if w >= HEADERS]
    if halves:
        raise rebase.RebaseError(f"{out}: the instruction at {halves[0]:#x} is not position-independent")
    return program, words


def finish(program, words):
    """The program's bytes with its table of relocations, as a shared object's."""
    data, (text, rw) = bytearray(program.data), program.segments[:2]
    image = rebase.flatten(program)[1]
    table = b"".join(struct.pack(">III", at, RELATIVE, struct.unpack_from(">I", image, at)[0]) for at in words)
    at = text.file_bytes - len(table)           # the table ends the text segment
    data[text.offset + at:text.offset + at + len(table)] = table
    struct.pack_into(">IIIIII", data, rw.offset, 7, text.vaddr + at, 8, len(table), 0, 0)
    struct.pack_into(">H", data, 16, elf.ET_DYN)
    return bytes(data)


def main(argv):
    """Exit status: the linker's."""
    i = argv.index("-o")
    out, argv = argv[i + 1], argv[:i] + argv[i + 2:]
    try:
        words = relocations(argv, out, 0)[1]
        program, again = relocations(argv, out, RELA_BYTES * len(words))
        if len(again) != len(words):
            raise rebase.RebaseError(f"{out}: its relocations change with their table")
        with open(out, "wb") as f:
            f.write(finish(program, again))
    except (rebase.RebaseError, elf.ElfError) as e:
        os.unlink(out)
        print(f"pielink: {e}", file=sys.stderr)
        return 1
    finally:
        if os.path.exists(out + ".moved"):
            os.unlink(out + ".moved")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
