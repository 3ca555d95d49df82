"""Click logs: what is in them, click models, position bias, labels, simulation, the value of another ranker.

A log is a file or several files of any known format. Results are the structs that the command prints as JSON.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from rankwright import _native
from rankwright._data import Dataset
from rankwright._results import Result

__all__ = ["bias", "evaluate", "fit", "inspect", "labels", "pairs", "simulate"]


def _files(paths: Any) -> list[str]:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return [os.fspath(path) for path in several]


def inspect(log: Any, *, format: str | None = None) -> Result:
    """Sessions, pages, clicks and ranks of a log."""
    return Result.of_json(_native.clicks_inspect(_files(log), format))


def fit(log: Any, model: str = "pbm", *, test: Any = None, format: str | None = None) -> Result:
    """Fits a click model, such as ``"pbm"`` or ``"dbn"``, and measures it."""
    return Result.of_json(_native.clicks_fit(_files(log), format, model, _files(test) if test is not None else None), "parameters")


def bias(log: Any, *, estimators: Iterable[str] = (), features: Any = None, format: str | None = None) -> Result:
    """Estimates the examination of each rank."""
    found = _files(features) if features is not None else None
    return Result.of_json(_native.clicks_bias(_files(log), format, list(estimators), found), "estimates")


def labels(
    log: Any, features: Any, out: str | os.PathLike[str], *, source: str | None = None, grades: int | None = None, format: str | None = None
) -> Dataset:
    """Writes feature data whose labels are made of clicks, and returns it."""
    _native.clicks_labels(_files(log), format, _files(features), os.fspath(out), source, grades)
    return Dataset(out)


def pairs(log: Any, out: str | os.PathLike[str], *, min_count: int | None = None, format: str | None = None) -> Result:
    """Writes the preferences that the clicks of a log mean."""
    return Result.of_json(_native.clicks_pairs(_files(log), format, os.fspath(out), min_count))


def simulate(
    data: Any,
    out: str | os.PathLike[str],
    *,
    user: str = "pbm",
    model: str | os.PathLike[str] | None = None,
    feature: str | None = None,
    ranker: str | None = None,
    sessions: int | None = None,
    top: int | None = None,
    seed: int | None = None,
) -> Result:
    """Simulates users who click on the pages of a ranker (a model file, or a feature), and writes the log."""
    text = _native.clicks_simulate(
        _files(data), os.fspath(out), model=os.fspath(model) if model is not None else None, feature=feature,
        ranker=ranker, user=user, sessions=sessions, top=top, seed=seed,
    )
    return Result.of_json(text)


def evaluate(log: Any, models: Any, features: Any, metric: str = "ndcg@10", *, format: str | None = None) -> Result:
    """Estimates the value of models from the log of another ranking."""
    return Result.of_json(_native.clicks_evaluate(_files(log), format, _files(models), _files(features), metric), "models")


def interleave(
    runs: Any, out: str | os.PathLike[str], *, method: str | None = None, length: int | None = None, seed: int | None = None
) -> Result:
    """Interleaves runs for a comparison by clicks, and writes the lists."""
    return Result.of_json(_native.interleave(_files(runs), os.fspath(out), method, length, seed))


def interleave_score(log: Any, lists: str | os.PathLike[str], *, format: str | None = None) -> Result:
    """Compares the rankers of interleaved lists by the clicks of a log."""
    return Result.of_json(_native.interleave_score(_files(log), format, os.fspath(lists)), "comparisons")
