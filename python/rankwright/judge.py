"""Judgements of pairs by people or language models: questions, their answers, consistency, and what they add up to.

`prompts` makes questions of the form "which of these two documents is better for this query", a person or a language model answers
them, `read` turns the answers into judgements, `check` says how consistent they are, and `aggregate` makes pairs or grades of them.

Parameters that are None have the defaults of the command line; problems are warnings of the class `rankwright.RankwrightWarning`.

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

from rankwright._data import is_frame
from rankwright._inputs import documents_of, files_or_text, lists_of, path_or_none, runs_of, task_result
from rankwright._results import Result
from rankwright._scratch import is_path, options_spec
from rankwright.clicks import _Path

__all__ = ["aggregate", "check", "prompts", "read"]


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
    both_orders: bool | None = None,
    seed: int | None = None,
) -> Result:
    """Makes questions about which of two documents is better for a query.

    Parameters
    ----------
    runs
        A run (a file, a frame with ``query_id``, ``doc_id`` and ``score``, or a dictionary of dictionaries), of which pairs are chosen whose
        scores differ least; or several, as a list or a dictionary of names, of which pairs are chosen that they order differently.
    queries
        The texts of the queries: a dictionary by id, pairs of id and text, or a file. Queries without a text are left out with a warning.
    documents
        Dictionaries with ``id`` and fields, a frame, files, an `Index`, or the folder of one.
    out
        A file to write (JSON lines).
    template
        The text of the questions: ``"search"`` (the default), ``"recommendation"``, ``"answer"``, a text with ``{query}``, ``{a}`` and ``{b}``
        (each also with a field, as in ``{a.title}``), or a file with such a text.
    fields
        Fields of a document that are shown; by default all texts.
    max_words
        Number of words of a field that are shown (100).
    depth
        Number of first documents of each run among which pairs are chosen (10).
    max_pairs
        Largest number of pairs (100).
    both_orders
        Asks about each pair in both orders of its documents (the default), which shows whether a judge prefers the first place.
    seed
        Seed of the choice among queries and of the order of documents.

    Without `out`, the table ``rows`` has the questions: ``id``, ``query``, the documents ``a`` and ``b``, and the text ``prompt``.
    """
    options = {"max_words": max_words, "depth": depth, "max_pairs": max_pairs, "both_orders": both_orders, "seed": seed}
    text: dict[str, Any] = {"template": template} if isinstance(template, str) else {"template_file": path_or_none(template)}
    if isinstance(template, str) and os.path.isfile(template):
        text = {"template_file": template}
    return task_result(
        "judge prompts", "rows", runs=runs_of([runs] if _is_run(runs) else runs), queries=_queries(queries), documents=documents_of(documents),
        out=path_or_none(out), fields=[fields] if isinstance(fields, str) else list(fields), options=options_spec("prompts", options), **text,
    )


def _is_run(runs: Any) -> bool:
    """Whether this is one run, not several: a file, a frame, or the scores of documents by query."""
    if is_path(runs) or is_frame(runs):
        return True
    if not isinstance(runs, Mapping):
        return False
    return all(isinstance(docs, Mapping) and not any(isinstance(inner, Mapping) for inner in docs.values()) for docs in runs.values())


def _queries(queries: Any) -> Any:
    if is_path(queries):
        return os.fspath(queries)
    rows = queries.items() if isinstance(queries, Mapping) else queries
    return [(str(id), str(text)) for id, text in rows]


def read(answers: Any, questions: Any = None, out: _Path = None, *, judge: str | None = None) -> Result:
    """Reads the answers of judges into judgements.

    Parameters
    ----------
    answers
        A file or several, a frame, or dictionaries such as ``{"id": ..., "answer": "Document A."}``; outputs of batch interfaces of language
        models are read as they are. An answer that cannot be read is counted, listed in ``unreadable``, and a warning.
    questions
        The questions that the answers name by ``id``: the result or the file of `prompts`. Answers with ``query``, ``a`` and ``b`` need none.
    out
        A file to write (JSON lines).
    judge
        The name of the judge of answers that name none; by default the name of their file if there are several files.

    Without `out`, the table ``rows`` has the judgements: ``query``, ``a``, ``b``, ``preferred`` ("a", "b" or "tie") and ``judge``.
    """
    asked = files_or_text(questions)[0] if questions is not None else None
    return task_result("judge read", "rows", answers=files_or_text(answers), questions=asked, judge=judge, out=path_or_none(out))


def check(judgements: Any, qrels: Any = None) -> Result:
    """Says whether judges change their minds, prefer the first place, go round in circles, and agree with each other and with grades.

    Parameters
    ----------
    judgements
        The result or the files of `read`, a frame, or dictionaries with ``query``, ``a``, ``b``, ``preferred`` and perhaps ``judge``.
    qrels
        Grades to compare the judges with: a file, a frame with ``query_id``, ``doc_id`` and ``relevance``, or a dictionary of dictionaries.

    The table ``judges`` has the counts of each judge, and the fields of the result those of all together: ``both_orders`` is the number of
    pairs that were judged in both orders, and ``flips`` on how many of them the judgement changed with the order. ``agreements`` compares
    each two judges, and ``with_grades`` each judge with the grades.
    """
    return task_result("judge check", "judges", judgements=files_or_text(judgements), qrels=lists_of(qrels, "relevance"))


def aggregate(
    judgements: Any,
    out: _Path = None,
    *,
    format: str | None = None,
    prior: float | None = None,
    grades: int | None = None,
    iterations: int | None = None,
    tolerance: float | None = None,
) -> Result:
    """Fits strengths of documents to judgements of pairs (Bradley and Terry), and makes pairs to train on, or grades.

    Parameters
    ----------
    judgements
        The result or the files of `read`, a frame, or dictionaries with ``query``, ``a``, ``b`` and ``preferred``.
    out
        A file to write.
    format
        ``"pairs"`` (the default: better, worse, and as weight the number of comparisons times 2p - 1, where p is the probability that the
        better document is preferred), ``"probabilities"`` (p, and the number of comparisons as weight) or ``"qrels"`` (grades).
    prior
        Imaginary wins, and as many losses, of every document (0.5): they keep strengths finite.
    grades
        Number of grades of qrels, from 0 on (5).
    iterations, tolerance
        Largest number of iterations, and the change of a strength below which the fit ends.

    Without `out`, the table ``rows`` has the pairs or grades. ``strengths`` has the documents of each query, the strongest first.
    """
    options = {"prior": prior, "grades": grades, "iterations": iterations, "tolerance": tolerance}
    found = task_result(
        "judge aggregate", "rows", judgements=files_or_text(judgements), out=path_or_none(out), format=format,
        options=options_spec("aggregate", options),
    )
    return found if out is None else Result(found.to_dict(), "strengths")
