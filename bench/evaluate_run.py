"""Evaluating a TREC run, parsing included: time and memory beside pytrec_eval, ir_measures, ranx.

NDCG@10, MAP and RR. The run has 10,000 queries of 1,000 documents without tied scores (about
320 MB), the judgements about 100 documents a query with grades 0 to 3, some of them not retrieved.
Files are in the page cache. Our seconds are those of the whole process; the peers' are without
starting Python, imports and, for ranx, compilation, which happens on a small run first.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from _common import (
    MIB,
    OUT,
    best_of,
    made_once,
    markdown,
    measure,
    program,
    timed,
    verdict,
    warm,
    worker,
)

FULL_QUERIES = 10_000
DOCUMENTS = 1_000
TARGET_RATIO = 10.0
# trec_eval is in no package registry; measured once on a machine of the same kind.
TREC_EVAL_SECONDS = 13.7
# The largest difference of two values that agree.
AGREE = 5e-5
METRICS = ("ndcg(preset=trec)@10", "ap(preset=trec)", "rr(preset=trec)")


# --- workers: each parses both files, evaluates, prints one line of JSON -----------------------


def with_pytrec_eval(run, qrels):
    import pytrec_eval

    def work():
        with open(qrels) as file:
            judged = pytrec_eval.parse_qrel(file)
        with open(run) as file:
            ranked = pytrec_eval.parse_run(file)
        names = {"ndcg_cut.10", "map", "recip_rank"}
        rows = pytrec_eval.RelevanceEvaluator(judged, names).evaluate(ranked).values()
        return [
            sum(row[n] for row in rows) / len(rows) for n in ("ndcg_cut_10", "map", "recip_rank")
        ]

    return timed(work)


def with_ir_measures(run, qrels):
    import ir_measures
    from ir_measures import AP, RR, nDCG

    measures = [nDCG @ 10, AP, RR]

    def work():
        judged = ir_measures.read_trec_qrels(qrels)
        ranked = ir_measures.read_trec_run(run)
        values = ir_measures.calc_aggregate(measures, judged, ranked)
        return [float(values[measure]) for measure in measures]

    return timed(work)


def with_ranx(run, qrels):
    import ranx

    names = ["ndcg@10", "map", "mrr"]

    def work(run, qrels):
        judged = ranx.Qrels.from_file(qrels, kind="trec")
        ranked = ranx.Run.from_file(run, kind="trec")
        values = ranx.evaluate(judged, ranked, names)
        return [float(values[name]) for name in names]

    # Its functions are compiled at the first call.
    with tempfile.TemporaryDirectory() as folder:
        small_run, small_qrels = f"{folder}/small.txt", f"{folder}/judged.txt"
        Path(small_run).write_text("1 Q0 a 1 2.5 r\n2 Q0 a 1 2.5 r\n2 Q0 b 2 1.5 r\n")
        Path(small_qrels).write_text("1 0 a 1\n2 0 b 2\n")
        work(small_run, small_qrels)
    return timed(lambda: work(run, qrels))


WORKERS = {"pytrec_eval": with_pytrec_eval, "ir_measures": with_ir_measures, "ranx": with_ranx}


def run_worker(name, *paths):
    if name == "make":
        return make_files(Path(paths[0]), Path(paths[1]), int(paths[2]))
    seconds, values = WORKERS[name](*paths)
    print(json.dumps({"seconds": seconds, "values": values}))


def make_files(run, qrels, queries):
    """Scores fall by at least a tenth from rank to rank: no ties, not even in 32 bits. Documents
    high in the run are judged, and relevant, more often."""
    import numpy as np

    rng = np.random.default_rng(1)
    with open(run, "w") as ranked, open(qrels, "w") as judged:
        for query in range(1, queries + 1):
            # Twice as many as retrieved; the second half is there to be judged and missed.
            docs = rng.choice(1_000_000, 2 * DOCUMENTS, replace=False).tolist()
            scores = np.arange(DOCUMENTS, 0, -1) + 0.9 * rng.random(DOCUMENTS)
            ranked.writelines(
                f"{query} Q0 d{doc} {rank} {score:.6f} r\n"
                for rank, (doc, score) in enumerate(zip(docs, scores.tolist()), 1)
            )
            at = np.unique((2 * DOCUMENTS * rng.random(110) ** 2).astype(int))
            chance = 0.35 / (1 + at / 200)
            grades = np.where(rng.random(len(at)) < chance, rng.integers(1, 4, len(at)), 0)
            pairs = zip(at.tolist(), grades.tolist())
            judged.writelines(f"{query} 0 d{docs[i]} {grade}\n" for i, grade in pairs)
    print(json.dumps({"queries": queries}))


# --- the comparison -------------------------------------------------------------------------------


def inputs(queries):
    """The run and its judgements, made together."""
    run, qrels = OUT / f"run-{queries}.txt", OUT / f"qrels-{queries}.txt"

    def make(partial):
        measure(worker(__file__, "make", partial, qrels, queries))

    return made_once(run, make), qrels


def ours(run, qrels, threads):
    wanted = [word for metric in METRICS for word in ("--metric", metric)]
    files = ["--run", str(run), "--qrels", str(qrels)]
    command = [program("RANKWRIGHT_BIN", "rankwright"), "eval", *files, *wanted]
    return [*command, "--json", "--threads", str(threads)]


def compare(options):
    run, qrels = inputs(options.queries)
    warm(run)
    warm(qrels)
    results = {"ours": best_of(3, "ours", ours(run, qrels, options.threads))}
    metrics = results["ours"].output["metrics"]
    results["ours"].output["values"] = [metric["value"] for metric in metrics]
    for name in WORKERS:
        results[name] = best_of(options.repeat, name, worker(__file__, name, run, qrels))
    report(results, run, options)


def report(results, run, options):
    first = results["ours"]
    times = "once" if options.repeat == 1 else f"best of {options.repeat}"
    shape = f"{options.queries:,} queries x {DOCUMENTS:,} documents"
    print(f"\n{shape}, {run.stat().st_size / 1e6:.0f} MB; ", end="")
    print(f"ours on {options.threads} threads, best of 3; the others {times}\n")
    rows = []
    for name, result in results.items():
        values = " / ".join(f"{value:.4f}" for value in result.output["values"])
        ratio = result.seconds / first.seconds
        label = "**Rankwright**" if name == "ours" else name
        rows.append(
            [label, f"{result.seconds:.2f}", f"{result.peak / MIB:,.0f}", f"{ratio:.1f}", values]
        )
    header = ["evaluator", "seconds", "peak MiB", "times our time", "NDCG@10 / MAP / RR"]
    print(markdown(header, rows))
    print()
    if not targets(results, options):
        sys.exit("the evaluators do not agree")


def targets(results, options):
    """Prints the targets; false where values differ, because then the times mean nothing."""
    first = results["ours"]
    full = options.queries == FULL_QUERIES
    agree = True
    for name in WORKERS:
        ratio = results[name].seconds / first.seconds
        claim = f"at least {TARGET_RATIO:g} times {name} ({ratio:.1f})"
        verdict(claim, ratio >= TARGET_RATIO, full)
        pairs = zip(first.output["values"], results[name].output["values"])
        agree &= all(abs(a - b) <= AGREE for a, b in pairs)
    if full:
        ratio = TREC_EVAL_SECONDS / first.seconds
        theirs = f"trec_eval's recorded {TREC_EVAL_SECONDS} s"
        verdict(f"at least {TARGET_RATIO:g} times {theirs} ({ratio:.1f})", ratio >= TARGET_RATIO)
    return verdict("values agree to 4 digits", agree)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=FULL_QUERIES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1, help="runs of each peer")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    run_worker(*options.worker) if options.worker else compare(options)


if __name__ == "__main__":
    main()
