"""Opens reports in a headless Chromium and checks what a reader sees and does.

`check_page(path, charts={"ndcg": 4, ...})` does everything: no console messages, no errors, no
network, every plot with its number of series, values on hover and by keyboard, nothing wider than
the window, text of a readable size; in a wide and a narrow window, light and dark. The other
functions are its pieces.

Environment: CHROMIUM names the browser (otherwise the usual names on the path are tried);
RANKWRIGHT_SCREENSHOTS names a folder to keep pictures in.
"""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
SMALLEST_TEXT = 11.0
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Pixels by which the page is wider than its window, and what sticks out.
WIDER = """() => {
  const out = [];
  for (const element of document.querySelectorAll("body *")) {
    const box = element.getBoundingClientRect();
    if (box.width && box.right > innerWidth + 1 && !element.closest(".scroll, .skip"))
      out.push(element.tagName + "." + (element.getAttribute("class") || ""));
  }
  return [document.scrollingElement.scrollWidth - innerWidth, out.slice(0, 5)];
}"""

# Smallest text that is shown, in pixels of the screen: SVG text is scaled with its picture.
SMALL_TEXT = """(least) => {
  const out = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.getClientRects().length) continue;
    if (element.closest("script, style")) continue;
    const svg = element.closest("svg");
    const matrix = svg && element.getScreenCTM ? element.getScreenCTM() : null;
    const scale = matrix ? Math.hypot(matrix.a, matrix.b) : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size < least) out.push([size, node.data.trim().slice(0, 40)]);
  }
  return out.slice(0, 5);
}"""

# Words of a plot that reach over its edge, or over other words.
CROWDED = """(id) => {
  const svg = [...document.querySelectorAll(`[data-chart="${id}"] svg`)]
    .find((one) => one.getClientRects().length);
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim());
  const boxes = texts.map((t) => [t.textContent.trim(), t.getBoundingClientRect()]);
  const out = [];
  boxes.forEach(([text, a], i) => {
    if (a.left < frame.left - 2 || a.right > frame.right + 2) out.push("over the edge: " + text);
    for (const [other, b] of boxes.slice(i + 1)) {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 2 && down > 4) out.push(`over each other: ${text} | ${other}`);
    }
  });
  return out.slice(0, 5);
}"""


def chromium():
    """The browser's path; an error that says what to do where there is none."""
    named = os.environ.get("CHROMIUM")
    found = next(filter(None, map(shutil.which, [named] if named else NAMES)), None)
    if not found:
        raise RuntimeError(
            "no Chromium was found; install one (Debian: apt install chromium) or name it in the "
            "environment variable CHROMIUM"
        )
    return found


@contextmanager
def browser():
    """A headless browser."""
    with sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            yield one
        finally:
            one.close()


class Opened:
    """A report in a window, with everything that the browser complained about."""

    def __init__(self, browser, path, width=1280, scheme="light", script=True, bypass_csp=False):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=script,
            bypass_csp=bypass_csp,
            # Without animation a picture is the same each time.
            reduced_motion="reduce",
        )
        self.page = self.context.new_page()
        self.complaints = []
        self.page.on("console", lambda message: self.complaints.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", lambda r: self.complaints.append(f"failed: {r.url}"))
        self.address = Path(path).resolve().as_uri()
        self.page.goto(self.address)

    def _request(self, request):
        if request.url.split("#")[0] != self.address:
            self.complaints.append(f"request: {request.url}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def figures(self):
        """Ids of all plots, in order."""
        return self.page.eval_on_selector_all(
            "figure[data-chart]", "all => all.map(one => one.dataset.chart)"
        )

    def bring_up(self, chart):
        """Shows a plot: where it is in one of several groups, chooses this group."""
        self.page.evaluate("id => { location.hash = ''; location.hash = id; }", chart)
        self.page.locator(f'[data-chart="{chart}"] .chart').wait_for(state="visible")

    def series(self, chart):
        """Names of the series of a plot, in the picture of it that is shown (wide or narrow)."""
        return self.page.evaluate(
            """id => {
              const shown = [...document.querySelectorAll(`[data-chart="${id}"] svg`)]
                .filter((svg) => svg.getClientRects().length);
              if (shown.length !== 1) return [`${shown.length} pictures are shown`];
              return [...shown[0].querySelectorAll("[data-series]")].map((g) => g.dataset.series);
            }""",
            chart,
        )

    def stops(self, chart):
        """The number of tooltips that the keyboard can reach."""
        return self.page.evaluate(
            """id => JSON.parse(document.querySelector(`[data-chart="${id}"] > script`)
                 .textContent).stops.length""",
            chart,
        )

    def tip(self, chart):
        """The tooltip of the value under the mouse or the keyboard."""
        return self.page.locator(f'[data-chart="{chart}"] .tip').inner_text()

    def hover(self, chart, across=0.5, down=0.5):
        """Moves the mouse over a plot, to shares of its width and height; returns the tooltip."""
        self.bring_up(chart)
        plot = self.page.locator(f'[data-chart="{chart}"] svg:visible')
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        self.page.mouse.move(box["x"] + 1, box["y"] + 1)
        self.page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
        return self.tip(chart)

    def keyboard(self, chart):
        """The tooltips of the first and the last value, reached by the keyboard."""
        self.bring_up(chart)
        plot = self.page.locator(f'[data-chart="{chart}"] .chart')
        plot.focus()
        plot.press("Home")
        first = self.tip(chart)
        plot.press("End")
        last = self.tip(chart)
        plot.press("Escape")
        assert self.tip(chart) == "", f"{chart}: Escape leaves the words standing"
        return first, last

    def keep_picture(self, name):
        """A picture of the whole page, where pictures are asked for."""
        folder = os.environ.get("RANKWRIGHT_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def check_size(opened):
    """Nothing is wider than the window and no text is too small."""
    wider, elements = opened.page.evaluate(WIDER)
    assert wider <= 0 and not elements, f"{wider} pixels wider than the window: {elements}"
    small = opened.page.evaluate(SMALL_TEXT, SMALLEST_TEXT)
    assert not small, f"text smaller than {SMALLEST_TEXT} pixels: {small}"


def is_one_of_many(chart):
    """Whether a plot is the fourth or a later one of a series of plots of one kind, such as `spread-17`."""
    number = chart.rpartition("-")[2]
    return number.isdigit() and int(number) > 3


def check_chart(opened, chart, series):
    """The plot has this number of series, and its values can be reached by mouse and by keyboard.

    Mouse and keyboard are tried with the first three of a series of plots of one kind.
    """
    opened.bring_up(chart)
    names = opened.series(chart)
    assert len(names) == series, f"{chart}: {len(names)} series instead of {series}: {names}"
    crowded = opened.page.evaluate(CROWDED, chart)
    assert not crowded, f"{chart}: {crowded}"
    if opened.stops(chart) == 0 or is_one_of_many(chart):
        return
    words = opened.hover(chart)
    assert words.strip(), f"{chart}: no value on hover"
    assert any(c.isdigit() for c in words), f"{chart}: no number on hover: {words!r}"
    first, last = opened.keyboard(chart)
    assert first and last, f"{chart}: no value by keyboard"
    assert first != last or opened.stops(chart) == 1, f"{chart}: the keyboard stays at {first!r}"


def check_page(path, charts=None, widths=WIDTHS, schemes=SCHEMES):
    """Checks a report. `charts` gives the number of series by plot; without it, any number above 0 is accepted.

    Returns the ids of the plots found.
    """
    path = Path(path)
    with browser() as one:
        for width in widths:
            for scheme in schemes:
                with Opened(one, path, width, scheme) as opened:
                    opened.keep_picture(f"{path.stem}-{width}-{scheme}")
                    found = opened.figures()
                    wanted = charts
                    if wanted is None:
                        wanted = {chart: None for chart in found}
                    assert sorted(found) == sorted(wanted), f"plots: {found}"
                    check_size(opened)
                    for chart, series in wanted.items():
                        if series is None:
                            opened.bring_up(chart)
                            series = len(opened.series(chart))
                            assert series > 0, f"{chart}: no series"
                        check_chart(opened, chart, series)
                    # Once more: hovering and choosing must not have widened anything.
                    check_size(opened)
                    assert not opened.complaints, opened.complaints
    return found
