"""The number of threads of a call."""

from __future__ import annotations

import os


def thread_count(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`; 0 is one for each processor.

    ``None`` respects the limit that joblib sets in its workers (``OMP_NUM_THREADS``), -1 is every
    processor, -2 all but one. Results do not depend on the number of threads.
    """
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return int(limit) if limit.isdigit() else 0
    jobs = int(n_jobs)
    if jobs < 0:
        return max((os.cpu_count() or 1) + 1 + jobs, 1)
    if jobs == 0:
        raise ValueError("n_jobs is 0: it is a number of threads, -1 for all processors, or None")
    return jobs
