"""A report: headings, facts, tables and plots in one HTML file, light and dark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

#: Also with its unit, or where there is none.
_FIGURE = re.compile(r"([+-]?[\d,]+(\.\d+)?( ?(%|[kMGTP]?i?B))?|-)$")
#: Letters of a text that may take several lines.
_LONG = 40
COLOURS = ("#3b7dd8", "#d8733b", "#3aa76d", "#b05bc9", "#c2a02c", "#d0506e")
#: Of lines that lie on each other both are seen, and without colours they are told apart.
_DASHES = ("", "7 4", "2 3", "10 3 2 3", "5 2", "1 2")
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #6a6a6a }
@media (prefers-color-scheme: dark) { :root { --soft: #a8a8a8 } }
html { background: Canvas; color: CanvasText }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: anywhere }
h1 { font-size: 1.6rem; line-height: 1.25 } h2 { font-size: 1.2rem; margin-top: 2.5rem }
h3 { font-size: 1rem; margin-top: 2rem }
p.note, .legend { color: var(--soft) }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: baseline }
th { font-weight: 600 } th:first-child, td:first-child { padding-left: 0 }
table.facts th { min-width: 7rem; color: var(--soft) }
.wide { overflow-x: auto } .wide td, .wide th { white-space: nowrap }
.wide td.long { white-space: normal; min-width: 16rem }
td.number, th.number { text-align: right }
svg { display: block; width: 100%; min-width: 34rem; height: auto; font-size: 12px }
svg text { fill: currentColor }
.grid { stroke: var(--line) } .line { stroke-width: 1.5 } .dot { opacity: 0 }
.dot:hover { opacity: 1 }
rect { stroke: none } polyline.line { fill: none }
.legend { margin-top: 0 } .legend span { display: inline-block; margin-right: 1.25rem }
.legend i { display: inline-block; width: 1.5rem; margin-right: .4rem; vertical-align: middle;
  border-top: 3px solid } .legend i:not(.k0) { border-top-style: dashed }
@media print {
  :root { color-scheme: light; --soft: #555 } body { max-width: none; margin: 0 }
  svg, tr { break-inside: avoid } h1, h2, h3 { break-after: avoid }
  .wide { overflow: visible } .wide td, .wide th { white-space: normal }
}
"""


def _colours() -> str:
    return "\n".join(
        f".c{number} {{ fill: {colour}; stroke: {colour} }} "
        f".legend .k{number} {{ border-color: {colour} }}"
        + (f" .line.c{number} {{ stroke-dasharray: {dash} }}" if dash else "")
        for number, (colour, dash) in enumerate(zip(COLOURS, _DASHES, strict=True))
    )


def page(title: str, parts: Sequence[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}{_colours()}</style></head>\n<body><main>"
        f"<h1>{escape(title)}</h1>\n{_joined(parts)}\n</main></body></html>\n"
    )


def section(title: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{_joined(parts)}</section>"


def part(title: str, *parts: str) -> str:
    """Of a section."""
    return f"<h3>{escape(title)}</h3>\n{_joined(parts)}"


def note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def facts(rows: Mapping[str, object]) -> str:
    """Names and what they are, below each other."""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(shown(value))}</td></tr>'
        for name, value in rows.items()
    )
    return f'<table class="facts">{body}</table>'


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Numbers stand at the right; of nothing there is a word."""
    if not rows:
        return note("none")
    numeric = [all(_is_figure(row[at]) for row in rows) for at in range(len(head))]
    names = "".join(
        f'<th scope="col"{_class(number)}>{escape(name)}</th>'
        for name, number in zip(head, numeric, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_class(number, text := shown(value))}>{escape(text)}</td>"
            for value, number in zip(row, numeric, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(", ".join(head))}">'
        f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def shown(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def _is_figure(value: object) -> bool:
    return value is None or isinstance(value, (int, float)) or bool(_FIGURE.match(str(value)))


def _class(number: bool, text: str = "") -> str:
    if number:
        return ' class="number"'
    return ' class="long"' if len(text) > _LONG else ""


def _joined(parts: Sequence[str]) -> str:
    return "\n".join(parts)
