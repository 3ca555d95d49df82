"""Comparison, cross validation and tuning."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._data import data_source, refuse_parts, validation_sources
from rankwright._evaluation import _is_scores, _labelled, _lists, _scores, evaluate, metric_list
from rankwright._model import Model
from rankwright._results import Evaluation, Result
from rankwright._scratch import options_spec, warned
from rankwright._spec import text_of
from rankwright._threads import thread_count
from rankwright.errors import of_kind


def _spec(learner: Any) -> str:
    return learner.spec() if hasattr(learner, "spec") else str(learner)


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


def compare_fields(
    systems: Mapping[str, Any], data: Any, metrics: Any, qrels: Any, y: Any, qid: Any, depth: int | None, n_jobs: int | None, options: dict[str, Any]
) -> dict[str, Any]:
    """The fields of the request for a comparison."""
    if not systems:
        raise of_kind("no-systems", "there are no systems to compare")
    baseline = options.pop("baseline", None)
    fields: dict[str, Any] = {"baseline": None if baseline is None else str(baseline), "options": options_spec("compare", options)}
    kinds = {_kind_of(system) for system in systems.values()}
    if "evaluation" not in kinds and (qrels is not None or len(kinds) == 1):
        fields |= {"metrics": metric_list(metrics), "depth": depth}
        if qrels is not None:
            refuse_parts(data=data, y=y, qid=qid)
            return fields | {"runs": [_named_run(name, run) for name, run in systems.items()], "qrels": _lists(qrels, "relevance")}
        fields["data"] = _labelled(data, y, qid, n_jobs)
        if kinds == {"scores"}:
            return fields | {"scores": [(name, _scores(scores)) for name, scores in systems.items()]}
        return fields | {"models": [(name, Model(model)._native) for name, model in systems.items()]}
    if kinds == {"evaluation"}:
        # An error: the evaluations have their own.
        fields |= {"metrics": metric_list(metrics), "depth": depth}
    # Systems of several kinds are evaluated one by one, so that they stay in their order.
    evaluated = []
    for name, system in systems.items():
        if not isinstance(system, Evaluation):
            system = evaluate(system, data, metrics, qrels=qrels, y=y, qid=qid, depth=depth, n_jobs=n_jobs)
        evaluated.append((name, system._native))
    return fields | {"evaluations": evaluated}


def _named_run(name: str, run: Any) -> tuple[str, Any]:
    return name, _lists(run, "score")


def _kind_of(system: Any) -> str:
    if isinstance(system, Evaluation):
        return "evaluation"
    return "scores" if _is_scores(system) else "model"


def compare(
    systems: Mapping[str, Any],
    data: Any = None,
    metrics: Any = None,
    *,
    qrels: Any = None,
    y: Any = None,
    qid: Any = None,
    depth: int | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Comparison:
    """Compares systems on the same queries, with significance tests.

    Parameters
    ----------
    systems
        Names with models, estimators, scores, runs (with `qrels`) or evaluations; the first is the
        baseline unless `baseline` names another.
    data, y, qid, qrels, metrics, depth, n_jobs
        As in `evaluate`.
    options
        ``baseline`` (the name of a system); ``test`` ("randomisation", "t", "bootstrap", "sign"); ``correction`` of the p-values
        ("holm", "bonferroni", "none"); ``alpha``, the largest corrected p-value that is significant; ``samples`` and ``seed`` of the
        randomisation test and the bootstrap; ``tolerance``, the largest difference in a query that counts as a tie. Those that
        are not given have the defaults of the library.

    Returns
    -------
    Comparison
        Printed, it is a table; ``to_pandas()`` has a row for each metric and system, with the difference from the baseline,
        its interval and its p-value.
    """
    fields = compare_fields(systems, data, metrics, qrels, y, qid, depth, n_jobs, options)
    text, table = _native.compare(fields, thread_count(n_jobs))
    return Comparison(warned(text), table)


class CrossValidation(Result):
    """Folds of a cross validation, and the score of each row by a model that has not seen its query.

    The fields are those that the command prints: ``learners`` with their folds and metrics, and ``comparison`` if there are
    several learners.
    """

    def __init__(self, fields: dict[str, Any], learners: list[tuple[Any, Any]]) -> None:
        super().__init__(fields, "folds")
        names = [one["learner"] for one in fields["learners"]]
        #: The metrics over all queries, by the spec of the learner.
        self.evaluations = {name: Evaluation(native) for name, (native, _) in zip(names, learners)}
        #: The score of each row by each learner, in the order of the rows, by the spec of the learner.
        self.all_scores = {name: np.frombuffer(scores, dtype=np.float64) for name, (_, scores) in zip(names, learners)}

    @property
    def evaluation(self) -> Evaluation:
        """The metrics over all queries, of the first learner."""
        return next(iter(self.evaluations.values()))

    @property
    def scores(self) -> np.ndarray:
        """The score of each row by the first learner, in the order of the rows."""
        return next(iter(self.all_scores.values()))

    def records(self, table: str | None = None) -> list[dict[str, Any]]:
        """A record for each learner and fold: numbers of queries, seconds, and the value of each metric."""
        if table is not None and table != "folds":
            return super().records(table)
        return [
            {"learner": learner["learner"], "fold": number}
            | {key: value for key, value in fold.items() if key != "values"}
            | dict(zip((metric["metric"] for metric in learner["metrics"]), fold["values"]))
            for learner in self._fields["learners"]
            for number, fold in enumerate(learner["folds"], start=1)
        ]


def cv(
    learner: Any,
    data: Any,
    y: Any = None,
    *,
    qid: Any = None,
    metrics: Any = None,
    folds: int | None = None,
    seed: int | None = None,
    valid_part: float | None = None,
    bias: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Cross-validates an estimator, or several on the same folds, by query.

    Parameters
    ----------
    learner
        An estimator or the spec of a learner; or a list of them, which are compared with the first.
    data, y, qid
        A `Dataset`, files, or features with labels and query ids.
    metrics
        A metric or several; the first decides on early stopping. None: the metric of the first learner.
    folds
        Number of folds; None: 5.
    seed
        Seed of the folds and the trainings; None: the default seed, so that results repeat.
    valid_part
        Fraction of each fold's training queries that decides on early stopping; None: all are trained on.
    bias
        A file with the examination of positions, for learners with ``bias="ips"`` or ``"dr"``.
    n_jobs
        Number of threads; None: all.

    Returns
    -------
    CrossValidation
        ``evaluation`` has the metrics over all queries, ``scores`` the score of each row by a model that has not seen its query,
        ``to_pandas()`` a row for each fold.
    """
    several = list(learner) if isinstance(learner, (list, tuple)) else [learner]
    fields = {
        "learners": [_spec(one) for one in several],
        "data": data_source(data, y, qid=qid, n_jobs=n_jobs),
        "metrics": metric_list(metrics),
        "division": options_spec("folds", {"folds": folds, "seed": seed, "valid_part": valid_part}),
        "bias": os.fspath(bias) if bias is not None else None,
    }
    text, learners = _native.cv(fields, thread_count(n_jobs))
    return CrossValidation(warned(text), learners)


class Tuning(Result):
    """The trials of a search over parameters, the best first; the fields are those that the command prints."""

    def __init__(self, fields: dict[str, Any], learner: Any) -> None:
        super().__init__(fields, "trials")
        self._learner = learner

    @property
    def best_spec(self) -> str | None:
        """The spec of the best of the completely trained trials; None if there is none."""
        best = self._fields["best"]
        return best["spec"] if best else None

    @property
    def best_estimator(self) -> Any:
        """An estimator with the parameters of the best trial, not fitted; None if there is none."""
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
    method: str | None = None,
    metric: str | None = None,
    folds: int | None = None,
    valid_part: float | None = None,
    seed: int | None = None,
    log: str | os.PathLike[str] | None = None,
    bias: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> Tuning:
    """Searches over the parameters of an estimator (or of the spec of a learner).

    Parameters
    ----------
    learner
        The estimator or spec; its parameters are trial 0.
    data, y, qid
        A `Dataset`, files, or features with labels and query ids.
    valid
        Validation data on which trials are measured: a `Dataset`, a file, or a tuple ``(X, y, qid)``. None: folds of the data.
    space
        Parameters to search, such as ``"leaves=logint(4,64), rate=log(0.02,0.3)"``; None: the default space of the learner.
    trials
        Number of trials; None: 30.
    method
        ``"random"``; or ``"halving"``: all trials are trained for a few rounds, the best third for three times as many, and so on.
        None: ``"random"``.
    metric
        The metric that decides; None: that of the learner.
    folds, valid_part
        Without `valid`: the number of folds (None: 5), and the fraction of each fold's training queries that decides on early
        stopping (None: none).
    seed
        Seed of the draws, the folds and the trainings; None: the default seed, so that results repeat.
    log
        A file that keeps finished trials: the same call then goes on after an interruption.
    bias
        A file with the examination of positions, for learners with ``bias="ips"`` or ``"dr"``.
    n_jobs
        Number of threads; None: all.

    Returns
    -------
    Tuning
        ``best_estimator`` is an estimator with the best parameters, ``to_pandas()`` has a row for each trial.
    """
    sets = validation_sources(valid, n_jobs)
    if len(sets) > 1:
        raise of_kind("bad-value", f"trials are measured on one set of validation data; found {len(sets)}")
    if sets:
        refused = next((name for name, value in (("folds", folds), ("valid_part", valid_part)) if value is not None), None)
        if refused is not None:
            raise of_kind("option-unused", f"{refused} has no effect: trials are measured on the validation data", "leave it out, or leave out valid")
    fields = {
        "learner": _spec(learner),
        "data": data_source(data, y, qid=qid, n_jobs=n_jobs),
        "valid": sets[0] if sets else None,
        "space": space, "trials": trials, "method": method, "metric": metric_list(metric), "folds": folds, "valid_part": valid_part,
        "seed": seed, "log": os.fspath(log) if log is not None else None, "bias": os.fspath(bias) if bias is not None else None,
    }
    return Tuning(warned(_native.tune(fields, thread_count(n_jobs))), learner)


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
