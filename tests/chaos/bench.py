"""The folder and the command of the attacks, the faults that can be put into it, and the checks."""

import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).parent
TIME_LIMIT = 60
# Exit codes of a command that was not ended by a signal: done, bad input, usage, interrupted.
ORDERLY = {0, 1, 2, 130}


class Broken(AssertionError):
    """A promise that was not kept."""


class Skipped(Exception):
    """An attack that this system does not allow."""


class Partial(Exception):
    """An attack of which only a part was made; all of that held."""


def check(holds, *what):
    if not holds:
        raise Broken(" ".join(str(part) for part in what))


class Bench:
    """A folder, the command, and the faults that can be put into it."""

    def __init__(self, command, folder, seed):
        self.command = command
        self.folder = folder
        self.random = random.Random(seed)
        self.started = []
        self.faults = folder / "faults.so"
        # Set by the program: the end of the current attack, and limits of what it does.
        self.end = self.most = self.every_call = self.mutations = None
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", self.faults, HERE / "faults.c", "-ldl"], check=True
        )

    def at(self, name):
        return self.folder / name

    def environment(self, fault=None, at=0, count=None, named=False):
        env = dict(os.environ, TMPDIR=str(self.folder / "temporary"))
        if fault or count or named:
            env["LD_PRELOAD"] = str(self.faults)
        if named:
            env["RANKWRIGHT_FAULT_NAMED"] = "1"
        if fault:
            env |= {"RANKWRIGHT_FAULT": fault, "RANKWRIGHT_FAULT_AT": str(at)}
        if count:
            env["RANKWRIGHT_FAULT_COUNT"] = str(count)
        return env

    def run(self, words, fault=None, at=0, count=None, named=False, limits=(), text=True):
        """Runs the command to its end; its output and code."""

        def limit():
            for kind, value in limits:
                resource.setrlimit(kind, (value, value))

        return subprocess.run(
            [self.command, *words.split()],
            cwd=self.folder,
            env=self.environment(fault, at, count, named),
            capture_output=True,
            text=text,
            timeout=TIME_LIMIT,
            preexec_fn=limit,
        )

    def mounted(self, script, words):
        """Runs a script of the shell that may mount, with the command and words as its arguments."""
        process = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", script, self.command, *words.split()],
            cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def ok(self, words, **options):
        done = self.run(words, **options)
        check(done.returncode == 0, words, "ended with", done.returncode, done.stderr[-400:])
        return done

    def stop(self):
        """Ends what an attack has started and left running."""
        while self.started:
            process = self.started.pop()
            if process.poll() is None:
                process.kill()
                process.communicate()

    def start(self, words):
        process = subprocess.Popen(
            [self.command, *words.split()],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # This program may have been started with nohup.
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )
        self.started.append(process)
        return process

    def calls(self, words, named=False):
        """The number of calls of a command that change files."""
        count = self.at("count")
        self.ok(words, count=count, named=named)
        return int(count.read_text())

    def has_time(self):
        return time.monotonic() < self.end

    def moments(self, calls, most):
        """Numbers of calls to strike at: all of them, or the first, the last and some between."""
        most = self.most or most
        if self.every_call or calls <= most:
            return list(range(1, calls + 1))
        ends = most // 4
        middle = self.random.sample(range(ends + 1, calls - ends + 1), most - 2 * ends)
        return sorted([*range(1, ends + 1), *middle, *range(calls - ends + 1, calls + 1)])


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def left_over(folder):
    """Files of unfinished writes: ours, and those of tantivy in an index."""
    return [path.name for pattern in (".rankwright-*", ".tmp*") for path in folder.rglob(pattern)]


def check_clean(folder, kind):
    left = left_over(folder)
    check(not left, kind, "left", left)


def check_clean_index(folder, kind):
    """An index has its description, a lock and one generation; one more may be in use by a reader."""
    check_clean(folder, kind)
    names = sorted(path.name for path in folder.iterdir())
    generations = [name for name in names if name.startswith("generation-")]
    others = [name for name in names if name not in generations]
    check(len(generations) == 1, kind, "left generations", generations)
    check(set(others) <= {"rankwright.json", "building.lock"}, kind, "left", others)


def fresh(bench, name, *files):
    """A new folder with copies of files."""
    folder = bench.at(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in files:
        source = bench.at(file)
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / source.name)
    return folder


def strike(bench, words, prepare, verify, most=60):
    """Strikes a command at its calls, and verifies what is left after each: kills and full disks, on a file
    system with files that have no name and on one without. Returns the number of strikes, and that of the
    calls that could have been struck.
    """
    struck = possible = 0
    for kind, named in [("kill", False), ("full", False), ("kill", True), ("full", True)]:
        prepare()
        calls = bench.calls(words, named)
        possible += calls
        for at in bench.moments(calls, most):
            if not bench.has_time():
                raise Partial(f"{struck} strikes, then out of time")
            prepare()
            done = bench.run(words, fault=kind, at=at, named=named)
            if kind == "kill":
                check(done.returncode == -signal.SIGKILL, words, "was not killed at", at)
            else:
                check(done.returncode in ORDERLY, words, "full disk at", at, done.returncode, done.stderr[-300:])
                if done.returncode == 1:
                    check("o space left" in done.stderr, words, "blames something else:", done.stderr[-300:])
            verify(kind, done)
            struck += 1
    return struck, possible


def strikes(counts):
    """The counts of `strike` in words."""
    struck, possible = counts
    return f"{struck} strikes at {possible} calls" if struck == possible else f"{struck} of {possible} possible strikes"
