"""Explanations of rankings: the contributions of features to scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright._results import Result
from rankwright.errors import of_kind


class Explanation(Result):
    """The contributions of features to the scores of one query's documents.

    ``rows`` are the rows of the documents in the data (from 0), ``names`` the features that the model uses,
    ``values[d][f]`` their values. The score of document ``d`` is ``base`` plus the sum of
    ``contributions[d][f]`` over all features ``f``.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__(fields)

    def records(self, table: str | None = None) -> list[dict[str, Any]]:
        """A record for each document, best first: row, rank, score and the contributions."""
        scores = self._fields["scores"]
        order = sorted(range(len(scores)), key=lambda document: -scores[document])
        return [
            {"row": self._fields["rows"][document], "rank": rank, "score": scores[document]}
            | dict(zip(self._fields["names"], self._fields["contributions"][document]))
            for rank, document in enumerate(order, start=1)
        ]

    def why(self, above: int, below: int) -> Result:
        """The share of each feature in the difference of the scores of two documents, given by their rows.

        ``difference`` is the score of row `above` minus that of row `below`; the shares add up to it.
        """
        try:
            a, b = self._fields["rows"].index(above), self._fields["rows"].index(below)
        except ValueError:
            raise of_kind("invalid-pair", f"rows {above} and {below} are not both documents of the query") from None
        parts = np.subtract(self._fields["contributions"][a], self._fields["contributions"][b])
        values = self._fields["values"]
        order = np.argsort(-np.abs(parts), kind="stable")
        features = [
            {"feature": self._fields["names"][f], "share": float(parts[f]), "above": values[a][f], "below": values[b][f]}
            for f in order
        ]
        difference = self._fields["scores"][a] - self._fields["scores"][b]
        return Result({"above": above, "below": below, "difference": difference, "features": features}, "features")

    def shap(self) -> Any:
        """The contributions as a `shap.Explanation`; needs the package shap."""
        import shap  # pyright: ignore[reportMissingImports]

        values = np.array(self._fields["contributions"], dtype=float)
        data = np.array(self._fields["values"], dtype=float)
        base = np.full(len(values), self._fields["base"])
        return shap.Explanation(values, base_values=base, data=data, feature_names=list(self._fields["names"]))
