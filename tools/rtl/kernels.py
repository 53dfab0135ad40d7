# SPDX-License-Identifier: MIT
"""Builds of the or1k kernel for clusters whose data caches nobody keeps coherent (CACHES of
mk/tune.mk), made when they are needed.
"""

import os
import subprocess

from codesign import layout, rtl

WAYS = ("whole", "flash", "lines", "drop")
FOLDER = os.path.join("build", "codesign", "caches")


class KernelError(Exception):
    """A kernel that does not build; what make said."""


def path(way, order=None, leave_out=0, image="kernel"):
    """Path (without ending) of an image: `way` is how it mends the caches, None for coherent ones;
    `order` is the seed of a random order of its functions (tools/codesign/layout.py), None for the
    order of the port.

    leave_out: a defect, for tests (HAL_CACHES_LEAVE_OUT).
    """
    folder = os.path.join(FOLDER, (way or "none") + (f"-without{leave_out}" if leave_out else ""))
    target = os.path.join(folder, "or1k", image)
    wanted = [target + ".elf", target + "-moved.elf"] if order is None else ["loose"]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    argv = ["make", "-s", "-C", rtl.ROOT, "--no-print-directory", "PORT=or1k", f"BUILD={folder}",
            f"CACHES={way or 'none'}",
            *([f"LEAVE_OUT={leave_out}"] if leave_out else []), *wanted]
    p = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, errors="replace")
    if p.returncode:
        raise KernelError(f"the kernel for data caches mended by {way} does not build:\n" +
                          "\n".join(p.stdout.splitlines()[-12:]))
    built = os.path.join(rtl.ROOT, target)
    if order is None:
        return built
    try:
        return layout.link(f"{built}-loose.o", layout.SCRIPT, f"{built}-order{order}", order, layout.own_order())
    except layout.LinkError as e:
        raise KernelError(str(e)) from None
