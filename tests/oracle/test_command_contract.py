"""The contract of the command with other programs: exit codes, one JSON document, errors with their
location, and the same bytes at any number of threads."""

import json
import re

import numpy as np
import pytest

from cases import random_list_case, random_run_case
from command import run


@pytest.fixture
def lists(tmp_path):
    """The arguments `--scores SCORES DATA` of a small data set: 1 is the file of scores, 2 the data."""
    case = random_list_case(np.random.default_rng(5), 20, ("distinct", "coarse"), [0, 1, 2])
    return case.save(tmp_path)


def replace_line(path, number, text):
    lines = path.read_text().splitlines()
    lines[number - 1] = text
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("bad", ["NaN", "nan", "-nan", "word", ""])
def test_a_score_that_is_no_number_is_exit_code_1_and_names_the_line(lists, bad):
    replace_line(lists[1], 7, bad)
    done = run("eval", *lists, "--metric", "ndcg@10")
    assert done.returncode == 1, done.stderr
    assert re.search(r"(line |:|row )7\b", done.stderr), done.stderr
    assert done.stdout == ""


def test_too_few_or_too_many_scores_are_exit_code_1(lists):
    text = lists[1].read_text()
    for wrong in (text + "1.5\n", text.split("\n", 1)[1]):
        lists[1].write_text(wrong)
        done = run("eval", *lists, "--metric", "ndcg@10")
        assert done.returncode == 1 and done.stderr, (done.returncode, done.stderr)


def test_a_missing_file_is_exit_code_1_and_named(tmp_path, lists):
    done = run("eval", "--scores", tmp_path / "absent.txt", lists[2], "--metric", "ndcg@10")
    assert done.returncode == 1 and "absent.txt" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("evaluate",),
        ("eval", "--no-such-option"),
        ("eval", "--run"),
        ("eval", "--threads", "x"),
    ],
)
def test_a_usage_error_is_exit_code_2(words):
    done = run(*words)
    assert done.returncode == 2 and done.stderr and not done.stdout, done


def test_an_unknown_metric_or_parameter_is_an_error_that_lists_the_known_ones(lists):
    for spec, known in (("ndgc@10", "ndcg"), ("ndcg(gian=exp)@10", "gain")):
        done = run("eval", *lists, "--metric", spec)
        assert done.returncode in (1, 2) and known in done.stderr, done


def test_json_is_exactly_one_document_on_standard_output(tmp_path, lists):
    rng = np.random.default_rng(6)
    runs = random_run_case(rng, 30).save(tmp_path, rng)
    for source in (lists, runs):
        done = run("eval", *source, "--metric", "ndcg@10", "--metric", "rr", "--json")
        assert done.returncode == 0, done.stderr
        document, end = json.JSONDecoder().raw_decode(done.stdout.lstrip())
        assert not done.stdout.lstrip()[end:].strip()
        assert len(document["metrics"]) == 2
        for metric in document["metrics"]:
            assert {"metric", "convention", "value", "queries", "ci95"} <= metric.keys()
            low, high = metric["ci95"]
            assert low <= metric["value"] <= high and metric["convention"]


def test_a_run_without_any_judged_query_is_no_crash(tmp_path):
    run_file, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run_file.write_text("1 Q0 a 1 1.0 x\n")
    qrels.write_text("2 0 a 1\n")
    done = run("eval", "--run", run_file, "--qrels", qrels, "--metric", "ap(preset=trec)", "--json")
    assert done.returncode in (0, 1), done.stderr
    if done.returncode == 0:
        assert json.loads(done.stdout)["metrics"][0]["queries"] == 0


def test_a_label_above_the_maximum_of_err_is_an_error_that_says_so(tmp_path, lists):
    replace_line(lists[2], 3, "5 qid:q0 1:1")
    done = run("eval", *lists, "--metric", "err(max=4)@1000")
    assert done.returncode == 1 and "max" in done.stderr, done


def test_the_number_of_threads_changes_no_byte(tmp_path):
    rng = np.random.default_rng(8)
    source = random_run_case(rng, 300).save(tmp_path, rng)
    wanted = ["--metric", "ndcg@10", "--metric", "ap(preset=trec)", "--metric", "rbp(max=3)"]
    outputs = set()
    for threads in (1, 2, 3):
        table = tmp_path / "table.tsv"
        done = run("eval", *source, *wanted, "--json", "--per-query", table, "--threads", threads)
        assert done.returncode == 0, done.stderr
        outputs.add((json.dumps(json.loads(done.stdout)["metrics"]), table.read_bytes()))
    assert len(outputs) == 1
