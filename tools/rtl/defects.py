# SPDX-License-Identifier: MIT
"""Controls for the tests of the whole cluster: core.sv, cluster.sv and chip.sv with one defect
each, which firmware must find. One simulator per machine has all of them (mutants.py).
"""

import os
import re

from rtl import build, config, firmware, mutants, simulator

# Cycles after which a run has not held: twice what one takes that holds.
MAX_CYCLES = {"selftest": 200_000, "stress": 500_000, "far": 1_000_000, "coherence": 1_200_000}
# Timings that are tried: a third of those that tests/hw/test_chip.py has. All defects show.
MACROS = {"far": ("ROUNDS=200",)}
PAIR = ["k-core", "u-core"]
# machine -> its config.Cluster
MACHINES = {
    "cluster": lambda: config.Cluster(PAIR, ram=1 << 20),
    "snooped": lambda: config.Cluster(PAIR, ram=1 << 20, data_cache="snooped"),
    "plain": lambda: config.Cluster(PAIR, ram=1 << 20, data_cache="plain"),
    "chip": lambda: firmware.chip(PAIR),
}
UNITS = ("core", "cluster", "chip")
LSU = "cpu.mor1kx_cpu.cappuccino.mor1kx_cpu.mor1kx_lsu_cappuccino."
# (unit, text with the expression between @, what stands there instead, machine, the check of CHECKS
# that finds it)
DEFECTS = [
    ("core", "wake = @(|irq) | timer_pending@;", "|irq", "cluster", "selftest"),
    ("core", "wake = @(|irq) | timer_pending@;", "timer_pending", "cluster", "selftest"),
    ("core", "doze = @waiting & ~wake & ~rst@;", "1'b0", "cluster", "selftest"),
    ("core", "| @(|ttmr[31:30])@ |", "1'b0", "cluster", "selftest"),
    ("core", "| @icyc@ |", "1'b0", "cluster", "selftest"),
    ("core", "| @(HAS_DCACHE & core_snoop_en)@ | reserved", "1'b0", "snooped", "coherence"),
    ("core", "| @reserved_snoop@ | (|settle)", "1'b0", "cluster", "selftest"),
    ("core", "{@dcyc & dstb & ~doze@, icyc", "dcyc & dstb", "cluster", "selftest"),
    ("core", "| @SNOOPED@ |", "1'b0", "snooped", "coherence"),
    ("core", "| SNOOPED | @reserved_snoop@)", "1'b0", "plain", "stress"),
    ("core", "if (@drop_en@)", "1'b0", "plain", "coherence"),
    ("core", "core_snoop_adr = @drop_adr@;", "snoop_adr", "plain", "coherence"),
    ("core", "atomic_live & (@snoop_adr == atomic_adr@)", "1'b0", "cluster", "selftest"),
    ("core", f"dwe ? @{LSU}dbus_atomic@ :", "1'b0", "chip", "stress"),
    ("core", f"@{LSU}ctrl_op_lsu_atomic_i@;", "1'b1", "chip", "far"),
    ("core", f"assign msync = @{LSU}ctrl_op_msync_i@;", "1'b0", "chip", "far"),
    ("core", "(ports ^ @ports_before@)", "ports", "cluster", "selftest"),
    ("cluster", ".last(@last & ~(by_net & net_lock)@)", "last", "chip", "stress"),
    ("cluster", "stb = @active & ~net_hold@;", "active", "chip", "far"),
    ("cluster", "{net_stb, @m_stb & ~blocked@}", "m_stb", "chip", "stress"),
    ("cluster", "last = (ack & (@(cti != 3'b010) | we@))", "1'b1", "cluster", "selftest"),
    ("cluster", "m_ack[owner_core][owner[0]] = @ack & stb & ~by_net@;", "ack & stb", "chip",
     "stress"),
    ("cluster", "& @(adr < ram_bytes)@ & here", "1'b1", "cluster", "no memory"),
    ("cluster", "at_device & @~dev_ack@ &", "1'b1", "cluster", "selftest"),
    ("cluster", "none_err <= @stb & at_none & ~none_err & ~rst@;", "1'b0", "cluster", "no memory"),
    ("cluster", "here = in_windows ? @window == CW'(NUMBER)@ :", "1'b1", "chip", "stress"),
    ("cluster", "at_ompic & we & wdata[30] & @(cluster_of_core != CW'(NUMBER))@", "1'b0", "chip",
     "stress"),
    ("cluster", "(window != CW'(NUMBER)) & @(adr < ram_bytes)@) |", "1'b1", "chip",
     "no memory for a store"),
    ("cluster", ".go(active & @~net_ack@ & ~err", "1'b1", "chip", "stress"),
    ("cluster", ".dest(@at_far_core ? cluster_of_core : window@)", "window", "chip", "stress"),
    ("cluster", ".bus_ack(@ack & by_net & stb@)", "ack & stb", "chip", "stress"),
    ("cluster", "| (@net_ack & at_far_core@)), .we", "1'b0", "chip", "far"),
    ("cluster", "snoop_en = @ram_ack & at_ram & stb & we@;", "1'b0", "cluster", "selftest"),
    ("cluster", "drop = @swept@ | others | cancel;", "'0", "plain", "coherence"),
    ("cluster", "drop = swept | @others@ | cancel;", "'0", "plain", "coherence"),
    ("cluster", "drop = swept | others | @cancel@;", "'0", "chip", "stress"),
    ("cluster", "drop_adr = @|cancel@ ?", "1'b0", "chip", "stress"),
    ("cluster", "{adr[31:2], 2'b00} : @|others@ ?", "1'b0", "plain", "coherence"),
    ("cluster", ".core(@8'(owner_core)@)", "8'd0", "cluster", "selftest"),
    ("cluster", ".waking({timer_pending[@owner_core@]", "1'b1", "cluster", "selftest"),
    ("cluster", "29'd0, ipi[@owner_core@], 1'b0}", "1'b0", "cluster", "selftest"),
    ("cluster", ".number(@32'(FIRST + c)@)", "32'(c)", "chip", "stress"),
    ("cluster", ".cores(@32'(CLUSTERS * N)@)", "32'(N)", "chip", "stress"),
    ("cluster", ".irq({30'd0, @ipi[c]@, 1'b0})", "1'b0", "cluster", "selftest"),
    ("cluster", "\t\t\tretired[c] & @store@,", "load", "cluster", "selftest"),
    ("cluster", "\t\t\tretired[c] & @branch@,", "store", "cluster", "selftest"),
    ("cluster", "(m_cti[c][0] == 3'b010) & @~filling_i[c]@;", "1'b0", "cluster", "selftest"),
    ("chip", ".in_valid({@down_valid[c+1][n]@,", "1'b0", "chip", "stress"),
    ("chip", ".in_valid({down_valid[c+1][n], @up_valid[c][n]@,", "1'b0", "chip", "stress"),
    ("chip", ".in_flit({@down_flit[c+1][n]@, up", "up_flit[c][n]", "chip", "stress"),
    ("chip", "down_ready[c][n], @in_ready[n]@}", "1'b1", "chip", "stress"),
    ("chip", ".out_ready({@up_ready[c+1][n]@,", "1'b1", "chip", "far"),
    ("chip", ".out_ready({up_ready[c+1][n], @down_ready[c][n]@,", "1'b1", "chip", "stress"),
    ("chip", "flits[c] = @out_valid[0] & out_ready[0]@;", "1'b0", "chip", "stress"),
]


def marked(unit, text):
    """The unit's source with all its defects to choose from."""
    rows = enumerate(DEFECTS, 1)
    return mutants.marked(text, [(n, place, instead) for n, (of, place, instead, *_) in rows if of == unit])


def cluster(machine):
    """The config.Cluster of a machine, to be built with the defects of all its units."""
    made = MACHINES[machine]()
    made.instead = {}
    for unit in UNITS:
        path = os.path.join(build.HW, "rtl", unit + ".sv")
        target = os.path.join(build.OUT, "defects", unit + ".sv")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(path, encoding="utf-8") as f:
            text = marked(unit, f.read())
        with open(f"{target}.{os.getpid()}", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(f.name, target)            # machines are tested side by side
        made.instead[path] = target
    return made


def _run(on, program, **options):
    options = {"max_cycles": MAX_CYCLES[program], "illegal": "none", **options}
    options = simulator.Options(**options)
    elf = firmware.elf(program, on, MACROS.get(program, ()))
    return simulator.run_captured(on, elf, options=options)


def _selftest(on):
    r = _run(on, "selftest")
    return r.status == 0 and "not ok" not in r.output and r.output.count("ok ") >= 32


def _stress(on):
    for on.latency, seed in ((0, 1), (1, 2), (3, 3)):
        r = _run(on, "stress", seed=seed)
        if r.status or (on.clusters > 1 and sum(r.counters["flits"]) < 10_000):
            return False
    return True


def _far(on):
    on.latency = 3
    r = _run(on, "far")
    return r.status == 0 and all(line.startswith("ok ") for line in r.output.splitlines())


def _coherence(on):
    found = [int(n) for n in re.findall(r"stale words .*: (\d+)", _run(on, "coherence").output)]
    plain = on.data_cache == "plain"
    return [n > 0 for n in found] == [plain, False, False, plain, False, plain]


def _no_memory(seed):
    def holds(on):
        if on.clusters > 1:
            on.ram = firmware.NOC + firmware.WINDOW + 8192
        r = _run(on, "far" if on.clusters > 1 else "selftest", seed=seed)
        return r.status == 3 and "unexpected exception 2" in r.output
    return holds


CHECKS = {"selftest": _selftest, "stress": _stress, "far": _far, "coherence": _coherence,
          "no memory": _no_memory(1005), "no memory for a store": _no_memory(1006)}


def holds(machine, check, number=0):
    """Does a check hold on a machine with a defect?"""
    os.environ["HW_DEFECT"] = str(number)     # nobody else reads it
    return CHECKS[check](cluster(machine))
