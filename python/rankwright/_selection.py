"""Splits by query and scorers, for the tools of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwright.errors import of_kind

try:
    from sklearn.model_selection import GroupKFold, GroupShuffleSplit
except ImportError as error:  # pragma: no cover
    raise ImportError("QueryKFold, QueryShuffleSplit and scorer need the package scikit-learn") from error


def _query_of_rows(X: Any, groups: Any, qid: Any, query: str | None, name: str) -> Any:
    """The number of each row's query, from 0 by first appearance; `name` is the class of the splitter, for the error."""
    from rankwright._data import column_values, is_frame

    found = qid if qid is not None else groups
    if found is None and query is not None and is_frame(X):
        found = column_values(X, query)
    if found is None:
        raise of_kind("missing-qid", f"{name} needs the query id of each row: give qid (or groups), or name a column by query")
    number_of: dict[Any, int] = {}
    values = found.to_pylist() if hasattr(found, "to_pylist") else found
    return np.fromiter((number_of.setdefault(value, len(number_of)) for value in values), dtype=np.int64)


class QueryKFold(GroupKFold):
    """K folds by query: all rows of a query are in one fold.

    The query of each row is given as `qid` (by metadata routing), as `groups`, or is the column `query`
    of a frame.

    Examples
    --------
    >>> import numpy as np, rankwright as rw
    >>> X, qid = np.zeros((6, 1)), ["a", "a", "b", "c", "c", "b"]
    >>> [test.tolist() for _, test in rw.QueryKFold(3).split(X, qid=qid)]
    [[3, 4], [2, 5], [0, 1]]
    """

    # Meta-estimators pass qid on if routing is enabled.
    __metadata_request__split = {"qid": True, "groups": False}

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None, query: str | None = None) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        self.query = query

    def split(self, X: Any, y: Any = None, groups: Any = None, qid: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:  # type: ignore[override]
        """Indices of the rows of training and test data of each fold."""
        numbers = _query_of_rows(X, groups, qid, self.query, type(self).__name__)
        return super().split(np.zeros((len(numbers), 1)), None, numbers)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:  # type: ignore[override]
        """The number of splits."""
        return int(self.n_splits)


class QueryShuffleSplit(GroupShuffleSplit):
    """Random splits by query: all rows of a query are in the training or in the test data."""

    __metadata_request__split = {"qid": True, "groups": False}

    def __init__(
        self, n_splits: int = 5, *, test_size: Any = None, train_size: Any = None, random_state: Any = None, query: str | None = None
    ) -> None:
        super().__init__(n_splits, test_size=test_size, train_size=train_size, random_state=random_state)
        self.query = query

    def split(self, X: Any, y: Any = None, groups: Any = None, qid: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:  # type: ignore[override]
        """Indices of the rows of training and test data of each split."""
        numbers = _query_of_rows(X, groups, qid, self.query, type(self).__name__)
        return super().split(np.zeros((len(numbers), 1)), None, numbers)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:  # type: ignore[override]
        """The number of splits."""
        return int(self.n_splits)


class scorer:
    """A scorer of a metric, for `scoring=` of scikit-learn's tools.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.scorer("ap")
    scorer('ap')
    """

    def __init__(self, metric: str) -> None:
        self.metric = metric

    def __call__(self, estimator: Any, X: Any, y: Any = None, *, qid: Any = None, **_: Any) -> float:
        found = getattr(estimator, "evaluate", None)
        if found is None:
            # A pipeline: its last step evaluates what the other steps make of X.
            for _, step in estimator.steps[:-1]:
                X = step.transform(X)
            found = estimator.steps[-1][1].evaluate
        return found(X, y, qid=qid, metrics=self.metric).value

    def get_metadata_routing(self) -> Any:
        """Requests the query ids."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="qid", alias=True)
        return request

    def __repr__(self) -> str:
        return f"scorer({self.metric!r})"
