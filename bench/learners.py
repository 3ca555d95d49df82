"""Every learner on MQ2008 and MQ2007-partial, and beside LETOR 4.0's published baselines.

The folds, the choice on validation parts and the pooled test parts are those of `quality`; the specs
of each learner stand in `learners_grid.toml`, four each. Significance is Fisher's randomisation test,
paired by query: against LambdaMART in our convention, and for four learners against the score files
of the baselines, under LETOR's own convention, on MQ2008.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
import tomllib
from pathlib import Path

from _common import BENCH, markdown, measure, program, verdict
from quality import ALPHA, KEPT, PARTS, SETS, Fold, committed, digest, mean, ours

GRID = BENCH / "learners_grid.toml"
METRICS = ["ndcg@1", "ndcg@5", "ndcg@10", "map", "err"]
LETOR_METRICS = ["ndcg(preset=letor4)@10", "map(preset=letor4)"]
BASELINE = "lambdamart"
# Our learners, and the published baseline that each is compared with.
PUBLISHED = {"ranksvm": "svm_rank", "rankboost": "RankBoost", "listnet": "ListNet", "adarank": "AdaRank"}


def fitted(grid, learner, fold):
    """The stored result of a fold, computed if there is none: the spec that is best on the validation part, the
    seconds of its training, its test scores."""
    task = {
        "program": digest(program("RANKWRIGHT_BIN", "rankwright")),
        "specs": grid["learners"][learner],
        "common": [grid["seed"], grid["metric"]],
        "data": {role: [digest(path) for path in paths] for role, paths in fold.files.items()},
    }
    key = hashlib.sha256(json.dumps(task, sort_keys=True).encode()).hexdigest()[:16]
    path = KEPT / f"learner-{learner}-{fold.folder.name}-{fold.number}-{key}.json"
    if not path.exists():
        result = fit(grid, learner, fold)
        KEPT.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".part")
        partial.write_text(json.dumps(result) + "\n")
        partial.replace(path)
        text = f"{result['spec']}, {result['valid']:.4f}, {result['seconds']:.1f} s"
        print(f"  {fold.folder.name}, fold {fold.number}: {text}", file=sys.stderr)
    return json.loads(path.read_text())


def fit(grid, learner, fold):
    binary = program("RANKWRIGHT_BIN", "rankwright")
    best = None
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        for spec in grid["learners"][learner]:
            words = ["train", *fold.files["train"], "--valid", *fold.files["valid"]]
            words += ["--learner", spec, "--seed", str(grid["seed"]), "--out", model]
            seconds = measure([binary, *words, "--json", "--quiet"]).output["seconds"]["train"]
            words = ["eval", model, *fold.files["valid"], "--metric", grid["metric"]]
            valid = json.loads(ours(*words))["metrics"][0]["value"]
            if best is None or valid > best["valid"]:
                best = {"spec": spec, "valid": valid, "seconds": seconds}
                scores = str(Path(folder) / "scores")
                measure([binary, "score", model, *fold.files["test"], "--out", scores, "--json", "--quiet"])
                best["scores"] = Path(scores).read_text().split()
    return best


def pooled(files, scores, metrics, baseline):
    """`[{system: entry}]`, a dictionary for each metric: `compare` over the test parts as one data set. `scores`
    has the lines of each system's score file."""
    with tempfile.TemporaryDirectory() as folder:
        words = []
        for system, lines in scores.items():
            path = Path(folder) / system
            path.write_text("\n".join(lines) + "\n")
            words += ["--scores", str(path)]
        for metric in metrics:
            words += ["--metric", metric]
        words += ["--test", "randomisation", "--correction", "none", "--baseline", baseline]
        found = json.loads(ours("compare", *files, *words))["metrics"]
    return [{entry["system"]: entry for entry in metric["systems"]} for metric in found]


def compare(options):
    root = os.environ.get("RANKWRIGHT_DATA")
    if not root:
        print("learners: skipped, RANKWRIGHT_DATA does not name a data folder")
        return
    grid = tomllib.loads(GRID.read_text())
    names = options.learners or list(grid["learners"])
    names = [BASELINE, *(name for name in names if name != BASELINE)]
    for folder in options.sets:
        folds = [Fold(Path(root) / folder, number) for number in range(1, PARTS + 1)]
        fits = {name: [] for name in names}
        for fold in folds:
            for name in names:
                fits[name].append(fitted(grid, name, fold))
        files = [path for fold in folds for path in fold.files["test"]]
        scores = {name: [s for fit in fits[name] for s in fit["scores"]] for name in names}
        if not committed(GRID):
            print("The grid is not committed as it stands: commit it, then the test parts are shown.")
            continue
        report(folder, fits, pooled(files, scores, METRICS, BASELINE))
        if folder == "mq2008":
            report_published(Path(root), folds, files, scores)


def report(folder, fits, found):
    rows = []
    for name, folds in fits.items():
        row = [name, *(f"{metric[name]['value']:.4f}" for metric in found)]
        versus = found[METRICS.index("ndcg@10")][name].get("versus_baseline")
        text = f"{versus['difference']:+.4f}, p {versus['p']:.3f}" if versus else ""
        rows.append([*row, text, f"{mean(fit['seconds'] for fit in folds):.2f}"])
    rows[1:] = sorted(rows[1:], key=lambda row: row[3], reverse=True)
    print(f"\n{folder}, test parts\n")
    header = ["learner", *METRICS, f"ndcg@10 to {BASELINE}", "train s"]
    print(markdown(header, rows))


def report_published(root, folds, files, scores):
    rows, claims = [], []
    for name, published in PUBLISHED.items():
        if name not in scores:
            continue
        theirs = []
        for fold in folds:
            # Fold f of the baselines is tested on part f + 4, as ours is.
            path = root / "letor-baselines" / "mq2008" / published / f"Fold{fold.number}.test.score"
            theirs += path.read_text().split()
        pair = {"baseline": theirs, "mine": scores[name]}
        for label, found in zip(LETOR_METRICS, pooled(files, pair, LETOR_METRICS, "baseline"), strict=True):
            versus = found["mine"]["versus_baseline"]
            text = f"{versus['difference']:+.4f}, p {versus['p']:.3f}"
            values = [f"{found[system]['value']:.4f}" for system in ("mine", "baseline")]
            rows.append([name, published, label.split("(")[0], *values, text])
            claims.append((name, label, versus))
    print("\nmq2008 under LETOR 4.0's convention, beside the published score files\n")
    print(markdown(["ours", "baseline", "metric", "ours", "baseline", "difference"], rows))
    print()
    for name, label, versus in claims:
        lower = versus["difference"] < 0 and versus["p"] < ALPHA
        verdict(f"{name}, {label}: not significantly below the baseline", not lower, True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    parser.add_argument("--learners", type=lambda text: text.split(","), default=None)
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
