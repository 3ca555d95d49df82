"""Tasks of the native module, and a temporary folder for tasks that write several files.

A task does what a command of the command line does, such as ``clicks fit``.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import tempfile
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from rankwright import _native
from rankwright._data import collected, is_frame, is_pandas
from rankwright._spec import text_of
from rankwright._warnings import warn_of
from rankwright.errors import of_kind


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def paths_of(value: Any) -> list[str] | None:
    """The paths of a file or of several files; `None` if it is something else."""
    if is_path(value):
        return [os.fspath(value)]
    if isinstance(value, (list, tuple)) and value and all(is_path(part) for part in value):
        return [os.fspath(part) for part in value]
    return None


def records_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame, or of an iterable of dictionaries, as dictionaries."""
    frame = collected(frame)
    if is_pandas(frame):
        return frame.to_dict("records")
    if is_frame(frame):
        if not hasattr(frame, "to_dicts") and not hasattr(frame, "to_pylist"):
            import pyarrow

            frame = pyarrow.table(frame)
        return frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_pylist()
    found = [dict(record) if isinstance(record, Mapping) else record for record in frame]
    odd = next((record for record in found if not isinstance(record, dict)), None)
    if odd is not None:
        raise of_kind("record-form", f"a frame or dictionaries are needed; found a {type(odd).__name__}")
    return found


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in ("NAType", "NaTType")


def _plain(value: Any) -> Any:
    """A value for which JSON has no type, as one that JSON has: a list, a number or a text."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if hasattr(value, "to_list"):
        return value.to_list()
    return str(value)


def options_spec(name: str, values: Mapping[str, Any]) -> str | None:
    """Options as a spec such as ``bias(min_shown=5)``; those that are None are left out."""
    given = ", ".join(f"{key}={text_of(value)}" for key, value in values.items() if value is not None)
    return f"{name}({given})" if given else None


def run_task(name: str, **fields: Any) -> dict[str, Any]:
    """Runs a task of the library, and warns of its warnings; the result as a dictionary."""
    return warned(_native.run_task(name, fields))


def warned(text: str, *, without: Collection[str] = ()) -> dict[str, Any]:
    """The result of a task of the library, of its JSON, after giving its warnings, but for some kinds."""
    found = json.loads(text)
    warn_of(found.get("warnings", ()), without=without)
    return found


class Scratch:
    """A temporary folder with the files of a call, which is removed at its end."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rankwright-")
        self._count = 0

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def path(self, name: str) -> str:
        """A path that has not been given before; the file has this name."""
        self._count += 1
        folder = os.path.join(self._folder.name, str(self._count))
        os.mkdir(folder)
        return os.path.join(folder, name)

    def out(self, given: Any, name: str) -> str:
        """The path that the caller has given, or one in this folder."""
        return os.fspath(given) if given is not None else self.path(name)


def read_json_lines(path: str) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]
