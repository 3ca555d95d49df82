"""Files that unpack to gigabytes, and damaged files."""

import concurrent.futures
import gzip
import os
import shutil
import subprocess
import time

from sandbox import Broken, Partial, check, fresh


def bombs(sandbox):
    """Small files that unpack to gigabytes, or claim to be wide, are refused in little memory."""
    fresh(sandbox, "w")
    part = gzip.compress(b"0 qid:1 1:0\n" * 1_000_000)
    sandbox.at("w/bomb.gz").write_bytes(part * 800)
    line = b"0 qid:1 1:0\n" * 1_000_000
    plain = sandbox.at("w/plain")
    plain.write_bytes(line)
    zstd = subprocess.run(["zstd", "-q", "-c", str(plain)], capture_output=True)
    names = ["bomb.gz"]
    if zstd.returncode == 0:
        sandbox.at("w/bomb.zst").write_bytes(zstd.stdout * 800)
        names.append("bomb.zst")
    for count in (1, 3, 21):
        rows = "".join(f"{i % 2} qid:{i // 7} 16777216:1\n" for i in range(count))
        sandbox.at(f"w/wide-{count}.txt").write_text(rows)
        names.append(f"wide-{count}.txt")
    sandbox.at("w/wide.csv").write_text(
        "qid,label," + ",".join(f"f{i}" for i in range(1_000_000)) + "\n" + "1,0" + ",0" * 1_000_000 + "\n"
    )
    # Rows of equal values take no space in a Parquet column, but 16 bytes each when they are read.
    rows = "".join(f"{row // 1000},{row % 2},1\n" for row in range(400_000))
    sandbox.at("w/rows.csv").write_text("qid,label,x\n" + rows)
    sandbox.ok("data convert w/rows.csv w/rows.parquet")
    for words in ["data inspect w/rows.parquet", "train w/rows.parquet --learner mart(trees=1) --out w/m"]:
        done = sandbox.run(words + " --max-memory 4M")
        check(done.returncode == 1, words, "took more than it may:", done.stderr[-300:])
        check("the limit for an input" in done.stderr, words, "blames something else:", done.stderr[-300:])
    names.append("wide.csv")
    tried = 2 + long_ids(sandbox)
    for name in names:
        for words in ["data inspect w/{}", "data convert w/{} w/out.rwd", "train w/{} --learner mart(trees=2) --out w/m"]:
            begin = time.monotonic()
            done, memory = measured(sandbox, words.format(name))
            took = time.monotonic() - begin
            check(done in {0, 1}, words.format(name), "ended with", done)
            check(memory < 2 << 30, words.format(name), f"took {memory >> 20} MiB")
            check(took < 30, words.format(name), f"took {took:.0f} s")
            if name.startswith("bomb"):
                check(done == 1, words.format(name), "was not refused")
            tried += 1
    if "bomb.zst" not in names:
        raise Partial(f"{tried} commands; without bombs of zstd, which is not installed")
    return f"{tried} commands"


def long_ids(sandbox):
    """A Parquet file holds a long id once, in a dictionary, but a data set holds it for every row. Returns the number
    of commands."""
    text = "x" * 50_000
    with open(sandbox.at("w/ids.csv"), "w") as file:
        file.write("qid,docid,label,x\n")
        file.writelines(f"{row},{text},{row % 2},1\n" for row in range(2_000))
    sandbox.ok("data convert w/ids.csv w/ids.parquet")
    check(sandbox.at("w/ids.parquet").stat().st_size < 100_000, "the ids are not in a dictionary")
    commands = ["data inspect w/ids.parquet", "data convert w/ids.parquet w/out.rwd"]
    for words in commands:
        done, memory = measured(sandbox, words + " --max-memory 20M")
        check(done == 1, words, "was not refused")
        check(memory < 200 << 20, words, f"took {memory >> 20} MiB")
    return len(commands)


def measured(sandbox, words):
    """The exit code and the largest memory of a command."""
    process = subprocess.Popen(
        [sandbox.command, *words.split()], cwd=sandbox.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024


def mutations(sandbox):
    """Damaged files give a result or an error, never a panic, a signal or a hang."""
    fresh(sandbox, "w")
    sandbox.ok("train train.txt --learner lambdamart(trees=5,leaves=7) --out trees.model")
    sandbox.ok("train train.txt --learner ranknet(epochs=1) --out net.model")
    for name in ["lightgbm", "xgboost", "onnx", "ranklib", "solr", "elasticsearch"]:
        sandbox.run(f"model convert trees.model --to {name} --out w/trees.{name}")
    for name in ["d.rwd", "d.csv", "d.jsonl", "d.parquet", "d.arrow", "d.txt.zst"]:
        sandbox.run(f"data convert valid.txt w/{name}")
    sandbox.ok("index docs.jsonl --out shop --rebuild") if sandbox.at("shop").exists() else sandbox.ok("index docs.jsonl --out shop")
    sandbox.ok("run shop --queries queries.tsv --out w/a.run")
    shutil.copy(sandbox.at("docs.jsonl"), sandbox.at("w/docs.jsonl"))
    shutil.copy(sandbox.at("pairs.tsv"), sandbox.at("w/pairs.tsv"))
    shutil.copy(sandbox.at("small.toml"), sandbox.at("w/small.toml"))
    targets = [(path, "score {} valid.txt --out {folder}/x") for path in sorted(sandbox.at("w").glob("trees.*"))]
    targets += [(sandbox.at(name), "score {} valid.txt --out {folder}/x") for name in ("trees.model", "net.model")]
    targets += [(path, "data inspect {}") for path in sorted(sandbox.at("w").glob("d.*"))]
    targets += [
        (sandbox.at("train.txt"), "data inspect {}"),
        (sandbox.at("w/a.run"), "eval --run {} --qrels qrels.txt --metric ndcg@10"),
        (sandbox.at("qrels.txt"), "eval --run w/a.run --qrels {} --metric ndcg@10"),
        (sandbox.at("w/docs.jsonl"), "index {} --out {folder}/shop --rebuild"),
        (sandbox.at("queries.tsv"), "run shop --queries {} --out {folder}/y.run"),
        (sandbox.at("w/pairs.tsv"), "train train.txt --pairs {} --learner ranksvm --out {folder}/z.model"),
        (sandbox.at("w/small.toml"), "experiment {} --dry-run"),
    ]
    inside = [path for path in sandbox.at("shop").rglob("*") if path.is_file() and path.stat().st_size]
    targets += [(path, "search {folder}/shop train") for path in sorted(inside)]
    workers = os.cpu_count() or 1
    done = 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        while done < sandbox.mutations and sandbox.has_time():
            # Drawn one after the other, so that the same seed damages the same files.
            numbers = range(done, min(done + workers, sandbox.mutations))
            chosen = [targets[number % len(targets)] for number in numbers]
            damages = [mutated(sandbox.random, source.read_bytes()) for source, _ in chosen]
            list(pool.map(lambda at: try_damaged(sandbox, at, *chosen[at], damages[at]), range(len(chosen))))
            done += len(chosen)
    if done < sandbox.mutations:
        raise Partial(f"{done} of {sandbox.mutations} files, then out of time")
    return f"{done} files"


def try_damaged(sandbox, worker, source, words, damage):
    """Runs a command on a damaged file, in a folder of the worker's own."""
    folder = fresh(sandbox, f"damaged-{worker}")
    damaged = folder / ("file" + "".join(source.suffixes))
    if source.is_relative_to(sandbox.at("shop")):
        shutil.copytree(sandbox.at("shop"), folder / "shop")
        damaged = folder / "shop" / source.relative_to(sandbox.at("shop"))
    damaged.write_bytes(damage)
    name = damaged.relative_to(sandbox.folder)
    ran = sandbox.run(words.format(name, folder=folder.name) + " --threads 1", text=False)
    if ran.returncode not in {0, 1, 2}:
        shutil.copy(damaged, sandbox.at("broken" + "".join(source.suffixes)))
        raise Broken(f"{words.format(source.name, folder='')} ended with {ran.returncode}: {ran.stderr[-300:]!r}")


def mutated(rng, data):
    """Bytes with one to four changes: bits, bytes, cuts, repeats, other numbers."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not data:
            break
        at = rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at : at + rng.randint(1, 40)]
        elif kind == 4:
            part = data[at : at + rng.randint(1, 40)]
            data[at:at] = part * rng.randint(1, 3)
        else:
            data[at : at + 1] = rng.choice([b"-1", b"99999999999", b"nan", b"1e999", b"\x00", b"\xff\xff\xff\xff", b"{", b'"'])
    return bytes(data)
