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
from collections.abc import Iterable
from typing import Any

from rankwright import _native
from rankwright._charts import draw_matplotlib
from rankwright._data import Dataset
from rankwright._functions import _dataset, _spec, evaluate
from rankwright._model import Model
from rankwright._results import Evaluation, Result
from rankwright._scratch import options_spec
from rankwright.errors import of_kind

__all__ = ["Plot", "Report", "clicks", "comparison", "data", "shrinkage", "training"]


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
        #: The numbers of the report, as the command prints them as JSON: of `shrinkage` and `clicks`, else None.
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


def data(data: Any, y: Any = None, *, qid: Any = None, title: str = "Data") -> Report:
    """A report on data before training: labels, queries, features."""
    return Report(_native.report_data(_dataset(data, y, qid, None)._native, title))


def _validation(valid: Iterable[Any]) -> list[tuple[str, _native.Dataset]]:
    sets = [valid] if isinstance(valid, Dataset) else valid
    return [("valid" if place == 0 else f"valid{place + 1}", one._native) for place, one in enumerate(sets)]


def training(model: Any, data: Any, *, valid: Any = (), query: Any = None) -> Report:
    """A report on a training: learning curve, lambdas, forces between documents, trees.

    The forces are those of `query`; without it, the report chooses one.
    """
    if not isinstance(data, Dataset):
        raise of_kind("no-data", "the data of a training report is a Dataset")
    drawn = _native.report_training(Model(model)._native, data._native, _validation(valid), None if query is None else str(query))
    return Report(drawn)


def comparison(systems: Any, data: Any = None, metrics: Any = "ndcg@10", *, title: str = "Comparison", **more: Any) -> Report:
    """A report on a comparison of systems: models, scores or evaluations by their names, as `compare` takes them.

    `more` are arguments of `evaluate`; the comparison itself has its default options.
    """
    evaluated = []
    for name, system in systems.items():
        found = system if isinstance(system, Evaluation) else evaluate(system, data, metrics, **more)
        evaluated.append((name, found._native))
    return Report(_native.report_comparison(evaluated, "compare", title))


def shrinkage(
    learner: Any,
    data: Any,
    y: Any = None,
    *,
    qid: Any = None,
    valid: Any = (),
    rates: Iterable[float] | None = None,
    metric: str | None = None,
    seed: int | None = None,
) -> Report:
    """One learner trained with several learning rates (`rates`; the usual ones if not given), curves side by side.

    A fifth of the queries is held out where there is no validation data.
    """
    text, drawn = _native.report_shrinkage(
        _spec(learner), None if rates is None else [float(rate) for rate in rates], _dataset(data, y, qid, None)._native,
        _validation(valid), metric, seed,
    )
    return Report(drawn, Result.of_json(text, "runs"))


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
    text, drawn = _native.report_clicks(fields)
    return Report(drawn, Result.of_json(text))
