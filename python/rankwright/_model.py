"""Models: read, score, explain, inspect, convert."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._data import Dataset, data_source, is_frame, is_pandas, native_dataset, read_files, refuse_parts, row_parts
from rankwright._results import Result
from rankwright._threads import thread_count
from rankwright._warnings import warn_of
from rankwright.errors import of_kind

_FAST = (np.dtype(np.float32), np.dtype(np.float64))


class Model:
    """A model that scores documents.

    ``Model(source)`` takes the path of a model file or its bytes, in our format or in one of another
    system, an estimator, or a booster of LightGBM, XGBoost or CatBoost in memory.

    Examples
    --------
    >>> import rankwright as rw
    >>> ranker = rw.Linear(weights={"1": 2.0, "2": -1.0}).fit([[1.0, 0.0], [0.0, 1.0]], [1, 0], qid=[7, 7])
    >>> model = rw.Model.from_bytes(ranker.model_.to_bytes())
    >>> model.predict([[3.0, 1.0]])
    array([5.])
    """

    __slots__ = ("_native", "__weakref__")

    _native: _native.Model

    def __init__(self, source: Any) -> None:
        if isinstance(source, Model):
            self._native = source._native
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self._native = _native.Model.from_bytes(bytes(source), None)
        elif isinstance(source, (str, os.PathLike)):
            self._native = _native.Model.read(os.fspath(source))
        elif hasattr(source, "model_"):
            self._native = Model(source.model_)._native
        else:
            self._native = _native.Model.from_bytes(_booster_bytes(source), None)

    @classmethod
    def _of(cls, native: _native.Model) -> Model:
        made = cls.__new__(cls)
        made._native = native
        return made

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Model:
        """Reads a model file, in our format or in one of another system."""
        return cls._of(_native.Model.read(os.fspath(path)))

    @classmethod
    def from_bytes(cls, data: bytes, format: str | None = None) -> Model:
        """The model of the bytes of a file; the format is detected if it is not given."""
        return cls._of(_native.Model.from_bytes(bytes(data), format))

    def to_bytes(self, format: str | None = None) -> bytes:
        """The bytes of the model's file: those that the command writes, or those of another format."""
        return self._native.to_bytes(format)

    def convert(self, to: str) -> bytes:
        """The bytes of the model in another format, such as ``"lightgbm"`` or ``"onnx"``."""
        return self._native.to_bytes(to)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Writes the model to a file, whole or not at all."""
        self._native.save(os.fspath(path), format)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes of the model."""
        return self._native.sha256()

    @property
    def feature_names(self) -> list[str]:
        """Names of the features; numbers as text if they have no names."""
        return self._native.feature_names

    @property
    def learner(self) -> str:
        """The spec of the learner that trained the model."""
        return self._native.learner

    @property
    def is_listwise(self) -> bool:
        """Whether a score depends on the other documents of its query."""
        return self._native.is_listwise

    def predict(
        self,
        X: Any,
        *,
        qid: Any = None,
        kind: str | None = None,
        rel: float | None = None,
        ignore_extra: bool = False,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """The score of each row, in the order of the rows; a higher score ranks higher.

        Parameters
        ----------
        X
            Rows: an array or sparse matrix, whose columns are matched by position, a frame, whose columns are matched by name,
            a `Dataset`, or a file.
        qid
            Query ids, which only list-wise models need; without them, all rows are one query.
        kind
            ``"grade"``, ``"probability"`` or ``"class"``: a prediction in terms of labels instead of the score, for models that
            make it. None: the score.
        rel
            The lowest relevant label of probabilities and classes; None: that of the training.
        ignore_extra
            Whether features that the model does not know are ignored; otherwise they are an error.
        n_jobs
            Number of threads; None: all.
        """
        native = self._native
        if kind is None and qid is None and isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in _FAST and X.shape[1] == native.columns:
            small = native.score_small(X)
            if small is not None:
                return np.frombuffer(small, dtype=np.float64)
        data = self._dataset(X, qid, n_jobs)
        fields = {"data": data, "ignore_extra": ignore_extra, "predict": kind, "rel": rel}
        scores, found = native.score(fields, thread_count(n_jobs))
        warn_of(json.loads(found))
        return np.frombuffer(scores, dtype=np.float64)

    def _dataset(self, X: Any, qid: Any, n_jobs: int | None, by_position: bool = False) -> _native.Dataset:
        """The native data set of rows to be scored.

        Features without names get the model's names or numbers, and values that a sparse X leaves out are what they were
        in training: 0 or missing. `by_position` matches also the columns of a frame by position.
        """
        if isinstance(X, Dataset):
            refuse_parts(qid=qid)
            return X._native
        if isinstance(X, (str, os.PathLike)):
            refuse_parts(qid=qid)
            return read_files(X, absent=self._native.absent, needs_labels=False, n_jobs=n_jobs)._native
        parts = row_parts(X, qid=qid)
        has_names = is_frame(X) and not by_position and not _has_numbered_columns(X)
        names = None
        if not has_names:
            if self._native.first_feature is None:
                names = self._native.feature_names
                if len(names) != _width(X):
                    raise of_kind("feature-count", f"X has {_width(X)} columns, and the model has {len(names)} features")
            else:
                parts["first"] = self._native.first_feature
        return native_dataset(X, parts, names=names, absent=self._native.absent, threads=thread_count(n_jobs))

    def inspect(
        self, *, tree: int | None = None, data: Any = None, metric: str | None = None, repeats: int | None = None, seed: int | None = None
    ) -> Result:
        """The kind of model, its training, its parts, and the importance of its features.

        Parameters
        ----------
        tree
            The number of a tree (from 1) that is shown as text: the field ``tree``.
        data
            Labelled data for permutation importance: a `Dataset`, a file, or a tuple ``(X, y, qid)``. The values of each feature
            are shuffled among all rows, and the loss of the metric is the importance.
        metric
            The metric of permutation importance; None: that of the model's training.
        repeats
            Number of shuffles of each feature; None: 5.
        seed
            Seed of the shuffles; None: the default seed.

        Returns
        -------
        Result
            ``weights`` and ``importance`` are those of the features.
        """
        from rankwright._scratch import run_task

        if data is None and any(value is not None for value in (metric, repeats, seed)):
            raise of_kind("option-unused", "metric, repeats and seed are those of permutation importance, which needs data")
        found = run_task(
            "model inspect", model=self._native, tree=tree, data=None if data is None else data_source(data),
            metric=None if metric is None else [metric], repeats=repeats, seed=seed,
        )
        return Result(found)

    def importance(self) -> dict[str, float]:
        """The importance of each feature that has any, by its name, the largest first.

        In trees, it is the reduction of the training loss by all splits on the feature; in linear models and nets without
        hidden layers, the absolute weight. Nets with hidden layers and blends have none, which is an error: `explain` divides
        their scores among the features.
        """
        if not self._native.has_importance:
            raise of_kind(
                "no-importance", f"the model ({self.learner}) is a blend or a net with hidden layers, whose features have no importance",
                "explain() divides its scores among the features",
            )
        names, weights = self._native.feature_names, self._native.weights()
        if weights is not None:
            found = [(names[feature], abs(weight)) for feature, weight in enumerate(weights) if weight != 0]
            return dict(sorted(found, key=lambda one: -one[1]))
        return {names[feature]: gain for feature, gain, _ in self._native.importance()}

    def explain(
        self,
        X: Any,
        *,
        qid: Any = None,
        query: Any = None,
        background: Any = None,
        seed: int | None = None,
        permutations: int | None = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Divides the scores of the documents of each query, or of one query, among the features.

        Returns a list of `Explanation`, or one if `query` (a query id) is given. `background` is data: the
        contributions explain the difference to the mean score of its documents. Nets with hidden layers need it;
        for trees, the training rows at the leaves take its place, for linear models a document of zeros.
        `permutations` is the number of random orders of the features over which the contributions of such nets are
        averaged, and `seed` draws these orders and the documents of `background`.
        """
        from rankwright._explain import Explanation

        data = self._dataset(X, qid, n_jobs)
        background_data = self._dataset(background, None, n_jobs) if background is not None else None
        ids = data.query_ids
        if query is None:
            queries = list(range(len(ids)))
        elif str(query) in ids:
            queries = [ids.index(str(query))]
        else:
            raise of_kind("no-such-query", f"the data has no query {query!r}")
        text = self._native.explain(data, queries, background_data, seed, permutations, thread_count(n_jobs))
        found = [Explanation(fields) for fields in json.loads(text)]
        return found[0] if query is not None else found

    def explain_pair(self, X: Any, above: int, below: int, *, qid: Any = None, background: Any = None) -> Result:
        """The share of each feature in the difference of the scores of rows `above` and `below`, of one query.

        Rows count from 0. The difference is the score of `above` minus that of `below`.
        """
        for found in self.explain(X, qid=qid, background=background):
            if above in found.rows and below in found.rows:
                return found.why(above, below)
        raise of_kind("invalid-pair", f"rows {above} and {below} are not documents of one query")

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Model.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        return f"Model({self.learner!r}, {self._native.columns} features)"


def _width(X: Any) -> int:
    shape: Sequence[int] | None = getattr(X, "shape", None)
    return int(shape[1]) if shape is not None and len(shape) == 2 else np.shape(X)[-1]


def _has_numbered_columns(X: Any) -> bool:
    return is_pandas(X) and not all(isinstance(name, str) for name in X.columns)


def _booster_bytes(booster: Any) -> bytes:
    """The bytes of the file of another system's model in memory."""
    for inner in ("booster_", "_Booster"):
        if hasattr(booster, inner):
            booster = getattr(booster, inner)
    if hasattr(booster, "model_to_string"):
        return booster.model_to_string().encode()
    if hasattr(booster, "save_raw"):
        return bytes(booster.save_raw("json"))
    if hasattr(booster, "save_model"):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.json")
            booster.save_model(path, format="json")
            with open(path, "rb") as file:
                return file.read()
    raise of_kind("unknown-model", f"a {type(booster).__name__} is no model, model file or booster")


