"""Functions around training: evaluation, comparison, folds, tuning, search, reports and clicks."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import letor_text, make

import rankwright as rw


def test_evaluation_takes_models_scores_runs_frames_and_dictionaries(tmp_path, rows):
    fitted = rw.LambdaMART(trees=5).fit(rows.X, rows.y, qid=rows.qid)
    data = rw.Dataset(rows.X, rows.y, qid=rows.qid)
    fitted.model_.save(tmp_path / "m.model")
    expected = fitted.score(rows.X, rows.y, qid=rows.qid)
    for system in (fitted, fitted.model_, tmp_path / "m.model", fitted.predict(rows.X), fitted.predict(rows.X).tolist()):
        found = rw.evaluate(system, data, ["ndcg@10", "ap"])
        assert found["ndcg@10"] == found.value == expected
    assert rw.evaluate(fitted.predict(rows.X), y=rows.y, qid=rows.qid).value == expected
    assert set(found.per_query("ap")) == {str(query) for query in range(100, 130)}
    assert np.mean(list(found.per_query("ap").values())) == pytest.approx(found["ap"])
    assert found.to_pandas().metric.tolist() == found.to_polars()["metric"].to_list() == ["ndcg@10", "ap"]
    assert found.to_dict()["metrics"][0]["ci95"][0] < expected and "<td>ap</td>" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).per_query("ap") == found.per_query("ap")
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}
    qrels = {"q1": {"b": 1}, "q2": {"c": 1}}
    frame = pd.DataFrame([(q, d, s) for q, docs in run.items() for d, s in docs.items()], columns=["query_id", "doc_id", "score"])
    judged = pd.DataFrame([("q1", "b", 1), ("q2", "c", 1)], columns=["query_id", "doc_id", "relevance"])
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 2 x\nq1 Q0 b 2 1 x\nq2 Q0 c 1 1 x\n")
    (tmp_path / "qrels.txt").write_text("q1 0 b 1\nq2 0 c 1\n")
    for one, other in ((run, qrels), (frame, judged), (tmp_path / "run.txt", tmp_path / "qrels.txt"), (run, judged)):
        assert rw.evaluate(one, qrels=other, metrics="rr")["rr"] == 0.75


def test_evaluation_equals_that_of_the_command(tmp_path, command, rows):
    (tmp_path / "data.txt").write_text(letor_text(rows))
    fitted = rw.RankSVM().fit(rows.X, rows.y, qid=rows.qid)
    fitted.model_.save(tmp_path / "m.model")
    printed = json.loads(command("eval", tmp_path / "m.model", tmp_path / "data.txt", "--metric", "ndcg@5,ap,rr", "--json"))
    assert rw.evaluate(fitted, tmp_path / "data.txt", ["ndcg@5", "ap", "rr"]).to_dict()["metrics"] == printed["metrics"]


def test_comparison_has_significance_and_a_table(rows):
    data = rw.Dataset(rows.X, rows.y, qid=rows.qid)
    good = rw.RankSVM().fit(data)
    found = rw.compare({"noise": rows.X[:, 5], "svm": good}, data, ["ndcg@10", "ap"], test="t", alpha=0.01)
    records = found.to_pandas()
    assert len(records) == 4 and "▲" in repr(found)
    assert found.metrics[0]["systems"][1]["versus_baseline"]["p"] < 0.01
    with pytest.raises(rw.Error, match="tset"):
        rw.compare({"a": good, "b": good}, data, tset="t")


def test_folds_score_every_row_by_a_model_that_has_not_seen_its_query(rows):
    found = rw.cv(rw.LambdaMART(trees=5), rows.X, rows.y, qid=rows.qid, folds=3, metrics=["ndcg@10"])
    assert found.folds == len(found.records()) == 3 and found.scores.shape == (360,)
    assert rw.evaluate(found.scores, y=rows.y, qid=rows.qid).value == found.evaluation.value
    assert sum(record["queries"] for record in found.records()) == 30
    assert rw.cv("ranksvm", rw.Dataset(rows.X, rows.y, qid=rows.qid), folds=2).evaluation.value > 0.8


def test_tuning_finds_a_better_learner(tmp_path, rows):
    other = make(seed=2)
    valid = rw.Dataset(other.X, other.y, qid=other.qid)
    learner = rw.LambdaMART(trees=5, leaves=2)
    options = {"space": "leaves=int(4,16)", "trials": 4, "log": tmp_path / "trials.jsonl"}
    found = rw.tune(learner, rows.X, rows.y, qid=rows.qid, valid=valid, **options)
    assert len(found.trials) == 4 and found.best_spec.startswith("lambdamart(")
    best = found.best_estimator
    assert best.get_params()["trees"] == 5 and best.get_params()["leaves"] >= 2
    with pytest.warns(rw.RankwrightWarning) as warned:
        again = rw.tune(learner, rows.X, rows.y, qid=rows.qid, valid=valid, **options)
    assert warned[0].message.kind == "trials-found" and again.best_spec == found.best_spec
    with pytest.raises(rw.Error, match="leafs"):
        rw.tune(learner, rows.X, rows.y, qid=rows.qid, space="leafs=int(4,16)")


RECIPES = [
    ("a", "tomato soup", 4.8), ("b", "tomato soup with too much tomato", 1.2), ("c", "cold tomato soup", 3.9), ("d", "onion soup", 4.5),
    ("e", "onion tart", 4.7), ("f", "tomato tart", 2.0), ("g", "onion soup from onion and onion", 1.5), ("h", "apple tart", 4.9),
    ("i", "apple tart with apple and apple", 1.1), ("j", "apple soup", 1.9),
]


def test_an_index_searches_and_a_model_ranks_again(tmp_path):
    documents = [{"id": id, "title": title, "stars": stars} for id, title, stars in RECIPES]
    index = rw.Index.build(documents[:5])
    index.add(pd.DataFrame(documents[5:]))
    assert len(index) == 10
    queries = ["tomato soup", "onion soup", "onion tart", "apple soup", "tomato tart"]
    qrels = {
        query: {id: sum(word in title for word in query.split()) if stars > 3 else 0 for id, title, stars in RECIPES} for query in queries
    }
    data = index.features(queries, qrels, features="bm25(field=title), matched-ratio(field=title), number(field=stars)")
    assert data.shape[1] == 3 and data.n_queries == 5
    ranker = rw.RankSVM().fit(data)
    again = index.search("apple tart", 3, model=ranker)
    assert again.documents[0]["id"] == "h" and again.documents[0]["title"] == "apple tart"
    plain, better = index.run(queries), index.run(queries, model=ranker)
    value = [rw.evaluate(run, qrels=qrels, metrics="ndcg@10").value for run in (plain, better)]
    assert value[1] > value[0]
    folder = tmp_path / "index"
    rw.Index.build(documents, folder)
    assert [hit["id"] for hit in rw.Index.open(folder).search("apple tart", 3, model=ranker).documents][0] == "h"
    with pytest.raises(rw.Error, match="document 1 has no id"):
        rw.Index.build([{"title": "x"}])


def test_reports_are_pages_with_charts(tmp_path, rows):
    data = rw.Dataset(rows.X, rows.y, qid=rows.qid)
    fitted = rw.LambdaMART(trees=5).fit(data)
    reports = [
        rw.report.data(data),
        rw.report.training(fitted, data, query=100),
        rw.report.comparison({"noise": rows.X[:, 5], "trees": fitted}, data),
    ]
    for report in reports:
        assert report.html.startswith("<!") and len(report.plots) > 1
        plot = next(iter(report.plots.values()))
        assert plot.svg.startswith("<svg") and plot._repr_html_() == plot.svg
        report.save(tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text() == report.html
    with pytest.raises(rw.Error, match="has no chart 'nothing'"):
        reports[0]["nothing"]


def test_pictures_of_a_training(rows):
    data = rw.Dataset(rows.X, rows.y, qid=rows.qid)
    fitted = rw.LambdaMART(trees=5).fit(data)
    curve = rw.plot.training(fitted, data)
    assert curve.id == "curve-1" and curve.data["series"] and curve.svg.startswith("<svg")
    assert rw.plot.importance(fitted, data).data["categories"][0] == "1"
    assert len(rw.plot.lambdas(fitted, data)) == 4 and rw.plot.forces(fitted, data, query=100) and rw.plot.trees(fitted, data)
    assert rw.plot.compare({"noise": rows.X[:, 5], "trees": fitted}, data).id == "means"
    with pytest.raises(rw.Error, match="no chart of this kind"):
        rw.plot.trees(rw.RankSVM().fit(data), data)


def test_clicks_are_simulated_counted_and_corrected(tmp_path, rows):
    data = rw.generate(queries=20, documents=8, seed=3)
    data.save(tmp_path / "data.rwd")
    log = tmp_path / "log.jsonl"
    made = rw.clicks.simulate(tmp_path / "data.rwd", log, feature="1", ranker="plackett-luce", sessions=20, seed=1)
    assert made.impressions == 20 * data.n_queries and made.clicks > 100
    assert rw.clicks.inspect(log).counts["impressions"] == made.impressions
    fitted = rw.clicks.fit(log, "pbm")
    assert fitted.model.startswith("pbm") and len(fitted.parameters) > 1
    assert rw.clicks.pairs(log, tmp_path / "pairs.tsv").pairs > 10
    assert rw.clicks.bias(log, estimators=["em"], samples=0).estimates
    with pytest.raises(rw.Error, match="nothing"):
        rw.clicks.bias(log, estimators=["nothing"])
