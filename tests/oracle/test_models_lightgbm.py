"""Models that LightGBM trains score the same to the bit here, from its text and from its JSON; what
we write as its text, it loads and scores the same to the bit."""

import json

import lightgbm
import numpy as np
import pytest
import xgboost

from boosted import (
    CATEGORIES,
    NAMES,
    assert_close,
    assert_same,
    convert,
    edges,
    grades,
    make,
    refused,
    score,
)

QUIET = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5, "num_leaves": 15, "seed": 1}
KINDS = {
    "regression": {"objective": "regression"},
    "lambdarank": {"objective": "lambdarank"},
    "xendcg": {"objective": "rank_xendcg"},
    "dart": {"objective": "regression", "boosting": "dart", "drop_rate": 0.5},
    "no missing": {"objective": "regression", "use_missing": False},
    "zero as missing": {"objective": "regression", "zero_as_missing": True},
    "one leaf": {"objective": "regression", "min_data_in_leaf": 10_000},
}


def train(params, names=None, categories=False, rounds=30, labels=None):
    x, y = make(3)
    is_rank = params.get("objective") in ("lambdarank", "rank_xendcg")
    data = lightgbm.Dataset(
        x,
        label=labels if labels is not None else grades(y) if is_rank else y,
        group=[20] * 30 if is_rank else None,
        feature_name=names or "auto",
        categorical_feature=[CATEGORIES] if categories else "auto",
        params=QUIET,
    )
    return lightgbm.train(QUIET | params, data, rounds), edges(x)


def save(booster, folder):
    """The files of the text format and of the JSON format."""
    text, dump = folder / "model.txt", folder / "model.json"
    booster.save_model(text)
    dump.write_text(json.dumps(booster.dump_model()), encoding="utf-8")
    return text, dump


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_the_same_to_the_bit(tmp_path, kind, names, categories):
    booster, x = train(KINDS[kind], names, categories)
    theirs = booster.predict(x, raw_score=True)
    for model in save(booster, tmp_path):
        assert_same(score(tmp_path, model, x, names), theirs)


def test_scores_of_a_probability_are_raw_ones(tmp_path):
    _, y = make(3)
    booster, x = train({"objective": "binary"}, labels=y > 1)
    theirs = booster.predict(x, raw_score=True)
    for model in save(booster, tmp_path):
        assert_same(score(tmp_path, model, x), theirs)


def test_forests_are_averages(tmp_path):
    params = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
    booster, x = train({"objective": "regression"} | params)
    for model in save(booster, tmp_path):
        ours = score(tmp_path, model, x)
        np.testing.assert_allclose(ours, booster.predict(x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("kind", KINDS)
def test_what_we_write_it_loads_and_scores_the_same(tmp_path, kind, names, categories):
    booster, x = train(KINDS[kind], names, categories)
    text, _ = save(booster, tmp_path)
    ours = convert(text, "rankwright", tmp_path / "ours.model")
    first = convert(ours, "lightgbm", tmp_path / "first.txt")
    loaded = lightgbm.Booster(model_file=first)
    assert loaded.feature_name() == booster.feature_name()
    assert_same(loaded.predict(x), booster.predict(x, raw_score=True))
    # It writes our trees out again as it read them.
    loaded.save_model(tmp_path / "second.txt")
    assert_same(score(tmp_path, tmp_path / "second.txt", x, names), loaded.predict(x))
    # And our own writing is stable.
    again = convert(first, "lightgbm", tmp_path / "again.txt")
    assert again.read_bytes() == first.read_bytes()


def test_it_gives_the_same_contributions_for_what_we_write(tmp_path):
    # Contributions depend on the numbers of rows in the nodes, which the file has too.
    booster, x = train(KINDS["lambdarank"])
    text, _ = save(booster, tmp_path)
    loaded = lightgbm.Booster(model_file=convert(text, "lightgbm", tmp_path / "out.txt"))
    theirs = booster.predict(x, pred_contrib=True)
    np.testing.assert_allclose(loaded.predict(x, pred_contrib=True), theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "params, reason",
    [
        ({"objective": "regression", "linear_tree": True}, "leaves are linear models"),
        ({"objective": "multiclass", "num_class": 5}, "num_class is 5"),
    ],
)
def test_models_that_our_format_cannot_hold_are_refused(tmp_path, params, reason):
    _, y = make(3)
    booster, _ = train(params, labels=grades(y), rounds=3)
    for model in save(booster, tmp_path):
        assert reason in refused(model, tmp_path / "out.model")


@pytest.mark.parametrize("categories", [False, True])
def test_its_trees_score_the_same_in_xgboost(tmp_path, categories):
    booster, x = train(KINDS["lambdarank"], NAMES, categories)
    text, _ = save(booster, tmp_path)
    loaded = xgboost.Booster(model_file=convert(text, "xgboost", tmp_path / "out.json"))
    types = loaded.feature_types
    data = xgboost.DMatrix(x, feature_names=NAMES, feature_types=types, enable_categorical=True)
    assert_close(loaded.predict(data), booster.predict(x, raw_score=True))
