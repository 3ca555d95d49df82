"""Functions are tasks of the library: the same results, names and warnings as those of the command."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import letor_text

import rankwright as rw

SOURCES = Path(__file__).parents[1] / "src"


def test_the_native_module_computes_nothing_beside_the_tasks():
    forbidden = re.compile(
        r"\bTrainRequest\b|\bcross_validate\(|\bTuneJob\b|compare_evaluations|eval::evaluate\b|\.train\(|\.fit\(|TextClassifier"
        r"|\bRanker::|training_data\(|(?:Data|Training|Comparison)Report::new|(?:Shrinkage|TradeOff)Request::new\((?!fields)|\.score\(data"
    )
    for path in SOURCES.glob("*.rs"):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if "Report" in line and "Request::new(" in line:
                continue
            assert not forbidden.search(line), f"{path.name}:{number}: use the request of rankwright::tasks: {line.strip()}"


@pytest.fixture
def file(tmp_path, rows):
    path = tmp_path / "data.txt"
    path.write_text(letor_text(rows))
    return path


def test_results_are_those_that_the_command_prints(tmp_path, rows, file, command):
    spec = "mart(trees=3, leaves=4, min_rows=1)"
    printed = json.loads(command("cv", file, "--learner", spec, "--folds", 3, "--json"))
    found = rw.cv([spec], file, folds=3)
    for result in (printed, found.to_dict()):
        for learner in result["learners"]:
            for fold in learner["folds"]:
                del fold["seconds"]
    assert found.to_dict() == printed
    assert found.evaluation.value == printed["learners"][0]["metrics"][0]["value"]
    command("train", file, "--learner", spec, "--valid", file, "--out", tmp_path / "m.model")
    printed = json.loads(command("eval", tmp_path / "m.model", file, "--json"))
    evaluated = rw.evaluate(tmp_path / "m.model", file)
    assert evaluated.to_dict() == printed
    assert evaluated.value == evaluated["ndcg@10"], "without metrics it is the default one, not the first of the usual ones"
    printed = json.loads((tmp_path / "m.model.log.json").read_text())
    fitted = rw.from_spec(spec).fit(file, eval_set=[rw.Dataset(file)])
    assert fitted.result_.sha256 == printed["sha256"] == fitted.model_.sha256
    assert fitted.result_.valid["valid"] == printed["valid"]["data.txt"]
    inspected = json.loads(command("data", "inspect", file, "--json"))
    found = rw.inspect(file).to_dict()
    assert {key: value for key, value in found.items() if key != "seconds"} == {key: value for key, value in inspected.items() if key != "seconds"}


def test_warnings_of_a_result_are_warnings_of_python(rows):
    with pytest.warns(rw.RankwrightWarning) as found:
        fitted = rw.MART(trees=2, min_rows=10_000).fit(rows.X, rows.y, qid=rows.qid)
    assert [one.message.kind for one in found] == ["constant-scores"] and found[0].filename == __file__
    fitted = rw.RankSVM().fit(rows.X, rows.y, qid=rows.qid)
    with pytest.warns(rw.RankwrightWarning) as found:
        rw.evaluate(fitted, y=rows.y, data=rows.X, qid=rows.qid, metrics="accuracy")
    assert "no-boundary" in [one.message.kind for one in found]
    with pytest.warns(rw.RankwrightWarning) as found:
        rw.evaluate({"q": {"a": 1.0}}, qrels={"other": {"a": 1}})
    assert {one.message.kind for one in found} >= {"missing-queries", "unjudged-queries"}


def test_a_file_is_read_by_the_rule_of_the_model(tmp_path, rows):
    sparse = np.where(rows.X > 0, rows.X, np.nan).astype(np.float32)
    fitted = rw.MART(trees=5, leaves=4, min_rows=1).fit(rw.Dataset(sparse, rows.y, qid=rows.qid, absent="missing"))
    path = tmp_path / "sparse.txt"
    lines = []
    for values, label, query in zip(sparse, rows.y, rows.qid):
        cells = " ".join(f"{place}:{value!r}" for place, value in enumerate(map(float, values), start=1) if value == value)
        lines.append(f"{label:g} qid:{query} {cells}\n")
    path.write_text("".join(lines))
    expected = fitted.evaluate(rw.Dataset(sparse, rows.y, qid=rows.qid, absent="missing")).value
    assert rw.evaluate(fitted, path).value == fitted.evaluate(path).value == expected


def test_systems_are_compared_by_the_task_in_their_order(rows):
    data = rw.Dataset(rows.X, rows.y, qid=rows.qid)
    models = {"a/b": rw.RankSVM().fit(data), "c/b": rw.MART(trees=3, leaves=4, min_rows=1).fit(data)}
    found = rw.compare(models, data, ["ndcg@10", "accuracy"])
    assert [system["system"] for system in found.metrics[0]["systems"]] == ["a/b", "c/b"]
    mixed = {"noise": rows.X[:, 5], **models}
    found = rw.compare(mixed, data)
    assert [system["system"] for system in found.metrics[0]["systems"]] == ["noise", "a/b", "c/b"]
    assert len(found.metrics) == 6
    evaluations = {name: rw.evaluate(system, data) for name, system in mixed.items()}
    assert rw.compare(evaluations).metrics == found.metrics
    assert rw.compare(mixed, data, baseline="c/b").metrics[0]["systems"][0]["versus_baseline"]
    with pytest.raises(rw.Error, match="metrics"):
        rw.compare(evaluations, metrics="ap")


def test_a_model_learns_from_a_teacher_and_queries_without_labels(rows):
    teacher = rw.LambdaMART(trees=20, leaves=7).fit(rows.X, rows.y, qid=rows.qid)
    student = rw.MART(trees=20, leaves=4, min_rows=1)
    # Without labels, the teacher alone is learned.
    copy = student.fit(rows.X, qid=rows.qid, teacher=teacher, teacher_weight=1.0)
    assert copy.evaluate(rows.X, rows.y, qid=rows.qid).value > 0.8
    half = rows.qid < 110
    one = student.fit(rows.X[half], rows.y[half], qid=rows.qid[half], teacher=teacher).model_
    more = student.fit(rows.X[half], rows.y[half], qid=rows.qid[half], teacher=teacher, unlabelled=(rows.X[~half], rows.qid[~half])).model_
    assert one != more
    with pytest.raises(rw.Error, match="without a teacher"):
        student.fit(rows.X, rows.y, qid=rows.qid, teacher_weight=0.5)


def test_a_stopped_training_keeps_its_trees(rows):
    fitted = rw.MART(trees=10, leaves=4, min_rows=1).fit(rows.X, rows.y, qid=rows.qid, callbacks=[lambda one: one.number == 3])
    assert fitted.result_.trees == 3 and fitted.result_.is_stopped


def test_scores_become_predictions_of_labels(rows):
    fitted = rw.MART(loss="logloss", trees=10, leaves=4, min_rows=1)
    fitted.fit(rows.X, (rows.y > 0).astype(float), qid=rows.qid)
    probabilities = fitted.model_.predict(rows.X, kind="probability")
    assert 0 <= probabilities.min() < probabilities.max() <= 1
    assert set(fitted.model_.predict(rows.X, kind="class")) == {0.0, 1.0}


def test_two_goals_are_traded_off(tmp_path):
    made = rw.generate(queries=20, documents=10, seed=1)
    lines = ["label,qid,label:clicks,one,two\n"]
    for label, query, values in zip(made.y, made.qid, made.X):
        lines.append(f"{label},{query},{4 - label},{values[0]},{values[1]}\n")
    path = tmp_path / "two.csv"
    path.write_text("".join(lines))
    with pytest.warns(rw.RankwrightWarning, match="held out"):
        page = rw.report.trade_off("lambdamart(trees=3, leaves=4, min_rows=1)", path, goals=("ndcg@10", "ndcg@10 on clicks"), weights=[0, 1])
    points = page.result.records()
    assert len(points) == 2 and points[0]["values"][0]["value"] > points[1]["values"][0]["value"] and page.plots


def test_an_experiment_is_run_and_resumed(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(
        'name = "small"\nmetrics = ["ndcg@10"]\n[[data]]\nname = "made"\ngenerate = "letor(queries=12, documents=6)"\n'
        '[[learner]]\nname = "trees"\nspec = "mart(trees=2, leaves=3, min_rows=1)"\n'
    )
    assert rw.experiment(file, tmp_path / "out", plan=True).to_dict()["cells"]
    found = rw.experiment(file, tmp_path / "out", jobs=1)
    assert found.finished and (tmp_path / "out" / "report.html").exists()


def test_lists_are_those_of_the_command(command):
    for name, function in {"learners": rw.list_learners, "metrics": rw.list_metrics, "formats": rw.list_formats}.items():
        assert function().to_dict() == json.loads(command("list", name, "--json"))
    for function in (rw.list_objectives, rw.list_features, rw.list_first_stages, rw.list_classifiers, rw.list_click_models, rw.list_lectures):
        assert function().records()[0]["name"]


def test_a_request_on_files_is_checked(tmp_path):
    made = rw.task("generate_letor", out=tmp_path / "a.rwd", options={"queries": 4, "documents": 5})
    assert made.rows > 0
    rw.task("convert_data", data=tmp_path / "a.rwd", out=tmp_path / "a.csv")
    assert (tmp_path / "a.csv").exists()
    with pytest.raises(rw.Error, match="unknown field `dta`"):
        rw.task("inspect_data", dta="x")
    with pytest.raises(rw.Error, match="inspect_data"):
        rw.task("inspect_dato")


def test_an_index_has_the_options_of_the_command(tmp_path):
    documents = [{"id": str(n), "title": "Häuser und Boote", "brand": f"b{n % 2}", "price": n} for n in range(4)]
    index = rw.Index.build(documents, analysis="german", schema={"brand": "category"})
    assert index.report.analysis == "german" and index.report.documents == 4
    assert [hit["id"] for hit in index.search("haus", 1).documents]
    facet = index.search("haus", facets=["brand"], facet_values=1).facets
    assert facet
    folder = tmp_path / "index"
    rw.Index.build(documents[:2], folder)
    with pytest.raises(rw.Error):
        rw.Index.build(documents, folder)
    assert len(rw.Index.build(documents, folder, existing="add")) == 4
    with pytest.warns(rw.RankwrightWarning):
        index.search("haus", filter="price>100")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(index.search("haus", syntax="simple").documents) == 4
