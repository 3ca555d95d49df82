"""Generated data: feature data, a store of documents, a web of homepages; the same for a seed on every machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from rankwright import _native
from rankwright._data import Dataset
from rankwright._scratch import Scratch, options_spec, read_json_lines, run_task


def generate(queries: int = 100, documents: int = 40, *, seed: int = 1, named: bool = False) -> Dataset:
    """Generated feature data: 136 features, graded labels, the same for a seed on every machine.

    `documents` is the mean number of documents of a query; the features have names if `named`, else numbers.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.generate(queries=10, documents=20).n_queries
    10
    """
    return Dataset._of(_native.generate_letor(queries, documents, seed, named))


@dataclass(frozen=True)
class Collection:
    """Documents with queries and judgements."""

    #: The documents: dictionaries with ``id`` and fields.
    documents: list[dict[str, Any]] = field(repr=False)
    #: The texts of the queries by their ids.
    queries: dict[str, str] = field(repr=False)
    #: The grades of documents by query.
    qrels: dict[str, dict[str, int]] = field(repr=False)

    def __repr__(self) -> str:
        return f"Collection({len(self.documents)} documents, {len(self.queries)} queries)"


def _collection(task: str, options: dict[str, Any], out: str | os.PathLike[str] | None) -> Collection:
    with Scratch() as scratch:
        folder = scratch.out(out, "collection")
        run_task(task, out=folder, options=options_spec("options", options))
        documents = read_json_lines(os.path.join(folder, "documents.jsonl"))
        queries = {one["id"]: one["text"] for one in read_json_lines(os.path.join(folder, "queries.jsonl"))}
        qrels: dict[str, dict[str, int]] = {}
        with open(os.path.join(folder, "qrels.txt"), encoding="utf-8") as file:
            for query, _, document, grade in map(str.split, file):
                qrels.setdefault(query, {})[document] = int(grade)
    return Collection(documents, queries, qrels)


def generate_store(
    records: int = 2000,
    queries: int = 100,
    *,
    seed: int = 1,
    artist_popularity: bool | None = None,
    genre_overlap: float | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Collection:
    """A generated shop of music records, with queries and judgements; written to the folder `out` if it is given.

    With `artist_popularity`, records have the popularity of their artist. `genre_overlap` (0 to 1) is the share of a
    record's words that are drawn from a random genre instead of its own.

    Examples
    --------
    >>> import rankwright as rw
    >>> store = rw.generate_store(records=50, queries=5)
    >>> store, sorted(store.documents[0])[:3]
    (Collection(50 documents, 5 queries), ['artist', 'genre', 'id'])
    """
    options = {
        "records": records, "queries": queries, "seed": seed, "artist_popularity": artist_popularity, "genre_overlap": genre_overlap,
    }
    return _collection("data generate store", options, out)


def generate_homepages(
    sites: int = 50, *, pages: int | None = None, queries: int | None = None, seed: int = 1, out: str | os.PathLike[str] | None = None
) -> Collection:
    """A generated web: sites with pages that link to each other, and queries for their homepages."""
    return _collection("data generate homepages", {"sites": sites, "pages": pages, "queries": queries, "seed": seed}, out)
