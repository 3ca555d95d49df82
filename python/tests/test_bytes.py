"""The bytes of a model are those that the command writes, whatever the form of the data."""

from __future__ import annotations

import copy
import hashlib
import pickle

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import letor_text
from sklearn.base import clone

import rankwright as rw

NAMES = list("abcdef")
SPEC = "lambdamart(trees=8, leaves=5, min_rows=3)"


def ranker(**more):
    return rw.LambdaMART(trees=8, leaves=5, min_rows=3, **more)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_arrays_and_text_files_give_the_bytes_of_the_command(tmp_path, command, rows, threads):
    text = tmp_path / "train.txt"
    text.write_text(letor_text(rows))
    command("train", text, "--learner", SPEC, "--out", tmp_path / "m.model", "--threads", threads)
    expected = (tmp_path / "m.model").read_bytes()
    for X in (rows.X, rows.X.astype(np.float64), np.asfortranarray(rows.X)):
        assert ranker(n_jobs=threads).fit(X, rows.y, qid=rows.qid).model_.to_bytes() == expected
    fitted = ranker(n_jobs=threads).fit(text)
    assert fitted.model_.to_bytes() == expected
    assert fitted.model_.sha256 == hashlib.sha256(expected).hexdigest()
    assert ranker(n_jobs=threads).fit(rows.X, rows.y, group=[12] * 30).model_.to_bytes() == expected


def test_frames_and_tables_give_the_bytes_of_the_command(tmp_path, command, rows):
    frame = pd.DataFrame(rows.X, columns=NAMES)
    table = tmp_path / "train.csv"
    frame.assign(qid=rows.qid, label=rows.y)[["qid", "label", *NAMES]].to_csv(table, index=False)
    command("train", table, "--learner", SPEC, "--out", tmp_path / "m.model")
    expected = (tmp_path / "m.model").read_bytes()
    for one in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert ranker().fit(one, rows.y, qid=rows.qid).model_.to_bytes() == expected
    with_query = frame.assign(session=rows.qid)
    assert ranker(query="session").fit(with_query, rows.y).model_.to_bytes() == expected
    assert ranker(query="session").fit(pl.from_pandas(with_query), rows.y).model_.to_bytes() == expected


def test_validation_data_and_seeds_give_the_bytes_of_the_command(tmp_path, command, rows):
    from conftest import make

    other = make(seed=2)
    (tmp_path / "train.txt").write_text(letor_text(rows))
    (tmp_path / "valid.txt").write_text(letor_text(other))
    spec = "lambdamart(trees=40, leaves=5, min_rows=3, stop=4, sample_features=0.5)"
    words = ["train", tmp_path / "train.txt", "--valid", tmp_path / "valid.txt", "--learner", spec, "--seed", 7]
    command(*words, "--out", tmp_path / "m.model")
    fitted = rw.LambdaMART(trees=40, leaves=5, min_rows=3, stop=4, sample_features=0.5, random_state=7)
    fitted.fit(rows.X, rows.y, qid=rows.qid, eval_set=[(other.X, other.y, other.qid)])
    assert fitted.model_.to_bytes() == (tmp_path / "m.model").read_bytes()
    assert fitted.history_["best"] == fitted.best_iteration_ < 40
    pair = rw.LambdaMART(**fitted.get_params()).fit(
        rows.X, rows.y, group=[12] * 30, eval_set=[(other.X, other.y)], eval_group=[[12] * 30]
    )
    assert pair.model_ == fitted.model_


def test_rows_in_any_order_are_grouped_by_first_appearance(rows):
    order = np.random.default_rng(0).permutation(len(rows.y))
    X, y, qid = rows.X[order], rows.y[order], rows.qid[order]
    fitted = ranker().fit(X, y, qid=qid)
    first_row = {query: row for row, query in reversed(list(enumerate(qid)))}
    grouped = sorted(range(len(qid)), key=lambda row: (first_row[qid[row]], row))
    same = ranker().fit(X[grouped], y[grouped], qid=qid[grouped])
    assert fitted.model_ == same.model_
    assert np.array_equal(fitted.predict(X, qid=qid)[grouped], same.predict(X[grouped]))


def test_copies_of_every_kind_keep_parameters_and_bytes(tmp_path, rows):
    fitted = ranker(random_state=3).fit(rows.X, rows.y, qid=rows.qid)
    joblib.dump(fitted, tmp_path / "ranker.joblib")
    copies = {
        "pickle": pickle.loads(pickle.dumps(fitted)),
        "joblib": joblib.load(tmp_path / "ranker.joblib"),
        "cloudpickle": cloudpickle.loads(cloudpickle.dumps(fitted)),
        "copy": copy.copy(fitted),
        "deepcopy": copy.deepcopy(fitted),
    }
    for name, one in copies.items():
        assert one.get_params() == fitted.get_params(), name
        assert one.model_.to_bytes() == fitted.model_.to_bytes(), name
        assert np.array_equal(one.predict(rows.X), fitted.predict(rows.X)), name
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params() and not hasattr(fresh, "model_")
    damaged = bytearray(fitted.model_.to_bytes())
    damaged[-9] ^= 1
    with pytest.raises(rw.Error):
        rw.Model.from_bytes(bytes(damaged))


def test_models_of_other_systems_are_read_and_written(rows):
    import lightgbm

    fitted = ranker().fit(rows.X, rows.y, qid=rows.qid)
    back = rw.Model.from_bytes(fitted.model_.convert("lightgbm"))
    assert np.allclose(back.predict(rows.X), fitted.predict(rows.X), atol=1e-5)
    import catboost
    import xgboost

    of_xgboost = xgboost.XGBRanker(n_estimators=5, max_depth=3).fit(rows.X, rows.y, qid=rows.qid)
    for one in (of_xgboost, of_xgboost.get_booster()):
        assert np.allclose(rw.Model(one).predict(rows.X), of_xgboost.predict(rows.X), atol=1e-6)
    of_catboost = catboost.CatBoostRanker(iterations=5, depth=3, verbose=0, allow_writing_files=False)
    of_catboost.fit(rows.X, rows.y, group_id=rows.qid)
    assert np.allclose(rw.Model(of_catboost).predict(rows.X), of_catboost.predict(rows.X), atol=1e-6)
    of_lightgbm = lightgbm.LGBMRanker(n_estimators=5, num_leaves=4, min_child_samples=2, verbose=-1)
    of_lightgbm.fit(rows.X, rows.y, group=[12] * 30)
    for one in (of_lightgbm, of_lightgbm.booster_):
        assert np.allclose(rw.Model(one).predict(rows.X), of_lightgbm.predict(rows.X), atol=1e-6)
