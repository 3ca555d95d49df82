"""Charts of the library on axes of matplotlib, from their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def draw_matplotlib(chart: dict[str, Any], ax: Any) -> None:
    """Draws the numbers of a chart on axes."""
    {
        "lines": _lines, "points": _points, "stack": _stack, "bars": _bars, "heat": _heat, "forces": _forces,
    }[chart["kind"]](chart, ax)
    ax.set_title(chart["title"])
    ax.set_xlabel(chart["x"]["label"])
    ax.set_ylabel(chart["y"]["label"])
    for axis, scale in (("x", ax.set_xscale), ("y", ax.set_yscale)):
        if chart[axis].get("scale") == "log" and chart["kind"] in ("lines", "points", "stack"):
            scale("log")
    if len(chart["series"]) > 1 and chart["kind"] not in ("heat", "forces"):
        ax.legend()


def _numbers(values: Any) -> np.ndarray:
    """Numbers as an array; NaN for `None`."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _pairs(pairs: Any) -> tuple[np.ndarray, np.ndarray]:
    pairs = list(pairs)
    return _numbers(pair[0] for pair in pairs), _numbers(pair[1] for pair in pairs)


def _band(series: dict[str, Any]) -> tuple[np.ndarray, np.ndarray] | None:
    """The lower and upper limits of a series' confidence band, if it has one."""
    return _pairs(series["band"]) if series.get("band") else None


def _lines(chart: dict[str, Any], ax: Any) -> None:
    for series in chart["series"]:
        x, y = _pairs(series["points"])
        (line,) = ax.plot(x, y, label=series["name"], linestyle="--" if series.get("dashed") else "-")
        band = _band(series)
        if band is not None:
            ax.fill_between(x, *band, alpha=0.2, color=line.get_color())


def _points(chart: dict[str, Any], ax: Any) -> None:
    for series in chart["series"]:
        x, y = _pairs(series["points"])
        if series.get("dashed"):
            ax.plot(x, y, linestyle="--", label=series["name"])
        else:
            ax.scatter(x, y, s=12, label=series["name"])


def _stack(chart: dict[str, Any], ax: Any) -> None:
    all_series = chart["series"]
    x, _ = _pairs(all_series[0]["points"])
    heights = [np.nan_to_num(_pairs(series["points"])[1]) for series in all_series]
    ax.stackplot(x, heights, labels=[series["name"] for series in all_series])


def _bars(chart: dict[str, Any], ax: Any) -> None:
    places = np.arange(len(chart["categories"]))
    count = 1 if chart["stacked"] else len(chart["series"])
    width, bottom = 0.8 / max(count, 1), np.zeros(len(places))
    for number, series in enumerate(chart["series"]):
        values, band = _numbers(series["values"]), _band(series)
        spread = None if band is None else np.nan_to_num(np.abs(np.array([values - band[0], band[1] - values])))
        shift = 0.0 if chart["stacked"] else (number - (count - 1) / 2) * width
        base = bottom if chart["stacked"] else None
        ax.bar(places + shift, values, width, bottom=base, yerr=spread, label=series["name"])
        bottom = bottom + np.nan_to_num(values)
    ax.set_xticks(places, chart["categories"], rotation=45 if max(map(len, chart["categories"]), default=0) > 6 else 0)


def _heat(chart: dict[str, Any], ax: Any) -> None:
    cells = chart["series"][0]["cells"]
    ax.imshow(np.array([_numbers(row) for row in cells]), aspect="auto")
    ax.set_xticks(np.arange(len(chart["columns"])), chart["columns"])
    ax.set_yticks(np.arange(len(chart["rows"])), chart["rows"])


def _forces(chart: dict[str, Any], ax: Any) -> None:
    for place, ranking in enumerate(chart["series"]):
        documents = ranking["documents"]
        ranks, forces = np.arange(1, len(documents) + 1), _numbers(one["force"] for one in documents)
        ax.quiver(np.full(len(ranks), place), ranks, np.zeros(len(ranks)), forces, angles="xy", width=0.004)
        for rank, one in zip(ranks, documents):
            ax.annotate(f"{one['name']} ({one['label']:g})", (place, rank), xytext=(8, 0), textcoords="offset points", fontsize=7)
    ax.set_xticks(np.arange(len(chart["series"])), [ranking["name"] for ranking in chart["series"]])
    ax.invert_yaxis()
