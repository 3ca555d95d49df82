"""The estimators: one class for each learner of the library, made from its table of learners."""

from __future__ import annotations

import difflib
import inspect
from typing import Any

from rankwright._ranker import COMMON, Ranker
from rankwright._spec import class_name, python_name, table, value_of


def _expected(kind: dict[str, Any]) -> str:
    """The values of a parameter in words, for its documentation."""
    match kind["type"]:
        case "integer":
            return "int"
        case "number":
            return "float"
        case "boolean":
            return "bool"
        case "choice":
            return "{" + ", ".join(repr(value) for value in kind["values"]) + "}"
        case "list":
            return f"{_expected(kind['of'])} or tuple"
        case "either":
            word = "None" if kind["word"] == "none" else repr(kind["word"])
            return f"{word} or {_expected(kind['or'])}"
        case "spec" if kind["of"] == "learner":
            return "estimator or str"
        case _:
            return "str"


def _documentation(learner: dict[str, Any]) -> str:
    lines = [learner["help"], "", f"In specs it is called ``{learner['name']}``; an example is ``{learner['example']}``.", ""]
    lines += ["Parameters", "----------"]
    for parameter in learner["parameters"]:
        default = repr(value_of(parameter.get("default"), parameter))
        lines.append(f"{python_name(parameter['name'])} : {_expected(parameter)}, default={default}")
        effect = f" Has an effect only with {parameter['requires']}." if "requires" in parameter else ""
        lines.append(f"    {parameter['help']}{effect}")
    for name, (default, help) in COMMON.items():
        lines += [f"{name} : default={default!r}", f"    {help}"]
    return "\n".join(lines)


def _constructor(name: str, defaults: dict[str, Any]) -> Any:
    """The function `__init__` of a class with these parameters."""

    def __init__(self: Any, **params: Any) -> None:
        for given in params:
            if given not in defaults:
                close = difflib.get_close_matches(given, defaults, 1)
                hint = f"; did you mean '{close[0]}'?" if close else f"; the parameters are {', '.join(defaults)}"
                raise TypeError(f"{name} has no parameter '{given}'{hint}")
        for key, default in defaults.items():
            setattr(self, key, params.get(key, default))

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default) for key, default in defaults.items()
    ]
    __init__.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{name}.__init__"
    return __init__


def _estimator(learner: dict[str, Any]) -> type[Ranker]:
    name = class_name(learner["name"])
    defaults = {python_name(parameter["name"]): value_of(parameter.get("default"), parameter) for parameter in learner["parameters"]}
    defaults |= {key: default for key, (default, _) in COMMON.items()}
    content = {
        "__init__": _constructor(name, defaults),
        "__doc__": _documentation(learner),
        "__module__": __name__,
        "_learner": learner["name"],
    }
    return type(name, (Ranker,), content)


#: All estimators by the name of their class.
ESTIMATORS: dict[str, type[Ranker]] = {}

for _one in table().values():
    _made = _estimator(_one)
    ESTIMATORS[_made.__name__] = _made
    globals()[_made.__name__] = _made

__all__ = ["ESTIMATORS", "Ranker", *ESTIMATORS]  # pyright: ignore[reportUnsupportedDunderAll]
