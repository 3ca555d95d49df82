"""Reports: a page of HTML that needs no other file, and its charts."""

from __future__ import annotations

import html
import json
import os
from typing import Any

from rankwright import _native
from rankwright._data import Dataset
from rankwright._functions import _dataset, evaluate
from rankwright._model import Model
from rankwright._results import Evaluation
from rankwright.errors import of_kind


class Plot:
    """A chart: an SVG picture, and the numbers that it shows."""

    def __init__(self, id: str, title: str, svg: str, data: Any) -> None:
        self.id, self.title = id, title
        #: The picture as an SVG document.
        self.svg = svg
        #: The numbers of the chart.
        self.data = data

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG document to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Plot({self.title!r})"


class Report:
    """A report: a page of HTML that needs no other file, with charts."""

    def __init__(self, drawn: tuple[str, list[tuple[str, str, str, str]]]) -> None:
        self.html, charts = drawn
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


def report_data(data: Any, y: Any = None, *, qid: Any = None, title: str = "Data") -> Report:
    """A report on data before training: labels, queries, features."""
    return Report(_native.report_data(_dataset(data, y, qid, None)._native, title))


def report_training(model: Any, data: Any, *, valid: Any = (), query: Any = None) -> Report:
    """A report on a training: learning curve, lambdas, forces between documents, trees."""
    sets = [("valid" if place == 0 else f"valid{place + 1}", one._native) for place, one in enumerate(valid)]
    if not isinstance(data, Dataset):
        raise of_kind("no-data", "the data of a training report is a Dataset")
    return Report(_native.report_training(Model(model)._native, data._native, sets, None if query is None else str(query)))


def report_comparison(systems: Any, data: Any = None, metrics: Any = "ndcg@10", *, title: str = "Comparison", **more: Any) -> Report:
    """A report on a comparison of systems, as `compare` takes them."""
    evaluated = []
    for name, system in systems.items():
        found = system if isinstance(system, Evaluation) else evaluate(system, data, metrics, **more)
        evaluated.append((name, found._native))
    return Report(_native.report_comparison(evaluated, "compare", title))


def generate(queries: int = 100, documents: int = 40, *, seed: int = 1, named: bool = False) -> Dataset:
    """Generated feature data: 136 features, graded labels, the same for a seed on every machine.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.generate(queries=10, documents=20).n_queries
    10
    """
    return Dataset._of(_native.generate_letor(queries, documents, seed, named))
