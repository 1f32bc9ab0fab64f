"""Plots as SVG: lines over something, and bars. Colours and text sizes are the page's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from interfaces.spark.reports.page import COLOURS

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 720, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 28, 48
#: Of a character; the page's text is 12 high.
_LETTER = 7.7
#: Of a name below a bar, which may stand for its neighbours too.
_MOST_LETTERS = 16
#: Of ticks, about.
_DOWN, _ACROSS = 5, 8


def lines(
    title: str, series: Sequence[tuple[str, Points]], x: str, y: str, shown: str = "{:,.6g}"
) -> str:
    """`shown` is how a value is told when one points at it."""
    return _lines(title, series, x, y, shown, _ticks, lambda value: value)


def tail(title: str, series: Sequence[tuple[str, Points]], y: str) -> str:
    """Percentiles from left to right, where each step is a tenth of what was left."""
    return _lines(title, series, "percentile", y, "{:,.6g}", _tail_ticks, _depth)


def bars(title: str, values: Sequence[tuple[str, float]], y: str, x: str = "") -> str:
    """Side by side, from zero; as many names as there is room for, the long ones shortened."""
    top = _top(value for _, value in values)
    wide = (_WIDTH - _LEFT - _RIGHT) / max(len(values), 1)
    parts = [*_axis_y(top, y), *_axis_x(x)]
    longest = min(max((len(name) for name, _ in values), default=1), _MOST_LETTERS)
    every = math.ceil((longest + 2) * _LETTER / wide)
    letters = int(every * wide / _LETTER) - 2
    for number, (name, value) in enumerate(values):
        at = _LEFT + number * wide
        high = _y(0, top) - _y(value, top)
        parts.append(
            f'<rect class="c0" x="{at + wide * 0.1:.1f}" y="{_y(value, top):.1f}" '
            f'width="{wide * 0.8:.1f}" height="{max(high, 0):.1f}">'
            f"<title>{escape(name)}: {value:,.6g} {escape(y)}</title></rect>"
        )
        text, middle = shortened(name, letters), at + wide / 2
        if number % every == 0 and _within(middle, text) == middle:
            parts.append(_text(middle, _HEIGHT - _BOTTOM + 20, text))
    return _svg(title, parts)


def partitions(title: str, counts: Sequence[tuple[str, int, float]], y: str) -> str:
    """Bars of topic, partition and how much; of one topic by the partition's number alone."""
    if len({topic for topic, _, _ in counts}) < 2:
        return bars(title, [(str(number), value) for _, number, value in counts], y, "partition")
    return bars(title, [(f"{topic}-{number}", value) for topic, number, value in counts], y)


def shortened(name: str, letters: int) -> str:
    """In the middle: what tells names apart is mostly at their end."""
    if len(name) <= letters:
        return name
    end = max(letters - 1, 1) // 2
    return f"{name[: max(letters - 1 - end, 0)]}…{name[-end:] if end else ''}"


def _lines(
    title: str,
    series: Sequence[tuple[str, Points]],
    x: str,
    y: str,
    shown: str,
    ticks: Callable[[float, float], list[tuple[float, str]]],
    scaled: Callable[[float], float],
) -> str:
    every = [(scaled(at), value) for _, points in series for at, value in points]
    first = min((at for at, _ in every), default=0.0)
    last = max((at for at, _ in every), default=1.0)
    marks = ticks(first, last) if first < last else [(first, _short(first))]
    if first == last:  # a single moment lies in the middle
        first, last = first - 1, last + 1
    top = _top(value for _, value in every)
    parts = [*_axis_y(top, y), *_axis_x(x)]

    def place(at: float) -> float:
        return _LEFT + (at - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT)

    for at, text in marks:
        parts.append(_text(_within(place(at), text), _HEIGHT - _BOTTOM + 20, text))
    for number, (name, points) in enumerate(series):
        drawn = " ".join(f"{place(scaled(at)):.1f},{_y(v, top):.1f}" for at, v in points)
        parts.append(
            f'<polyline class="line c{number % len(COLOURS)}" points="{drawn}">'
            f"<title>{escape(name)}</title></polyline>"
        )
        dot = "only" if len(points) == 1 else "dot"
        said = f"{escape(name)}: " if name else ""
        parts += [
            f'<circle class="{dot} c{number % len(COLOURS)}" cx="{place(scaled(at)):.1f}" '
            f'cy="{_y(value, top):.1f}" r="5"><title>{said}{shown.format(value)} {escape(y)} '
            f"at {at:,.6g} {escape(x)}</title></circle>"
            for at, value in points
        ]
    return _svg(title, parts) + _legend([name for name, _ in series])


def _legend(names: Sequence[str]) -> str:
    if len(names) < 2:
        return ""
    shown = (
        f'<span><i class="k{number % len(COLOURS)}"></i>{escape(name)}</span>'
        for number, name in enumerate(names)
    )
    return f'<p class="legend">{"".join(shown)}</p>'


def _axis_y(top: float, label: str) -> list[str]:
    parts = []
    for value, text in _ticks(0, top, _DOWN):
        at = _y(value, top)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
        )
        parts.append(_text(_LEFT - 6, at + 4, text, "end"))
    parts.append(_text(0, 12, label, "start"))
    return parts


def _axis_x(label: str) -> list[str]:
    return [_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, label)] if label else []


def _within(at: float, text: str) -> float:
    """Where a text is whole that would stand in the middle of `at`."""
    half = len(text) * _LETTER / 2
    return max(half, min(at, _WIDTH - half))


def _y(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - value / top * (_HEIGHT - _BOTTOM - _TOP)


def _top(values: object) -> float:
    highest = max(values, default=0)  # type: ignore[call-overload]
    return float(highest) * 1.05 if highest > 0 else 1.0


def _ticks(first: float, last: float, about: int = _ACROSS) -> list[tuple[float, str]]:
    rough = (last - first) / about
    unit: float = 10 ** math.floor(math.log10(rough))
    step = next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough)
    start, end = math.ceil(first / step), math.floor(last / step)
    return [(number * step, _short(number * step)) for number in range(start, end + 1)]


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _depth(percentile: float) -> float:
    return -math.log10(max(1 - percentile / 100, 1e-9))


def _tail_ticks(first: float, last: float) -> list[tuple[float, str]]:
    shown = (0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999)
    return [(_depth(each), f"{each:g}") for each in shown if first <= _depth(each) <= last]


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(title: str, parts: Sequence[str]) -> str:
    """On a small screen it is not made smaller than can be read, and moves to the side."""
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(title)}">'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg></div>"
    )
