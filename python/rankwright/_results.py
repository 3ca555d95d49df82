"""Results of functions: the structs that the command prints as JSON, as Python objects."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from typing import Any


class Result:
    """A result whose fields are attributes; its list of records can become a frame.

    `table` is the name of the field whose records `to_pandas`, `to_polars` and the printed table show.

    Examples
    --------
    >>> from rankwright._results import Result
    >>> found = Result({"metrics": [{"metric": "ap", "value": 0.5}], "queries": 3}, table="metrics")
    >>> found.queries, found["metrics"][0]["value"]
    (3, 0.5)
    """

    def __init__(self, fields: dict[str, Any], table: str | None = None) -> None:
        self._fields = fields
        self._table = table

    @classmethod
    def of_json(cls, text: str, table: str | None = None) -> Any:
        """The result of a JSON text of the native module."""
        return cls(json.loads(text), table)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            known = ", ".join(self._fields)
            raise AttributeError(f"the result has no field '{name}'; it has {known}") from None

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self._fields == other._fields

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dictionary."""
        return self._fields

    def records(self, table: str | None = None) -> list[dict[str, Any]]:
        """The records of the field `table`; if not given, of the result's own table or of the first list of records."""
        table = table or self._table
        if table is None:
            lists = (name for name, value in self._fields.items() if _is_records(value))
            table = next(lists, None)
        return list(self._fields[table]) if table is not None else [self._fields]

    def to_pandas(self, table: str | None = None) -> Any:
        """The records as a pandas frame."""
        import pandas

        return pandas.json_normalize(self.records(table))

    def to_polars(self, table: str | None = None) -> Any:
        """The records as a Polars frame."""
        import polars

        return polars.from_dicts(self.records(table), infer_schema_length=None)

    def __repr__(self) -> str:
        return _text_table(self.records()) or f"{type(self).__name__}({self._fields!r})"

    def _repr_html_(self) -> str:
        rows = [{key: value for key, value in row.items() if _is_cell(value)} for row in self.records()]
        names = list(dict.fromkeys(name for row in rows for name in row))
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(row.get(name)))}</td>" for name in names) + "</tr>" for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, dict) for part in value)


def _is_cell(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _text_table(rows: list[dict[str, Any]]) -> str:
    rows = [{key: value for key, value in row.items() if _is_cell(value)} for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        return ""
    cells = [names] + [[_cell(row.get(name)) for name in names] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(names))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells)


class History(Result):
    """The history of a training: metrics of every round on each set of validation data."""

    def values(self, metric: str | None = None, set: str | None = None) -> list[float | None]:
        """The values of a metric on a set such as ``"valid"``, round by round.

        Without `metric` it is the first metric, without `set` the last set.
        """
        metrics, sets = self._fields["metrics"], self._fields["sets"]
        if not sets:
            return []
        column = metrics.index(metric) if metric is not None else 0
        row = sets.index(set) if set is not None else len(sets) - 1
        return [rounds["values"][row][column] for rounds in self._fields["iterations"]]

    def records(self, table: str | None = None) -> list[dict[str, Any]]:
        """A record for each round: its number, loss, leaves and the values of all sets."""
        if table is not None:
            return super().records(table)
        return [
            {"round": one["number"], "leaves": one["leaves"], "loss": one["loss"]}
            | {
                f"{name} {metric}": value
                for name, values in zip(self._fields["sets"], one["values"])
                for metric, value in zip(self._fields["metrics"], values)
            }
            for one in self._fields["iterations"]
        ]


class Evaluation(Result):
    """Values of metrics, with their conventions and confidence intervals."""

    def __init__(self, native: Any) -> None:
        super().__init__(json.loads(native.totals()), "metrics")
        self._native = native
        self._main = native.main
        self._queries = native.queries()
        self._values = {entry["metric"]: native.values(entry["metric"]) for entry in self._fields["metrics"]}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_native"}

    def __getitem__(self, name: str) -> Any:
        for entry in self._fields["metrics"]:
            if entry["metric"] == name:
                return entry["value"]
        return super().__getitem__(name)

    @property
    def value(self) -> float:
        """The value of the first metric that was given, of ``ndcg@10`` if none was; NaN if no query counts."""
        value = self[self._main]
        return float("nan") if value is None else value

    def per_query(self, metric: str | None = None) -> dict[str, float | None]:
        """The value of a metric (None: that of `value`) for each query, by query id; `None` for a query that does not count."""
        name = metric if metric is not None else self._main
        return dict(zip(self._queries, self._values[name]))
