"""Every report, made by the command and opened in a browser: on generated data, and on MQ2008.

The expected content of each plot is read from the JSON that `--assets` writes beside it; the expected
number of series (one for each model, rate or label) is checked here.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from browser import Opened, browser, check_page

RATES = "1,0.5,0.1,0.01"
LEARNERS = {"mart": "mart(trees=20, leaves=7)", "lambdamart": "lambdamart(trees=20, leaves=7)"}


def rankwright(*words):
    """Runs the command; returns its output."""
    path = os.environ.get("RANKWRIGHT_BIN")
    if not path:
        pytest.exit("RANKWRIGHT_BIN must name the command; run `cargo xtask test`", 1)
    words = [str(word) for word in words]
    done = subprocess.run([path, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{words}\n{done.stderr}"
    return done.stdout


def generated(folder):
    """Generated training, validation and test data."""
    rankwright("data", "generate", "letor", "--queries", 60, "--documents", 30, "--seed", 3,
               "--out", folder / "all.txt")
    rankwright("data", "split", folder / "all.txt", "--parts", "train=0.6,valid=0.2,test=0.2",
               "--out", folder)
    return [folder / f"{part}.txt" for part in ("train", "valid", "test")], 5


def mq2008(folder):
    """The first fold of MQ2008 (parts 1 to 3, 4 and 5), where there is data."""
    data = os.environ.get("RANKWRIGHT_DATA")
    if not data:
        pytest.skip("RANKWRIGHT_DATA is not set: reports of MQ2008 are not made")
    parts = [Path(data) / "mq2008" / f"S{part}.txt" for part in range(1, 6)]
    train = folder / "train.txt"
    train.write_text("".join(part.read_text() for part in parts[:3]))
    return [train, *parts[3:]], 3


@pytest.fixture(scope="module", params=[generated, mq2008], ids=["generated", "mq2008"])
def bench(request, tmp_path_factory):
    """A folder with models, the data, and how many grades of relevance it has."""
    folder = tmp_path_factory.mktemp("reports")
    (train, valid, test), labels = request.param(folder)
    for name, spec in LEARNERS.items():
        rankwright("train", train, "--valid", valid, "--learner", spec,
                   "--out", folder / f"{name}.model")
    return folder, train, valid, test, labels


def checked_in_two_windows(page, charts=None):
    """Checks a page in a wide and light, and in a narrow and dark window."""
    found = check_page(page, charts, widths=(1280,), schemes=("light",))
    return found and check_page(page, charts, widths=(390,), schemes=("dark",))


def expected(parts):
    """Number of series of each plot, from its own JSON."""
    found = {}
    for path in Path(parts).glob("*.json"):
        chart = json.loads(path.read_text())
        if "kind" in chart:
            found[chart["id"]] = len(chart["series"])
    assert found, f"no plots in {parts}"
    return found


def opened(folder, name, *words):
    """Makes a report, checks its page, and gives the number of series by plot."""
    page, parts = folder / f"{name}.html", folder / f"{name}-parts"
    rankwright(*words, "--out", page, "--assets", parts)
    charts = expected(parts)
    checked_in_two_windows(page, charts)
    assert page.stat().st_size < 5_000_000
    return charts


def test_training(bench):
    folder, train, valid, _, labels = bench
    charts = opened(folder, f"training-{labels}", "report", "train", folder / "lambdamart.model",
                    train, "--valid", valid)
    # Training, validation, and a mark at the best.
    assert charts["curve-1"] == 3
    assert charts["labels-mean-rank"] == labels
    assert charts["lambda-pair-share"] == min(labels * (labels - 1) // 2, 8)
    forces = [charts[chart] for chart in charts if chart.startswith("forces")]
    assert len(forces) > 3 and set(forces) == {2}
    assert {"importance-gain", "importance-splits", "importance-permutation"} <= charts.keys()
    assert {"time-rounds", "time-total", "lambda-rank-share"} <= charts.keys()


def test_stages_by_slider_and_play_button(bench):
    folder, train, valid, _, _ = bench
    page = folder / "stages.html"
    rankwright("report", "train", folder / "lambdamart.model", train, "--valid", valid, "--out", page)
    with browser() as one, Opened(one, page) as opened:
        box = opened.page.locator("#labels-stage")
        shown = box.locator(":scope > .group:visible")
        slider, play = box.locator("input[type=range]"), box.locator("button.play")
        last = int(slider.get_attribute("max"))
        assert last >= 4 and shown.count() == 1
        first = shown.locator("figure").get_attribute("data-chart")
        assert first == "labels-at-0"
        slider.focus()
        slider.press("End")
        words = box.locator("output:not(.tip)").inner_text()
        assert words.startswith("after ") and slider.get_attribute("aria-valuetext") == words
        at_end = shown.locator("figure").get_attribute("data-chart")
        assert at_end != first
        # Playing from the end begins anew, and ends by itself at the last stage.
        play.click()
        assert play.get_attribute("aria-pressed") == "true"
        assert shown.locator("figure").get_attribute("data-chart") == first
        play.click()
        assert play.get_attribute("aria-pressed") == "false"
        slider.press("End")
        slider.press("ArrowLeft")
        play.click()
        opened.page.wait_for_function("() => !document.querySelector('#labels-stage .play[aria-pressed=true]')")
        assert shown.locator("figure").get_attribute("data-chart") == at_end
        assert not opened.complaints, opened.complaints


def test_wide_tables_say_that_they_scroll_and_conventions_are_said_once(bench):
    folder, _, _, test, _ = bench
    models = [folder / f"{name}.model" for name in LEARNERS]
    page = folder / "scroll.html"
    rankwright("report", "compare", test, *models, "--out", page)
    with browser() as one:
        with Opened(one, page, width=390) as opened:
            details = opened.page.locator(".block", has=opened.page.locator("#comparison-details"))
            assert details.locator(".more").is_visible()
            box = details.locator(".scroll")
            box.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
            name = details.locator("tbody th").first.bounding_box()
            assert -1 <= name["x"] < 60, f"the name of the row scrolled away: {name}"
        with Opened(one, page, width=1280) as opened:
            conventions = opened.page.locator("details.conventions")
            assert conventions.count() == 1 and not conventions.locator("li").first.is_visible()
            conventions.locator("summary").click()
            assert conventions.locator("li").first.is_visible()
            text = opened.page.locator("body").inner_text()
            assert text.count("unjudged=nonrel, ties=worst") <= 2, "conventions are repeated"


def test_shrinkage(bench):
    folder, train, valid, _, labels = bench
    charts = opened(folder, f"shrinkage-{labels}", "report", "shrinkage", train, "--valid", valid,
                    "--learner", LEARNERS["lambdamart"], "--rates", RATES)
    assert charts["shrinkage-train"] == charts["shrinkage-valid"] == 4


def test_comparison(bench):
    folder, _, _, test, labels = bench
    models = [folder / f"{name}.model" for name in LEARNERS]
    charts = opened(folder, f"comparison-{labels}", "report", "compare", test, *models)
    assert charts["means"] == charts["cutoffs-chart"] == 2
    assert charts["wins-1"] == 2
    assert any(chart.startswith("change") for chart in charts)


def test_data(bench):
    folder, train, _, _, labels = bench
    charts = opened(folder, f"data-{labels}", "report", "data", train)
    assert charts["labels-chart"] == charts["sizes"] == charts["correlations"] == 1
    assert charts["spread-1"] == labels


def test_clicks(bench):
    folder, train, _, _, labels = bench
    log = folder / "log.jsonl"
    rankwright("clicks", "simulate", train, folder / "lambdamart.model", "--user", "pbm(max=4)",
               "--ranker", "plackett-luce", "--top", 10, "--sessions", 20, "--out", log)
    models = ["rank-ctr", "pbm", "ubm(iterations=5)"]
    charts = opened(folder, f"clicks-{labels}", "report", "clicks", log, "--samples", 10,
                    "--min-shown", 2, "--models", "+".join(models))
    assert charts["click-rates"] == charts["queries-chart"] == 1
    # em, allpairs, adjacent, swap and click-rate; no page is in random order.
    assert charts["bias-chart"] == 5
    assert charts["perplexity"] == charts["conditional-perplexity"] == len(models)


def test_explanation(bench):
    folder, _, _, test, labels = bench
    query = test.read_text().split("qid:")[1].split()[0]
    page = folder / f"why-{labels}.html"
    rankwright("explain", folder / "lambdamart.model", test, "--query", query, "--html", page)
    assert checked_in_two_windows(page)


def test_experiment(bench):
    folder, train, valid, test, labels = bench
    lines = ['name = "check"', 'metrics = ["ndcg@10", "ap"]', "seeds = [1, 2]", "[[data]]",
             'name = "one"']
    parts = {"train": train, "valid": valid, "test": test}
    lines += [f"{part} = {json.dumps([str(path)])}" for part, path in parts.items()]
    for name, spec in LEARNERS.items():
        lines += ["[[learner]]", f'name = "{name}"', f'spec = "{spec}"']
    plan = folder / "check.toml"
    plan.write_text("\n".join(lines) + "\n")
    rankwright("experiment", plan, "--out", folder / "experiment")
    assert checked_in_two_windows(folder / "experiment" / "report.html")


def test_interleaved_comparison(tmp_path):
    """Two runs in opposite orders, compared by simulated clicks."""
    grades = {f"d{n}": max(0, 4 - n) for n in range(8)}
    for name, sign in (("old.run", 1), ("new.run", -1)):
        lines = (f"q{q} Q0 {id} 0 {sign * int(id[1:])} x\n" for q in range(20) for id in grades)
        (tmp_path / name).write_text("".join(lines))
    lines = (f"q{q} 0 {id} {grade}\n" for q in range(20) for id, grade in grades.items())
    (tmp_path / "qrels").write_text("".join(lines))
    lists, events = tmp_path / "lists.jsonl", tmp_path / "events.jsonl"
    rankwright("interleave", tmp_path / "old.run", tmp_path / "new.run", "--repeat", 5,
               "--out", lists)
    rankwright("interleave", "simulate", lists, "--qrels", tmp_path / "qrels", "--out", events)
    page, parts = tmp_path / "page.html", tmp_path / "parts"
    rankwright("interleave", "score", events, "--lists", lists, "--html", page, "--assets", parts)
    charts = expected(parts)
    assert charts == {"outcome-chart": 4, "delta-chart": 2, "power-chart": 2}
    checked_in_two_windows(page, charts)
