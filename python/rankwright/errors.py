"""Exceptions: a class for each kind of error of the library, all of them `Error`.

``rankwright.errors.UnknownName`` is the class of the kind ``unknown-name``; ``error.kind`` is the name
of the kind, and a remedy, where there is one, is in ``error.help`` and in the notes of the traceback.
"""

from __future__ import annotations

from rankwright import _native

__all__ = ["Error", "of_kind", "kinds"]


class Error(ValueError):
    """An error of rankwright; subclasses have the names of the kinds of errors."""

    #: The stable name of the kind of error, such as ``unknown-name``.
    kind: str = "error"
    #: What can be done about it, if that is known.
    help: str | None = None


def kinds() -> list[str]:
    """The kinds of errors of the library."""
    return _native.error_kinds()


def _class_name(kind: str) -> str:
    return "".join(word.capitalize() for word in kind.split("-"))


def _class(kind: str) -> type[Error]:
    name = _class_name(kind)
    found = globals().get(name)
    if found is None:
        # An error of the operating system can be caught as one.
        bases = (Error, OSError) if kind == "io" else (Error,)
        found = type(name, bases, {"kind": kind, "__module__": __name__, "__doc__": f"An error of the kind ``{kind}``."})
        globals()[name] = found
    return found


def of_kind(kind: str, message: str, help: str | None = None) -> Error:
    """The exception of an error of this kind."""
    error = _class(kind)(message)
    if help:
        error.help = help
        error.add_note(f"help: {help}")
    return error


def __getattr__(name: str) -> type[Error]:
    for kind in kinds():
        if _class_name(kind) == name:
            return _class(kind)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
