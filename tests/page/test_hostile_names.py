"""Names that try to break out: of features, documents, queries, files, learners and data sets, in every report.

A page has to show them as text. Its security policy would stop most scripts anyway, so the pages
are opened without it: nothing may run, no element or attribute may come from a name, every row keeps
its cells, and no character of a name reverses the text after it.
"""

import csv
import json
import random

import pytest
from browser import Opened, browser, check_size
from test_reports import rankwright

HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "' onmouseover='window.hacked=1' x='",
    "</td></tr></table></section><h1>out</h1>",
    "<!-- & --> ]]> &lt;b&gt; &#x3c;i&#x3e;",
    "${window.hacked=1} `x` \\u003cb\\u003e {{x}}",
    "javascript:window.hacked=1",
    "</title></style></svg></text></option></select><b>x</b>",
    "\u202e54321 rebmun \u2066x",
    "שלום 12345",
    "a, b; c\td | e \\ f",
    "long " + "x" * 300,
    "many words " * 30,
    "a\nb</td>",
    "q\r\nz",
    "x\u200fy",
]
# A name of a file has no slash.
FILE = "<img src=x onerror=window.hacked=1>\"'&\u202e%s.%s"

# Everything on a page that only a name could have put there.
FOREIGN = """() => {
  const own = new Set(["HTML", "HEAD", "META", "TITLE", "STYLE", "BODY", "A", "HEADER", "H1", "H2", "H3",
    "H4", "H5", "H6", "P", "BUTTON", "DIV", "NAV", "OL", "LI", "MAIN", "DL", "DT", "DD", "SECTION",
    "FIGURE", "FIGCAPTION", "OUTPUT", "SCRIPT", "DETAILS", "SUMMARY", "TABLE", "CAPTION", "THEAD",
    "TBODY", "TR", "TH", "TD", "STRONG", "SPAN", "LABEL", "SELECT", "OPTION", "B", "I", "BDI", "UL", "INPUT"]);
  const svg = new Set(["svg", "g", "title", "desc", "style", "defs", "linearGradient", "stop", "rect",
    "path", "line", "polyline", "polygon", "circle", "text", "tspan", "marker", "clipPath", "use"]);
  const out = [];
  for (const element of document.querySelectorAll("*")) {
    const known = element instanceof SVGElement ? svg : own;
    if (!known.has(element.tagName)) out.push("element " + element.tagName);
    for (const { name } of element.attributes) {
      if (name.startsWith("on") || name === "src" || name === "style" && !element.closest(".tip, input"))
        out.push(`attribute ${name} of ${element.tagName}`);
      if (name === "href" && !element.getAttribute("href").startsWith("#")) out.push("a link out");
    }
  }
  if (document.querySelectorAll("h1").length !== 1) out.push("headings h1");
  if (document.querySelectorAll("script:not([type])").length !== 1) out.push("scripts");
  if (window.hacked) out.push("a script of a name ran");
  for (const table of document.querySelectorAll("table")) {
    const width = table.tHead.rows[0].cells.length;
    for (const row of table.tBodies[0].rows)
      if (row.cells.length !== width) out.push(`${row.cells.length} of ${width} cells: ${row.textContent}`);
  }
  const text = document.documentElement.outerHTML;
  if (/[\\u202a-\\u202e\\u2066-\\u2069]/.test(text)) out.push("a character that reverses text");
  return out.slice(0, 8);
}"""


def shown(name):
    """A name as a page shows it: without characters that reverse text, and with single spaces."""
    for character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        name = name.replace(character, "\ufffd")
    return " ".join(name.split())


def check(path, names=()):
    """Opens a page without its policy, points at every plot, and looks for what is not its own."""
    with browser() as one:
        for width in (1280, 390):
            with Opened(one, path, width, bypass_csp=True) as opened:
                opened.keep_picture(f"{path.stem[:20].strip('<')}-hostile-{width}")
                assert opened.page.evaluate(FOREIGN) == []
                for chart in opened.figures():
                    opened.bring_up(chart)
                    if opened.stops(chart):
                        opened.hover(chart)
                        assert opened.page.evaluate(FOREIGN) == [], chart
                check_size(opened)
                assert not opened.complaints, opened.complaints
                text = " ".join(opened.page.evaluate("() => document.body.textContent").split())
                missing = [name for name in names if shown(name) not in text]
                assert not missing, missing


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Data whose features, documents and queries have hostile names, and models with such names."""
    folder = tmp_path_factory.mktemp("hostile")
    draws = random.Random(5)
    data = folder / (FILE % ("data", "csv"))
    with open(data, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["qid", "docid", "label", *HOSTILE])
        for query in HOSTILE:
            for number in range(len(HOSTILE)):
                values = [round(draws.random(), 3) for _ in HOSTILE]
                label = int(sum(values[:3]) + draws.random() / 2)
                table.writerow([query, f"{HOSTILE[number]} {number}", label, *values])
    models = []
    for name, spec in [("one", "lambdamart(trees=12, leaves=5, min_rows=1)"), ("two", "mart(trees=9, leaves=4, min_rows=1)")]:
        models.append(folder / (FILE % (name, "model")))
        rankwright("train", data, "--valid", data, "--learner", spec, "--out", models[-1])
    return folder, data, models


def test_data(bench):
    folder, data, _ = bench
    rankwright("report", "data", data, "--out", folder / "data.html")
    check(folder / "data.html", HOSTILE[:4])


def test_training(bench):
    folder, data, models = bench
    rankwright("report", "train", models[0], data, "--valid", data, "--out", folder / "training.html")
    check(folder / "training.html")


def test_shrinkage(bench):
    folder, data, _ = bench
    rankwright("report", "shrinkage", data, "--valid", data, "--trees", 5, "--out", folder / "rates.html")
    check(folder / "rates.html")


def test_comparison(bench):
    folder, data, models = bench
    rankwright("report", "compare", data, *models, "--out", folder / "comparison.html")
    check(folder / "comparison.html")


@pytest.mark.parametrize("query", [0, 2, 9, 10, 12, 14, 15, 16])
def test_explanation(bench, query):
    folder, data, models = bench
    page = folder / f"why-{query}.html"
    rankwright("explain", models[0], data, "--query", HOSTILE[query], "--html", page)
    check(page, [HOSTILE[query]] if len(HOSTILE[query]) < 100 else [])


def test_experiment(bench):
    folder, data, _ = bench
    lines = [f"name = {json.dumps(HOSTILE[2])}", f"description = {json.dumps(HOSTILE[4])}",
             'metrics = ["ndcg@10"]', "seeds = [1]", "[[data]]", f"name = {json.dumps(HOSTILE[0])}"]
    lines += [f"{part} = {json.dumps([str(data)])}" for part in ("train", "valid", "test")]
    # Tabs and line breaks are refused in names of learners.
    for number, name in enumerate(name for name in HOSTILE if not any(c in name for c in "\t\r\n")):
        lines += ["[[learner]]", f"name = {json.dumps(name)}", f'spec = "mart(trees={number + 2}, leaves=3)"']
    titles = [*HOSTILE[:6], HOSTILE[8], "x\u200fy"]
    for title in titles:
        lines += ["[[table]]", f"title = {json.dumps('table ' + title)}", 'rows = ["learner"]', 'columns = ["trees"]']
        lines += ["[[plot]]", f"title = {json.dumps('plot ' + title)}", 'lines = ["learner"]']
    plan = folder / "plan.toml"
    plan.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rankwright("experiment", plan, "--out", folder / "study")
    check(folder / "study" / "report.html", [*HOSTILE[:4], *(f"table {title}" for title in titles)])


def test_drawn_tree(bench):
    folder, _, models = bench
    drawing = folder / "tree.svg"
    rankwright("model", "inspect", models[0], "--svg", drawing)
    text = drawing.read_text(encoding="utf-8")
    assert not any(character in text for character in "\u202e\u2066")
    with browser() as one:
        with Opened(one, drawing, bypass_csp=True) as opened:
            found = opened.page.evaluate(
                """() => [window.hacked, document.querySelectorAll("script, img, foreignObject").length]"""
            )
            assert found == [None, 0]
            assert not opened.complaints, opened.complaints
