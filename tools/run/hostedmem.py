# SPDX-License-Identifier: MIT
"""The memory of a hosted machine, seen from outside: each cluster is a child of the launcher, and its
memory a file that we map, too. Only what Linux shows of a process to its own user is needed: its
open files and its mappings.
"""

import mmap
import os
import re

import kernelmem
from ui import Failure

IMAGES = ("atoll-host", "atoll-host-trace")
FILE = "/memfd:atoll (deleted)"		# hal/cpu/hosted/host.c
MAPPING = re.compile(rf"^([0-9a-f]+)-([0-9a-f]+) \S+ 0+ \S+ \d+ +{re.escape(FILE)}$", re.M)


def read(path):
    """What stands in a file of /proc."""
    with open(path, "rb") as f:
        return f.read()


def children(pid):
    """The processes that a process has started itself."""
    return [int(word) for word in read(f"/proc/{pid}/task/{pid}/children").split()]


def link(path):
    """Where a link of /proc leads; nowhere if it is gone."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def memory_of(pid):
    """(address, memory) of a cluster's memory, where its kernel sees it. ValueError: it has none yet."""
    folder = f"/proc/{pid}/fd"
    name = next((n for n in sorted(os.listdir(folder), key=int) if link(f"{folder}/{n}") == FILE), None)
    if name is None:
        raise ValueError(f"process {pid} has no memory of a cluster")
    with open(f"{folder}/{name}", "rb") as f:
        size = os.fstat(f.fileno()).st_size
        for first, end in MAPPING.findall(read(f"/proc/{pid}/maps").decode("ascii", "replace")):
            if int(end, 16) - int(first, 16) == size:		# programs map parts of it only
                return int(first, 16), mmap.mmap(f.fileno(), size, prot=mmap.PROT_READ)
    raise ValueError(f"process {pid} does not see its memory")


class Cluster(kernelmem.Cluster):
    """A cluster's geometry, and its memory."""

    def __init__(self, number, of, base, memory):
        super().__init__(number, base, len(memory), of["cores"], of["first_core"])
        self.memory = memory


class Machine(kernelmem.View):
    """The clusters of a launcher, process `pid`, whose record is in the file `record`."""

    def __init__(self, pid, record, kernel):
        self.pid, self.kernel = pid, kernel
        image = os.stat(f"/proc/{pid}/exe")
        paths = [os.path.join(kernel.build, name) for name in IMAGES]
        if not any(os.path.exists(p) and os.path.samestat(image, os.stat(p)) for p in paths):
            raise Failure("the machine runs another build of the kernel than this one")
        self.record = kernelmem.boot_record(read(record))
        self.name, self.processes_seen = kernelmem.name_of(self.record), ()
        self._look()
        if not self.clusters:
            raise ValueError("no cluster has begun")

    def _look(self):
        """Clusters that are started again are other processes."""
        try:
            now = children(self.pid)
        except OSError:
            return				# it ends: what it did last is shown
        if now == self.processes_seen:
            return
        found = {}
        for pid in now:
            try:
                base, memory = memory_of(pid)
            except (OSError, ValueError):
                now = ()			# it begins or ends: look again
                continue
            number = int.from_bytes(memory[self.kernel.offset["cluster_id"]:][:4], "little")
            if number < self.record["clusters"]:
                found[number] = Cluster(number, self.record["cluster"][number], base, memory)
        self.clusters, self.processes_seen = [found[n] for n in sorted(found)], now

    def cores(self):
        self._look()
        return super().cores()

    def read(self, cluster, addr, size):
        at = addr - cluster.base
        return cluster.memory[at:at + size] if 0 <= at <= cluster.size - size else bytes(size)

    def root(self, cluster):
        return cluster.base			# the first thing in it

    def first_core(self, cluster):
        return self.u64(cluster, cluster.base + self.kernel.offset["cores"])


def running():
    """[(process id, path of its boot record)] of the launchers of our machines that run."""
    found, parents = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = read(f"/proc/{name}/cmdline").decode("utf-8", "replace").split("\0")
            if os.path.basename(words[0]) in IMAGES and "--record" in words[:-1]:
                path = words[words.index("--record") + 1].replace("/proc/self/", f"/proc/{name}/", 1)
                found[int(name)] = os.path.join(f"/proc/{name}/cwd", path)
                parents[int(name)] = int(re.search(rb"^PPid:\t(\d+)$", read(f"/proc/{name}/status"), re.M).group(1))
        except OSError:
            continue
    return [(pid, path) for pid, path in found.items() if parents[pid] not in found]	# clusters are their children
