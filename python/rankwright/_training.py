"""Training: callbacks, progress, and the call of the native module."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from rankwright import _native
from rankwright._data import Dataset
from rankwright._evaluation import model_source
from rankwright._model import Model
from rankwright._results import History, Result
from rankwright._scratch import warned
from rankwright._threads import thread_count
from rankwright.errors import of_kind


@dataclass(frozen=True)
class Round:
    """A finished round of a training, as callbacks see it."""

    #: The number of the round, from 1.
    number: int
    #: Values of metrics by set and metric: ``{"valid": {"ndcg@10": 0.5}}``.
    values: dict[str, dict[str, float | None]] = field(default_factory=dict)
    #: The training loss, if it is known.
    loss: float | None = None
    #: The number of leaves of the round's tree.
    leaves: int | None = None
    #: The word for a round: tree, epoch.
    unit: str = ""
    #: The learner that is trained, if it is a member of a blend or a candidate of an automatic choice.
    member: str | None = None
    #: The number of this training among all of them, from 1, and how many are planned, if that is known.
    training: int = 1
    planned: int | None = None
    #: The candidates of an automatic choice so far with their values, the best one first.
    leaders: tuple[tuple[str, float], ...] = ()


#: A function that is called after each round; the training stops if it returns true or raises.
Callback = Callable[[Round], Any]


@dataclass
class Trained:
    """A trained model with its history."""

    model: Model
    history: History
    #: Whether the training reached its end; a callback that returned true stopped it otherwise.
    finished: bool
    #: The candidates of an automatic choice; None for other learners.
    choice: dict[str, Any] | None
    #: What the command prints about the training: weights, values on the validation data, seconds.
    result: Result


@dataclass
class Checkpoint:
    """Folder and times of checkpoints; a training with the same folder resumes."""

    folder: str | os.PathLike[str]
    #: Save after this many rounds; 0 saves by time only.
    every_rounds: int = 0
    #: Save after this many seconds; None: those of the library, a minute.
    every_seconds: float | None = None


class _Events:
    """Receives the events of the native module and calls the callbacks."""

    def __init__(self, callbacks: list[Callback]) -> None:
        self.callbacks = callbacks
        self.sets: list[str] = []
        self.metrics: list[str] = []
        self.unit = ""
        self.member: str | None = None
        self.training, self.planned = 1, None
        self.leaders: tuple[tuple[str, float], ...] = ()

    def __call__(self, event: str, payload: str) -> bool:
        found = json.loads(payload)
        if event == "started":
            history, _ = found
            self.sets, self.metrics, self.unit = history["sets"], history["metrics"], history["unit"]
            return False
        if event == "member":
            self.training = 1 if self.member is None else self.training + 1
            self.member, self.planned, leaders = found
            self.leaders = tuple((name, value) for name, value in leaders)
            return False
        values = {name: dict(zip(self.metrics, row)) for name, row in zip(self.sets, found["values"])}
        one = Round(found["number"], values, found["loss"], found["leaves"], self.unit, self.member, self.training, self.planned, self.leaders)
        # Every callback sees every round, also after one has asked to stop.
        return any([bool(callback(one)) for callback in self.callbacks])


class ProgressLine:
    """Shows the round and the last values: a bar of tqdm if it is installed, else one line."""

    #: Seconds before anything is shown, and between two changes of the line.
    DELAY = 1.0

    def __init__(self, name: str, total: int | None) -> None:
        self.name, self.total = name, total
        self.start = self.shown = time.monotonic()
        self.bar: Any = None

    def __call__(self, one: Round) -> None:
        now = time.monotonic()
        if now - self.shown < self.DELAY:
            return
        self.shown = now
        if one.member is not None:
            self._show_member(one)
            return
        text = "  ".join(
            f"{name} {metric} {value:.4f}"
            for name, row in one.values.items()
            for metric, value in row.items()
            if value is not None
        )
        if self.bar is None:
            self.bar = _tqdm(self.name, self.total, one.unit)
        if self.bar:
            self.bar.n = one.number
            self.bar.set_postfix_str(text)
        else:
            of = f" of {self.total}" if self.total else ""
            print(f"\r{self.name}: {one.unit} {one.number}{of}  {text}", end="", file=sys.stderr, flush=True)

    def _show_member(self, one: Round) -> None:
        """Shows which of several trainings is running, and the best candidate so far."""
        best = f"  best {one.leaders[0][1]:.4f} {one.leaders[0][0]}" if one.leaders else ""
        if self.bar is None:
            self.bar = _tqdm(self.name, one.planned, "training")
        if self.bar:
            self.bar.total = one.planned
            self.bar.n = one.training - 1
            self.bar.set_postfix_str(f"{one.member}{best}")
        else:
            of = f" of {one.planned}" if one.planned else ""
            line = f"{self.name}: training {one.training}{of}  {one.member}{best}"
            print(f"\r{line[:119]:<119}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.bar:
            self.bar.close()
        elif self.bar is not None:
            print(file=sys.stderr)


def _tqdm(name: str, total: int | None, unit: str) -> Any:
    try:
        from tqdm.auto import tqdm  # pyright: ignore[reportMissingModuleSource]
    except ImportError:
        return False
    return tqdm(desc=name, total=total, unit=unit or "round")


def _is_watched() -> bool:
    """Whether a person sees what is printed: a terminal or a notebook."""
    kernel = sys.modules.get("IPython")
    shell = kernel.get_ipython() if kernel is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell" or bool(sys.stderr and sys.stderr.isatty())


def train(
    spec: str,
    data: Dataset,
    *,
    valid: Iterable[tuple[str, Dataset]] = (),
    metrics: Iterable[str] = (),
    evaluate_training: bool = False,
    seed: int | None = None,
    start: Any = None,
    checkpoint: Any = None,
    callbacks: Iterable[Callback] = (),
    progress: bool | str = "auto",
    n_jobs: int | None = None,
    rounds: int | None = None,
    teacher: Any = None,
    teacher_weight: float | None = None,
    unlabelled: Dataset | None = None,
    bias: str | os.PathLike[str] | None = None,
) -> Trained:
    """Trains the learner of a spec such as ``"lambdamart(trees=100)"`` on a data set.

    Parameters
    ----------
    spec, data
        The learner, and the training data.
    valid
        Sets of validation data with their names; the first decides on early stopping.
    metrics
        Metrics of each round; the first decides on early stopping. Empty: the learner's own metric.
    evaluate_training
        Whether to compute the metrics on the training data too.
    seed
        Seed of all random choices; None: the default seed, so that results repeat.
    start, checkpoint, callbacks, progress, teacher, teacher_weight, unlabelled, bias
        As in `Ranker.fit`.
    n_jobs
        Number of threads; None: all.
    rounds
        The number of rounds that the progress shows; None: it is not known.

    Ctrl-C raises KeyboardInterrupt after the current round; with `checkpoint`, the same call resumes.
    """
    called = list(callbacks)
    line = None
    if progress is True or (progress == "auto" and _is_watched()):
        line = ProgressLine(spec.split("(", 1)[0], rounds)
        called.append(line)
    elif progress not in (False, "auto", "off", None):
        raise of_kind("progress", f"progress is True, False or 'auto'; found {progress!r}")
    fields = {
        "learner": spec,
        "data": data._native,
        "valid": [(name, one._native) for name, one in valid],
        "metrics": list(metrics),
        "evaluate_training": evaluate_training,
        "seed": seed,
        "start": _model_or_none(start),
        "checkpoint": _checkpoint(checkpoint),
        "teacher": _model_or_none(teacher),
        "teacher_weight": teacher_weight,
        "unlabelled": unlabelled._native if unlabelled is not None else None,
        "bias": os.fspath(bias) if bias is not None else None,
    }
    if teacher is None and (teacher_weight is not None or unlabelled is not None):
        given = "teacher_weight" if teacher_weight is not None else "unlabelled"
        raise of_kind("option-unused", f"{given} has no effect without a teacher", "give a model as teacher, or leave it out")
    try:
        native, text, history = _native.train(fields, _Events(called) if called else None, thread_count(n_jobs))
    finally:
        if line is not None:
            line.close()
    result = warned(text)
    return Trained(Model._of(native), History(json.loads(history)), not result.get("is_stopped", False), result.get("choice"), Result(result))


def _model_or_none(model: Any) -> Any:
    return None if model is None else model_source(model)


def _checkpoint(value: Any) -> tuple[str, int, float | None] | None:
    if value is None:
        return None
    if isinstance(value, Checkpoint):
        return os.fspath(value.folder), value.every_rounds, value.every_seconds
    return os.fspath(value), 0, None
