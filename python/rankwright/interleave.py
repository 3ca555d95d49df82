"""Comparisons of rankers by clicks on lists that are merged of their results.

>>> from rankwright import interleave
>>> old, new = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q1": {"c": 3.0, "d": 2.0, "a": 1.0}}
>>> lists = interleave.runs({"old": old, "new": new}, length=3, requests=200)
>>> log = interleave.simulate(lists, {"q1": {"c": 4, "d": 4}})
>>> interleave.score(log, lists).comparisons[0]["delta"] > 0
True
"""

from __future__ import annotations

import os
from typing import Any

from rankwright._results import Result
from rankwright._scratch import Scratch, is_path, options_spec, run_task
from rankwright.clicks import _log, _Path, _with_lines

__all__ = ["runs", "score", "simulate"]


def runs(
    runs: Any,
    out: _Path = None,
    *,
    method: str | None = None,
    length: int | None = None,
    requests: Any = None,
    seed: int | None = None,
) -> Result:
    """Merges runs into lists that are shown to users; the first run is the baseline.

    `runs` are files, frames or dictionaries; a dictionary of runs names them. `requests` is the number of lists of each query, or a
    dictionary of requests and their queries. Without `out`, the table ``rows`` has the lists.
    """
    with Scratch() as scratch:
        path = scratch.out(out, "lists.jsonl")
        file = None
        if requests is not None and not isinstance(requests, int):
            file = scratch.path("requests.tsv")
            with open(file, "w", encoding="utf-8") as lines:
                lines.writelines(f"{request}\t{query}\n" for request, query in dict(requests).items())
        found = run_task(
            "interleave runs", runs=scratch.runs(runs), out=path, method=method, length=length, seed=seed, request_file=file,
            requests=requests if file is None else None,
        )
        return _with_lines(found, "rows", out, path)


def _lists_file(lists: Any, scratch: Scratch) -> str:
    return os.fspath(lists) if is_path(lists) else scratch.json_lines(lists.records("rows"), "lists.jsonl")


def score(log: Any, lists: Any, *, by: str | None = None, correction: str | None = None, **options: Any) -> Result:
    """Compares the rankers of interleaved lists by the clicks of a log.

    `lists` is the result or the file of `runs`. `by` is what the bootstrap keeps together: ``"user"``, ``"query"`` or ``"impression"``;
    `options` are ``samples`` and ``seed``.
    """
    with Scratch() as scratch:
        found = run_task(
            "interleave score", log=_log(log, scratch), lists=_lists_file(lists, scratch), by=by, correction=correction,
            options=options_spec("score", options),
        )
    return Result(found, "comparisons")


def simulate(
    lists: Any,
    qrels: Any,
    out: _Path = None,
    *,
    user: str = "pbm",
    sessions: int | None = None,
    length: int | None = None,
    users: int | None = None,
    seed: int | None = None,
) -> Result:
    """Simulates users who click on interleaved lists (or on a run) by judgements; the table ``pages`` is the log."""
    with Scratch() as scratch:
        path = scratch.out(out, "log.jsonl")
        is_lists = isinstance(lists, Result)
        found = run_task(
            "interleave simulate", lists=_lists_file(lists, scratch) if is_lists else scratch.lists(lists, "score", "run"),
            qrels=scratch.lists(qrels, "relevance", "qrels"), out=path, user=user,
            options=options_spec("simulate", {"sessions": sessions, "length": length, "users": users, "seed": seed}),
        )
        return _with_lines(found, "pages", out, path)
