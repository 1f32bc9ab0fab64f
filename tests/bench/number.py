"""How a figure is shown to people: 16,030 and 0.57, never 1.603e+04."""

from __future__ import annotations


def shown(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
