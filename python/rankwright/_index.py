"""Text: an index of documents, search, features and runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._data import Dataset, is_frame
from rankwright._evaluation import _lists, model_source
from rankwright._results import Result
from rankwright._scratch import _is_missing, _plain, paths_of, records_of, warned
from rankwright._warnings import warn_of
from rankwright.errors import of_kind


class Index:
    """An index of documents, in memory or in a folder.

    Examples
    --------
    >>> import rankwright as rw
    >>> index = rw.Index.build([{"id": "a", "title": "tomato soup"}, {"id": "b", "title": "onion tart"}])
    >>> [hit["id"] for hit in index.search("soup").documents]
    ['a']
    """

    def __init__(self, native: _native.Index) -> None:
        self._native = native
        #: Numbers of documents, the analysis and the kinds of the fields; None for an index that was opened.
        self.report: Result | None = None

    @classmethod
    def build(
        cls,
        documents: Any,
        path: str | os.PathLike[str] | None = None,
        *,
        analysis: str | None = None,
        schema: str | Mapping[str, str] | None = None,
        existing: str | None = None,
        format: str | None = None,
        skip_broken: bool = False,
    ) -> Index:
        """Indexes documents.

        Parameters
        ----------
        documents
            Dictionaries with an id (``id``, ``doc_id``, ``docno``, ``docid`` or ``_id``) and fields, a frame, or files. A value of
            a field is a text, a number or a list of texts.
        path
            The folder of the index; None: in memory.
        analysis
            How text becomes words: ``"english"``, ``"german"``, ``"none"``, ...; None: English.
        schema
            Kinds of fields, such as ``{"brand": "category"}`` or ``"brand:category, price:number"``; those of other fields are
            guessed from the documents.
        existing
            What is done with an index that `path` has: ``"refuse"`` (an error), ``"replace"`` or ``"add"``; None: refuse.
        format
            The format of files; None: detected by content.
        skip_broken
            Whether documents of files that cannot be read are skipped, with a count in ``report``.

        Returns
        -------
        Index
            ``report`` has the numbers of documents, the analysis and the kinds of the fields.
        """
        if isinstance(schema, Mapping):
            schema = ", ".join(f"{name}:{kind}" for name, kind in schema.items())
        fields = {
            "documents": _given(documents), "out": os.fspath(path) if path is not None else None, "analysis": analysis, "schema": schema,
            "existing": existing, "format": format, "skip_broken": skip_broken,
        }
        native, text = _native.Index.build(fields)
        index = cls(native)
        index.report = Result(warned(text))
        return index

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Index:
        """Opens the index of a folder."""
        return cls(_native.Index.open(os.fspath(path)))

    def add(self, documents: Any) -> None:
        """Adds documents; those whose ids the index has are replaced."""
        self._native.add(_documents(documents))

    def delete(self, ids: Iterable[str] = (), *, filter: str | None = None) -> int:
        """Deletes the documents of these ids, and those that pass a filter; returns the number of deleted documents.

        Parameters
        ----------
        ids
            An id or several.
        filter
            A filter such as ``"genre:rock AND year<1990"``; a filter that cannot be read is an error, and nothing is deleted.

        Ids that the index does not have, and a filter that no document passes, give a warning.
        """
        several = [str(ids)] if isinstance(ids, (str, int, np.integer)) else [str(id) for id in ids]
        if not several and filter is None:
            raise of_kind("nothing-to-delete", "neither ids nor a filter say which documents are deleted", 'filter="*" deletes all of them')
        deleted, found = self._native.delete(several, filter)
        warn_of(json.loads(found))
        return deleted

    def __len__(self) -> int:
        return self._native.documents

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        model: Any = None,
        first_stage: str | None = None,
        candidates: int | None = None,
        filter: str | None = None,
        syntax: str | None = None,
        values: Mapping[str, Any] | None = None,
        features: bool = False,
        facets: Iterable[str] = (),
        facet_values: int | None = None,
    ) -> Result:
        """The best documents for a query, with titles and snippets; re-ranked by a model if there is one.

        Parameters
        ----------
        query
            The text of the query.
        k
            Number of documents; None: 10.
        model
            A model, an estimator or a file; None: the order of the first stage.
        first_stage
            How candidates are found, such as ``"bm25(k1=0.9)"``; None: that of the model, or BM25.
        candidates
            Largest number of candidates that the model re-ranks; None: that of the model, or 100.
        filter
            Only documents that pass it, such as ``"genre:rock AND year>=1990"``; None: all.
        syntax
            ``"plain"`` (words) or ``"simple"`` (phrases in quotes, ``+word``, ``-word``, ``field:word``); None: plain.
        values
            Further values of the query, such as ``{"language": "en"}``, for features that read them.
        features
            Whether the documents have the values of the model's features.
        facets, facet_values
            Fields whose values are counted among all documents that match, and the largest number of values of each (None: 10).

        Returns
        -------
        Result
            ``documents`` are dictionaries with ``id``, ``score``, ``title`` and ``snippet``; ``facets`` the counts.
        """
        fields = _candidates(first_stage, candidates, filter, syntax, model) | {
            "query": query, "top": k, "values": dict(values) if values is not None else None, "features": features,
            "facets": list(facets), "facet_values": facet_values,
        }
        return Result(warned(self._native.search(fields)), "documents")

    def run(
        self,
        queries: Any,
        k: int | None = None,
        *,
        model: Any = None,
        first_stage: str | None = None,
        candidates: int | None = None,
        filter: str | None = None,
        syntax: str | None = None,
        out: str | os.PathLike[str] | None = None,
    ) -> dict[str, dict[str, float]]:
        """The scores of the best documents of each query, as a dictionary of dictionaries.

        Parameters
        ----------
        queries
            A dictionary of texts by id, a frame with ``qid`` and ``query``, pairs of id and text, texts (which are their own
            ids), or the path of a file of queries.
        k
            Number of documents of each query; None: 1000.
        model, first_stage, candidates, filter, syntax
            As in `search`.
        out
            A file to which the run is written as well; None: none.
        """
        fields = _candidates(first_stage, candidates, filter, syntax, model) | {
            "queries": _queries(queries), "top": k, "out": os.fspath(out) if out is not None else None,
        }
        rows, text = self._native.run(fields)
        warned(text)
        given = fields["queries"]
        found: dict[str, dict[str, float]] = {} if isinstance(given, str) else {query: {} for query, _ in given}
        for query, document, score in rows:
            found.setdefault(query, {})[document] = score
        return found

    def features(
        self,
        queries: Any,
        qrels: Any = None,
        *,
        features: str | None = None,
        judged: bool = False,
        first_stage: str | None = None,
        candidates: int | None = None,
        filter: str | None = None,
        syntax: str | None = None,
    ) -> Dataset:
        """The features of the candidates of queries, labelled by judgements: data to train on.

        Parameters
        ----------
        queries
            As in `run`.
        qrels
            Judgements, which become labels: a file, a frame with ``query_id``, ``doc_id`` and ``relevance``, or a dictionary of
            dictionaries. Candidates without a judgement have label 0, queries without any are left out. None: all labels are 0.
        features
            Specs such as ``"bm25(field=title), number(field=stars)"``, or a file with a feature set; None: the default set.
        judged
            Whether judged documents that are not among the candidates are added.
        first_stage, candidates, filter, syntax
            As in `search`.

        A model that is trained on the data records the features, so that `search` computes them again.
        """
        fields = _candidates(first_stage, candidates, filter, syntax, None) | {
            "queries": _queries(queries), "qrels": _lists(qrels, "relevance") if qrels is not None else None, "features": features,
            "judged": judged,
        }
        native, text = self._native.features(fields)
        warned(text)
        return Dataset._of(native)


def _candidates(first_stage: str | None, candidates: int | None, filter: str | None, syntax: str | None, model: Any) -> dict[str, Any]:
    """The fields of a request about the candidates of queries."""
    return {
        "first_stage": first_stage, "candidates": candidates, "filter": filter, "syntax": syntax,
        "model": model_source(model) if model is not None else None,
    }


def _given(documents: Any) -> Any:
    """Documents as tasks take them: the paths of files, or documents in memory."""
    return paths_of(documents) if _are_files(documents) else _documents(documents)


def _are_files(documents: Any) -> bool:
    if isinstance(documents, (str, os.PathLike)):
        return True
    return isinstance(documents, (list, tuple)) and bool(documents) and isinstance(documents[0], (str, os.PathLike))


def _queries(queries: Any) -> Any:
    """Ids and texts: of a dictionary, a frame (``qid`` and ``query``), pairs, or texts, which are their own ids; or a file."""
    if isinstance(queries, os.PathLike) or (isinstance(queries, str) and os.path.isfile(queries)):
        return os.fspath(queries)
    if isinstance(queries, Mapping):
        return [(str(key), str(text)) for key, text in queries.items()]
    if isinstance(queries, str):
        return [(queries, queries)]
    if is_frame(queries):
        rows = records_of(queries)
        id = _first_name(rows, ("qid", "query_id", "id"), "query ids")
        text = _first_name(rows, ("query", "text", "query_text"), "texts of queries")
        return [(str(row[id]), str(row[text])) for row in rows]
    return [(text, text) if isinstance(text, str) else (str(text[0]), str(text[1])) for text in queries]


def _first_name(rows: list[dict[str, Any]], names: tuple[str, ...], what: str) -> str:
    found = next((name for name in names if rows and name in rows[0]), None)
    if found is None:
        raise of_kind("no-such-column", f"the frame has no column with {what}: {', '.join(names)}")
    return found


def _documents(documents: Any) -> list[tuple[str, list[tuple[str, Any]]]]:
    found = []
    for place, document in enumerate(records_of(documents)):
        key = next((name for name in ("id", "doc_id", "docno", "docid", "_id") if name in document), None)
        if key is None:
            raise of_kind("document-without-id", f"document {place + 1} has no id")
        fields = [(str(name), _field(value)) for name, value in document.items() if name != key and not _is_missing(value)]
        found.append((str(document[key]), fields))
    return found


def _field(value: Any) -> Any:
    """A value of a document as a number, a text or a list of texts; parts of lists that are missing are left out."""
    if isinstance(value, (str, int, float)):
        return value
    if not isinstance(value, (list, tuple, set, frozenset)):
        value = _plain(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
        return [str(_plain(part)) for part in parts if not _is_missing(part)]
    return value
