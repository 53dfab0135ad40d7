# SPDX-License-Identifier: MIT
"""What a local send costs on the three paths of seed 002 (5.7.3, 5.7.4), and one between clusters
that talk over a channel, counted by the library: messages, and kernel calls other than to wake and
to wait, which depend on who is faster. Prints `ok
NAME` or `FAIL NAME: why`."""

import re
import sys

from test_apps import atoll, expect, main_of

RANKS = 4  # ranks 0 and 1 lie in one cluster, the last one in another: a job of one cluster has no mailboxes
LINE = re.compile(r"mpi counts: rank (\d): (\d+) sends; per send: ([\d.]+) messages \(([\d.]+) in "
                  r"the cluster, ([\d.]+) by mailbox, ([\d.]+) by channel, "
                  r"([\d.]+) allowed, ([\d.]+) by portal\), ([\d.]+) kernel calls")
SHARED, MAIL, FIVE = (1, 1, 0, 0, 0, 0), (1, 0, 1, 0, 0, 0), (5, 0, 3, 0, 1, 1)
CHANNEL = (1, 0, 0, 1, 0, 0)


def counted(port, path, size, rounds, placed):
    """Per rank 0 and 1: messages per send by kind, kernel calls per send."""
    status, out, err = atoll(port, RANKS, "pingpong", "--size", str(size), "--rounds", str(rounds),
                             options=["--mpi-path", path, "--map", placed, "--mpi-counts"])
    expect(status == 0, f"status {status}: {err[-300:]}")
    rows = [m.groups() for m in LINE.finditer(out)]
    expect(sorted(r[0] for r in rows) == ["0", "1"], f"counts of ranks {[r[0] for r in rows]}: {out[-300:]}")
    expect(all(int(r[1]) == rounds for r in rows), f"sends: {rows}")
    return [(tuple(float(x) for x in r[2:8]), float(r[8])) for r in rows]


def check(port, path, size, messages, calls, placed="compact"):
    """Messages are exact, and calls to one: an answer may be read on either side of where counting
    begins or ends.
    """
    rounds = 200
    for found, kernel in counted(port, path, size, rounds, placed):
        expect(found == messages, f"{path}, {size} bytes: {found} messages per send instead of {messages}")
        expect(abs(kernel - calls) < 2.5 / rounds,
               f"{path}, {size} bytes: {kernel} kernel calls per send instead of {calls}")


def test_a_local_send_is_one_message_without_a_kernel_call(port):
    for size in (8, 4096, 65536):
        check(port, "opt", size, SHARED, 0)


def test_the_unoptimised_protocol_takes_five_messages(port):
    for size in (8, 4096):
        check(port, "unopt", size, FIVE, 9)


def test_raw_messages_are_one_mailbox_message_written_and_read(port):
    check(port, "ipc", 8, MAIL, 2)


def test_between_hosted_clusters_messages_need_no_kernel_call(port):
    """The two have agreed on a channel before counting begins."""
    if port == "hosted":
        check(port, "opt", 8, CHANNEL, 0, "scatter")
    else:
        check(port, "opt", 8, MAIL, 2, "scatter")


if __name__ == "__main__":
    sys.exit(main_of(globals(), sys.argv))
