"""Comparisons of rankers by clicks on lists that are merged of their results.

A run is the ranking of a system: a file, a frame with ``query_id``, ``doc_id`` and ``score``, or a dictionary of dictionaries
``{query: {document: score}}``. `runs` merges two or more of them into lists, users click on these lists, and `score` says whose
documents were clicked more often. `simulate` makes clicks where there are no users.

Parameters that are None have the defaults of the command line; problems are warnings of the class `rankwright.RankwrightWarning`.

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

from rankwright._inputs import files_or_text, json_lines, lists_of, path_or_none, runs_of, task_result
from rankwright._results import Result
from rankwright._scratch import is_path, options_spec
from rankwright.clicks import _log, _Path

__all__ = ["runs", "score", "simulate"]


def runs(
    runs: Any,
    out: _Path = None,
    *,
    method: str | None = None,
    length: int | None = None,
    requests: Any = None,
    seed: int | None = None,
    format: str | None = None,
) -> Result:
    """Merges runs into lists that are shown to users.

    Parameters
    ----------
    runs
        Two or more runs: a list, or a dictionary that names them. The first one is the baseline.
    out, format
        A file to write, and its format: ``"jsonl"`` (the default, which `score` reads) or ``"trec"``.
    method
        ``"team-draft"`` (the default for two runs), ``"balanced"``, ``"probabilistic"``, ``"optimised"``, or ``"multileave"`` (the default
        for more than two).
    length
        Number of documents of a list (10).
    requests
        Number of lists of each query (1), whose requests are called ``q1#1``, ``q1#2`` and so on; or a dictionary of the id of each request
        and of its query; or a file with these two in each line.
    seed
        A list depends on the seed and on the id of its request alone.

    Without `out`, the table ``rows`` has a list for each request: its ``documents``, and the rank that each ranker gave them.
    """
    wanted: dict[str, Any] = {}
    if is_path(requests):
        wanted["request_file"] = os.fspath(requests)
    elif hasattr(requests, "items"):
        wanted["request_values"] = [(str(request), str(query)) for request, query in requests.items()]
    else:
        wanted["requests"] = requests
    return task_result(
        "interleave runs", "rows", runs=runs_of(runs), out=path_or_none(out), format=format, method=method,
        options=options_spec("interleave", {"length": length, "seed": seed}), **wanted,
    )


def score(
    log: Any, lists: Any, *, by: str | None = None, correction: str | None = None, samples: int | None = None, seed: int | None = None
) -> Result:
    """Compares the rankers of interleaved lists by the clicks of a log.

    Parameters
    ----------
    log
        The log, as to `rankwright.clicks`. A page shows the list whose request id is the id of the page; without one, the list of its query
        with the same documents.
    lists
        The result or the file of `runs`.
    by
        What the bootstrap of the intervals keeps together: the pages of a ``"user"`` (the default), of a ``"session"`` or of a ``"query"``, or
        each ``"impression"`` (page) by itself.
    correction
        The correction of p-values if there are more than two rankers: ``"holm"`` (the default), ``"bonferroni"`` or ``"none"``.
    samples, seed
        Number of bootstrap samples (0: no intervals), and the seed of their draws.

    The table ``comparisons`` has for each two rankers the wins of each, ``delta`` (above 0 if the second one is better, from -0.5 to 0.5) with
    its 95 % interval, the p-value, and the number of pages that are needed to find a difference.
    """
    return task_result(
        "interleave score", "comparisons", log=_log(log), lists=files_or_text(lists)[0], by=by, correction=correction,
        options=options_spec("score", {"samples": samples, "seed": seed}),
    )


def simulate(
    lists: Any,
    qrels: Any,
    out: _Path = None,
    *,
    user: str | None = None,
    sessions: int | None = None,
    length: int | None = None,
    users: int | None = None,
    seed: int | None = None,
) -> Result:
    """Simulates users who click on interleaved lists, or on a run, by the grades of documents.

    Parameters
    ----------
    lists
        The result or the file of `runs`, or a run.
    qrels
        Judgements: a file, a frame with ``query_id``, ``doc_id`` and ``relevance``, or a dictionary of dictionaries. Documents without a
        judgement have grade 0, and queries without one are left out.
    out
        The file of the log. Without one, the table ``pages`` of the result is the log.
    user
        How users look and click, such as ``"pbm(max=2)"``, ``"cascade"``, ``"dbn"`` or ``"trust"``; ``"pbm"`` by default.
    sessions
        Number of pages of each query of a run (1); each interleaved list is shown once.
    length
        Number of documents of a page of a run (10).
    users
        Number of users, among whom pages are drawn by lot; by default each page has its own user.
    """
    shown = json_lines(lists.records("rows")) if isinstance(lists, Result) else lists_of(lists, "score")
    return task_result(
        "interleave simulate", "pages", lists=shown, qrels=lists_of(qrels, "relevance"), out=path_or_none(out), user=user,
        options=options_spec("simulate", {"sessions": sessions, "length": length, "users": users, "seed": seed}),
    )
