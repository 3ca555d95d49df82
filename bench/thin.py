"""AdaRank, coordinate ascent and RankNet pair by pair: two builds of Rankwright side by side.

Both builds train the same models on the same generated data, in turn, so that a noise falls on both;
the best of some runs counts. The processor seconds are those of the whole process, with loading. The
models of the two builds must give the same scores, to the last digit.

    cargo xtask bench thin -- --before OTHER/CHECKOUT/target/release/rankwright
"""

import argparse
import json
import os
import subprocess
import sys

from _common import OUT, made_once, markdown, program, verdict, warm

# Name, spec and the target: how many times faster. None: shown beside the others, without a target.
JOBS = (
    ("adarank", "adarank", 10),
    ("coordinate ascent, two passes", "coordinate-ascent(restarts=1, passes=2)", 10),
    ("adarank, AP, 20 rounds", "adarank(metric=ap, rounds=20)", None),
    ("ranknet pair by pair, an epoch", "ranknet(epochs=1, factored=no)", None),
)
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
    for name, spec, _ in JOBS:
        if options.jobs and name.split()[0] not in options.jobs.split(","):
            continue
        best = {}
        for turn in range(options.repeat):
            for build, binary in (("before", options.before), ("after", after)):
                taken = train(binary, data, spec, OUT / f"thin-{build}.model", options.threads)
                best[build] = tuple(map(min, taken, best.get(build, taken)))
                print(f"  {name}, {build}, run {turn + 1}: {taken[0]:.2f} s", file=sys.stderr)
        equal = len({scores(after, OUT / f"thin-{build}.model", data) for build in best}) == 1
        same &= equal
        (before_s, before_cpu), (after_s, after_cpu) = best["before"], best["after"]
        ratios[name] = before_cpu / after_cpu
        numbers = [f"{value:.2f}" for value in (before_s, after_s, before_cpu, after_cpu)]
        rows.append([name, *numbers, f"{ratios[name]:.1f}", "yes" if equal else "NO"])
    header = ["training", "before s", "after s", "before processor s", "after processor s", "times less", "same scores"]
    print(markdown(header, rows) + "\n")
    for name, _, target in JOBS:
        if target and name in ratios:
            claim = f"{name}: at least {target} times less processor time ({ratios[name]:.1f})"
            verdict(claim, ratios[name] >= target, options.queries >= FULL)
    verdict("the same scores as before", same)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", required=True, help="the command of the other build")
    parser.add_argument("--queries", type=int, default=FULL, help="of 120 documents on average")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--jobs", help="first words of some jobs, such as adarank,coordinate")
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
