"""Kills and full disks, at the calls of a command that change files, and kills at random times.

Each attack makes the expected results first. It then runs the command with a fault at one of its calls and checks
what is left, again and again.
"""

import json
import shutil
import subprocess
import time

from sandbox import Broken, Partial, check, check_clean, check_clean_index, digest, faults_in_words, fresh, inject_faults

# Documents of docs.jsonl, all with the word `train`, and of more.jsonl, all with the word `zebra`.
OLD, NEW = 300, 50


def convert(sandbox):
    """Faults in a conversion over an older file: the old or the new file is there"""
    words = "data convert train.txt w/out.rwd"
    sandbox.ok("data convert train.txt new.rwd")
    sandbox.ok("data convert valid.txt old.rwd")
    new, old = digest(sandbox.at("new.rwd")), digest(sandbox.at("old.rwd"))

    def prepare():
        shutil.copy(sandbox.at("old.rwd"), fresh(sandbox, "w") / "out.rwd")

    def verify(kind, done):
        found = digest(sandbox.at("w/out.rwd"))
        check(found in {new, old}, kind, "left a half file")
        sandbox.ok("data convert train.txt w/out.rwd")
        check_clean(sandbox.at("w"), kind)

    return faults_in_words(inject_faults(sandbox, words, prepare, verify))


def split(sandbox):
    """Faults in a split over an older split: all parts are of one split"""
    parts = "--parts train=0.5,valid=0.2,test=0.3 --force"
    names = ["train.txt", "valid.txt", "test.txt"]
    for seed in (1, 2):
        fresh(sandbox, f"s{seed}")
        sandbox.ok(f"data split train.txt {parts} --seed {seed} --out s{seed}")
    sets = {tuple(digest(sandbox.at(f"s{seed}") / name) for name in names) for seed in (1, 2)}

    def prepare():
        fresh(sandbox, "w")
        for name in names:
            shutil.copy(sandbox.at("s1") / name, sandbox.at("w") / name)

    def verify(kind, done):
        # A killed command may leave a half-done exchange of old and new files. A command that reads one of the parts,
        # or writes into their folder, finishes it.
        sandbox.ok(sandbox.random.choice([
            "data inspect w/test.txt --quiet", "train w/train.txt --learner mart(trees=1) --out w/m.model",
        ]))
        found = tuple(digest(sandbox.at("w") / name) for name in names)
        check(found in sets, kind, "left parts of two splits side by side")
        sandbox.ok("data convert w/test.txt w/test.rwd")
        check_clean(sandbox.at("w"), kind)

    return faults_in_words(inject_faults(sandbox, f"data split train.txt {parts} --seed 2 --out w", prepare, verify))


def train(sandbox):
    """Faults in a training with checkpoints, which is run again: the model is the same to the byte"""
    spec = "lambdamart(trees=12,leaves=7)"
    words = f"train train.txt --learner {spec} --out w/m.model --checkpoint w/save --checkpoint-trees 3"
    fresh(sandbox, "w")
    sandbox.ok(words)
    expected = digest(sandbox.at("w/m.model"))

    def verify(kind, done):
        found = digest(sandbox.at("w/m.model"))
        check(found in {None, expected}, kind, "left a half model")
        sandbox.ok(words)
        check(digest(sandbox.at("w/m.model")) == expected, kind, "resumed to another model")
        check_clean(sandbox.at("w"), kind)

    return faults_in_words(inject_faults(sandbox, words, lambda: fresh(sandbox, "w"), verify))


def copy_index(sandbox):
    fresh(sandbox, "w")
    shutil.copytree(sandbox.at("i/shop"), sandbox.at("w/shop"))


def found(sandbox, query):
    """The number of documents that a search finds."""
    return json.loads(sandbox.ok(f"search w/shop {query} --json").stdout)["found"]


def index(sandbox):
    """Faults in the rebuild of an index: the old or the new one can be searched, with all documents"""
    words = "index more.jsonl --out w/shop --rebuild"

    def verify(kind, done):
        counts = found(sandbox, "train"), found(sandbox, "zebra")
        check(counts in {(OLD, 0), (0, NEW)}, kind, "left neither the old nor the new index:", counts)
        sandbox.ok(words)
        counts = found(sandbox, "train"), found(sandbox, "zebra")
        check(counts == (0, NEW), kind, "was built again with others:", counts)
        check_clean_index(sandbox.at("w/shop"), kind)

    return faults_in_words(inject_faults(sandbox, words, lambda: copy_index(sandbox), verify, max_faults=40))


def add(sandbox):
    """Faults in an addition to an index: no old document is lost, and all new ones are there or none"""
    words = "index more.jsonl --out w/shop --add"

    def verify(kind, done):
        old, new = found(sandbox, "train"), found(sandbox, "zebra")
        check(old == OLD and new in {0, NEW}, kind, "left other documents:", old, new)
        total = json.loads(sandbox.ok(words + " --json").stdout)["total"]
        check(total == OLD + NEW, kind, "gave an index of", total)
        counts = found(sandbox, "train"), found(sandbox, "zebra")
        check(counts == (OLD, NEW), kind, "gave an index that finds", counts)
        check_clean_index(sandbox.at("w/shop"), kind)

    return faults_in_words(inject_faults(sandbox, words, lambda: copy_index(sandbox), verify, max_faults=40))


def delete(sandbox):
    """Faults in a deletion from an index: all of the documents are gone, or none"""
    ids = [f"d{number}" for number in range(0, 20, 2)]
    words = "index --out w/shop --delete " + " ".join(ids)

    def verify(kind, done):
        old = found(sandbox, "train")
        check(old in {OLD, OLD - len(ids)}, kind, "left other documents:", old)
        sandbox.ok(words)
        old = found(sandbox, "train")
        check(old == OLD - len(ids), kind, "cannot be repeated:", old)
        check_clean_index(sandbox.at("w/shop"), kind)

    return faults_in_words(inject_faults(sandbox, words, lambda: copy_index(sandbox), verify, max_faults=40))


def tune(sandbox):
    """Faults in a search for parameters with a log, which is run again: the model is the same to the byte"""
    words = ("tune train.txt --valid valid.txt --learner mart(trees=4) --space leaves=choice(3,5,7) "
             "--trials 4 --log w/trials --out w/m.model --threads 1")

    def trials():
        """The finished trials, without their times."""
        lines = sandbox.at("w/trials").read_text().splitlines()
        values = [json.loads(line) for line in lines]
        return [{key: value for key, value in line.items() if key != "seconds"} for line in values]

    fresh(sandbox, "w")
    sandbox.ok(words)
    expected, kept = digest(sandbox.at("w/m.model")), trials()

    def verify(kind, done):
        left = digest(sandbox.at("w/m.model"))
        check(left in {None, expected}, kind, "left a half model")
        sandbox.ok(words)
        check(digest(sandbox.at("w/m.model")) == expected, kind, "resumed to another model")
        check(trials() == kept, kind, "kept other trials")
        check_clean(sandbox.at("w"), kind)

    return faults_in_words(inject_faults(sandbox, words, lambda: fresh(sandbox, "w"), verify, max_faults=30))


def features(sandbox):
    """Faults in writing feature data over older data: the data and its feature set belong together"""
    names = ["f.csv", "f.csv.features.toml"]
    words = "features i/shop --queries queries.tsv --qrels qrels.txt --features {} --out {}/f.csv"
    for folder, specs in (("f1", "bm25,tf"), ("f2", "bm25,dirichlet")):
        fresh(sandbox, folder)
        sandbox.ok(words.format(specs, folder))
    sets = {tuple(digest(sandbox.at(folder) / name) for name in names) for folder in ("f1", "f2")}
    check(len(sets) == 2 and all(None not in files for files in sets), "the two sets are the same")

    def verify(kind, done):
        sandbox.ok("data inspect w/f.csv --quiet")
        files = tuple(digest(sandbox.at("w") / name) for name in names)
        check(files in sets, kind, "left data with the feature set of other data")
        sandbox.ok("data convert w/f.csv w/f.rwd")
        check_clean(sandbox.at("w"), kind)

    def prepare():
        fresh(sandbox, "w", *(f"f1/{name}" for name in names))

    return faults_in_words(inject_faults(sandbox, words.format("bm25,dirichlet", "w"), prepare, verify))


def folds(sandbox):
    """Faults in a split into folds over an older one: the parts of all folds are of one split"""
    words = "data split train.txt --folds 3 --seed {} --force --out {}"
    for seed in (1, 2):
        shutil.rmtree(sandbox.at(f"k{seed}"), ignore_errors=True)
        sandbox.ok(words.format(seed, f"k{seed}"))
    names = sorted(str(path.relative_to(sandbox.at("k1"))) for path in sandbox.at("k1").rglob("*.txt"))
    check(len(names) == 9, "folds are", names)
    sets = {tuple(digest(sandbox.at(f"k{seed}") / name) for name in names) for seed in (1, 2)}

    def prepare():
        fresh(sandbox, "w")
        shutil.copytree(sandbox.at("k1"), sandbox.at("w/folds"))

    def verify(kind, done):
        # A command that reads any part of any fold finishes a half-done exchange of all files.
        sandbox.ok(f"data inspect w/folds/{sandbox.random.choice(names)} --quiet")
        files = tuple(digest(sandbox.at("w/folds") / name) for name in names)
        check(files in sets, kind, "left parts of two splits side by side")
        sandbox.ok(words.format(2, "w/folds"))
        check_clean(sandbox.at("w"), kind)

    return faults_in_words(inject_faults(sandbox, words.format(2, "w/folds"), prepare, verify, max_faults=40))


def store(sandbox):
    """Faults in writing a generated store over an older one: documents, queries and judgements belong together"""
    names = ["documents.jsonl", "queries.jsonl", "qrels.txt"]
    words = "data generate store --records 200 --queries 20 --seed {} --out {}"
    for seed in (1, 2):
        sandbox.ok(words.format(seed, f"g{seed}"))
    sets = {tuple(digest(sandbox.at(f"g{seed}") / name) for name in names) for seed in (1, 2)}
    check(len(sets) == 2 and all(None not in files for files in sets), "the two stores are the same")

    def prepare():
        fresh(sandbox, "w", *(f"g1/{name}" for name in names))

    def verify(kind, done):
        # A command that reads one of the files finishes a half-done exchange of all of them.
        sandbox.ok("index w/documents.jsonl --out i/store --rebuild --quiet")
        files = tuple(digest(sandbox.at("w") / name) for name in names)
        check(files in sets, kind, "left files of two stores side by side")
        sandbox.ok(words.format(2, "w"))
        check_clean(sandbox.at("w"), kind)

    return faults_in_words(inject_faults(sandbox, words.format(2, "w"), prepare, verify))


def experiment(sandbox):
    """Faults in an experiment, which is run again: the results are the same to the byte"""
    words = "experiment small.toml --out w/study"
    # The lock file is not compared: it names the number of jobs, which is smaller if fewer cells are left.
    names = ["results.json", "report.html", "table.md", "per-query.tsv"]
    fresh(sandbox, "w")
    sandbox.ok(words)
    expected = [digest(sandbox.at("w/study") / name) for name in names]
    check(None not in expected, "a file of the report is missing")

    def verify(kind, done):
        sandbox.ok(words)
        check([digest(sandbox.at("w/study") / name) for name in names] == expected, kind, "resumed to other results")
        check_clean(sandbox.at("w"), kind)
        parts = [path.name for path in sandbox.at("w/study/cells").iterdir() if path.suffix]
        check(not parts, kind, "left cells", parts)

    return faults_in_words(inject_faults(sandbox, words, lambda: fresh(sandbox, "w"), verify, max_faults=30))


def write_clicks(path):
    """A log of UBI events; clicks come before their queries."""
    lines = []
    for page in range(300):
        hits = [f"d{(page + rank) % 40}" for rank in range(5)]
        lines.append({"action_name": "click", "query_id": f"i{page}",
                      "event_attributes": {"object": {"object_id": hits[page % 5]}}})
        lines.append({"query_id": f"i{page}", "user_query": f"q{page % 9}", "query_response_hit_ids": hits})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def outputs(sandbox):
    """Faults in other commands that write a file: the file is whole or not there"""
    fresh(sandbox, "w")
    sandbox.ok("train train.txt --learner ranksvm --out linear.model")
    sandbox.ok("train train.txt --learner lambdamart(trees=5,leaves=7) --out trees.model")
    sandbox.ok("index docs.jsonl --out w/shop")
    write_clicks(sandbox.at("clicks.jsonl"))
    sandbox.ok("clicks simulate valid.txt linear.model --sessions 3 --out log.jsonl")
    sandbox.ok("run w/shop --queries queries.tsv --out first.run")
    sandbox.ok("run w/shop --queries queries.tsv --first-stage cosine --out second.run")
    sandbox.ok("interleave first.run second.run --repeat 20 --out lists.jsonl")
    sandbox.ok("judge prompts first.run second.run --queries queries.tsv --index w/shop --out prompts.jsonl")
    prompts = [json.loads(line) for line in sandbox.at("prompts.jsonl").read_text().splitlines()]
    check(prompts, "there are no questions to answer")
    sandbox.at("answers.tsv").write_text("".join(f"{prompt['id']}\tA > B\n" for prompt in prompts))
    sandbox.ok("judge read answers.tsv --prompts prompts.jsonl --out judgements.jsonl")
    total = possible = 0
    commands = [
        ("score linear.model valid.txt --out o/scores", "scores"),
        ("run w/shop --queries queries.tsv --out o/run", "run"),
        ("eval linear.model valid.txt --per-query o/table", "table"),
        ("model convert trees.model --to lightgbm --out o/lightgbm", "lightgbm"),
        ("report data valid.txt --out o/page.html", "page.html"),
        ("clicks convert clicks.jsonl --to lists --out o/lists.jsonl.gz", "lists.jsonl.gz"),
        # So little memory that records are kept in temporary files.
        ("clicks convert clicks.jsonl --to csv --out o/clicks.csv --max-memory 64K", "clicks.csv"),
        ("clicks pairs clicks.jsonl --rule skip-above --out o/pairs.tsv", "pairs.tsv"),
        ("clicks simulate valid.txt linear.model --sessions 3 --out o/log.jsonl", "log.jsonl"),
        ("clicks labels log.jsonl --from coec --features valid.txt --out o/labels.txt", "labels.txt"),
        ("report clicks clicks.jsonl --samples 0 --models pbm --out o/clicks.html", "clicks.html"),
        ("interleave first.run second.run --repeat 20 --out o/lists.jsonl", "lists.jsonl"),
        ("interleave simulate lists.jsonl --qrels qrels.txt --out o/shown.jsonl", "shown.jsonl"),
        ("judge prompts first.run second.run --queries queries.tsv --index w/shop --out o/prompts.jsonl", "prompts.jsonl"),
        ("judge read answers.tsv --prompts prompts.jsonl --out o/judgements.jsonl", "judgements.jsonl"),
        ("judge aggregate judgements.jsonl --to qrels --out o/qrels.txt", "qrels.txt"),
        ("classify docs.jsonl --label price --classifier knn --apply more.jsonl --out o/classes.tsv", "classes.tsv"),
        ("explain trees.model valid.txt --query 1 --html o/explained.html", "explained.html"),
    ]
    for words, out in commands:
        fresh(sandbox, "o")
        done = sandbox.run(words)
        if done.returncode == 2:
            raise Broken(f"{words}: {done.stderr[-300:]}")
        expected = digest(sandbox.at("o") / out)
        check(expected, words, "wrote nothing")

        def verify(kind, done, words=words, out=out, expected=expected):
            found = digest(sandbox.at("o") / out)
            check(found in {None, expected}, words, kind, "left a half file")
            sandbox.run(words)
            check(digest(sandbox.at("o") / out) == expected, words, kind, "cannot be run again")
            check_clean(sandbox.at("o"), kind)

        injected, calls = inject_faults(sandbox, words, lambda: fresh(sandbox, "o"), verify, max_faults=20)
        total, possible = total + injected, possible + calls
    return f"{len(commands)} commands, {faults_in_words((total, possible))}"


def killed_at_random(sandbox, words, prepare, verify, rounds):
    """Kills a command at random times, up to six times in a row, and verifies what is left. Returns the number of
    kills."""
    prepare()
    begin = time.monotonic()
    sandbox.ok(words)
    took = time.monotonic() - begin
    kills = 0
    for _ in range(rounds):
        if not sandbox.has_time():
            raise Partial(f"{kills} kills of {words.split()[0]}, then out of time")
        prepare()
        for _ in range(6):
            process = sandbox.start(words)
            try:
                process.wait(timeout=sandbox.random.uniform(0.02, took))
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        verify()
    return kills


def random_kills(sandbox):
    """Kills at random times, also between calls: trainings and experiments resume to the
    same bytes, indices and conversions are the old or the new ones"""
    kills = {}

    def resumes(words, result, rounds):
        fresh(sandbox, "w")
        sandbox.ok(words)
        expected = digest(sandbox.at(result))

        def verify():
            sandbox.ok(words)
            check(digest(sandbox.at(result)) == expected, words, "resumed to another result")
            check_clean(sandbox.at("w"), words)

        kills[words.split()[0]] = killed_at_random(sandbox, words, lambda: fresh(sandbox, "w"), verify, rounds)

    resumes("train train.txt --learner lambdamart(trees=60,leaves=15) --out w/m.model --checkpoint w/save "
            "--checkpoint-trees 5", "w/m.model", 6)
    resumes("experiment small.toml --out w/study", "w/study/results.json", 4)

    def verify_index():
        counts = found(sandbox, "train"), found(sandbox, "zebra")
        check(counts in {(OLD, 0), (0, NEW)}, "left neither the old nor the new index:", counts)
        sandbox.ok("index more.jsonl --out w/shop --rebuild")
        check_clean_index(sandbox.at("w/shop"), "a kill")

    words = "index more.jsonl --out w/shop --rebuild"
    kills["index"] = killed_at_random(sandbox, words, lambda: copy_index(sandbox), verify_index, 6)

    results = set()
    for name in ("large", "valid"):
        sandbox.ok(f"data convert {name}.txt {name}.csv")
        results.add(digest(sandbox.at(f"{name}.csv")))

    def verify_conversion():
        check(digest(sandbox.at("w/valid.csv")) in results, "left a half file")
        sandbox.ok("data convert valid.txt w/valid.csv")
        check_clean(sandbox.at("w"), "a kill")

    words = "data convert large.txt w/valid.csv"
    kills["convert"] = killed_at_random(sandbox, words, lambda: fresh(sandbox, "w", "valid.csv"), verify_conversion, 6)
    return ", ".join(f"{count} kills of {command}" for command, count in kills.items())
