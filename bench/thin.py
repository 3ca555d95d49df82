"""AdaRank, coordinate ascent and RankNet pair by pair: two builds of Rankwright side by side.

Both builds train the same models on the same generated data, in turn, so that noise of the machine
falls on both; the best of some runs counts. The processor seconds are those of the whole process,
with loading. The models of the two builds must give the same scores, to the last digit, where a job
says so.

RankNet pair by pair has two forms. Both builds can evaluate the net for each pair and make a step for
each mini-batch of queries (`factored=false`): that row compares like with like. A step after each pair
(`update=pair`) is of the new build alone; its row has the old build's `factored=false` beside it, which
visits the same pairs, so that seconds compare and scores do not.

    cargo xtask bench thin -- --before OTHER/CHECKOUT/target/release/rankwright
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass

from _common import OUT, made_once, markdown, program, verdict, warm


@dataclass(frozen=True)
class Job:
    """A training that both builds do."""

    name: str
    before: str
    # The spec for the new build, if it differs.
    after: str | None = None
    # The goal: processor time of the old build divided by that of the new one; None: no goal.
    target: float | None = None
    # Whether both builds must give the same scores.
    same: bool = True

    def spec(self, build):
        return self.after if build == "after" and self.after else self.before


BY_PAIR = "ranknet(epochs=1, factored=false)"
JOBS = (
    Job("adarank", "adarank", target=10),
    Job("coordinate ascent, two passes", "coordinate-ascent(restarts=1, passes=2)", target=10),
    Job("adarank, AP, 20 rounds", "adarank(metric=ap, rounds=20)"),
    # Nets may round differently from build to build: products of matrices are those of a dependency.
    Job("ranknet, net evaluated for each pair, an epoch", BY_PAIR, same=False),
    Job("ranknet, step after each pair, an epoch", BY_PAIR, "ranknet(epochs=1, update=pair)", same=False),
)
# The targets are judged with at least so many queries: about 300,000 rows.
FULL = 2480


def train(binary, data, spec, out, threads):
    """`(seconds of training, processor seconds of the process)`."""
    words = ["train", data, "--learner", spec, "--out", out, "--threads", threads, "--json", "--quiet"]
    process = subprocess.Popen([binary, *map(str, words)], stdout=subprocess.PIPE)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed with exit code {process.returncode}: {binary} {spec}")
    return json.loads(text)["seconds"]["train"], usage.ru_utime + usage.ru_stime


def scores(binary, model, data):
    """The scores of a model, as text."""
    out = OUT / "thin.scores"
    subprocess.run([binary, "score", model, data, "--out", out, "--quiet"], check=True)
    return out.read_bytes()


def compare(options):
    after = program("RANKWRIGHT_BIN", "rankwright")
    words = ["data", "generate", "letor", "--queries", options.queries, "--seed", 1, "--to", "rwd", "--quiet"]
    make = lambda path: subprocess.run([after, *map(str, words), "--out", path], check=True)  # noqa: E731
    data = made_once(OUT / f"thin-{options.queries}.rwd", make)
    warm(data)
    rows, ratios, same = [], {}, True
    wanted = options.jobs.split(",") if options.jobs else None
    # The first word of a name, without a comma after it.
    jobs = [job for job in JOBS if not wanted or job.name.split()[0].rstrip(",") in wanted]
    if not jobs:
        sys.exit(f"no job begins with one of {options.jobs}; there are {', '.join(job.name for job in JOBS)}")
    for job in jobs:
        best = {}
        for turn in range(options.repeat):
            for build, binary in (("before", options.before), ("after", after)):
                model = OUT / f"thin-{build}.model"
                taken = train(binary, data, job.spec(build), model, options.threads)
                best[build] = tuple(map(min, taken, best.get(build, taken)))
                print(f"  {job.name}, {build}, run {turn + 1}: {taken[0]:.2f} s", file=sys.stderr)
        equal = len({scores(after, OUT / f"thin-{build}.model", data) for build in best}) == 1
        same &= equal or not job.same
        (before_s, before_cpu), (after_s, after_cpu) = best["before"], best["after"]
        ratios[job.name] = before_cpu / after_cpu
        numbers = [f"{value:.2f}" for value in (before_s, after_s, before_cpu, after_cpu)]
        comparison = "yes" if equal else "NO" if job.same else "not compared"
        rows.append([job.name, *numbers, f"{ratios[job.name]:.1f}", comparison])
    header = ["training", "before s", "after s", "before processor s", "after processor s", "times less", "same scores"]
    print(markdown(header, rows) + "\n")
    for job in jobs:
        if job.target:
            claim = f"{job.name}: at least {job.target} times less processor time ({ratios[job.name]:.1f})"
            verdict(claim, ratios[job.name] >= job.target, options.queries >= FULL)
    if any(job.same for job in jobs):
        verdict("the same scores as before", same)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", required=True, help="the command of the other build")
    parser.add_argument("--queries", type=int, default=FULL, help="of 120 documents on average")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--jobs", help="first words of some jobs, such as adarank,coordinate,ranknet")
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
