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
from rankwright._warnings import RankwrightWarning
from rankwright.errors import Error

if TYPE_CHECKING:
    from rankwright import clicks as clicks
    from rankwright import interleave as interleave
    from rankwright import judge as judge
    from rankwright import learners as learners
    from rankwright import plot as plot
    from rankwright import report as report
    from rankwright._classify import classify as classify
    from rankwright._evaluation import evaluate as evaluate
    from rankwright._functions import compare as compare
    from rankwright._functions import cv as cv
    from rankwright._functions import from_spec as from_spec
    from rankwright._functions import tune as tune
    from rankwright._functions import auto as auto
    from rankwright._generate import Collection as Collection
    from rankwright._generate import generate as generate
    from rankwright._generate import generate_homepages as generate_homepages
    from rankwright._generate import generate_store as generate_store
    from rankwright._index import Index as Index
    from rankwright._lecture import lecture as lecture
    from rankwright._ranker import OneQueryWarning as OneQueryWarning
    from rankwright._ranker import Ranker as Ranker
    from rankwright._ranker import TornQueryWarning as TornQueryWarning
    from rankwright._selection import QueryKFold as QueryKFold
    from rankwright._selection import QueryShuffleSplit as QueryShuffleSplit
    from rankwright._selection import scorer as scorer
    from rankwright._tasks import task as task
    from rankwright._tasks import inspect as inspect
    from rankwright._tasks import experiment as experiment
    from rankwright._tasks import list_learners as list_learners
    from rankwright._tasks import list_objectives as list_objectives
    from rankwright._tasks import list_metrics as list_metrics
    from rankwright._tasks import list_features as list_features
    from rankwright._tasks import list_first_stages as list_first_stages
    from rankwright._tasks import list_classifiers as list_classifiers
    from rankwright._tasks import list_click_models as list_click_models
    from rankwright._tasks import list_formats as list_formats
    from rankwright._tasks import list_lectures as list_lectures
    from rankwright.report import Plot as Plot
    from rankwright.report import Report as Report
    from rankwright.learners import *  # noqa: F403

# Names with their modules, imported when they are first used: `import rankwright` is quick and needs no
# scikit-learn.
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
    "auto": "_functions",
    "from_spec": "_functions",
    "classify": "_classify",
    "Collection": "_generate",
    "generate": "_generate",
    "generate_homepages": "_generate",
    "generate_store": "_generate",
    "lecture": "_lecture",
    "task": "_tasks",
    "inspect": "_tasks",
    "experiment": "_tasks",
    "list_learners": "_tasks",
    "list_objectives": "_tasks",
    "list_metrics": "_tasks",
    "list_features": "_tasks",
    "list_first_stages": "_tasks",
    "list_classifiers": "_tasks",
    "list_click_models": "_tasks",
    "list_formats": "_tasks",
    "list_lectures": "_tasks",
    "Plot": "report",
    "Report": "report",
}

#: Modules that are imported when they are first used.
_MODULES = ("clicks", "interleave", "judge", "learners", "plot", "report")


def _estimator_names() -> list[str]:
    return [_class_name(name) for name in _table()]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        value = getattr(importlib.import_module(f"rankwright.{_LAZY[name]}"), name)
    elif name in _MODULES:
        return importlib.import_module(f"rankwright.{name}")
    elif name in _estimator_names():
        value = importlib.import_module("rankwright.learners").ESTIMATORS[name]
    else:
        raise AttributeError(f"module 'rankwright' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_estimator_names(), *_MODULES})


__all__ = [
    "Checkpoint",
    "Dataset",
    "Error",
    "Evaluation",
    "History",
    "Model",
    "RankwrightWarning",
    "Result",
    "Round",
    "__version__",
    "errors",
    "train",
    *_LAZY,
    *_estimator_names(),
]  # pyright: ignore[reportUnsupportedDunderAll]
