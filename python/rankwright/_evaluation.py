"""Evaluation of models, scores and runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._data import collected, column_names, column_values, data_source, is_frame, one_dimension, refuse_parts
from rankwright._model import Model
from rankwright._results import Evaluation
from rankwright._threads import thread_count
from rankwright._warnings import warn_of
from rankwright.errors import of_kind


def metric_list(metrics: Any) -> list[str]:
    """Metrics as a list of specs; none if none is given."""
    if metrics is None:
        return []
    return [metrics] if isinstance(metrics, str) else [str(metric) for metric in metrics]


def evaluation(n_jobs: int | None, **fields: Any) -> Evaluation:
    """The result of the task with these fields, after giving its warnings."""
    found = Evaluation(_native.evaluate(fields, thread_count(n_jobs)))
    warn_of(found.to_dict().get("warnings", ()))
    return found


def evaluate_native(model: Model, data: _native.Dataset, metrics: Any, by_position: bool, n_jobs: int | None) -> Evaluation:
    """Metrics of a model on a native data set."""
    return evaluation(n_jobs, model=model._native, data=data, metrics=metric_list(metrics), by_position=by_position)


def evaluate(
    what: Any,
    data: Any = None,
    metrics: Any = None,
    *,
    qrels: Any = None,
    y: Any = None,
    qid: Any = None,
    depth: int | None = None,
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
        Labelled data: a `Dataset`, a file (or several), or features for `y` and `qid`. Not needed with `qrels`, and not with
        scores whose `y` and `qid` are given.
    metrics
        A metric or several, such as ``"ndcg@10"`` or ``["ap", "rr@10"]``; None: the usual ones of the library,
        which `list_metrics` marks.
    qrels
        Judgements: a file, a frame with ``query_id``, ``doc_id`` and ``relevance``, or a dictionary of
        dictionaries.
    y, qid
        Labels and query ids of the rows, if `data` has none of its own.
    depth
        Count only this many best documents of each query; None: all.
    n_jobs
        Number of threads; None: all.

    Returns
    -------
    Evaluation
        ``found["ndcg@10"]`` is the value of a metric, ``found.value`` that of the first one, ``found.per_query("ndcg@10")`` has
        the values of the queries, ``found.to_pandas()`` all metrics with their intervals.

    Examples
    --------
    >>> import rankwright as rw
    >>> run = {"q1": {"a": 2.0, "b": 1.0}}
    >>> rw.evaluate(run, metrics="rr", qrels={"q1": {"b": 1}})["rr"]
    0.5
    """
    fields = {"metrics": metric_list(metrics), "depth": depth}
    if qrels is not None:
        refuse_parts(data=data, y=y, qid=qid)
        return evaluation(n_jobs, runs=[_lists(what, "score")], qrels=_lists(qrels, "relevance"), **fields)
    labelled = _labelled(data, y, qid, n_jobs)
    if _is_scores(what):
        return evaluation(n_jobs, scores=[("the scores", _scores(what))], data=labelled, **fields)
    return evaluation(n_jobs, model=model_source(what), data=labelled, **fields)


def model_source(model: Any) -> Any:
    """A model as tasks take it: the path of a file, or a native model."""
    return os.fspath(model) if isinstance(model, (str, os.PathLike)) else Model(model)._native


def _scores(what: Any) -> np.ndarray:
    return np.ascontiguousarray(one_dimension(what, "scores"), dtype=np.float64)


def _labelled(data: Any, y: Any, qid: Any, n_jobs: int | None) -> Any:
    if data is None:
        if y is None:
            raise of_kind("no-data", "labelled data is needed: a Dataset, a file, or y and qid")
        data = np.zeros((len(y), 1), dtype=np.float32)
    return data_source(data, y, qid=qid, n_jobs=n_jobs)


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
