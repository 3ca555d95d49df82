"""Other packages take estimators, models and explanations as they are."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import make

import rankwright as rw


def test_optuna_prunes_by_an_exception_of_a_callback(rows):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    other = make(seed=2)

    def objective(trial):
        def report(one):
            trial.report(one.values["valid"]["ndcg@10"], one.number)
            if trial.should_prune():
                raise optuna.TrialPruned

        # With a tiny rate, NDCG@10 stays below the pruner's limit, and the trial is pruned.
        rate = trial.suggest_categorical("rate", [0.3, 1e-6])
        ranker = rw.LambdaMART(trees=8, leaves=4, min_rows=1, rate=rate, stop=None)
        ranker.fit(rows.X, rows.y, qid=rows.qid, eval_set=[(other.X, other.y, other.qid)], callbacks=[report])
        return ranker.score(other.X, other.y, qid=other.qid)

    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.GridSampler({"rate": [0.3, 1e-6]}, seed=1),
        pruner=optuna.pruners.ThresholdPruner(lower=0.99, n_warmup_steps=3),
    )
    study.optimize(objective, n_trials=2)
    assert {trial.state.name for trial in study.trials} <= {"COMPLETE", "PRUNED"} and any(
        trial.state.name == "PRUNED" and max(trial.intermediate_values) < 8 for trial in study.trials
    )


def test_an_explanation_is_one_of_shap(rows):
    shap = pytest.importorskip("shap")
    fitted = rw.LambdaMART(trees=5).fit(rows.X, rows.y, qid=rows.qid)
    found = fitted.model_.explain(rw.Dataset(rows.X, rows.y, qid=rows.qid), query=103)
    explanation = found.shap()
    assert isinstance(explanation, shap.Explanation) and explanation.values.shape == explanation.data.shape
    assert np.allclose(explanation.base_values + explanation.values.sum(axis=1), fitted.predict(rows.X)[36:48])


class _ApplyLearnedModel:
    """What `pyterrier.ltr.apply_learned_model(learner, form="ltr")` does with a learner, as its documentation and source say.

    The column `features` has an array for each document. `fit` sorts nothing, counts the documents of each query
    in the order of the rows, and calls `learner.fit(X, y, group=..., eval_set=[(X, y)], eval_group=[...])`; `transform` calls
    `learner.predict(X)` on all rows of the frame.
    """

    def __init__(self, learner):
        self.learner = learner

    def fit(self, train, train_qrels, valid, valid_qrels):
        sizes = {}
        for name, topics, qrels in (("train", train, train_qrels), ("valid", valid, valid_qrels)):
            joined = topics.merge(qrels, on=["qid", "docno"], how="left").fillna({"label": 0})
            sizes[name] = (np.stack(joined["features"].values), joined["label"].values, joined.groupby("qid").count()["docno"].to_numpy())
        X, y, groups = sizes["train"]
        Xv, yv, valid_groups = sizes["valid"]
        self.learner.fit(X, y, group=groups, eval_set=[(Xv, yv)], eval_group=[valid_groups])

    def transform(self, frame):
        return frame.assign(score=self.learner.predict(np.stack(frame["features"].values)))


def _terrier_frame(rows):
    frame = pd.DataFrame({"qid": rows.qid.astype(str), "docno": [f"d{row}" for row in range(len(rows.y))], "features": list(rows.X)})
    return frame, frame[["qid", "docno"]].assign(label=rows.y.astype(int))


def test_a_learner_of_pyterrier_is_an_estimator_as_it_is():
    train, valid = make(), make(seed=2)
    stage = _ApplyLearnedModel(rw.LambdaMART(trees=10, leaves=4, min_rows=1))
    stage.fit(*_terrier_frame(train), *_terrier_frame(valid))
    frame, qrels = _terrier_frame(valid)
    ranked = stage.transform(frame.rename(columns={"docno": "doc_id", "qid": "query_id"}))
    judged = qrels.rename(columns={"docno": "doc_id", "qid": "query_id", "label": "relevance"})
    assert rw.evaluate(ranked, qrels=judged, metrics="ndcg@10").value > 0.8


def test_pyterrier_itself_trains_and_ranks():
    if not os.environ.get("RANKWRIGHT_PYTERRIER"):
        pytest.skip("RANKWRIGHT_PYTERRIER is not set; the package python-terrier is needed too")
    pyterrier = pytest.importorskip("pyterrier")
    train, valid = make(), make(seed=2)
    stage = pyterrier.ltr.apply_learned_model(rw.LambdaMART(trees=10, leaves=4, min_rows=1), form="ltr")
    stage.fit(*_terrier_frame(train), *_terrier_frame(valid))
    frame, qrels = _terrier_frame(valid)
    ranked = stage.transform(frame)
    judged = qrels.rename(columns={"docno": "doc_id", "qid": "query_id", "label": "relevance"})
    run = ranked.rename(columns={"docno": "doc_id", "qid": "query_id"})
    assert rw.evaluate(run, qrels=judged, metrics="ndcg@10").value > 0.8


def test_mlflow_serves_an_estimator_as_a_python_function(tmp_path, rows):
    if not os.environ.get("RANKWRIGHT_MLFLOW"):
        pytest.skip("RANKWRIGHT_MLFLOW is not set; the package mlflow is needed too")
    mlflow = pytest.importorskip("mlflow")

    class Served(mlflow.pyfunc.PythonModel):
        def __init__(self, ranker):
            self.ranker = ranker

        def predict(self, context, model_input, params=None):
            return self.ranker.predict(model_input)

    frame = pd.DataFrame(rows.X, columns=list("abcdef"))
    fitted = rw.LambdaMART(trees=5).fit(frame, rows.y, qid=rows.qid)
    mlflow.pyfunc.save_model(tmp_path / "served", python_model=Served(fitted), pip_requirements=["rankwright"])
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "served"))
    assert np.array_equal(loaded.predict(frame), fitted.predict(frame))


def test_an_estimator_is_unpickled_in_a_process_that_has_not_imported_it(tmp_path, rows):
    fitted = rw.LambdaMART(trees=5).fit(rows.X, rows.y, qid=rows.qid)
    (tmp_path / "ranker.pickle").write_bytes(pickle.dumps(fitted))
    np.save(tmp_path / "x.npy", rows.X)
    program = """
import pickle, sys, numpy as np
ranker = pickle.load(open(sys.argv[1] + "/ranker.pickle", "rb"))
print(repr(float(ranker.predict(np.load(sys.argv[1] + "/x.npy")).sum())))
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True)
    assert float(done.stdout) == float(fitted.predict(rows.X).sum()), done.stderr


def test_the_wheel_runs_the_program_of_the_readme_in_a_fresh_environment(tmp_path):
    wheel = os.environ.get("RANKWRIGHT_WHEEL")
    if not wheel:
        pytest.skip("RANKWRIGHT_WHEEL names no wheel; cargo xtask wheel makes one")
    import re
    import venv

    page = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for program in programs:
        done = subprocess.run([python, "-c", program], capture_output=True, text=True, cwd=tmp_path, env=clean)
        assert done.returncode == 0, done.stderr
        assert 0.5 < float(done.stdout.split()[0]) <= 1
