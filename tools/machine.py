# SPDX-License-Identifier: MIT
"""Read a machine description (machines/NAME.toml) and check it. Standard library only.

    description = "..."                  one line for `atoll machines`
    ports = ["hosted", "riscv64"]        where it can run; or1k has to be named
    [noc]                                all optional (the table NOC below)
    mailbox_ports = 32                   per cluster; rank i of a cluster owns port 8 + i if several clusters take ranks
    mailbox_connectors = 1               slots that each cluster has at each other for all its ports;
                                         without it, as many as ports
    portal_unit = "4K"                   bytes of one portal block
    portal_connectors = 1                blocks that each cluster has room for, for all its portal ports;
                                         without it, as many as ports
    channels = "64K"                     memory of each cluster for channels of its processes
    [[cluster]]                          in order; cluster 0 runs the name server and the job's leader
    count = 4                            how many alike
    kernel = "TC"                        role of core 0: "TC" (kernel and programs) or "KC" (kernel only)
    service = 0                          TC cores after it (without any TC, the kernel makes the
                                         last AC one, for the cluster's server)
    application = 3                      AC cores after those, or "host": as many as the host has CPUs
    memory = "64M"
    domains = 1                          memory domains: equal parts of the memory and of the cores,
                                         2^n of each; where there are several, also:
    policy = "amp"                       who is put where (the table POLICIES below); NAME@POLICY in
                                         the place of a machine's name is the machine with another one
    far_cost = 1.0                       what an access to another domain costs beside one to the own:
                                         for models; no port makes it so
    [hardware]                           optional: the cluster's cores in RTL (tools/rtl/config.py)
"""

import os
import re
import tomllib

import cheader

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# the limits and the boot record, where C has them
C = cheader.Header(*(os.path.join(ROOT, *path.split("/")) for path in (
    "abi/limits.abi.h", "abi/boot.h", "abi/window.abi.h", "kernel/cluster.h",
    "user/include/atoll/personality.h", "servers/proc/part.h")))
THREADS_OF_SERVERS = 32                                         # left to servers and to threads that programs start
PORTS = ("hosted", "riscv64", "or1k")
DEFAULT_PORTS = ("hosted", "riscv64")
FOLDER = os.path.join(ROOT, "machines")


class MachineError(Exception):
    """A machine that does not exist or a description that cannot be used; one line."""


class Cluster:
    """One cluster: the roles of its cores, its memory, and its memory domains."""

    def __init__(self, roles, mem_bytes, domains=1, policy="amp", far_cost=1.0):
        self.roles, self.mem_bytes = roles, mem_bytes
        self.domains, self.policy, self.far_cost = domains, policy, far_cost


class Machine:
    """A checked machine."""

    def __init__(self, name, description, ports, noc, clusters):
        self.name, self.description, self.ports, self.clusters = name, description, ports, clusters
        self.hardware = None                    # the table [hardware], unchecked
        self.noc = noc                          # by the names of the boot record's fields

    def cores(self):
        """Cores of the whole machine."""
        return sum(len(c.roles) for c in self.clusters)

    def rank_clusters(self):
        """Numbers of the clusters that take ranks: those with application cores; without any, those
        with a TC.
        """
        having = [i for i, c in enumerate(self.clusters) if "AC" in c.roles]
        return having or [i for i, c in enumerate(self.clusters) if "TC" in c.roles]

    def places(self):
        """(cluster, first core for ranks, how many, bytes of memory) of each cluster that takes
        ranks.
        """
        return [self.place(i) for i in self.rank_clusters()]

    def place(self, i):
        """That of cluster i; None: it has no core for ranks."""
        roles = self.clusters[i].roles
        role = "AC" if "AC" in roles else "TC"
        return (i, roles.index(role), roles.count(role), self.clusters[i].mem_bytes) if role in roles else None

    def roomiest(self):
        """The cluster with the most memory for a rank: of equals the first that takes ranks, if one does."""
        having = [i for i in range(len(self.clusters)) if self.place(i)]
        return min(having, key=lambda i: (-self.clusters[i].mem_bytes, i not in self.rank_clusters(), i))

    def ranks_max(self):
        """How many ranks a job can have.
        In several clusters each rank needs a port; in a single one, a thread only.
        """
        clusters = self.rank_clusters()
        if len(clusters) > 1:
            return len(clusters) * (min(self.noc["mailbox_ports"], self.noc["portal_ports"]) - C.BASE_PORT)
        threads = min(max(self.clusters[clusters[0]].mem_bytes // C.THREAD_BYTES, C.THREADS_MIN), C.THREADS_MAX)
        if "riscv64" in self.ports:
            threads = min(threads, C.PERSONALITY_THREADS_MAX)
        return threads - THREADS_OF_SERVERS

    def shape(self):
        """A short text: clusters x cores, runs of equal ones joined."""
        runs = []
        for c in self.clusters:
            if runs and runs[-1][1] == len(c.roles):
                runs[-1][0] += 1
            else:
                runs.append([1, len(c.roles)])
        return " + ".join(f"{n}x{k}" for n, k in runs)


def parse_bytes(text, what):
    """'64M' -> 67108864."""
    m = re.fullmatch(r"(\d+)\s*([KMG]?)i?B?", str(text))
    if not m:
        raise MachineError(f"{what} must be a size like \"64M\", not {text!r}")
    return int(m.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30}[m.group(2)]


# Of seed 003: where new threads go, and where pages come from. "own": the process's domain first, then the
# next ones in a ring; "other": the next ones first; "zero": domain 0 first; "turns": all in turn.
POLICIES = {
    "smp": ("turns", "turns"),
    "smpcol0": ("turns", "zero"),
    "amp": ("own", "own"),
    "ampbadcol": ("other", "own"),
    "ampcol0": ("own", "zero"),
}


def order_of(rule, domains):
    """For each domain the domains in the order of choice."""
    first = {"own": 0, "turns": 0, "other": 1}.get(rule)
    return [[k if first is None else (d + first + k) % domains for k in range(domains)] for d in range(domains)]


def _number(table, key, default, low, high, where):
    value = table.get(key, default)
    if type(value) is not int or not low <= value <= high:
        raise MachineError(f"{where}: {key} must be a number from {low} to {high}, not {value!r}")
    return value


def _known(table, keys, where):
    for key in table:
        if key not in keys:
            raise MachineError(f"{where}: unknown key '{key}' (known: {', '.join(keys)})")


def _power_of_two(n):
    return n > 0 and n & (n - 1) == 0


def host_cpus():
    """CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def _cluster(table, where):
    """Expand one [[cluster]] table to a list of Cluster."""
    _known(table, ("count", "kernel", "kernel_cores", "service", "application", "memory", "domains", "policy",
                   "far_cost"), where)
    count = _number(table, "count", 1, 1, C.CLUSTERS_MAX, where)
    kernel = table.get("kernel", "TC")
    if kernel not in ("TC", "KC"):
        raise MachineError(f"{where}: kernel must be \"TC\" or \"KC\", not {kernel!r}")
    service = _number(table, "service", 0, 0, C.CLUSTER_CORES_MAX, where)
    kernel_cores = _number(table, "kernel_cores", 0, 0, C.CLUSTER_CORES_MAX, where)
    if table.get("application") == "host":
        application = min(host_cpus(), C.CLUSTER_CORES_MAX - 1 - service - kernel_cores)
    else:
        application = _number(table, "application", 0, 0, C.CLUSTER_CORES_MAX, where)
    roles = [kernel] + ["TC"] * service + ["AC"] * application + ["KC"] * kernel_cores
    if len(roles) > C.CLUSTER_CORES_MAX:
        raise MachineError(f"{where}: {len(roles)} cores; a cluster has at most {C.CLUSTER_CORES_MAX}")
    if not {"TC", "AC"} & set(roles):
        raise MachineError(f"{where}: a KC alone runs no program; add service or application cores")
    mem = parse_bytes(table.get("memory", "64M"), f"{where}: memory")
    if not _power_of_two(mem) or mem < 1 << 20:
        raise MachineError(f"{where}: memory must be a power of two of at least 1M (it is fenced as one region)")
    return [Cluster(roles, mem, *_domains(table, len(roles), mem, where))] * count


def _domains(table, cores, mem, where):
    """(how many memory domains, policy, cost ratio) of a table [[cluster]]."""
    domains = _number(table, "domains", 1, 1, C.DOMAINS_MAX, where)
    policy, cost = table.get("policy", "amp"), table.get("far_cost", 1.0)
    if domains == 1 and ("policy" in table or "far_cost" in table):
        raise MachineError(f"{where}: policy and far_cost are for a cluster with several domains")
    each, rest = divmod(cores, domains)
    if not _power_of_two(domains) or domains > 1 and (rest or not _power_of_two(each) or mem // domains < 2 << 20):
        raise MachineError(f"{where}: domains must be 2^n equal parts of 2^n cores and of 2M at least each")
    if policy not in POLICIES:
        raise MachineError(f"{where}: policy must be one of {', '.join(POLICIES)}, not {policy!r}")
    if type(cost) not in (int, float) or not 1 <= cost <= 100:
        raise MachineError(f"{where}: far_cost must be a number from 1 to 100, not {cost!r}")
    return domains, policy, float(cost)


def number(default, low, high):
    """How a key with a number is read."""
    return lambda table, key, where: _number(table, key, default, low, high, where)


def block(default, step, high):
    """How a key with a size is read: a multiple of `step`."""
    def read(table, key, where):
        size = parse_bytes(table.get(key, default), f"{where}: {key}")
        if not step <= size <= high or size % step:
            raise MachineError(f"{where}: {key} must be a multiple of {step} from {step} to {high >> 20}M")
        return size
    return read


# key of [noc] -> (field of struct boot_record, how it is read)
NOC = {
    "mailbox_ports": ("mailbox_ports", number(32, C.BASE_PORT + 1, C.PORTS_MAX)),       # per cluster
    "portal_ports": ("portal_ports", number(32, C.BASE_PORT + 1, C.PORTS_MAX)),
    "portal_unit": ("portal_unit_bytes", block("4K", C.WINDOW_LINE, 1 << 20)),
    "channels": ("channel_bytes", block("64K", 8 << 10, 1 << 20)),
    "heartbeat_ms": ("heartbeat_ms", number(0, 0, 60000)),                              # 0: none
    "mailbox_connectors": ("mailbox_connectors", number(0, 0, C.PORTS_MAX)),            # 0: as many as ports
    "portal_connectors": ("portal_connectors", number(0, 0, C.PORTS_MAX)),
}


def read_noc(table, where="[noc]"):
    """The fields of the boot record that a table [noc] says, all of them."""
    _known(table, NOC, where)
    noc = {field: read(table, key, where) for key, (field, read) in NOC.items()}
    for kind in ("mailbox", "portal"):
        noc[kind + "_connectors"] = min(noc[kind + "_connectors"] or C.PORTS_MAX, noc[kind + "_ports"])
    return noc


def parse(name, text):
    """Check the text of a description."""
    where = f"machine {name}"
    try:
        top = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise MachineError(f"{where}: {e}") from None
    _known(top, ("description", "ports", "noc", "cluster", "hardware"), where)
    ports = top.get("ports", list(DEFAULT_PORTS))
    if not isinstance(ports, list) or not ports or any(p not in PORTS for p in ports):
        raise MachineError(f"{where}: ports must name some of {', '.join(PORTS)}")
    tables = top.get("cluster", [])
    if not isinstance(tables, list) or not tables:
        raise MachineError(f"{where}: needs at least one [[cluster]]")
    clusters = []
    for i, table in enumerate(tables):
        clusters += _cluster(table, f"{where}, [[cluster]] {i + 1}")
    if len(clusters) > C.CLUSTERS_MAX:
        raise MachineError(f"{where}: {len(clusters)} clusters; a machine has at most {C.CLUSTERS_MAX}")
    machine = Machine(name, str(top.get("description", "")), ports,
                      read_noc(top.get("noc", {}), f"{where}, [noc]"), clusters)
    machine.hardware = top.get("hardware")
    if machine.hardware is not None and not isinstance(machine.hardware, dict):
        raise MachineError(f"{where}: hardware must be a table")
    if machine.cores() > C.CORES_MAX:
        raise MachineError(f"{where}: {machine.cores()} cores; a machine has at most {C.CORES_MAX}")
    if "TC" not in clusters[0].roles and "AC" not in clusters[0].roles:
        raise MachineError(f"{where}: cluster 0 needs a core for the servers")
    if len(name.encode()) > 31:
        raise MachineError(f"{where}: the name is longer than 31 bytes")
    return machine


def names(folder=FOLDER):
    """Names of the machines that exist."""
    try:
        return sorted(f[:-5] for f in os.listdir(folder) if f.endswith(".toml"))
    except OSError:
        return []


def path_of(name, folder=FOLDER):
    """The description of a machine that is given by name, or by path if that ends in .toml."""
    name = name.partition("@")[0]
    return name if name.endswith(".toml") else os.path.join(folder, name + ".toml")


def load(name, folder=FOLDER):
    """Read a machine by name or path; NAME@POLICY: with that policy."""
    path, (name, _, policy) = path_of(name, folder), name.partition("@")
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except (OSError, UnicodeDecodeError):
        raise MachineError(f"unknown machine '{name}': use one of {', '.join(names(folder))}, "
                           "or a path to a .toml file") from None
    machine = parse(os.path.basename(path)[:-5], text)
    return with_policy(machine, policy) if policy else machine


def with_policy(machine, policy):
    """The machine, in whose clusters with several domains this policy holds."""
    parted = [c for c in machine.clusters if c.domains > 1]
    if not parted or policy not in POLICIES:
        raise MachineError(f"machine {machine.name}: " + (f"no policy '{policy}': use one of {', '.join(POLICIES)}"
                           if parted else "no cluster has several memory domains"))
    for c in parted:
        c.policy = policy
    return machine
