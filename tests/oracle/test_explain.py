"""Contributions of features equal those of LightGBM (pred_contrib) and XGBoost (pred_contribs) for
their own models."""

import json

import lightgbm
import numpy as np
import pytest
import xgboost

from boosted import CATEGORIES, FEATURES, NAMES, convert, edges, grades, make
from command import run

QUIET = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5, "num_leaves": 15, "seed": 1}
KINDS = {
    "regression": {"objective": "regression"},
    "lambdarank": {"objective": "lambdarank"},
    "deep": {"objective": "regression", "num_leaves": 255, "min_data_in_leaf": 1},
    "bagging": {"objective": "regression", "bagging_freq": 1, "bagging_fraction": 0.5},
    "dart": {"objective": "regression", "boosting": "dart", "drop_rate": 0.5},
    "zero as missing": {"objective": "regression", "zero_as_missing": True},
    "one leaf": {"objective": "regression", "min_data_in_leaf": 10_000},
    "few leaves": {"objective": "regression", "min_gain_to_split": 60.0},
}
# The tolerance for sums of products in another order.
CLOSE = 1e-12


def write(folder, x, names):
    """The rows as documents of one query."""
    data = folder / "data.csv"
    lines = [",".join(["qid", "label", *names])]
    for row in x:
        cells = ("" if np.isnan(value) else repr(float(value)) for value in row)
        lines.append(",".join(["1", "0", *cells]))
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return data


def explain(folder, model, x, names, *more):
    """Our contributions (rows by features), with the base in the last column, as LightGBM and XGBoost have it."""
    done = run("explain", model, write(folder, x, names), "--query", "1", "--json", *more)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    ours = np.zeros((len(x), len(names) + 1))
    ours[:, -1] = answer["base"]
    column_of = {name: column for column, name in enumerate(names)}
    for document in answer["documents"]:
        for part in document["contributions"]:
            ours[document["row"], column_of[part["feature"]]] = part["contribution"]
        total = ours[document["row"]].sum()
        assert abs(total - document["score"]) <= 1e-9 * max(1, abs(document["score"]))
    return ours


def assert_near(ours, theirs, tolerance):
    """Equal up to a tolerance that is relative to the largest contribution."""
    worst = np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-9)
    print("largest difference", worst)
    assert worst <= tolerance, worst


def lightgbm_trained(params, categories, names):
    x, y = make(3)
    is_rank = params["objective"] == "lambdarank"
    data = lightgbm.Dataset(
        x,
        label=grades(y) if is_rank else y,
        group=[20] * 30 if is_rank else None,
        feature_name=names,
        categorical_feature=[CATEGORIES] if categories else "auto",
        params=QUIET,
    )
    return lightgbm.train(QUIET | params, data, 30), edges(x)


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_contributions_are_lightgbms(tmp_path, kind, categories):
    booster, x = lightgbm_trained(KINDS[kind], categories, NAMES)
    booster.save_model(tmp_path / "model.txt")
    theirs = booster.predict(x, pred_contrib=True)
    assert_near(explain(tmp_path, tmp_path / "model.txt", x, NAMES), theirs, CLOSE)


def test_contributions_stay_the_same_in_our_own_format(tmp_path):
    booster, x = lightgbm_trained(KINDS["lambdarank"], True, NAMES)
    booster.save_model(tmp_path / "model.txt")
    ours = convert(tmp_path / "model.txt", "rankwright", tmp_path / "ours.model")
    theirs = booster.predict(x, pred_contrib=True)
    assert_near(explain(tmp_path, ours, x, NAMES), theirs, CLOSE)


def xgboost_trained(objective):
    x, y = make(3)
    data = xgboost.DMatrix(x, label=grades(y), feature_names=NAMES)
    if objective.startswith("rank"):
        data.set_group([20] * 30)
    params = {"objective": objective, "max_depth": 6, "nthread": 1, "base_score": 0.5}
    return xgboost.train(params, data, 30), edges(x)


def test_contributions_are_xgboosts_where_its_covers_count_rows(tmp_path):
    booster, x = xgboost_trained("reg:squarederror")
    booster.save_model(tmp_path / "model.json")
    data = xgboost.DMatrix(x, feature_names=NAMES)
    theirs = booster.predict(data, pred_contribs=True).astype(float)
    # Its contributions are f32.
    assert_near(explain(tmp_path, tmp_path / "model.json", x, NAMES), theirs, 2e-5)


def test_without_counts_the_data_at_hand_is_the_background(tmp_path):
    booster, x = xgboost_trained("rank:ndcg")
    booster.save_model(tmp_path / "model.json")
    ours = explain(tmp_path, tmp_path / "model.json", x, NAMES)
    data = xgboost.DMatrix(x, feature_names=NAMES)
    scores = booster.predict(data, output_margin=True)
    assert ours.shape == (len(x), FEATURES + 1)
    np.testing.assert_allclose(ours[0, -1], scores.mean(dtype=float), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ours.sum(axis=1), scores, rtol=1e-4, atol=1e-5)
