# SPDX-License-Identifier: MIT
"""Ranks that the kernel stops wherever they are, on the hosted port (tests/hosted/waits.c). Needs the hosted port built."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import test_hosted as hosted  # noqa: E402


def program(ranks, args, rate=1, m=None, limit_s=hosted.PATIENCE_S, extra=()):
    """Run a program (its name first) to its end on a machine whose clock runs `rate` times as fast as the host's."""
    extra = ["--clock-rate", str(rate), *extra]
    with hosted.running(ranks, [":" + args[0], *args[1:]], m=m, extra=extra) as run:
        run.end(limit_s)
    return run


def well(run):
    """It ended well."""
    assert run.status == 0 and "FAIL" not in run.output, run.output


def test_waits_in_linux_end_at_their_time_in_a_storm_of_doorbells():
    well(program(2, ["waits", "storm"], m=hosted.shape(1, 2)))


if __name__ == "__main__":
    sys.exit(hosted.main(sys.argv[1:], globals()))
