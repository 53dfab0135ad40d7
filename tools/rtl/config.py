# SPDX-License-Identifier: MIT
"""Which cluster is simulated: the configuration of each core, the caches and the memory.

A machine describes it in a table of its own (machines/NAME.toml); only `cores` is needed:

    [hardware]
    cores = ["k-core", "u-core", "u-core", "u-core"]   # names of tools/codesign/space.py, one per core of the cluster
    latency = 0                                        # wait cycles of the memory
    data_cache = "none"                                # "none", "snooped" (kept coherent),
                                                       # "plain" (software invalidates)
    coherence = "lines"                                # with "plain": what the kernel invalidates:
                                                       # "whole" (set by set), "flash" (the whole
                                                       # at once, in a model of such a cache),
                                                       # "lines", or "drop" by hardware
    tlb_refill = "software"                            # "software" or "hardware"
    core = "5.0.post130"                               # version of the core

A machine of two equal clusters is a chip: `cores` are those of each, and a network joins them.
"""

from codesign import rtl, space

CORES_MAX = 8
CLUSTERS_MAX = 2
RAM_MAX = 64 << 20
DATA_CACHES = {"none": 0x000, "snooped": 0x300, "plain": 0x100}
COHERENCES = (None, "whole", "flash", "lines", "drop")      # tools/rtl/kernels.py
REFILLS = {"software": 0x000, "hardware": 0x400}
# unit -> {choice: bits of CFG in hw/rtl/core.sv}
BITS = {
    "predictor": {"simple": 0, "satcounter": 1, "gshare": 2},
    "shifter": {"serial": 0x00, "barrel": 0x04},
    "divider": {"nodiv": 0x00, "div": 0x08},
    "multiplier": {"nomul": 0x00, "mul": 0x10},
    "fpu": {"nofpu": 0x00, "fpu": 0x20},
    "icache": {"1way": 0x00, "2way": 0x40, "4way": 0x80, "8way": 0xc0},
}


class ConfigError(Exception):
    """A cluster that cannot be built; one line."""


class Cluster:
    """A checked description. `ram` and `latency` are chosen when a simulator runs, all else when it is built."""

    def __init__(self, cores, latency=0, ram=16 << 20, data_cache="none", tlb_refill="software",
                 core=rtl.PAPER, clusters=1, coherence=None):
        if not 1 <= len(cores) <= CORES_MAX:
            raise ConfigError(f"a cluster in RTL has 1 to {CORES_MAX} cores, not {len(cores)}")
        try:
            self.cores = tuple(space.canonical(c) for c in cores)
        except space.OutsideSpace as e:
            raise ConfigError(str(e)) from None
        if data_cache not in DATA_CACHES:
            raise ConfigError(f"the data cache is one of {', '.join(DATA_CACHES)}, not '{data_cache}'")
        if tlb_refill not in REFILLS:
            raise ConfigError(f"the TLB refill is one of {', '.join(REFILLS)}, not '{tlb_refill}'")
        if core not in rtl.VERSIONS:
            raise ConfigError(f"the core version '{core}' is not known: use one of {', '.join(rtl.VERSIONS)}")
        if type(latency) is not int or not 0 <= latency <= 255:
            raise ConfigError(f"the memory's latency is 0 to 255 cycles, not {latency!r}")
        if type(ram) is not int or not 1 << 16 <= ram <= RAM_MAX or ram % 8192:
            raise ConfigError(f"the memory in RTL has 64 KB to {RAM_MAX >> 20} MB in whole pages, not {ram!r} bytes")
        if coherence not in COHERENCES or (coherence is not None and data_cache != "plain"):
            raise ConfigError(f"coherence is one of {', '.join(filter(None, COHERENCES))}, for the "
                              f"data cache 'plain' only, not {coherence!r}")
        self.coherence = coherence
        self.instead = {}               # sources of our RTL in place of others, for controls (tools/rtl/defects.py)
        if clusters not in (1, CLUSTERS_MAX):
            raise ConfigError(f"{clusters} clusters cannot be simulated in RTL, {CLUSTERS_MAX} at most")
        if clusters > 1 and data_cache != "none":
            raise ConfigError("clusters behind a network have no data caches: nobody would snoop "
                              "what comes from there in time")
        if clusters > 1 and len(cores) < 2:
            raise ConfigError("clusters behind a network have at least two cores each")
        self.clusters = clusters
        self.windows = None     # with several: (bytes of a cluster's memory, where the NoC windows are, bytes of one)
        self.latency, self.ram, self.data_cache, self.tlb_refill, self.core = latency, ram, data_cache, tlb_refill, core

    def bits(self):
        """CFG of each core as numbers, core 0 first."""
        common = DATA_CACHES[self.data_cache] | REFILLS[self.tlb_refill]
        return [common | sum(BITS[unit][choice] for unit, choice in space.choices(c).items()) for c in self.cores]

    def title(self):
        """A short text for people: runs of equal cores joined."""
        runs = []
        for c in map(space.nickname, self.cores):
            if runs and runs[-1][1] == c:
                runs[-1][0] += 1
            else:
                runs.append([1, c])
        text = " + ".join(f"{n} {c}" for n, c in runs)
        return f"{self.clusters} x ({text})" if self.clusters > 1 else text

    def memory(self):
        """The memory system in words, for tables."""
        cache = {"none": "no data cache", "snooped": "8 kB data caches, snooped",
                 "plain": "8 kB data caches, not coherent"}[self.data_cache]
        return f"{cache}, latency {self.latency}"


def of_machine(machine):
    """The Cluster of a machine with a table [hardware]."""
    table = machine.hardware
    if not table:
        raise ConfigError(f"machine {machine.name} does not say what its cores are: it has no table [hardware]")
    for key in table:
        if key not in ("cores", "latency", "data_cache", "coherence", "tlb_refill", "core"):
            raise ConfigError(f"machine {machine.name}, [hardware]: unknown key '{key}'")
    cores = table.get("cores")
    first = machine.clusters[0]
    if any((c.roles, c.mem_bytes) != (first.roles, first.mem_bytes) for c in machine.clusters):
        raise ConfigError(f"machine {machine.name} has unequal clusters; only equal ones can be simulated in RTL")
    if not isinstance(cores, list) or len(cores) != len(first.roles) or not all(isinstance(c, str) for c in cores):
        raise ConfigError(f"machine {machine.name}, [hardware]: cores must name {len(first.roles)} "
                          f"configurations, one per core of a cluster")
    options = {key: value for key, value in table.items() if key != "cores"}
    try:
        return Cluster(cores, ram=first.mem_bytes, clusters=len(machine.clusters), **options)
    except ConfigError as e:
        raise ConfigError(f"machine {machine.name}, [hardware]: {e}") from None
