# SPDX-License-Identifier: MIT
"""The synthesis results that the tree keeps (hw/results/synth.csv): so that tables and plots work
without the synthesiser, and tests can compare.

Each row says its source (hash of RTL, wrapper, script, tool); rows of one version and flow have one
source. The first line is a checksum.

    .venv/bin/python3 tools/codesign/store.py     puts what the cache in build/codesign/synth has
                                                  into the file; rows of other sources go
"""

import csv
import io
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from codesign import kept, rtl, space, synth  # noqa: E402

PATH = os.path.join(rtl.ROOT, "hw", "results", "synth.csv")
FIELDS = ("rtl", "flow", "source", "tool", "config", *synth.COUNTS, "seconds")
WHOLE = ("lut", "lutram", "ff", "f7", "f8", "dsp")


Damaged = kept.Damaged


def text(records):
    """The file's text."""
    out = io.StringIO()
    rows = csv.DictWriter(out, FIELDS, extrasaction="ignore", lineterminator="\n")
    rows.writeheader()
    order = {n: i for i, n in enumerate(space.names())}
    for r in sorted(records, key=lambda r: (r["rtl"], r["flow"], order[r["config"]])):
        rows.writerow({**r, "bram36": f"{r['bram36']:g}"})
    return kept.sealed(out.getvalue())


def parse(data):
    """Records of the file's text; Damaged if anything is wrong with it."""
    body = kept.opened(data)
    records, sources = [], {}
    for row in csv.DictReader(io.StringIO(body)):
        records.append({**row, **{k: int(row[k]) for k in WHOLE}, "bram36": float(row["bram36"]),
                        "seconds": float(row["seconds"])})
        if sources.setdefault((row["rtl"], row["flow"]), row["source"]) != row["source"]:
            raise Damaged(f"rows of different sources for mor1kx {row['rtl']}, {row['flow']}")
    return records


def read(path=PATH):
    """All stored records."""
    try:
        with open(path, encoding="utf-8") as f:
            return parse(f.read())
    except FileNotFoundError:
        return []
    except Damaged as e:
        raise Damaged(f"{os.path.relpath(path, rtl.ROOT)}: {e}") from None


def results(version=rtl.PAPER, flow="default", path=PATH):
    """{configuration: record} of one version and flow."""
    return {r["config"]: r for r in read(path) if (r["rtl"], r["flow"]) == (version, flow)}


def source_hash(found):
    """The source of results()."""
    return next(iter(found.values()))["source"] if found else None


def cached(source, cache=synth.CACHE, say=print):
    """{configuration: record} of what the cache has of a source."""
    found = {n: synth.load(n, source, cache, say) for n in space.names()}
    return {n: r for n, r in found.items() if r}


def merged(source, path=PATH, cache=synth.CACHE, say=print):
    """{configuration: record} of a source: what the file has of it, and what the cache has."""
    kept = {n: r for n, r in results(source.version, source.flow, path).items() if r["source"] == source.hash}
    return {**kept, **cached(source, cache, say)}


def main():
    """Write the file anew: what is of the installed sources stays, what the cache has of them comes
    in.
    """
    records = []
    for version in rtl.VERSIONS:
        for flow in synth.FLOWS:
            found = merged(synth.Source(version, flow))
            print(f"mor1kx {version}, {flow}: {len(found)} results")
            records += found.values()
    os.makedirs(os.path.dirname(PATH), exist_ok=True)
    with open(PATH, "w", encoding="utf-8") as f:
        f.write(text(records))


if __name__ == "__main__":
    main()
