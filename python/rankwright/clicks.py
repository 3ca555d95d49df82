"""Click logs: what is in them, click models, position bias, labels, simulation, and the value of other rankers.

A log is a list of result pages that users saw, with their clicks. Every function takes a log in one of these forms:

- a file or a list of files, in any format that ``rankwright clicks`` reads;
- a frame (pandas, Polars, Arrow) or a list of dictionaries, with a row for each shown document (``query``, ``document``,
  ``position``, ``click``) or for each page (``query``, and lists ``docs`` and ``clicks`` of one length);
- the result of `convert` or `simulate`;
- a `Log`, which adds options of reading to any of these.

The *examination* of a rank is the probability that a user looks at the document there, relative to the first rank, which has 1.
Ranks are counted from 1, and in lists of values the first one is that of rank 1. Seeds are 1 if none are given; the same seed gives
the same result on every machine. Parameters that are None have the defaults of the command line.

Results have the fields that the command prints as JSON. What a command writes to a file is a table of the result, unless `out` names
a file. Problems of the log are warnings of the class `rankwright.RankwrightWarning`.

>>> from rankwright import clicks
>>> log = [{"query": "cat", "docs": ["a", "b"], "clicks": [0, 1]}, {"query": "cat", "docs": ["b", "a"], "clicks": [1, 0]}]
>>> clicks.inspect(log).counts["clicks"]
2
>>> clicks.pairs(log).records()
[{'query': 'cat', 'better': 'b', 'worse': 'a', 'weight': 1}]
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from rankwright._data import Dataset
from rankwright._inputs import data_of, examination_of, log_values, model_of, models_of, native_labels, path_or_none, task_result
from rankwright._results import Result
from rankwright._scratch import options_spec
from rankwright.errors import of_kind

__all__ = ["Log", "bias", "convert", "counts", "evaluate", "fit", "inspect", "labels", "pairs", "simulate"]

#: A path of a file to write.
_Path = str | os.PathLike[str] | None


class Log:
    """A click log with options of reading.

    Parameters
    ----------
    source
        A file, several files that are one log, a frame, a list of dictionaries, or a result of `convert` or `simulate`.
    format
        The format of files: ``"jsonl"``, ``"csv"``, ``"tsv"``, ``"parquet"``, ``"yandex-log"`` or ``"yandex-pages"``. If not given,
        it is told by the content of each file.
    columns
        What columns mean, as ``role=column`` separated by commas: ``"query=keyword, document=sku, click=bought"``. Roles are
        impression, session, user, query, document, position, click, click_time, time, ranker, propensity, device and ignore. Columns
        that are not named here are guessed by their names.
    events
        Names of the events that are taken as clicks, such as ``["purchase"]``; by default ``click`` and its usual variants.
    session_gap
        Makes sessions of the users and times of the log: a session ends after this long without an impression or a click, such as
        ``"30m"``, ``"90s"`` or ``"2h"``. By default sessions are those that the log names.
    drop
        What is left out: ``"repeated"`` (clicks on a document that was clicked before on the page), ``"early"`` (clicks before their
        page was shown) and ``"bots"`` (pages of users who are no persons); by default nothing.
    bot_impressions
        Number of pages above which a user, or a session without a user, is a bot (1000).
    bot_seconds
        Mean seconds between at least ten pages of a user below which it is a bot (1).
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
            "events": [events] if isinstance(events, str) else list(events),
            "session_gap": session_gap,
            "drop": [drop] if isinstance(drop, str) else list(drop),
            "bots": options_spec("bots", {"impressions": bot_impressions, "seconds": bot_seconds}),
        }

    def _fields(self) -> dict[str, Any]:
        return {**log_values(self.source, self._options["columns"] is not None), **self._options}


def _log(log: Any) -> dict[str, Any]:
    """A log as the native module takes it."""
    return (log if isinstance(log, Log) else Log(log))._fields()


def inspect(log: Any) -> Result:
    """Counts a log: pages, clicks, queries, sessions and users (``counts``), and click rates by rank (the table ``ranks``).

    ``linked_ranks`` has the groups of ranks that documents were shown at; position bias can be estimated for one group only.
    """
    return task_result("clicks inspect", "ranks", log=_log(log))


def convert(log: Any, to: str | None = None, out: _Path = None) -> Result:
    """Reads a log into a table, or writes it to a file in another format.

    Parameters
    ----------
    to
        The format of the file `out`: ``"ubi"`` (the default), ``"metarank"``, ``"lists"``, ``"parquet"``, ``"yandex-log"``,
        ``"yandex-pages"``, ``"csv"`` or ``"tsv"``. Parts of the log that the format cannot hold are a warning.
    out
        The file to write. Without one, the table ``pages`` has a row for each page, with lists ``docs`` and ``clicks``.
    """
    return task_result("clicks convert", "pages", log=_log(log), to=to, out=path_or_none(out))


def counts(
    log: Any, unit: str | None = None, *, run: str | None = None, min_count: int | None = None, out: _Path = None, format: str | None = None
) -> Result:
    """Counts the clicks on documents or queries, as numbers for features.

    Parameters
    ----------
    unit
        What is counted: each ``"query-document"`` (the default: a document of a query), each ``"document"``, or each ``"query"``.
    run
        Makes a run instead, with this number of each document of each query as its score: ``"clicks"``, ``"impressions"``,
        ``"rate"`` or ``"dwell"``.
    min_count
        Number of pages that a thing must have been shown on to be in the table (1).
    out, format
        A file to write, and its format: ``"csv"``, ``"tsv"`` or ``"jsonl"``, by default that of its name.

    Without `out`, the table ``rows`` has for each thing the number of pages (``impressions``) and of clicks, the share of pages with a
    click (``rate``), and the mean seconds until the next click on the page (``dwell``; None if unknown).
    """
    options = options_spec("counts", {"min_count": min_count})
    return task_result("clicks counts", "rows", log=_log(log), unit=unit, run=run, options=options, out=path_or_none(out), format=format)


def fit(log: Any, model: str | None = None, *, test: Any = None) -> Result:
    """Fits a click model to a log, and measures how well it predicts clicks.

    Parameters
    ----------
    model
        A spec such as ``"pbm"`` or ``"ubm(iterations=20)"``; ``"ubm"`` (the user browsing model) if not given.
    test
        Another log, on which the fitted model is measured, too.

    ``fitted`` and ``test`` have the mean log-likelihood of a page and the perplexities (1 is perfect, 2 a coin toss), as a whole and by
    rank. The table ``parameters`` has the fitted values; those by pair are in the order of ``pairs``.
    """
    other = _log(test) if test is not None else None
    return task_result("clicks fit", "parameters", log=_log(log), model=model, test=other)


def bias(
    log: Any,
    *,
    estimators: Iterable[str] = (),
    features: Any = None,
    by: str | None = None,
    min_shown: int | None = None,
    iterations: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    random_ranker: str | None = None,
) -> Result:
    """Estimates the position bias of a log: the examination of each rank.

    Parameters
    ----------
    estimators
        ``"em"``, ``"regression-em"`` (needs `features`), ``"allpairs"``, ``"adjacent"``, ``"swap"``, ``"randomised"`` (needs pages in
        random order) or ``"click-rate"``, which corrects nothing. By default all that the log and `features` allow.
    features
        Feature data of the documents, with ids of queries and documents: a file, or a `Dataset` with `doc_id`.
    by
        Estimates also for the pages of each value of ``"device"``, ``"ranker"`` or ``"session"`` (the field ``groups``).
    min_shown
        Number of pages that must show a document at each of two ranks before it links them, so that they can be compared (20).
    iterations
        Iterations of expectation maximisation (2000).
    samples
        Number of bootstrap samples of the 95 % intervals (100); 0 makes none.
    random_ranker
        The name of the ranker whose pages are in random order (``"random"``).

    The table ``estimates`` has for each estimator a list ``examination`` and a list of intervals ``ci95``, each with a value for each
    rank (None: no estimate), and the reason if it refused. ``disagreement`` is the largest difference at a rank between estimators.
    """
    options = {"min_shown": min_shown, "iterations": iterations, "samples": samples, "seed": seed, "random_ranker": random_ranker}
    return task_result(
        "clicks bias", "estimates", log=_log(log), estimators=[estimators] if isinstance(estimators, str) else list(estimators),
        features=data_of(features), by=by, options=options_spec("bias", options),
    )


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
    format: str | None = None,
    **bias_options: Any,
) -> Dataset:
    """Makes training data of clicks: feature data whose labels come from a log.

    Parameters
    ----------
    features
        Feature data with ids of queries and documents, which need no labels: a file, or a `Dataset` with `doc_id`.
    out, format
        A file to write as well, and its format; by default that of the extension.
    source
        How labels are made: ``"coec"`` (clicks over expected clicks, the default), ``"sdbn"`` (the simplified dynamic Bayesian network),
        ``"ips"`` (clicks divided by the examination of their rank) or ``"dr"`` (doubly robust: ips that corrects a regression on features).
    examination
        For ips and dr: the name of an estimator (``"em"`` by default), a result of `bias`, a file, or a number for each rank.
    clip
        The largest weight 1 / examination of a click; by default weights are not limited.
    grades
        Cuts labels into this many whole grades; by default they stay numbers.
    unshown
        Rows that the log does not show are left out (``"drop"``, the default) or kept (``"keep"``) with label and weight 0.
    bias_options
        Options of the estimator, as in `bias`: ``min_shown``, ``iterations`` and ``random_ranker``.

    Returns the data: each row has the number of its pages as weight, and its most frequent rank as position.
    """
    found, data = native_labels({
        "log": _log(log), "features": data_of(features), "out": path_or_none(out), "format": format, "source": source, "unshown": unshown,
        "options": options_spec("labels", {"clip": clip, "grades": grades}), "bias": options_spec("bias", bias_options),
        **examination_of(examination),
    })
    return Dataset._of(data) if data is not None else Dataset(found["out"], format=found["format"])


def pairs(log: Any, out: _Path = None, *, rules: Iterable[str] = (), min_count: int | None = None) -> Result:
    """Finds preferences between documents: which one users preferred to which.

    Parameters
    ----------
    out
        A file of pairs to write, which a training reads.
    rules
        ``"skip-above"`` (the default: a clicked document is better than those above it without a click), ``"last-skip-above"``,
        ``"earlier-click"``, ``"skip-previous"`` or ``"next"``.
    min_count
        Number of pages in which a preference must occur (1).

    Without `out`, the table ``rows`` has ``query``, ``better``, ``worse`` and, as ``weight``, the number of pages.
    """
    rules = [rules] if isinstance(rules, str) else list(rules)
    options = options_spec("pairs", {"min_count": min_count})
    return task_result("clicks pairs", "rows", log=_log(log), rules=rules, options=options, out=path_or_none(out))


def simulate(
    data: Any,
    out: _Path = None,
    *,
    user: str | None = None,
    model: Any = None,
    feature: str | None = None,
    ranker: str | None = None,
    reverse: bool = False,
    sessions: int | None = None,
    top: int | None = None,
    seed: int | None = None,
    count_pages: bool = False,
) -> Result:
    """Simulates users who click on rankings of labelled data.

    Parameters
    ----------
    data
        Labelled feature data: a file, or a `Dataset`. The labels are the grades that users see.
    out
        The file of the log (JSON lines). Without one, the table ``pages`` of the result is the log; every function here takes the result.
    user
        How users look and click, such as ``"pbm(eta=1, noise=0.1)"``, ``"cascade"``, ``"dbn"`` or ``"trust"``; ``"pbm"`` by default.
    model, feature
        What rankings are made by: a model, or the name or number of a feature (one of the two is needed).
    ranker
        How pages are made of the scores: ``"fixed"`` (the default: the highest first), ``"plackett-luce(temperature=1)"`` or
        ``"random"``; the last two draw pages, whose probabilities the log has as propensities.
    reverse
        Shows the lowest scores first.
    sessions
        Number of pages of each query (10).
    top
        Number of documents of a page; by default all.
    count_pages
        Writes equal pages of a query as one row with their number (``count``), so that a log of many sessions stays small.
    """
    if model is None and feature is None:
        raise of_kind("no-scores", "there is nothing to rank documents by", "give a model or a feature")
    if model is not None and feature is not None:
        raise of_kind("option-unused", "feature has no effect: the model ranks documents", "give a model or a feature")
    return task_result(
        "clicks simulate", "pages", data=data_of(data), out=path_or_none(out), user=user, ranker=ranker, reverse=reverse,
        model=model_of(model) if model is not None else None, feature=str(feature) if feature is not None else None,
        options=options_spec("simulate", {"sessions": sessions, "top": top, "seed": seed}), count_pages=count_pages,
    )


def evaluate(
    log: Any,
    models: Any,
    features: Any,
    metric: str | None = None,
    *,
    examination: Any = None,
    bias: Mapping[str, Any] | None = None,
    estimator: str | None = None,
    propensity: str | None = None,
    clip: float | None = None,
    min_overlap: float | None = None,
    unit: str | None = None,
    samples: int | None = None,
    seed: int | None = None,
) -> Result:
    """Estimates the value that models would have, from the log of another ranker.

    Parameters
    ----------
    models
        A model, a list of models, or a dictionary that names them; others are compared with the first.
    features
        Feature data that the models rank, with ids of queries and documents: a file, or a `Dataset` with `doc_id`.
    metric
        A metric that is a sum over ranks: ``dcg``, ``p`` or ``rbp``; ``"dcg@10"`` if not given.
    examination, bias
        The examination of ranks, as in `labels`, and a dictionary of options of its estimator.
    estimator
        ``"ips"`` (the default), ``"snips"``, ``"dm"`` or ``"dr"``.
    propensity
        Weights clicks by the ``"examination"`` of ranks (the default), or by the probabilities of the ``"page"`` that the log has.
    clip
        The largest weight of a click; by default weights are not limited.
    min_overlap
        The share of the metric's weight, from 0 to 1, that the log must cover; below it the estimate is refused.
    unit
        What the bootstrap of the intervals draws: each ``"query"`` with all its pages (the default), or each ``"impression"`` (page).
    samples
        Number of bootstrap samples; 0 makes no intervals.

    The table ``models`` has for each model its ``value`` with a 95 % interval (``ci95``), the difference from the first model, and the
    share of the metric's weight that the log covers (``overlap``).
    """
    options = {
        "estimator": estimator, "propensity": propensity, "clip": clip, "min_overlap": min_overlap, "unit": unit, "samples": samples, "seed": seed,
    }
    return task_result(
        "clicks evaluate", "models", log=_log(log), models=models_of(models), features=data_of(features), metric=metric,
        bias=options_spec("bias", bias or {}), options=options_spec("evaluate", options), **examination_of(examination),
    )
