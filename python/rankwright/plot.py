"""Pictures for notebooks, drawn by the library's own charts.

Each function gives a `Plot`, or several: a notebook shows it, ``.svg`` is the picture, ``.data`` are its numbers, and
``.matplotlib(ax)`` draws it on axes of matplotlib.
"""

from __future__ import annotations

from typing import Any

from rankwright import report
from rankwright.report import Plot, Report
from rankwright.errors import of_kind

__all__ = ["compare", "forces", "importance", "lambdas", "shrinkage", "training", "trees"]


def _charts_with_prefix(page: Report, prefix: str) -> list[Plot]:
    """The charts of a report whose ids start with `prefix`; an error if there is none."""
    found = [plot for id, plot in page.plots.items() if id.startswith(prefix)]
    if not found:
        raise of_kind("no-such-chart", f"this model has no chart of this kind; the report has {', '.join(page.plots)}")
    return found


def training(model: Any, data: Any, *, valid: Any = ()) -> Plot:
    """The learning curve: the metric of the model's training against its rounds."""
    return _charts_with_prefix(report.training(model, data, valid=valid), "curve-")[0]


def lambdas(model: Any, data: Any) -> list[Plot]:
    """The lambdas of a training: their share and size by pair of labels and by rank."""
    return _charts_with_prefix(report.training(model, data), "lambda-")


def forces(model: Any, data: Any, *, query: Any = None) -> list[Plot]:
    """The forces (lambdas) on the documents of a query at several rounds of the training."""
    return _charts_with_prefix(report.training(model, data, query=query), "forces-at-")


def importance(model: Any, data: Any, *, valid: Any = (), by: str = "gain") -> Plot:
    """The features by importance: by ``gain``, ``splits`` or ``permutation``."""
    return _charts_with_prefix(report.training(model, data, valid=valid), f"importance-{by}")[0]


def trees(model: Any, data: Any) -> list[Plot]:
    """Some trees of a model."""
    return _charts_with_prefix(report.training(model, data), "tree-")


def compare(systems: Any, data: Any = None, metrics: Any = "ndcg@10", **more: Any) -> Plot:
    """The means of systems with their intervals."""
    return _charts_with_prefix(report.comparison(systems, data, metrics, **more), "means")[0]


def shrinkage(learner: Any, data: Any, **more: Any) -> Plot:
    """The learning curves of one learner with several rates, as `rankwright.report.shrinkage` takes them."""
    return next(iter(report.shrinkage(learner, data, **more).plots.values()))
