"""Plots of a report: SVG by matplotlib, in the text colour of the page, light and dark."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from io import StringIO
from typing import Any

from interfaces.spark.reports.page import wide

Points = Sequence[tuple[float, float]]

#: Stands for the text colour of the page in what matplotlib writes.
_TEXT = "#123456"
_COLOURS = ("#3b7dd8", "#d8733b", "#3aa76d", "#b05bc9", "#c2a02c", "#d0506e")
_INCHES = (10.0, 3.6)
_STYLE = {
    "font.family": "sans-serif",
    "font.size": 11.0,
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.alpha": 0.25,
    "xtick.major.pad": 8.0,
    "legend.frameon": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "grid.color"), _TEXT),
    **dict.fromkeys(("xtick.color", "ytick.color"), _TEXT),
}
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
#: Ids are the same in each plot, and a page has several.
_ROOT = re.compile(r'<svg [^>]*viewBox="([^"]+)"[^>]*>')
_ID = re.compile(r' id="[\w.]+_\d+"')
_NAMES, _LETTERS = 12, 16
_PERCENTILES = (0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999)


def lines(title: str, series: Sequence[tuple[str, Points]], x: str, y: str) -> str:
    with _plot(title, x, y) as (axes, drawn):
        _draw(axes, series)
    return drawn[0]


def tail(title: str, series: Sequence[tuple[str, Points]], y: str) -> str:
    """Percentiles from left to right; each step divides the rest by ten."""
    with _plot(title, "percentile", y) as (axes, drawn):
        rests = [(name, [(_rest(at), value) for at, value in points]) for name, points in series]
        deepest = max((rest for _, points in rests for rest, _ in points), default=10.0)
        marks = [each for each in _PERCENTILES if _rest(each) <= deepest]
        axes.set_xscale("log")
        axes.set_xticks([_rest(each) for each in marks], [f"{each:g}" for each in marks])
        axes.minorticks_off()
        _draw(axes, rests)
    return drawn[0]


def bars(title: str, values: Sequence[tuple[str, float]], y: str, x: str = "") -> str:
    """Side by side; not all are named where they are many, and long names are shortened."""
    with _plot(title, x, y) as (axes, drawn):
        axes.bar(range(len(values)), [value for _, value in values], color=_COLOURS[0])
        longest = max((len(name) for name, _ in values), default=0)
        step = -(-len(values) // (_NAMES if longest <= _LETTERS // 2 else _NAMES // 3)) or 1
        named = range(0, len(values), step)
        axes.set_xticks(named, [_literal(shortened(values[at][0])) for at in named])
    return drawn[0]


def partitions(title: str, counts: Sequence[tuple[str, int, float]], y: str) -> str:
    """Bars of (topic, partition, how many); of one topic by the partition's number alone."""
    if len({topic for topic, _, _ in counts}) < 2:
        return bars(title, [(str(number), value) for _, number, value in counts], y, "partition")
    return bars(title, [(f"{topic}-{number}", value) for topic, number, value in counts], y)


def shortened(name: str, letters: int = _LETTERS) -> str:
    """In the middle: names mostly differ at their end."""
    half = (letters - 1) // 2
    return name if len(name) <= letters else f"{name[:half]}…{name[-half:]}"


@contextmanager
def _plot(title: str, x: str, y: str) -> Iterator[tuple[Any, list[str]]]:
    """Axes to draw on, and a list that has the SVG afterwards."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # about its font cache, on first use
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    drawn: list[str] = []
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": title}):
        figure = Figure(figsize=_INCHES, layout="constrained")
        axes = figure.add_subplot()
        axes.set_prop_cycle(color=_COLOURS)
        axes.set_xlabel(_literal(x))
        axes.set_ylabel(_literal(y))
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        yield axes, drawn
        axes.set_ylim(bottom=0)
        file = StringIO()
        figure.savefig(file, format="svg", metadata=_NO_METADATA, transparent=True)
    drawn.append(wide(title, _inline(file.getvalue(), title)))


def _inline(svg: str, title: str) -> str:
    """Of a file of its own: a part of a page."""
    svg = _ID.sub("", svg[svg.index("<svg") :]).replace(_TEXT, "currentColor")
    svg = svg.replace("xlink:href", "href")  # a namespace that HTML has not got
    return _ROOT.sub(rf'<svg viewBox="\1" role="img" aria-label="{escape(title)}">', svg, count=1)


def _draw(axes: Any, series: Sequence[tuple[str, Points]]) -> None:
    for name, points in series:
        marker = "o" if len(points) == 1 else None
        axes.plot(*zip(*points, strict=True) if points else ([], []), marker=marker, label=name)
    if len(series) > 1:
        axes.legend([_literal(name) for name, _ in series])


def _literal(text: str) -> str:
    """matplotlib takes what is between two dollar signs for mathematics."""
    return text.replace("$", r"\$")


def _rest(percentile: float) -> float:
    return 1 / max(1 - percentile / 100, 1e-9)
