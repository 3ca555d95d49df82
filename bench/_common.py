"""Shared by all comparisons: workers in fresh processes, their time and peak memory, tables.

Every measurement is a process of its own, so that no system profits from what another one left in
memory, and the peak is that of one loader. This process stays small (no NumPy): on Linux a child's
peak starts at what its parent held when it was made.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
OUT = BENCH / "out"
MIB = 1 << 20


def program(variable, name):
    """The release build of a program: the path that `cargo xtask bench` sets, or the default folder."""
    path = Path(os.environ.get(variable) or BENCH.parent / "target" / "release" / name)
    if not path.is_file():
        sys.exit(f"{name} is not built; run this as `cargo xtask bench`")
    return str(path)


@dataclass
class Result:
    """One measured process: the seconds that count, its peak memory in bytes and the JSON that it printed."""

    seconds: float
    peak: int
    output: dict


def measure(command):
    """Runs a command that prints one JSON document. Its own `seconds` count where it gives them
    (the work without imports), otherwise the time of the whole process."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    whole = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed with exit code {process.returncode}: {' '.join(command)}")
    output = json.loads(text)
    # macOS counts the peak in bytes, Linux in KiB.
    unit = 1 if sys.platform == "darwin" else 1024
    return Result(output.get("seconds", whole), usage.ru_maxrss * unit, output)


def best_of(repeats, label, command):
    """The fastest of some runs, printed one by one; the peak is the largest of all runs."""
    results = []
    for i in range(repeats):
        results.append(measure(command))
        print(f"  {label}, run {i + 1} of {repeats}: {results[-1].seconds:.2f} s", file=sys.stderr)
    best = min(results, key=lambda result: result.seconds)
    best.peak = max(result.peak for result in results)
    return best


def worker(script, *words):
    """The command that runs a script as a worker: with `--worker` and these words, in a process of its own."""
    return [sys.executable, str(script), "--worker", *map(str, words)]


def timed(work):
    """`(seconds, value)` of a call."""
    started = time.perf_counter()
    value = work()
    return time.perf_counter() - started, value


def made_once(path, make):
    """The path of a cached file or folder. If it is missing, `make` writes it under another name, and it is
    renamed when it is whole."""
    if not path.exists():
        print(f"  making {path.name} (once)", file=sys.stderr)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".part")
        make(partial)
        partial.replace(path)
    return path


def warm(path):
    """Reads a file once, so that every loader finds it in memory and no disk is measured."""
    with open(path, "rb", buffering=0) as file:
        while file.read(8 * MIB):
            pass


def markdown(header, rows):
    """A Markdown table; numbers are right-aligned, the first column is not."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def verdict(claim, met, counts=True):
    """Prints a target and whether it was met; returns whether it was. Targets are set for the full size of
    the data: on less, start-up weighs too much, so `counts` is false and the target is not judged."""
    outcome = "met" if met else "MISSED"
    print(f"- {claim}: {outcome if counts else 'not judged at this size'}")
    return met
