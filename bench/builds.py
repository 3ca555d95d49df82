"""Two builds of Rankwright side by side: loading, binning, training, scoring, evaluating, searching.

For changes that must not cost speed: a refactoring, a compiler profile. Both builds do the same
work on the same files, in turn, so that noise of the machine falls on both; the best of some runs
counts. Only the command is used, and of its JSON only the seconds.

    cargo xtask bench builds -- --before OTHER/CHECKOUT/target/release/rankwright
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from _common import OUT, made_once, markdown, program, verdict, warm

# A ratio of best times above this is more than what the machine's noise explains.
NOISE = 1.10
# Every parameter whose default follows the data is named, so that both builds grow the same trees.
TREES = "lambdamart(trees=100, leaves=31, rate=0.1, min_rows=20)"
LARGE_TREES = "lambdamart(trees=50, leaves=255, rate=0.1, min_rows=20)"
MODEL_TREES = "lambdamart(trees=300, leaves=64, rate=0.1, min_rows=20)"


def run(binary, *words):
    """The JSON document of a command, and the seconds of the whole process."""
    command = [binary, *map(str, words), "--json", "--quiet"]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    whole = time.perf_counter() - started
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout or "null"), whole


def files(binary, options):
    """The input files, made once by the build `before`: LETOR text, cache, model, record store, queries."""
    queries, records = options.queries, options.records
    stem = OUT / f"builds-{queries}"

    def generate(to):
        words = ["data", "generate", "letor", "--queries", queries, "--seed", "1"]
        return lambda path: run(binary, *words, "--to", to, "--out", path)

    text = made_once(stem.with_suffix(".txt"), generate("letor"))
    cache = made_once(stem.with_suffix(".rwd"), generate("rwd"))
    train = ["train", cache, "--learner", MODEL_TREES, "--out"]
    model = made_once(stem.with_suffix(".model"), lambda path: run(binary, *train, path))
    words = ["data", "generate", "store", "--records", records, "--queries", 500, "--seed", "1"]
    shop = OUT / f"builds-shop-{records}"
    made_once(shop, lambda path: run(binary, *words, "--out", path))
    many = made_once(OUT / f"builds-queries-{records}.jsonl", lambda path: repeat_queries(shop, path))
    for path in (text, cache, model, many):
        warm(path)
    return text, cache, model, shop, many


def repeat_queries(shop, path, times=20):
    """Writes the queries of a store several times, each copy with an id of its own: 500 queries take too short
    a time to measure."""
    queries = [json.loads(line) for line in (shop / "queries.jsonl").read_text().splitlines()]
    copies = ({**query, "id": f"{query['id']}-{turn}"} for turn in range(times) for query in queries)
    Path(path).write_text("".join(json.dumps(copy) + "\n" for copy in copies))


def jobs(options, inputs, scratch):
    """`{job: (arguments of the command, function that finds its seconds)}`."""
    text, cache, model, shop, many = inputs
    out = str(scratch)

    def step(name):
        return lambda document, _: document["seconds"][name]

    def steps(document, _):
        return sum(document["seconds"].values())

    def whole(_, seconds):
        return seconds

    def train(learner):
        return ["train", cache, "--learner", learner, "--out", out]

    index = f"{out}-index"
    queries = ["--queries", shop / "queries.jsonl"]
    return {
        "load LETOR text": (["data", "convert", text, f"{out}.rwd"], step("load")),
        "bin": (train("lambdamart(trees=1)"), step("bin")),
        "train, 31 leaves": (train(TREES), step("train")),
        "train, 255 leaves": (train(LARGE_TREES), step("train")),
        "train ranksvm": (train("ranksvm"), step("train")),
        "train ranknet": (train("ranknet(epochs=5)"), step("train")),
        "score, 1 thread": (["score", model, cache, "--out", out, "--threads", 1], step("score")),
        "evaluate": (["eval", model, cache, "--metric", "ndcg@10,ap,err@10"], whole),
        "index": (["index", shop / "documents.jsonl", "--out", index, "--rebuild"], whole),
        "run, 10,000 queries": (
            ["run", index, "--queries", many, "--out", f"{out}.run"],
            lambda document, _: document["seconds"],
        ),
        "features": (
            ["features", index, *queries, "--qrels", shop / "qrels.txt", "--out", f"{out}.f.rwd"],
            steps,
        ),
    }


def compare(options):
    after = program("RANKWRIGHT_BIN", "rankwright")
    inputs = files(options.before, options)
    best = {}
    for turn in range(options.repeat):
        for build, binary in (("before", options.before), ("after", after)):
            for name, (words, seconds) in jobs(options, inputs, OUT / f"builds-{build}").items():
                taken = seconds(*run(binary, *words))
                best[name, build] = min(taken, best.get((name, build), taken))
        print(f"  turn {turn + 1} of {options.repeat}", file=sys.stderr)
    report(best)


def report(best):
    names = list(dict.fromkeys(name for name, _ in best))
    ratios = {name: best[name, "after"] / best[name, "before"] for name in names}
    rows = [
        [name, f"{best[name, 'before']:.3f}", f"{best[name, 'after']:.3f}", f"{ratio:.2f}"]
        for name, ratio in ratios.items()
    ]
    print(markdown(["job", "before s", "after s", "after / before"], rows))
    print()
    slowest = max(ratios, key=ratios.get)
    claim = f"no job takes more than {NOISE:.2f} times what it took ({slowest}: {ratios[slowest]:.2f})"
    verdict(claim, ratios[slowest] <= NOISE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", required=True, help="the command of the other build")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--repeat", type=int, default=5)
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
