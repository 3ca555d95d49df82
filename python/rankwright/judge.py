"""Judgements of pairs by people or language models: questions, their answers, consistency, and what they add up to.

>>> from rankwright import judge
>>> documents = [{"id": "a", "text": "grey cat"}, {"id": "b", "text": "red shoe"}]
>>> questions = judge.prompts({"q1": {"a": 2.0, "b": 1.0}}, {"q1": "cats"}, documents)
>>> len(questions.records()), "grey cat" in questions.records()[0]["prompt"]
(2, True)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from rankwright._results import Result
from rankwright._scratch import Scratch, is_path, options_spec, paths_of, records_of, run_task
from rankwright.clicks import _Path, _with_lines, read_pairs

__all__ = ["aggregate", "check", "prompts", "read"]


def _lines(given: Any, name: str, scratch: Scratch) -> list[str]:
    """The files of records: files, a frame, dictionaries, or a result with rows."""
    if isinstance(given, Result):
        given = given.records("rows")
    return paths_of(given) or [scratch.json_lines(records_of(given), name)]


def prompts(
    runs: Any,
    queries: Any,
    documents: Any,
    out: _Path = None,
    *,
    template: str | os.PathLike[str] | None = None,
    fields: Iterable[str] = (),
    max_words: int | None = None,
    depth: int | None = None,
    max_pairs: int | None = None,
    both_orders: bool = True,
    seed: int | None = None,
) -> Result:
    """Questions about which of two documents is better: of several runs, pairs that they order differently; of one, near ties.

    `documents` are dictionaries, a frame, files, or the folder of an index (`Index.path`). `template` is "search", "recommendation",
    "answer", or a file or text with ``{query}``, ``{a}`` and ``{b}``. The table ``rows`` has the questions.
    """
    with Scratch() as scratch:
        if isinstance(runs, Mapping) and all(isinstance(docs, Mapping) and not _is_run(docs) for docs in runs.values()):
            runs = [runs]
        elif is_path(runs):
            runs = [runs]
        path = scratch.out(out, "questions.jsonl")
        given: dict[str, Any] = {}
        if template is not None and "{" in os.fspath(template):
            given["template_file"] = scratch.path("template.txt")
            with open(given["template_file"], "w", encoding="utf-8") as file:
                file.write(os.fspath(template))
        elif template is not None:
            given["template_file" if os.path.exists(template) else "template"] = os.fspath(template)
        if is_path(documents) and os.path.isdir(documents):
            given["index"] = os.fspath(documents)
        else:
            given["documents"] = _lines(documents, "documents.jsonl", scratch)
        found = run_task(
            "judge prompts", runs=scratch.runs(runs), queries=_query_file(queries, scratch), out=path, fields=list(fields),
            max_words=max_words, depth=depth, max_pairs=max_pairs, both_orders=both_orders, seed=seed, **given,
        )
        return _with_lines(found, "rows", out, path)


def _is_run(value: Mapping[Any, Any]) -> bool:
    """Whether a dictionary has the documents of queries, not scores of documents."""
    return any(isinstance(inner, Mapping) for inner in value.values())


def _query_file(queries: Any, scratch: Scratch) -> str:
    if is_path(queries):
        return os.fspath(queries)
    rows = queries.items() if isinstance(queries, Mapping) else queries
    return scratch.json_lines(({"id": str(id), "text": str(text)} for id, text in rows), "queries.jsonl")


def read(answers: Any, questions: Any = None, out: _Path = None, *, judge: str | None = None) -> Result:
    """Reads answers of judges, such as ``{"id": ..., "answer": "Document A."}``; the table ``rows`` has the judgements.

    `answers` and `questions` are files, frames, dictionaries or (questions) the result of `prompts`.
    """
    with Scratch() as scratch:
        path = scratch.out(out, "judgements.jsonl")
        asked = _lines(questions, "questions.jsonl", scratch)[0] if questions is not None else None
        found = run_task("judge read", answers=_lines(answers, "answers.jsonl", scratch), questions=asked, judge=judge, out=path)
        return _with_lines(found, "rows", out, path)


def check(judgements: Any, qrels: Any = None) -> Result:
    """Whether judges change their minds, prefer the first place, go round in circles, and agree with each other and with grades."""
    with Scratch() as scratch:
        graded = scratch.lists(qrels, "relevance", "qrels") if qrels is not None else None
        return Result(run_task("judge check", judgements=_lines(judgements, "judgements.jsonl", scratch), qrels=graded))


def aggregate(judgements: Any, out: _Path = None, *, format: str = "pairs", **options: Any) -> Result:
    """Strengths of documents from judgements of pairs (Bradley and Terry), as pairs to train on or as grades.

    `format` is "pairs", "probabilities" or "qrels"; `options` are ``prior``, ``grades``, ``iterations`` and ``tolerance``. The table
    ``rows`` has what a file `out` would have.
    """
    with Scratch() as scratch:
        path = scratch.out(out, "aggregated.txt")
        found = run_task(
            "judge aggregate", judgements=_lines(judgements, "judgements.jsonl", scratch), out=path, format=format,
            options=options_spec("aggregate", options),
        )
        if out is not None:
            return Result(found, "strengths")
        found.pop("out")
        rows = _read_qrels(path) if format == "qrels" else read_pairs(path)
        return Result(found | {"rows": rows}, "rows")


def _read_qrels(path: str) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        cells = [line.split() for line in file if line.strip()]
    return [{"query_id": query, "doc_id": document, "relevance": int(grade)} for query, _, document, grade in cells]
