"""LambdaMART's defaults: both normalisations on and off, and the truncation of pairs.

LightGBM's parameter `lambdarank_norm` switches two normalisations, here `norm_gap` and `norm_query`; each
is tried with and without the other, at three truncations. The value is NDCG@10 on validation parts
alone, at the best number of trees: five folds of each LETOR set, folds as in `quality`, and
generated data. Test parts are never read. The last column is the mean over the kinds of data.
"""

import itertools
import os
import sys
import tempfile
from pathlib import Path

from _common import markdown, measure, program
from _training import Sample
from quality import PARTS, SETS, Fold

TRUNCATIONS = ("auto", "30", "none")
TREES, STOP = 300, 50
GENERATED = Sample(1000, 11), Sample(500, 1000011)


def best_value(train, valid, settings):
    spec = f"lambdamart(trees={TREES}, stop={STOP}, {settings})"
    with tempfile.TemporaryDirectory() as folder:
        words = ["train", *train, "--valid", *valid, "--learner", spec, "--metric", "ndcg@10"]
        words += ["--out", str(Path(folder) / "model"), "--json", "--quiet"]
        output = measure([program("RANKWRIGHT_BIN", "rankwright"), *words]).output
    # The values of an iteration are by validation set and metric; there is one of each.
    return max(one["values"][0][0] for one in output["iterations"])


def kinds():
    """`(name, [(training files, validation files)])` of each kind of data at hand."""
    root = os.environ.get("RANKWRIGHT_DATA")
    if root:
        for name in SETS:
            folds = [Fold(Path(root) / name, number).files for number in range(1, PARTS + 1)]
            yield name, [(files["train"], files["valid"]) for files in folds]
    else:
        print("lambda_defaults: RANKWRIGHT_DATA is not set, generated data only", file=sys.stderr)
    train, valid = GENERATED
    yield "generated", [([str(train.cache)], [str(valid.cache)])]


def main():
    columns = list(kinds())
    rows = []
    for truncation, gap, query in itertools.product(TRUNCATIONS, ("yes", "no"), ("yes", "no")):
        settings = f"truncation={truncation}, norm_gap={gap}, norm_query={query}"
        means = []
        for _, parts in columns:
            values = [best_value(train, valid, settings) for train, valid in parts]
            means.append(sum(values) / len(values))
        means.append(sum(means) / len(means))
        rows.append([truncation, gap, query, *(f"{mean:.4f}" for mean in means)])
        print("  " + " ".join(rows[-1]), file=sys.stderr)
    names = [name for name, _ in columns]
    print(markdown(["truncation", "norm_gap", "norm_query", *names, "mean"], rows))


if __name__ == "__main__":
    main()
