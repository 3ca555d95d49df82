"""Models that XGBoost trains score the same here to f32, from its JSON and from its UBJSON; what we
write as its JSON, it loads and scores the same."""

import lightgbm
import numpy as np
import pytest
import xgboost

from boosted import CATEGORIES, NAMES, assert_close, convert, edges, grades, make, refused, score

QUIET = {"nthread": 1, "max_depth": 5, "seed": 1, "verbosity": 0}
KINDS = {
    "regression": {"objective": "reg:squarederror"},
    "ndcg": {"objective": "rank:ndcg"},
    "pairwise": {"objective": "rank:pairwise", "base_score": 0.5},
    "dart": {"objective": "reg:squarederror", "booster": "dart", "rate_drop": 0.5},
    "leaf by leaf": {"objective": "rank:ndcg", "grow_policy": "lossguide", "max_leaves": 20},
    "pruned": {"objective": "reg:squarederror", "tree_method": "exact", "gamma": 5.0},
    "forest": {"objective": "reg:squarederror", "num_parallel_tree": 4, "subsample": 0.6},
    "linear": {"objective": "reg:squarederror", "booster": "gblinear"},
}


def matrix(x, y=None, names=None, categories=False):
    types = ["q"] * x.shape[1]
    if categories:
        types[CATEGORIES] = "c"
    return xgboost.DMatrix(
        x, y, feature_names=names, feature_types=types, enable_categorical=categories, nthread=1
    )


def train(params, names=None, categories=False, rounds=20, labels=None):
    x, y = make(5)
    is_rank = params.get("objective", "").startswith("rank:")
    data = matrix(x, labels if labels is not None else grades(y) if is_rank else y, names, categories)
    if is_rank:
        data.set_group([20] * 30)
    return xgboost.train(QUIET | params, data, rounds), edges(x)


def save(booster, folder):
    """The files of the JSON format and of the UBJSON format."""
    paths = folder / "model.json", folder / "model.ubj"
    for path in paths:
        booster.save_model(path)
    return paths


@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_margins(tmp_path, kind, names):
    booster, x = train(KINDS[kind], names)
    theirs = booster.predict(matrix(x, names=names), output_margin=True)
    both = [score(tmp_path, model, x, names) for model in save(booster, tmp_path)]
    assert_close(both[0], theirs)
    assert (both[0] == both[1]).all()


@pytest.mark.parametrize("one_hot", [1, 100])
def test_categories_score_the_same(tmp_path, one_hot):
    params = {"objective": "rank:ndcg", "max_cat_to_onehot": one_hot}
    booster, x = train(params, NAMES, categories=True)
    theirs = booster.predict(matrix(x, names=NAMES, categories=True))
    for model in save(booster, tmp_path):
        assert_close(score(tmp_path, model, x, NAMES), theirs)
    out = convert(tmp_path / "model.json", "xgboost", tmp_path / "out.json")
    loaded = xgboost.Booster(model_file=out)
    assert_close(loaded.predict(matrix(x, names=NAMES, categories=True)), theirs)


@pytest.mark.parametrize(
    "objective",
    [
        "binary:logistic",
        "reg:logistic",
        "binary:logitraw",
        "binary:hinge",
        "count:poisson",
        "reg:gamma",
        "reg:tweedie",
        "reg:absoluteerror",
        "reg:squaredlogerror",
        "reg:pseudohubererror",
        "survival:cox",
        "rank:map",
    ],
)
@pytest.mark.parametrize("base", [None, 0.3])
def test_base_scores_are_transformed_as_the_objective_does(tmp_path, objective, base):
    _, y = make(5)
    labels = (y > 0) * 1.0 + (objective == "reg:gamma")
    params = {"objective": objective} | ({} if base is None else {"base_score": base})
    booster, x = train(params, labels=labels, rounds=4)
    theirs = booster.predict(matrix(x), output_margin=True)
    for model in save(booster, tmp_path):
        assert_close(score(tmp_path, model, x), theirs)


@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("kind", KINDS)
def test_what_we_write_it_loads_and_scores_the_same(tmp_path, kind, names):
    booster, x = train(KINDS[kind], names)
    ours = convert(save(booster, tmp_path)[1], "rankwright", tmp_path / "ours.model")
    out = convert(ours, "xgboost", tmp_path / "out.json")
    loaded = xgboost.Booster(model_file=out)
    assert loaded.feature_names == booster.feature_names
    data = matrix(x, names=names)
    theirs = booster.predict(data, output_margin=True)
    assert_close(loaded.predict(data).astype(float), theirs)
    assert_close(score(tmp_path, out, x, names), theirs)
    # It writes our trees out again as it read them, and our own writing is stable.
    loaded.save_model(tmp_path / "second.ubj")
    assert_close(score(tmp_path, tmp_path / "second.ubj", x, names), theirs)
    again = convert(out, "xgboost", tmp_path / "again.json")
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("kind", ["regression", "ndcg", "leaf by leaf", "pruned"])
def test_its_dumps_are_what_the_plugins_of_elasticsearch_take(tmp_path, kind, names):
    # A dump leaves the base score out, and so do the plugins.
    booster, x = train(KINDS[kind] | {"base_score": 0.0}, names)
    dump = tmp_path / "dump.json"
    booster.dump_model(dump, dump_format="json")
    theirs = booster.predict(matrix(x, names=names), output_margin=True)
    assert_close(score(tmp_path, dump, x, names), theirs)
    out = convert(dump, "elasticsearch", tmp_path / "out.json")
    assert_close(score(tmp_path, out, x, names), theirs)


@pytest.mark.parametrize("kind", ["regression", "ndcg", "dart"])
def test_its_trees_score_the_same_in_lightgbm(tmp_path, kind):
    booster, x = train(KINDS[kind], NAMES)
    out = convert(save(booster, tmp_path)[0], "lightgbm", tmp_path / "out.txt")
    theirs = booster.predict(matrix(x, names=NAMES), output_margin=True)
    assert_close(lightgbm.Booster(model_file=out).predict(x), theirs)


@pytest.mark.parametrize(
    "params, columns, reason",
    [
        ({"objective": "multi:softprob", "num_class": 5}, 1, "num_class is 5"),
        ({"multi_strategy": "multi_output_tree"}, 2, "num_target is 2"),
    ],
)
def test_models_that_our_format_cannot_hold_are_refused(tmp_path, params, columns, reason):
    _, y = make(5)
    labels = np.column_stack([grades(y)] * columns)
    booster, _ = train(params, labels=labels, rounds=2)
    for model in save(booster, tmp_path):
        assert reason in refused(model, tmp_path / "out.model")
