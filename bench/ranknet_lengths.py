"""RankNet with a step after each pair and with a step after each query, on lists of growing length.

The same number of documents in lists of 50 to 1,600 (on average), one thread. The cost of an epoch is the
processor time of a longer training less that of a shorter one, divided by the difference of their epochs;
NDCG@10 is that of test queries of the same length, with the epoch that is best on validation queries. Two
pictures are drawn: time and NDCG@10 against length.

    cargo xtask bench ranknet_lengths -- --pictures docs/pictures
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from _common import OUT, made_once, markdown, program

LENGTHS = (50, 100, 200, 400, 800, 1600)
# Name, parameters, epochs of the training whose best one counts. A step after each pair makes
# thousands of steps an epoch and needs few of them.
FORMS = (("pair", "update=pair", 3), ("query", "update=query, batch=1", 30))
NET = "layers=16"
PARTS = (("train", 1), ("valid", 2), ("test", 3))
HELD_OUT = {"valid": 50, "test": 100}


def ours(*words):
    """`(output, processor seconds)` of the command."""
    command = [program("RANKWRIGHT_BIN", "rankwright"), *map(str, words), "--json", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed with exit code {process.returncode}: {' '.join(command)}")
    return json.loads(text), usage.ru_utime + usage.ru_stime


def data(length, documents):
    """The files of a length."""
    files = {}
    for part, seed in PARTS:
        queries = HELD_OUT.get(part, max(1, documents // length))
        words = ["--queries", queries, "--documents", length, "--seed", seed, "--to", "rwd"]
        make = lambda out, words=words: ours("data", "generate", "letor", *words, "--out", out)  # noqa: E731
        files[part] = made_once(OUT / f"lengths-{part}-{length}-{queries}.rwd", make)
    return files


def epoch_seconds(files, form, repeat):
    """Processor seconds of an epoch: the smallest of some differences of two trainings."""

    def spent(epochs):
        spec = f"ranknet({NET}, {form}, epochs={epochs})"
        return ours("train", files["train"], "--learner", spec, "--out", OUT / "lengths.model", "--threads", 1)[1]

    # An epoch pair by pair takes long enough to be measured once.
    more, runs = (1, 1) if "pair" in form else (20, repeat)
    return min((spent(1 + more) - spent(1)) / more for _ in range(runs))


def quality(files, form, epochs):
    """NDCG@10 of the test queries."""
    spec = f"ranknet({NET}, {form}, epochs={epochs})"
    model = OUT / "lengths.model"
    ours("train", files["train"], "--valid", files["valid"], "--learner", spec, "--out", model)
    found, _ = ours("eval", model, files["test"], "--metric", "ndcg@10")
    return found["metrics"][0]["value"]


def draw(folder, name, title, caption, y, scale, rows):
    """A picture of the lines of both forms."""
    table = "\n".join("\t".join(map(str, row)) for row in [("x", "a step after each pair", "a step after each query"), *rows])
    words = [folder / f"{name}.svg", title, caption, "documents per query", y, scale]
    command = [program("RANKWRIGHT_CHART_BENCH", "chart-bench"), *map(str, words)]
    subprocess.run(command, input=table, text=True, check=True)


def compare(options):
    times, values, rows = [], [], []
    for length in options.lengths:
        files = data(length, options.documents)
        seconds = [epoch_seconds(files, form, options.repeat) for _, form, _ in FORMS]
        ndcg = [quality(files, form, epochs) for _, form, epochs in FORMS]
        print(f"  {length}: {seconds} s, {ndcg}", file=sys.stderr)
        times.append((length, *seconds))
        values.append((length, *ndcg))
        ratio = f"{seconds[0] / seconds[1]:,.0f}"
        rows.append([f"{length:,}", *(f"{s:.3f}" for s in seconds), ratio, *(f"{v:.4f}" for v in ndcg)])
    header = ["documents per query", "pair s", "query s", "times", "pair NDCG@10", "query NDCG@10"]
    print(markdown(header, rows))
    if options.pictures:
        about = f"{options.documents:,} generated documents, a hidden layer of 16, one thread."
        draw(options.pictures, "ranknet-seconds", "RankNet: the cost of an epoch", about, "seconds of an epoch", "log", times)
        draw(options.pictures, "ranknet-ndcg", "RankNet: NDCG@10 of fresh queries", about, "NDCG@10", "linear", values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=20_000, help="of the training data, in all")
    parser.add_argument("--lengths", type=lambda text: [int(n) for n in text.split(",")], default=LENGTHS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--pictures", type=Path, help="folder of the two pictures")
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
