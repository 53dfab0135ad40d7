# SPDX-License-Identifier: MIT
"""Everything that the report shows, gathered once: from the tree's stored results, or made where it
is missing.
"""

import os

from codesign import (additive, asic, cycles, images, instructions, measure, pareto, paper, power,
                      replay, rtl, rtlbench, sources, space, store, study,
                      synth, today)


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
        self.nested = power.nested(*power.table(results))
        self.unseen = power.unseen(results)
        self.unseen_saving = power.saving(self.unseen[0][2], k, u)
        base = {n: results[n] for n in additive.base_points()}
        self.spots = additive.errors(base, {n: r for n, r in results.items() if n not in base})
        self.newest, self.nolutram, self.widemux, self.asic, self.instructions, self.where = {}, {}, {}, [], {}, {}
        self.cycles, self.cycles_from, self.cycles_source, self.kernel_changed, self.cycles_now, self.today = (
            {}, "", "", "", False, []
        )
        self.rows, self.points, self.front, self.timed, self.noisy = [], [], [], (), set()

    def left_out(self):
        """Root mean square error on rows that neither the model's choice nor its weights have seen,
        mW.
        """
        return power.root_mean_square(self.nested)

    def permuted(self):
        """The permutation control of the in-sample interval."""
        return power.permutation_control(self.results)

    def complete(self):
        """Derive what needs the measured cycles: the points and their front."""
        found = self.kernel_cycles()
        self.timed = pareto.direct(found)
        self.points = pareto.points(self.results, self.model,
                                    pareto.combined([pareto.slowdowns(c) for c in found.values()]), self.timed)
        self.front = pareto.front(self.points)
        self.noisy = pareto.by_noise(self.front, pareto.by_replication(self.rows, paper.BENCHMARKS)) if found else set()
        return self

    def kernel_cycles(self):
        """{benchmark: {configuration of the kernel's core: mean cycles}} of the rows that vary only
        that core; also of those that the kernel cannot tell from it.
        """
        out = {}
        for (benchmark, setup, cores), s in self.cycles.items():
            if setup == "dse" and set(cores[1:]) <= {space.canonical("u-core")} and benchmark in paper.BENCHMARKS:
                out.setdefault(benchmark, {})[space.as_the_kernel_sees(cores[0])] = s.mean
        return {b: {n: out[b][space.as_the_kernel_sees(n)] for n in space.names()
                    if space.as_the_kernel_sees(n) in out[b]} for b in paper.BENCHMARKS if b in out}


def needed():
    """Configurations whose synthesis the report needs."""
    return list(dict.fromkeys(additive.base_points() + [r[1] for r in paper.TABLE2] + additive.spot_points()))


def synthesised(version, flow, names, say):
    """{configuration: record}: the tree's results if they are of the installed sources, and what
    the cache has or gets.
    """
    source = synth.Source(version, flow)
    if store.source_hash(store.results(version, flow)) not in (None, source.hash):
        say(f"the stored results of mor1kx {version}, {flow} are of other sources than what is "
            f"installed: everything is synthesised anew")
    found = store.merged(source, say=say)
    missing = [n for n in names if n not in found]
    if missing:
        found.update(synth.sweep(missing, source, say=say))
    return found


def analysed(quick):
    """({column: {part: {class: number}}}, {column: {function: multiplications and divisions}}) of
    the study's kernels.
    """
    if quick:
        return instructions.read(), {}
    found = instructions.analyse_kept()
    return {c: instructions.counts(f) for c,
            f in found.items()}, {c: instructions.where(f, ("multiply", "divide")) for c, f in found.items()}


def stored_results():
    """The tree's results; Missing if they are not all there."""
    results = store.results()
    missing = [n for n in needed() if n not in results]
    if missing:
        raise rtl.Missing(f"hw/results/synth.csv lacks {missing[0]} and {len(missing) - 1} more: "
                          f"run ./atoll codesign without --quick")
    return results


def gather(mode, say):
    """Data for mode "quick" (only what is stored), "normal" (what is missing is made) or "full"
    (all 192 points synthesised).
    """
    labels = [r[1] for r in paper.TABLE2]
    if mode == "quick":
        data = Data(stored_results(), "stored in the tree")
        data.newest = store.results(rtl.VERSIONS[1])
        data.nolutram, data.widemux = (store.results(rtl.PAPER, flow) for flow in ("nolutram", "widemux"))
    else:
        data = Data(synthesised(rtl.PAPER, "default", space.names() if mode == "full" else needed(), say),
                    "checked against the installed sources")
        data.newest = synthesised(rtl.VERSIONS[1], "default", additive.base_points() + labels[-2:], say)
        data.nolutram, data.widemux = (synthesised(rtl.PAPER, flow, labels, say) for flow in ("nolutram", "widemux"))
    data.asic = asic.read()
    data.instructions, data.where = analysed(mode == "quick")
    measured(data, mode, say)
    return data.complete()


# replications (rtlbench.DEFAULTS) where cycles have to be measured anew
REPLICATIONS = {"normal": dict.fromkeys(rtlbench.DEFAULTS, 1) | {"--replications": 3}, "full": rtlbench.DEFAULTS}


def source_now():
    """The source of what would be measured now, "" if the core is not installed."""
    try:
        return study.source()
    except rtl.Missing:
        return ""


def checked(data, say):
    """Run a kept run again, where the RTL's text is that of the kept rows; Failed if a cycle
    differs.
    """
    for words, wrong in replay.again(data.rows, replay.chosen(data.rows, replay.USUAL[:1]), rtlbench.Runner(), say):
        if wrong:
            raise measure.Failed(f"a kept run does not come out again ({words}): {wrong[0]}")


def fresh(data, mode, say):
    """Rows of this tree's RTL in place of the kept ones, where those are of another or more are
    wanted.
    """
    now, kept = source_now(), data.rows[0]["source"] if data.rows else None
    if kept == now:
        checked(data, say)
    if kept != now or mode == "full":
        say("measuring cycles on the RTL" + ("" if kept == now else ": the kept ones are of another RTL"))
        path = rtlbench.sweep(rtlbench.jobs(list(rtlbench.SETUPS), REPLICATIONS[mode]), now, say)
        data.cycles_from, data.rows = os.path.relpath(path, rtl.ROOT), cycles.one_source(cycles.read(path))[0]
    data.today = today.measured(today.REPLICATIONS, say)


def measured(data, mode, say):
    """The cycles: the kept ones; else than with "quick" also checked, measured anew if the RTL is
    another, and beside them today's kernel.
    """
    rows, data.cycles_from = cycles.kept() if mode == "quick" else cycles.everything()
    data.rows, left = cycles.one_source(rows)
    if left:
        say(f"{left} rows of measured cycles are of other sources and are left out")
    if mode != "quick":
        fresh(data, mode, say)
    data.cycles = cycles.summarise(data.rows)
    data.cycles_source = data.rows[0]["source"] if data.rows else ""
    data.cycles_now = data.cycles_source == source_now()
    rooms = sources.rooms()
    data.today = data.today or today.read(rooms)
    data.kernel_changed = sources.changed(images.about().get("rooms", {}), rooms)
