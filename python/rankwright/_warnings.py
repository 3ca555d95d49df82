"""Warnings of the library as warnings of Python."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


class RankwrightWarning(UserWarning):
    """A warning of rankwright; ``kind`` is the stable name of its kind, such as ``constant-scores``."""

    kind: str = "warning"


def warn(message: str, category: type[RankwrightWarning] = RankwrightWarning, kind: str | None = None) -> None:
    """Warns the caller of the package: the place of the warning is the line that called into it."""
    warning = category(message)
    if kind is not None:
        warning.kind = kind
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def warn_of(found: Iterable[Mapping[str, Any]]) -> None:
    """Warns of the warnings that a result of the library lists."""
    for warning in found:
        warn(warning["message"], kind=warning["kind"])
