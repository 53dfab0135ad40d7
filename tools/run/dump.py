# SPDX-License-Identifier: MIT
"""What a machine does that does not end: per core its program counter, mode and function.
Imported only when that happens.
"""

import os
import re

import elf

READ_S = 20


class Symbols:
    """Address -> function of some ELF files."""

    def __init__(self, *paths):
        self.table = []
        for path in paths:
            if os.path.exists(path):
                self.table += [(a, s, n) for a, s, n in elf.read(path).symbols()]
        self.table.sort()

    def name(self, addr):
        """'function+offset' or ''."""
        import bisect
        i = bisect.bisect_right(self.table, (addr, 1 << 63, "")) - 1
        if i >= 0 and addr < self.table[i][0] + max(self.table[i][1], 4):
            return f"{self.table[i][2]}+{addr - self.table[i][0]:#x}"
        return ""


def _converse(sock, command):
    """Send one monitor command; everything up to the next prompt."""
    sock.settimeout(READ_S)
    text = b""
    try:
        while not text.endswith(b"(qemu) "):
            text += sock.recv(65536)
        sock.sendall(command + b"\n")
        text = b""
        while not text.endswith(b"(qemu) "):
            part = sock.recv(65536)
            if not part:
                break
            text += part
    except OSError:
        text += b"\n(the monitor does not answer)"
    return text.decode("ascii", "replace")


def qemu(sock, build):
    """One line per hart: function, mode and registers that tell where it waits."""
    text = _converse(sock, b"info registers -a")
    symbols = Symbols(os.path.join(build, "kernel.elf"), os.path.join(build, "boot.elf"))
    lines = []
    for part in re.split(r"CPU#(?=\d)", text)[1:]:
        regs = dict(re.findall(r"(\S+)\s+([0-9a-f]{16})", part))
        get = {k.split("/")[-1]: int(v, 16) for k, v in regs.items()}
        pc, ra = get.get("pc", 0), get.get("ra", 0)
        lines.append(f"  hart {part.split()[0]:>3}: pc {pc:#x} {symbols.name(pc)}  ra {ra:#x} {symbols.name(ra)}  "
                     f"scause {get.get('scause', 0):#x} sepc {get.get('sepc', 0):#x} stval {get.get('stval', 0):#x}")
    return "\n".join(lines) or text


def or1k(sock, build):
    """One line per core of an or1k machine: where it is and where it came from."""
    text = _converse(sock, b"info registers -a")
    symbols = Symbols(os.path.join(build, "kernel.elf"))
    lines = []
    for part in re.split(r"CPU#(?=\d)", text)[1:]:
        pc = re.search(r"PC=([0-9a-f]+)", part)
        regs = {int(k): int(v, 16) for k, v in re.findall(r"R(\d\d)=([0-9a-f]+)", part)}
        at, link = int(pc.group(1), 16) if pc else 0, regs.get(9, 0)
        lines.append(f"  core {part.split()[0]:>3}: pc {at:#x} {symbols.name(at)}  r9 {link:#x} "
                     f"{symbols.name(link)}  sp {regs.get(1, 0):#x}  "
                     f"call {regs.get(11, 0)}")
    return "\n".join(lines) or text


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return "?"


def group_members(pgid):
    """Process ids of a process group, without those that only wait to be reaped."""
    out = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _read(f"/proc/{name}/stat")
            fields = stat[stat.rfind(")") + 1:].split()
            if len(fields) > 2 and fields[2] == str(pgid) and fields[0] not in "ZX":
                out.append(int(name))
    return sorted(out)


def hosted(pgid):
    """One line per thread of every cluster process: state, where it waits in Linux; with gdb
    installed, its stack.
    """
    import shutil
    import subprocess
    lines = []
    for pid in group_members(pgid):
        lines.append(f"  process {pid} {_read(f'/proc/{pid}/comm')}")
        if shutil.which("gdb"):
            try:
                p = subprocess.run(["gdb", "-p", str(pid), "-batch", "-nx", "-ex",
                                    "set pagination off", "-ex", "thread apply all bt 8"],
                                   capture_output=True, text=True, timeout=READ_S, errors="replace")
                lines += ["    " + line for line in p.stdout.splitlines() if re.match(r"#|Thread ", line)]
                continue
            except subprocess.TimeoutExpired:
                pass
        for tid in sorted(os.listdir(f"/proc/{pid}/task"), key=int) if os.path.isdir(f"/proc/{pid}/task") else ():
            task = f"/proc/{pid}/task/{tid}"
            state = re.search(r"State:\s*(.*)", _read(task + "/status"))
            lines.append(f"    thread {tid} {_read(task + '/comm')}: "
                         f"{state.group(1) if state else '?'}, call {_read(task + '/syscall')}, "
                         f"{_read(task + '/wchan')}")
    return "\n".join(lines)
