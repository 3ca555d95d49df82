"""Signals, limits, small and read-only disks, and commands that run at the same time."""

import json
import resource
import signal
import time

from sandbox import ORDERLY, TIME_LIMIT, Skipped, check, digest, fresh, left_over


def signals(sandbox):
    """A command that gets a signal to end saves its state, or ends and leaves nothing."""
    words = "train train.txt --learner lambdamart(trees=1000000,leaves=31) --out w/m.model"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        fresh(sandbox, "w")
        process = sandbox.start(words)
        time.sleep(2.0)
        process.send_signal(number)
        out, err = process.communicate(timeout=TIME_LIMIT)
        check(process.returncode == 130, number.name, "ended with", process.returncode, err[-300:])
        check(sandbox.at("w/m.model.checkpoint").is_dir(), number.name, "saved nothing")
        check(not left_over(sandbox.at("w")), number.name, "left", left_over(sandbox.at("w")))
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
            fresh(sandbox, "w")
            process = sandbox.start(words)
            time.sleep(sandbox.random.uniform(0.2, 1.2))
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=TIME_LIMIT)
            check(process.returncode in {0, 130}, words, "ended with", process.returncode, err[-300:])
            check(not left_over(sandbox.at("w")), words, "left", left_over(sandbox.at("w")))
            left = [path.name for path in sandbox.at("temporary").iterdir()]
            check(not left, words, "left in the temporary folder", left)
            sent += 1
    return f"{sent} signals"


def limits(sandbox):
    """A limit on the size of files is an error, not a death; so is one on open files."""
    fresh(sandbox, "w")
    sandbox.ok("train train.txt --learner ranksvm --out linear.model")
    tried = 0
    for words in [
        "data convert train.txt w/big.txt",
        "data convert train.txt w/big.rwd",
        "train train.txt --learner lambdamart(trees=20) --out w/m.model",
        "index docs.jsonl --out w/shop",
        "data generate letor --queries 50 --documents 20 --out w/g.txt",
    ]:
        done = sandbox.run(words, limits=[(resource.RLIMIT_FSIZE, 4096)])
        check(done.returncode == 1, words, "ended with", done.returncode, done.stderr[-300:])
        check(not left_over(sandbox.at("w")), words, "left", left_over(sandbox.at("w")))
        done = sandbox.run(words, limits=[(resource.RLIMIT_NOFILE, 12)])
        check(done.returncode in ORDERLY, words, "ended with", done.returncode, done.stderr[-300:])
        tried += 2
    return f"{tried} limits"


def small_disk(sandbox):
    """A real disk of 32 KB that becomes full; the result is an error that says so, and nothing else."""
    fresh(sandbox, "w")
    tried = 0
    for words in [
        "data convert train.txt w/big.csv",
        "data convert train.txt w/big.rwd",
        "data split train.txt --out w/parts",
        "train train.txt --learner lambdamart(trees=60,leaves=31,min_rows=1) --out w/m.model",
        "index large.jsonl --out w/shop",
    ]:
        script = "mount -t tmpfs -o size=32k none w && \"$0\" \"$@\"; code=$?; ls -A w; exit $code"
        done = sandbox.mounted(script, words)
        if "mount:" in done.stderr or "unshare:" in done.stderr:
            raise Skipped("not possible here: " + done.stderr.strip().splitlines()[-1][:60])
        check(done.returncode == 1, words, "ended with", done.returncode, done.stderr[-300:])
        check("o space left" in done.stderr, words, "blames something else:", done.stderr[-300:])
        left = [name for name in done.stdout.split() if name not in {"shop", "parts"}]
        check(not left, words, "left", left)
        tried += 1
    return f"{tried} commands"


def read_only(sandbox):
    """A read-only index can be searched, and writing into a read-only folder is an error."""
    fresh(sandbox, "w")
    sandbox.ok("index docs.jsonl --out w/shop")
    script = ('mount --bind w w && mount -o remount,ro,bind w && "$0" "$@" && '
              '! "$0" data convert train.txt w/x.rwd')
    mounted = sandbox.mounted(script, "search w/shop train --json")
    if "mount" in mounted.stderr or "unshare" in mounted.stderr:
        raise Skipped("not possible here: " + mounted.stderr.strip().splitlines()[-1][:60])
    check(mounted.returncode == 0, "read-only mount:", mounted.stderr[-300:])
    check("ead-only" in mounted.stderr, "blames something else:", mounted.stderr[-300:])
    check(json.loads(mounted.stdout)["found"] > 0, "found nothing")
    return "searched"


def two_trainings(sandbox):
    """Two trainings cannot share a checkpoint folder; a lock of a dead one is no obstacle."""
    fresh(sandbox, "w")
    words = "train train.txt --learner lambdamart(trees=4000) --out w/{}.model --checkpoint w/save --checkpoint-trees 1"
    first = sandbox.start(words.format("a"))
    time.sleep(1.5)
    second = sandbox.run(words.format("b"))
    check(second.returncode == 1, "the second training ended with", second.returncode)
    check("another" in second.stderr, "the second training says:", second.stderr[-300:])
    first.kill()
    first.wait()
    third = sandbox.start(words.format("a"))
    time.sleep(1.5)
    check(third.poll() is None, "the lock of a killed training is still there")
    third.send_signal(signal.SIGINT)
    third.communicate(timeout=TIME_LIMIT)
    return "refused and taken over"


def same_output(sandbox):
    """Several commands that write the same file at once leave one whole result."""
    fresh(sandbox, "w")
    results = set()
    for name in ("train", "valid"):
        sandbox.ok(f"data convert {name}.txt {name}.rwd")
        results.add(digest(sandbox.at(f"{name}.rwd")))
    for _ in range(10):
        running = [sandbox.start(f"data convert {name}.txt w/out.rwd") for name in ("train", "valid") * 2]
        for process in running:
            process.communicate(timeout=TIME_LIMIT)
            check(process.returncode == 0, "a conversion ended with", process.returncode)
        check(digest(sandbox.at("w/out.rwd")) in results, "left a mixture")
        check(not left_over(sandbox.at("w")), "left", left_over(sandbox.at("w")))
    return "40 conversions"


def search_during_rebuild(sandbox):
    """Searches never fail while the index is rebuilt again and again."""
    fresh(sandbox, "w")
    sandbox.ok("index docs.jsonl --out w/shop")
    end = time.monotonic() + 15
    searches = rebuilds = 0
    builder = None
    while time.monotonic() < end:
        if builder is None or builder.poll() is not None:
            check(builder is None or builder.returncode == 0, "a rebuild failed")
            builder = sandbox.start("index docs.jsonl --out w/shop --rebuild --quiet")
            rebuilds += 1
        found = json.loads(sandbox.ok("search w/shop train --json").stdout)
        check(found["found"] > 0, "a search found nothing")
        searches += 1
    builder.communicate(timeout=TIME_LIMIT)
    return f"{searches} searches, {rebuilds} rebuilds"
