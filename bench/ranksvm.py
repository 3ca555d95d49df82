"""Ranking SVM: Rankwright on all pairs beside scikit-learn's LinearSVC on a sample of explicit pairs.

1,000 generated queries train, 500 of another seed test; both sides standardise the features. LinearSVC
sees the differences of 300,000 pairs drawn within queries; making them counts as its training. Then the same
number of documents in lists of 100, 1,000, 10,000 and 100,000: time should not grow with their length.
"""

import argparse
import sys

from _common import OUT, made_once, markdown, measure, program, timed, verdict, worker
from _training import TEST_SEED, Sample, load, run_ours

TRAIN, TEST = Sample(1000, 21), Sample(500, TEST_SEED + 21)
PAIRS = 300_000
# Values of C to choose from, as many for each side; the one with the best NDCG@10 counts.
COSTS = {"ours": (0.5, 5), "scikit-learn": (0.001, 0.1)}
LISTS = (100, 1_000, 10_000, 100_000)
ROWS = 100_000
TARGET = 10.0


def with_sklearn(cost, stem, test, scores):
    import numpy as np
    from sklearn.svm import LinearSVC

    features, labels, sizes = load(stem)
    mean, spread = features.mean(0), features.std(0)
    spread[spread == 0] = 1
    features = ((features - mean) / spread).astype(np.float64)
    starts = np.concatenate([[0], np.cumsum(sizes)])

    def train():
        draw = np.random.default_rng(1)
        query = draw.choice(len(sizes), 4 * PAIRS, p=sizes / sizes.sum())
        first, second = (
            starts[query] + (draw.random(len(query)) * sizes[query]).astype(int) for _ in range(2)
        )
        keep = np.flatnonzero(labels[first] != labels[second])[:PAIRS]
        first, second = first[keep], second[keep]
        side = np.sign(labels[first] - labels[second])
        model = LinearSVC(loss="squared_hinge", C=float(cost), fit_intercept=False, dual="auto")
        return model.fit(features[first] - features[second], side)

    seconds, model = timed(train)
    rows = (load(test)[0] - mean) / spread
    np.savetxt(scores, rows @ model.coef_[0])
    return {"seconds": seconds}


def ndcg(words):
    return measure([program("RANKWRIGHT_BIN", "rankwright"), "eval", *map(str, words), str(TEST.cache),
                    "--json", "--quiet"]).output["metrics"][0]["value"]


def train_ours(data, cost, threads):
    model = OUT / "ranksvm.model"
    binary = program("RANKWRIGHT_BIN", "rankwright")
    words = ["train", data, "--learner", f"ranksvm(c={cost})", "--out", model, "--threads", threads]
    found = measure([binary, *map(str, words), "--json", "--quiet"]).output
    return found["seconds"]["train"], model


def compare(options):
    rows, best = [], {}
    for cost in COSTS["ours"]:
        seconds = min(train_ours(TRAIN.cache, cost, 1)[0] for _ in range(options.repeats))
        _, model = train_ours(TRAIN.cache, cost, 1)
        rows.append(["**Rankwright** ranksvm, all pairs", cost, seconds, ndcg([model])])
    for cost in COSTS["scikit-learn"]:
        scores = OUT / "ranksvm.scores"
        found = measure(worker(__file__, cost, TRAIN.arrays, TEST.arrays, scores)).output
        rows.append(["LinearSVC, 300,000 pairs", cost, found["seconds"], ndcg(["--scores", scores])])
    for row in rows:
        side = "ours" if "Rankwright" in row[0] else "theirs"
        if side not in best or row[3] > best[side][3]:
            best[side] = row
    table = [[name, f"{cost:g}", f"{seconds:.2f}", f"{value:.4f}"] for name, cost, seconds, value in rows]
    print(markdown(["system, 1 thread", "C", "train s", "NDCG@10"], table))
    ratio = best["theirs"][2] / best["ours"][2]
    print()
    verdict(f"at least {TARGET:g} times as fast ({ratio:.1f})", ratio >= TARGET, True)
    verdict("NDCG@10 at least as good", best["ours"][3] >= best["theirs"][3], True)
    lengths(options)


def lengths(options):
    rows = []
    for length in LISTS:
        path = OUT / f"lists-{length}.rwd"
        words = ["data", "generate", "letor", "--queries", ROWS // length, "--documents", length]
        made_once(path, lambda out, words=words: run_ours(*words, "--seed", 3, "--to", "rwd", "--out", out))
        seconds = min(train_ours(path, 5, 1)[0] for _ in range(options.repeats))
        rows.append([f"{length:,}", f"{ROWS // length:,}", f"{seconds:.2f}"])
    print("\n" + markdown(["documents in a list", "lists", "train s"], rows))
    times = [float(row[2]) for row in rows]
    growth = times[-1] / times[0]
    print(f"\nLists a thousand times as long take {growth:.1f} times as long; pairs grow a thousandfold.")


def main():
    if sys.argv[1:2] == ["--worker"]:
        import json

        print(json.dumps(with_sklearn(*sys.argv[2:])))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
