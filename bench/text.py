"""Speed of text search: indexing and queries beside tantivy's Python package and bm25s; re-ranking.

All systems read the same JSON lines, analyse title and text (lower case, accents, English stop words,
stems), write an index to disk, and answer the same queries by BM25, each with the number of threads that
it takes by default; ours also with one. tantivy gets title and text as one field with positions, and
searches query by query. bm25s analyses with its own tokeniser, has no positions, and answers all
queries in one call. NFCorpus is found through RANKWRIGHT_DATA; the record store is generated. Seconds
are those of the work alone, without start-up and imports: ours are those that `index` and `run` report. For
queries they are analysis and ranking; opening an index, ids of documents and output are counted for no system.

Re-ranking is timed in one warm process (`text-bench`), on one thread: the queries of three terms with
enough candidates, the best of five runs of each, medians over queries.
"""

import argparse
import json
import os
import resource
import shutil
import tempfile
import time
from pathlib import Path

from _common import (
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

KEPT = OUT / "text"
PEERS = ("tantivy", "bm25s")
DEPTHS = (10, 1000)
# Goal for the best 10 of the record store: our queries a second, divided by those of tantivy.
TIMES_TANTIVY = 2.0
RECORDS, QUERIES = 200_000, 1_000
CANDIDATES = 1_000
# Goals in milliseconds: computing the features, and all of a query with re-ranking.
FEATURES_MS, RERANK_MS = 5, 10
LEARNER = "lambdamart(trees=500, leaves=31)"
# A small set of strong features, as a server would compute them.
SMALL = "bm25(field=*), cosine, dirichlet, jelinek-mercer, matched-ratio(field=*), pair-proximity, length"


# --- the collections -----------------------------------------------------------------------------


def binary():
    return program("RANKWRIGHT_BIN", "rankwright")


def store(records):
    """The generated record store: documents and queries."""

    def make(partial):
        words = ["--records", str(records), "--queries", str(QUERIES), "--out", str(partial)]
        measure([binary(), "data", "generate", "store", *words, "--json", "--quiet"])

    folder = made_once(KEPT / f"store-{records}", make)
    return folder / "documents.jsonl", folder / "queries.jsonl"


def inputs(options):
    """`{name: (documents, queries)}`."""
    found = {}
    root = os.environ.get("RANKWRIGHT_DATA")
    if root:
        folder = Path(root) / "nfcorpus"
        found["NFCorpus"] = (folder / "corpus.jsonl", folder / "queries.jsonl")
    else:
        print("text: NFCorpus skipped, RANKWRIGHT_DATA does not name a data folder")
    found[f"record store, {options.records:,}"] = store(options.records)
    return found


def schema(documents):
    """Only title and text are searched; other fields are stored as they are."""
    with open(documents, encoding="utf-8") as file:
        names = [
            name
            for name in json.loads(file.readline())
            if name not in ("id", "_id", "title", "text")
        ]
    rest = [f"{name}.url:stored" if name == "metadata" else f"{name}:stored" for name in names]
    return ", ".join(["title:text", "text:text", *rest])


# --- workers: one peer, one task -----------------------------------------------------------------


def read(documents):
    with open(documents, encoding="utf-8") as file:
        for line in file:
            one = json.loads(line)
            yield one.get("_id") or one["id"], f"{one['title']} {one['text']}"


def query_texts(queries):
    with open(queries, encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


def tantivy_analyzer():
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    chain = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(128))
    for step in (
        Filter.lowercase(),
        Filter.ascii_fold(),
        Filter.stopword("english"),
        Filter.stemmer("english"),
    ):
        chain = chain.filter(step)
    return chain.build()


def tantivy_open(folder):
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", stored=True, tokenizer_name="ours", index_option="position")
    built = builder.build()
    index = tantivy.Index(built, path=str(folder))
    index.register_tokenizer("ours", tantivy_analyzer())
    return built, index


def tantivy_index(documents, folder):
    import tantivy

    built, index = tantivy_open(folder)
    writer = index.writer(heap_size=256 << 20, num_threads=0)
    for name, text in read(documents):
        writer.add_document(tantivy.Document(id=name, text=text))
    writer.commit()
    writer.wait_merging_threads()


def tantivy_search(folder, texts, depth):
    from tantivy import Occur, Query

    built, index = tantivy_open(folder)
    index.reload()
    searcher, analyzer = index.searcher(), tantivy_analyzer()

    def work():
        found = 0
        for text in texts:
            words = [
                (Occur.Should, Query.term_query(built, "text", t)) for t in analyzer.analyze(text)
            ]
            found += len(searcher.search(Query.boolean_query(words), limit=depth, count=False).hits)
        return found

    return timed(work)


def bm25s_tokens(texts):
    import bm25s
    import Stemmer
    from _text import STOP_WORDS

    stemmer = Stemmer.Stemmer("english")
    words = {
        "stopwords": sorted(STOP_WORDS),
        "token_pattern": r"(?u)[^\W_]+",
        "show_progress": False,
    }
    return bm25s.tokenize(texts, stemmer=stemmer, **words)


def bm25s_index(documents, folder):
    import bm25s

    found = list(read(documents))
    model = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    model.index(bm25s_tokens([text for _, text in found]), show_progress=False)
    model.save(folder)
    (Path(folder) / "ids.json").write_text(json.dumps([name for name, _ in found]))


def bm25s_search(folder, texts, depth):
    import bm25s

    model = bm25s.BM25.load(folder)
    depth = min(depth, model.scores["num_docs"])

    def work():
        _, scores = model.retrieve(bm25s_tokens(texts), k=depth, show_progress=False)
        return int((scores > 0).sum())

    return timed(work)


def run_worker(peer, task, documents, folder, queries, depth):
    if task == "index":
        shutil.rmtree(folder, ignore_errors=True)
        Path(folder).mkdir(parents=True)
        work = {"tantivy": tantivy_index, "bm25s": bm25s_index}[peer]
        found = with_cpu(lambda: timed(lambda: work(documents, folder)))
    else:
        work = {"tantivy": tantivy_search, "bm25s": bm25s_search}[peer]
        found = with_cpu(lambda: work(folder, query_texts(queries), int(depth)))
    print(json.dumps(found))


def with_cpu(work):
    """The report of a worker: the seconds that `work` returns, and the processor time of all its threads."""
    started = time.process_time()
    seconds, _ = work()
    return {"seconds": seconds, "cpu": time.process_time() - started}


# --- the comparison ------------------------------------------------------------------------------


def ours_index(documents, folder, *more):
    words = ["index", documents, "--out", folder, "--schema", schema(documents), "--rebuild", *more]
    return [binary(), *map(str, words), "--json", "--quiet"]


def ours_run(queries, folder, depth, out, *more):
    words = [
        "run",
        folder,
        "--queries",
        queries,
        "-k",
        depth,
        "--candidates",
        depth,
        "--out",
        out,
        *more,
    ]
    return [binary(), *map(str, words), "--json", "--quiet"]


def commands(documents, queries, folder):
    """`{system: (index command, {depth: search command})}`; ours with one thread searches the same."""
    ours = f"{folder}/ours"
    one = ["--threads", "1"]
    out = f"{folder}/run"
    found = {
        "**Rankwright**": (
            ours_index(documents, ours),
            {d: ours_run(queries, ours, d, out) for d in DEPTHS},
        ),
        "**Rankwright**, one thread": (
            ours_index(documents, ours, *one),
            {d: ours_run(queries, ours, d, out, *one) for d in DEPTHS},
        ),
    }
    for peer in PEERS:
        index = f"{folder}/{peer}"
        search = {d: worker(__file__, peer, "search", documents, index, queries, d) for d in DEPTHS}
        found[peer] = (worker(__file__, peer, "index", documents, index, queries, 0), search)
    return found


def children_cpu_seconds():
    """Processor time of all processes that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def costed(label, command):
    """A measurement with its processor time, which other programs on the machine change less than the seconds.
    Ours is that of the whole process, output included; the peers' is that of their work."""
    before = children_cpu_seconds()
    result = best_of(1, label, command)
    result.cpu = result.output.get("cpu", children_cpu_seconds() - before)
    return result


def measured(options, documents, queries, folder):
    """`{system: {"index" or depth: best result}}`. Rounds go over all systems in turn, so that a noisy
    minute affects all of them."""
    warm(documents)
    best = {}
    for _ in range(options.repeats):
        for system, (index, searches) in commands(documents, queries, folder).items():
            for what, command in {"index": index, **searches}.items():
                result = costed(f"{system}, {what}", command)
                have = best.setdefault(system, {}).get(what, result)
                result.cpu = min(result.cpu, have.cpu)
                result.seconds = min(result.seconds, have.seconds)
                best[system][what] = result
    return best


def report_collections(options):
    table, claims = [], []
    for name, (documents, queries) in inputs(options).items():
        with tempfile.TemporaryDirectory(dir=KEPT) as folder:
            best = measured(options, documents, queries, folder)
        megabytes, query_count = documents.stat().st_size / 1e6, len(query_texts(queries))
        rates = {
            system: {
                what: (megabytes if what == "index" else query_count) / r.seconds
                for what, r in results.items()
            }
            for system, results in best.items()
        }
        for system, rate in rates.items():
            row = [f"{rate['index']:.1f}", *(f"{rate[d]:,.0f}" for d in DEPTHS)]
            row += [f"{best[system][what].cpu:.2f}" for what in ("index", *DEPTHS)]
            table.append([name, system, *row, f"{best[system]['index'].peak / 1e6:.0f}"])
        for what, label in (("index", "MB/s"), *((d, f"queries/s, top {d}") for d in DEPTHS)):
            peer = max(rates[peer][what] for peer in PEERS)
            claims.append(
                (f"{name}: {label} at least the peers' ", rates["**Rankwright**"][what], peer)
            )
        if name.startswith("record store"):
            store_rates = {system: rate[10] for system, rate in rates.items()}
    print(f"\nBest of {options.repeats}\n")
    header = ["collection", "system", "index MB/s", *(f"queries/s, top {d}" for d in DEPTHS)]
    header += ["CPU s: index", *(f"top {d}" for d in DEPTHS), "index peak MB"]
    print(markdown(header, table))
    print()
    for label, mine, peer in claims:
        verdict(f"{label}({mine:,.1f} and {peer:,.1f})", mine >= peer, options.records == RECORDS)
    times = store_rates["**Rankwright**"] / store_rates["tantivy"]
    claim = f"record store: top 10 at least {TIMES_TANTIVY:g} times tantivy's queries/s"
    verdict(f"{claim} ({times:.2f})", times >= TIMES_TANTIVY, options.records == RECORDS)


# --- re-ranking ----------------------------------------------------------------------------------


def feature_data(documents, queries, index, features, out):
    words = ["features", index, "--queries", queries, "--qrels", documents.parent / "qrels.txt"]
    words += ["--features", features, "--candidates", "100", "--out", out]
    measure([binary(), *map(str, words), "--json", "--quiet"])
    return out


def reranked(options, folder):
    """`{feature set: result of text-bench}`."""
    documents, queries = store(options.records)
    index = f"{folder}/index"
    measure([binary(), "index", str(documents), "--out", index, "--json", "--quiet"])
    found = {}
    for name, features in (("default", "default"), ("small", SMALL)):
        data = feature_data(documents, queries, index, features, f"{folder}/{name}.rwd")
        model = f"{folder}/{name}.model"
        words = ["train", data, "--learner", LEARNER, "--out", model]
        measure([binary(), *words, "--json", "--quiet"])
        timer = program("RANKWRIGHT_TEXT_BENCH", "text-bench")
        found[name] = measure([timer, index, str(queries), model, str(CANDIDATES)]).output
    return found


def report_reranking(options):
    with tempfile.TemporaryDirectory(dir=KEPT) as folder:
        found = reranked(options, folder)
    times = ("first_ms", "features_ms", "all_ms")
    rows = [
        [name, str(entry["features"]), str(entry["queries"]), *(f"{entry[t]:.2f}" for t in times)]
        for name, entry in found.items()
    ]
    print(f"\nA warm query of three terms, {CANDIDATES:,} candidates, {options.records:,} records\n")
    header = ["features", "columns", "queries", "first stage ms", "features ms", "all ms"]
    print(markdown(header, rows))
    print()
    full = options.records == RECORDS
    for name, entry in found.items():
        claim = f"{name} features of {CANDIDATES:,} candidates in under {FEATURES_MS} ms"
        verdict(f"{claim} ({entry['features_ms']:.2f})", entry["features_ms"] < FEATURES_MS, full)
        claim = f"{name} features, {LEARNER}: all in under {RERANK_MS} ms"
        verdict(f"{claim} ({entry['all_ms']:.2f})", entry["all_ms"] < RERANK_MS, full)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--tables", type=lambda text: text.split(","), default=["collections", "reranking"]
    )
    parser.add_argument("--worker", nargs=6, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        run_worker(*options.worker)
        return
    KEPT.mkdir(parents=True, exist_ok=True)
    if "collections" in options.tables:
        report_collections(options)
    if "reranking" in options.tables:
        report_reranking(options)


if __name__ == "__main__":
    main()
