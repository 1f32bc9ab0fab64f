"""A flame graph as a small SVG: who called whom, and how much of the time each took."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

Stack = tuple[str, ...]

WIDTH, ROW, TOP = 1200, 17, 40
#: Narrower ones are left out, with what stands on them.
LEAST_WIDTH = 2.5
_LETTER = 6.4
_STYLE = "text{font:11px monospace}.t{font:14px sans-serif}rect{stroke:#fff;stroke-width:.5}"


@dataclass
class _Frame:
    samples: int = 0
    above: dict[str, _Frame] = field(default_factory=dict)


def svg(stacks: Mapping[Stack, int], title: str) -> str:
    root = _Frame()
    for stack, samples in stacks.items():
        frame = root
        frame.samples += samples
        for name in stack:
            frame = frame.above.setdefault(name, _Frame())
            frame.samples += samples
    scale = WIDTH / root.samples
    rows = list(_boxes(root, 0.0, 0, scale))
    height = TOP + ROW * (1 + max((depth for *_, depth in rows), default=0)) + 10
    boxes = [
        _box(name, x, height - 10 - ROW * (depth + 1), samples * scale, samples / root.samples)
        for name, samples, x, depth in rows
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">',
            f"<style>{_STYLE}</style>",
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
            f'<text class="t" x="8" y="24">{escape(title)}</text>',
            *boxes,
            "</svg>\n",
        ]
    )


def _boxes(
    frame: _Frame, x: float, depth: int, scale: float
) -> Iterator[tuple[str, int, float, int]]:
    for name, above in sorted(frame.above.items()):
        if above.samples * scale >= LEAST_WIDTH:
            yield name, above.samples, x, depth
            yield from _boxes(above, x, depth + 1, scale)
        x += above.samples * scale


def _box(name: str, x: float, y: float, width: float, share: float) -> str:
    letters = int((width - 4) / _LETTER)
    shown = name if len(name) <= letters else name[: letters - 1] + "…" if letters > 3 else ""
    text = f'<text x="{x + 2:.1f}" y="{y + 12:.0f}">{escape(shown)}</text>' if shown else ""
    return (
        f"<g><title>{escape(name)}: {share:.1%}</title>"
        f'<rect x="{x:.1f}" y="{y:.0f}" width="{width:.1f}" height="{ROW - 1}"'
        f' fill="{_color(name)}"/>{text}</g>'
    )


def _color(name: str) -> str:
    """Ours are warm, C is grey; the same name always has the same color."""
    chance = zlib.crc32(name.encode()) % 40
    if ".py" in name or "coder>" in name:
        return f"rgb({215 + chance},{120 + chance * 2},60)"
    return f"rgb({190 + chance},{200 + chance},{210 + chance})"
