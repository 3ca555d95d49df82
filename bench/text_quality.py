"""Quality of text search: first stages beside bm25s, learnt re-ranking against BM25.

Four tables over Cranfield, NFCorpus and CACM, found through RANKWRIGHT_DATA. Title and text are
searched. Where something is learnt, NFCorpus has its own train, dev and test queries; the others have
five folds by query (three parts to train on, one to choose by, one to test on), their test runs
pooled. A point is a feature set, a number of candidates and a learner; the points to choose from stand in
`text_grid.toml`, and test parts are looked at only when that file is committed as it stands. Significance is
Fisher's randomisation test, paired by query. What was computed is kept in `bench/out/text/`, under names made
of everything that it depends on.
"""

import argparse
import json
import sys
import tempfile
import tomllib
from pathlib import Path

from _common import BENCH, OUT, made_once, markdown, measure, verdict, worker
from _text import collections, compared, first_stage_run, key_of, model_run, ours, values, with_tail
from quality import ALPHA, committed, digest, mean

GRID = BENCH / "text_grid.toml"
BM25 = "bm25(k1=1.2, b=0.75)"
STAGES = [BM25, "bm25f", "dirichlet", "jelinek-mercer", "cosine"]
# The largest difference of a metric between our BM25 and that of bm25s.
NEAR = 0.005
TABLES = ("first", "learnt", "nallapati", "links")
NALLAPATI_LEARNERS = {"linear SVM": "linear-svm", "maximum entropy": "logistic"}


# --- first stages beside bm25s -------------------------------------------------------------------


def bm25s_run(collection):
    """The run of bm25s over the tested queries, made in a process of its own."""
    path = OUT / "text" / collection.name / "bm25s.run"
    return str(made_once(path, lambda part: measure(worker(__file__, collection.name, part))))


def bm25s_worker(name, out):
    """Ranks with bm25s, its terms made by the rules of ours. The documents' order decides ties."""
    import bm25s
    import numpy as np
    from _text import terms

    (collection,) = collections([name])
    model = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    model.index([terms(text) for _, text in collection.documents], show_progress=False)
    ids = [document for document, _ in collection.documents]
    with open(out, "w", encoding="utf-8") as file:
        for query in (query for part in collection.tested for query in collection.parts[part]):
            known = [term for term in terms(collection.queries[query]) if term in model.vocab_dict]
            scores = model.get_scores(known) if known else np.zeros(len(ids))
            for rank, i in enumerate(np.argsort(-scores, kind="stable")[:1000], start=1):
                if scores[i] > 0:
                    file.write(f"{query} Q0 {ids[i]} {rank} {scores[i]:.9g} bm25s\n")
    print(json.dumps({"seconds": 0}))


def report_first(found):
    table, claims = [], []
    for collection in found:
        qrels = collection.qrels_of(collection.tested)
        runs = {
            f"**Rankwright** {s}": first_stage_run(collection, collection.tested, s) for s in STAGES
        }
        runs = {"bm25s, method lucene": bm25s_run(collection)} | runs
        measured = {name: values(run, qrels, ["ndcg@10", "map"]) for name, run in runs.items()}
        for name, (ndcg, ap) in measured.items():
            table.append([collection.name, name, f"{ndcg:.4f}", f"{ap:.4f}"])
        theirs, mine = measured["bm25s, method lucene"], measured[f"**Rankwright** {BM25}"]
        gaps = [m - t for m, t in zip(mine, theirs, strict=True)]
        claims.append((collection.name, gaps))
    print("\nFirst stages, 1,000 documents a query; NFCorpus: test queries\n")
    print(markdown(["collection", "system", "NDCG@10", "MAP"], table))
    print()
    for name, gaps in claims:
        text = ", ".join(f"{gap:+.4f}" for gap in gaps)
        verdict(
            f"{name}: NDCG@10 and MAP within {NEAR} of bm25s ({text})",
            all(abs(g) <= NEAR for g in gaps),
        )


# --- learning on the collections' own queries ----------------------------------------------------


def feature_data(collection, parts, features, candidates, folder):
    """Feature data of the candidates that the first stage finds, which a model also re-ranks in use."""
    path = Path(folder) / f"{collection.name}-{key_of(list(parts), features, candidates)}.rwd"
    if not path.exists():
        words = ["--queries", collection.query_file(parts), "--qrels", collection.qrels_of(parts)]
        words += ["--features", features, "--candidates", candidates, "--first-stage", BM25]
        ours("features", collection.index, *words, "--out", path)
    return path


def kept_fold(grid, collection, fold, points, tested):
    """The stored result of a fold, computed if there is none: the validation values of all points, the number of
    the chosen point, and with `tested` also its run over the test part."""
    task = [
        collection.name,
        fold,
        points,
        {point[0]: grid["features"][point[0]] for point in points},
    ]
    path = collection.kept / f"fold-{key_of(task, grid['seed'], grid['metric'], tested)}.json"

    def make(partial):
        with tempfile.TemporaryDirectory() as folder:
            partial.write_text(json.dumps(fit_fold(grid, collection, fold, points, tested, folder)))

    return json.loads(made_once(path, make).read_text())


def fit_fold(grid, collection, fold, points, tested, folder):
    train, valid, test = collection.folds[fold]
    best = {"values": [], "chosen": None}
    for number, (features, candidates, learner) in enumerate(points):
        spec = grid["features"][features]
        model, run = f"{folder}/model-{number}", f"{folder}/run-{number}"
        data = [feature_data(collection, p, spec, candidates, folder) for p in (train, (valid,))]
        words = [
            "--learner",
            learner,
            "--seed",
            grid["seed"],
            "--metric",
            grid["metric"],
            "--out",
            model,
        ]
        ours("train", data[0], "--valid", data[1], *words)
        model_run(collection, [valid], model, BM25, candidates, run)
        value = values(run, collection.qrels_of([valid]), [grid["metric"]])[0]
        if best["chosen"] is None or value > max(best["values"]):
            best["chosen"] = number
        best["values"].append(value)
    if tested:
        number = best["chosen"]
        model_run(collection, [test], f"{folder}/model-{number}", BM25, points[number][1], run)
        with_tail(run, first_stage_run(collection, [test], BM25), f"{folder}/whole")
        best["run"] = Path(f"{folder}/whole").read_text()
    return best


def fitted(grid, collection, systems, tested):
    """`{system: [fold result]}` for `{system: points}`."""
    found = {}
    for system, points in systems.items():
        found[system] = []
        for fold in range(len(collection.folds)):
            found[system].append(kept_fold(grid, collection, fold, points, tested))
            text = ", ".join(f"{value:.4f}" for value in found[system][-1]["values"])
            print(f"  {collection.name}, fold {fold}, {system}: {text}", file=sys.stderr)
    return found


def baseline_valid(collection, metric):
    parts = [valid for _, valid, _ in collection.folds]
    return mean(
        values(first_stage_run(collection, [p], BM25), collection.qrels_of([p]), [metric])[0]
        for p in parts
    )


def against_bm25(collection, fits, metrics):
    """`compare` of the pooled test runs, BM25 first."""
    with tempfile.TemporaryDirectory() as folder:
        runs = {"BM25": first_stage_run(collection, collection.tested, BM25)}
        for number, (system, folds) in enumerate(fits.items()):
            path = Path(folder) / f"joined-{number}"
            path.write_text("".join(fold["run"] for fold in folds))
            runs[system] = path
        return compared(runs, collection.qrels_of(collection.tested), metrics, folder)


def report_learnt(grid, found, tested):
    table, better = [], []
    for collection in found:
        fits = fitted(grid, collection, grid["systems"], tested)
        valid = {s: mean(max(fold["values"]) for fold in folds) for s, folds in fits.items()}
        chosen = {
            s: " ".join(str(fold["chosen"] + 1) for fold in folds) for s, folds in fits.items()
        }
        valid["BM25"], chosen["BM25"] = baseline_valid(collection, grid["metric"]), ""
        tests = against_bm25(collection, fits, ["ndcg@10", "map"]) if tested else None
        for system in ["BM25", *fits]:
            row = [collection.name, system, chosen[system], f"{valid[system]:.4f}"]
            table.append(row + (test_cells(tests, system) if tests else ["", "", ""]))
        if tests:
            better.append((collection.name, tests[0]["LambdaMART"]["versus_baseline"]))
    print("\nRe-ranking BM25's candidates\n")
    header = ["collection", "system", "point of each fold", "validation NDCG@10"]
    print(markdown([*header, "test NDCG@10", "to BM25", "test MAP"], table))
    if better:
        print()
        above = [name for name, v in better if v["difference"] > 0 and v["p"] < ALPHA]
        text = ", ".join(f"{name} {v['difference']:+.4f}, p {v['p']:.4f}" for name, v in better)
        claim = (
            f"LambdaMART significantly above BM25 in NDCG@10 on two collections or more ({text})"
        )
        verdict(claim, len(above) >= 2, len(found) == 3)


def test_cells(tests, system):
    ndcg, ap = (metric[system] for metric in tests)
    return [f"{ndcg['value']:.4f}", difference(ndcg), f"{ap['value']:.4f}"]


def difference(entry):
    versus = entry.get("versus_baseline")
    return f"{versus['difference']:+.4f}, p {versus['p']:.4f}" if versus else ""


# --- train on one collection, test on another (Nallapati 2004) -----------------------------------


def nallapati_parts(collection, training):
    """The parts of a collection to train on or to test on: its own, if it has them; else all parts in both cases,
    as training and test are on different collections."""
    if collection.name == "nfcorpus":
        return ["train"] if training else ["test"]
    return collection.tested


def tuned_mu(grid, collection):
    """The Dirichlet prior that is best in MAP on the training collection."""
    parts = nallapati_parts(collection, True)
    runs = {mu: first_stage_run(collection, parts, f"dirichlet(mu={mu})") for mu in grid["mu"]}
    found = {mu: values(run, collection.qrels_of(parts), ["map"])[0] for mu, run in runs.items()}
    return max(found, key=found.get)


def nallapati_models(grid, collection, folder):
    """A model of each learner, of all training queries and 1,000 candidates each."""
    parts = nallapati_parts(collection, True)
    data = feature_data(collection, parts, grid["features"]["nallapati"], 1000, folder)
    models = {}
    for name, learner in NALLAPATI_LEARNERS.items():
        models[name] = f"{folder}/{collection.name}-{learner}"
        ours("train", data, "--learner", learner, "--seed", grid["seed"], "--out", models[name])
    return models


def nallapati_row(grid, source, models, target, folder):
    parts = nallapati_parts(target, False)
    mu = tuned_mu(grid, source)
    runs = {"LM": first_stage_run(target, parts, f"dirichlet(mu={mu})")}
    for name, model in models.items():
        runs[name] = f"{folder}/{target.name}-{Path(model).name}.run"
        model_run(target, parts, model, BM25, 1000, runs[name])
    runs["BM25"] = first_stage_run(target, parts, BM25)
    (tests,) = compared(runs, target.qrels_of(parts), ["map"], folder)
    cells = [
        f"{tests[s]['value']:.4f} (p {tests[s]['versus_baseline']['p']:.3f})"
        for s in NALLAPATI_LEARNERS
    ]
    ends = [f"{tests[s]['value']:.4f}" for s in ("LM", "BM25")]
    return [source.name, target.name, str(mu), ends[0], *cells, ends[1]]


def report_nallapati(grid, found):
    table = []
    with tempfile.TemporaryDirectory() as folder:
        for source in found:
            models = nallapati_models(grid, source, folder)
            table += [
                nallapati_row(grid, source, models, t, folder) for t in found if t is not source
            ]
    print(
        "\nNallapati's six features: trained on one collection, tested on another; MAP, p against LM\n"
    )
    header = ["trained on", "tested on", "mu", "LM, tuned mu", *NALLAPATI_LEARNERS, "BM25"]
    print(markdown(header, table))


# --- text features against text and links --------------------------------------------------------


def report_links(grid, found, tested):
    collection = next((c for c in found if c.name == "cacm"), None)
    if collection is None:
        return
    entry = grid["links"]
    systems = {name: [[name, *rest] for rest in entry["points"]] for name in ("text", "text+links")}
    fits = fitted(grid, collection, systems, tested)
    metrics = ["success@10", "map", "ndcg@10"]
    print("\nCACM: features of the text against those and five of the citations\n")
    rows = [[s, f"{mean(max(fold['values']) for fold in f):.4f}"] for s, f in fits.items()]
    print(markdown(["features", "validation NDCG@10"], rows))
    if not tested:
        return
    with tempfile.TemporaryDirectory() as folder:
        runs = {}
        for number, (system, folds) in enumerate(fits.items()):
            runs[system] = Path(folder) / f"joined-{number}"
            runs[system].write_text("".join(fold["run"] for fold in folds))
        tests = compared(runs, collection.qrels_of(collection.tested), metrics, folder)
    rows = [
        [m, *(f"{t[s]['value']:.4f}" for s in fits), difference(t["text+links"])]
        for m, t in zip(metrics, tests, strict=True)
    ]
    print()
    print(markdown(["metric, test parts", *fits, "difference"], rows))


def report(options):
    found = collections(options.collections)
    if found is None:
        print("text_quality: skipped, RANKWRIGHT_DATA does not name a data folder")
        return
    grid = tomllib.loads(GRID.read_text())
    tested = committed(GRID)
    print(f"grid {digest(GRID)[:16]}")
    if not tested:
        print("The grid is not committed as it stands: commit it, then the test parts are shown.")
    if "first" in options.tables:
        report_first(found)
    if "learnt" in options.tables:
        report_learnt(grid, found, tested)
    if "nallapati" in options.tables:
        report_nallapati(grid, found)
    if "links" in options.tables:
        report_links(grid, found, tested)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=lambda text: text.split(","), default=None)
    parser.add_argument("--tables", type=lambda text: text.split(","), default=list(TABLES))
    parser.add_argument("--worker", nargs=2, metavar=("NAME", "OUT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    bm25s_worker(*options.worker) if options.worker else report(options)


if __name__ == "__main__":
    main()
