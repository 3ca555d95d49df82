"""Training LambdaMART: time, memory and NDCG@10 beside LightGBM, XGBoost, hessboost and YDF.

6,000 generated queries, about 712,000 rows of 136 features; 255 bins, 100 trees, rate 0.1, and in all
systems the same number of leaves, truncation, and minimum of rows and hessian in a leaf. NDCG@10 is that of
2,000 fresh queries by our evaluator, the mean over the generator's seeds. Times are those of the first seed:
ours and LightGBM's are the best of some runs, taken in turn, so that noise of the machine falls on both.
"""

import argparse
import json
from dataclasses import asdict

from _common import MIB, OUT, markdown, verdict
from _training import LABELS, TEST_QUERIES, TEST_SEED, Sample, check_systems, train

FULL_QUERIES = 6000
FULL_SEEDS = 3
# Goals beside LightGBM: its training time divided by ours; our binning time and our peak memory divided by its;
# and how far our NDCG@10 may be below its.
TARGET_RATIO = 5.0
TARGET_BINNING = 0.5
TARGET_MEMORY = 0.6
TARGET_NDCG = 0.001
SYSTEMS = "ours,lightgbm,xgboost,hessboost,ydf"
# Those that the targets are about are run several times.
REPEATED = ("ours", "lightgbm")


def compare(options):
    """`{leaves: {system: [the best training of each seed]}}`, reported."""
    results = {}
    for leaves in options.leaves:
        results[leaves] = {system: [] for system in options.systems}
        for seed in options.seeds:
            first = seed == options.seeds[0]
            for system, runs in one_seed(leaves, seed, first, options).items():
                results[leaves][system].append(best(runs))
            save(results, options)
    for leaves, systems in results.items():
        report(leaves, systems, options)
    targets(results, options)


def one_seed(leaves, seed, first, options):
    """All trainings on one sample, in turn: `{system: [training, ...]}`."""
    sample = Sample(options.queries, seed)
    test = Sample(options.test_queries, TEST_SEED + seed)
    runs = {system: [] for system in options.systems}
    for turn in range(options.repeats if first else 1):
        for system in options.systems:
            if turn == 0 or system in REPEATED:
                # The model is the same each time: it is tested once.
                tested = test if turn == 0 else None
                runs[system].append(train(system, sample, leaves, options.threads, tested))
    return runs


def best(runs):
    """The first training with the shortest of each time and the largest peak of all of them."""
    first = runs[0]
    if first.bin is not None:
        first.bin = min(run.bin for run in runs)
    first.train = min(run.train for run in runs)
    first.peak = max(run.peak for run in runs)
    return first


def save(results, options):
    """Writes every figure, also those that the table does not show."""
    OUT.mkdir(parents=True, exist_ok=True)
    figures = {
        leaves: {system: [asdict(run) for run in runs] for system, runs in systems.items()}
        for leaves, systems in results.items()
    }
    text = json.dumps({"options": vars(options), "results": figures}, indent=1)
    (OUT / "train.json").write_text(text + "\n")


def mean_ndcg(runs):
    return sum(run.ndcg for run in runs) / len(runs)


def report(leaves, systems, options):
    seeds = ", ".join(map(str, options.seeds))
    print(f"\n{options.queries:,} queries, {leaves} leaves, {options.threads} threads; ", end="")
    print(f"ours and LightGBM best of {options.repeats}, NDCG@10 over seeds {seeds}\n")
    reference = systems.get("ours") or next(iter(systems.values()))
    rows = []
    for system, runs in systems.items():
        run = runs[0]
        binning = "in training" if run.bin is None else f"{run.bin:.2f}"
        memory = f"{run.peak / MIB:,.0f}" + (f" ({run.idle / MIB:,.0f})" if run.idle else "")
        ratio = f"{run.train / reference[0].train:.1f}"
        rows.append(
            [LABELS[system], binning, f"{run.train:.2f}", ratio, memory, f"{mean_ndcg(runs):.4f}"]
        )
    header = ["system", "bin s", "train s", "times our time", "peak MiB (of that, before reading data)", "NDCG@10"]
    print(markdown(header, rows))


def targets(results, options):
    if not {"ours", "lightgbm"} <= set(options.systems):
        print("\nThe targets need both ours and LightGBM.")
        return
    print()
    full = options.queries == FULL_QUERIES and options.threads == 2
    for leaves, systems in results.items():
        judge(leaves, systems["ours"], systems["lightgbm"], full, len(options.seeds) >= FULL_SEEDS)


def judge(leaves, ours, theirs, full, all_seeds):
    mine, other = ours[0], theirs[0]
    ratio = other.train / mine.train
    claim = f"{leaves} leaves: at least {TARGET_RATIO:g} times as fast as LightGBM ({ratio:.1f} times)"
    verdict(claim, ratio >= TARGET_RATIO, full)
    gap = mean_ndcg(ours) - mean_ndcg(theirs)
    claim = f"{leaves} leaves: NDCG@10 at most {TARGET_NDCG:g} below LightGBM's ({gap:+.4f})"
    verdict(claim, gap >= -TARGET_NDCG, full and all_seeds)
    share = mine.bin / other.bin
    claim = f"{leaves} leaves: binning at most half of LightGBM's ({share:.0%})"
    verdict(claim, share <= TARGET_BINNING, full)
    share, net = mine.peak / other.peak, mine.peak / (other.peak - other.idle)
    detail = f"{share:.0%}; {net:.0%} without what its Python held before the data"
    claim = f"{leaves} leaves: peak memory at most {TARGET_MEMORY:.0%} of LightGBM's ({detail})"
    verdict(claim, share <= TARGET_MEMORY, full)


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leaves", type=numbers, default=[31, 255])
    parser.add_argument("--seeds", type=numbers, default=[1, 2, 3])
    parser.add_argument("--queries", type=int, default=FULL_QUERIES)
    parser.add_argument("--test-queries", type=int, default=TEST_QUERIES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="runs of ours and of LightGBM")
    parser.add_argument("--systems", default=SYSTEMS, help="also: catboost, and ours-half and lightgbm-half (half of the queries drawn for each tree)")
    options = parser.parse_args()
    options.systems = check_systems(options.systems.split(","))
    compare(options)


if __name__ == "__main__":
    main()
