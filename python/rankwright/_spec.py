"""Learners and their parameters as Python values, from the native module's table of learners; and their specs.

A spec is the text of a learner with parameters, such as ``lambdamart(trees=100)``. A parameter has in Python the
type that a Python programmer expects: a number is a number, ``none`` is ``None``, a list such as ``64/32`` is a
tuple, a learner is an estimator or the text of its spec.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from rankwright import _native
from rankwright.errors import of_kind

#: Parts of names that are written in a special way in the names of classes.
_SPELLINGS = {
    "mart": "MART",
    "ndcg": "NDCG",
    "svm": "SVM",
    "mle": "MLE",
    "map": "MAP",
    "xe": "XE",
    "rank": "Rank",
    "net": "Net",
    "boost": "Boost",
    "list": "List",
    "lambda": "Lambda",
    "ada": "Ada",
    "yeti": "Yeti",
    "approx": "Approx",
}
#: Parameters whose lists a spec joins by a plus (``members=mart+ranksvm``); it joins other lists by a slash (``64/32``).
_SUMS = ("members", "candidates", "labels", "metric", "goal")
#: Parameters whose names have another meaning for scikit-learn: an object with an attribute `transform` is a transformer.
_RENAMED = {"transform": "feature_transform"}
_PARTS = re.compile("|".join(sorted(_SPELLINGS, key=len, reverse=True)))


@lru_cache(maxsize=None)
def table() -> dict[str, dict[str, Any]]:
    """The declarations of all learners by name."""
    return {learner["name"]: learner for learner in json.loads(_native.list("learners"))["learners"]}


def class_name(learner: str) -> str:
    """The name of a learner's class: `LambdaMART` for ``lambdamart``."""
    return "".join(_word(word) for word in learner.split("-"))


def _word(word: str) -> str:
    # A word is made of known parts, or is an ordinary word.
    parts = _PARTS.findall(word)
    if "".join(parts) == word:
        return "".join(_SPELLINGS[part] for part in parts)
    return word[:1].upper() + word[1:]


def python_name(parameter: str) -> str:
    """The name of a learner's parameter in Python."""
    return _RENAMED.get(parameter, parameter)


def value_of(text: str | None, kind: dict[str, Any]) -> Any:
    """The Python value of a parameter's text; `kind` is the parameter's declaration in the table of learners."""
    if text is None:
        return None
    match kind["type"]:
        case "integer":
            return int(text)
        case "number":
            return float(text)
        case "boolean":
            return text == "true"
        case "list":
            return tuple(value_of(part, kind["of"]) for part in text.split("/"))
        case "either":
            if text == kind["word"]:
                return None if text == "none" else text
            return value_of(text, kind["or"])
        case _:
            return None if text == "none" else text


def text_of(value: Any, separator: str = "/") -> str:
    """The text of a Python value in a spec; `separator` is between the parts of a list or dictionary."""
    if hasattr(value, "spec") and callable(value.spec):
        return str(value.spec())
    if value is None:
        return "none"
    value = _python_value(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return separator.join(f"{name}:{text_of(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return separator.join(text_of(part, "+") for part in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def _python_value(value: Any) -> Any:
    """A scalar or array of NumPy as a number or list of Python; every other value as it is."""
    return value.tolist() if type(value).__module__ == "numpy" and hasattr(value, "tolist") else value


def spec_of(learner: str, values: dict[str, Any]) -> str:
    """The spec of a learner with these parameters; those that equal their defaults are left out."""
    given = []
    for parameter in table()[learner]["parameters"]:
        name = parameter["name"]
        value = _python_value(values[name])
        default = value_of(parameter.get("default"), parameter)
        if _is_same(value, default):
            if value is None and "default" not in parameter:
                raise of_kind("missing-key", f"{class_name(learner)} needs the parameter '{name}'", parameter["help"])
            continue
        given.append(f"{name}={text_of(value, '+' if name in _SUMS else '/')}")
    return f"{learner}({', '.join(given)})" if given else learner


def _is_same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if isinstance(value, bool) != isinstance(default, bool):
        return False
    try:
        return bool(value == default)
    except (TypeError, ValueError):
        return False
