"""Learning to rank: estimators that scikit-learn accepts, metrics, models, search and clicks.

>>> import rankwright as rw
>>> ranker = rw.LambdaMART(trees=5, leaves=4, min_rows=1)
>>> ranker.spec()
'lambdamart(trees=5, leaves=4, min_rows=1)'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright import errors
from rankwright._data import Dataset
from rankwright._model import Model
from rankwright._native import __version__
from rankwright._results import Evaluation, History, Result
from rankwright._spec import class_name as _class_name
from rankwright._spec import table as _table
from rankwright._training import Checkpoint, Round, train
from rankwright.errors import Error

if TYPE_CHECKING:
    from rankwright import clicks as clicks
    from rankwright import learners as learners
    from rankwright import plot as plot
    from rankwright._evaluation import evaluate as evaluate
    from rankwright._functions import compare as compare
    from rankwright._functions import cv as cv
    from rankwright._functions import from_spec as from_spec
    from rankwright._functions import tune as tune
    from rankwright._index import Index as Index
    from rankwright._ranker import OneQueryWarning as OneQueryWarning
    from rankwright._ranker import Ranker as Ranker
    from rankwright._ranker import TornQueryWarning as TornQueryWarning
    from rankwright._report import Plot as Plot
    from rankwright._report import Report as Report
    from rankwright._report import generate as generate
    from rankwright._report import report_comparison as report_comparison
    from rankwright._report import report_data as report_data
    from rankwright._report import report_training as report_training
    from rankwright._selection import QueryKFold as QueryKFold
    from rankwright._selection import QueryShuffleSplit as QueryShuffleSplit
    from rankwright._selection import scorer as scorer
    from rankwright.learners import *  # noqa: F403

# Estimators and what needs scikit-learn are imported when they are first used.
_LAZY = {
    "Ranker": "_ranker",
    "OneQueryWarning": "_ranker",
    "TornQueryWarning": "_ranker",
    "QueryKFold": "_selection",
    "QueryShuffleSplit": "_selection",
    "scorer": "_selection",
    "evaluate": "_evaluation",
    "Index": "_index",
    "compare": "_functions",
    "cv": "_functions",
    "tune": "_functions",
    "from_spec": "_functions",
    "Plot": "_report",
    "Report": "_report",
    "generate": "_report",
    "report_comparison": "_report",
    "report_data": "_report",
    "report_training": "_report",
}


def _estimator_names() -> list[str]:
    return [_class_name(name) for name in _table()]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        value = getattr(importlib.import_module(f"rankwright.{_LAZY[name]}"), name)
    elif name in ("clicks", "learners", "plot"):
        return importlib.import_module(f"rankwright.{name}")
    elif name in _estimator_names():
        value = importlib.import_module("rankwright.learners").ESTIMATORS[name]
    else:
        raise AttributeError(f"module 'rankwright' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_estimator_names(), "clicks", "learners", "plot"})


__all__ = [
    "Checkpoint",
    "Dataset",
    "Error",
    "Evaluation",
    "History",
    "Model",
    "Result",
    "Round",
    "__version__",
    "errors",
    "train",
    *_LAZY,
    *_estimator_names(),
]  # pyright: ignore[reportUnsupportedDunderAll]
