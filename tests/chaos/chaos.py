"""Attacks on the command: kills, full disks, limits, concurrent runs, bombs and damaged files.

    python chaos.py COMMAND [--seconds 900] [--seed 1] [--only NAME ...] [--table FILE] [--short]

Everything happens in a temporary folder, and every attack ends by itself. An attack makes files,
disturbs a command many times, and looks at what a person would look at afterwards: is the old or
the new result there and whole, does the next command go on, is anything left behind? It prints a
row per attack and ends with code 1 if one did not hold.
"""

import argparse
import concurrent.futures
import contextlib
import gzip
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
TIME_LIMIT = 60
# Exit codes of a command that was not ended by a signal: done, bad input, usage, interrupted.
ORDERLY = {0, 1, 2, 130}


class Broken(AssertionError):
    """A promise that was not kept."""


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
        if calls <= most:
            return range(1, calls + 1)
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


# ------------------------------------------------------------------------------- kills and full disks


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
    """Strikes a command at its calls, and verifies what is left after each: kills and full disks, on
    a file system with files that have no name and on one without.
    """
    struck = 0
    for kind, named in [("kill", False), ("full", False), ("kill", True), ("full", True)]:
        prepare()
        calls = bench.calls(words, named)
        for at in bench.moments(calls, bench.most or most):
            if not bench.has_time():
                return f"{struck} strikes, then out of time"
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
    return f"{struck} strikes at {calls} calls"


def convert(bench):
    """A conversion over an older file is struck: the old or the new file is there"""
    words = "data convert train.txt w/out.rwd"
    bench.ok("data convert train.txt new.rwd")
    bench.ok("data convert valid.txt old.rwd")
    new, old = digest(bench.at("new.rwd")), digest(bench.at("old.rwd"))

    def prepare():
        shutil.copy(bench.at("old.rwd"), fresh(bench, "w") / "out.rwd")

    def verify(kind, done):
        found = digest(bench.at("w/out.rwd"))
        check(found in {new, old}, kind, "left a half file")
        bench.ok("data convert train.txt w/out.rwd")
        check_clean(bench.at("w"), kind)

    return strike(bench, words, prepare, verify)


def split(bench):
    """A split over an older split is struck: all parts are of one split"""
    parts = "--parts train=0.5,valid=0.2,test=0.3"
    if "--force" in bench.ok("data split --help").stdout:
        parts += " --force"
    names = ["train.txt", "valid.txt", "test.txt"]
    for seed in (1, 2):
        fresh(bench, f"s{seed}")
        bench.ok(f"data split train.txt {parts} --seed {seed} --out s{seed}")
    sets = {tuple(digest(bench.at(f"s{seed}") / name) for name in names) for seed in (1, 2)}

    def prepare():
        fresh(bench, "w")
        for name in names:
            shutil.copy(bench.at("s1") / name, bench.at("w") / name)

    def verify(kind, done):
        # Reading a part finishes a switch that was killed, and so does looking for room in its folder.
        bench.ok(bench.random.choice([
            "data inspect w/test.txt --quiet", "train w/train.txt --learner mart(trees=1) --out w/m.model",
        ]))
        found = tuple(digest(bench.at("w") / name) for name in names)
        check(found in sets, kind, "left parts of two splits side by side")
        bench.ok("data convert w/test.txt w/test.rwd")
        check_clean(bench.at("w"), kind)

    return strike(bench, f"data split train.txt {parts} --seed 2 --out w", prepare, verify)


def train(bench):
    """A training with checkpoints is struck and run again: the model is the same to the byte"""
    spec = "lambdamart(trees=12,leaves=7)"
    words = f"train train.txt --learner {spec} --out w/m.model --checkpoint w/save --checkpoint-trees 3"
    fresh(bench, "w")
    bench.ok(words)
    expected = digest(bench.at("w/m.model"))

    def verify(kind, done):
        found = digest(bench.at("w/m.model"))
        check(found in {None, expected}, kind, "left a half model")
        bench.ok(words)
        check(digest(bench.at("w/m.model")) == expected, kind, "resumed to another model")
        check_clean(bench.at("w"), kind)

    return strike(bench, words, lambda: fresh(bench, "w"), verify)


def index(bench):
    """The rebuild of an index is struck: the old or the new one can be searched"""
    words = "index more.jsonl --out w/shop --rebuild"

    def prepare():
        fresh(bench, "w")
        shutil.copytree(bench.at("i/shop"), bench.at("w/shop"))

    def found(query):
        return json.loads(bench.ok(f"search w/shop {query} --json").stdout)["found"]

    def verify(kind, done):
        old, new = found("train"), found("zebra")
        check((old > 0) != (new > 0), kind, "left neither the old nor the new index:", old, new)
        bench.ok(words)
        check(found("zebra") > 0 and found("train") == 0, kind, "cannot be built again")
        check_clean_index(bench.at("w/shop"), kind)

    return strike(bench, words, prepare, verify, most=40)


def add(bench):
    """An addition to an index is struck: no old document is lost"""
    words = "index more.jsonl --out w/shop --add"

    def prepare():
        fresh(bench, "w")
        shutil.copytree(bench.at("i/shop"), bench.at("w/shop"))

    def verify(kind, done):
        for query, least in (("train", 1), ("zebra", 0)):
            count = json.loads(bench.ok(f"search w/shop {query} --json").stdout)["found"]
            check(count >= least, kind, "lost the old documents")
        bench.ok(words)
        check(json.loads(bench.ok("search w/shop zebra --json").stdout)["found"] > 0, "not added")
        check_clean_index(bench.at("w/shop"), kind)

    return strike(bench, words, prepare, verify, most=40)


def experiment(bench):
    """An experiment is struck and run again: the results are the same to the byte"""
    words = "experiment small.toml --out w/study"
    fresh(bench, "w")
    bench.ok(words)
    expected = digest(bench.at("w/study/results.json"))

    def verify(kind, done):
        bench.ok(words)
        check(digest(bench.at("w/study/results.json")) == expected, kind, "resumed to other results")
        check_clean(bench.at("w"), kind)
        parts = [path.name for path in bench.at("w/study/cells").iterdir() if path.suffix]
        check(not parts, kind, "left cells", parts)

    return strike(bench, words, lambda: fresh(bench, "w"), verify, most=30)


def outputs(bench):
    """Other verbs that write a file are struck: the file is whole or not there"""
    fresh(bench, "w")
    bench.ok("train train.txt --learner ranksvm --out linear.model")
    bench.ok("train train.txt --learner lambdamart(trees=5,leaves=7) --out trees.model")
    bench.ok("index docs.jsonl --out w/shop")
    total = 0
    for words, out in [
        ("score linear.model valid.txt --out o/scores", "scores"),
        ("run w/shop --queries queries.tsv --out o/run", "run"),
        ("eval linear.model valid.txt --per-query o/table", "table"),
        ("model convert trees.model --to lightgbm --out o/lightgbm", "lightgbm"),
        ("report data valid.txt --out o/page.html", "page.html"),
    ]:
        fresh(bench, "o")
        done = bench.run(words)
        if done.returncode == 2:
            raise Broken(f"{words}: {done.stderr[-300:]}")
        expected = digest(bench.at("o") / out)
        check(expected, words, "wrote nothing")

        def verify(kind, done, words=words, out=out, expected=expected):
            found = digest(bench.at("o") / out)
            check(found in {None, expected}, words, kind, "left a half file")
            bench.run(words)
            check(digest(bench.at("o") / out) == expected, words, kind, "cannot be run again")
            check_clean(bench.at("o"), kind)

        strike(bench, words, lambda: fresh(bench, "o"), verify, most=20)
        total += 1
    return f"{total} verbs"


def random_kills(bench):
    """Kills at random times, which also strike between calls."""
    words = "train train.txt --learner lambdamart(trees=60,leaves=15) --out w/m.model --checkpoint w/save --checkpoint-trees 5"
    fresh(bench, "w")
    begin = time.monotonic()
    bench.ok(words)
    took = time.monotonic() - begin
    expected = digest(bench.at("w/m.model"))
    kills = 0
    for _ in range(6):
        fresh(bench, "w")
        for _ in range(12):
            process = bench.start(words)
            try:
                process.wait(timeout=bench.random.uniform(0.05, took))
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        bench.ok(words)
        check(digest(bench.at("w/m.model")) == expected, "resumed to another model")
    return f"{kills} kills"


def signals(bench):
    """A command that is asked to end saves its state, or ends and leaves nothing."""
    words = "train train.txt --learner lambdamart(trees=4000,leaves=31) --out w/m.model"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        fresh(bench, "w")
        process = bench.start(words)
        time.sleep(2.0)
        process.send_signal(number)
        out, err = process.communicate(timeout=TIME_LIMIT)
        check(process.returncode == 130, number.name, "ended with", process.returncode, err[-300:])
        check(bench.at("w/m.model.checkpoint").is_dir(), number.name, "saved nothing")
        check(not left_over(bench.at("w")), number.name, "left", left_over(bench.at("w")))
    sent = 3
    for words in [
        "data generate letor --queries 4000 --documents 60 --out w/g.txt",
        "data convert large.txt w/c.csv.gz",
        "data split large.txt --out w/split",
        "features i/shop --queries many.tsv --qrels qrels.txt --out w/f.rwd",
        "run i/shop --queries many.tsv --out w/r.run",
        "cv train.txt --learner lambdamart(trees=4000)",
        "tune train.txt --valid valid.txt --learner lambdamart(trees=4000)",
        "report shrinkage train.txt --trees 4000 --out w/page.html",
        "index large.jsonl --out w/shop",
        "demo",
    ]:
        for _ in range(3):
            fresh(bench, "w")
            process = bench.start(words)
            time.sleep(bench.random.uniform(0.2, 1.2))
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=TIME_LIMIT)
            check(process.returncode in {0, 130}, words, "ended with", process.returncode, err[-300:])
            check(not left_over(bench.at("w")), words, "left", left_over(bench.at("w")))
            left = [path.name for path in bench.at("temporary").iterdir()]
            check(not left, words, "left in the temporary folder", left)
            sent += 1
    return f"{sent} signals"


# --------------------------------------------------------------------------------------------- limits


def limits(bench):
    """A limit on the size of files is an error, not a death; so is one on open files."""
    fresh(bench, "w")
    bench.ok("train train.txt --learner ranksvm --out linear.model")
    tried = 0
    for words in [
        "data convert train.txt w/big.txt",
        "data convert train.txt w/big.rwd",
        "train train.txt --learner lambdamart(trees=20) --out w/m.model",
        "index docs.jsonl --out w/shop",
        "data generate letor --queries 50 --documents 20 --out w/g.txt",
    ]:
        done = bench.run(words, limits=[(resource.RLIMIT_FSIZE, 4096)])
        check(done.returncode == 1, words, "ended with", done.returncode, done.stderr[-300:])
        check(not left_over(bench.at("w")), words, "left", left_over(bench.at("w")))
        done = bench.run(words, limits=[(resource.RLIMIT_NOFILE, 12)])
        check(done.returncode in ORDERLY, words, "ended with", done.returncode, done.stderr[-300:])
        tried += 2
    return f"{tried} limits"


def small_disk(bench):
    """A real disk of 32 KB that becomes full; the result is an error that says so, and nothing else."""
    fresh(bench, "w")
    tried = 0
    for words in [
        "data convert train.txt w/big.csv",
        "data convert train.txt w/big.rwd",
        "data split train.txt --out w/parts",
        "train train.txt --learner lambdamart(trees=60,leaves=31,min_rows=1) --out w/m.model",
        "index large.jsonl --out w/shop",
    ]:
        script = "mount -t tmpfs -o size=32k none w && \"$0\" \"$@\"; code=$?; ls -A w; exit $code"
        done = bench.mounted(script, words)
        if "mount:" in done.stderr or "unshare:" in done.stderr:
            return "not possible here: " + done.stderr.strip().splitlines()[-1][:60]
        check(done.returncode == 1, words, "ended with", done.returncode, done.stderr[-300:])
        check("o space left" in done.stderr, words, "blames something else:", done.stderr[-300:])
        left = [name for name in done.stdout.split() if name not in {"shop", "parts"}]
        check(not left, words, "left", left)
        tried += 1
    return f"{tried} commands"


def read_only(bench):
    """A read-only index can be searched, and writing into a read-only folder is an error."""
    fresh(bench, "w")
    bench.ok("index docs.jsonl --out w/shop")
    script = ('mount --bind w w && mount -o remount,ro,bind w && "$0" "$@" && '
              '! "$0" data convert train.txt w/x.rwd')
    mounted = bench.mounted(script, "search w/shop train --json")
    if "mount" in mounted.stderr or "unshare" in mounted.stderr:
        return "not possible here: " + mounted.stderr.strip().splitlines()[-1][:60]
    check(mounted.returncode == 0, "read-only mount:", mounted.stderr[-300:])
    check("ead-only" in mounted.stderr, "blames something else:", mounted.stderr[-300:])
    check(json.loads(mounted.stdout)["found"] > 0, "found nothing")
    return "searched"


# ---------------------------------------------------------------------------------------- concurrency


def two_trainings(bench):
    """Two trainings cannot share a checkpoint folder; a lock of a dead one is no obstacle."""
    fresh(bench, "w")
    words = "train train.txt --learner lambdamart(trees=4000) --out w/{}.model --checkpoint w/save --checkpoint-trees 1"
    first = bench.start(words.format("a"))
    time.sleep(1.5)
    second = bench.run(words.format("b"))
    check(second.returncode == 1, "the second training ended with", second.returncode)
    check("another" in second.stderr, "the second training says:", second.stderr[-300:])
    first.kill()
    first.wait()
    third = bench.start(words.format("a"))
    time.sleep(1.5)
    check(third.poll() is None, "the lock of a killed training is still there")
    third.send_signal(signal.SIGINT)
    third.communicate(timeout=TIME_LIMIT)
    return "refused and taken over"


def same_output(bench):
    """Several commands that write the same file at once leave one whole result."""
    fresh(bench, "w")
    results = set()
    for name in ("train", "valid"):
        bench.ok(f"data convert {name}.txt {name}.rwd")
        results.add(digest(bench.at(f"{name}.rwd")))
    for _ in range(10):
        running = [bench.start(f"data convert {name}.txt w/out.rwd") for name in ("train", "valid") * 2]
        for process in running:
            process.communicate(timeout=TIME_LIMIT)
            check(process.returncode == 0, "a conversion ended with", process.returncode)
        check(digest(bench.at("w/out.rwd")) in results, "left a mixture")
        check(not left_over(bench.at("w")), "left", left_over(bench.at("w")))
    return "40 conversions"


def search_during_rebuild(bench):
    """Searches never fail while the index is rebuilt again and again."""
    fresh(bench, "w")
    bench.ok("index docs.jsonl --out w/shop")
    end = time.monotonic() + 15
    searches = rebuilds = 0
    builder = None
    while time.monotonic() < end:
        if builder is None or builder.poll() is not None:
            check(builder is None or builder.returncode == 0, "a rebuild failed")
            builder = bench.start("index docs.jsonl --out w/shop --rebuild --quiet")
            rebuilds += 1
        found = json.loads(bench.ok("search w/shop train --json").stdout)
        check(found["found"] > 0, "a search found nothing")
        searches += 1
    builder.communicate(timeout=TIME_LIMIT)
    return f"{searches} searches, {rebuilds} rebuilds"


# ---------------------------------------------------------------------------------- bombs and mutations


def bombs(bench):
    """Small files that unpack to gigabytes, or claim to be wide, are refused in little memory."""
    fresh(bench, "w")
    part = gzip.compress(b"0 qid:1 1:0\n" * 1_000_000)
    bench.at("w/bomb.gz").write_bytes(part * 800)
    line = b"0 qid:1 1:0\n" * 1_000_000
    plain = bench.at("w/plain")
    plain.write_bytes(line)
    zstd = subprocess.run(["zstd", "-q", "-c", str(plain)], capture_output=True)
    names = ["bomb.gz"]
    if zstd.returncode == 0:
        bench.at("w/bomb.zst").write_bytes(zstd.stdout * 800)
        names.append("bomb.zst")
    rows = "".join(f"{i % 2} qid:{i // 7} 16777216:1\n" for i in range(21))
    bench.at("w/wide.txt").write_text(rows)
    bench.at("w/wide.csv").write_text(
        "qid,label," + ",".join(f"f{i}" for i in range(1_000_000)) + "\n" + "1,0" + ",0" * 1_000_000 + "\n"
    )
    # Rows of equal values cost nothing in a column, but memory when they are read: 16 bytes each here.
    rows = "".join(f"{row // 1000},{row % 2},1\n" for row in range(400_000))
    bench.at("w/rows.csv").write_text("qid,label,x\n" + rows)
    bench.ok("data convert w/rows.csv w/rows.parquet")
    for words in ["data inspect w/rows.parquet", "train w/rows.parquet --learner mart(trees=1) --out w/m"]:
        done = bench.run(words + " --max-memory 4M")
        check(done.returncode == 1, words, "took more than it may:", done.stderr[-300:])
        check("the limit for an input" in done.stderr, words, "blames something else:", done.stderr[-300:])
    names += ["wide.txt", "wide.csv"]
    tried = 2
    for name in names:
        for words in ["data inspect w/{}", "data convert w/{} w/out.rwd", "train w/{} --learner mart(trees=2) --out w/m"]:
            begin = time.monotonic()
            done, memory = measured(bench, words.format(name))
            took = time.monotonic() - begin
            check(done in {0, 1}, words.format(name), "ended with", done)
            check(memory < 2 << 30, words.format(name), f"took {memory >> 20} MiB")
            check(took < 30, words.format(name), f"took {took:.0f} s")
            if name.startswith("bomb"):
                check(done == 1, words.format(name), "was not refused")
            tried += 1
    return f"{tried} commands"


def measured(bench, words):
    """The exit code and the largest memory of a command."""
    process = subprocess.Popen(
        [bench.command, *words.split()], cwd=bench.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024


def mutations(bench):
    """Damaged files give a result or an error, never a panic, a signal or a hang."""
    fresh(bench, "w")
    bench.ok("train train.txt --learner lambdamart(trees=5,leaves=7) --out trees.model")
    bench.ok("train train.txt --learner ranknet(epochs=1) --out net.model")
    for name in ["lightgbm", "xgboost", "onnx", "ranklib", "solr", "elasticsearch"]:
        bench.run(f"model convert trees.model --to {name} --out w/trees.{name}")
    for name in ["d.rwd", "d.csv", "d.jsonl", "d.parquet", "d.arrow", "d.txt.zst"]:
        bench.run(f"data convert valid.txt w/{name}")
    bench.ok("index docs.jsonl --out shop --rebuild") if bench.at("shop").exists() else bench.ok("index docs.jsonl --out shop")
    bench.ok("run shop --queries queries.tsv --out w/a.run")
    shutil.copy(bench.at("docs.jsonl"), bench.at("w/docs.jsonl"))
    shutil.copy(bench.at("pairs.tsv"), bench.at("w/pairs.tsv"))
    shutil.copy(bench.at("small.toml"), bench.at("w/small.toml"))
    targets = [(path, "score {} valid.txt --out {folder}/x") for path in sorted(bench.at("w").glob("trees.*"))]
    targets += [(bench.at(name), "score {} valid.txt --out {folder}/x") for name in ("trees.model", "net.model")]
    targets += [(path, "data inspect {}") for path in sorted(bench.at("w").glob("d.*"))]
    targets += [
        (bench.at("train.txt"), "data inspect {}"),
        (bench.at("w/a.run"), "eval --run {} --qrels qrels.txt --metric ndcg@10"),
        (bench.at("qrels.txt"), "eval --run w/a.run --qrels {} --metric ndcg@10"),
        (bench.at("w/docs.jsonl"), "index {} --out {folder}/shop --rebuild"),
        (bench.at("queries.tsv"), "run shop --queries {} --out {folder}/y.run"),
        (bench.at("w/pairs.tsv"), "train train.txt --pairs {} --learner ranksvm --out {folder}/z.model"),
        (bench.at("w/small.toml"), "experiment {} --dry-run"),
    ]
    inside = [path for path in bench.at("shop").rglob("*") if path.is_file() and path.stat().st_size]
    targets += [(path, "search {folder}/shop train") for path in sorted(inside)]
    end = time.monotonic() + bench.mutation_seconds
    workers = os.cpu_count() or 1
    done = 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        while done < bench.mutations and time.monotonic() < end:
            # Drawn one after the other, so that the same seed damages the same files.
            numbers = range(done, min(done + workers, bench.mutations))
            chosen = [targets[number % len(targets)] for number in numbers]
            damages = [mutated(bench.random, source.read_bytes()) for source, _ in chosen]
            list(pool.map(lambda at: try_damaged(bench, at, *chosen[at], damages[at]), range(len(chosen))))
            done += len(chosen)
    return f"{done} files"


def try_damaged(bench, worker, source, words, damage):
    """Runs a command on a damaged file, in a folder of the worker's own."""
    folder = fresh(bench, f"damaged-{worker}")
    damaged = folder / ("file" + "".join(source.suffixes))
    if source.is_relative_to(bench.at("shop")):
        shutil.copytree(bench.at("shop"), folder / "shop")
        damaged = folder / "shop" / source.relative_to(bench.at("shop"))
    damaged.write_bytes(damage)
    name = damaged.relative_to(bench.folder)
    ran = bench.run(words.format(name, folder=folder.name) + " --threads 1", text=False)
    if ran.returncode not in {0, 1, 2}:
        shutil.copy(damaged, bench.at("broken" + "".join(source.suffixes)))
        raise Broken(f"{words.format(source.name, folder='')} ended with {ran.returncode}: {ran.stderr[-300:]!r}")


def mutated(rng, data):
    """Bytes with one to four changes: bits, bytes, cuts, repeats, other numbers."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not data:
            break
        at = rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at : at + rng.randint(1, 40)]
        elif kind == 4:
            part = data[at : at + rng.randint(1, 40)]
            data[at:at] = part * rng.randint(1, 3)
        else:
            data[at : at + 1] = rng.choice([b"-1", b"99999999999", b"nan", b"1e999", b"\x00", b"\xff\xff\xff\xff", b"{", b'"'])
    return bytes(data)


ATTACKS = [
    convert,
    split,
    train,
    index,
    add,
    experiment,
    outputs,
    random_kills,
    signals,
    limits,
    small_disk,
    read_only,
    same_output,
    two_trainings,
    search_during_rebuild,
    bombs,
    mutations,
]


# A few strikes each, as part of the tests.
SHORT = [convert, split, train]


def prepare(bench):
    bench.at("temporary").mkdir()
    bench.ok("data generate letor --queries 60 --documents 20 --seed 1 --out train.txt")
    bench.ok("data generate letor --queries 20 --documents 20 --seed 2 --out valid.txt")
    words = ["train", "blue", "shoe", "river", "night", "music"]
    lines = []
    for i in range(300):
        text = " ".join(bench.random.choice(words) for _ in range(12)) + " train"
        lines.append(json.dumps({"id": f"d{i}", "title": f"{words[i % 6]} {i}", "text": text, "price": i}))
    bench.at("docs.jsonl").write_text("\n".join(lines) + "\n")
    more = [json.dumps({"id": f"n{i}", "title": f"zebra {i}", "text": "zebra night", "price": i}) for i in range(50)]
    bench.at("more.jsonl").write_text("\n".join(more) + "\n")
    bench.at("queries.tsv").write_text("q1\tblue train\nq2\tnight music\n")
    bench.at("qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n")
    bench.at("many.tsv").write_text("".join(f"q{i}\tblue train {i}\n" for i in range(20_000)))
    bench.ok("data generate letor --queries 400 --documents 60 --seed 3 --out large.txt")
    bench.at("large.jsonl").write_text("".join(
        json.dumps({"id": f"l{i}", "title": f"night {i}", "text": f"river {i % 97} music {i % 89} " * 12}) + "\n"
        for i in range(20_000)
    ))
    bench.ok("index docs.jsonl --out i/shop")
    bench.at("pairs.tsv").write_text("1\t1\t2\n1\t3\t2\n2\t1\t4\n")
    bench.at("small.toml").write_text(
        'name = "small"\nmetrics = ["ndcg@10"]\nseeds = [1]\nbaseline = "mart"\n\n'
        '[[data]]\nname = "generated"\ngenerate = "letor(queries=20, documents=8)"\nseed = 7\nfolds = 3\n\n'
        '[[learner]]\nname = "mart"\nspec = "mart(trees=3)"\n\n'
        '[[learner]]\nname = "svm"\nspec = "ranksvm"\n'
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", type=Path)
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutations", type=int, default=5000)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--keep", action="store_true", help="keep the folder of the attacks")
    parser.add_argument("--table", type=Path, help="write the table as Markdown to this file")
    parser.add_argument("--short", action="store_true", help="only a few strikes, within about 30 seconds")
    arguments = parser.parse_args()
    # The folder is removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin = time.monotonic()
    rows = []
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="rankwright-chaos-"))
        if not arguments.keep:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        bench = Bench(arguments.command.resolve(), folder, arguments.seed)
        stack.callback(bench.stop)
        if arguments.short:
            arguments.seconds = min(arguments.seconds, 40)
        bench.mutations = arguments.mutations
        bench.mutation_seconds = arguments.seconds / 2
        bench.most = 4 if arguments.short else None
        bench.end = begin + arguments.seconds
        prepare(bench)
        for attack in SHORT if arguments.short else ATTACKS:
            name = attack.__name__.replace("_", "-")
            if arguments.only and name not in arguments.only:
                continue
            if not bench.has_time():
                rows.append((name, "-", "not run: out of time"))
                continue
            started = time.monotonic()
            try:
                said, verdict = attack(bench), "held"
            except (Broken, subprocess.TimeoutExpired, json.JSONDecodeError) as broken:
                said, verdict = str(broken).replace(str(folder), "."), "BROKEN"
            finally:
                bench.stop()
            took = time.monotonic() - started
            rows.append((name, verdict, said))
            print(f"{name:22} {verdict:7} {took:6.1f} s  {said}", flush=True)
    if arguments.table:
        lines = ["| attack | what is done | result |", "|---|---|---|"]
        about = {a.__name__.replace("_", "-"): a.__doc__ for a in ATTACKS}
        about = {name: " ".join(text.split()).rstrip(".") for name, text in about.items()}
        lines += [f"| {name} | {about[name]} | {verdict}: {said} |" for name, verdict, said in rows]
        arguments.table.write_text("\n".join(lines) + "\n")
    broken = sum(verdict == "BROKEN" for _, verdict, _ in rows)
    held = sum(verdict == "held" for _, verdict, _ in rows)
    print(f"\n{held} passed, {broken} failed, {len(rows) - held - broken} skipped")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
