"""Every learner is an estimator that passes scikit-learn's own checks."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import make
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankwright as rw
from rankwright._spec import python_name, table
from rankwright.learners import ESTIMATORS

#: Parameters that make a training on a few rows quick.
QUICK = {
    "trees": 3, "epochs": 2, "rounds": 3, "leaves": 4, "min_rows": 1, "bags": 2, "restarts": 1, "passes": 2, "layers": (4,),
    "learner": "mart(trees=2)", "members": "mart(trees=2)+linear-regression", "weights": {"1": 1.0},
}

# Reasons why an estimator cannot pass some of scikit-learn's checks (`expected_failures`). Each of these checks must
# fail: one that passes is a failure of the test.
PAIRWISE = "a pair or a list of documents has no weight that equals a repetition of one of them"
ROWS = "bins, scales of features and the least number of rows of a leaf count rows, not their weights; sums of trees are in fixed point"
#: Learners without pairs or lists, whose reason is `ROWS` instead of `PAIRWISE`.
POINTWISE = ("mart", "tree", "random-forest", "bagging", "linear-regression", "logistic", "linear-svm", "ordinal")
LISTWISE = "a score depends on the other documents of its query, so that rows cannot be scored alone"
ONE_CLASS = "the labels of this check are 1 and 2, so that every document is relevant"
ONE_QUERY = "candidates are compared on folds of queries, and the data of this check is one query"


#: Checks whose labels are 1 and 2, so that every document is relevant.
RELEVANT = """
check_estimators_dtypes check_fit2d_1feature check_sample_weights_not_an_array check_sample_weights_not_overwritten
check_sample_weights_pandas_series check_sample_weights_shape
""".split()

#: Checks that fit data without query ids, which is one query.
FITTING = """
check_dict_unchanged check_dont_overwrite_parameters check_dtype_object check_estimator_sparse_array
check_estimator_sparse_matrix check_estimator_sparse_tag check_estimators_dtypes
check_estimators_fit_returns_self check_estimators_overwrite_params check_estimators_pickle
check_f_contiguous_array_estimator check_fit2d_1feature check_fit2d_predict1d check_fit_check_is_fitted
check_fit_idempotent check_fit_score_takes_y check_methods_sample_order_invariance check_n_features_in
check_n_features_in_after_fitting check_pipeline_consistency check_positive_only_tag_during_fit
check_readonly_memmap_input check_sample_weights_list check_sample_weights_not_an_array
check_sample_weights_not_overwritten check_sample_weights_pandas_series check_sample_weights_shape
""".split()


def quick(cls):
    """An estimator with parameters that are quick on a few rows."""
    known = inspect.signature(cls.__init__).parameters
    values = {name: value for name, value in QUICK.items() if name in known}
    if cls._learner == "blend":
        values["weights"] = "equal"
    if cls._learner == "auto":
        values = {"effort": "quick"} if "effort" in known else {}
    return cls(**values)


def expected_failures(estimator):
    """The checks that this estimator fails, with the reason."""
    reasons = {}
    if estimator._learner != "linear":
        for kind in ("dense", "sparse"):
            reasons[f"check_sample_weight_equivalence_on_{kind}_data"] = ROWS if estimator._learner in POINTWISE else PAIRWISE
    if estimator._learner in ("blend", "auto"):
        reasons["check_methods_subset_invariance"] = LISTWISE
    if estimator._learner in ("logistic", "linear-svm", "svmmap"):
        reasons |= {check: ONE_CLASS for check in RELEVANT}
    if estimator._learner == "auto":
        reasons |= {check: ONE_QUERY for check in FITTING}
    return reasons


@parametrize_with_checks([quick(cls) for cls in ESTIMATORS.values()], expected_failed_checks=expected_failures, xfail_strict=True)
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(estimator)


def test_there_is_a_class_for_each_learner_with_its_parameters_and_documentation():
    assert len(ESTIMATORS) == len(table())
    for name in ("LambdaMART", "XENDCG", "RankSVM", "RankNet", "Blend", "ListMLE", "CoordinateAscent", "MART", "AdaRank"):
        assert name in ESTIMATORS, sorted(ESTIMATORS)
    for learner in table().values():
        cls = next(cls for cls in ESTIMATORS.values() if cls._learner == learner["name"])
        known = inspect.signature(cls.__init__).parameters
        for parameter in learner["parameters"]:
            assert python_name(parameter["name"]) in known
            assert parameter["help"] in cls.__doc__
        assert getattr(rw, cls.__name__) is cls
        assert rw.learners.ESTIMATORS[cls.__name__] is cls


def test_defaults_are_those_of_the_library():
    for cls in ESTIMATORS.values():
        if cls._learner != "linear":
            assert cls().spec() == cls._learner


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_learner_ranks_what_it_was_trained_on(name):
    rows = make(queries=20)
    estimator = quick(ESTIMATORS[name])
    fitted = estimator.fit(rows.X, rows.y, qid=rows.qid)
    scores = fitted.predict(rows.X, qid=rows.qid)
    assert scores.shape == (len(rows.y),) and scores.dtype == np.float64
    assert fitted.score(rows.X, rows.y, qid=rows.qid) > 0.6
    assert fitted.model_.learner.startswith(fitted._learner)


def test_values_of_parameters_are_python_values():
    assert rw.LambdaMART(trees=5, rate=0.25, line_search=True, stop=None).spec() == "lambdamart(trees=5, rate=0.25, stop=none, line_search=true)"
    assert rw.RankNet(layers=(8, 4)).spec() == "ranknet(layers=8/4)"
    assert rw.RankNet(layers=[16]).spec() == "ranknet(layers=16)"
    assert rw.Bagging(learner=rw.LambdaMART(trees=5), bags=3).spec() == "bagging(learner=lambdamart(trees=5), bags=3)"
    members = rw.Blend(members=[rw.LambdaMART(trees=5), rw.RankSVM()])
    assert members.spec() == "blend(members=lambdamart(trees=5)+ranksvm)"
    # An object with an attribute `transform` would be a transformer of scikit-learn.
    assert rw.RankSVM(feature_transform="rank").spec() == "ranksvm(transform=rank)"
    assert rw.from_spec("ranksvm(transform=rank, c=2)").get_params()["feature_transform"] == "rank"
    with pytest.raises(TypeError, match="did you mean 'trees'"):
        rw.LambdaMART(tres=5)
    with pytest.raises(rw.Error, match="rate"):
        rw.LambdaMART(rate=-1).fit([[1.0], [2.0]], [0, 1], qid=[1, 1])
    with pytest.raises(rw.errors.MissingKey, match="weights"):
        rw.Linear().fit([[1.0], [2.0]], [0, 1], qid=[1, 1])


def test_without_query_ids_there_is_a_warning(rows):
    with pytest.warns(rw.OneQueryWarning, match="all rows are one query"):
        rw.RankSVM().fit(rows.X, rows.y)


def test_a_ranking_is_a_frame_in_the_one_order(rows):
    fitted = rw.LambdaMART(trees=5).fit(rows.X, rows.y, qid=rows.qid)
    ranked = fitted.rank(rows.X, qid=rows.qid, k=3)
    assert list(ranked.columns) == ["qid", "row", "rank", "score"] and len(ranked) == 90
    first = ranked[ranked.qid == 100]
    assert first["rank"].tolist() == [1, 2, 3]
    scores = fitted.predict(rows.X)
    best = sorted(range(12), key=lambda row: (-scores[row], row))[:3]
    assert first.row.tolist() == best and np.array_equal(first.score, scores[best])


def test_names_of_columns_are_compared(rows):
    frame = pd.DataFrame(rows.X, columns=list("abcdef"))
    fitted = rw.LambdaMART(trees=3).fit(frame, rows.y, qid=rows.qid)
    assert fitted.feature_names_in_.tolist() == list("abcdef")
    expected = fitted.predict(frame)
    assert np.array_equal(fitted.predict(pl.from_pandas(frame)), expected)
    with pytest.warns(UserWarning, match="valid feature names"):
        assert np.array_equal(fitted.predict(rows.X), expected)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(pl.from_pandas(frame[list("bacdef")]))
    with pytest.raises(ValueError, match="features"):
        rw.LambdaMART(trees=3).fit(rows.X, rows.y, qid=rows.qid).predict(rows.X[:, :3])


def test_importances_point_to_the_features_that_matter(rows):
    for estimator in (rw.LambdaMART(trees=10), rw.RankSVM()):
        shares = estimator.fit(rows.X, rows.y, qid=rows.qid).feature_importances_
        assert shares.shape == (6,) and shares.sum() == pytest.approx(1) and shares[0] > shares[2:].max()
    frame = pd.DataFrame(rows.X, columns=list("abcdef"))
    frame.insert(2, "session", rows.qid)
    shares = rw.LambdaMART(trees=5, query="session").fit(frame, rows.y).feature_importances_
    assert shares.shape == (7,) and shares[2] == 0


def test_score_is_the_metric_of_the_command(tmp_path, command, rows):
    import json

    from conftest import letor_text

    path = tmp_path / "data.txt"
    path.write_text(letor_text(rows))
    fitted = rw.LambdaMART(trees=5, metric="err@10").fit(rows.X, rows.y, qid=rows.qid)
    fitted.model_.save(tmp_path / "m.model")
    found = json.loads(command("eval", tmp_path / "m.model", path, "--metric", "err@10", "--json"))
    assert fitted.score(rows.X, rows.y, qid=rows.qid) == found["metrics"][0]["value"]


def test_weights_pairs_positions_and_start_reach_the_training(rows):
    plain = rw.LambdaMART(trees=5).fit(rows.X, rows.y, qid=rows.qid)
    weights = np.where(rows.qid == 100, 5.0, 1.0)
    for more in ({"sample_weight": np.random.default_rng(0).uniform(size=len(rows.y))}, {"query_weight": weights}):
        other = rw.LambdaMART(trees=5).fit(rows.X, rows.y, qid=rows.qid, **more)
        assert other.model_ != plain.model_
    by_query = {query: 5.0 if query == 100 else 1.0 for query in rows.qid}
    same = rw.LambdaMART(trees=5).fit(rows.X, rows.y, qid=rows.qid, query_weight=by_query)
    assert same.model_ == other.model_
    pairs = [(row, row + 1) for row in range(0, 360, 12)]
    ranker = rw.RankSVM().fit(rows.X, qid=rows.qid, pairs=pairs)
    scores = ranker.predict(rows.X)
    assert np.mean([scores[better] > scores[worse] for better, worse in pairs]) > 0.6
    longer = rw.LambdaMART(trees=5).fit(rows.X, rows.y, qid=rows.qid, start=plain)
    assert len(longer.model_.to_bytes()) > len(plain.model_.to_bytes())
    assert longer.score(rows.X, rows.y, qid=rows.qid) >= plain.score(rows.X, rows.y, qid=rows.qid)


def test_categories_of_frames_are_learned_and_scored_by_text():
    random = np.random.default_rng(0)
    brand = random.choice(["acme", "best", "cheap"], size=400)
    y, qid = np.where(brand == "best", 2, 0) + (random.normal(size=400) > 1), np.repeat(np.arange(40), 10)
    frame = pd.DataFrame({"noise": random.normal(size=400), "brand": pd.Categorical(brand)})
    fitted = rw.LambdaMART(trees=10, leaves=4, min_rows=5).fit(frame, y, qid=qid)
    scores = fitted.predict(frame)
    assert scores[brand == "best"].min() > scores[brand != "best"].max()
    # Categories of another order and a new one.
    other = frame.assign(brand=pd.Categorical(brand, ["new", "cheap", "best", "acme"]))
    assert np.array_equal(fitted.predict(other), scores)
    assert np.array_equal(fitted.predict(pl.from_pandas(frame)), scores)


def test_explanations_add_up_and_say_why(rows):
    fitted = rw.LambdaMART(trees=10).fit(rows.X, rows.y, qid=rows.qid)
    found = fitted.model_.explain(rw.Dataset(rows.X, rows.y, qid=rows.qid), query=103)
    assert found.rows == list(range(36, 48))
    total = found.base + np.sum(found.contributions, axis=1)
    assert np.allclose(total, fitted.predict(rows.X)[36:48])
    best, second = found.to_pandas().row[:2]
    why = found.why(best, second)
    assert sum(part["share"] for part in why.features) == pytest.approx(why.difference)
    assert "<table>" in why._repr_html_()
    assert fitted.model_.explain_pair(rows.X, 0, 1, qid=rows.qid).difference == pytest.approx(np.subtract(*fitted.predict(rows.X)[:2]))
