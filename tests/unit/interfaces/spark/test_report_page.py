"""Reports are whole: well formed, with nothing from elsewhere, and nothing that runs."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from interfaces.spark.reports import plots
from interfaces.spark.reports.page import facts, note, page, section, shown, table

NASTY = "<script>alert('1')</script> & \"so on\""


def whole() -> str:
    return page(
        NASTY,
        [
            note(NASTY),
            section(
                NASTY,
                facts({NASTY: NASTY, "n": 12345}),
                table(["name", NASTY], [[NASTY, 1], ["b", 2.5]]),
                plots.lines(NASTY, [(NASTY, [(0, 1), (1, 5)]), ("b", [])], NASTY, NASTY),
                plots.tail(NASTY, [(NASTY, [(0, 1), (99.99, 700_000)])], NASTY),
                plots.bars(NASTY, [(NASTY, 3), ("b", 0)], NASTY),
            ),
        ],
    )


def test_it_is_well_formed_and_runs_nothing() -> None:
    text = whole()
    body = re.sub(r"<meta[^>]*>", "", text.removeprefix("<!doctype html>\n"))
    tree = ElementTree.fromstring(body)
    assert {each.tag for each in tree.iter()}.isdisjoint({"script", "link", "img", "iframe"})
    assert "http" not in text and "url(" not in text


@pytest.mark.parametrize("plot", [plots.lines, plots.tail])
def test_a_plot_of_nothing_is_an_empty_one(plot: object) -> None:
    arguments = ("t", [], "y") if plot is plots.tail else ("t", [], "x", "y")
    assert plot(*arguments).startswith("<svg")  # type: ignore[operator]
    assert plots.bars("t", [], "y").startswith("<svg")


def test_points_lie_where_their_values_say() -> None:
    drawn = plots.lines("t", [("a", [(0, 0), (10, 100)])], "x", "y")
    [points] = re.findall(r'points="([^"]+)"', drawn)
    (x0, y0), (x1, y1) = (map(float, each.split(",")) for each in points.split())
    assert x0 < x1 and y0 > y1


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234567, "1,234,567"), (1234.5, "1,234"), (0.12345, "0.1235"), (True, "yes"), (None, "-")],
)
def test_numbers_are_readable(value: object, text: str) -> None:
    assert shown(value) == text
