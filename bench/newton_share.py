"""The share of pairs inside a leaf in the denominator of its Newton step.

With G the sum of the lambdas in a leaf, the usual step (`newton=per-document`) is -G/H, where H sums, over
the documents of the leaf, the second derivatives of all pairs of the document. The step across leaves
(`newton=cross-leaf`) is -G/A, where A leaves out the pairs whose documents are both in the leaf. Both are
taken on the same tree, the next one after some trees with the usual step. So 1 - A/H, the share of the pairs
inside the leaf, is one minus the ratio of the two leaf values. The mean over the documents is printed. Only
training parts are read; docs/newton-step.md says what the share is for.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

from _common import markdown, measure, program
from _training import Sample
from quality import SETS, Fold

LEAVES = (7, 31, 255)
# Numbers of trees before the measured one.
GROWN = (0, 10, 100)
GENERATED = Sample(1000, 11)


def train(files, folder, name, spec, start):
    model = str(Path(folder) / name)
    words = ["train", *files, "--learner", spec, "--out", model, "--json", "--quiet"]
    words += ["--start", start] if start else []
    measure([program("RANKWRIGHT_BIN", "rankwright"), *words])
    return model


def last_tree(model, folder):
    """Splits, leaf values and documents in each leaf of the last tree, by LightGBM's text."""
    text = Path(folder) / "tree.txt"
    words = ["model", "convert", model, "--to", "lightgbm", "--out", str(text), "--json", "--quiet"]
    measure([program("RANKWRIGHT_BIN", "rankwright"), *words])
    tree = text.read_text().split("Tree=")[-1]

    def field(name):
        return re.search(rf"^{name}=(.*)$", tree, re.MULTILINE).group(1).split()

    splits = field("split_feature"), field("threshold")
    return splits, *([float(word) for word in field(f"leaf_{x}")] for x in ("value", "count"))


def share(files, leaves, norm, grown):
    """The mean share over the documents of the tree after `grown` trees; `norm` switches both normalisations."""
    common = f"leaves={leaves}, norm_gap={norm}, norm_query={norm}"
    with tempfile.TemporaryDirectory() as folder:
        start = None
        if grown:
            start = train(files, folder, "start", f"lambdamart(trees={grown}, {common})", None)
        next_tree = f"lambdamart(trees=1, rate=1, {common}, newton="
        trees = [
            last_tree(train(files, folder, newton, f"{next_tree}{newton})", start), folder)
            for newton in ("per-document", "cross-leaf")
        ]
    (splits, usual_values, counts), (other_splits, cross_leaf_values, _) = trees
    if splits != other_splits:
        sys.exit("the two trees are not the same")
    # A leaf without pairs to others has no step, and no share.
    leaves_of_tree = zip(usual_values, cross_leaf_values, counts, strict=True)
    found = [(1 - usual / cross, count) for usual, cross, count in leaves_of_tree if cross]
    return sum(part * count for part, count in found) / sum(count for _, count in found)


def kinds():
    root = os.environ.get("RANKWRIGHT_DATA")
    if root:
        for name in SETS:
            yield name, Fold(Path(root) / name, 1).files["train"]
    else:
        print("newton_share: RANKWRIGHT_DATA is not set, generated data only", file=sys.stderr)
    yield "generated", [str(GENERATED.cache)]


def main():
    rows = []
    for name, files in kinds():
        for norm in ("yes", "no"):
            for leaves in LEAVES:
                shares = [share(files, leaves, norm, grown) for grown in GROWN]
                rows.append([name, norm, leaves, *(f"{100 * part:.0f} %" for part in shares)])
                print("  " + " ".join(map(str, rows[-1])), file=sys.stderr)
    trees = ["first tree", *(f"after {grown}" for grown in GROWN[1:])]
    print(markdown(["data", "normalised", "leaves", *trees], rows))


if __name__ == "__main__":
    main()
