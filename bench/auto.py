"""The learner `auto` beside tuned peers on nine sets, nested by query.

`auto_plan.toml` says what each system may do. Each set is divided by query into outer folds. The first
fold is for development and never a test part: every other fold is tested by models that were trained,
stopped, chosen and blended without its queries. A peer is tuned with as many trainings as `auto` has
spent on the same queries, and the best peer of each set is the best one in hindsight, on the test
parts. Test parts are scored only when the plan is committed as it stands. Values are those of our
evaluator; the differences of all sets are tested together by a randomisation that changes signs within
sets, the statistic being the mean over sets of mean differences.

With `--inner` only the queries of the first fold are used, divided anew, so that a plan can be tried
before it is committed: none of them is ever tested. `--plan FILE` is another plan, such as
`auto_plan_tiny.toml`, which shows in minutes that everything runs.

The data folder is RANKWRIGHT_DATA. Whatever was fitted is kept in `bench/out/auto/`, so that a run
that was ended goes on where it was; `--sets A,B` runs some sets, and `--minutes N` begins no fit after
N minutes and ends with status 3.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from functools import partial
from itertools import product
from pathlib import Path

from _common import BENCH, OUT, made_once, markdown, measure, program, verdict, worker
from _quality_fits import library_version, run_worker
from quality import ALPHA, committed, digest, mean, mean_of, pooled

PLAN = BENCH / "auto_plan.toml"
# The folder of what was fitted.
KEPT = OUT / "auto"
PEERS_MEAN = "mean of all peers"
# Raise this number when the way of fitting changes, so that no result of the old way is used again.
PROTOCOL = 1
# Samples of the randomisation test over all sets.
ROUNDS = 10_000
# The status of a run that its limit of time ended.
OUT_OF_TIME = 3


# --- the sets as LETOR lines, query by query -----------------------------------------------------


def queries_of(name, entry, root):
    """The queries of a set in their order: lists of LETOR lines, with the query id that they name."""
    reader = {"letor": letor, "lightgbm": lightgbm, "catboost": catboost}.get(entry["form"])
    if reader is None:
        lines = letor([made(name, entry)])
    else:
        lines = reader([root / file for file in entry["files"]])
    queries = {}
    for query, line in lines:
        queries.setdefault(query, []).append(line)
    return list(queries.values())


def letor(files):
    for path in files:
        for line in Path(path).read_text().splitlines():
            yield line.split(None, 2)[1].removeprefix("qid:"), line


def lightgbm(files):
    for path in files:
        lines = iter(Path(path).read_text().splitlines())
        for number, size in enumerate(Path(f"{path}.query").read_text().split()):
            for _ in range(int(size)):
                label, _, features = next(lines).partition(" ")
                yield f"{path.name}-{number}", f"{label} qid:{path.name}-{number} {features}"


def catboost(files):
    for path in files:
        for line in Path(path).read_text().splitlines():
            cells = line.split("\t")
            features = " ".join(f"{i}:{cell}" for i, cell in enumerate(cells[5:], 1))
            yield cells[1], f"{cells[2]} qid:{cells[1]} {features}"


def made(name, entry):
    """The file of a generated set, or of the features of a text collection."""
    if entry["form"] == "generated":
        size = ["--queries", str(entry["queries"]), "--documents", str(entry["documents"])]
        words = ["data", "generate", "letor", *size, "--seed", "1", "--to", "letor"]
        path = KEPT / f"{name}-{entry['queries']}-{entry['documents']}.txt"
        return made_once(path, lambda part: ours(*words, "--out", part))
    from _text import collections
    from text_quality import feature_data

    (collection,) = collections([name])
    KEPT.mkdir(parents=True, exist_ok=True)
    data = feature_data(collection, collection.parts, "default", 100, KEPT)
    path = KEPT / f"{data.stem}.txt"
    return made_once(path, lambda part: ours("data", "convert", data, part, "--to", "letor"))


def divided(queries, folds, seed):
    """The number of the fold of each query, from 0, by a hash of the seed and the query's first line, so that
    the order of files does not matter."""
    keys = [hashlib.sha256(f"{seed} {lines[0]}".encode()).digest() for lines in queries]
    ranks = {i: rank for rank, i in enumerate(sorted(range(len(keys)), key=keys.__getitem__))}
    return [ranks[i] % folds for i in range(len(queries))]


def write(path, queries):
    path.write_text("".join(f"{line}\n" for lines in queries for line in lines))
    return str(path)


# --- one outer fold ------------------------------------------------------------------------------


class Deadline:
    """The end of the time in which fits are begun."""

    def __init__(self, minutes):
        self.end = None if minutes is None else time.monotonic() + 60 * minutes

    def check(self):
        if self.end is not None and time.monotonic() >= self.end:
            print("auto: the limit of time is over; the next run goes on from here", file=sys.stderr)
            sys.exit(OUT_OF_TIME)


def fold_results(plan, name, queries, number, systems, deadline):
    """The test scores of every system on one fold, each kept under a name of all it depends on."""
    fold_of = divided(queries, plan["folds"], plan["seed"])
    train = [lines for fold, lines in zip(fold_of, queries, strict=True) if fold != number]
    test = [lines for fold, lines in zip(fold_of, queries, strict=True) if fold == number]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files = {
            "train": [write(folder / "train.txt", train)],
            "test": [write(folder / "test.txt", test)],
        }
        data = {role: [digest(path) for path in paths] for role, paths in files.items()}
        found = {}
        for system in [system for system in systems if system in plan["ours"]]:
            fit = partial(fit_ours, plan, system, files, folder)
            found[system] = kept(plan, name, system, number, data, fit, deadline)
        trainings = found["auto"]["trainings"]
        inner = split_for_peers(plan, train, folder) | {"test": files["test"]}
        for system in [system for system in systems if system in plan["peers"]]:
            fit = partial(fit_peer, plan, system, inner, trainings, folder)
            wanted = [data, trainings]
            found[system] = kept(plan, name, system, number, wanted, fit, deadline)
    return found, test


def kept(plan, name, system, number, data, fit, deadline):
    """The stored result of a system on fold `number` of the set `name`; `fit` computes it if there is none.
    `data` is what the result depends on besides the plan and the versions of the programs."""
    peer = plan["peers"].get(system)
    binary = program("RANKWRIGHT_BIN", "rankwright")
    version = library_version(peer["library"]) if peer else digest(binary)
    limits = [plan[key] for key in ("seed", "metric", "trees", "stop", "validation")]
    wanted = [PROTOCOL, peer or plan["ours"][system], version, limits, data]
    key = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:16]
    path = KEPT / f"{system}-{name}-{number}-{key}.json"

    def make(part):
        deadline.check()
        part.write_text(json.dumps(fit()) + "\n")
        print(f"  {system}, {name}, fold {number + 1}", file=sys.stderr)

    return json.loads(made_once(path, make).read_text())


def fit_ours(plan, system, files, folder):
    model, scores = folder / f"{system}.model", folder / f"{system}.txt"
    words = ["--learner", plan["ours"][system], "--metric", plan["metric"], "--seed", plan["seed"]]
    result = ours("train", *files["train"], *words, "--out", model)
    ours("score", model, *files["test"], "--out", scores)
    choice = result.get("choice") or {}
    return {
        "scores": scores.read_text().split(),
        # An automatic choice reports an iteration for each model that it has trained.
        "trainings": len(result["iterations"]) if choice else 1,
        "seconds": result["seconds"]["train"],
        "estimate": choice.get("estimate"),
    }


def split_for_peers(plan, train, folder):
    """Divides the training queries for the peers: `{"train": [file], "valid": [file]}`; the plan's `validation`
    is the share of the validation queries."""
    order = list(range(len(train)))
    random.Random(plan["seed"]).shuffle(order)
    held = set(order[: round(plan["validation"] * len(order))])
    parts = {"train": [], "valid": []}
    for i, lines in enumerate(train):
        parts["valid" if i in held else "train"].append(lines)
    return {role: [write(folder / f"peer-{role}.txt", queries)] for role, queries in parts.items()}


def points(plan, system, count):
    """At most `count` different settings of a peer (points), drawn by the seed from all combinations of the
    values in the plan's `levels`."""
    peer = plan["peers"][system]
    names, levels = peer["levels"].keys(), peer["levels"].values()
    every = [dict(zip(names, values, strict=True)) for values in product(*levels)]
    random.Random(f"{plan['seed']} {system}").shuffle(every)
    return [peer["fixed"] | point for point in every[:count]]


def fit_peer(plan, system, files, trainings, folder):
    peer = plan["peers"][system]
    own = folder / system
    own.mkdir(exist_ok=True)
    common = {key: plan[key] for key in ("trees", "stop", "seed", "metric")}
    request = {"library": peer["library"], "common": common, "files": files, "folder": str(own)}
    request["points"] = points(plan, system, trainings)
    (own / "request.json").write_text(json.dumps(request))
    fits = measure(worker(__file__, own)).output["fits"]

    def valid(i):
        words = ["--scores", own / f"valid-{i}.txt", *files["valid"], "--metric", plan["metric"]]
        return ours("eval", *words)["metrics"][0]["value"]

    chosen = max(range(len(fits)), key=valid)
    return {
        "scores": (own / f"test-{chosen}.txt").read_text().split(),
        "trainings": len(fits),
        "seconds": sum(fit["seconds"] for fit in fits),
        "point": request["points"][chosen],
    }


def ours(*words):
    command = [program("RANKWRIGHT_BIN", "rankwright"), *map(str, words), "--json", "--quiet"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


# --- the comparison ------------------------------------------------------------------------------


def compare(options):
    root = os.environ.get("RANKWRIGHT_DATA")
    if not root:
        print("auto: skipped, RANKWRIGHT_DATA does not name a data folder")
        return
    plan = tomllib.loads(options.plan.read_text())
    if not options.inner and not committed(options.plan):
        sys.exit("The plan is not committed as it stands: commit it, or try it with --inner.")
    systems = [*plan["ours"], *([] if options.ours else plan["peers"])]
    differences = {"best peer": {}, PEERS_MEAN: {}}
    deadline = Deadline(options.minutes)
    for name in options.sets or plan["sets"]:
        queries = queries_of(name, plan["sets"][name], Path(root))
        if options.inner:
            fold_of = divided(queries, plan["folds"], plan["seed"])
            queries = [lines for fold, lines in zip(fold_of, queries, strict=True) if fold == 0]
        report_set(plan, name, queries, systems, options, differences, deadline)
    report_pooled(differences, options)


def report_set(plan, name, queries, systems, options, differences, deadline):
    found = {system: [] for system in systems}
    tested = []
    # The first outer fold is for development.
    for number in range(0 if options.inner else 1, plan["folds"]):
        results, test = fold_results(plan, name, queries, number, systems, deadline)
        tested += test
        for system, result in results.items():
            found[system].append(result)
    with tempfile.TemporaryDirectory() as folder:
        files = [write(Path(folder) / "tested.txt", tested)]
        scores = {s: [float(x) for one in fits for x in one["scores"]] for s, fits in found.items()}
        peers = [system for system in systems if system in plan["peers"]]
        if len(peers) > 1:
            scores[PEERS_MEAN] = mean_of([scores[system] for system in peers], files)
        values = {system: entry["value"] for system, entry in pooled(scores, files, None).items()}
        best = max(peers, key=values.__getitem__, default=None)
        # Without peers, `auto` is compared with the best of our learners without tuning.
        untuned = [system for system in systems if not system.startswith("auto")]
        baseline = best or max(untuned, key=values.__getitem__)
        tests = pooled({s: scores[s] for s in (baseline, "auto")}, files, baseline)["auto"]
        needed = {"auto", baseline, PEERS_MEAN} & set(scores)
        per_query = {system: by_query(plan, scores[system], files) for system in needed}
    rows = []
    for system, value in values.items():
        fits = found.get(system, [])
        mark = " (best peer)" if system == best else ""
        seconds = f"{sum(fit['seconds'] for fit in fits):.0f}" if fits else ""
        trainings = sum(fit["trainings"] for fit in fits) or ""
        row = [system + mark, f"{value:.4f}", f"{value - values[baseline]:+.4f}"]
        rows.append([*row, trainings, seconds])
    what = "folds of the development part" if options.inner else "test parts"
    print(f"\n{name}, {what}, {len(per_query['auto'])} queries\n")
    print(markdown(["system", "NDCG@10", f"to {baseline}", "trainings", "fit s"], rows))
    versus = tests["versus_baseline"]
    print(f"\nauto to {baseline}: {versus['difference']:+.4f}, p {versus['p']:.3f}")
    estimates = [fit["estimate"] for fit in found["auto"]]
    print(f"auto's own estimate {mean(estimates):.4f}, measured {values['auto']:.4f}")
    if best:
        for other, label in ((best, "best peer"), (PEERS_MEAN, PEERS_MEAN)):
            pairs = zip(per_query["auto"], per_query[other], strict=True)
            differences[label][name] = [a - b for a, b in pairs]


def by_query(plan, scores, files):
    """The metric of each query that has a value, by our evaluator. Which queries have one depends
    on the labels alone, so that the lists of two systems match."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "scores", Path(folder) / "values.tsv"
        path.write_text("\n".join(map(repr, scores)) + "\n")
        ours("eval", "--scores", path, *files, "--metric", plan["metric"], "--per-query", out)
        return [float(line.split("\t")[-1]) for line in out.read_text().splitlines()[1:]]


def report_pooled(differences, options):
    print()
    for label, sets in differences.items():
        if not sets:
            continue
        statistic = mean(mean(values) for values in sets.values())
        draws, above = random.Random(1), 0
        for _ in range(ROUNDS):
            flips = ([v if draws.random() < 0.5 else -v for v in vs] for vs in sets.values())
            above += abs(mean(map(mean, flips))) >= abs(statistic)
        p = (above + 1) / (ROUNDS + 1)
        summary = f"{len(sets)} sets ({statistic:+.4f}, p {p:.4f})"
        claim = f"auto above the {label}, pooled over {summary}"
        verdict(claim, statistic > 0 and p < ALPHA, not options.inner)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=lambda text: text.split(","))
    parser.add_argument("--plan", type=Path, default=PLAN)
    parser.add_argument("--minutes", type=float, help="begin no fit after this time")
    parser.add_argument("--inner", action="store_true", help="only queries that are no test part")
    parser.add_argument("--ours", action="store_true", help="without the peers")
    parser.add_argument("--worker", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    run_worker(options.worker) if options.worker else compare(options)


if __name__ == "__main__":
    main()
