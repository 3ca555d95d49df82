"""Warnings of the library as warnings of Python."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any

# The folder of the package with a separator at the end, so that no other path starts with it.
_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class RankwrightWarning(UserWarning):
    """A warning of rankwright; ``kind`` is the stable name of its kind, such as ``constant-scores``."""

    kind: str = "warning"


def warn(message: str, category: type[RankwrightWarning] = RankwrightWarning, kind: str | None = None) -> None:
    """Warns the caller of the package: the warning names the line of the caller that called into the package."""
    warning = category(message)
    if kind is not None:
        warning.kind = kind
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def warn_of(found: Iterable[Mapping[str, Any]], *, without: Collection[str] = ()) -> None:
    """Gives each warning that a result of the library lists, but for those of some kinds."""
    for warning in found:
        if warning["kind"] not in without:
            warn(warning["message"], kind=warning["kind"])
