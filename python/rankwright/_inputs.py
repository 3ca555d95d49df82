"""Inputs of tasks on clicks, interleaving and judges, as the native module takes them: paths, or values in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from rankwright import _native
from rankwright._data import Dataset, collected, column_names, is_frame, is_pandas
from rankwright._evaluation import _lists
from rankwright._index import Index, _are_files, _documents
from rankwright._model import Model
from rankwright._results import Result
from rankwright._scratch import _is_missing, _plain, is_path, paths_of, records_of, run_task
from rankwright._warnings import warn_of

#: Columns of events, which are read by the names of their keys instead of the roles of columns.
_EVENT_COLUMNS = {"action_name", "query_response_hit_ids", "event"}


def task_result(task: str, table: str | None = None, **fields: Any) -> Result:
    """The result of a task, whose warnings are raised as those of Python; `table` is the field that becomes frames."""
    found = run_task(task, **fields)
    return Result(found, table if table in found else None)


def path_or_none(path: Any) -> str | None:
    """The path of a file to write; `None` if the caller names none."""
    return None if path is None else os.fspath(path)


def json_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """A line of JSON for each record; missing values are left out."""
    lines = []
    for record in records:
        kept = {str(key): value for key, value in record.items() if not _is_missing(value)}
        lines.append(json.dumps(kept, default=_plain) + "\n")
    return "".join(lines).encode()


def files_or_text(given: Any) -> list[str | bytes]:
    """Files, or one text with the lines of a frame, of dictionaries, or of the rows of a result."""
    if isinstance(given, Result):
        given = given.records("rows")
    return list(paths_of(given) or [json_lines(records_of(given))])


def log_values(source: Any, has_columns: bool) -> dict[str, Any]:
    """The files of a log, or its values in memory."""
    if isinstance(source, Result):
        source = source.records("pages")
    files = paths_of(source)
    if files is not None:
        return {"files": files}
    source = collected(source)
    is_arrow = is_frame(source) and not is_pandas(source) and hasattr(source, "__arrow_c_stream__")
    if is_arrow and (has_columns or not _EVENT_COLUMNS & set(map(str, column_names(source)))):
        return {"values": source}
    return {"values": json_lines(records_of(source))}


def data_of(data: Any) -> Any:
    """Feature data: files, or a native data set."""
    if data is None:
        return None
    return paths_of(data) or (data if isinstance(data, Dataset) else Dataset(data))._native


def model_of(model: Any) -> Any:
    """A model: its file, or a native model."""
    return os.fspath(model) if is_path(model) else Model(model)._native


def models_of(models: Any) -> list[tuple[str | None, Any]]:
    """A model, several, or a dictionary that names them."""
    if isinstance(models, Mapping):
        return [(str(name), model_of(model)) for name, model in models.items()]
    if isinstance(models, (list, tuple)):
        return [(None if is_path(model) else f"model{number}", model_of(model)) for number, model in enumerate(models, start=1)]
    return [(None, model_of(models))]


def lists_of(given: Any, value: str) -> Any:
    """A run (`value` is "score") or judgements ("relevance"): a path, or rows of query, document and number."""
    return None if given is None else _lists(given, value)


def runs_of(runs: Any) -> list[tuple[str | None, Any]]:
    """Several runs; a dictionary names them."""
    if isinstance(runs, Mapping):
        return [(str(name), _lists(run, "score")) for name, run in runs.items()]
    return [(None if is_path(run) else f"run{number}", _lists(run, "score")) for number, run in enumerate(runs, start=1)]


def documents_of(documents: Any) -> Any:
    """Documents: an index or its folder, files, or documents in memory."""
    if isinstance(documents, Index):
        return documents._native
    if is_path(documents):
        folder = os.fspath(documents)
        return folder if os.path.isdir(folder) else [folder]
    return paths_of(documents) if _are_files(documents) else _documents(documents)


def examination_of(source: Any) -> dict[str, Any]:
    """The examination of ranks: an estimator by name, a file, a result of `clicks.bias`, or a number for each rank."""
    if source is None or (isinstance(source, str) and not os.path.exists(source)):
        return {"examination": source}
    if is_path(source):
        return {"examination_file": os.fspath(source)}
    if isinstance(source, Result):
        return {"examination_values": _first_estimate(source)["examination"]}
    return {"examination_values": [None if _is_missing(value) else float(value) for value in source]}


def _first_estimate(bias: Result) -> dict[str, Any]:
    """The first estimate that was not refused and corrects for relevance, as the command takes it of a file."""
    usable = [one for one in bias.estimates if len(one["examination"]) == 1 or any(value is not None for value in one["examination"][1:])]
    usable.sort(key=lambda one: one["estimator"] == "click-rate")
    return (usable or bias.estimates)[0]


def native_labels(fields: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Runs the task that labels feature data by clicks: its result, and the native data if no file was written."""
    text, data = _native.label_clicks(fields)
    found = json.loads(text)
    warn_of(found["warnings"])
    return found, data
