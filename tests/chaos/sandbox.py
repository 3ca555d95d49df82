"""The folder and the command of the attacks, the faults that can be put into the command, and the checks."""

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


class Sandbox:
    """The folder of the attacks, and the command under test, which runs in it with or without a fault.

    `words` are the arguments of the command in one text. A fault is `kill` (the process is killed before call
    `at`) or `full` (from call `at` on the disk is full); calls that change files are counted from 1. With `named`,
    the file system has no files without a name (O_TMPFILE). `count` is the file that gets the number of calls.
    """

    def __init__(self, command, folder, seed):
        self.command = command
        self.folder = folder
        self.random = random.Random(seed)
        self.started = []
        self.faults = folder / "faults.so"
        # Set by chaos.py: the end of the current attack (a time of time.monotonic), the largest number of faults of a
        # kind, whether all calls get a fault, and the number of damaged files.
        self.end = self.max_faults = self.every_call = self.mutations = None
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
        """Runs the command to its end; returns its output and exit code."""

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

    def calls_to_hit(self, calls, max_faults):
        """The numbers of the calls that get a fault: all of them, or the first, the last and some between."""
        max_faults = self.max_faults or max_faults
        if self.every_call or calls <= max_faults:
            return list(range(1, calls + 1))
        ends = max_faults // 4
        middle = self.random.sample(range(ends + 1, calls - ends + 1), max_faults - 2 * ends)
        return sorted([*range(1, ends + 1), *middle, *range(calls - ends + 1, calls + 1)])


def digest(path):
    """The hash of a file's content; None if there is no file."""
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


def fresh(sandbox, name, *files):
    """Replaces a folder by a new one with copies of files."""
    folder = sandbox.at(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in files:
        source = sandbox.at(file)
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / source.name)
    return folder


def inject_faults(sandbox, words, prepare, verify, max_faults=60):
    """Runs a command again and again, each time with a fault at one of its calls that change files, and verifies
    what is left: kills and full disks, on a file system that has files without a name and on one that has not.

    `prepare` makes the files before each run, and `verify` gets the kind of fault and the finished process. Returns
    the number of faults, and the number of calls that could have had one.
    """
    injected = possible = 0
    for kind, named in [("kill", False), ("full", False), ("kill", True), ("full", True)]:
        prepare()
        calls = sandbox.calls(words, named)
        possible += calls
        for at in sandbox.calls_to_hit(calls, max_faults):
            if not sandbox.has_time():
                raise Partial(f"{injected} faults, then out of time")
            prepare()
            done = sandbox.run(words, fault=kind, at=at, named=named)
            if kind == "kill":
                check(done.returncode == -signal.SIGKILL, words, "was not killed at", at)
            else:
                check(done.returncode in ORDERLY, words, "full disk at", at, done.returncode, done.stderr[-300:])
                if done.returncode == 1:
                    check("o space left" in done.stderr, words, "blames something else:", done.stderr[-300:])
            verify(kind, done)
            injected += 1
    return injected, possible


def faults_in_words(counts):
    """The counts of `inject_faults` in words."""
    injected, possible = counts
    return f"{injected} faults at {possible} calls" if injected == possible else f"{injected} of {possible} possible faults"
