"""Reports: a page of HTML that needs no other file, with its charts, on data, a training, a comparison or a click log.

>>> import rankwright as rw
>>> page = rw.report.data(rw.generate(queries=10, documents=8))
>>> page.html[:9], len(page.plots) > 3
('<!doctype', True)
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Collection, Iterable
from typing import Any

from rankwright import _native
from rankwright._charts import draw_matplotlib
from rankwright._data import data_source, validation_sources
from rankwright._evaluation import metric_list, model_source
from rankwright._functions import _spec, compare_fields
from rankwright._results import Result
from rankwright._scratch import options_spec, warned
from rankwright.errors import of_kind

__all__ = ["Plot", "Report", "clicks", "comparison", "data", "shrinkage", "trade_off", "training"]


class Plot:
    """A chart: an SVG picture, and the numbers that it shows."""

    def __init__(self, id: str, title: str, svg: str, data: Any) -> None:
        self.id, self.title = id, title
        #: The picture as an SVG document.
        self.svg = svg
        #: The numbers of the chart; `None` for drawings such as that of a tree.
        self.data = data

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG document to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def matplotlib(self, ax: Any = None) -> Any:
        """Draws the chart on axes of matplotlib (on the current ones if none are given), and returns them."""
        if self.data is None:
            raise of_kind("no-such-chart", f"'{self.title}' is a drawing, which has no axes")
        if ax is None:
            import matplotlib.pyplot  # pyright: ignore[reportMissingImports]

            ax = matplotlib.pyplot.gca()
        draw_matplotlib(self.data, ax)
        return ax

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Plot({self.title!r})"


class Report:
    """A report: a page of HTML that needs no other file, with charts."""

    def __init__(self, drawn: tuple[str, list[tuple[str, str, str, str]]], result: Result | None = None) -> None:
        # `drawn` is the page as HTML, and of each chart the id, the title, the SVG document and the numbers as JSON.
        self.html, charts = drawn
        #: The numbers of the report, as the command prints them as JSON.
        self.result = result
        #: The charts by their ids.
        self.plots = {id: Plot(id, title, svg, json.loads(data)) for id, title, svg, data in charts}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __getitem__(self, id: str) -> Plot:
        if id not in self.plots:
            raise of_kind("no-such-chart", f"the report has no chart '{id}'; it has {', '.join(self.plots)}")
        return self.plots[id]

    def _repr_html_(self) -> str:
        return f'<iframe style="width:100%;height:800px;border:0" srcdoc="{html.escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"Report({len(self.plots)} charts: {', '.join(self.plots)})"


def _report(drawn: tuple[str, Any], table: str | None = None, without: Collection[str] = ()) -> Report:
    """The report that a task has made, after giving its warnings, but for some kinds."""
    text, page = drawn
    return Report(page, Result(warned(text, without=without), table))


def data(
    data: Any,
    y: Any = None,
    *,
    qid: Any = None,
    name: str | None = None,
    metric: str | None = None,
    top: int | None = None,
    sample: int | None = None,
    seed: int | None = None,
) -> Report:
    """A report on data before training: labels, queries, features.

    Parameters
    ----------
    data, y, qid
        A `Dataset`, files, or features with labels and query ids.
    name
        The name of the data in the report; None: "the data".
    metric
        The metric of the rankers of a single feature; None: ``"ndcg@10"``.
    top
        Number of features in charts; None: 20.
    sample, seed
        Number of rows on which features are compared with each other (None: 10,000), and the seed of their choice.
    """
    source = data_source(data, y, qid=qid)
    named = (name, source) if name is not None and not isinstance(source, list) else source
    return _report(_native.report_data({"data": named, "metric": metric, "top": top, "sample": sample, "seed": seed}))


def training(
    model: Any,
    data: Any,
    *,
    valid: Any = None,
    query: Any = None,
    metrics: Any = None,
    points: int | None = None,
    trees: int | None = None,
    seed: int | None = None,
) -> Report:
    """A report on a training: learning curve, lambdas, forces between documents, trees.

    Parameters
    ----------
    model
        A model, an estimator, or a file (the log beside it then has the curves).
    data
        The data that it was trained on: a `Dataset`, a file, or a tuple ``(X, y, qid)``.
    valid
        Validation data, one set or a list; None: none.
    query
        The query whose forces are drawn; None: the report chooses one.
    metrics
        Metrics of the curves; None: that of the model's training.
    points, trees
        Largest number of points of a curve, and number of trees to draw; None: those of the library.
    seed
        Seed of samples; None: the default seed.
    """
    fields = {
        "model": model_source(model), "data": data_source(data), "valid": validation_sources(valid), "query": None if query is None else str(query),
        "metrics": metric_list(metrics), "points": points, "trees": trees, "seed": seed,
    }
    # A model in memory never has a log beside it.
    without = () if isinstance(fields["model"], str) else ("no-log",)
    return _report(_native.report_training(fields), without=without)


def comparison(
    systems: Any,
    data: Any = None,
    metrics: Any = None,
    *,
    qrels: Any = None,
    y: Any = None,
    qid: Any = None,
    depth: int | None = None,
    queries: Iterable[Any] = (),
    n_jobs: int | None = None,
    **options: Any,
) -> Report:
    """A report on a comparison of systems: models, scores, runs or evaluations by their names, as `compare` takes them.

    `queries` are those whose documents are shown; none: a few informative ones. `options` are those of `compare`.
    """
    fields = compare_fields(systems, data, metrics, qrels, y, qid, depth, n_jobs, options)
    return _report(_native.report_comparison(fields | {"queries": [str(query) for query in queries]}))


def shrinkage(
    learner: Any,
    data: Any,
    y: Any = None,
    *,
    qid: Any = None,
    valid: Any = None,
    rates: Iterable[float] | None = None,
    metric: str | None = None,
    trees: int | None = None,
    seed: int | None = None,
) -> Report:
    """One learner trained with several learning rates, curves side by side.

    Parameters
    ----------
    learner
        An estimator or a spec; its rate is replaced.
    data, y, qid
        A `Dataset`, files, or features with labels and query ids.
    valid
        Validation data, one set or a list; None: a fifth of the queries is held out.
    rates
        The learning rates; None: the usual ones.
    metric
        The metric of the curves; None: that of the learner.
    trees
        Number of trees; None: that of the learner.
    seed
        Seed of the trainings and of the queries that are held out; None: the default seed.
    """
    fields = {
        "learner": _spec(learner), "rates": None if rates is None else [float(rate) for rate in rates],
        "data": data_source(data, y, qid=qid), "valid": validation_sources(valid), "metric": metric_list(metric), "trees": trees, "seed": seed,
    }
    return _report(_native.report_shrinkage(fields), "runs")


def trade_off(
    learner: Any,
    data: Any,
    y: Any = None,
    *,
    goals: tuple[str, str],
    qid: Any = None,
    valid: Any = None,
    weights: Iterable[float] | None = None,
    tolerances: Iterable[float] = (),
    seed: int | None = None,
) -> Report:
    """One learner trained with several weights of two goals: what the second goal costs of the first.

    Parameters
    ----------
    learner
        An estimator or a spec; its metric and labels are replaced.
    data, y, qid
        A `Dataset`, files, or features with labels and query ids.
    goals
        Two metrics, each with the column of its labels if that is not the data's own: ``("ndcg@10", "ndcg@10 on clicks")``.
    valid
        Validation data, on which both goals are measured; None: a fifth of the queries is held out.
    weights
        Weights of the second goal, from 0 to 1; None: the usual ones.
    tolerances
        Tolerances with which the first goal is kept while the second is improved; empty: none.
    seed
        Seed of the trainings and of the queries that are held out; None: the default seed.
    """
    sets = validation_sources(valid)
    if len(sets) > 1:
        raise of_kind("bad-value", f"goals are measured on one set of validation data; found {len(sets)}")
    fields = {
        "learner": _spec(learner), "goals": [str(goal) for goal in goals], "data": data_source(data, y, qid=qid),
        "valid": sets[0] if sets else None, "weights": None if weights is None else [float(weight) for weight in weights],
        "tolerances": [float(tolerance) for tolerance in tolerances], "seed": seed,
    }
    return _report(_native.report_trade_off(fields), "points")


def clicks(log: Any, *, test: Any = None, estimators: Iterable[str] = (), features: Any = None, **options: Any) -> Report:
    """Click rates by rank, position bias and click models of a log, which is given as to `rankwright.clicks`.

    `test` is another log, on which click models are measured; `estimators` are those of position bias, by
    default all that are possible; `features` is feature data for `regression-em`; `options` are those of the
    estimators.
    """
    from rankwright._inputs import data_of
    from rankwright.clicks import _log

    fields = {
        "log": _log(log),
        "test": _log(test) if test is not None else None,
        "estimators": list(estimators),
        "features": data_of(features),
        "options": options_spec("bias", options),
    }
    return _report(_native.report_clicks(fields))
