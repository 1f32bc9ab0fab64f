"""A report: headings, facts, tables and plots in one HTML file, light and dark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

#: Also with its unit, or where there is none.
_FIGURE = re.compile(r"([+-]?[\d,]+(\.\d+)?( ?(%|[kMGTP]?i?B))?|-)$")
#: Letters of a text that may take several lines.
_LONG = 40
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #6a6a6a }
@media (prefers-color-scheme: dark) { :root { --soft: #a8a8a8 } }
html { background: Canvas; color: CanvasText }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: anywhere }
h1 { font-size: 1.6rem; line-height: 1.25 } h2 { font-size: 1.2rem; margin-top: 2.5rem }
h3 { font-size: 1rem; margin-top: 2rem }
p.note { color: var(--soft) }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: baseline }
th { font-weight: 600 } th:first-child, td:first-child { padding-left: 0 }
table.facts th { min-width: 7rem; color: var(--soft) }
.wide { overflow-x: auto } .wide td, .wide th { white-space: nowrap }
.wide td.long { white-space: normal; min-width: 16rem }
td.number, th.number { text-align: right }
svg { display: block; width: 100%; min-width: 34rem; height: auto }
@media print {
  :root { color-scheme: light; --soft: #555 } body { max-width: none; margin: 0 }
  svg, tr { break-inside: avoid } h1, h2, h3 { break-after: avoid }
  .wide { overflow: visible } .wide td, .wide th { white-space: normal }
}
"""


def page(title: str, parts: Sequence[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body><main>"
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
    return wide(
        ", ".join(head),
        f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>",
    )


def wide(name: str, content: str) -> str:
    """On a small screen it scrolls by itself, also with the keyboard."""
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(name)}">{content}</div>'
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
