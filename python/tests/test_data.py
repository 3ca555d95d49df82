"""Inputs of every kind give a data set, or an exception that says what is wrong and where."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sparse
from conftest import letor_text, make

import rankwright as rw

NAMES = list("abcdef")


def scattered(rows, seed=3):
    """The same rows in a random order, and the order."""
    order = np.random.default_rng(seed).permutation(len(rows.y))
    return rows.X[order], rows.y[order], rows.qid[order], order


def forms(X):
    """The same features in every form of array."""
    wide = np.zeros((len(X), 2 * X.shape[1]), dtype=np.float32)
    wide[:, ::2] = X
    backwards = X[::-1].copy()[::-1]
    frozen = X.copy()
    frozen.flags.writeable = False
    return {
        "c": X,
        "f32 fortran": np.asfortranarray(X),
        "f64": X.astype(np.float64),
        "f64 fortran": np.asfortranarray(X.astype(np.float64)),
        "strided": wide[:, ::2],
        "backwards": backwards,
        "read-only": frozen,
        "big-endian": X.astype(">f8"),
        "longdouble": X.astype(np.longdouble),
        "list": X.astype(np.float64).tolist(),
        "object": X.astype(object),
    }


def test_every_form_of_array_gives_the_same_features(rows):
    for name, X in forms(rows.X).items():
        data = rw.Dataset(X, rows.y, qid=rows.qid)
        assert np.array_equal(data.X, rows.X), name
        assert np.array_equal(data.y, rows.y), name


def test_a_memory_map_that_cannot_be_written_is_read(tmp_path, rows):
    path = tmp_path / "x.npy"
    np.save(path, rows.X.astype(np.float64))
    data = rw.Dataset(np.load(path, mmap_mode="r"), rows.y, qid=rows.qid)
    assert np.array_equal(data.X, rows.X)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.float16, bool])
def test_whole_numbers_of_every_width_are_features(kind):
    X = np.array([[0, 1], [1, 1], [1, 0]], dtype=kind)
    assert rw.Dataset(X, [0, 1, 2], qid=[1, 1, 1]).X.tolist() == [[0, 1], [1, 1], [1, 0]]


def test_large_arrays_keep_every_value():
    X = np.random.default_rng(0).normal(size=(10_001, 37))
    assert np.array_equal(rw.Dataset(np.asfortranarray(X), np.zeros(len(X)), qid=np.zeros(len(X))).X, X.astype(np.float32))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32])
def test_every_width_and_order_in_memory_equals_numpys_own_conversion(kind):
    random = np.random.default_rng(1)
    for rows, columns in [(1, 1), (31, 7), (33, 8), (1025, 9), (1024, 16), (4097, 17), (2100, 40)]:
        X = (100 * random.normal(size=(rows, columns))).astype(kind)
        wide = np.concatenate([X, X], axis=1)
        for form in (
            X, np.asfortranarray(X), wide[:, :columns], np.asfortranarray(wide)[:, :columns], np.repeat(X, 2, axis=0)[::2],
            np.asfortranarray(np.repeat(X, 2, axis=0))[::2], X[::-1].copy()[::-1], np.asfortranarray(X[:, ::-1])[:, ::-1],
        ):
            found = rw.Dataset(form, np.zeros(rows), qid=np.zeros(rows)).X
            assert np.array_equal(found, X.astype(np.float32)), (rows, columns, form.flags)


def test_an_infinite_value_does_not_hide_one_that_is_out_of_range():
    X = np.zeros((3000, 20))
    X[100, 3], X[2500, 12] = np.inf, np.nan
    for form in (X, np.asfortranarray(X)):
        assert np.array_equal(rw.Dataset(form, np.zeros(3000), qid=np.zeros(3000)).X, X.astype(np.float32), equal_nan=True)
    X[101, 4] = 1e200
    for form in (X, np.asfortranarray(X)):
        with pytest.raises(rw.errors.FeatureOutOfRange, match="feature '5' of row 102"):
            rw.Dataset(form, np.zeros(3000), qid=np.zeros(3000))


def test_frames_keep_names_and_values(rows):
    pandas = pd.DataFrame(rows.X, columns=NAMES)
    frames = {
        "pandas": pandas,
        "pandas wide": pandas.astype(np.float64),
        "polars": pl.DataFrame(rows.X, schema=NAMES, orient="row"),
        "lazy": pl.DataFrame(rows.X, schema=NAMES, orient="row").lazy(),
        "arrow": pa.Table.from_pandas(pandas),
        "rechunked": pl.concat([pl.DataFrame(rows.X[:7], schema=NAMES, orient="row"), pl.DataFrame(rows.X[7:], schema=NAMES, orient="row")]),
        "polars wide": pl.DataFrame(rows.X.astype(np.float64), schema=NAMES, orient="row"),
        "slice of arrow": pa.Table.from_pandas(pd.concat([pandas[:5], pandas]), preserve_index=False).slice(5),
        "chunks": pa.concat_tables([pa.Table.from_pandas(pandas[:7]), pa.Table.from_pandas(pandas[7:])]),
    }
    for name, frame in frames.items():
        data = rw.Dataset(frame, rows.y, qid=rows.qid)
        assert data.feature_names == NAMES, name
        assert np.array_equal(data.X, rows.X), name


def test_sparse_matrices_are_dense_inside(rows):
    X = np.where(rows.X > 0.5, rows.X, 0)
    for form in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array):
        assert np.array_equal(rw.Dataset(form(X), rows.y, qid=rows.qid).X, X)
    missing = rw.Dataset(sparse.csr_matrix(X), rows.y, qid=rows.qid, absent="missing").X
    assert np.isnan(missing[X == 0]).all() and (missing[X != 0] == X[X != 0]).all()


def test_nulls_are_missing_values():
    column = [1.0, None, 3.0]
    for frame in (
        pd.DataFrame({"a": pd.array(column, dtype="Float64"), "b": pd.array([1, None, 2], dtype="Int64")}),
        pl.DataFrame({"a": column, "b": [1, None, 2]}),
        pa.table({"a": column, "b": pa.array([1, None, 2])}),
    ):
        X = rw.Dataset(frame, [0, 1, 2], qid=[1, 1, 1]).X
        assert np.isnan(X[1]).all() and X[2].tolist() == [3.0, 2.0]


def test_query_ids_of_any_kind_in_any_order(rows):
    X, y, qid, _ = scattered(rows)
    expected = rw.Dataset(X, y, qid=qid)
    kinds = {
        "list": qid.tolist(),
        "text": [f"q{value}" for value in qid],
        "tuple": [("shop", int(value)) for value in qid],
        "float": qid.astype(float),
        "pandas": pd.Series(qid),
        "polars": pl.Series(qid),
        "arrow": pa.chunked_array([qid[:5], qid[5:]]),
        "category": pd.Series(qid.astype(str), dtype="category"),
        "small": qid.astype(np.uint8),
    }
    for name, ids in kinds.items():
        data = rw.Dataset(X, y, qid=ids)
        assert np.array_equal(data.qid, expected.qid), name
        assert np.array_equal(data.X, X), name
    # 1 and "1" are two queries.
    assert rw.Dataset(np.zeros((4, 1)), qid=[1, "1", 1, "1"]).n_queries == 2


def test_group_sizes_stand_for_query_ids(rows):
    data = rw.Dataset(rows.X, rows.y, group=[12] * 30)
    assert data.n_queries == 30 and data.query_sizes == [12] * 30
    with pytest.raises(rw.Error, match="add up to 359, and there are 360 rows"):
        rw.Dataset(rows.X, rows.y, group=[12] * 29 + [11])


def test_columns_of_a_frame_can_be_labels_and_queries(rows):
    pandas = pd.DataFrame(rows.X, columns=NAMES).assign(stars=rows.y, search=rows.qid)
    for frame in (pandas, pl.from_pandas(pandas), pa.Table.from_pandas(pandas)):
        data = rw.Dataset(frame, "stars", qid="search")
        assert data.feature_names == NAMES
        assert np.array_equal(data.y, rows.y) and data.n_queries == 30


def test_categories_are_those_of_a_file(tmp_path):
    random = np.random.default_rng(0)
    brand = random.choice(["acme", "best", "cheap"], p=[0.2, 0.5, 0.3], size=200)
    frame = pd.DataFrame({"price": random.normal(size=200).round(2), "brand": pd.Categorical(brand, ["cheap", "acme", "best", "none"])})
    y, qid = (brand == "best").astype(int), np.repeat(np.arange(20), 10)
    path = tmp_path / "table.csv"
    frame.assign(qid=qid, label=y)[["qid", "label", "price", "brand"]].to_csv(path, index=False)
    file = rw.Dataset(path)
    polars = pl.from_pandas(frame)
    arrow = pa.table({"price": frame["price"], "brand": pa.array(brand).dictionary_encode()})
    for one in (frame, polars, arrow):
        data = rw.Dataset(one, y, qid=qid)
        assert data._native.categories() == file._native.categories() == '{"brand":["best","cheap","acme"]}'
        assert np.array_equal(data.X, file.X)


def test_files_of_every_format_are_read(tmp_path, rows):
    text = tmp_path / "train.txt"
    text.write_text(letor_text(rows))
    data = rw.Dataset(text)
    assert np.array_equal(data.X, rows.X) and data.n_queries == 30
    for name in ("train.rwd", "train.csv", "train.parquet", "train.arrow", "train.jsonl"):
        data.save(tmp_path / name)
        assert np.array_equal(rw.Dataset(tmp_path / name).X, rows.X), name
    both = rw.Dataset([text, text])
    assert len(both) == 2 * len(rows.y)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"y": [0, 1]}, "y has 2 values, and there are 3 rows"),
        ({"qid": [0, 1]}, "qid has 2 values, and there are 3 rows"),
        ({"weight": [1, 1, 1, 1]}, "sample_weight has 4 values, and there are 3 rows"),
        ({"weight": [1, -1, 1]}, "weight of row 2"),
        ({"y": [0, np.nan, 1]}, "label of row 2"),
        ({"y": [0, "high", 1]}, "y has no number in row 2: 'high'"),
        ({"qid": [1, None, 1]}, "query id of row 2 is missing"),
        ({"qid": [1, [2], 1]}, "query id of row 2, .2., is not hashable"),
        ({"position": [1, 0, 2]}, "row 2 has 0"),
        ({"pairs": [(0, 7)]}, "7"),
        ({"qid": [1, 1, 2], "pairs": [(0, 2)]}, "quer"),
        ({"qid": [1, 1, 1], "group": [3]}, "not both"),
        ({"qid": "search"}, "qid has a value for each row; found the text 'search'"),
    ],
)
def test_parts_that_do_not_fit_are_refused_with_their_place(parts, message):
    given = {"y": [0, 1, 2], "qid": [1, 1, 1], **parts}
    if "group" in parts:
        given = {"y": [0, 1, 2], **parts}
    with pytest.raises(rw.Error, match=message):
        rw.Dataset(np.zeros((3, 2)), given.pop("y"), **given)


def test_values_beyond_float32_are_refused_with_their_place():
    X = np.zeros((5000, 3))
    X[4321, 1] = -1e300
    message = "feature '2' of row 4322 is -1"
    for values in (X, np.asfortranarray(X), sparse.csr_matrix(X)):
        with pytest.raises(rw.errors.FeatureOutOfRange, match=message):
            rw.Dataset(values, np.zeros(5000), qid=np.zeros(5000))
    for frame in (pd.DataFrame(X, columns=["1", "2", "x"]), pl.DataFrame(X, schema=["1", "2", "x"])):
        with pytest.raises(rw.errors.FeatureOutOfRange, match=message):
            rw.Dataset(frame, np.zeros(5000), qid=np.zeros(5000))
    X[4321, 1] = np.inf
    assert np.isinf(rw.Dataset(X, np.zeros(5000), qid=np.zeros(5000)).X[4321, 1])


def test_columns_that_are_no_features_are_named():
    for frame in (
        pd.DataFrame({"a": [1.0, 2.0], "title": ["x", "y"]}),
        pl.DataFrame({"a": [1.0, 2.0], "title": ["x", "y"]}),
        pa.table({"a": [1.0, 2.0], "title": ["x", "y"]}),
    ):
        with pytest.raises(rw.Error, match="column 'title'"):
            rw.Dataset(frame, [0, 1], qid=[1, 1])
    with pytest.raises(TypeError, match="row 2, column 1 of the features is 'x'"):
        rw.Dataset(np.array([[1.0], ["x"]], dtype=object), [0, 1], qid=[1, 1])
    with pytest.raises(rw.Error, match="Complex data not supported"):
        rw.Dataset(np.zeros((2, 2), dtype=complex), [0, 1], qid=[1, 1])
    with pytest.raises(rw.Error, match="has no column 'nowhere'|there is no column 'nowhere'"):
        rw.Dataset(pl.DataFrame({"a": [1.0]}), [0], qid="nowhere")


def test_a_shared_array_is_not_copied(rows):
    data = rw.Dataset(rows.X, rows.y, qid=rows.qid)
    changed = rows.X
    changed[0, 0] = 123
    assert data.X[0, 0] == 123
    copied = rw.Dataset(rows.X.astype(np.float64), rows.y, qid=rows.qid)
    changed[0, 0] = 456
    assert copied.X[0, 0] == 123


def test_errors_have_a_kind_and_a_class():
    with pytest.raises(rw.errors.Io) as found:
        rw.Dataset("nowhere.txt")
    assert found.value.kind == "io" and isinstance(found.value, (ValueError, OSError))
    import pickle

    again = pickle.loads(pickle.dumps(found.value))
    assert type(again) is rw.errors.Io
    assert make().X.shape == (360, 6)
