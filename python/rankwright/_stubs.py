"""Writes `learners.pyi`, which tells type checkers and editors the classes that `learners.py` makes."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from rankwright._ranker import COMMON
from rankwright._spec import class_name, python_name, table, value_of


def _hint(kind: dict[str, Any]) -> str:
    match kind["type"]:
        case "integer":
            return "int"
        case "number":
            return "float"
        case "boolean":
            return "bool"
        case "choice":
            return "Literal[" + ", ".join(repr(value) for value in kind["values"]) + "] | None"
        case "list":
            return f"Sequence[{_hint(kind['of'])}] | {_hint(kind['of'])} | str"
        case "either":
            word = "None" if kind["word"] == "none" else f"Literal[{kind['word']!r}]"
            return f"{word} | {_hint(kind['or'])}"
        case _:
            return "Any"


def estimator_stub() -> str:
    """The text of the stub."""
    lines = [
        "# Written by `python -m rankwright._stubs` from the table of learners.",
        "from collections.abc import Sequence",
        "from typing import Any, Literal",
        "",
        "from rankwright._ranker import Ranker as Ranker",
        "",
        "ESTIMATORS: dict[str, type[Ranker]]",
    ]
    for learner in table().values():
        lines += ["", f"class {class_name(learner['name'])}(Ranker):"]
        parameters = learner["parameters"]
        for parameter in parameters:
            lines.append(f"    {python_name(parameter['name'])}: {_hint(parameter)}")
        lines += ["    query: str | None", "    random_state: Any", "    n_jobs: int | None"]
        lines += ["    def __init__(", "        self,", "        *,"]
        for parameter in parameters:
            default = value_of(parameter.get("default"), parameter)
            hint = _hint(parameter)
            if default is None and "None" not in hint and hint != "Any":
                hint += " | None"
            lines.append(f"        {python_name(parameter['name'])}: {hint} = {default!r},")
        hints = {"query": "str | None", "random_state": "Any", "n_jobs": "int | None"}
        lines += [f"        {name}: {hints[name]} = {COMMON[name][0]!r}," for name in COMMON]
        lines += ["    ) -> None: ..."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    path = Path(inspect.getfile(inspect.currentframe())).with_name("learners.pyi")  # type: ignore[arg-type]
    path.write_text(estimator_stub())
