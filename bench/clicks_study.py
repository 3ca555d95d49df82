"""Learning from simulated clicks on MQ2007: how much corrections of position bias regain of the quality of full labels.

The data is 88.5 % of the rows of MQ2007 (RANKWRIGHT_DATA names the folder that holds mq2007-partial). A logger,
which is the ranker whose pages the users see, ranks all documents of a query by one feature (25). Users examine
rank r with probability 1/r and click an examined document of label 0, 1 or 2 with probability .1, .4 or 1. Labels
are made of the clicks, a ranker is trained on them and measured on the judged test part of each of the five folds.
Validation data, by which training stops, have labels of clicks, too: those of the correction itself, or, for
corrections inside the learner, inverse propensity scores; naive clicks there would choose the model that agrees
best with the logger. The logger `best` shows high values first, `reversed` low values first, and `top10` only the
ten highest.

    cargo xtask bench clicks_study
    cargo xtask bench clicks_study -- --sessions 10 --folds 1 --loggers best

A correction is one line of CORRECTIONS. A cell is one logger, number of sessions, fold and correction. Finished
cells are kept in the folder (`cells.jsonl`) and not run again; `--tables` only draws the tables of the finished cells. P-values are those of `compare` (a paired randomisation
test over the test queries of all folds), with naive clicks as the baseline.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from _common import OUT, program

FEATURE = "25"
CLICKS = [0.1, 0.4, 1]
USER = f"pbm(exam=inverse, click={'/'.join(map(str, CLICKS))})"
LOGGERS = {"best": [], "reversed": ["--reverse"], "top10": ["--top", "10"]}
SESSIONS = [10, 100, 1000, 10000]
METRIC = "ndcg@10"
RANKS = 200
LEARNER = "lambdamart(metric=ndcg(gain=linear)@10, trees=300, stop=50, leaves=7, rate=0.05, min_rows=20)"


@dataclass
class Correction:
    """One way to learn from a log. `labels` are arguments of `clicks labels`; if empty, the labels are the judged
    ones, or the click probabilities of these if `is_probability`. `valid` are the arguments for validation data,
    if they differ. `train` are further arguments of `train`, such as a bias file. {flat}, {true} and {estimated}
    stand for files of examination probabilities: 1 everywhere, those of the simulated users, and estimated ones."""

    name: str
    labels: list
    learner: str = LEARNER
    train: list = field(default_factory=list)
    valid: list = field(default_factory=list)
    is_probability: bool = False

    def file_name(self):
        return re.sub("[^a-z0-9]+", "-", self.name)

    def key(self, logger, sessions, fold):
        """The cell of the correction: logger, sessions, fold and name. Corrections with judged labels have one cell
        for a fold, as these labels are the same for every log."""
        return (logger, sessions, fold, self.name) if self.labels else ("judged", 0, fold, self.name)


def corrected(parameters):
    """The learner with further parameters."""
    return f"{LEARNER[:-1]}, {parameters})"


# Naive click rates are inverse propensity scores whose examination is 1 everywhere ({flat}).
NAIVE = ["--from", "ips", "--bias", "{flat}"]
TRUE = ["--from", "ips", "--bias", "{true}"]
ESTIMATED = ["--from", "ips", "--bias", "{estimated}"]
CORRECTIONS = [
    Correction("naive", NAIVE),
    Correction("coec", ["--from", "coec"]),
    Correction("sdbn", ["--from", "sdbn"]),
    Correction("ips, true bias", TRUE),
    Correction("ips, regression-em", ESTIMATED),
    Correction("dr, regression-em", ["--from", "dr", "--bias", "{estimated}", "--clip", "20", "--unshown", "keep"]),
    # Corrections inside the learner, on naive click rates with positions.
    Correction("bias=gam", NAIVE, corrected("bias=gam"), valid=ESTIMATED),
    Correction("bias=pairwise", NAIVE, corrected("bias=pairwise, bias_norm=1"), valid=ESTIMATED),
    Correction("bias=ips, true bias", NAIVE, corrected("bias=ips"), ["--bias", "{true}"], valid=TRUE),
    Correction("bias=dr, true bias", NAIVE, corrected("bias=dr, bias_clip=0.05"), ["--bias", "{true}"], valid=TRUE),
    Correction("click probabilities", [], is_probability=True),
    Correction("full labels", []),
]


def rankwright(*words):
    """Runs the command; returns its JSON."""
    words = [str(word) for word in words]
    command = [program("RANKWRIGHT_BIN", "rankwright"), *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    return json.loads(done.stdout)


def parts(fold):
    """The numbers of the parts of LETOR's fold (from 0): three to train, one to validate, one to test."""
    names = [(fold + step) % 5 + 1 for step in range(5)]
    return names[:3], names[3:4], names[4:]


def with_probability(line):
    """A row whose label is replaced by the probability of a click on the examined document."""
    label, rest = line.split(" ", 1)
    return f"{CLICKS[int(label)]} {rest}"


def prepared(data, folder, names, kind):
    """One file of some parts, with short document ids, which keep logs small."""
    path = folder / f"{kind}-{''.join(map(str, names))}.txt"
    if not path.exists():
        lines = []
        for name in names:
            for line in (data / f"S{name}.txt").read_text().splitlines():
                lines.append(f"{line.split('#')[0].strip()} #docid = d{len(lines)}")
        path.write_text("\n".join(lines) + "\n")
    return path


class Study:
    def __init__(self, args):
        self.args, self.folder = args, args.out
        self.folder.mkdir(parents=True, exist_ok=True)
        self.cells = self.folder / "cells.jsonl"
        lines = self.cells.read_text().splitlines() if self.cells.exists() else []
        self.done = {tuple(json.loads(line)["key"]): json.loads(line) for line in lines}
        self.flat, self.true = self.folder / "flat.txt", self.folder / "true.txt"
        self.flat.write_text("".join(f"{rank} 1\n" for rank in range(1, RANKS + 1)))
        self.true.write_text("".join(f"{rank} {1 / rank}\n" for rank in range(1, RANKS + 1)))

    def log(self, data, logger, sessions, name, seed):
        """A simulated log of some data; equal pages are one line with a count, so that many sessions cost little."""
        log = self.folder / f"{name}.jsonl.zst"
        rankwright("clicks", "simulate", data, "--by-feature", FEATURE, *LOGGERS[logger], "--user", USER,
                   "--sessions", sessions, "--seed", seed, "--count", "--out", log)
        return log

    def estimated(self, log, data, name):
        """The file of estimated examination probabilities of a log, and those of the first ten ranks.

        They are estimated with the features (regression EM): the log shows each query in one fixed ranking, so no
        document is seen at two ranks. A rank without an estimate, at which another log may have clicks, gets that of
        the rank above."""
        found = rankwright("clicks", "bias", log, "--estimator", "regression-em", "--features", data,
                           "--samples", 0)
        examination = found["estimates"][0]["examination"]
        lines, last = [], 1
        for rank in range(1, RANKS + 1):
            value = examination[rank - 1] if rank <= len(examination) else None
            last = value or last
            lines.append(f"{rank} {last}\n")
        path = self.folder / f"{name}.bias.txt"
        path.write_text("".join(lines))
        return path, examination[:10]

    def with_files(self, words, bias):
        """The words with the names of files in place of {flat}, {true} and {estimated}."""
        files = {"flat": self.flat, "true": self.true, "estimated": bias}
        return [word.format(**files) for word in words]

    def labelled(self, log, data, words, kind, bias):
        """Feature data with labels made of clicks; one file for all corrections with the same arguments."""
        name = re.sub("[^a-z0-9]+", "-", " ".join(words))
        out = log.with_name(f"{log.name.split('.')[0]}{name}-{kind}.rwd")
        if not out.exists():
            rankwright("clicks", "labels", log, *self.with_files(words, bias), "--features", data, "--out", out)
        return out

    def probabilities(self, part):
        """The data with click probabilities as labels."""
        path = self.folder / f"probability-{part.name}"
        if not path.exists():
            lines = part.read_text().splitlines()
            path.write_text("".join(with_probability(line) + "\n" for line in lines))
        return path

    def run_cells(self, logger, sessions, fold):
        """Trains and measures every correction whose cell is not finished."""
        parts_of_fold = zip(["train", "valid", "test"], parts(fold))
        train, valid, test = [prepared(self.args.data, self.folder, names, kind) for kind, names in parts_of_fold]
        wanted = [c for c in CORRECTIONS if c.key(logger, sessions, fold) not in self.done]
        if not wanted:
            return
        name = f"{logger}-{sessions}-{fold}"
        logs = [self.log(part, logger, sessions, f"{name}-{kind}", 1 + 2 * fold + at)
                for at, (kind, part) in enumerate([("train", train), ("valid", valid)])]
        bias, examination = self.estimated(logs[0], train, name)
        for correction in wanted:
            started = time.time()
            learned, watched = train, valid
            if correction.is_probability:
                learned, watched = self.probabilities(train), self.probabilities(valid)
            if correction.labels:
                learned = self.labelled(logs[0], train, correction.labels, "train", bias)
                watched = self.labelled(logs[1], valid, correction.valid or correction.labels, "valid", bias)
            model = self.folder / f"{name}-{correction.file_name()}.model"
            rankwright("train", learned, "--valid", watched, "--learner", correction.learner,
                       *self.with_files(correction.train, bias), "--out", model)
            value = rankwright("eval", model, test, "--metric", METRIC)["metrics"][0]["value"]
            line = {"key": list(correction.key(logger, sessions, fold)), "value": value, "model": str(model),
                    "examination": examination, "seconds": time.time() - started}
            with self.cells.open("a") as out:
                out.write(json.dumps(line) + "\n")
            self.done[tuple(line["key"])] = line
            print(f"{logger} {sessions} fold {fold + 1} {correction.name}: {value:.4f}", file=sys.stderr)
        for file in [*logs, *self.folder.glob(f"{name}-*.rwd")]:
            file.unlink()

    def is_complete(self, logger, sessions):
        keys = (c.key(logger, sessions, fold) for c in CORRECTIONS for fold in range(self.args.folds))
        return all(key in self.done for key in keys)

    def scores(self, logger, sessions, correction):
        """The scores of a correction on the test queries of all folds, one file."""
        lines = []
        for fold in range(self.args.folds):
            test = prepared(self.args.data, self.folder, parts(fold)[2], "test")
            model = self.done[correction.key(logger, sessions, fold)]["model"]
            lines += rankwright("score", model, test)["scores"]
        path = self.folder / f"{correction.file_name()}.scores"
        path.write_text("".join(f"{score}\n" for score in lines))
        return path

    def compared(self, logger, sessions):
        """The p-value of each correction against naive labels, over the test queries of all folds."""
        kept = self.folder / f"compare-{logger}-{sessions}-{self.args.folds}.json"
        if not kept.exists():
            tests = [prepared(self.args.data, self.folder, parts(fold)[2], "test")
                     for fold in range(self.args.folds)]
            files = [self.scores(logger, sessions, correction) for correction in CORRECTIONS]
            words = [word for file in files for word in ("--scores", file)]
            found = rankwright("compare", *tests, *words, "--metric", METRIC, "--baseline", files[0].name)
            kept.write_text(json.dumps(found, indent=1))
        systems = json.loads(kept.read_text())["metrics"][0]["systems"]
        return [system["versus_baseline"]["p"] for system in systems if system.get("versus_baseline")]

    def tables(self):
        """The values of all complete rows, and the p-values of the differences from naive labels."""
        head = "| logger | sessions | " + " | ".join(c.name for c in CORRECTIONS) + " |"
        rule = "|---|---:|" + "---:|" * len(CORRECTIONS)
        values, tests = [head, rule], [head.replace(" naive |", ""), rule[:-5]]
        for logger in self.args.loggers:
            for sessions in filter(lambda sessions: self.is_complete(logger, sessions), self.args.sessions):
                means = []
                for correction in CORRECTIONS:
                    folds = [self.done[correction.key(logger, sessions, fold)]["value"]
                             for fold in range(self.args.folds)]
                    means.append(f"{sum(folds) / len(folds):.3f}".lstrip("0"))
                values.append(f"| {logger} | {sessions} | " + " | ".join(means) + " |")
                found = [f"{p:.2g}" for p in self.compared(logger, sessions)]
                tests.append(f"| {logger} | {sessions} | " + " | ".join(found) + " |")
        return f"{METRIC}, mean of the folds:\n\n" + "\n".join(values) + (
            "\n\np-values of the differences from naive:\n\n") + "\n".join(tests) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT / "clicks")
    parser.add_argument("--sessions", type=int, nargs="+", default=SESSIONS)
    parser.add_argument("--loggers", nargs="+", default=list(LOGGERS), choices=list(LOGGERS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--tables", action="store_true", help="only draw the tables of the finished cells")
    args = parser.parse_args()
    folder = os.environ.get("RANKWRIGHT_DATA")
    if not folder:
        sys.exit("RANKWRIGHT_DATA must name the folder that holds mq2007-partial")
    args.data = Path(folder) / "mq2007-partial"
    study = Study(args)
    if not args.tables:
        for logger in args.loggers:
            for sessions in args.sessions:
                for fold in range(args.folds):
                    study.run_cells(logger, sessions, fold)
    tables = study.tables()
    (study.folder / "tables.md").write_text(tables)
    print(tables)


if __name__ == "__main__":
    main()
