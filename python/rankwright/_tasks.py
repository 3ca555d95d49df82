"""Tasks on files, experiments, and lists of what the library has."""

from __future__ import annotations

import json
import os
from typing import Any

from rankwright import _native
from rankwright._data import data_source
from rankwright._results import Result
from rankwright._scratch import run_task, warned


def task(name: str, **request: Any) -> Result:
    """Runs a task of the library on files, by the name and the fields of its request (docs/reference/requests.md).

    Parameters
    ----------
    name
        The task, such as ``"convert_data"``, ``"split_data"`` or ``"train_model"``.
    request
        The fields of its request: paths, numbers, texts of specs, dictionaries. Those that are left out have the default values.

    Returns
    -------
    Result
        What the command prints with ``--json``.

    Examples
    --------
    >>> import os, tempfile
    >>> import rankwright as rw
    >>> folder = tempfile.mkdtemp()
    >>> path = os.path.join(folder, "data.txt")
    >>> made = rw.task("generate_letor", out=path, options={"queries": 5, "documents": 8})
    >>> rw.task("inspect_data", data=path).queries
    5
    """
    text = json.dumps({key: value for key, value in request.items() if value is not None}, default=os.fspath)
    return Result(warned(_native.run_request(name, text)))


def inspect(data: Any, y: Any = None, *, qid: Any = None) -> Result:
    """Counts, distributions and warnings of feature data: a `Dataset`, files, or features with labels and query ids.

    ``rows``, ``queries`` and ``features`` are numbers, ``labels`` the number of rows of each label, ``feature_summaries`` has a
    record for each feature.
    """
    return Result(run_task("data inspect", data=data_source(data, y, qid=qid)), "feature_summaries")


def experiment(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    plan: bool = False,
    **options: Any,
) -> Result:
    """Runs a whole comparison from a TOML file (docs/experiments.md): learners on data sets, over folds and seeds.

    Parameters
    ----------
    file
        The experiment.
    out
        The folder of the results, with the report and every model; None: the file's name with ``.results``, in the current folder.
    plan
        Whether only the cells and their states are listed, and nothing is trained.
    options
        Options of the run: ``jobs`` (number of trainings at a time), ``only`` (a list of learners).

    Trainings whose results the folder has are not repeated; the same call goes on after an interruption.
    """
    request = {"file": file, "out": out, "options": options or None}
    return task("plan_experiment" if plan else "run_experiment", **request)


def _list(kind: str, table: str) -> Result:
    return Result(json.loads(_native.list(kind)), table)


def list_learners() -> Result:
    """All learners with their parameters and help."""
    return _list("learners", "learners")


def list_objectives() -> Result:
    """All objectives that boosted trees and nets minimise, with their parameters."""
    return _list("objectives", "objectives")


def list_metrics() -> Result:
    """All metrics with their parameters, and presets of the conventions of known tools."""
    return _list("metrics", "metrics")


def list_features() -> Result:
    """All features that an index computes, with their parameters."""
    return _list("features", "features")


def list_first_stages() -> Result:
    """All first stages of a search, with their parameters."""
    return _list("first-stages", "first_stages")


def list_classifiers() -> Result:
    """All classifiers of documents, with their parameters."""
    return _list("classifiers", "classifiers")


def list_click_models() -> Result:
    """All click models, with their parameters."""
    return _list("click-models", "click_models")


def list_formats() -> Result:
    """The formats of files of data, models, documents and lists."""
    return _list("formats", "data")


def list_lectures() -> Result:
    """The worked examples of `lecture`."""
    return _list("lectures", "lectures")
