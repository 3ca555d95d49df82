"""Attacks on the command: kills, full disks, limits, concurrent runs, bombs and damaged files.

    python chaos.py COMMAND [--seconds 900] [--seed 1] [--only NAME ...] [--table FILE] [--short]

Everything happens in a temporary folder, and every attack ends by itself. An attack makes files,
disturbs a command many times, and checks afterwards what a user would check: is the old or the new
result there and whole, does the next command go on, is anything left behind? An attack held if all
checks passed. The program prints a row for each attack and ends with code 1 if one did not hold. With
--short it takes about half a minute; without, it also ends with code 1 if an attack could not be made,
or only in part.
"""

import argparse
import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sandbox import Sandbox, Broken, Partial, Skipped
from disturbed import limits, read_only, same_output, search_during_rebuild, signals, small_disk, two_trainings
from hostile import bombs, mutations
from faults_at_calls import add, convert, delete, experiment, features, folds, index, outputs, random_kills, split, store
from faults_at_calls import train, tune

# Every attack with its share of the time.
ATTACKS = {
    convert: 1,
    split: 2,
    folds: 4,
    features: 2,
    store: 2,
    train: 3,
    tune: 3,
    index: 6,
    add: 6,
    delete: 6,
    experiment: 6,
    outputs: 12,
    random_kills: 4,
    signals: 4,
    limits: 1,
    small_disk: 1,
    read_only: 1,
    same_output: 1,
    two_trainings: 1,
    search_during_rebuild: 2,
    bombs: 3,
    mutations: 20,
}

# The attacks of --short, with a few faults each.
SHORT = [convert, split, train]

# With at least so many seconds, faults are put into every call of a command.
LONG = 3600


def prepare(sandbox):
    """Makes the files that the attacks share."""
    sandbox.at("temporary").mkdir()
    sandbox.ok("data generate letor --queries 60 --documents 20 --seed 1 --out train.txt")
    sandbox.ok("data generate letor --queries 20 --documents 20 --seed 2 --out valid.txt")
    words = ["train", "blue", "shoe", "river", "night", "music"]
    lines = []
    for i in range(300):
        text = " ".join(sandbox.random.choice(words) for _ in range(12)) + " train"
        lines.append(json.dumps({"id": f"d{i}", "title": f"{words[i % 6]} {i}", "text": text, "price": i}))
    sandbox.at("docs.jsonl").write_text("\n".join(lines) + "\n")
    more = [json.dumps({"id": f"n{i}", "title": f"zebra {i}", "text": "zebra night", "price": i}) for i in range(50)]
    sandbox.at("more.jsonl").write_text("\n".join(more) + "\n")
    sandbox.at("queries.tsv").write_text("q1\tblue train\nq2\tnight music\n")
    sandbox.at("qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n")
    sandbox.at("many.tsv").write_text("".join(f"q{i}\tblue train {i}\n" for i in range(20_000)))
    sandbox.ok("data generate letor --queries 400 --documents 60 --seed 3 --out large.txt")
    sandbox.at("large.jsonl").write_text("".join(
        json.dumps({"id": f"l{i}", "title": f"night {i}", "text": f"river {i % 97} music {i % 89} " * 12}) + "\n"
        for i in range(20_000)
    ))
    sandbox.ok("index docs.jsonl --out i/shop")
    sandbox.at("pairs.tsv").write_text("1\t1\t2\n1\t3\t2\n2\t1\t4\n")
    sandbox.at("small.toml").write_text(
        'name = "small"\nmetrics = ["ndcg@10"]\nseeds = [1]\nbaseline = "mart"\n\n'
        '[[data]]\nname = "generated"\ngenerate = "letor(queries=20, documents=8)"\nseed = 7\nfolds = 3\n\n'
        '[[learner]]\nname = "mart"\nspec = "mart(trees=3)"\n\n'
        '[[learner]]\nname = "svm"\nspec = "ranksvm"\n'
    )


def name_of(attack):
    return attack.__name__.replace("_", "-")


def outcome(sandbox, attack):
    """The verdict on an attack, and its explanation in words."""
    try:
        return "held", attack(sandbox)
    except Skipped as skipped:
        return "SKIPPED", str(skipped)
    except Partial as partial:
        return "partial", str(partial)
    except (Broken, subprocess.TimeoutExpired, json.JSONDecodeError) as broken:
        return "BROKEN", str(broken).replace(str(sandbox.folder), ".")
    finally:
        sandbox.stop()


def run_attacks(sandbox, attacks, end):
    """The name, the verdict and the explanation of each attack; none begins after `end`."""
    rows = []
    for number, attack in enumerate(attacks):
        started = time.monotonic()
        # An attack gets its share of the time that is left, so that time it does not need is for later ones.
        weights = [ATTACKS[later] for later in attacks[number:]]
        sandbox.end = started + max(end - started, 0) * weights[0] / sum(weights)
        verdict, text = ("SKIPPED", "out of time") if started >= end else outcome(sandbox, attack)
        rows.append((name_of(attack), verdict, text))
        print(f"{rows[-1][0]:22} {verdict:7} {time.monotonic() - started:6.1f} s  {text}", flush=True)
    return rows


def write_table(path, rows):
    lines = ["| attack | what is done | result |", "|---|---|---|"]
    about = {name_of(attack): " ".join(attack.__doc__.split()).rstrip(".") for attack in ATTACKS}
    lines += [f"| {name} | {about[name]} | {verdict}: {text} |" for name, verdict, text in rows]
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", type=Path)
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutations", type=int, default=5000)
    parser.add_argument("--only", nargs="*", default=[], choices=[name_of(attack) for attack in ATTACKS])
    parser.add_argument("--keep", action="store_true", help="keep the folder of the attacks")
    parser.add_argument("--table", type=Path, help="write the table as Markdown to this file")
    parser.add_argument("--short", action="store_true", help="a few attacks with a few faults each, within about 30 seconds")
    arguments = parser.parse_args()
    # An end by SIGTERM removes the folder, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="rankwright-chaos-"))
        if not arguments.keep:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        sandbox = Sandbox(arguments.command.resolve(), folder, arguments.seed)
        stack.callback(sandbox.stop)
        if arguments.short:
            arguments.seconds = min(arguments.seconds, 40)
        sandbox.mutations = arguments.mutations
        sandbox.max_faults = 4 if arguments.short else None
        sandbox.every_call = arguments.seconds >= LONG
        prepare(sandbox)
        attacks = SHORT if arguments.short else list(ATTACKS)
        attacks = [attack for attack in attacks if not arguments.only or name_of(attack) in arguments.only]
        rows = run_attacks(sandbox, attacks, begin + arguments.seconds)
    if arguments.table:
        write_table(arguments.table, rows)
    verdicts = [verdict for _, verdict, _ in rows]
    kinds = [("held", "held"), ("BROKEN", "broken"), ("partial", "made in part"), ("SKIPPED", "not made")]
    print("\n" + ", ".join(f"{verdicts.count(kind)} {words}" for kind, words in kinds))
    enough = {"held", "partial"} if arguments.short else {"held"}
    sys.exit(0 if set(verdicts) <= enough else 1)


if __name__ == "__main__":
    main()
