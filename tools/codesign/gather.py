# SPDX-License-Identifier: MIT
"""Everything that the report shows, gathered once: from the tree's stored results, or made where it is missing."""

import os
import subprocess

from codesign import additive, asic, cycles, instructions, pareto, paper, power, rtl, rtlbench, sources, space, store, synth


class Data:
    """What there is: see gather()."""

    def __init__(self, results, how):
        self.results, self.how = results, how
        self.source = store.source_hash(results)
        self.tool = next(iter(results.values()))["tool"]
        k, u = (results[space.canonical(n)] for n in ("k-core", "u-core"))
        self.candidates = power.candidates(*power.table(results))
        self.model = self.candidates[0]
        self.k_mw, self.u_mw = self.model.predict(k), self.model.predict(u)
        self.saving = power.saving(self.model, k, u)
        self.unseen = power.unseen(results)
        base = {n: results[n] for n in additive.base_points()}
        self.spots = additive.errors(base, {n: r for n, r in results.items() if n not in base})
        self.newest, self.nolutram, self.widemux, self.asic, self.instructions, self.where = {}, {}, {}, [], {}, {}
        self.cycles, self.cycles_from, self.cycles_source, self.cycles_changed, self.cycles_now = {}, "", "", "", False
        self.rows, self.points, self.front, self.timed = [], [], [], ()

    def complete(self):
        """Derive what needs the measured cycles: the points and their front."""
        found = self.kernel_cycles()
        self.timed = pareto.direct(found)
        self.points = pareto.points(self.results, self.model, pareto.combined([pareto.slowdowns(c) for c in found.values()]), self.timed)
        self.front = pareto.front(self.points)
        return self

    def kernel_cycles(self):
        """{benchmark: {configuration of the kernel's core: mean cycles}} of the rows that vary only that core; also of those that the kernel cannot tell from it."""
        out = {}
        for (benchmark, setup, cores), s in self.cycles.items():
            if setup == "dse" and set(cores[1:]) <= {space.canonical("u-core")} and benchmark in paper.BENCHMARKS:
                out.setdefault(benchmark, {})[space.as_the_kernel_sees(cores[0])] = s.mean
        return {b: {n: out[b][space.as_the_kernel_sees(n)] for n in space.names() if space.as_the_kernel_sees(n) in out[b]} for b in paper.BENCHMARKS if b in out}


def needed():
    """Configurations whose synthesis the report needs."""
    return list(dict.fromkeys(additive.base_points() + [r[1] for r in paper.TABLE2] + additive.spot_points()))


def synthesised(version, flow, names, say):
    """{configuration: record}: the tree's results if they are of the installed sources, and what the cache has or gets."""
    source = synth.Source(version, flow)
    if store.source_hash(store.results(version, flow)) not in (None, source.hash):
        say(f"the stored results of mor1kx {version}, {flow} are of other sources than what is installed: everything is synthesised anew")
    found = store.merged(source, say=say)
    missing = [n for n in names if n not in found]
    if missing:
        found.update(synth.sweep(missing, source, say=say))
    return found


def kernel_objects(port, say):
    """Compile the kernel of a port."""
    say(f"building the kernel for {port}")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    p = subprocess.run(["make", "-C", rtl.ROOT, "--no-print-directory", f"PORT={port}", "kernel"], env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if p.returncode:
        raise rtl.Missing(f"the kernel does not build for {port}:\n" + "\n".join(p.stdout.splitlines()[-12:]))


def analysed(quick, say):
    """({port: {part: {class: number}}}, {port: {function: multiplications and divisions}})."""
    if quick:
        return instructions.read(), {}
    tables, where = {}, {}
    for port in instructions.SHOWN:
        if port in instructions.PORTS:
            kernel_objects(port, say)
            found = instructions.analyse(port)
        else:
            rtlbench.kernels(rtlbench.SETUPS["u"][1], [0])
            found = instructions.analyse("or1k", rtlbench.folder(rtlbench.SETUPS["u"][1]))
        tables[port], where[port] = instructions.counts(found), instructions.where(found, ("multiply", "divide"))
    return tables, where


def stored_results():
    """The tree's results; Missing if they are not all there."""
    results = store.results()
    missing = [n for n in needed() if n not in results]
    if missing:
        raise rtl.Missing(f"hw/results/synth.csv lacks {missing[0]} and {len(missing) - 1} more: run ./atoll codesign without --quick")
    return results


def gather(mode, say):
    """Data for mode "quick" (only what is stored), "normal" (what is missing is made) or "full" (all 192 points synthesised)."""
    labels = [r[1] for r in paper.TABLE2]
    if mode == "quick":
        data = Data(stored_results(), "stored in the tree")
        data.newest = store.results(rtl.VERSIONS[1])
        data.nolutram, data.widemux = (store.results(rtl.PAPER, flow) for flow in ("nolutram", "widemux"))
    else:
        data = Data(synthesised(rtl.PAPER, "default", space.names() if mode == "full" else needed(), say), "checked against the installed sources")
        data.newest = synthesised(rtl.VERSIONS[1], "default", additive.base_points() + labels[-2:], say)
        data.nolutram, data.widemux = (synthesised(rtl.PAPER, flow, labels, say) for flow in ("nolutram", "widemux"))
    data.asic = asic.read()
    data.instructions, data.where = analysed(mode == "quick", say)
    measured(data, mode, say)
    return data.complete()


# replications of every set-up, of the main effects and of the large cluster, where cycles have to be measured anew
REPLICATIONS = {"normal": (5, 1, 1), "full": (30, 5, 5)}


def measured(data, mode, say):
    """The cycles: kept ones if they are of this tree's sources, else measured anew; with "quick" what is kept, and whether the tree differs."""
    rows, data.cycles_from = cycles.kept() if mode == "quick" else cycles.everything()
    data.rows, left = cycles.one_source(rows)
    if mode == "quick":
        kept = cycles.about().get("rooms", {})
        data.cycles_changed = sources.changed(kept, sources.rooms()) if data.rows else ""
        if data.cycles_changed:
            say(f"the kept cycles were measured before changes in {data.cycles_changed}: ./atoll codesign tells whether the images differ, and measures anew if so")
    else:
        now, data.cycles_now = rtlbench.source(), True
        wanted = rtlbench.jobs(list(rtlbench.SETUPS), *REPLICATIONS[mode])
        kept = data.rows[0]["source"] if data.rows else None
        if kept != now or mode == "full":
            say("measuring cycles on the RTL: the kept ones are of other sources" if kept != now else "measuring cycles on the RTL")
            path = rtlbench.sweep(wanted, now, say)
            data.cycles_from, (data.rows, left) = os.path.relpath(path, rtl.ROOT), cycles.one_source(cycles.read(path))
    if left:
        say(f"{left} rows of measured cycles are of other sources and are left out")
    data.cycles = cycles.summarise(data.rows)
    data.cycles_source = data.rows[0]["source"] if data.rows else ""
