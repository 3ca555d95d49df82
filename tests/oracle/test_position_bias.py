"""`bias=gam` is the additive position bias of LightGBM's lambdarank. Clicks are simulated on LightGBM's
own example data as its test of position bias does: a page is sorted by one feature, the user clicks by
relevance and leaves after each document with some probability. The correction must raise NDCG in both
libraries, in ours by no less, and the terms must agree: the term of a position is the number that is
added to the scores of the documents shown there.
"""

import json
import os
import random
import re
from pathlib import Path

import lightgbm
import numpy as np
import pytest

from command import evaluate, run

# The feature that sorts the pages.
LOGGED = 34
# Probability of a click on an examined document, by label, and of leaving after it.
CLICKS = (0.4, 0.6, 0.7, 0.8, 0.9)
LEAVE = 0.2
TREES = 50
# 10 is the seed of LightGBM's own test, which requires a gain of 0.03.
SEEDS = range(10, 18)


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
    draws = random.Random(seed)
    labels, x, sizes = read("rank.train")
    clicks, positions = np.zeros(len(labels)), np.zeros(len(labels), dtype=int)
    start = 0
    for size in sizes:
        page = start + np.argsort(-x[start : start + size, LOGGED], kind="stable")
        stays = True
        for position, row in enumerate(page):
            positions[row] = position
            if stays:
                clicks[row] = draws.random() < CLICKS[int(labels[row])]
                stays = draws.random() >= LEAVE
        start += size
    return clicks, x, positions, sizes


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
    """LightGBM's scores of the test data, and its terms by position from 0."""
    params = {
        "objective": "lambdarank",
        "num_leaves": 31,
        "learning_rate": 0.1,
        "bagging_freq": 1,
        "bagging_fraction": 0.9,
        "min_data_in_leaf": 50,
        "min_sum_hessian_in_leaf": 5.0,
        "num_threads": 1,
        "deterministic": True,
        "seed": 0,
        # The terms are only logged.
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
    # The terms of each round are logged; the last ones count.
    logged = re.findall(r"\[Debug\]\s+(\d+)\s+(-?[0-9.e-]+)\s*$", "\n".join(lines), re.MULTILINE)
    return booster.predict(test[1]), {int(position): float(term) for position, term in logged}


def ndcg(tmp_path, scores, test):
    """NDCG@3 of scores on the test data, by our command."""
    path = tmp_path / "test.txt"
    file = tmp_path / "scores.txt"
    file.write_text("".join(f"{score!r}\n" for score in np.asarray(scores, float).tolist()))
    return evaluate(tmp_path, ["ndcg(preset=lightgbm)@3"], "--scores", file, path)[0].value


def ours(tmp_path, corrected):
    """Our scores of the test data, and our terms by position from 1."""
    bias = ", bias=gam" if corrected else ""
    model = tmp_path / f"corrected-{corrected}.model"
    same = "leaves=31, rate=0.1, min_rows=50, min_hessian=5, truncation=30, sample_queries=0.9"
    learner = f"lambdamart(trees={TREES}, {same}{bias})"
    done = run("train", tmp_path / "train.txt", "--learner", learner, "--out", model, "--json")
    assert done.returncode == 0, done.stderr
    factors = json.loads(done.stdout).get("position_bias")
    done = run("score", model, tmp_path / "test.txt")
    assert done.returncode == 0, done.stderr
    scores = [float(word) for word in done.stdout.split()]
    if not corrected:
        return scores, {}
    return scores, dict(zip(factors["positions"], factors["columns"][0]["values"]))


def test_terms_of_positions_gain_as_much_as_those_of_lightgbm(tmp_path):
    test = read("rank.test")
    write(tmp_path / "test.txt", *test)
    gains = {"theirs": [], "ours": []}
    for seed in SEEDS:
        clicks, x, positions, sizes = simulate(seed)
        write(tmp_path / "train.txt", clicks, x, sizes, positions)
        value = {}
        for corrected in (False, True):
            scores, their_terms = theirs(clicks, x, positions, sizes, test, corrected)
            value["theirs", corrected] = ndcg(tmp_path, scores, test)
            scores, our_terms = ours(tmp_path, corrected)
            value["ours", corrected] = ndcg(tmp_path, scores, test)
        for who, list_of_gains in gains.items():
            list_of_gains.append(value[who, True] - value[who, False])
        # Rare positions have few documents to learn from.
        frequent = [position for position in their_terms if np.sum(positions == position) >= 100]
        terms = [[their_terms[p] for p in frequent], [our_terms[p + 1] for p in frequent]]
        correlation = np.corrcoef(terms)[0, 1]
        print(f"seed {seed}: {value}, correlation of {len(frequent)} terms {correlation:.4f}")
        assert len(frequent) > 5 and correlation > 0.98, terms
    print(f"mean gains {({who: float(np.mean(all)) for who, all in gains.items()})}")
    # LightGBM's own test requires this gain in one simulation. The test data has 50 queries, so that the mean
    # of eight simulations still varies by about 0.01.
    assert np.mean(gains["ours"]) >= 0.03, gains
    assert np.mean(gains["ours"]) >= np.mean(gains["theirs"]) - 0.01, gains
