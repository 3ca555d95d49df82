"""Shared by the comparisons of text search: three collections, their parts, and Rankwright's commands.

Judgements and queries are written once, in plain forms, to `bench/out/text`, so that all systems read
the same ones. Cranfield's codes are read as grades, 1 (a complete answer) as 4 down to 4 (minimum
interest) as 1. Its code -1, which nobody explains, stands once for each query; it is read as not
relevant. NFCorpus has its own parts; the others have five, with the i-th query in part i mod 5.
"""

import hashlib
import json
import os
import re
import subprocess
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from _common import OUT, made_once, program

# The folder of what was made or computed once.
KEPT = OUT / "text"
PARTS = 5
CRANFIELD_GRADES = {1: 4, 2: 3, 3: 2, 4: 1, -1: 0}
# The words that Lucene's English analysis, and with it tantivy's, takes out.
STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with".split()
)


# --- reading the collections ---------------------------------------------------------------------


def smart(path):
    """`(id, {letter: text})` of each record of a SMART file."""
    for record in re.split(r"^\.I\s+", path.read_text(errors="replace"), flags=re.M)[1:]:
        number, _, rest = record.partition("\n")
        pieces = re.split(r"^\.([A-Z])[ \t]*$", rest, flags=re.M)
        sections = {}
        for letter, text in zip(pieces[1::2], pieces[2::2], strict=True):
            sections.setdefault(letter, text.strip())
        yield number.strip(), sections


def json_lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def rows(path, skip=0):
    with open(path, encoding="utf-8") as file:
        for line in list(file)[skip:]:
            if line.strip():
                yield line.split()


@dataclass(frozen=True)
class Collection:
    """A collection under the data folder."""

    name: str
    folder: Path
    documents_file: str
    # Only title and text are searched, by us and by the peers; links are for features.
    schema: str

    @property
    def source(self):
        return self.folder / self.documents_file

    @cached_property
    def documents(self):
        """`[(id, title and text)]`, as the peers are given them."""
        if self.name == "nfcorpus":
            return [(d["_id"], f"{d['title']} {d['text']}") for d in json_lines(self.source)]
        return [(i, f"{s.get('T', '')} {s.get('W', '')}") for i, s in smart(self.source)]

    @cached_property
    def queries(self):
        """`{id: text}` of all queries."""
        if self.name == "nfcorpus":
            return {q["_id"]: q["text"] for q in json_lines(self.folder / "queries.jsonl")}
        if self.name == "cranfield":
            # Judgements number the queries by their order in the file, not by the ids in it.
            found = enumerate(smart(self.folder / "cran.qry"), start=1)
            return {str(number): sections["W"] for number, (_, sections) in found}
        return {i: sections["W"] for i, sections in smart(self.folder / "query.text")}

    @cached_property
    def judgements(self):
        """`[(query, document, grade)]` of all parts."""
        if self.name == "nfcorpus":
            files = [self.folder / "qrels" / f"{part}.tsv" for part in ("train", "dev", "test")]
            return [(q, d, int(g)) for path in files for q, d, g in rows(path, skip=1)]
        if self.name == "cranfield":
            found = rows(self.folder / "cranqrel")
            return [(q, d, CRANFIELD_GRADES[int(code)]) for q, d, code in (r[:3] for r in found)]
        return [(row[0], row[2], int(row[3])) for row in rows(self.folder / "trec_qrels")]

    @cached_property
    def parts(self):
        """`{part: [query]}`, only of queries that have judgements."""
        if self.name == "nfcorpus":
            files = {
                part: self.folder / "qrels" / f"{part}.tsv" for part in ("train", "dev", "test")
            }
            return {p: list(dict.fromkeys(r[0] for r in rows(f, skip=1))) for p, f in files.items()}
        judged = {query for query, _, _ in self.judgements}
        judged_queries = [query for query in self.queries if query in judged]
        return {str(part): judged_queries[part::PARTS] for part in range(PARTS)}

    @property
    def folds(self):
        """`(training parts, validation part, test part)` of each fold."""
        if self.name == "nfcorpus":
            return [(("train",), "dev", "test")]
        around = [[str((fold + i) % PARTS) for i in range(PARTS)] for fold in range(PARTS)]
        return [(tuple(parts[:3]), parts[3], parts[4]) for parts in around]

    @property
    def tested(self):
        """The parts that are ever tested on."""
        return [test for _, _, test in self.folds]

    # --- files of ours ---

    @property
    def kept(self):
        return KEPT / self.name

    @cached_property
    def qrels(self):
        lines = "".join(f"{q} 0 {d} {g}\n" for q, d, g in self.judgements)
        return str(made_once(self.kept / "qrels.txt", lambda path: path.write_text(lines)))

    def query_file(self, parts):
        """The queries of some parts as `id TAB text`."""
        chosen = [query for part in parts for query in self.parts[part]]
        lines = "".join(f"{q}\t{' '.join(self.queries[q].split())}\n" for q in chosen)
        name = f"queries-{'-'.join(parts)}.tsv"
        return str(made_once(self.kept / name, lambda path: path.write_text(lines)))

    def qrels_of(self, parts):
        """The judgements of the queries of some parts, so that a query without a result counts 0."""
        chosen = {query for part in parts for query in self.parts[part]}
        lines = "".join(f"{q} 0 {d} {g}\n" for q, d, g in self.judgements if q in chosen)
        name = f"qrels-{'-'.join(parts)}.txt"
        return str(made_once(self.kept / name, lambda path: path.write_text(lines)))

    @cached_property
    def index(self):
        path = self.kept / f"index-{build()}"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            ours("index", str(self.source), "--out", str(path), "--schema", self.schema)
        return str(path)


def collections(names=None):
    """The collections with these names (all if none are given), or None where there is no data folder."""
    root = os.environ.get("RANKWRIGHT_DATA")
    if not root:
        return None
    root = Path(root)
    smart_rest = "author:stored, source:stored"
    cacm_rest = f"{smart_rest}, note:stored, keywords:stored, category:stored, links:links"
    found = [
        Collection(
            "cranfield", root / "cranfield", "cran.all.1400", f"title:text, text:text, {smart_rest}"
        ),
        Collection(
            "nfcorpus",
            root / "nfcorpus",
            "corpus.jsonl",
            "title:text, text:text, metadata.url:stored",
        ),
        Collection("cacm", root / "cacm", "cacm.all", f"title:text, text:text, {cacm_rest}"),
    ]
    return [c for c in found if not names or c.name in names]


# --- our commands --------------------------------------------------------------------------------


@cache
def build():
    """A name of the build in use, which stored results depend on."""
    binary = Path(program("RANKWRIGHT_BIN", "rankwright"))
    return hashlib.sha256(binary.read_bytes()).hexdigest()[:12]


def key_of(*what):
    """A short name of the build in use and of what else a stored result depends on."""
    text = json.dumps([build(), *what], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ours(*words):
    """The JSON document that a command of Rankwright prints."""
    command = [program("RANKWRIGHT_BIN", "rankwright"), *map(str, words), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def first_stage_run(collection, parts, stage, top=1000):
    """A kept run of a first stage over the queries of some parts."""
    path = collection.kept / f"first-{key_of(list(parts), stage, top)}.run"

    def make(partial):
        words = ["--queries", collection.query_file(parts), "--first-stage", stage, "-k", top]
        ours("run", collection.index, *words, "--out", partial)

    return str(made_once(path, make))


def model_run(collection, parts, model, stage, candidates, out):
    """A run that a model re-ranks; only the candidates are in it."""
    words = ["--queries", collection.query_file(parts), "--first-stage", stage, "-k", candidates]
    ours(
        "run", collection.index, *words, "--model", model, "--candidates", candidates, "--out", out
    )


def with_tail(head, tail, out):
    """Writes to `out` the re-ranked candidates of each query (the run `head`), then the documents that the
    first stage (the run `tail`) found behind them: MAP of a short list is not comparable with that of a list
    of 1,000."""
    ranked = {}
    for path in (head, tail):
        with open(path, encoding="utf-8") as file:
            for line in file:
                query, _, document, *_ = line.split()
                ranked.setdefault(query, {}).setdefault(document)
    with open(out, "w", encoding="utf-8") as file:
        for query, documents in ranked.items():
            for rank, document in enumerate(documents, start=1):
                file.write(f"{query} Q0 {document} {rank} {-rank} x\n")


def values(run, qrels, metrics):
    """The mean values of a run."""
    words = [word for metric in metrics for word in ("--metric", metric)]
    found = ours("eval", "--run", run, "--qrels", qrels, *words)["metrics"]
    return [entry["value"] for entry in found]


def compared(runs, qrels, metrics, folder):
    """`[{system: entry}]`, a dictionary for each metric: Fisher's randomisation test of each system against the
    first one, with p-values that are not corrected for several systems."""
    # `compare` names a system by its file.
    links = []
    for system, run in runs.items():
        link = Path(folder) / system.replace(" ", "-")
        link.unlink(missing_ok=True)
        link.symlink_to(Path(run).resolve())
        links.append(str(link))
    words = [word for metric in metrics for word in ("--metric", metric)]
    words += ["--test", "randomisation", "--correction", "none"]
    found = ours("compare", "--qrels", qrels, *links, *words)["metrics"]
    names = list(runs)
    return [dict(zip(names, metric["systems"], strict=True)) for metric in found]


# --- the same analysis in Python -----------------------------------------------------------------


@cache
def stemmer():
    import Stemmer

    return Stemmer.Stemmer("english")


def folded(word):
    """Accents to plain letters, as far as Unicode's decomposition goes."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def terms(text):
    """Terms by the rules of our `english` analysis: runs of letters and digits, lower case, accents
    folded, Lucene's stop words out, Snowball stems."""
    words = (folded(word.lower()) for word in re.findall(r"[^\W_]+", text))
    return stemmer().stemWords(
        [word for word in words if word not in STOP_WORDS and len(word) < 128]
    )
