"""Classification of documents by labelled ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rankwright._index import _given
from rankwright._results import Result
from rankwright._scratch import run_task
from rankwright.errors import of_kind


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
        A spec, such as ``"rocchio"``, ``"knn(k=5)"`` or ``"naive-bayes"``; `list_classifiers` has all of them.
    fields
        Fields to classify by: texts, categories or numbers; empty: all text fields, or all number fields of documents
        without text.
    analysis
        How texts become terms, as a spec; None: English words.
    weights
        Weights of terms: ``"tfidf"`` or ``"counts"``; None: those that suit the classifier.
    folds, seed
        Number of folds (None: 5) and seed of the cross validation; an error with `documents`.

    Returns
    -------
    Result
        With `documents`, ``decisions`` has the class and the values of each; without, ``accuracy`` and ``classes`` say how good
        the classifier is on documents that it has not seen.

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
