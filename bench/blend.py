"""The recipe of the Yahoo challenge's winner against the best of its own members.

`blend(preset=yahoo)` is trained on the folds of `learners`; then each of its members alone, as the
model names it. The member that does best on the validation part stands for them on the test part.
Significance is Fisher's randomisation test, paired by query, over the test parts as one data set.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

from _common import markdown, measure, program, verdict
from learners import pooled
from quality import ALPHA, PARTS, SETS, Fold, ours

SPEC = "blend(preset=yahoo)"
METRIC = "ndcg@10"
MEMBERS = 12
SEED = 1


def trained(spec, seed, fold, folder):
    """Trains a spec on a fold: the metric on the validation part, and the scores of the test part. The model is
    left in the folder."""
    model, scores = str(Path(folder) / "model"), str(Path(folder) / "scores")
    binary = program("RANKWRIGHT_BIN", "rankwright")
    words = ["train", *fold.files["train"], "--valid", *fold.files["valid"]]
    words += ["--learner", spec, "--seed", str(seed), "--out", model]
    measure([binary, *words, "--json", "--quiet"])
    measure([binary, "score", model, *fold.files["test"], "--out", scores, "--json", "--quiet"])
    found = json.loads(ours("eval", model, *fold.files["valid"], "--metric", METRIC))
    return found["metrics"][0]["value"], Path(scores).read_text().split()


def fit(fold):
    """The test scores of the blend and of its best member alone, and the spec of this member."""
    with tempfile.TemporaryDirectory() as folder:
        _, blend = trained(SPEC, SEED, fold, folder)
        inspected = json.loads(ours("model", "inspect", str(Path(folder) / "model")))
        members = [member["learner"] for member in inspected["members"]]
        assert len(members) == MEMBERS, members
        # Member k of a blend has the seed plus k.
        alone = [trained(spec, SEED + k, fold, folder) for k, spec in enumerate(members)]
        best = max(range(MEMBERS), key=lambda k: alone[k][0])
        return blend, alone[best][1], members[best]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    options = parser.parse_args()
    root = os.environ.get("RANKWRIGHT_DATA")
    if not root:
        print("blend: skipped, RANKWRIGHT_DATA does not name a data folder")
        return
    rows, better = [], []
    for name in options.sets:
        folds = [Fold(Path(root) / name, number) for number in range(1, PARTS + 1)]
        fits = [fit(fold) for fold in folds]
        scores = {"member": [], "blend": []}
        for blend, member, _ in fits:
            scores["blend"] += blend
            scores["member"] += member
        files = [path for fold in folds for path in fold.files["test"]]
        found = pooled(files, scores, [METRIC], "member")[0]
        versus = found["blend"]["versus_baseline"]
        values = [f"{found[system]['value']:.4f}" for system in ("blend", "member")]
        rows.append([name, *values, f"{versus['difference']:+.4f}", f"{versus['p']:.4f}"])
        better.append(versus["difference"] > 0 and versus["p"] < ALPHA)
    print(markdown(["set", f"{SPEC}", "best member", "difference", "p"], rows))
    print()
    verdict("the blend is significantly above its best member on one of the sets", any(better), True)


if __name__ == "__main__":
    main()
