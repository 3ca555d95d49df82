"""Worked examples of lectures on learning to rank."""

from __future__ import annotations

from typing import Any

from rankwright import _native
from rankwright._results import Result
from rankwright._scratch import warned


class Lecture(Result):
    """Worked examples, step by step; a notebook shows them with their pictures."""

    def __init__(self, fields: dict[str, Any], report: Any) -> None:
        super().__init__(fields)
        #: The examples and their pictures as a page.
        self.report = report

    def records(self, table: str | None = None) -> list[dict[str, Any]]:
        """A record for each step: the example, and what was computed."""
        if table is not None:
            return super().records(table)
        return [{"example": example["name"]} | step for example in self._fields["examples"] for step in example["steps"]]

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def lecture(*names: str) -> Lecture:
    """Worked examples of lectures, computed by the library: all of them, or those of these names or lectures.

    Examples
    --------
    >>> import rankwright as rw
    >>> [example["name"] for example in rw.lecture("rocchio").examples]
    ['rocchio']
    """
    from rankwright.report import Report

    text, drawn = _native.lecture(list(names))
    return Lecture(warned(text), Report(drawn))
