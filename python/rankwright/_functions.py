"""Comparison, cross validation and tuning."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._data import Dataset, refuse_parts
from rankwright._evaluation import evaluate, metric_list
from rankwright._results import Evaluation, Result
from rankwright._spec import text_of
from rankwright._threads import thread_count
from rankwright.errors import of_kind


def _spec(learner: Any) -> str:
    return learner.spec() if hasattr(learner, "spec") else str(learner)


def _dataset(data: Any, y: Any, qid: Any, n_jobs: int | None) -> Dataset:
    if isinstance(data, Dataset):
        refuse_parts(y=y, qid=qid)
        return data
    return Dataset(data, y, qid=qid, n_jobs=n_jobs)


class Comparison(Result):
    """Systems compared with a baseline, metric by metric."""

    def __init__(self, fields: dict[str, Any], text: str) -> None:
        super().__init__(fields)
        self._text = text

    def records(self, table: str | None = None) -> list[dict[str, Any]]:
        """A record for each metric and system: its value, and its comparison with the baseline."""
        if table is not None:
            return super().records(table)
        found = []
        for metric in self._fields["metrics"]:
            for system in metric["systems"]:
                against = system.get("versus_baseline") or {}
                found.append(
                    {"metric": metric.get("metric", metric.get("label"))}
                    | {key: value for key, value in system.items() if not isinstance(value, (dict, list))}
                    | {key: value for key, value in against.items() if not isinstance(value, (dict, list))}
                )
        return found

    def __repr__(self) -> str:
        return self._text


def compare(
    systems: Mapping[str, Any],
    data: Any = None,
    metrics: Any = "ndcg@10",
    *,
    qrels: Any = None,
    y: Any = None,
    qid: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Comparison:
    """Compares systems on the same queries, with significance tests.

    Parameters
    ----------
    systems
        Names with models, estimators, scores, runs (with `qrels`) or evaluations; the first is the
        baseline unless `baseline` names another.
    data, y, qid, qrels, metrics
        As in `evaluate`.
    options
        ``baseline``, ``test`` ("randomisation", "t", "bootstrap", "sign"), ``correction`` ("holm",
        "bonferroni", "none"), ``alpha``, ``seed``, ``samples``, ``tolerance``.
    """
    if data is not None:
        data, y, qid = _dataset(data, y, qid, n_jobs), None, None
    evaluated = []
    for name, system in systems.items():
        if not isinstance(system, Evaluation):
            system = evaluate(system, data, metrics, qrels=qrels, y=y, qid=qid, n_jobs=n_jobs)
        evaluated.append((name, system._native))
    given = ", ".join(f"{key}={text_of(value)}" for key, value in options.items())
    text, table = _native.compare(evaluated, f"compare({given})" if given else "compare")
    return Comparison(json.loads(text), table)


class CrossValidation(Result):
    """Folds of a cross validation, and the score of each row by a model that has not seen its query."""

    def __init__(self, fields: dict[str, Any], evaluation: Evaluation, scores: np.ndarray) -> None:
        super().__init__(fields, "folds")
        #: The metrics over all queries.
        self.evaluation = evaluation
        #: The score of each row, in the order of the rows.
        self.scores = scores

    def records(self, table: str | None = None) -> list[dict[str, Any]]:
        """A record for each fold: queries, and the value of each metric."""
        if table is not None and table != "folds":
            return super().records(table)
        return [
            {"fold": number, "queries": len(fold["queries"]), "trained": fold["trained"]}
            | {result["metric"]: result["value"] for result in fold["results"]}
            for number, fold in enumerate(self._fields["folds"], start=1)
        ]


def cv(
    learner: Any,
    data: Any,
    y: Any = None,
    *,
    qid: Any = None,
    metrics: Any = (),
    folds: int = 5,
    seed: int | None = None,
    valid_part: float | None = None,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Cross-validates an estimator (or the spec of a learner) by query.

    `valid_part` is the fraction of each fold's training queries that decides on early stopping.
    """
    dataset = _dataset(data, y, qid, n_jobs)
    text, native, scores = _native.cv(
        _spec(learner), dataset._native, metric_list(metrics), folds, seed, valid_part, thread_count(n_jobs)
    )
    return CrossValidation(json.loads(text), Evaluation(native), np.frombuffer(scores, dtype=np.float64))


class Tuning(Result):
    """The trials of a search over parameters, the best first."""

    def __init__(self, fields: dict[str, Any], learner: Any, best: str | None) -> None:
        super().__init__(fields, "trials")
        self._learner = learner
        #: The spec of the best trial.
        self.best_spec = best

    @property
    def best_estimator(self) -> Any:
        """An estimator with the parameters of the best trial, not fitted."""
        return from_spec(self.best_spec) if self.best_spec else None


def tune(
    learner: Any,
    data: Any,
    y: Any = None,
    *,
    qid: Any = None,
    valid: Any = None,
    space: str | None = None,
    trials: int | None = None,
    method: str = "random",
    metric: str | None = None,
    folds: int = 5,
    seed: int | None = None,
    log: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> Tuning:
    """Searches over the parameters of an estimator (or of the spec of a learner).

    Trials are measured on `valid` (a `Dataset` or a tuple ``(X, y, qid)``), or by `folds` of the data. A
    space such as ``"leaves=logint(4,64), rate=log(0.02,0.3)"`` names the parameters; each learner has a
    default one. With `log`, a search that was interrupted goes on.
    """
    if method not in ("random", "halving"):
        raise of_kind("bad-value", f"method is 'random' or 'halving'; found {method!r}")
    dataset = _dataset(data, y, qid, n_jobs)
    if isinstance(valid, (tuple, list)):
        valid = Dataset(valid[0], valid[1], qid=valid[2] if len(valid) == 3 else None, n_jobs=n_jobs)
    text, best = _native.tune(
        _spec(learner),
        dataset._native,
        valid=valid._native if valid is not None else None,
        space=space,
        trials=trials,
        halving=method == "halving",
        metric=metric,
        folds=folds,
        seed=seed,
        log=os.fspath(log) if log is not None else None,
        threads=thread_count(n_jobs),
    )
    return Tuning(json.loads(text), learner, best)


def auto(X: Any, y: Any = None, *, qid: Any = None, group: Any = None, eval_set: Any = None, progress: bool | str = "auto", **parameters: Any) -> Any:
    """A good model without the choice of a learner: a fitted `Auto`, a blend of the best learners of every family.

    `parameters` are those of `Auto`: ``effort``, ``minutes``, ``candidates``, ``metric``, ... The progress shows the running candidate
    and the best one so far; ``choice_`` of the result has the candidates with their values and weights.
    """
    from rankwright.learners import ESTIMATORS

    ranker: Any = ESTIMATORS["Auto"](**parameters)
    return ranker.fit(X, y, qid=qid, group=group, eval_set=eval_set, progress=progress)


def from_spec(spec: str) -> Any:
    """The estimator of a spec such as ``"lambdamart(trees=100, leaves=15)"``.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.from_spec("lambdamart(trees=100, leaves=15)").get_params()["leaves"]
    15
    """
    from rankwright._spec import class_name, python_name, table, value_of
    from rankwright.learners import ESTIMATORS

    name, parameters = _native.learner_parameters(spec)
    kinds = {parameter["name"]: parameter for parameter in table()[name]["parameters"]}
    return ESTIMATORS[class_name(name)](**{python_name(key): value_of(text, kinds[key]) for key, text in parameters})
