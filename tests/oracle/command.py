"""Runs the command under test and reads its output.

Requested metrics and answers are matched by position, so the tests do not depend on how a spec
is printed back.
"""

import csv
import json
import os
import subprocess
from dataclasses import dataclass

# Per-query values are printed with ten decimals.
PRINTED = 1e-9


def binary():
    """Path of the command; `cargo xtask test` sets it."""
    path = os.environ.get("RANKWRIGHT_BIN")
    if not path:
        raise RuntimeError("RANKWRIGHT_BIN is not set: run `cargo xtask oracles`")
    return path


def run(*words):
    """Runs the command with these arguments; returns the finished process, whatever its exit code."""
    words = [str(word) for word in words]
    return subprocess.run([binary(), *words], capture_output=True, text=True, timeout=120)


@dataclass
class Answer:
    """One metric over one input."""

    name: str
    value: float
    queries: int
    per_query: dict


def evaluate(folder, specs, *source):
    """An answer for each metric spec, in their order; `source` is `--run R --qrels Q` or `--scores S DATA`."""
    table = folder / "per-query.tsv"
    requested = [word for spec in specs for word in ("--metric", spec)]
    done = run("eval", *source, *requested, "--json", "--per-query", table)
    assert done.returncode == 0, done.stderr
    metrics = json.loads(done.stdout)["metrics"]
    assert len(metrics) == len(specs)
    by_name = read_per_query(table)
    return [
        Answer(m["metric"], m["value"], m["queries"], by_name.get(m["metric"], {})) for m in metrics
    ]


def read_per_query(path):
    """`{metric: {query: value}}` of a per-query file; its header is part of the contract."""
    values = {}
    with open(path, newline="", encoding="utf-8") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        assert next(rows) == ["metric", "query", "value"]
        for metric, query, value in rows:
            assert query not in values.setdefault(metric, {}), f"{metric} {query} twice"
            values[metric][query] = float(value)
    return values


def assert_per_query(answer, expected, tolerance=PRINTED):
    """The same queries with the same values; the message shows the first few that differ."""
    assert answer.per_query.keys() == expected.keys(), (
        f"{answer.name}: only here {sorted(answer.per_query.keys() - expected.keys())[:5]}, "
        f"only there {sorted(expected.keys() - answer.per_query.keys())[:5]}"
    )
    wrong = [
        (query, answer.per_query[query], value)
        for query, value in expected.items()
        if not abs(answer.per_query[query] - value) <= tolerance
    ]
    assert not wrong, f"{answer.name}: {len(wrong)} differ (query, ours, oracle): {wrong[:3]}"


def assert_mean(answer, expected, tolerance=PRINTED):
    """The mean that is printed."""
    assert answer.value is not None, answer.name
    assert abs(answer.value - expected) <= tolerance, (answer.name, answer.value, expected)
