# SPDX-License-Identifier: MIT
"""K-means (apps/capbench/km.c) on both ports: on real data sets compared with scikit-learn from the
same first centroids, and on points of its own with itself for other numbers of ranks. Prints `ok
NAME` or `FAIL NAME: why`."""

import os
import sys
import tempfile

import numpy as np
from sklearn import cluster, datasets

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_apps import SMALL, atoll, expect, main_of  # noqa: E402


def run_km(port, ranks, *args, **more):
    """(centroids, counts, last line) of a run."""
    status, out, err = atoll(port, ranks, "km", *args, **more)
    expect(status == 0, f"status {status}: {err[-300:]}")
    lines = [line.split() for line in out.splitlines() if line.startswith("centroid ")]
    last = [line.rstrip() for line in out.splitlines() if line.startswith("km: ")]
    return np.array([[float(x) for x in line[3:]] for line in lines]), [int(line[2].rstrip(":"))
                                                                        for line in lines], last[-1]


def check_data_set(port, ranks, points, k):
    """The centroids are scikit-learn's, which starts at the first points, too."""
    with tempfile.TemporaryDirectory(prefix="atoll-km-") as folder:
        path = os.path.join(folder, "points.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"{points.shape[0]} {points.shape[1]}\n" +
                    "\n".join(" ".join(f"{x:.6f}" for x in p) for p in points) + "\n")
        found, counts, last = run_km(port, ranks, "--in", "points.txt", "--centroids", str(k), options=["--file", path])
    judge = cluster.KMeans(k, init=points[:k], n_init=1, tol=0, algorithm="lloyd", max_iter=1000).fit(points)
    off = np.abs(found - judge.cluster_centers_).max()
    expect(off < 1e-3, f"centroids differ from scikit-learn's by {off}")
    expect(counts == np.bincount(judge.labels_, minlength=k).tolist(), f"other sizes: {counts}")
    inertia = float(last.split()[-1])
    expect(abs(inertia - judge.inertia_) < 1e-3 * judge.inertia_ + 1, f"inertia {inertia}, not {judge.inertia_}")


def test_km_on_flowers_and_digits_is_what_scikit_learn_finds(port):
    check_data_set(port, 12, datasets.load_iris().data, 3)
    check_data_set(port, 5, datasets.load_digits().data, 10)


def test_km_is_the_same_for_every_number_of_ranks(port):
    args = ("--points", "700", "--centroids", "9", "--dimensions", "3")
    alone = run_km(port, 1, *args)
    for ranks, options in ((2, []), (7, []), (12, ["--map", "scatter"])):
        found = run_km(port, ranks, *args, options=options)
        expect(np.array_equal(found[0], alone[0]) and found[1:] == alone[1:], f"{ranks} ranks give something else")


def test_km_runs_with_twelve_ranks_in_two_megabytes(port):
    args = ("--points", "700", "--centroids", "9", "--dimensions", "3")
    wanted, found = run_km(port, 12, *args), run_km(port, 12, *args, machine=SMALL)
    expect(np.array_equal(found[0], wanted[0]) and found[1:] == wanted[1:], "another machine gives something else")


def test_km_refuses_bad_input(port):
    for args in (["--centroids", "0"], ["--points", "x"], ["--dimensions", "1000"]):
        status, _, err = atoll(port, 2, "km", *args)
        expect(status == 2, f"{args}: status {status}, not 2: {err[-200:]}")
    with tempfile.TemporaryDirectory(prefix="atoll-km-") as folder:
        for name, text in (("a.txt", "10 2\n1 2 3\n"), ("b.txt", ""), ("c.txt", "2 1\n1 1e9\n"),
                           ("d.txt", "2 1\n1 2\n")):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            status, _, err = atoll(port, 3, "km", "--in", name, "--centroids", "3", options=["--file", path])
            expect(status not in (0, 124, 139), f"{name}: status {status}: {err[-200:]}")


if __name__ == "__main__":
    sys.exit(main_of(globals(), sys.argv))
