"""Attacks on the command: kills, full disks, limits, concurrent runs, bombs and damaged files.

    python chaos.py COMMAND [--seconds 900] [--seed 1] [--only NAME ...] [--table FILE] [--short]

Everything happens in a temporary folder, and every attack ends by itself. An attack makes files,
disturbs a command many times, and looks at what a person would look at afterwards: is the old or
the new result there and whole, does the next command go on, is anything left behind? It prints a
row per attack and ends with code 1 if one did not hold. A run with --short is over soon; any other
also ends with code 1 if an attack could not be made, or only in part.
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

from bench import Bench, Broken, Partial, Skipped
from disturbed import limits, read_only, same_output, search_during_rebuild, signals, small_disk, two_trainings
from hostile import bombs, mutations
from struck import add, convert, delete, experiment, features, folds, index, outputs, random_kills, split, store
from struck import train, tune

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

# A few strikes each, as part of the tests.
SHORT = [convert, split, train]

# From this number of seconds on, the commands are struck at every call.
LONG = 3600


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


def name_of(attack):
    return attack.__name__.replace("_", "-")


def outcome(bench, attack):
    """The verdict on an attack, and what it says."""
    try:
        return "held", attack(bench)
    except Skipped as skipped:
        return "SKIPPED", str(skipped)
    except Partial as partial:
        return "partial", str(partial)
    except (Broken, subprocess.TimeoutExpired, json.JSONDecodeError) as broken:
        return "BROKEN", str(broken).replace(str(bench.folder), ".")
    finally:
        bench.stop()


def run_attacks(bench, attacks, end):
    """The name, the verdict and the words of each attack."""
    rows = []
    for number, attack in enumerate(attacks):
        started = time.monotonic()
        # What an attack does not need is left to the later ones.
        weights = [ATTACKS[later] for later in attacks[number:]]
        bench.end = started + max(end - started, 0) * weights[0] / sum(weights)
        verdict, said = ("SKIPPED", "out of time") if started >= end else outcome(bench, attack)
        rows.append((name_of(attack), verdict, said))
        print(f"{rows[-1][0]:22} {verdict:7} {time.monotonic() - started:6.1f} s  {said}", flush=True)
    return rows


def write_table(path, rows):
    lines = ["| attack | what is done | result |", "|---|---|---|"]
    about = {name_of(attack): " ".join(attack.__doc__.split()).rstrip(".") for attack in ATTACKS}
    lines += [f"| {name} | {about[name]} | {verdict}: {said} |" for name, verdict, said in rows]
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
    parser.add_argument("--short", action="store_true", help="only a few strikes, within about 30 seconds")
    arguments = parser.parse_args()
    # The folder is removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="rankwright-chaos-"))
        if not arguments.keep:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        bench = Bench(arguments.command.resolve(), folder, arguments.seed)
        stack.callback(bench.stop)
        if arguments.short:
            arguments.seconds = min(arguments.seconds, 40)
        bench.mutations = arguments.mutations
        bench.most = 4 if arguments.short else None
        bench.every_call = arguments.seconds >= LONG
        prepare(bench)
        attacks = SHORT if arguments.short else list(ATTACKS)
        attacks = [attack for attack in attacks if not arguments.only or name_of(attack) in arguments.only]
        rows = run_attacks(bench, attacks, begin + arguments.seconds)
    if arguments.table:
        write_table(arguments.table, rows)
    verdicts = [verdict for _, verdict, _ in rows]
    kinds = [("held", "held"), ("BROKEN", "broken"), ("partial", "made in part"), ("SKIPPED", "not made")]
    print("\n" + ", ".join(f"{verdicts.count(kind)} {words}" for kind, words in kinds))
    enough = {"held", "partial"} if arguments.short else {"held"}
    sys.exit(0 if set(verdicts) <= enough else 1)


if __name__ == "__main__":
    main()
