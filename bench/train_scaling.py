"""Training on more threads and more rows: 1 and 2 threads; 1, 2, 4 and 8 times the rows.

The data and settings of `train`. Linear in rows means here that a query of the largest sample
takes at most 15 % longer than a query of the smallest. With `--lightgbm` LightGBM runs beside us.
"""

import argparse

from _common import MIB, markdown, verdict
from _training import LABELS, Sample, train

FULL_QUERIES = 6000
SEED = 1
TARGET_SPEEDUP = {31: 1.8, 255: 1.7}
TARGET_LINEAR = 1.15
FACTORS = (1, 2, 4, 8)


def best_time(system, sample, leaves, threads, repeats):
    """`(shortest seconds of training, largest peak)`; without binning."""
    runs = [train(system, sample, leaves, threads) for _ in range(repeats)]
    return min(run.train for run in runs), max(run.peak for run in runs)


def over_threads(systems, options):
    sample = Sample(options.queries, SEED)
    rows, speedups = [], {}
    for leaves in options.leaves:
        for system in systems:
            one, _ = best_time(system, sample, leaves, 1, options.repeats)
            two, _ = best_time(system, sample, leaves, 2, options.repeats)
            speedups[leaves, system] = one / two
            row = [LABELS[system], leaves, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}"]
            rows.append(row)
    print(f"\n{options.queries:,} queries, best of {options.repeats}\n")
    print(markdown(["system", "leaves", "1 thread s", "2 threads s", "times faster"], rows))
    print()
    for leaves in options.leaves:
        speedup, wanted = speedups[leaves, "ours"], TARGET_SPEEDUP.get(leaves)
        if wanted:
            claim = f"{leaves} leaves: 2 threads at least {wanted} times as fast ({speedup:.2f})"
            verdict(claim, speedup >= wanted, options.queries == FULL_QUERIES)


def over_rows(systems, options):
    leaves, rows, costs = options.leaves[0], [], {}
    for system in systems:
        for factor in FACTORS:
            queries = factor * options.queries
            seconds, peak = best_time(system, Sample(queries, SEED), leaves, 2, options.repeats)
            costs[system, factor] = seconds / factor
            ratio = costs[system, factor] / costs[system, 1]
            row = [LABELS[system], f"{factor}x", f"{queries:,}", f"{seconds:.2f}"]
            rows.append([*row, f"{ratio:.2f}", f"{peak / MIB:,.0f}"])
    print(f"\n{leaves} leaves, 2 threads, best of {options.repeats}\n")
    header = ["system", "rows", "queries", "train s", "time of a query, 1x = 1", "peak MiB"]
    print(markdown(header, rows))
    print()
    ratio = costs["ours", FACTORS[-1]] / costs["ours", 1]
    claim = f"rows 1x to {FACTORS[-1]}x: linear (time of a query {ratio:.2f} times)"
    verdict(claim, ratio <= TARGET_LINEAR, options.queries == FULL_QUERIES)


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leaves", type=numbers, default=[31, 255])
    parser.add_argument("--queries", type=int, default=FULL_QUERIES, help="of the sample 1x")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--lightgbm", action="store_true", help="LightGBM beside us (slow)")
    parser.add_argument("--only", choices=["threads", "rows"], help="one of the two tables")
    options = parser.parse_args()
    systems = ["ours", "lightgbm"] if options.lightgbm else ["ours"]
    if options.only != "rows":
        over_threads(systems, options)
    if options.only != "threads":
        over_rows(systems, options)


if __name__ == "__main__":
    main()
