"""Arguments of every form: none is ignored, and what fits is taken."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankwright as rw
from rankwright.errors import Error


@pytest.fixture(scope="module")
def data():
    return rw.generate(queries=8, documents=6, seed=2)


@pytest.fixture(scope="module")
def fitted(data):
    return rw.MART(trees=2, leaves=3, min_rows=1).fit(data)


@pytest.fixture(scope="module")
def file(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "data.rwd"
    data.save(path)
    return path


def test_parts_beside_a_data_set_or_a_file_are_an_error(data, fitted, file):
    y, qid = data.y, data.qid
    for source in (data, file):
        for call in (
            lambda: fitted.predict(source, qid=qid),
            lambda: fitted.rank(source, qid=qid),
            lambda: fitted.score(source, y),
            lambda: fitted.evaluate(source, qid=qid),
            lambda: fitted.model_.predict(source, qid=qid),
            lambda: fitted.fit(source, y),
            lambda: rw.evaluate(fitted, source, y=y),
            lambda: rw.compare({"a": fitted}, source, qid=qid),
            lambda: rw.cv(fitted, source, y),
            lambda: rw.tune(fitted, source, qid=qid),
            lambda: rw.report.data(source, qid=qid),
        ):
            with pytest.raises(Error, match="is given, but a Dataset or file has its own"):
                call()
    with pytest.raises(Error, match="data is given"):
        rw.evaluate({"q": {"a": 1.0}}, data, qrels={"q": {"a": 1}})


def test_lists_are_joined_as_each_parameter_reads_them():
    members = rw.Blend(members=["mart(trees=2)", rw.RankSVM(), "file:a.model"])
    assert members.spec() == "blend(members=mart(trees=2)+ranksvm+file:a.model)"
    assert rw.Auto(candidates=("mart", "ranksvm")).spec() == "auto(candidates=mart+ranksvm)"
    trees = rw.LambdaMART(monotone={"1": "+", "2": "-"}, interactions=[[1, 2], [3]], categorical=[4, 5], labels={"label": 1, "clicks": 0.5})
    assert trees.spec() == "lambdamart(monotone=1:+/2:-, interactions=1+2/3, categorical=4/5, labels=label:1+clicks:0.5)"
    assert rw.Linear(weights={"1": 2.0}).spec() == "linear(weights=1:2)"


def test_a_blend_of_listed_members_is_trained(data):
    blend = rw.Blend(members=[rw.MART(trees=2, leaves=3, min_rows=1), "ranksvm"], weights="equal").fit(data)
    assert blend.model_.learner.startswith("blend(members=mart(trees=2, leaves=3, min_rows=1)+ranksvm")
    with pytest.raises(AttributeError, match="explain"):
        blend.feature_importances_
    with pytest.raises(Error, match="no importance"):
        blend.model_.importance()


def test_scalars_of_numpy_are_those_of_python():
    assert rw.ListNet(noise=np.bool_(False), epochs=np.int64(3), rate=np.float64(0.5)).spec() == rw.ListNet(noise=False, epochs=3, rate=0.5).spec()
    booleans = [(name, p) for name, p in _parameters() if p["type"] == "boolean"]
    name, parameter = booleans[0]
    changed = parameter["default"] != "true"
    estimator = getattr(rw, name)
    assert estimator(**{parameter["name"]: np.bool_(changed)}).spec() == estimator(**{parameter["name"]: changed}).spec()
    assert estimator(**{parameter["name"]: np.bool_(not changed)}).spec() == estimator().spec()


def _parameters():
    from rankwright._spec import class_name, table

    return [(class_name(name), parameter) for name, learner in table().items() for parameter in learner["parameters"]]


def test_importance_is_that_of_trees_and_weights_and_an_error_for_hidden_layers(data, fitted):
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    linear = rw.RankSVM().fit(data)
    assert linear.feature_importances_.sum() == pytest.approx(1) and max(linear.model_.importance().values()) > 0
    with pytest.raises(AttributeError, match="hidden layers"):
        rw.ListNet(layers=(4,), epochs=1).fit(data).feature_importances_


def test_query_ids_that_are_tuples_stay_tuples_in_rankings(data):
    qid = [("shop", int(query)) for query in data.qid]
    model = rw.MART(trees=2, leaves=3, min_rows=1).fit(data.X, data.y, qid=qid)
    frame = pl.DataFrame(data.X, schema=data.feature_names)
    for X in (data.X, frame, pd.DataFrame(data.X, columns=data.feature_names)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranking = rw.MART(trees=2, leaves=3, min_rows=1).fit(X, data.y, qid=qid).rank(X, qid=qid, k=1)
        assert list(ranking["qid"])[:2] == [("shop", 0), ("shop", 1)]
    assert len(model.rank(data.X, qid=qid)) == len(data)


def test_a_field_of_a_document_may_have_several_values():
    documents = [
        {"id": "a", "title": "soup", "tags": ["hot", None, "red"]},
        {"id": "b", "title": "soup", "tags": np.array(["cold"])},
        {"id": "c", "title": "soup", "tags": ("hot", 7)},
        {"id": "d", "title": "soup", "tags": []},
    ]
    for given in (documents, pd.DataFrame(documents)):
        index = rw.Index.build(given)
        found = {hit["id"] for hit in index.search("soup", filter="tags:hot").documents}
        assert found == {"a", "c"}
        assert not index.search("None").documents


def test_a_deletion_without_effect_is_a_warning_or_an_error():
    index = rw.Index.build([{"id": 1, "title": "soup"}, {"id": 2, "title": "tart"}])
    with pytest.raises(Error, match="which documents are deleted"):
        index.delete()
    with pytest.raises(Error, match="yaer"):
        index.delete(1, filter="yaer<3")
    assert len(index) == 2
    with pytest.warns(rw.RankwrightWarning, match="nobody") as found:
        assert index.delete(["nobody", 1]) == 1
    assert found[0].message.kind == "unknown-ids" and found[0].filename == __file__
    with pytest.warns(rw.RankwrightWarning) as found:
        assert index.delete(filter="title:soup") == 0
    assert found[0].message.kind == "nothing-passes"
    assert index.delete(2) == 1 and len(index) == 0


def test_folds_are_of_a_cross_validation():
    known = [{"id": 1, "text": "jazz band", "class": "music"}, {"id": 2, "text": "night train", "class": "travel"}]
    with pytest.raises(Error, match="folds has no effect"):
        rw.classify(known, [{"id": 3, "text": "jazz"}], folds=3)


def test_a_warning_names_the_line_of_a_script_beside_the_package():
    path = rw.__path__[0] + "_demo.py"
    script = compile("import rankwright as rw\nrw.RankSVM().fit([[1.0], [2.0]], [0, 1])", path, "exec")
    with pytest.warns(rw.OneQueryWarning) as found:
        exec(script, {})
    assert (found[0].filename, found[0].lineno) == (path, 2)
