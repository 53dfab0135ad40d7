# SPDX-License-Identifier: MIT
"""Servers are killed under a stress of everything, also where processes use folders of the host, and
at length on a machine with clusters of 2 MB; and a host whose disk is full. Needs riscv64 built.
usage: test_kills.py some | all: a few hundred kills, or 10,000 and more

Prints `ok NAME` or `FAIL NAME: why` for each, and `skip` where Linux gives us no small disk.
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_jobs import BUILD, ROOT, Wrong, expect, main, patience  # noqa: E402

BUSY_S = 1200		# of a host that does other things, too, for the longest run
IN_SMALL_DISK = ["unshare", "-Urm", "sh", "-c", 'mount -t tmpfs -o size=1m none "$0" && exec "$@"']


def job(program, *args, machine="riscv-4x4", ranks=1, options=(), before=()):
    """Run a job; (status, output)."""
    argv = [*before, os.path.join(ROOT, "atoll"), "run", "-n", str(ranks), "--port", "riscv64", "--machine", machine,
            "--timeout", str(BUSY_S), "--map", "scatter", *options,
            os.path.join(BUILD, "riscv64", "tests", program), *args]
    r = patience.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     timeout=BUSY_S + 60, check=False)
    return r.returncode, r.stdout.decode(errors="replace")


def killed(seed, kills, machine="riscv-4x4", ranks=1, more=(), options=()):
    """So many kills, after which each count is what it was; each is said."""
    have = job("servers_killed", str(seed), str(kills), *more, machine=machine, ranks=ranks,
               options=("--end-servers", *options))
    expect(have, 0, *(f"ok rank {r}: servers killed" for r in range(ranks)))
    ended = have[1].count("was ended by signal 9, and is started again")
    if ended < kills // 2:		# one that was dying already is not killed again
        raise Wrong(f"only {ended} servers were ended")


def killed_with_share(seed, kills, ranks=1):
    """The files lie on the host, where none is left."""
    with tempfile.TemporaryDirectory(prefix="atoll-kills-") as folder:
        killed(seed, kills, ranks=ranks, more=("/share",), options=("--share", folder))
        left = [name for name in os.listdir(folder) if not name[0].isdigit() and name not in ("own", "own.other")]
        if left:
            raise Wrong(f"the host has {left}")


def killed_in_small_cluster():
    """Of 2 MB. Each worker and its child have channels of their own, more than a window of mppa256 has pages for."""
    with open(os.path.join(ROOT, "machines", "mppa256.toml"), encoding="utf-8") as f:
        text = f.read()
    with tempfile.NamedTemporaryFile("w", suffix=".toml", prefix="atoll-small-") as machine:
        machine.write(text.replace('channels = "16K"', 'channels = "128K"'))
        machine.flush()
        killed(105, 20, machine=machine.name)


def killed_with_parts(seed, kills, ranks=1):
    """File servers of three clusters; files of workers are in the part of cluster 1's, which is killed, too."""
    killed(seed, kills, ranks=ranks, more=("/n/1", "1"), options=("--tree", "1", "--tree", "2"))


def full_disk():
    with tempfile.TemporaryDirectory(prefix="atoll-full-") as folder:
        if subprocess.run([*IN_SMALL_DISK, folder, "true"], capture_output=True, check=False).returncode != 0:
            print("skip a_full_disk_of_the_host_is_said: no disk of our own", flush=True)
            return
        have = job("full", "/share", options=("--share", folder), before=(*IN_SMALL_DISK, folder))
        expect(have, 0, "ok rank 0")


def some(_):
    yield "a_full_disk_of_the_host_is_said", full_disk
    yield "servers_are_killed_while_files_of_the_host_are_used", lambda: killed_with_share(5, 60)
    yield "servers_are_killed_while_files_of_the_host_are_used_3", lambda: killed_with_share(6, 40, ranks=3)


def outlived(seed, kills):
    have = job("outlives", str(seed), str(kills), options=("--end-servers",))
    expect(have, 0, "ok rank 0")


def every(_):
    for seed in range(4):
        yield f"files_in_memory_outlive_2500_servers_{seed}", lambda s=seed: outlived(200 + s, 2500)
    for seed in range(4):
        yield f"2500_servers_are_killed_{seed}", lambda s=seed: killed(100 + s, 2500)
    for seed, ranks in enumerate((1, 1, 3, 4)):
        yield f"2500_of_several_file_servers_are_killed_{seed}", \
            lambda s=seed, n=ranks: killed_with_parts(300 + s, 2500, ranks=n)
    yield "1000_servers_are_killed_with_files_of_the_host", lambda: killed_with_share(104, 1000)
    yield "20_servers_are_killed_in_a_small_cluster", killed_in_small_cluster


if __name__ == "__main__":
    sys.exit(main(["riscv64"], every if sys.argv[1:] == ["all"] else some))
