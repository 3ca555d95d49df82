"""Loading LETOR text beside XGBoost, LightGBM and scikit-learn, and tables beside Polars.

The file is MSLR-shaped and made by our generator: 6,000 queries, about 714,000 rows, 136 features,
870 MB. Every loader runs in a fresh process with the file in the page cache; seconds are those
of the load alone, without starting the process or importing libraries.

The loaders do not do quite the same: LightGBM has no `qid:` in its text format and gets a copy without it
and the query sizes in a side file, and its time includes binning; scikit-learn loads a tenth of the file,
once, and its time is scaled to the whole file.

Tables are the same data (1,500 queries, 178,500 rows) as CSV, Parquet and JSON lines, written by
our own converter, and as JSON lines with a key for each feature, as most programs write them. Polars reads
them into columns; we read them into rows, which takes one more pass, and group them by query.
"""

import argparse
import json
import os
import subprocess
import sys

from _common import (
    MIB,
    OUT,
    best_of,
    made_once,
    markdown,
    program,
    timed,
    verdict,
    warm,
    worker,
)

MSLR_QUERIES = 6000
TABLE_QUERIES = 1500
# Goal for each format: our time is at most this many times that of Polars.
TABLE_TARGETS = {"csv": 1.0, "parquet": 1.5, "jsonl": 1.0, "keyed.jsonl": 1.0}
# Goals for LETOR text: time of the fastest peer divided by ours, and our peak memory without the file, divided
# by the size of the feature matrix.
TARGET_RATIO = 5.0
TARGET_MEMORY = 1.3
# scikit-learn loads one part of so many.
SKLEARN_PART = 10


# --- workers: each loads one file and prints one line of JSON --------------------------------


def load_xgboost(path, threads):
    import xgboost

    xgboost.set_config(verbosity=0)
    seconds, data = timed(lambda: xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads))
    if not len(data.get_uint_info("group_ptr")):
        sys.exit("XGBoost did not read the query ids")
    return seconds, data.num_row(), data.num_col()


def load_lightgbm(path, threads):
    import lightgbm

    params = {"verbose": -1, "num_threads": threads, "max_bin": 255, "header": False}
    data = lightgbm.Dataset(path, params=params)
    seconds, _ = timed(data.construct)
    if data.get_group() is None:
        sys.exit("LightGBM did not read the query sizes")
    return seconds, data.num_data(), data.num_feature()


def load_sklearn(path, threads):
    from sklearn.datasets import load_svmlight_file

    seconds, (rows, _, _) = timed(lambda: load_svmlight_file(path, query_id=True, dtype="float32"))
    return seconds, *rows.shape


def load_polars(path, threads):
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars

    readers = {
        ".csv": polars.read_csv,
        ".parquet": polars.read_parquet,
        ".jsonl": polars.read_ndjson,
    }
    read = readers[os.path.splitext(path)[1]]
    seconds, frame = timed(lambda: read(path))
    if "features" in frame.columns:
        # Features are one column of lists in the JSON lines of our converter.
        return seconds, frame.height, len(frame["features"][0])
    return seconds, frame.height, frame.width - 2


WORKERS = {
    "xgboost": load_xgboost,
    "lightgbm": load_lightgbm,
    "sklearn": load_sklearn,
    "polars": load_polars,
}


def run_worker(name, path, threads):
    seconds, rows, features = WORKERS[name](path, int(threads))
    print(json.dumps({"seconds": seconds, "rows": int(rows), "features": int(features)}))


# --- input files -------------------------------------------------------------------------------


def generate(path, queries):
    words = ["data", "generate", "letor", "--to", "letor", "--queries", str(queries), "--seed", "1"]
    command = [program("RANKWRIGHT_BIN", "rankwright"), *words, "--out", str(path)]
    subprocess.run(command, check=True, stdout=sys.stderr)


def without_query_ids(source, target):
    """LightGBM's form: `label index:value ...`, and the sizes of the queries in TARGET.query."""
    sizes, last = [], None
    with open(source, "rb") as lines, open(target, "wb") as out:
        for line in lines:
            label, query, rest = line.split(b"#", 1)[0].split(b" ", 2)
            if query != last:
                sizes.append(0)
                last = query
            sizes[-1] += 1
            out.write(label + b" " + rest.rstrip() + b"\n")
    final = target.with_name(target.name.removesuffix(".part") + ".query")
    final.write_text("".join(f"{size}\n" for size in sizes))


def first_part(source, target):
    """The first lines, up to a tenth of the bytes."""
    left = source.stat().st_size // SKLEARN_PART
    with open(source, "rb") as lines, open(target, "wb") as out:
        for line in lines:
            left -= out.write(line)
            if left <= 0:
                break


def inputs(queries):
    """`{loader: file}`, made where missing."""
    name = "mslr" if queries == MSLR_QUERIES else f"mslr-{queries}"
    text = made_once(OUT / f"{name}.txt", lambda path: generate(path, queries))
    return {
        "ours": text,
        "xgboost": text,
        "lightgbm": made_once(OUT / f"{name}.lightgbm", lambda p: without_query_ids(text, p)),
        "sklearn": made_once(OUT / f"{name}.tenth", lambda p: first_part(text, p)),
    }


# --- the comparison ------------------------------------------------------------------------------


def compare(options):
    files = inputs(options.queries)
    size = files["ours"].stat().st_size
    results = {}
    for name, path in files.items():
        warm(path)
        if name == "ours":
            command = [
                program("RANKWRIGHT_LOAD_BENCH", "load-bench"),
                str(path),
                str(options.threads),
            ]
        else:
            command = worker(__file__, name, path, options.threads)
        results[name] = best_of(1 if name == "sklearn" else options.repeat, name, command)
    check_same_shape(results)
    results["sklearn"].seconds *= size / files["sklearn"].stat().st_size
    report(results, size, options)


def compare_tables(options):
    """The same table in each format: our reader and Polars, run in turn."""
    name = f"table-{options.table_queries}"
    text = made_once(OUT / f"{name}.txt", lambda path: generate(path, options.table_queries))
    rows = []
    verdicts = []
    for ending, target in TABLE_TARGETS.items():
        path = made_once(OUT / f"{name}.{ending}", lambda p, e=ending: convert(text, p, e))
        warm(path)
        ours_command = [
            program("RANKWRIGHT_LOAD_BENCH", "load-bench"),
            str(path),
            str(options.threads),
        ]
        ours = best_of(options.repeat, f"{ending}, ours", ours_command)
        polars_command = worker(__file__, "polars", path, options.threads)
        polars = best_of(options.repeat, f"{ending}, Polars", polars_command)
        if (ours.output["rows"], ours.output["features"]) != (
            polars.output["rows"],
            polars.output["features"],
        ):
            sys.exit(f"{ending}: Polars read {polars.output}, we {ours.output}")
        ratio = ours.seconds / polars.seconds
        size = path.stat().st_size / 1e6
        rows.append(
            [ending, f"{size:,.0f}", f"{ours.seconds:.3f}", f"{polars.seconds:.3f}", f"{ratio:.2f}"]
        )
        verdicts.append((f"{ending} at most {target:g} times Polars ({ratio:.2f})", ratio <= target))
    shape = f"{ours.output['rows']:,} rows, {ours.output['features']} features"
    print(f"\nTables of {shape}; {options.threads} threads, best of {options.repeat}\n")
    print(markdown(["format", "MB", "Rankwright, s", "Polars, s", "ratio"], rows))
    print()
    for claim, holds in verdicts:
        verdict(claim, holds, options.table_queries == TABLE_QUERIES)


def convert(source, target, ending):
    if ending == "keyed.jsonl":
        return write_keyed(source, target)
    command = [program("RANKWRIGHT_BIN", "rankwright"), "data", "convert", str(source), str(target)]
    subprocess.run([*command, "--to", ending], check=True, stdout=sys.stderr)


def write_keyed(source, target):
    """JSON lines with a key for each column, from CSV that is made of the source."""
    table = made_once(source.with_suffix(".csv"), lambda path: convert(source, path, "csv"))
    with open(table) as lines, open(target, "w") as out:
        # Names are quoted as JSON, and all cells are numbers.
        names = [json.dumps(name) for name in next(lines).rstrip("\n").split(",")]
        for line in lines:
            cells = line.rstrip("\n").split(",")
            pairs = (f"{name}:{cell}" for name, cell in zip(names, cells, strict=True))
            out.write("{" + ",".join(pairs) + "}\n")


def check_same_shape(results):
    ours = results["ours"].output
    for name in ("xgboost", "lightgbm"):
        if results[name].output["rows"] != ours["rows"]:
            sys.exit(f"{name} read {results[name].output['rows']} rows, we {ours['rows']}")


def report(results, size, options):
    ours = results["ours"]
    shape = f"{ours.output['rows']:,} rows, {ours.output['features']} features"
    print(f"\n{shape}, {size / 1e6:.0f} MB; {options.threads} threads, best of {options.repeat}\n")
    labels = {
        "ours": "**Rankwright**",
        "xgboost": "XGBoost DMatrix",
        "lightgbm": "LightGBM Dataset (with binning)",
        "sklearn": f"scikit-learn (one run on 1/{SKLEARN_PART}, time scaled, 1 thread)",
    }
    rows = []
    for name, result in results.items():
        # A tenth of the file says nothing about the peak for all of it.
        peak = "-" if name == "sklearn" else f"{result.peak / MIB:,.0f}"
        speed = size / 1e6 / result.seconds
        ratio = result.seconds / ours.seconds
        rows.append([labels[name], f"{result.seconds:.2f}", f"{speed:,.0f}", peak, f"{ratio:.1f}"])
    print(markdown(["loader", "seconds", "MB/s", "peak MiB", "times our time"], rows))
    print()
    targets(results, size, options.queries == MSLR_QUERIES)


def targets(results, size, full):
    ours = results["ours"]
    peers = {name: r.seconds for name, r in results.items() if name != "ours"}
    fastest = min(peers, key=peers.get)
    ratio = peers[fastest] / ours.seconds
    verdict(
        f"at least {TARGET_RATIO:g} times the fastest peer ({fastest}: {ratio:.1f})",
        ratio >= TARGET_RATIO,
        full,
    )
    matrix = ours.output["matrix_bytes"]
    bound = TARGET_MEMORY * matrix + size
    peak = max(ours.peak, ours.output.get("peak_rss_bytes", 0))
    limit = f"{TARGET_MEMORY} x matrix + file ({bound / MIB:,.0f} MiB)"
    claim = f"peak {peak / MIB:,.0f} MiB at most {limit}"
    verdict(claim, peak <= bound, full)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=MSLR_QUERIES)
    parser.add_argument("--table-queries", type=int, default=TABLE_QUERIES)
    parser.add_argument("--only", choices=["letor", "tables"], help="one of the two comparisons")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--worker", nargs=3, metavar=("NAME", "FILE", "THREADS"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    if options.worker:
        run_worker(*options.worker)
        return
    if options.only != "tables":
        compare(options)
    if options.only != "letor":
        compare_tables(options)


if __name__ == "__main__":
    main()
