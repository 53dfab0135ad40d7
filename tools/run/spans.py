# SPDX-License-Identifier: MIT
"""Where a span of the counting plugin begins, arrives and ends (tools/plugin/span.h), from the
names of two kernel functions. Imported only when counting.
"""

import os

import elf
from ui import BUILD, Failure, Usage

RETURNS = (b"\x82\x80", b"\x67\x80\x00\x00")	# ret, compressed and not
PLUGIN_RETURNS_MAX = 8


def _code(e, addr, size):
    """The bytes of a function."""
    for seg in e.segments:
        if seg.vaddr <= addr and addr + size <= seg.vaddr + seg.file_bytes:
            at = seg.offset + addr - seg.vaddr
            return e.data[at:at + size]
    return b""


def returns(code):
    """Offsets of the return instructions in RISC-V code: instructions are two bytes long, or four
    if the lowest two bits are set.
    """
    at, out = 0, []
    while at + 2 <= len(code):
        long = code[at] & 3 == 3
        if code[at:at + (4 if long else 2)] in RETURNS:
            out.append(at)
        at += 4 if long else 2
    return out


def options(pair, kernel=None):
    """Plugin options for SENDER:HANDLER: from the sender's first instruction to the handler's, and
    back to the sender's return.

    SENDER+OTHER: the sender may go on in another function, and return from there. Handler `user`:
    until another hart goes to user mode.
    """
    e = elf.read(kernel or os.path.join(BUILD, "riscv64", "kernel.elf"))
    senders, _, handler = pair.partition(":")
    sender, *others = senders.split("+")
    found = {name: (addr, size) for addr, size, name in e.symbols() if name in (sender, *others, handler)}
    kernel_only = () if handler == "user" else (handler,)
    for name in (sender, *others, *kernel_only):
        if name not in found:
            raise Usage(f"--span {pair}: the kernel has no function '{name}'; give SENDER:HANDLER, "
                        f"as in am_call_kernel:kcall_serve_void_remote")
    addr = found[sender][0]
    if handler == "user":
        return f",from={addr:x},to=user"
    back = [found[name][0] + at for name in (sender, *others) for at in returns(_code(e, *found[name]))]
    if not 0 < len(back) <= PLUGIN_RETURNS_MAX:
        raise Failure(f"--span {pair}: {sender} has {len(back)} returns, the plugin takes 1 to {PLUGIN_RETURNS_MAX}")
    return "".join(f",{key}={value:x}" for key,
                   value in [("from", addr), ("to", found[handler][0])] + [("back", b) for b in back])
