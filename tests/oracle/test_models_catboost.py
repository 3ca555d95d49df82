"""Models that CatBoost trains score the same here, from its JSON: oblivious trees and others, with
missing values as the smallest, as the largest or not at all, with names of features and without."""

import catboost
import numpy as np
import pytest

from boosted import NAMES, assert_close, convert, edges, grades, make, refused, score

QUIET = {"iterations": 40, "depth": 5, "thread_count": 1, "random_seed": 1, "verbose": False}
QUIET |= {"allow_writing_files": False}
KINDS = {
    "regression": {"loss_function": "RMSE"},
    "ranking": {"loss_function": "YetiRank"},
    "query rmse": {"loss_function": "QueryRMSE", "nan_mode": "Max"},
    "leaf by leaf": {"loss_function": "RMSE", "grow_policy": "Lossguide", "max_leaves": 20},
    "level by level": {"loss_function": "YetiRank", "grow_policy": "Depthwise", "nan_mode": "Max"},
    "deep": {"loss_function": "RMSE", "depth": 10, "iterations": 5},
    "a probability": {"loss_function": "Logloss"},
}
RANKING = ("YetiRank", "QueryRMSE")


def train(params, names=None, x=None):
    data, y = make(4)
    data = data if x is None else x
    ranks = params["loss_function"] in RANKING
    label = grades(y) if ranks else (y > 1).astype(int) if "Log" in params["loss_function"] else y
    groups = np.repeat(np.arange(30), 20) if ranks else None
    pool = catboost.Pool(data, label, group_id=groups, feature_names=names)
    return catboost.CatBoost(QUIET | params).fit(pool)


def save(model, folder):
    path = folder / "model.json"
    model.save_model(str(path), format="json")
    return path


@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_agree(tmp_path, kind, names):
    model = train(KINDS[kind], names)
    x = edges(make(4)[0])
    ours = score(tmp_path, save(model, tmp_path), x, names)
    theirs = model.predict(x, prediction_type="RawFormulaVal")
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["regression", "leaf by leaf"])
def test_features_that_never_missed_a_value_agree_too(tmp_path, kind):
    x = np.nan_to_num(make(4)[0])
    model = train(KINDS[kind], x=x)
    ours = score(tmp_path, save(model, tmp_path), x)
    np.testing.assert_allclose(ours, model.predict(x), rtol=1e-12, atol=1e-12)


def test_scale_and_bias_are_applied(tmp_path):
    model = train(KINDS["regression"])
    model.set_scale_and_bias(2.5, -7.0)
    x = edges(make(4)[0])
    ours = score(tmp_path, save(model, tmp_path), x)
    np.testing.assert_allclose(ours, model.predict(x), rtol=1e-12, atol=1e-12)


def test_without_trees_the_bias_is_left(tmp_path):
    model = train(KINDS["regression"])
    model.shrink(0)
    _, bias = model.get_scale_and_bias()
    assert (score(tmp_path, save(model, tmp_path), make(4)[0]) == bias).all()


def test_its_trees_score_the_same_in_our_own_format(tmp_path):
    model = train(KINDS["ranking"], NAMES)
    x = edges(make(4)[0])
    ours = convert(save(model, tmp_path), "rankwright", tmp_path / "ours.model")
    assert_close(score(tmp_path, ours, x, NAMES), model.predict(x))


def test_models_that_our_format_cannot_hold_are_refused(tmp_path):
    x, y = make(4)
    rows = [[f"c{int(row[3]) if row[3] == row[3] else 0}", *row[:3]] for row in x]
    pool = catboost.Pool(rows, y, cat_features=[0])
    model = catboost.CatBoost(QUIET | KINDS["regression"]).fit(pool)
    assert "1 categorical feature" in refused(save(model, tmp_path), tmp_path / "out.model")
    model = catboost.CatBoost(QUIET | {"loss_function": "MultiClass"}).fit(x, grades(y))
    assert "outputs" in refused(save(model, tmp_path), tmp_path / "out.model")
