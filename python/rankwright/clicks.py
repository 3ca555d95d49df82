"""Click logs: what is in them, click models, position bias, labels, simulation, the value of another ranker.

A log is a file or several files of any known format, a frame (pandas, Polars, Arrow) or a list of dictionaries: a row for each
shown document, or for each page with lists ``docs`` and ``clicks``. `Log` adds options of reading. Results are the structs that the
command prints as JSON; what the command writes to a file is their table, unless a file `out` is named.

>>> from rankwright import clicks
>>> log = [{"query": "cat", "docs": ["a", "b"], "clicks": [0, 1]}, {"query": "cat", "docs": ["b", "a"], "clicks": [1, 0]}]
>>> clicks.inspect(log).counts["clicks"]
2
>>> clicks.pairs(log).records()
[{'query': 'cat', 'better': 'b', 'worse': 'a', 'weight': 1.0}]
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from rankwright._data import Dataset
from rankwright._results import Result
from rankwright._scratch import Scratch, is_path, options_spec, paths_of, read_json_lines, records_of, run_task

__all__ = ["Log", "bias", "convert", "counts", "evaluate", "fit", "inspect", "labels", "pairs", "simulate"]

#: A path of a file to write.
_Path = str | os.PathLike[str] | None


class Log:
    """A click log with options of reading.

    Parameters
    ----------
    source
        A file, several files, a frame, or a list of dictionaries.
    format
        The format of files; it is told by their content if not given.
    columns
        Roles of columns: ``"query=keyword, document=sku, click=bought"``.
    events
        Names of the events that are clicks.
    session_gap
        Makes sessions of users and times: ``"30m"``.
    drop
        Clicks and impressions to leave out: ``"repeated"``, ``"early"``, ``"bots"``.
    bot_impressions, bot_seconds
        Limits beyond which a user is a bot.
    """

    def __init__(
        self,
        source: Any,
        *,
        format: str | None = None,
        columns: str | None = None,
        events: Iterable[str] = (),
        session_gap: str | None = None,
        drop: Iterable[str] = (),
        bot_impressions: int | None = None,
        bot_seconds: float | None = None,
    ) -> None:
        self.source = source
        self._options = {
            "format": format,
            "columns": columns,
            "events": list(events),
            "session_gap": session_gap,
            "drop": list(drop),
            "bots": options_spec("bots", {"impressions": bot_impressions, "seconds": bot_seconds}),
        }

    def _fields(self, scratch: Scratch) -> dict[str, Any]:
        source = self.source
        if isinstance(source, Result):
            source = source.records("pages")
        files = paths_of(source)
        if files is None:
            files = [scratch.json_lines(records_of(source), "log.jsonl")]
        return {"files": files, **self._options}


def _log(log: Any, scratch: Scratch) -> dict[str, Any]:
    return (log if isinstance(log, Log) else Log(log))._fields(scratch)


def inspect(log: Any) -> Result:
    """Sessions, pages, clicks and ranks of a log."""
    with Scratch() as scratch:
        return Result(run_task("clicks inspect", log=_log(log, scratch)))


def convert(log: Any, to: str = "lists", out: _Path = None) -> Result:
    """Writes a log in another format; without `out`, the result's table ``pages`` has the pages of the log."""
    with Scratch() as scratch:
        path = scratch.out(out, "log.jsonl")
        found = run_task("clicks convert", log=_log(log, scratch), to=to if out is not None else "lists", out=path)
        return _with_lines(found, "pages", out, path)


def counts(log: Any, unit: str = "query-document", *, min_count: int | None = None, out: _Path = None) -> Result:
    """Clicks of documents, of queries or of both (`unit`), as numbers for features.

    The result's table ``rows`` has a row for each thing, unless a file `out` is named.
    """
    with Scratch() as scratch:
        path = scratch.out(out, "counts.jsonl")
        found = run_task("clicks counts", log=_log(log, scratch), unit=unit, min_count=min_count, out=path)
        return _with_lines(found, "rows", out, path)


def _with_lines(found: dict[str, Any], table: str, out: _Path, path: str) -> Result:
    """A result with the lines of the file that was written, unless the caller named the file."""
    if out is not None:
        return Result(found)
    found.pop("out")
    return Result(found | {table: read_json_lines(path)}, table)


def fit(log: Any, model: str = "pbm", *, test: Any = None) -> Result:
    """Fits a click model, such as ``"pbm"`` or ``"dbn"``, and measures it."""
    with Scratch() as scratch:
        other = _log(test, scratch) if test is not None else None
        return Result(run_task("clicks fit", log=_log(log, scratch), model=model, test=other), "parameters")


def bias(
    log: Any, *, estimators: Iterable[str] = (), features: Any = None, by: str | None = None, **options: Any
) -> Result:
    """Estimates the examination of each rank.

    `options` are ``min_shown``, ``iterations``, ``samples``, ``seed`` and ``random_ranker``.
    """
    with Scratch() as scratch:
        found = run_task(
            "clicks bias", log=_log(log, scratch), estimators=list(estimators), by=by,
            features=scratch.data(features) if features is not None else None, options=options_spec("bias", options),
        )
    return Result(found, "estimates")


def _examination(source: Any, scratch: Scratch) -> dict[str, Any]:
    """An estimator by name, a file, a result of `bias`, or numbers for the ranks."""
    if source is None or (isinstance(source, str) and not os.path.exists(source)):
        return {"examination": source}
    if is_path(source):
        return {"examination_file": os.fspath(source)}
    if isinstance(source, Result):
        source = source.estimates[0]["examination"]
    path = scratch.path("examination.tsv")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{rank}\t{value!r}\n" for rank, value in enumerate(source, start=1) if value is not None)
    return {"examination_file": path}


def labels(
    log: Any,
    features: Any,
    out: _Path = None,
    *,
    source: str | None = None,
    examination: Any = None,
    clip: float | None = None,
    grades: int | None = None,
    unshown: str | None = None,
    **bias_options: Any,
) -> Dataset:
    """Feature data whose labels, weights and positions are made of clicks.

    `features` has ids of queries and documents: a file, or a `Dataset` with `doc_id`. `source` is ``"coec"``, ``"sdbn"``, ``"ips"``
    or ``"dr"``; `examination` an estimator, a result of `bias`, a file, or a number for each rank.
    """
    with Scratch() as scratch:
        path = scratch.out(out, "labelled.rwd")
        run_task(
            "clicks labels", log=_log(log, scratch), features=scratch.data(features), out=path, source=source, unshown=unshown,
            options=options_spec("labels", {"clip": clip, "grades": grades}), bias=options_spec("bias", bias_options),
            **_examination(examination, scratch),
        )
        return Dataset(path)


def pairs(log: Any, out: _Path = None, *, rules: Iterable[str] = (), min_count: int | None = None) -> Result:
    """The preferences that the clicks of a log mean; the table ``rows`` has them unless a file `out` is named."""
    with Scratch() as scratch:
        path = scratch.out(out, "pairs.tsv")
        found = run_task("clicks pairs", log=_log(log, scratch), rules=list(rules), min_count=min_count, out=path)
        if out is not None:
            return Result(found)
        found.pop("out")
        return Result(found | {"rows": read_pairs(path)}, "rows")


def read_pairs(path: str) -> list[dict[str, Any]]:
    """The rows of a file of pairs."""
    names = ("query", "better", "worse", "weight", "count")
    found = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if cells[0] == "qid" or len(cells) < 3:
                continue
            numbers = [float(cell) for cell in cells[3:]]
            found.append(dict(zip(names, [*cells[:3], *numbers])))
    return found


def simulate(
    data: Any,
    out: _Path = None,
    *,
    user: str = "pbm",
    model: Any = None,
    feature: str | None = None,
    ranker: str | None = None,
    reverse: bool = False,
    sessions: int | None = None,
    top: int | None = None,
    seed: int | None = None,
    count_pages: bool = False,
) -> Result:
    """Simulates users who click on the pages of a ranker (a model, or the values of a feature).

    Without `out`, the table ``pages`` of the result is the log; every function here takes the result as a log.
    """
    with Scratch() as scratch:
        path = scratch.out(out, "log.jsonl")
        scores = {"feature": feature or "1"} if model is None else {"model": scratch.model(model)}
        found = run_task(
            "clicks simulate", data=scratch.data(data), out=path, user=user, ranker=ranker, reverse=reverse,
            options=options_spec("simulate", {"sessions": sessions, "top": top, "seed": seed}), count_pages=count_pages, **scores,
        )
        return _with_lines(found, "pages", out, path)


def evaluate(
    log: Any, models: Any, features: Any, metric: str = "dcg@10", *, examination: Any = None, bias: Mapping[str, Any] | None = None, **options: Any
) -> Result:
    """Estimates the value of models from the log of another ranking.

    `models` are a model, several, or a dictionary that names them. The metric is a sum over ranks: ``dcg``, ``p`` or ``rbp``.
    `options` are ``estimator`` ("ips", "snips", "dm", "dr"), ``propensity``, ``clip``, ``min_overlap``, ``unit``, ``samples``, ``seed``.
    """
    with Scratch() as scratch:
        if isinstance(models, Mapping):
            files = [scratch.model(one, str(name)) for name, one in models.items()]
        elif isinstance(models, (list, tuple)):
            files = [scratch.model(one, f"model{number}") for number, one in enumerate(models, start=1)]
        else:
            files = [scratch.model(models)]
        found = run_task(
            "clicks evaluate", log=_log(log, scratch), models=files, features=scratch.data(features), metric=metric,
            bias=options_spec("bias", bias or {}), options=options_spec("evaluate", options), **_examination(examination, scratch),
        )
    return Result(found, "models")
