"""Ranking quality on MQ2008 and MQ2007-partial beside LightGBM, XGBoost and CatBoost.

Five folds each: fold f trains on parts f, f+1, f+2, validates on f+3 and tests on f+4, where part 6 is
part 1 again. A point is one setting of a system's parameters; every system has the same number of points in
`quality_grid.toml`. The number of trees and the point are chosen by NDCG@10 on the validation part, and only
the chosen point is evaluated on the test part.
Test values are pooled over the folds. Queries without a relevant document are skipped, and all
values are computed by one evaluator, ours.

Test parts are looked at only when the grid is committed as it stands. The data folder is
RANKWRIGHT_DATA. What was fitted is kept in `bench/out/quality/`, under a name made of everything
it depends on, so that a new build of ours does not fit the peers again.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from statistics import pstdev

from _common import BENCH, OUT, markdown, measure, program, verdict, worker
from _quality_fits import fit_ours, library_version, run_worker

GRID = BENCH / "quality_grid.toml"
# The folder of what was fitted.
KEPT = OUT / "quality"
SETS = ("mq2008", "mq2007-partial")
PARTS = 5
ALPHA = 0.05
PEERS_MEAN = "mean of all peers"
# Raise this number when the way of fitting changes, so that no result of the old way is used again.
PROTOCOL = 1


# --- one fold of one system ----------------------------------------------------------------------


@dataclass(frozen=True)
class Fold:
    """The files of one fold."""

    folder: Path
    number: int

    def part(self, offset):
        """The part of the set that is `offset` parts after the fold's first."""
        return self.folder / f"S{(self.number - 1 + offset) % PARTS + 1}.txt"

    @property
    def files(self):
        return {
            "train": [str(self.part(i)) for i in range(3)],
            "valid": [str(self.part(3))],
            "test": [str(self.part(4))],
        }


@cache
def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def points(grid, system):
    """The settings of each point, including `fixed` ones."""
    entry = grid["systems"][system]
    return [
        entry["fixed"] | dict(zip(entry["settings"], row, strict=True)) for row in entry["points"]
    ]


def task(grid, system, fold):
    """Everything that determines a fit, except the paths of files."""
    library = grid["systems"][system]["library"]
    ours = library == "rankwright"
    version = digest(program("RANKWRIGHT_BIN", "rankwright")) if ours else library_version(library)
    return {
        "protocol": PROTOCOL,
        "library": library,
        "version": version,
        "points": points(grid, system),
        "common": {key: grid[key] for key in ("trees", "stop", "seed", "metric")},
        "data": {role: [digest(path) for path in paths] for role, paths in fold.files.items()},
    }


def fitted(grid, system, fold):
    """The stored result of a fold, computed if there is none."""
    wanted = task(grid, system, fold)
    key = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:16]
    path = KEPT / f"{system}-{fold.folder.name}-{fold.number}-{key}.json"
    if not path.exists():
        result = {"task": wanted} | fit(wanted, fold)
        KEPT.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".part")
        partial.write_text(json.dumps(result) + "\n")
        partial.replace(path)
        summary = ", ".join(f"{point['valid']:.4f}" for point in result["points"])
        print(f"  {system}, {fold.folder.name}, fold {fold.number}: {summary}", file=sys.stderr)
    return json.loads(path.read_text())


def fit(wanted, fold):
    """Fits every point, chooses one on the validation part, keeps its scores of the test part."""
    with tempfile.TemporaryDirectory() as folder:
        request = wanted | {"files": fold.files, "folder": folder}
        if wanted["library"] == "rankwright":
            fits = fit_ours(request)
        else:
            (Path(folder) / "request.json").write_text(json.dumps(request))
            fits = measure(worker(__file__, folder)).output["fits"]
        for i, one in enumerate(fits):
            one["valid"] = evaluate(Path(folder) / f"valid-{i}.txt", fold.files["valid"], wanted)
        chosen = max(range(len(fits)), key=lambda i: fits[i]["valid"])
        scores = (Path(folder) / f"test-{chosen}.txt").read_text().split()
    return {"points": fits, "chosen": chosen, "test_scores": scores}


def evaluate(scores, files, wanted):
    words = ["--scores", str(scores), *files, "--metric", wanted["common"]["metric"]]
    return json.loads(ours("eval", *words))["metrics"][0]["value"]


def ours(*words):
    command = [program("RANKWRIGHT_BIN", "rankwright"), *words, "--json", "--quiet"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


# --- the comparison ------------------------------------------------------------------------------


def compare(options):
    root = os.environ.get("RANKWRIGHT_DATA")
    if not root:
        print("quality: skipped, RANKWRIGHT_DATA does not name a data folder")
        return
    grid = tomllib.loads(GRID.read_text())
    if len({len(system["points"]) for system in grid["systems"].values()}) != 1:
        sys.exit(f"{GRID.name}: the systems must have the same number of points")
    systems = chosen_systems(grid, options.systems)
    tables = {}
    for name in options.sets:
        folds = [Fold(Path(root) / name, number) for number in options.folds]
        # By system within a fold: what is finished of an interrupted run is comparable.
        tables[name] = {system: [] for system in systems}
        for fold in folds:
            for system in systems:
                tables[name][system].append(fitted(grid, system, fold))
    digits = digest(GRID)[:16]
    print(f"\ngrid {digits}, folds {', '.join(map(str, options.folds))}")
    report_validation(grid, tables)
    if committed():
        report_tests(grid, tables, options, Path(root))
    else:
        print("\nThe grid is not committed as it stands: commit it, then the test parts are shown.")


def chosen_systems(grid, words):
    """`all`, `peers`, `ours` or names."""
    known = list(grid["systems"])
    mine = [name for name in known if is_ours(grid, name)]
    groups = {"all": known, "ours": mine, "peers": [name for name in known if name not in mine]}
    names = []
    for word in words.split(","):
        if word not in groups and word not in known:
            sys.exit(f"no system `{word}`; there are: {', '.join([*groups, *known])}")
        names += [name for name in groups.get(word, [word]) if name not in names]
    return names


def is_ours(grid, system):
    return grid["systems"][system]["library"] == "rankwright"


def committed(grid=GRID):
    """Whether a grid is committed without a change; outside a checkout, or without git, this cannot
    be known and the answer is yes."""
    git = ["git", "-C", str(BENCH)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        if subprocess.run([*git, "rev-parse", "HEAD"], **quiet).returncode != 0:
            return True
        path = str(grid.resolve())
        tracked = subprocess.run([*git, "ls-files", "--error-unmatch", path], **quiet)
        same = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", path], **quiet)
        return tracked.returncode == 0 and same.returncode == 0
    except FileNotFoundError:
        return True


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def validation(fits):
    """Mean validation value of the chosen points over the folds."""
    return mean(fit["points"][fit["chosen"]]["valid"] for fit in fits)


def label(grid, system):
    return f"**Rankwright** {system}" if is_ours(grid, system) else system


def report_validation(grid, tables):
    for name, systems in tables.items():
        rows = []
        for system, fits in systems.items():
            best = [fit["points"][fit["chosen"]] for fit in fits]
            numbers = " ".join(str(fit["chosen"] + 1) for fit in fits)
            trees = " ".join(str(point["trees"]) for point in best)
            seconds = sum(point["seconds"] for fit in fits for point in fit["points"])
            row = [label(grid, system), f"{validation(fits):.4f}", numbers, trees]
            rows.append([*row, f"{seconds:.0f}"])
        print(f"\n{name}, validation parts\n")
        header = ["system", "NDCG@10 of the chosen", "point of each fold", "trees", "fit s in all"]
        print(markdown(header, rows))


# --- the test parts ------------------------------------------------------------------------------


def report_tests(grid, tables, options, root):
    # Our entry against the best peer, by set.
    comparisons = {}
    for name, systems in tables.items():
        folds = [Fold(root / name, number) for number in options.folds]
        files = [path for fold in folds for path in fold.files["test"]]
        comparisons[name] = report_set(grid, name, systems, files)
    if any(versus is None for versus in comparisons.values()):
        print("\nThe targets need our entry and peers.")
        return
    print()
    full = len(options.folds) == PARTS
    for name, versus in comparisons.items():
        summary = f"{versus['difference']:+.4f}, p {versus['p']:.3f}"
        verdict(f"{name}: ours above the best peer ({summary})", versus["difference"] > 0, full)
    significant = [v for v in comparisons.values() if v["difference"] > 0 and v["p"] < ALPHA]
    claim = "significantly above on at least one set"
    verdict(claim, bool(significant), full and set(comparisons) == set(SETS))


def report_set(grid, name, systems, files):
    """Prints the table of a set; returns the test of our entry, which the grid names, against the peer that is
    best on the test parts. The row `mean of all peers` is there for information: the scores of the peers'
    chosen models, standardised within a query and added. No peer offers this itself."""
    peers = [system for system in systems if not is_ours(grid, system)]
    mine = [system for system in systems if is_ours(grid, system)]
    scores = {system: joined(fits) for system, fits in systems.items()}
    if len(peers) > 1:
        scores[PEERS_MEAN] = mean_of([scores[system] for system in peers], files)
    values = pooled(scores, files, None)
    top = max(peers, key=lambda system: values[system]["value"], default=None)
    if top and mine:
        values |= pooled({system: scores[system] for system in [top, *mine]}, files, top)
    entry = grid["entry"] if grid["entry"] in mine else None
    rows = []
    for system in scores:
        versus = values[system].get("versus_baseline") if system in mine and top else None
        summary = f"{versus['difference']:+.4f}, p {versus['p']:.3f}" if versus else ""
        mark = " (our entry)" if system == entry else " (best peer)" if system == top else ""
        shown = system if system == PEERS_MEAN else label(grid, system)
        rows.append([shown + mark, f"{values[system]['value']:.4f}", summary])
    queries = values[next(iter(systems))]["queries"]
    print(f"\n{name}, test parts, {queries} queries with a relevant document\n")
    print(markdown(["system", "NDCG@10", "to the best peer"], rows))
    return values[entry]["versus_baseline"] if top and entry else None


def joined(fits):
    """The test scores of all folds, one after the other."""
    return [float(score) for fit in fits for score in fit["test_scores"]]


def mean_of(scores, files):
    """Scores standardised within each query, added."""
    sums, at = [0.0] * len(scores[0]), 0
    for _, rows in groupby(line.split()[1] for path in files for line in Path(path).open()):
        end = at + sum(1 for _ in rows)
        for of_system in scores:
            part = of_system[at:end]
            spread = pstdev(part) or 1.0
            for i, score in enumerate(part):
                sums[at + i] += (score - mean(part)) / spread
        at = end
    return sums


def pooled(scores, files, baseline):
    """`{system: entry}` of `compare` over the test parts as one data set, by Fisher's randomisation test. The
    p-values are not corrected for several systems."""
    with tempfile.TemporaryDirectory() as folder:
        words = []
        for system, values in scores.items():
            # Without an extension: the file name is the name of the system.
            path = Path(folder) / system
            path.write_text("\n".join(map(repr, values)) + "\n")
            words += ["--scores", str(path)]
        words += ["--metric", "ndcg@10", "--test", "randomisation", "--correction", "none"]
        words += ["--baseline", baseline] if baseline else []
        found = json.loads(ours("compare", *files, *words))["metrics"][0]["systems"]
    return {entry["system"]: entry for entry in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    parser.add_argument("--systems", default="all", help="all, ours, peers, or names")
    parser.add_argument(
        "--folds",
        type=lambda text: [int(word) for word in text.split(",")],
        default=list(range(1, PARTS + 1)),
    )
    parser.add_argument("--worker", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    run_worker(options.worker) if options.worker else compare(options)


if __name__ == "__main__":
    main()
