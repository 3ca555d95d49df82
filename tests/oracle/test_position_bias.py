"""`bias=gam` is the additive position bias of LightGBM's lambdarank. Clicks are simulated on LightGBM's
own example data as its test of position bias does: a page is sorted by one feature, the user clicks by
relevance and leaves after each document with some probability. Both libraries must gain by the
correction, ours no less, and their terms of positions must agree.
"""

import json
import os
from pathlib import Path

import lightgbm
import numpy as np
import pytest

from command import evaluate, run

# The feature that sorts the pages.
LOGGED = 34
# Probability of a click on a document that is looked at, by label, and of leaving after it.
CLICKS = (0.4, 0.6, 0.7, 0.8, 0.9)
LEAVE = 0.2
TREES = 50


def folder():
    """LightGBM's example of lambdarank."""
    data = os.environ.get("RANKWRIGHT_DATA")
    if not data:
        pytest.skip("RANKWRIGHT_DATA is not set: no LightGBM example data")
    return Path(data) / "lightgbm-lambdarank"


def read(name):
    """Labels, features by id from 1, and sizes of queries."""
    lines = (folder() / name).read_text(encoding="utf-8").splitlines()
    sizes = [int(word) for word in (folder() / f"{name}.query").read_text().split()]
    labels = np.array([float(line.split()[0]) for line in lines])
    rows = [dict(pair.split(":") for pair in line.split()[1:]) for line in lines]
    width = 1 + max(int(feature) for row in rows for feature in row)
    x = np.zeros((len(rows), width), dtype=np.float32)
    for line, row in zip(x, rows):
        for feature, value in row.items():
            line[int(feature)] = float(value)
    return labels, x, sizes


def simulate(seed):
    """Clicks, features, positions from 0 and sizes of pages."""
    rng = np.random.default_rng(seed)
    labels, x, sizes = read("rank.train")
    clicks, rows, positions = [], [], []
    start = 0
    for size in sizes:
        page = start + np.argsort(-x[start : start + size, LOGGED], kind="stable")
        stays = True
        for position, row in enumerate(page):
            clicks.append(float(stays and rng.random() < CLICKS[int(labels[row])]))
            stays = stays and rng.random() >= LEAVE
            rows.append(row)
            positions.append(position)
        start += size
    return np.array(clicks), x[rows], np.array(positions), sizes


def write(path, labels, x, sizes, positions=None):
    """The data as LETOR text, with LightGBM's side file of positions."""
    query = np.repeat(np.arange(len(sizes)), sizes)
    with open(path, "w", encoding="utf-8") as out:
        for label, number, row in zip(labels, query, x):
            cells = " ".join(f"{i}:{float(row[i])!r}" for i in range(1, len(row)) if row[i])
            out.write(f"{int(label)} qid:{number} {cells}\n")
    if positions is not None:
        text = "".join(f"{position + 1}\n" for position in positions)
        Path(f"{path}.position").write_text(text, encoding="utf-8")


def theirs(clicks, x, positions, sizes, test, corrected):
    """NDCG@3 of LightGBM on the test data, and its terms of positions."""
    params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [3],
        "num_leaves": 31,
        "learning_rate": 0.1,
        "min_data_in_leaf": 50,
        "num_threads": 1,
        "deterministic": True,
        "seed": 1,
        "verbose": 2,
    }
    lines = []

    class Log:
        def info(self, text):
            lines.append(text)

        warning = info

    lightgbm.register_logger(Log())
    position = positions if corrected else None
    train = lightgbm.Dataset(x, label=clicks, group=sizes, position=position, params=params)
    booster = lightgbm.train(params, train, num_boost_round=TREES)
    labels, test_x, test_sizes = test
    scores = booster.predict(test_x)
    return scores, terms_of(lines)


def terms_of(lines):
    """The last terms that the debug log shows: a block of lines `position bias` of each iteration."""
    text = "".join(lines)
    blocks = text.split("position, bias_factor")
    found = {}
    for part in blocks[-1].replace("[LightGBM]", "\n").splitlines():
        words = part.replace("[Debug]", "").split(",")
        if len(words) >= 2 and words[0].strip().isdigit():
            found[int(words[0])] = float(words[1])
    return found


def ndcg(tmp_path, scores, test):
    """NDCG@3 of scores on the test data, by our command."""
    path = tmp_path / "test.txt"
    file = tmp_path / "scores.txt"
    file.write_text("".join(f"{score!r}\n" for score in np.asarray(scores, float).tolist()))
    return evaluate(tmp_path, ["ndcg(preset=lightgbm)@3"], "--scores", file, path)[0].value


def ours(tmp_path, corrected):
    """Scores of the test data, and terms of positions by position from 1."""
    bias = ", bias=gam" if corrected else ""
    model = tmp_path / f"ours{corrected}.model"
    learner = f"lambdamart(trees={TREES}, leaves=31, rate=0.1, min_rows=50{bias})"
    done = run("train", tmp_path / "train.txt", "--learner", learner, "--out", model, "--json")
    assert done.returncode == 0, done.stderr
    factors = json.loads(done.stdout).get("position_bias")
    done = run("score", model, tmp_path / "test.txt")
    assert done.returncode == 0, done.stderr
    scores = [float(word) for word in done.stdout.split()]
    if not corrected:
        return scores, {}
    return scores, dict(zip(factors["positions"], factors["columns"][0]["values"]))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_terms_of_positions_gain_as_much_as_those_of_lightgbm(tmp_path, seed):
    clicks, x, positions, sizes = simulate(seed)
    test = read("rank.test")
    write(tmp_path / "train.txt", clicks, x, sizes, positions)
    write(tmp_path / "test.txt", *test)
    value = {}
    for corrected in (False, True):
        scores, their_terms = theirs(clicks, x, positions, sizes, test, corrected)
        value["theirs", corrected] = ndcg(tmp_path, scores, test)
        scores, our_terms = ours(tmp_path, corrected)
        value["ours", corrected] = ndcg(tmp_path, scores, test)
    gain = {who: value[who, True] - value[who, False] for who in ("theirs", "ours")}
    print(f"seed {seed}: {value} {gain}")
    assert gain["ours"] >= 0.03, value
    # Where LightGBM prints its terms, both fall with the position in the same way.
    if their_terms:
        both = [p for p in their_terms if p + 1 in our_terms]
        a = [their_terms[p] for p in both]
        b = [our_terms[p + 1] for p in both]
        assert np.corrcoef(a, b)[0, 1] > 0.9, (a, b)
