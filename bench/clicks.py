"""Click logs: reading a UBI log, and fitting click models to the log of Yandex' challenge.

    RANKWRIGHT_DATA=DIR cargo xtask bench clicks [-- --megabytes N] [--part reading|models]
    cargo xtask bench clicks -- --huge 10 [--memory 1G]

Reading: a generated UBI log (queries with ten hits, and their clicks) is summarised by `clicks inspect`; the
figure is the size of the file divided by the seconds that the command reports for reading, the best of three runs.
The file is in the page cache. Models: the seconds of fitting that `clicks fit` reports, the best of three runs.

Huge: a UBI log of so many gigabytes, with few distinct rankings, is generated while `clicks inspect` reads it from
standard input with the given memory; the figures are the time of both together and the peak memory of the
command. The command keeps records in temporary files (TMPDIR), which take about as much room as the log.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BINARY = os.environ.get("RANKWRIGHT_BIN", "rankwright")

# Goals on two cores: the speed of reading, and the seconds of fitting each click model.
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
    """Writes a UBI log of about this size, with two clicks for three queries; returns its bytes. A click is
    written about 500 clicks later than its query."""
    draw = random.Random(7)
    # Clicks that are not written yet.
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


# Time of the first page, in seconds since 1970; a page is one second later than the page before.
START = 1_772_368_200


def huge_blocks(gigabytes):
    """The text of a UBI log of about this size, a block of 20,000 pages at a time. There are 1,000 queries with five
    rankings each; the clicks of a block's pages stand in the next block."""
    draw = random.Random(3)
    rankings = []
    for number in range(5000):
        hits = [f"product-{(number // 5 * 37 + place) % 20000:06}" for place in draw.sample(range(15), 10)]
        rankings.append((json.dumps(f"query number {number // 5}"), json.dumps(hits), hits))
    size, page, late = 0, 0, []
    while size < gigabytes * 1e9:
        lines, clicks = [], []
        for page in range(page, page + 20000):
            # Prime factors mix rankings and clicked ranks (from 0); the ranks 10 to 12 stand for no click.
            query, listed, hits = rankings[page * 7919 % 5000]
            rank = page * 31 % 13
            lines.append(f'{{"application": "shop", "query_id": "9a1c44de-77b0-4e55-{page:012}", '
                         f'"client_id": "user-{page % 500000}", "user_query": {query}, "query_attributes": {{}}, '
                         f'"timestamp": {START + page}, "query_response_hit_ids": {listed}}}\n')
            if rank < 10:
                clicks.append(f'{{"application": "shop", "action_name": "click", "query_id": '
                              f'"9a1c44de-77b0-4e55-{page:012}", "client_id": "user-{page % 500000}", "timestamp": '
                              f'{START + 5 + page}, "message_type": "INFO", "event_attributes": {{"object": '
                              f'{{"object_id": "{hits[rank]}"}}, "position": {{"ordinal": {rank + 1}}}}}}}\n')
        page += 1
        text = "".join(lines + late).encode()
        late = clicks
        size += len(text)
        yield text
    yield "".join(late).encode()


def huge(gigabytes, memory):
    command = [BINARY, "clicks", "inspect", "-", "--max-memory", memory, "--json"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    started, size = time.perf_counter(), 0
    for block in huge_blocks(gigabytes):
        size += len(block)
        process.stdin.write(block)
    process.stdin.close()
    counts = json.loads(process.stdout.read())["counts"]
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit("the log could not be read")
    print("| log | GB | impressions | clicks | --max-memory | seconds | MB/s | peak memory, MB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    print(f"| UBI, generated while read | {size / 1e9:.1f} | {counts['impressions']} | {counts['clicks']} | {memory} "
          f"| {seconds:.0f} | {size / 1e6 / seconds:.0f} | {usage.ru_maxrss / 1000:.0f} |")
    lost = counts["clicks_without_impression"] + counts["off_page_clicks"]
    if lost or counts["clicks"] == 0:
        sys.exit(f"{lost} clicks did not find their impression")


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
    parser.add_argument("--huge", type=float, metavar="GB", help="stream a log of so many gigabytes")
    parser.add_argument("--memory", default="1G", help="memory that the command may take, with --huge")
    arguments = parser.parse_args()
    if arguments.huge:
        return huge(arguments.huge, arguments.memory)
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
