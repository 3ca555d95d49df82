"""Click logs, interleaving, judges, classification, lectures, generated data and the automatic choice, on data in memory."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankwright as rw

PAGES = [
    {"query": "cat", "docs": ["a", "b", "c"], "clicks": [1, 0, 0]},
    {"query": "cat", "docs": ["b", "a", "c"], "clicks": [0, 1, 1]},
    {"query": "cat", "docs": ["b", "c", "a"], "clicks": [0, 1, 0]},
    {"query": "dog", "docs": ["x", "y", "z"], "clicks": [0, 0, 1]},
]
#: The same pages, a row for each shown document.
ROWS = [
    {"impression": number, "query": page["query"], "document": document, "position": rank, "click": click}
    for number, page in enumerate(PAGES)
    for rank, (document, click) in enumerate(zip(page["docs"], page["clicks"]), start=1)
]


@pytest.fixture(scope="module")
def labelled():
    """Feature data with ids of documents, and a simulated log of it."""
    made = rw.generate(queries=25, documents=10, seed=3)
    ids = [f"d{row}" for row in range(len(made))]
    data = rw.Dataset(made.X, made.y, qid=made.qid, doc_id=ids)
    log = rw.clicks.simulate(data, user="pbm", feature="1", ranker="plackett-luce", sessions=60, seed=1)
    return data, log


def test_a_log_is_a_frame_dictionaries_or_a_file(tmp_path, command):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    expected = rw.clicks.inspect(path).to_dict()
    for log in (
        PAGES, ROWS, pd.DataFrame(PAGES), pd.DataFrame(ROWS), pl.DataFrame(PAGES), pl.DataFrame(ROWS).lazy(), pa.Table.from_pylist(ROWS),
    ):
        found = rw.clicks.inspect(log).to_dict()
        for name in ("counts", "ranks"):
            assert found[name] == expected[name], (type(log), name)
    assert json.loads(command("clicks", "inspect", path, "--json"))["counts"] == expected["counts"]
    assert expected["counts"]["clicks"] == 5
    renamed = pd.DataFrame(ROWS).rename(columns={"query": "keyword", "document": "sku", "click": "bought", "impression": "search"})
    columns = "impression=search, query=keyword, document=sku, click=bought"
    assert rw.clicks.inspect(rw.clicks.Log(renamed, columns=columns)).counts["clicks"] == 5
    with pytest.raises(rw.Error, match="a frame or dictionaries are needed; found a int"):
        rw.clicks.inspect([1, 2])


def test_a_log_becomes_frames(tmp_path):
    pages = rw.clicks.convert(PAGES)
    assert pages.to_polars()["docs"].to_list() == [page["docs"] for page in PAGES]
    rw.clicks.convert(PAGES, "csv", tmp_path / "log.csv")
    assert rw.clicks.inspect(tmp_path / "log.csv").counts["clicks"] == 5
    with pytest.raises(rw.Error, match="no file is written"):
        rw.clicks.convert(PAGES, "csv")
    run = rw.clicks.counts(PAGES, run="clicks").records()
    assert run[0] == {"query_id": "cat", "doc_id": "a", "score": 2.0}
    counts = rw.clicks.counts(PAGES, "document").to_pandas().set_index("id")
    assert counts.loc["a", "clicks"] == 2 and counts.loc["b", "impressions"] == 3
    pairs = rw.clicks.pairs(PAGES, rules=["skip-above"]).records()
    assert [tuple(pair.values()) for pair in pairs] == [
        ("cat", "a", "b", 1), ("cat", "c", "b", 2), ("dog", "z", "x", 1), ("dog", "z", "y", 1),
    ]


def test_clicks_become_labels_close_to_the_truth(labelled):
    data, log = labelled
    assert log.impressions == 60 * data.n_queries == len(log.records())
    assert rw.clicks.inspect(log).counts["clicks"] == log.clicks
    fitted = rw.clicks.fit(log, "pbm", test=log)
    assert fitted.model.startswith("pbm") and fitted.test["log_likelihood"] < 0
    bias = rw.clicks.bias(log, estimators=["em"], min_shown=5, samples=0)
    examination = bias.estimates[0]["examination"]
    assert examination[0] == 1 and examination[0] > examination[4]
    trained = rw.clicks.labels(log, data, source="ips", examination=bias)
    assert trained.n_queries == data.n_queries and trained.y.max() > 0
    by_values = rw.clicks.labels(log, data, source="ips", examination=[1 if one is None else one for one in examination])
    assert by_values.n_queries == data.n_queries
    with pytest.raises(rw.Error, match="nothing to rank"):
        rw.clicks.simulate(data)
    grades = rw.clicks.labels(log, data, source="coec", grades=3)
    assert set(grades.y) == {0.0, 1.0, 2.0}
    ranker = rw.LambdaMART(trees=20, leaves=7).fit(trained)
    values = rw.clicks.evaluate(
        log, {"good": ranker, "noise": rw.Linear(weights={"2": 1.0}).fit(data)}, data, "dcg@3", examination=bias, samples=20, min_overlap=0.0
    )
    assert [one["model"] for one in values.records()] == ["good", "noise"]
    assert values.models[0]["value"] > values.models[1]["value"]
    with pytest.raises(rw.Error, match="nothing"):
        rw.clicks.bias(log, estimators=["nothing"])
    with pytest.raises(TypeError, match="min_showed"):
        rw.clicks.bias(log, min_showed=3)
    with pytest.raises(rw.Error, match="min_showed"):
        rw.clicks.labels(log, data, source="ips", min_showed=3)


def test_a_report_shows_a_log_and_a_chart_its_numbers(labelled):
    page = rw.report.clicks(labelled[1], estimators=["em"], samples=0)
    assert page.html.startswith("<!") and page.plots and page.result.to_dict()


def test_interleaved_lists_tell_the_better_ranker(tmp_path):
    documents = [f"d{place}" for place in range(10)]
    good = {f"q{query}": {id: 10.0 - place for place, id in enumerate(documents)} for query in range(20)}
    bad = {query: {id: -score for id, score in docs.items()} for query, docs in good.items()}
    qrels = {query: {"d0": 2, "d1": 1} for query in good}
    lists = rw.interleave.runs({"old": bad, "new": good}, length=4, requests=30, seed=1)
    assert lists.method == "team-draft" and lists.requests == len(lists.records()) == 600
    log = rw.interleave.simulate(lists, qrels, user="pbm", seed=1)
    assert log.impressions == 600
    found = rw.interleave.score(log, lists, samples=100)
    assert found.rankers == ["old", "new"] and found.comparisons[0]["delta"] > 0 and found.comparisons[0]["delta_ci95"][0] > 0
    frame = pd.DataFrame(log.records())
    assert rw.interleave.score(frame, lists, samples=100).comparisons == found.comparisons
    written = rw.interleave.runs([good, bad], tmp_path / "lists.jsonl", length=4)
    assert written.documents == 80 and (tmp_path / "lists.jsonl").read_text().count("\n") == 20


def test_judges_are_asked_read_checked_and_added_up():
    documents = [{"id": id, "title": f"title {id}"} for id in "abcd"]
    run = {"q1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    other = {"q1": {"d": 4.0, "c": 3.0, "b": 2.0, "a": 1.0}}
    questions = rw.judge.prompts({"one": run, "two": other}, {"q1": "letters"}, documents, template="Which fits {query}: {a} or {b}?")
    asked = questions.records()
    assert questions.chosen_by == "disagreement" and len(asked) == questions.questions == 12
    assert asked[0]["prompt"].startswith("Which fits letters: ")
    # A judge that prefers the first letter of the alphabet.
    answers = [{"id": one["id"], "answer": "Document A" if one["a"] < one["b"] else "Document B"} for one in asked]
    judgements = rw.judge.read(pd.DataFrame(answers), questions, judge="abc")
    assert judgements.comparisons == 12 and judgements.unreadable == []
    checked = rw.judge.check(judgements, {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}})
    assert checked.to_dict()["warnings"] == []
    with pytest.warns(rw.RankwrightWarning, match="cannot be read"):
        assert rw.judge.read([*answers, {"id": asked[0]["id"], "answer": "I like trains"}], questions).unreadable[0]["answer"] == "I like trains"
    graded = rw.judge.aggregate(judgements, format="qrels", grades=4)
    assert {row["doc_id"]: row["relevance"] for row in graded.records()}["a"] == 3
    pairs = rw.judge.aggregate(judgements)
    assert [one["document"] for one in pairs.strengths[0]["documents"]] == list("abcd")
    assert {(row["better"], row["worse"]) for row in pairs.records()} >= {("a", "b"), ("c", "d")}


def test_documents_are_classified(tmp_path):
    words = {"music": ["jazz band guitar", "loud guitar", "piano jazz", "guitar jazz solo"], "travel": ["night train boat", "train ticket", "slow boat", "train boat trip"]}
    known = [{"id": f"{kind}{n}", "text": text, "class": kind} for kind, texts in words.items() for n, text in enumerate(texts)]
    unknown = [{"id": "x", "text": "jazz guitar"}, {"id": "y", "text": "train to the boat"}]
    found = rw.classify(known, unknown, classifier="naive-bayes")
    assert [one["class"] for one in found.records()] == ["music", "travel"] and found.training_documents == 8
    assert rw.classify(pd.DataFrame(known), pl.DataFrame(unknown)).to_pandas()["class"].tolist() == ["music", "travel"]
    path = tmp_path / "known.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in known))
    folds = rw.classify(path, classifier="knn(k=1)", folds=4, seed=1)
    assert folds.accuracy > 0.7 and {one["class"] for one in folds.records()} == {"music", "travel"}
    with pytest.raises(rw.Error, match="naive-bayes"):
        rw.classify(known, classifier="naive")


def test_an_index_forgets_documents():
    store = rw.generate_store(records=300, queries=10, seed=2)
    index = rw.Index.build(store.documents)
    young = [one for one in store.documents if one["year"] >= 2000 and one["id"] != "r000001"]
    assert index.delete(["r000001", "nobody"]) == 1 and index.delete(filter="year<2000") == 299 - len(young) > 20
    assert len(index) == len(young)
    run = rw.Index.build(store.documents).run(store.queries, 50)
    assert rw.evaluate(run, qrels=store.qrels, metrics="ndcg@10").value > 0.2
    assert len(rw.generate_homepages(sites=5, pages=3, queries=4).queries) == 4


def test_lectures_are_computed_and_drawn():
    found = rw.lecture("rocchio")
    assert [example["name"] for example in found.examples] == ["rocchio"]
    assert found.records()[0]["example"] == "rocchio" and found.report.html.startswith("<!")
    assert len(rw.lecture().examples) > 10
    with pytest.raises(rw.Error, match="nothing"):
        rw.lecture("nothing")


def test_rates_are_drawn_side_by_side(rows):
    data = rw.Dataset(rows.X, rows.y, qid=rows.qid)
    page = rw.report.shrinkage(rw.MART(trees=5, leaves=4, min_rows=1), data, rates=[1.0, 0.1])
    assert [run["rate"] for run in page.result.records()] == [1.0, 0.1]
    plot = rw.plot.shrinkage("mart(trees=3, leaves=4)", data, rates=[0.5])
    assert plot.svg.startswith("<svg") and plot.data["kind"] == "lines"


def test_charts_are_drawn_on_axes_of_matplotlib(rows):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as pyplot

    data = rw.Dataset(rows.X, rows.y, qid=rows.qid)
    fitted = rw.LambdaMART(trees=5).fit(data)
    pages = [
        rw.report.training(fitted, data, query=100), rw.report.data(data), rw.report.comparison({"noise": rows.X[:, 5], "trees": fitted}, data),
    ]
    kinds = set()
    for page in pages:
        for plot in page.plots.values():
            if plot.data is None:
                with pytest.raises(rw.Error, match="is a drawing"):
                    plot.matplotlib()
                continue
            _, ax = pyplot.subplots()
            assert plot.matplotlib(ax) is ax and ax.get_title() == plot.title
            assert ax.lines or ax.patches or ax.collections or ax.images, plot.id
            if plot.data["kind"] == "lines":
                drawn = ax.lines[0].get_ydata()
                expected = [np.nan if y is None else y for _, y in plot.data["series"][0]["points"]]
                assert np.array_equal(drawn, expected, equal_nan=True)
            kinds.add(plot.data["kind"])
            pyplot.close("all")
    assert kinds >= {"lines", "bars"}, kinds


def test_the_automatic_choice_shows_its_candidates(rows, capsys, monkeypatch):
    from rankwright import _training

    monkeypatch.setattr(_training.ProgressLine, "DELAY", 0.0)
    monkeypatch.setattr(_training, "_tqdm", lambda *words: False)
    fitted = rw.auto(rows.X, rows.y, qid=rows.qid, candidates="ranksvm+mart(trees=5)+listnet(epochs=3)", folds=3, progress=True)
    learners = [one["learner"] for one in fitted.choice_.records()]
    assert len(learners) == 3 and abs(sum(fitted.choice_.to_pandas().weight) - 1) < 1e-9
    assert 0 < fitted.choice_.estimate <= 1
    shown = capsys.readouterr().err
    assert "auto: training 2" in shown and "best 0." in shown and "mart(" in shown
