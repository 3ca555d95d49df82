"""Learners with defaults on small open data sets: parameters that depend on the size of the data.

Without `--test` no test part is read: each fold trains on two parts, chooses the number of trees on a
third and is measured on a fourth, and values are means over the folds. One training gives the value for
each number in `--trees`, as the measured part is evaluated after each tree. `--settings` has settings to
try besides the defaults, with `;` between them. With `--test` the folds are those of `quality`: three
training parts, a validation part, and the test part, pooled over the folds, for learners with defaults alone.
Values are NDCG@10, and queries without a relevant document are skipped.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from _common import markdown, measure, program
from quality import PARTS, SETS, Fold, mean, ours

LEARNERS = ["lambdamart", "xendcg", "yetirank", "mart", "rankmart"]
METRIC = "ndcg@10"
# Sets with one split: files of training and validation, and of the test part. LightGBM's example has
# no validation part, so that it is not measured with its test part.
SMALL = {
    "mslr-sample": (["train.txt", "vali.txt"], "test.txt"),
    "lightgbm-lambdarank": (["rank.train"], None),
}


def spec_of(learner, *settings):
    settings = ", ".join(setting for setting in settings if setting)
    return f"{learner}({settings})" if settings else learner


def train(spec, train_files, valid_sets, folder, threads):
    """Trains on files and returns the JSON of the training; the first validation set decides on the number of
    trees."""
    words = ["train", *train_files, "--learner", spec, "--metric", METRIC, "--threads", str(threads)]
    words += [word for path in valid_sets for word in ("--valid", path)]
    words += ["--out", str(Path(folder) / "model"), "--json", "--quiet"]
    return measure([program("RANKWRIGHT_BIN", "rankwright"), *words]).output


# --- without test parts --------------------------------------------------------------------------


def inner_folds(root, name, learner, setting, options):
    """`[(value, trees kept)]` for each number in `--trees`, means over the folds."""
    of_folds = []
    for number in range(1, PARTS + 1):
        one, two, kept, measured = (str(Fold(root / name, number).part(i)) for i in range(4))
        spec = spec_of(learner, setting, f"trees={max(options.trees)}")
        with tempfile.TemporaryDirectory() as folder:
            found = train(spec, [one, two], [kept, measured], folder, options.threads)
        values = [[of_set[0] for of_set in tree["values"]] for tree in found["iterations"]]
        of_folds.append([best_of_first(values, trees) for trees in options.trees])
    return [tuple(map(mean, zip(*of_trees, strict=True))) for of_trees in zip(*of_folds, strict=True)]


def best_of_first(values, trees):
    """`(value, number)`: the number of trees, up to `trees`, that is best on the part that decides on it, and
    the value on the measured part with this number. `values` has both values after each tree."""
    best = max(range(min(trees, len(values))), key=lambda i: (values[i][0], -i))
    return values[best][1], best + 1


def inner_small(root, name, learner, setting, options):
    """The same on a set of one split: five folds of the queries that are not in its test part; a quarter of the
    training queries decides on the number of trees."""
    files = [str(root / name / part) for part in SMALL[name][0]]
    found = []
    for trees in options.trees:
        words = ["--metric", METRIC, "--folds", "5", "--valid-part", "0.25"]
        words += ["--learner", spec_of(learner, setting, f"trees={trees}")]
        result = json.loads(ours("cv", *files, *words))["learners"][0]
        kept = mean(fold["trees"] for fold in result["folds"])
        found.append((result["metrics"][0]["value"], kept))
    return found


def inner(root, options):
    rows = []
    for learner in options.learners:
        for setting in options.settings:
            of_sets = []
            for name in options.sets:
                measure_set = inner_small if name in SMALL else inner_folds
                of_sets.append(measure_set(root, name, learner, setting, options))
            for i, trees in enumerate(options.trees):
                cells = [text for found in of_sets for text in (f"{found[i][0]:.4f}", f"{found[i][1]:.0f}")]
                rows.append([f"`{spec_of(learner, setting)}`", trees, *cells])
                print("  " + " ".join(map(str, rows[-1])), file=sys.stderr)
    names = [text for name in options.sets for text in (name, "kept")]
    print("\nNDCG@10, no test part\n")
    print(markdown(["learner", "trees", *names], rows))


# --- test parts ----------------------------------------------------------------------------------


def scores(learner, files, folder, threads):
    """The scores of the test files as text, and the number of trees."""
    out = Path(folder) / "scores"
    trees = train(learner, files["train"], files["valid"], folder, threads)["trees"]
    binary, model = program("RANKWRIGHT_BIN", "rankwright"), str(Path(folder) / "model")
    measure([binary, "score", model, *files["test"], "--out", str(out), "--json", "--quiet"])
    return out.read_text(), trees


def outer(root, options):
    rows = []
    for learner in options.learners:
        row = [learner]
        for name in options.sets:
            if name not in SMALL:
                folds = [Fold(root / name, number).files for number in range(1, PARTS + 1)]
            elif SMALL[name][1]:
                known, test = SMALL[name]
                paths = [str(root / name / part) for part in (*known, test)]
                folds = [{"train": paths[:1], "valid": paths[1:2], "test": paths[2:]}]
            else:
                row += ["", ""]
                continue
            with tempfile.TemporaryDirectory() as folder:
                found = [scores(learner, files, folder, options.threads) for files in folds]
                path = Path(folder) / "all"
                path.write_text("".join(text for text, _ in found))
                test = [path for files in folds for path in files["test"]]
                value = json.loads(ours("eval", "--scores", str(path), *test, "--metric", METRIC))
            row += [f"{value['metrics'][0]['value']:.4f}", f"{mean(trees for _, trees in found):.0f}"]
        rows.append(row)
        print("  " + " ".join(row), file=sys.stderr)
    print("\nNDCG@10, test parts\n")
    print(markdown(["learner", *(text for name in options.sets for text in (name, "trees"))], rows))


def main():
    def words(separator):
        return lambda text: [word.strip() for word in text.split(separator)]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=words(","), default=[*SETS, *SMALL])
    parser.add_argument("--learners", type=words(","), default=LEARNERS)
    parser.add_argument("--settings", type=words(";"), default=[""])
    parser.add_argument("--trees", type=lambda text: list(map(int, text.split(","))), default=[300, 1000])
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--test", action="store_true", help="measure learners with defaults on test parts")
    options = parser.parse_args()
    root = os.environ.get("RANKWRIGHT_DATA")
    if not root:
        print("defaults: skipped, RANKWRIGHT_DATA does not name a data folder")
        return
    (outer if options.test else inner)(Path(root), options)


if __name__ == "__main__":
    main()
