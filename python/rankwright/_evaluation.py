"""Evaluation of models, scores and runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._data import Dataset, collected, column_names, column_values, is_frame, one_dimension, refuse_parts
from rankwright._model import Model
from rankwright._results import Evaluation
from rankwright._threads import thread_count
from rankwright.errors import of_kind


def metric_list(metrics: Any) -> list[str]:
    """Metrics as a list of specs."""
    return [metrics] if isinstance(metrics, str) else [str(metric) for metric in metrics]


def evaluate_native(model: Model, data: _native.Dataset, metrics: Any, by_position: bool, n_jobs: int | None) -> Evaluation:
    """Metrics of a model on a native data set."""
    found = _native.evaluate_model(model._native, data, metric_list(metrics), by_position, thread_count(n_jobs))
    return Evaluation(found)


def evaluate(
    what: Any,
    data: Any = None,
    metrics: Any = "ndcg@10",
    *,
    qrels: Any = None,
    y: Any = None,
    qid: Any = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """The values of metrics, with their conventions and confidence intervals.

    Parameters
    ----------
    what
        A model, an estimator, a model file; or scores, one for each row; or a run, if `qrels` is given:
        a file, a frame with ``query_id``, ``doc_id`` and ``score`` (as ir_measures has them), or a
        dictionary of dictionaries.
    data
        Labelled data: a `Dataset`, a file, or features for `y` and `qid`.
    metrics
        A metric or several, such as ``"ndcg@10"`` or ``["ap", "rr@10"]``.
    qrels
        Judgements: a file, a frame with ``query_id``, ``doc_id`` and ``relevance``, or a dictionary of
        dictionaries.

    Examples
    --------
    >>> import rankwright as rw
    >>> run = {"q1": {"a": 2.0, "b": 1.0}}
    >>> rw.evaluate(run, metrics="rr", qrels={"q1": {"b": 1}})["rr"]
    0.5
    """
    threads = thread_count(n_jobs)
    if qrels is not None:
        refuse_parts(data=data, y=y, qid=qid)
        run = _lists(what, "score")
        judged = _lists(qrels, "relevance")
        return Evaluation(_native.evaluate_run(run, judged, metric_list(metrics), threads))
    labelled = _labelled(data, y, qid, n_jobs)
    if _is_scores(what):
        scores = np.ascontiguousarray(one_dimension(what, "scores"), dtype=np.float64)
        return Evaluation(_native.evaluate_scores(labelled._native, scores, metric_list(metrics), threads))
    return evaluate_native(Model(what), labelled._native, metrics, False, n_jobs)


def _labelled(data: Any, y: Any, qid: Any, n_jobs: int | None) -> Dataset:
    if data is None:
        if y is None:
            raise of_kind("no-data", "labelled data is needed: a Dataset, a file, or y and qid")
        data = np.zeros((len(y), 1), dtype=np.float32)
    if isinstance(data, Dataset):
        refuse_parts(y=y, qid=qid)
        return data
    return Dataset(data, y, qid=qid, n_jobs=n_jobs)


def _is_scores(what: Any) -> bool:
    if isinstance(what, (np.ndarray, list, tuple)):
        return True
    return hasattr(what, "to_numpy") and not is_frame(what)


def _lists(what: Any, value: str) -> Any:
    """A run or judgements as the native module takes them: a path, or rows of query, document, value."""
    if isinstance(what, (str, os.PathLike)):
        return os.fspath(what)
    if isinstance(what, Mapping):
        return [(str(query), str(doc), float(number)) for query, docs in what.items() for doc, number in docs.items()]
    if is_frame(what):
        names = {"query_id": ("query_id", "qid", "query"), "doc_id": ("doc_id", "docno", "docid"), value: (value, "label", "rel")}
        what = collected(what)
        columns = column_names(what)
        found = []
        for name, known in names.items():
            column = next((one for one in known if one in columns), None)
            if column is None:
                raise of_kind("no-such-column", f"the frame has no column '{name}'; it has {', '.join(map(str, columns))}")
            found.append(list(column_values(what, column)))
        return [(str(query), str(doc), float(number)) for query, doc, number in zip(*found)]
    if isinstance(what, Iterable):
        return [(str(one[0]), str(one[1]), float(one[2])) for one in what]
    raise of_kind("run-form", f"a {type(what).__name__} is no run, frame, dictionary or file")


__all__ = ["evaluate"]
