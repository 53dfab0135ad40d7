# SPDX-License-Identifier: MIT
"""Read what we need of an ELF file: header, program headers, symbols. Standard library only."""

import struct

ET_EXEC, ET_DYN = 2, 3
PT_LOAD, PT_INTERP = 1, 3
PF_X, PF_W, PF_R = 1, 2, 4
NOTYPE, OBJECT, FUNCTION = 0, 1, 2	# kinds of symbols
MACHINES = {62: "x86_64", 243: "riscv64", 92: "or1k"}


class ElfError(Exception):
    """Not an ELF file that we can use; the message says why."""


class Segment:
    """One loadable part of an image."""

    def __init__(self, flags, offset, vaddr, file_bytes, mem_bytes):
        self.flags, self.offset, self.vaddr = flags, offset, vaddr
        self.file_bytes, self.mem_bytes = file_bytes, mem_bytes


class Elf:
    """The parsed head of an ELF file held in memory."""

    def __init__(self, data, name="file"):
        self.data, self.name = data, name
        if len(data) < 52 or data[:4] != b"\x7fELF":
            raise ElfError(f"{name} is not an ELF program")
        wide = data[4] == 2
        order = {1: "<", 2: ">"}.get(data[5])
        if order is None or data[4] not in (1, 2):
            raise ElfError(f"{name} is a damaged ELF file")
        self.wide, self.order = wide, order
        try:
            self._header()
        except struct.error:
            raise ElfError(f"{name} is a damaged ELF file") from None

    def _header(self):
        form = self.order + ("HHIQQQIHHHHHH" if self.wide else "HHIIIIIHHHHHH")
        (self.type, machine, _, self.entry, phoff, self.shoff, _, _, phentsize, phnum,
         self.shentsize, self.shnum, self.shstrndx) = struct.unpack_from(form, self.data, 16)
        self.machine = MACHINES.get(machine, f"machine {machine}")
        self.segments, self.interpreter = [], False
        for i in range(phnum):
            kind, seg = self._program_header(phoff + i * phentsize)
            if kind == PT_INTERP:
                self.interpreter = True
            if kind == PT_LOAD:
                if seg.offset + seg.file_bytes > len(self.data) or seg.file_bytes > seg.mem_bytes:
                    raise ElfError(f"{self.name} is cut short")
                self.segments.append(seg)

    def _program_header(self, at):
        if self.wide:
            kind, flags, offset, vaddr, _, filesz, memsz, _ = struct.unpack_from(self.order + "IIQQQQQQ", self.data, at)
        else:
            kind, offset, vaddr, _, filesz, memsz, flags, _ = struct.unpack_from(self.order + "IIIIIIII", self.data, at)
        return kind, Segment(flags, offset, vaddr, filesz, memsz)

    def is_static_pie(self):
        """True for what the loader takes: position-independent, no dynamic loader."""
        return self.type == ET_DYN and not self.interpreter and bool(self.segments)

    def section_names(self):
        """Names of the sections, in their order."""
        form = self.order + ("IIQQQQIIQQ" if self.wide else "IIIIIIIIII")
        sections = [struct.unpack_from(form, self.data, self.shoff + i * self.shentsize) for i in range(self.shnum)]
        names = [sections[self.shstrndx][4] + s[0] for s in sections]
        return [self.data[at:self.data.index(b"\0", at)].decode("ascii", "replace") for at in names]

    def symbols(self, kinds=(FUNCTION,)):
        """Yield (address, size, name) of the functions in the symbol table, if it has one."""
        form, symbol, size = ("IIQQQQIIQQ", "IBBHQQ", 24) if self.wide else ("IIIIIIIIII", "IIIBBH", 16)
        sections = [struct.unpack_from(self.order + form, self.data, self.shoff + i * self.shentsize)
                    for i in range(self.shnum)]
        for sec in sections:
            if sec[1] != 2:
                continue
            names = sections[sec[6]]
            for at in range(sec[4], sec[4] + sec[5], size):
                name, info, value, length = self._symbol(symbol, at)
                if info & 15 in kinds and value:
                    start = names[4] + name
                    yield value, length, self.data[start:self.data.index(b"\0", start)].decode("ascii", "replace")

    def _symbol(self, form, at):
        """(offset of the name, info, value, size) of a symbol."""
        f = struct.unpack_from(self.order + form, self.data, at)
        return (f[0], f[1], f[4], f[5]) if self.wide else (f[0], f[3], f[1], f[2])


def read(path):
    """Parse the ELF file at path."""
    try:
        with open(path, "rb") as f:
            return Elf(f.read(), path)
    except OSError as e:
        raise ElfError(f"{path}: {e.strerror}") from None
