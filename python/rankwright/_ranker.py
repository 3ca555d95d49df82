"""The base class of all estimators."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._data import (
    Dataset,
    collected,
    column_names,
    column_values,
    features_array,
    is_frame,
    is_pandas,
    native_dataset,
    query_parts,
    read_files,
    refuse_parts,
    row_parts,
)
from rankwright._model import Model
from rankwright._results import Result
from rankwright._spec import python_name, spec_of, table
from rankwright._threads import thread_count
from rankwright._training import Callback, Trained, train
from rankwright._warnings import RankwrightWarning, warn, warn_of
from rankwright.errors import Error, of_kind

try:
    from sklearn.base import BaseEstimator  # pyright: ignore[reportAssignmentType]
    from sklearn.exceptions import NotFittedError  # pyright: ignore[reportAssignmentType]
    from sklearn.utils import validation as _validation
except ImportError:
    _validation = None

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The estimator has not been fitted."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters of an estimator, where scikit-learn is not installed."""

        @classmethod
        def _get_param_names(cls) -> list[str]:
            return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params: Any) -> Any:
            for name, value in params.items():
                if name not in self._get_param_names():
                    raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            return f"{type(self).__name__}()"


#: The parameters that every estimator has besides those of its learner.
COMMON = {
    "query": (None, "Name of the column of X with the query ids, instead of `qid`."),
    "random_state": (None, "Seed of all random choices; None is the default seed, so that results repeat."),
    "n_jobs": (None, "Number of threads; results do not depend on it. None: all, or joblib's limit; -1: all."),
}


class OneQueryWarning(RankwrightWarning):
    """No query ids were given, so that all rows are one query."""


class TornQueryWarning(RankwrightWarning):
    """A query is evaluated with another number of rows than it had in `fit`: the data was not split by query."""


class Ranker(BaseEstimator):
    """The base class of all rankers: one class for each learner of the library.

    The parameters of a class are those of its learner, see its own documentation.

    Attributes
    ----------
    model_ : Model
        The trained model; its bytes are those that the command writes for the same data.
    history_ : History
        Metrics round by round.
    result_ : Result
        What the command prints about the training: values on the validation data, weights of a linear model, seconds.
    best_iteration_ : int or None
        The number of rounds (trees, epochs) that the model keeps; None for learners without rounds.
    feature_importances_ : ndarray
        The share of each feature in the gain of the trees, or in the absolute weights.
    choice_ : Result
        The candidates of an automatic choice (`Auto`) with their values and weights, and the estimate of the blend.
    n_features_in_, feature_names_in_
        Number and names of the columns of X.
    """

    #: The name of the learner in specs.
    _learner: str = ""

    # Query ids reach `fit`, `score` and `predict` inside of meta-estimators if routing is enabled.
    __metadata_request__fit = {"qid": True}
    __metadata_request__score = {"qid": True}
    __metadata_request__predict = {"qid": True}

    def spec(self) -> str:
        """The learner and its parameters as a spec, such as ``lambdamart(trees=100)``."""
        names = [parameter["name"] for parameter in table()[self._learner]["parameters"]]
        return spec_of(self._learner, {name: getattr(self, python_name(name)) for name in names})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        pairs: Any = None,
        position: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        start: Any = None,
        checkpoint: Any = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | str = "auto",
        teacher: Any = None,
        teacher_weight: float | None = None,
        unlabelled: Any = None,
        bias: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Trains the model.

        Parameters
        ----------
        X
            Features: an array, a frame, a sparse matrix, or a `Dataset` (or file) with labels and queries.
        y
            Labels: grades, a higher one is better. Not needed with `pairs`.
        qid
            Query ids of any hashable kind, in any order. Without them all rows are one query, which gives
            a warning.
        group
            Sizes of the queries instead of `qid`, for rows that stand together.
        sample_weight, query_weight
            Weights of rows; weights of queries, by row or as a dictionary by query id.
        pairs
            Preferences between rows of one query, which count from 0: ``(better, worse)`` or ``(better, worse, weight)``.
        position
            Positions at which documents were shown, from 1, for the correction of clicks.
        eval_set
            Validation data: a list of ``(X, y)`` or ``(X, y, qid)`` or `Dataset`; the first decides on
            early stopping.
        eval_qid, eval_group
            Query ids or sizes for each pair of `eval_set`.
        start
            A model (or estimator, or file) to start from.
        checkpoint
            A folder, or a `Checkpoint`: an interrupted training resumes from there.
        callbacks
            Functions that get a `Round` after each round; true or an exception stops the training.
        progress
            True, False, or "auto": a progress bar in terminals and notebooks.
        teacher
            A model (or estimator, or file) to learn from besides the labels, which may then be left out.
        teacher_weight
            Weight of the teacher's scores in the loss, from 0 to 1; None: 0.5.
        unlabelled
            Further queries that are learned from the teacher alone: a `Dataset`, a file, or a tuple ``(X, qid)``.
        bias
            A file with the examination of positions, for estimators with ``bias="ips"`` or ``"dr"``.

        Returns
        -------
        self
            The fitted estimator: ``model_``, ``history_``, ``result_`` (what the command prints about the training).
        """
        before = dict(self.__dict__)
        try:
            return self._fit(
                X, y, {
                    "qid": qid, "group": group, "weight": sample_weight, "query_weight": query_weight, "pairs": pairs, "position": position,
                },
                lambda: self._validation_data(eval_set, eval_qid, eval_group),
                {
                    "start": start, "checkpoint": checkpoint, "callbacks": callbacks, "progress": progress, "teacher": teacher,
                    "teacher_weight": teacher_weight, "unlabelled": unlabelled, "bias": bias,
                },
            )
        except BaseException:
            # An estimator stays as it was if it cannot be fitted anew.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: Any, y: Any, given: dict[str, Any], validation: Any, options: dict[str, Any]) -> Any:
        data, has_queries = self._training_data(X, y, needs_labels=given["pairs"] is None and options["teacher"] is None, **given)
        valid = validation()
        options["unlabelled"] = self._unlabelled(options["unlabelled"])
        done = self._train(data, valid=valid, seed=self._seed(), n_jobs=self.n_jobs, rounds=self._rounds(), **options)  # type: ignore[attr-defined]
        self.model_ = done.model
        self.history_ = done.history
        self.result_ = done.result
        if done.choice is not None:
            self.choice_ = Result(done.choice, "candidates")
        elif hasattr(self, "choice_"):
            del self.choice_
        kept = done.history["kept"]
        self.best_iteration_ = kept["rounds"] if kept else None
        self._has_queries = has_queries
        self._query_rows = dict(zip(data.query_ids, data.query_sizes)) if has_queries else {}
        return self

    def _train(self, data: Dataset, **options: Any) -> Trained:
        """Trains; an error about a single row says that there is only one."""
        try:
            return train(self.spec(), data, **options)
        except Error as error:
            if len(data) != 1:
                raise
            raise of_kind(error.kind, f"{error} (n_samples=1: the data has 1 sample)", error.help) from None

    def predict(self, X: Any, *, qid: Any = None) -> np.ndarray:
        """The score of each row, in the order of the rows; a higher score ranks higher.

        Only list-wise models (such as nets with features scaled within the query) need the queries.
        """
        self._check_fitted()
        if qid is None and self._needs_no_checks(X):
            small = self.model_._native.score_small(X)
            if small is not None:
                return np.frombuffer(small, dtype=np.float64)
        X, qid = self._scored_rows(X, qid)
        if isinstance(X, Dataset):
            return self.model_.predict(X, n_jobs=self.n_jobs)  # type: ignore[attr-defined]
        if qid is None and self.model_.is_listwise and self._has_queries:
            warn("the model is list-wise: without qid, all rows are one query", OneQueryWarning, "one-query")
        if isinstance(X, np.ndarray) and (qid is None or not self.model_.is_listwise):
            # Few rows are scored at once, without a data set.
            small = self.model_._native.score_small(X)
            if small is not None:
                return np.frombuffer(small, dtype=np.float64)
        data = self._dataset_to_score(X, row_parts(X, qid=qid))
        fields = {"data": data, "by_position": self._by_position(X)}
        scores, found = self.model_._native.score(fields, thread_count(self.n_jobs))  # type: ignore[attr-defined]
        warn_of(json.loads(found))
        return np.frombuffer(scores, dtype=np.float64)

    def _needs_no_checks(self, X: Any) -> bool:
        """Whether scikit-learn's checks, which take longer than the scores of a few rows, would say nothing about X."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in (np.float32, np.float64)
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and self.query is None  # type: ignore[attr-defined]
            and not hasattr(self, "feature_names_in_")
            and not self.model_.is_listwise
        )

    def rank(self, X: Any, *, qid: Any = None, k: int | None = None) -> Any:
        """The ranking of each query: a frame with qid, row, rank (from 1) and score, best first.

        `row` counts from 0; with `k`, only the first `k` ranks of each query are returned. It is a Polars frame if X is
        one; else a pandas frame if pandas is installed, else a Polars frame, or a dictionary without both.
        """
        scores = self.predict(X, qid=qid)
        X, qid = self._scored_rows(X, qid)
        if isinstance(X, Dataset):
            numbers = X.qid
            ids = np.asarray(X.query_ids, dtype=object)[numbers]
        elif qid is None:
            ids, numbers = np.zeros(len(scores), dtype=np.int64), np.zeros(len(scores), dtype=np.int64)
        else:
            ids = np.empty(len(scores), dtype=object)
            # One by one: an array would take a tuple for a row of its own.
            for row, value in enumerate(qid):
                ids[row] = value
            numbers = _query_numbers(qid)
        rows = np.arange(len(scores))
        order = np.lexsort((rows, -scores, numbers))
        starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(order)))
        ranks = np.arange(len(order)) - np.repeat(starts, sizes) + 1
        kept = ranks <= k if k is not None else np.ones(len(order), dtype=bool)
        order, ranks = order[kept], ranks[kept]
        ranked_ids = ids[order]
        columns = {
            "qid": ranked_ids.tolist() if ranked_ids.dtype == object else ranked_ids,
            "row": order,
            "rank": ranks,
            "score": scores[order],
        }
        return _frame(columns, X)

    def score(self, X: Any, y: Any = None, *, qid: Any = None, sample_weight: Any = None) -> float:
        """The value of the estimator's own metric (its parameter `metric`) on labelled data.

        `sample_weight` is there for pipelines, which pass it on as None: a metric has no weights of rows.
        """
        self._check_fitted()
        if sample_weight is not None:
            raise of_kind("weights-of-rows", "a metric has no weights of rows; sample_weight is for fit")
        return self.evaluate(X, y, qid=qid).value

    def evaluate(self, X: Any, y: Any = None, *, qid: Any = None, metrics: Any = None) -> Any:
        """The values of metrics on labelled data; of the estimator's own metric if none is given."""
        from rankwright._evaluation import evaluate_native

        self._check_fitted()
        X, qid = self._scored_rows(X, qid)
        metrics = metrics if metrics is not None else self.metric  # type: ignore[attr-defined]
        if isinstance(X, Dataset):
            refuse_parts(y=y)
            data = X._native
        else:
            if y is None:
                raise of_kind("missing-labels", "the labels y are needed to compute a metric")
            if qid is None and self._has_queries:
                raise of_kind(
                    "missing-qid",
                    "the model was fitted with query ids, and the metric needs them too: without them all rows would be "
                    "one query, and the value would be wrong",
                    "give qid; inside of meta-estimators of scikit-learn, call sklearn.set_config(enable_metadata_routing=True) "
                    "or name the column of X with the query ids by the parameter query",
                )
            data = self._dataset_to_score(X, row_parts(X, _labels(y), qid=qid))
        self._warn_of_torn_queries(data)
        return evaluate_native(self.model_, data, metrics, self._by_position(X), self.n_jobs)  # type: ignore[attr-defined]

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each column of X in the gain of the splits, or in the absolute weights.

        The shares add up to 1 (to 0 where no feature is used). For trees, they are shares of the reduction of the training
        loss by the splits on a feature; for linear models and nets without hidden layers, of the absolute weights. Nets
        with hidden layers and blends raise AttributeError: `model_.explain` divides their scores among the features.
        """
        self._check_fitted()
        native = self.model_._native
        if not native.has_importance:
            raise AttributeError(
                f"the model of {type(self).__name__} ({native.learner}) is a blend or a net with hidden layers, which has no "
                "importance of features; model_.explain divides its scores among the features"
            )
        weights = native.weights()
        shares = np.zeros(native.columns)
        if weights is not None:
            shares[: len(weights)] = np.abs(weights)
        else:
            for feature, gain, _ in native.importance():
                shares[feature] = gain
        total = shares.sum()
        if total > 0:
            shares = shares / total
        index = self._query_index()
        return shares if index is None else np.insert(shares, index, 0.0)

    # Data

    def _unlabelled(self, given: Any) -> Dataset | None:
        """Queries without labels, with the names of the fitted columns."""
        if given is None or isinstance(given, Dataset):
            return given
        if isinstance(given, (str, os.PathLike)):
            return read_files(given, needs_labels=False, n_jobs=self.n_jobs)  # type: ignore[attr-defined]
        X, qid = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        X = collected(X)
        query = self._query_column(X)
        if query is None and qid is None:
            warn("no query ids are given for the queries without labels: all of their rows are one query", OneQueryWarning, "one-query")
        if not is_frame(X):
            X = X if hasattr(X, "tocsr") else features_array(X)
        names = list(self.feature_names_in_) if not is_frame(X) and hasattr(self, "feature_names_in_") else None
        native = native_dataset(X, row_parts(X, qid=qid), query_column=query, names=names, threads=thread_count(self.n_jobs))  # type: ignore[attr-defined]
        return Dataset._of(native)

    def _training_data(self, X: Any, y: Any, *, needs_labels: bool, **given: Any) -> tuple[Dataset, bool]:
        """The data set of `fit`, and whether queries are known."""
        if isinstance(X, (str, os.PathLike)):
            X = read_files(X, needs_labels=needs_labels, n_jobs=self.n_jobs)  # type: ignore[attr-defined]
        if isinstance(X, Dataset):
            refuse_parts(y=y, **given)
            self.n_features_in_ = X.shape[1]
            if X._native.has_names:
                self.feature_names_in_ = np.asarray(X.feature_names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return X, True
        X, y = self._checked(X, y, needs_labels=needs_labels, reset=True)
        query = self._query_column(X)
        if query is not None and (given["qid"] is not None or given["group"] is not None):
            raise of_kind("qid-and-group", f"the query ids are in the column '{query}' of X; give no qid or group")
        has_queries = query is not None or given["qid"] is not None or given["group"] is not None
        if not has_queries:
            warn("no query ids are given: all rows are one query", OneQueryWarning, "one-query")
        parts = row_parts(X, y, **given)
        for name, weights in (("sample_weight", parts["weights"]), ("query_weight", parts["query_weights"])):
            if weights is not None and len(weights) and not weights.any():
                raise of_kind("zero-weights", f"every {name} is zero, so that there is nothing to learn from")
        native = native_dataset(X, parts, query_column=query, threads=thread_count(self.n_jobs))  # type: ignore[attr-defined]
        return Dataset._of(native), has_queries

    def _validation_data(self, eval_set: Any, eval_qid: Any, eval_group: Any) -> list[tuple[str, Dataset]]:
        if eval_set is None:
            return []
        sets = [eval_set] if isinstance(eval_set, (tuple, Dataset)) else list(eval_set)
        found = []
        for index, one in enumerate(sets):
            name = "valid" if index == 0 else f"valid{index + 1}"
            if isinstance(one, Dataset):
                found.append((name, one))
                continue
            if not isinstance(one, (tuple, list)) or len(one) not in (2, 3):
                raise of_kind("eval-set", "eval_set is a list of (X, y), (X, y, qid) or Dataset")
            X, y = collected(one[0]), _labels(one[1])
            qid = one[2] if len(one) == 3 else _entry_of_set(eval_qid, index, "eval_qid")
            group = _entry_of_set(eval_group, index, "eval_group")
            query = self._query_column(X)
            if query is None and qid is None and group is None:
                warn(f"no query ids are given for {name}: all of its rows are one query", OneQueryWarning, "one-query")
            if not is_frame(X):
                X = X if hasattr(X, "tocsr") else features_array(X)
            parts = row_parts(X, y, qid=qid, group=group)
            names = list(self.feature_names_in_) if not is_frame(X) and hasattr(self, "feature_names_in_") else None
            native = native_dataset(X, parts, query_column=query, names=names, threads=thread_count(self.n_jobs))  # type: ignore[attr-defined]
            found.append((name, Dataset._of(native)))
        return found

    def _scored_rows(self, X: Any, qid: Any) -> tuple[Any, Any]:
        """X after the checks, with the columns that `fit` had, and its query ids; a file becomes a `Dataset`."""
        if isinstance(X, (str, os.PathLike)):
            X = read_files(X, needs_labels=False, absent=self.model_._native.absent, n_jobs=self.n_jobs)  # type: ignore[attr-defined]
        if isinstance(X, Dataset):
            refuse_parts(qid=qid)
            return X, None
        X, _ = self._checked(X, None, needs_labels=False, reset=False)
        query = self._query_column(X)
        if query is not None and qid is None:
            qid = column_values(X, query)
        if qid is not None and hasattr(qid, "to_pylist"):
            qid = qid.to_pylist()
        elif qid is not None and not isinstance(qid, np.ndarray) and hasattr(qid, "to_numpy"):
            qid = qid.to_numpy()
        return X, qid

    def _dataset_to_score(self, X: Any, parts: dict[str, Any]) -> _native.Dataset:
        """The native data set of rows to be scored.

        Features without names get the model's names or numbers, and values that a sparse X leaves out are what they were
        in training: 0 or missing.
        """
        native = self.model_._native
        query = self._query_column(X)
        names = None
        if not is_frame(X):
            if native.first_feature is None:
                names = native.feature_names
            else:
                parts["first"] = native.first_feature
        elif query is not None and "query_ids" not in parts and "query_numbers" not in parts:
            parts.update(query_parts(column_values(X, query)))
        return native_dataset(
            _without(X, query), parts, names=names, absent=native.absent, threads=thread_count(self.n_jobs)  # type: ignore[attr-defined]
        )

    def _by_position(self, X: Any) -> bool:
        """Whether the columns of X are matched by position: X is a frame, and `fit` got features without names."""
        return is_frame(X) and not hasattr(self, "feature_names_in_")

    def _query_column(self, X: Any) -> str | None:
        query = self.query  # type: ignore[attr-defined]
        if query is None:
            return None
        if not is_frame(X):
            raise of_kind("no-such-column", f"query={query!r} names a column, and X has no names of columns")
        if query not in column_names(X):
            raise of_kind("no-such-column", f"X has no column '{query}'; it has {', '.join(map(str, column_names(X)))}")
        return query

    def _query_index(self) -> int | None:
        """The index of the column with the query ids among the columns of X."""
        query = self.query  # type: ignore[attr-defined]
        if query is None or not hasattr(self, "feature_names_in_") or query not in self.feature_names_in_:
            return None
        return list(self.feature_names_in_).index(query)

    def _checked(self, X: Any, y: Any, *, needs_labels: bool, reset: bool) -> tuple[Any, Any]:
        """X and y as scikit-learn wants them to be checked; frames keep their columns."""
        X = collected(X)
        name = type(self).__name__
        if reset and needs_labels and y is None:
            raise of_kind(
                "missing-labels",
                f"This {name} estimator requires y to be passed, but the target y is None.",
                "give labels, or preferences between rows by pairs",
            )
        if is_frame(X):
            self._check_names(X, reset)
            if y is not None:
                y = _labels(y)
            rows, columns = len(X), len(column_names(X))
            if rows == 0 or columns == 0:
                what = "sample" if rows == 0 else "feature"
                raise of_kind("empty", f"Found array with 0 {what}(s) (shape=({rows}, {columns})) while a minimum of 1 is required by {name}.")
            return X, y
        if _validation is None:
            X = X if hasattr(X, "tocsr") else features_array(X)
            if reset:
                self.n_features_in_ = X.shape[1]
            elif X.shape[1] != self.n_features_in_:
                raise of_kind("feature-count", f"X has {X.shape[1]} features, but {name} is expecting {self.n_features_in_} features as input.")
            return X, y
        options = {"accept_sparse": True, "dtype": None, "ensure_all_finite": False, "reset": reset}
        if y is None:
            X = _validation.validate_data(self, X, skip_check_array=False, **options)
        else:
            X, y = _validation.validate_data(self, X, _labels(y), **options)
        return X if hasattr(X, "tocsr") else features_array(X), y

    def _check_names(self, X: Any, reset: bool) -> None:
        """Number and names of columns: set by `fit`, compared by the other methods."""
        if _validation is not None and is_pandas(X):
            _validation._check_feature_names(self, X, reset=reset)
            _validation._check_n_features(self, X, reset=reset)
            return
        names = column_names(X)
        if reset:
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.asarray(names, dtype=object)
            return
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is not None and list(fitted) != names:
            unseen = [name for name in names if name not in fitted]
            missing = [name for name in fitted if name not in names]
            reason = f"unseen at fit time: {unseen}; missing: {missing}" if unseen or missing else "they are in another order"
            raise of_kind("unknown-features", f"The feature names should match those that were passed during fit: {reason}")
        if len(names) != self.n_features_in_:
            raise of_kind(
                "feature-count",
                f"X has {len(names)} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.",
            )

    # Checks

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _warn_of_torn_queries(self, data: _native.Dataset) -> None:
        if not self._query_rows:
            return
        for query, rows in zip(data.query_ids, data.query_sizes):
            fitted = self._query_rows.get(query)
            if fitted is not None and fitted != rows:
                warn(
                    f"query '{query}' had {fitted} rows in fit and has {rows} now: a split that is not by query (such as KFold) "
                    "tears queries apart, and the value says little; use QueryKFold",
                    TornQueryWarning,
                    "torn-query",
                )
                return

    def _seed(self) -> int | None:
        state = self.random_state  # type: ignore[attr-defined]
        if self._learner == "linear":
            # Given weights are not trained, so that there is nothing to choose at random.
            return None
        if state is None or isinstance(state, (int, np.integer)):
            return None if state is None else int(state)
        return int(state.randint(2**31 - 1) if hasattr(state, "randint") else state.integers(2**31 - 1))

    def _rounds(self) -> int | None:
        tuning = table()[self._learner].get("tuning") or {}
        name = tuning.get("rounds_parameter")
        return getattr(self, name) if name else None


def _labels(y: Any) -> Any:
    if hasattr(y, "to_pylist"):
        return y.to_pylist()
    return y.to_numpy() if hasattr(y, "to_numpy") else y


def _entry_of_set(values: Any, index: int, what: str) -> Any:
    """The entry of `eval_qid` or `eval_group` for one of the validation sets; `what` is the argument's name."""
    if values is None:
        return None
    try:
        return values[index]
    except IndexError:
        raise of_kind("eval-set", f"{what} has {len(values)} entries, fewer than eval_set") from None


def _without(X: Any, query: str | None) -> Any:
    if query is None:
        return X
    if is_pandas(X):
        return X.drop(columns=[query])
    return X.select([name for name in column_names(X) if name != query])


def _query_numbers(qid: Any) -> np.ndarray:
    """The number of each row's query, from 0 by first appearance."""
    number_of: dict[Any, int] = {}
    return np.fromiter((number_of.setdefault(value, len(number_of)) for value in qid), dtype=np.int64, count=len(qid))


def _frame(columns: dict[str, Any], X: Any) -> Any:
    """The columns of a ranking as a frame; the library depends on X and on what is installed."""
    import sys

    if "polars" in sys.modules and type(X).__module__.startswith("polars"):
        return _polars_frame(sys.modules["polars"], columns)
    try:
        import pandas
    except ImportError:
        try:
            import polars
        except ImportError:
            return columns
        return _polars_frame(polars, columns)
    return pandas.DataFrame(columns)


def _polars_frame(polars: Any, columns: dict[str, Any]) -> Any:
    """A Polars frame; query ids that are tuples stay objects of Python, which its own types cannot hold."""
    if any(isinstance(value, tuple) for value in columns["qid"]):
        columns = dict(columns, qid=polars.Series(columns["qid"], dtype=polars.Object))
    return polars.DataFrame(columns)


__all__ = ["Ranker", "OneQueryWarning", "TornQueryWarning", "COMMON", "NotFittedError"]
