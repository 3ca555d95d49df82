"""Data sets from arrays, frames, sparse matrices and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._threads import thread_count
from rankwright._warnings import warn
from rankwright.errors import Error, of_kind


def is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_sparse(X: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(X)


def is_lazy(X: Any) -> bool:
    return type(X).__name__ == "LazyFrame" and hasattr(X, "collect")


def is_frame(X: Any) -> bool:
    """Whether X has named columns."""
    return is_pandas(X) or is_lazy(X) or (hasattr(X, "__arrow_c_stream__") and not isinstance(X, np.ndarray))


def column_names(X: Any) -> list[Any]:
    """The names of the columns of a frame."""
    names = getattr(X, "column_names", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is None:
        names = X.schema.names
    return list(names)


def column_values(X: Any, name: str) -> Any:
    """The values of a column of a frame, as an array or a list."""
    if name not in column_names(X):
        raise of_kind("no-such-column", f"there is no column '{name}'; there are {', '.join(map(str, column_names(X)))}")
    column = X[name]
    if hasattr(column, "to_pylist"):
        return column.to_pylist()
    if hasattr(column, "to_numpy"):
        return column.to_numpy()
    return column


class Dataset:
    """Ranking data: features with labels, grouped by query.

    Parameters
    ----------
    X
        Features: an array, a frame (pandas, Polars, Arrow, anything with ``__arrow_c_stream__``), a
        SciPy sparse matrix, or the path of a file in any format (or several paths). A C-contiguous
        array of float32 is shared, not copied: it must not be changed while the data set is used.
    y
        Labels, one for each row; in a frame, also the name of a column.
    qid
        Query ids of any hashable kind, in any order; in a frame, also the name of a column. Rows of a
        query are brought together, queries in the order of their first row.
    group
        Sizes of the queries, whose rows stand together, instead of ``qid``.
    weight, query_weight
        A weight for each row. Weights of queries: a dictionary by query id, or a value for each row, the
        same for all rows of a query; with ``group``, also a value for each query.
    position
        The positions, from 1, at which the documents were shown to users, one for each row.
    pairs
        Preferences ``(better row, worse row[, weight])`` between rows of one query; rows count from 0.
    doc_id
        Document ids, one for each row.
    feature_names
        Names of the features of an array.
    absent
        What a value is that a sparse matrix or a file leaves out: ``"zero"`` (the default) or ``"missing"``.
    format, roles
        For files: the format, and roles of columns such as ``"qid=session, label=stars"``. The format is
        detected if it is not given.
    n_jobs
        Number of threads; None or -1: all processors.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.Dataset([[0.1, 3.0], [0.9, 1.0], [0.4, 2.0]], [0, 2, 1], qid=["a", "a", "b"])
    >>> data
    Dataset(3 rows, 2 features, 2 queries)
    """

    __slots__ = ("_native", "__weakref__")

    _native: _native.Dataset

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        weight: Any = None,
        query_weight: Any = None,
        position: Any = None,
        pairs: Any = None,
        doc_id: Any = None,
        feature_names: Sequence[str] | None = None,
        absent: str | None = None,
        format: str | None = None,
        roles: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        if isinstance(X, (str, os.PathLike)) or _are_paths(X):
            refuse_parts(
                y=y, qid=qid, group=group, weight=weight, query_weight=query_weight, position=position, pairs=pairs, doc_id=doc_id,
                feature_names=feature_names,
            )
            self._native = read_files(X, format=format, roles=roles, absent=absent, n_jobs=n_jobs)._native
            return
        query_column = None
        if is_frame(X):
            X = collected(X)
            if isinstance(y, str):
                label_column = y
                y = column_values(X, label_column)
                X = without_columns(X, [label_column])
            if isinstance(qid, str):
                query_column = qid
        parts = row_parts(
            X, y, qid=None if query_column else qid, group=group, weight=weight, query_weight=query_weight,
            position=position, pairs=pairs, doc_id=doc_id,
        )
        self._native = native_dataset(
            X, parts, query_column=query_column, names=feature_names, absent=absent, threads=thread_count(n_jobs)
        )

    @classmethod
    def _of(cls, native: _native.Dataset) -> Dataset:
        made = cls.__new__(cls)
        made._native = native
        return made

    def __len__(self) -> int:
        return self._native.rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self._native.rows, self._native.columns

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self._native.queries

    @property
    def feature_names(self) -> list[str]:
        """Names of the features; numbers as text if they have no names."""
        return self._native.feature_names

    @property
    def query_ids(self) -> list[str]:
        """The ids of the queries as texts, by first appearance."""
        return self._native.query_ids

    @property
    def query_sizes(self) -> list[int]:
        """The number of rows of each query."""
        return self._native.query_sizes

    @property
    def y(self) -> np.ndarray:
        """The label of each row, in the order of the rows as they were given."""
        return np.frombuffer(self._native.labels(), dtype=np.float64)

    @property
    def qid(self) -> np.ndarray:
        """The number of the query of each row (from 0), in the order of the rows as they were given."""
        return np.frombuffer(self._native.query_of_rows(), dtype=np.float64).astype(np.int64)

    @property
    def X(self) -> np.ndarray:
        """The features of each row, in the order of the rows as they were given."""
        return np.frombuffer(self._native.values(), dtype=np.float32).reshape(self.shape)

    def select_queries(self, queries: Iterable[int]) -> Dataset:
        """The data of some queries, by their numbers from 0."""
        return Dataset._of(self._native.select_queries([int(query) for query in queries]))

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Writes a file in the format of its extension, or in the format given."""
        for warning in self._native.save(os.fspath(path), format):
            warn(warning)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"Dataset({rows} rows, {columns} features, {self.n_queries} queries)"


def _are_paths(X: Any) -> bool:
    return isinstance(X, (list, tuple)) and bool(X) and all(isinstance(part, (str, os.PathLike)) for part in X)


def read_files(
    paths: Any,
    *,
    format: str | None = None,
    roles: str | None = None,
    absent: str | None = None,
    needs_labels: bool = True,
    columns_of: Dataset | None = None,
    n_jobs: int | None = None,
) -> Dataset:
    """Reads one data set from a file or several files of any format.

    Without `needs_labels`, the labels of files that have none are 0. `columns_of` is earlier data, such as training
    data: columns whose roles are not given have the roles that they have there, and texts the same category numbers.
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    native, found = _native.Dataset.read(
        [os.fspath(path) for path in several], format, absent, roles, needs_labels,
        columns_of._native if columns_of is not None else None, thread_count(n_jobs),
    )
    for warning in found:
        warn(warning)
    return Dataset._of(native)


def data_source(data: Any, y: Any = None, *, qid: Any = None, n_jobs: int | None = None) -> Any:
    """Feature data as tasks take it: the paths of files, which the task reads, or a native data set."""
    if isinstance(data, (str, os.PathLike)) or _are_paths(data):
        refuse_parts(y=y, qid=qid)
        return [os.fspath(path) for path in ([data] if isinstance(data, (str, os.PathLike)) else data)]
    if isinstance(data, Dataset):
        refuse_parts(y=y, qid=qid)
        return data._native
    if y is None and _is_rows(data):
        return Dataset(data[0], data[1], qid=data[2] if len(data) == 3 else None, n_jobs=n_jobs)._native
    return Dataset(data, y, qid=qid, n_jobs=n_jobs)._native


def _is_rows(value: Any) -> bool:
    """Whether it is a tuple ``(X, y)`` or ``(X, y, qid)``."""
    if not isinstance(value, (list, tuple)) or len(value) not in (2, 3) or isinstance(value[0], Dataset):
        return False
    return (isinstance(value, tuple) and isinstance(value[0], list)) or (hasattr(value[0], "shape") and len(value[0].shape) == 2)


def validation_sources(valid: Any, n_jobs: int | None = None) -> list[Any]:
    """Sets of validation data as tasks take them: one set, or a list of sets, each with its name."""
    if valid is None:
        return []
    is_list = isinstance(valid, (list, tuple)) and not _is_rows(valid)
    sets: list[Any] = list(valid) if is_list else [valid]
    found = []
    for place, one in enumerate(sets):
        source = data_source(one, n_jobs=n_jobs)
        name = "valid" if place == 0 else f"valid{place + 1}"
        found.append(source if isinstance(source, list) else (name, source))
    return found


def refuse_parts(**given: Any) -> None:
    """Raises an error if one of these arguments is given besides a `Dataset` or file, which has these parts itself."""
    name = next((name for name, value in given.items() if value is not None), None)
    if name is not None:
        raise of_kind(
            "parts-of-files",
            f"{name} is given, but a Dataset or file has its own labels, query ids and weights",
            "leave it out; for a file, the roles of Dataset name its columns",
        )


def collected(X: Any) -> Any:
    """Runs a lazy frame of Polars and returns its frame; returns every other X as it is."""
    return X.collect() if is_lazy(X) else X


def without_columns(X: Any, names: list[str]) -> Any:
    """A frame without some columns."""
    if is_pandas(X):
        return X.drop(columns=names)
    kept = [name for name in column_names(X) if name not in names]
    return X.select(kept)


def n_rows(X: Any) -> int:
    if hasattr(X, "shape"):
        return int(X.shape[0])
    if hasattr(X, "num_rows"):
        return int(X.num_rows)
    return len(X)


def native_dataset(
    X: Any,
    parts: dict[str, Any],
    *,
    query_column: str | None = None,
    names: Sequence[str] | None = None,
    absent: str | None = None,
    threads: int = 0,
) -> _native.Dataset:
    """The native data set of features and of the parts that `row_parts` has made.

    `names` are the names of the features, for an X without names; `threads` is 0 for one thread for each processor.
    """
    parts = dict(parts, absent=absent, threads=threads)
    if names is not None:
        parts["names"] = [str(name) for name in names]
    X = collected(X)
    if is_sparse(X):
        return _from_sparse(X, parts)
    if is_pandas(X):
        return _from_pandas(X, parts, query_column)
    if is_frame(X):
        columns = [name for name in column_names(X) if name != query_column]
        return _native.Dataset.from_arrow(X, columns, query_column, parts)
    return _native.Dataset.from_array(features_array(X), parts)


def features_array(X: Any) -> np.ndarray:
    """An array of features of a type that the native module reads without a copy of its own."""
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise of_kind("array-type", f"Complex data not supported: features are numbers, and the array has the type {array.dtype}")
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            row, column, value = _first_non_number(array)
            raise TypeError(
                f"argument must be a string or a number: row {row + 1}, column {column + 1} of the features is "
                f"{value!r}, which is no number ({error})"
            ) from None
    if array.dtype.kind in "US":
        try:
            array = array.astype(np.float64)
        except ValueError as error:
            raise of_kind("array-type", f"features are numbers, and the array has the type {array.dtype}: {error}") from None
    if array.dtype.kind not in "fiub":
        raise of_kind("array-type", f"features are numbers, and the array has the type {array.dtype}")
    if array.dtype not in (np.float32, np.float64, np.int64, np.int32) or not array.flags.aligned or not array.dtype.isnative:
        wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8
        array = array.astype(np.float64 if wide else np.float32)
    if array.ndim == 1:
        raise of_kind(
            "array-dimensions",
            f"Expected 2D array, got 1D array instead, of shape {array.shape}. Reshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single sample.",
        )
    if array.ndim != 2:
        raise of_kind("array-dimensions", f"features are an array of 2 dimensions; found {array.ndim}")
    return array


def _first_non_number(array: np.ndarray) -> tuple[int, int, Any]:
    """Row and column (from 0) of the first value that is no number, and the value."""
    for (row, *column), value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            return row, column[0] if column else 0, value
    return 0, 0, None


def _from_sparse(X: Any, parts: dict[str, Any]) -> _native.Dataset:
    if X.dtype.kind == "c":
        raise of_kind("array-type", "Complex data not supported: features are numbers")
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    with np.errstate(over="ignore"):
        values = rows.data.astype(np.float32)
    overflows = np.isinf(values) & np.isfinite(rows.data.astype(np.float64))
    if overflows.any():
        entry = int(np.argmax(overflows))
        # The number of rows that start at or before the entry, which is its row, counted from 1.
        row = int(np.searchsorted(rows.indptr, entry, side="right"))
        raise of_kind(
            "feature-out-of-range",
            f"feature '{int(rows.indices[entry]) + 1}' of row {row} is {rows.data[entry]}, which is out of the range of 32-bit floats",
        )
    return _native.Dataset.from_csr(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int64), values, int(rows.shape[1]), parts
    )


def _from_pandas(X: Any, parts: dict[str, Any], query_column: str | None) -> _native.Dataset:
    if query_column is not None:
        parts = dict(parts, **query_parts(column_values(X, query_column)))
    features = [index for index, name in enumerate(X.columns) if name != query_column or query_column is None]
    names = [X.columns[index] for index in features]
    if all(isinstance(name, str) for name in names):
        parts.setdefault("names", list(names))
    columns = [_pandas_column(X.iloc[:, index], X.columns[index]) for index in features]
    return _native.Dataset.from_columns(columns, len(X), parts)


def _pandas_column(column: Any, name: Any) -> Any:
    """The numbers of a column; of a categorical column, the category number of each row (-1: missing) and the categories."""
    kind = column.dtype
    if hasattr(kind, "categories"):
        return np.asarray(column.cat.codes, dtype=np.int64), [str(text) for text in kind.categories]
    numpy_kind = getattr(kind, "kind", "O")
    if numpy_kind == "c":
        raise of_kind("array-type", f"Complex data not supported: column '{name}' has the type {kind}")
    if numpy_kind in "fiub":
        # Nullable columns have nulls, which are missing values.
        values = column.to_numpy(dtype=np.float64, na_value=np.nan) if not isinstance(kind, np.dtype) else column.to_numpy()
        if values.dtype not in (np.float32, np.float64, np.int64, np.int32):
            values = values.astype(np.float32)
        return values
    if numpy_kind == "O" and isinstance(kind, np.dtype):
        try:
            return column.to_numpy().astype(np.float64)
        except (TypeError, ValueError):
            pass
    row, value = _first_non_number_of_column(column)
    raise of_kind(
        "column-type",
        f"column '{name}' has the type {kind}, which is no feature: row {row + 1} has {value!r}",
        "make it numbers or a categorical column, or leave it out",
    )


def _first_non_number_of_column(column: Any) -> tuple[int, Any]:
    """Row (from 0) of the first value that is no number, and the value."""
    for row, value in enumerate(column):
        try:
            float(value)
        except (TypeError, ValueError):
            return row, value
    return 0, column.iloc[0] if len(column) else None


def one_dimension(values: Any, what: str) -> np.ndarray:
    """An array of one dimension; `what` is for errors."""
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim != 1:
        raise of_kind("array-dimensions", f"{what} has one dimension; found the shape {array.shape}")
    return array


def numbers(values: Any, what: str, dtype: type, rows: int | None) -> np.ndarray | None:
    """An array of numbers of a type, one for each row."""
    if values is None:
        return None
    array = one_dimension(values, what)
    if array.dtype.kind == "c":
        raise of_kind("array-type", f"Complex data not supported: {what} has the type {array.dtype}")
    if array.dtype.kind in "OUS":
        for row, value in enumerate(array.tolist()):
            try:
                float(value)
            except (TypeError, ValueError):
                raise of_kind("array-type", f"{what} has no number in row {row + 1}: {value!r}") from None
    array = array.astype(dtype)
    if rows is not None and len(array) != rows:
        raise of_kind("length-mismatch", f"{what} has {len(array)} values, and there are {rows} rows")
    return np.ascontiguousarray(array)


def query_parts(qid: Any) -> dict[str, Any]:
    """Query ids of any hashable kind, as the native module takes them.

    These are whole numbers (`query_ids`), or the number of each row's query by first appearance (`query_numbers`) with
    the text of each query's id (`query_texts`).
    """
    if hasattr(qid, "to_pylist"):
        qid = qid.to_pylist()
    elif hasattr(qid, "dtype") and not isinstance(qid.dtype, np.dtype) and hasattr(qid, "to_numpy"):
        qid = qid.to_numpy()
    if isinstance(qid, np.ndarray) and qid.dtype.kind in "iub" and qid.ndim == 1:
        return {"query_ids": np.ascontiguousarray(qid, dtype=np.int64)}
    if isinstance(qid, np.ndarray) and qid.ndim == 2 and qid.shape[1] == 1:
        return query_parts(qid.ravel())
    if isinstance(qid, np.ndarray) and qid.ndim != 1:
        raise of_kind("array-dimensions", f"qid has one dimension; found the shape {qid.shape}")
    number_of: dict[Any, int] = {}
    numbers_of_rows = np.empty(len(qid), dtype=np.int64)
    for row, value in enumerate(qid):
        try:
            missing = value is None or value != value
        except (TypeError, ValueError):
            missing = False
        if missing:
            raise of_kind("null-id", f"the query id of row {row + 1} is missing ({value!r})")
        try:
            numbers_of_rows[row] = number_of.setdefault(value, len(number_of))
        except TypeError:
            raise of_kind("query-id-type", f"the query id of row {row + 1}, {value!r}, is not hashable") from None
    texts = [_id_text(value) for value in number_of]
    if len(set(texts)) < len(texts):
        # Different ids with the same text, such as 1 and "1".
        texts = [f"{text} ({type(value).__name__} {number})" for number, (text, value) in enumerate(zip(texts, number_of))]
    return {"query_numbers": numbers_of_rows, "query_texts": texts}


def _id_text(value: Any) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def group_numbers(group: Any, rows: int) -> np.ndarray:
    """The query number of each row, from the sizes of queries whose rows stand together."""
    sizes = numbers(group, "group", np.int64, None)
    assert sizes is not None
    if (sizes < 0).any() or int(sizes.sum()) != rows:
        raise of_kind("group-sizes", f"the sizes of the queries add up to {int(sizes.sum())}, and there are {rows} rows")
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


def row_parts(
    X: Any,
    y: Any = None,
    *,
    qid: Any = None,
    group: Any = None,
    weight: Any = None,
    query_weight: Any = None,
    position: Any = None,
    pairs: Any = None,
    doc_id: Any = None,
) -> dict[str, Any]:
    """The parts of a data set besides its features, as the native module takes them."""
    rows = n_rows(X)
    for name, given in (("y", y), ("qid", qid)):
        if isinstance(given, str):
            raise of_kind(
                "column-name", f"{name} has a value for each row; found the text {given!r}",
                "Dataset(frame, \"stars\", qid=\"search\") takes names of columns, and fit takes a Dataset",
            )
    if qid is not None and group is not None:
        raise of_kind("qid-and-group", "give qid or group, not both")
    parts: dict[str, Any] = {}
    if group is not None:
        qid_numbers = group_numbers(group, rows)
        parts["query_ids"] = qid_numbers
        # One weight for each query instead of one for each row.
        if query_weight is not None and not isinstance(query_weight, dict) and len(query_weight) == len(list(group)) != rows:
            query_weight = np.asarray(query_weight)[qid_numbers]
    elif qid is not None:
        if len(qid) != rows:
            raise of_kind("length-mismatch", f"qid has {len(qid)} values, and there are {rows} rows")
        parts.update(query_parts(qid))
    if isinstance(query_weight, dict):
        if qid is None:
            raise of_kind("query-weights-without-qid", "weights by query id need qid")
        missing = next((value for value in qid if value not in query_weight), None)
        if missing is not None:
            raise of_kind("query-weights", f"query {missing!r} has no weight")
        query_weight = [query_weight[value] for value in qid]
    parts["labels"] = numbers(y, "y", np.float64, rows)
    parts["weights"] = numbers(weight, "sample_weight", np.float32, rows)
    parts["query_weights"] = numbers(query_weight, "query_weight", np.float32, rows)
    if position is not None:
        positions = numbers(position, "position", np.int64, rows)
        assert positions is not None
        if (positions < 1).any():
            row = int(np.argmax(positions < 1))
            raise of_kind("position", f"positions count from 1; row {row + 1} has {int(positions[row])}")
        parts["positions"] = positions.astype(np.uint32)
    if pairs is not None:
        parts.update(_pair_parts(pairs))
    if doc_id is not None:
        ids = [str(value) for value in doc_id]
        if len(ids) != rows:
            raise of_kind("length-mismatch", f"doc_id has {len(ids)} values, and there are {rows} rows")
        parts["doc_ids"] = ids
    return parts


def _pair_parts(pairs: Any) -> dict[str, Any]:
    table = np.asarray(list(pairs) if not isinstance(pairs, np.ndarray) else pairs, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] not in (2, 3):
        raise of_kind("pair-form", f"pairs are rows of (better, worse) or (better, worse, weight); found the shape {table.shape}")
    parts: dict[str, Any] = {
        "better": np.ascontiguousarray(table[:, 0], dtype=np.int64),
        "worse": np.ascontiguousarray(table[:, 1], dtype=np.int64),
    }
    if table.shape[1] == 3:
        parts["pair_weights"] = np.ascontiguousarray(table[:, 2], dtype=np.float32)
    return parts


__all__ = ["Dataset", "Error"]
