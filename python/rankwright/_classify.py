"""Classification of documents by labelled ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rankwright._index import _are_files, _documents
from rankwright._results import Result
from rankwright._scratch import paths_of, run_task
from rankwright.errors import of_kind


def _given(documents: Any) -> Any:
    return paths_of(documents) if _are_files(documents) else _documents(documents)


def classify(
    labelled: Any,
    documents: Any = None,
    *,
    label: str = "class",
    classifier: str = "rocchio",
    fields: Iterable[str] = (),
    analysis: str | None = None,
    weights: str | None = None,
    folds: int | None = None,
    seed: int | None = None,
) -> Result:
    """Classifies documents by labelled ones; without `documents`, cross-validates the classifier on the labelled ones.

    Parameters
    ----------
    labelled, documents
        Dictionaries with an id and fields, a frame, or files; `label` is the field with the class.
    classifier
        A spec: ``"rocchio"``, ``"knn(k=5)"``, ``"naive-bayes"``, ``"svm"``, ``"logistic"``, ``"tree"``, ``"forest"``.
    fields
        Fields to classify by; all text if not given.
    folds, seed
        Of the cross validation.

    Examples
    --------
    >>> import rankwright as rw
    >>> known = [{"id": 1, "text": "jazz band", "class": "music"}, {"id": 2, "text": "night train", "class": "travel"}]
    >>> rw.classify(known, [{"id": 3, "text": "a jazz trio"}]).decisions[0]["class"]
    'music'
    """
    if documents is not None and (folds is not None or seed is not None):
        raise of_kind(
            "option-unused", f"{'folds' if folds is not None else 'seed'} has no effect: documents are classified, and nothing is cross-validated",
            "leave it out; without `documents` the classifier is cross-validated on the labelled ones",
        )
    found = run_task(
        "classify", labelled=_given(labelled), documents=None if documents is None else _given(documents), label=label,
        classifier=classifier, fields=list(fields), analysis=analysis, weights=weights, folds=folds, seed=seed,
    )
    return Result(found, "classes" if documents is None else "decisions")
