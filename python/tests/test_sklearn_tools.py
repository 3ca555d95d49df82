"""The tools of scikit-learn work with query ids: by metadata routing, or by a column of X."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from conftest import make
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankwright as rw

#: Three folds by query.
CUTS = rw.QueryKFold(3)


def ranker(**more):
    return rw.LambdaMART(trees=4, leaves=4, min_rows=1, **more)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(autouse=True)
def strict():
    """In all tests of this file, a query that is divided between folds or a missing query id is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", rw.TornQueryWarning)
        warnings.simplefilter("error", rw.OneQueryWarning)
        yield


@pytest.mark.parametrize("jobs", [1, 2])
def test_grid_search(routing, rows, jobs):
    search = GridSearchCV(ranker(), {"leaves": [2, 4], "rate": [0.1, 0.3]}, cv=CUTS, n_jobs=jobs, error_score="raise")
    search.fit(rows.X, rows.y, qid=rows.qid)
    assert search.best_score_ > 0.7 and len(search.cv_results_["params"]) == 4
    assert search.predict(rows.X).shape == (360,)


def test_random_and_halving_search(routing, rows):
    space = {"leaves": [2, 3, 4, 5], "rate": [0.1, 0.2, 0.3]}
    random = RandomizedSearchCV(ranker(), space, n_iter=3, cv=CUTS, random_state=0, error_score="raise")
    assert random.fit(rows.X, rows.y, qid=rows.qid).best_score_ > 0.7
    halving = HalvingGridSearchCV(
        ranker(), space, cv=CUTS, resource="trees", max_resources=9, min_resources=3, error_score="raise"
    )
    assert halving.fit(rows.X, rows.y, qid=rows.qid).best_score_ > 0.7


def test_cross_validation_by_metric(routing, rows):
    scoring = {"ndcg": rw.scorer("ndcg@10"), "ap": rw.scorer("ap")}
    found = cross_validate(
        ranker(), rows.X, rows.y, params={"qid": rows.qid}, cv=CUTS, scoring=scoring, error_score="raise", return_train_score=True
    )
    by_hand = []
    for train, test in CUTS.split(rows.X, qid=rows.qid):
        fitted = ranker().fit(rows.X[train], rows.y[train], qid=rows.qid[train])
        by_hand.append(fitted.evaluate(rows.X[test], rows.y[test], qid=rows.qid[test], metrics="ap").value)
    assert found["test_ap"].tolist() == by_hand
    assert (found["train_ndcg"] > 0.7).all()


def test_learning_curve(routing, rows):
    sizes, _, test = learning_curve(
        ranker(), rows.X, rows.y, params={"qid": rows.qid}, cv=CUTS, train_sizes=[0.5, 1.0], error_score="raise"
    )
    assert len(sizes) == 2 and (test > 0.5).all()


def test_feature_selection(routing, rows):
    chosen = RFECV(rw.RankSVM(), cv=CUTS, min_features_to_select=1).fit(rows.X, rows.y, qid=rows.qid)
    assert chosen.support_[:2].all()
    forward = SequentialFeatureSelector(rw.RankSVM(), n_features_to_select=2, cv=CUTS)
    forward.fit(rows.X, rows.y, qid=rows.qid)
    assert forward.get_support()[:2].all()


def test_pipeline(routing, rows):
    pipeline = make_pipeline(StandardScaler(), ranker())
    pipeline.fit(rows.X, rows.y, qid=rows.qid)
    assert pipeline.score(rows.X, rows.y, qid=rows.qid) > 0.7
    found = cross_val_score(pipeline, rows.X, rows.y, params={"qid": rows.qid}, cv=CUTS, error_score="raise")
    assert (found > 0.5).all()
    search = GridSearchCV(pipeline, {"lambdamart__leaves": [2, 4]}, cv=CUTS, scoring=rw.scorer("ap"), error_score="raise")
    assert search.fit(rows.X, rows.y, qid=rows.qid).best_score_ > 0.5


def test_a_column_with_query_ids_needs_no_routing(rows):
    frame = pd.DataFrame(rows.X, columns=list("abcdef")).assign(session=[f"s{q}" for q in rows.qid])
    cuts = rw.QueryKFold(3, query="session")
    search = GridSearchCV(ranker(query="session"), {"leaves": [2, 4]}, cv=cuts, error_score="raise", n_jobs=2)
    search.fit(frame, rows.y)
    assert search.best_score_ > 0.7


def test_without_routing_a_score_without_query_ids_raises(rows):
    search = GridSearchCV(ranker(), {"leaves": [2]}, cv=3, error_score="raise")
    with pytest.raises(rw.Error, match="the value would be wrong"):
        search.fit(rows.X, rows.y, qid=rows.qid)
    fitted = ranker().fit(rows.X, rows.y, qid=rows.qid)
    with pytest.raises(rw.Error, match="without them all rows would be one query") as found:
        fitted.score(rows.X, rows.y)
    assert "enable_metadata_routing" in found.value.help


def test_folds_that_tear_queries_apart_warn(routing, rows):
    torn = KFold(4, shuffle=True, random_state=0)
    with pytest.warns(rw.TornQueryWarning, match="tears queries apart"):
        cross_val_score(ranker(), rows.X, rows.y, params={"qid": rows.qid}, cv=torn)


def test_splits_keep_queries_whole():
    rows = make(queries=11, documents=5)
    order = np.random.default_rng(0).permutation(55)
    qid = [f"q{value}" for value in rows.qid[order]]
    for cuts in (rw.QueryKFold(4), rw.QueryKFold(4, shuffle=True, random_state=1), rw.QueryShuffleSplit(4, test_size=0.3, random_state=1)):
        seen = []
        for train, test in cuts.split(rows.X, qid=qid):
            assert not {qid[row] for row in train} & {qid[row] for row in test}
            assert len(train) + len(test) == 55
            seen += test.tolist()
        if isinstance(cuts, rw.QueryKFold):
            assert sorted(seen) == list(range(55))
    assert [part[1].tolist() for part in rw.QueryKFold(2).split(rows.X, groups=qid)] == [
        part[1].tolist() for part in rw.QueryKFold(2).split(rows.X, qid=qid)
    ]
    with pytest.raises(rw.Error, match="needs the query id"):
        next(rw.QueryKFold(2).split(rows.X))
