"""Click logs: reading a UBI log, and fitting click models to the log of Yandex' challenge.

    RANKWRIGHT_DATA=DIR cargo xtask bench clicks [-- --megabytes N] [--part reading|models]

Reading: a generated UBI log (queries with ten hits, and their clicks) is summarised by `clicks inspect`; the
figure is the size of the file by the seconds that the command reports for reading, of three runs the best. The file is in the
page cache. Models: the seconds of fitting that `clicks fit` reports, of three runs the best.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

BINARY = os.environ.get("RANKWRIGHT_BIN", "rankwright")

# Goals on two cores.
MEGABYTES_PER_SECOND = 300
MODELS = {
    "pbm(iterations=50)": 0.2,
    "ubm(iterations=50)": 0.2,
    "dbn": 1.0,
    "ccm": 1.0,
}
RUNS = 3


def run(*words):
    """The JSON document that a command prints."""
    done = subprocess.run([BINARY, *words, "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def write_ubi(path, megabytes):
    """A UBI log of about this size, with two clicks for three queries; events follow their query at a distance."""
    draw = random.Random(7)
    late = []
    size, page = 0, 0
    with open(path, "w") as out:
        while size < megabytes * 1e6 or late:
            lines = []
            if size < megabytes * 1e6:
                hits = [f"product-{draw.randrange(20000):06}" for _ in range(10)]
                stamp = f"2026-03-{1 + page % 28:02}T{page % 24:02}:{page % 60:02}:07.{page % 1000:03}Z"
                query = {
                    "application": "shop", "query_id": f"9a1c44de-77b0-4e55-{page:012}",
                    "client_id": f"user-{page % 50000}", "user_query": f"query number {draw.randrange(5000)}",
                    "query_attributes": {}, "timestamp": stamp, "query_response_hit_ids": hits,
                }
                lines.append(json.dumps(query))
                if draw.random() < 0.67:
                    rank = min(int(draw.expovariate(0.5)), 9)
                    event = {
                        "application": "shop", "action_name": "click", "query_id": query["query_id"],
                        "client_id": query["client_id"], "timestamp": stamp, "message_type": "INFO",
                        "message": "a click on a result", "event_attributes": {
                            "object": {"object_id": hits[rank], "object_id_field": "product_id"},
                            "position": {"ordinal": rank + 1},
                        },
                    }
                    late.append(json.dumps(event))
                page += 1
            if late and (len(late) > 500 or size >= megabytes * 1e6):
                lines.append(late.pop(0))
            text = "".join(line + "\n" for line in lines)
            size += len(text)
            out.write(text)
    return size


def reading(megabytes):
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ubi.jsonl"
        size = write_ubi(log, megabytes)
        results = [run("clicks", "inspect", str(log)) for _ in range(RUNS)]
        seconds = min(result["seconds"] for result in results)
        counts = results[0]["counts"]
        rate = size / 1e6 / seconds
        print("| log | MB | impressions | clicks | seconds | MB/s | goal |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        print(f"| UBI, generated | {size / 1e6:.0f} | {counts['impressions']} | {counts['clicks']} | {seconds:.2f} "
              f"| {rate:.0f} | {MEGABYTES_PER_SECOND} |")
    return rate >= MEGABYTES_PER_SECOND


def models():
    folder = os.environ.get("RANKWRIGHT_DATA")
    if not folder:
        print("models: skipped, RANKWRIGHT_DATA is not set")
        return True
    files = sorted(path for path in (Path(folder) / "yandex-relpred-clicks").iterdir() if path.is_file())
    logs = [str(path) for path in files if "license" not in path.name.lower() and path.suffix != ".md"]
    within = True
    print("| model | pages | seconds | goal |")
    print("|---|---:|---:|---:|")
    for spec, goal in MODELS.items():
        results = [run("clicks", "fit", *logs, "--model", spec) for _ in range(RUNS)]
        seconds = min(result["seconds"] for result in results)
        within &= seconds <= goal
        print(f"| `{spec}` | {results[0]['fitted']['impressions']} | {seconds:.3f} | {goal} |")
    return within


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=400)
    parser.add_argument("--part", choices=["reading", "models"], action="append")
    arguments = parser.parse_args()
    parts = arguments.part or ["reading", "models"]
    within = True
    if "reading" in parts:
        within &= reading(arguments.megabytes)
        print()
    if "models" in parts:
        within &= models()
    if not within:
        sys.exit("a figure misses its goal")


if __name__ == "__main__":
    main()
