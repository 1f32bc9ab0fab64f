"""A report: headings, facts, tables and plots in one HTML file, light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #767676 }
@media (prefers-color-scheme: dark) { :root { --soft: #a0a0a0 } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2.5rem }
p.note, .legend { color: var(--soft) }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: left }
td.number, th.number { text-align: right }
.wide { overflow-x: auto }
svg { width: 100%; height: auto; font-size: 12px } svg text { fill: currentColor }
.grid { stroke: var(--line) } .line { fill: none; stroke-width: 1.5 } .dot { opacity: 0 }
.dot:hover { opacity: 1 }
.c0 { fill: #3b7dd8; stroke: #3b7dd8 } .c1 { fill: #d8733b; stroke: #d8733b }
.c2 { fill: #3aa76d; stroke: #3aa76d } .c3 { fill: #b05bc9; stroke: #b05bc9 }
.c4 { fill: #c2a02c; stroke: #c2a02c } .c5 { fill: #d0506e; stroke: #d0506e }
rect { stroke: none } polyline.line { fill: none }
.legend span { margin-right: 1.25rem }
.legend i { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem }
.legend .c0 { background: #3b7dd8 } .legend .c1 { background: #d8733b }
.legend .c2 { background: #3aa76d } .legend .c3 { background: #b05bc9 }
.legend .c4 { background: #c2a02c } .legend .c5 { background: #d0506e }
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


def note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def facts(rows: Mapping[str, object]) -> str:
    """Names and what they are, below each other."""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(shown(value))}</td></tr>'
        for name, value in rows.items()
    )
    return f"<table>{body}</table>"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Numbers stand at the right."""
    numeric = [
        all(isinstance(row[at], (int, float)) for row in rows) and bool(rows)
        for at in range(len(head))
    ]
    names = "".join(
        f'<th scope="col"{_class(number)}>{escape(name)}</th>'
        for name, number in zip(head, numeric, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_class(number)}>{escape(shown(value))}</td>"
            for value, number in zip(row, numeric, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{names}</tr></thead>{body}</table></div>'


def shown(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def _class(number: bool) -> str:
    return ' class="number"' if number else ""


def _joined(parts: Sequence[str]) -> str:
    return "\n".join(parts)
