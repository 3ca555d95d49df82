"""Text: an index of documents, search, features and runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._data import Dataset, is_frame
from rankwright._evaluation import _lists
from rankwright._model import Model
from rankwright._results import Result
from rankwright._scratch import _is_missing, _plain, records_of
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

    @classmethod
    def build(cls, documents: Any, path: str | os.PathLike[str] | None = None) -> Index:
        """Indexes documents: dictionaries with an id and fields, a frame, or files; in memory without `path`."""
        if _are_files(documents):
            if path is None:
                raise of_kind("no-folder", "files are indexed into a folder: give its path")
            files = [documents] if isinstance(documents, (str, os.PathLike)) else documents
            _native.Index.build([os.fspath(file) for file in files], os.fspath(path), False)
            return cls.open(path)
        given = _documents(documents)
        if path is None:
            return cls(_native.Index.in_memory(given))
        return cls(_native.Index.build_documents(given, os.fspath(path)))

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
        k: int = 10,
        *,
        model: Any = None,
        first_stage: str | None = None,
        candidates: int | None = None,
        filter: str | None = None,
        features: bool = False,
        facets: Iterable[str] = (),
    ) -> Result:
        """The best documents for a query, with titles and snippets; re-ranked by a model if there is one."""
        text = self._native.search(
            query, k, _model(model), (first_stage, candidates, filter), features, list(facets)
        )
        return Result.of_json(text, "documents")

    def run(
        self,
        queries: Any,
        k: int = 1000,
        *,
        model: Any = None,
        first_stage: str | None = None,
        candidates: int | None = None,
        filter: str | None = None,
    ) -> dict[str, dict[str, float]]:
        """The scores of the best documents of each query, as a dictionary of dictionaries."""
        rows = self._native.run(_queries(queries), k, _model(model), (first_stage, candidates, filter))
        found: dict[str, dict[str, float]] = {query: {} for query, _ in _queries(queries)}
        for query, document, score in rows:
            found[query][document] = score
        return found

    def features(
        self,
        queries: Any,
        qrels: Any = None,
        *,
        features: str = "default",
        judged: bool = False,
        first_stage: str | None = None,
        candidates: int | None = None,
        filter: str | None = None,
    ) -> Dataset:
        """The features of the candidates of queries, labelled by judgements: data to train on.

        A model that is trained on it records the features, so that `search` computes them again.
        """
        judged_rows = _lists(qrels, "relevance") if qrels is not None else None
        if isinstance(judged_rows, str):
            raise of_kind("run-form", "judgements are a frame or a dictionary of dictionaries here, not a file")
        native = self._native.features(_queries(queries), judged_rows, features, judged, (first_stage, candidates, filter))
        return Dataset._of(native)


def _are_files(documents: Any) -> bool:
    if isinstance(documents, (str, os.PathLike)):
        return True
    return isinstance(documents, (list, tuple)) and bool(documents) and isinstance(documents[0], (str, os.PathLike))


def _model(model: Any) -> _native.Model | None:
    return Model(model)._native if model is not None else None


def _queries(queries: Any) -> list[tuple[str, str]]:
    """Ids and texts: of a dictionary, a frame (``qid`` and ``query``), pairs, or texts, which are their own ids."""
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
