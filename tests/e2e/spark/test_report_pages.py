"""Reports in a real browser: no text overlaps, and axe finds no serious fault."""

from __future__ import annotations

from contextlib import closing
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser

from interfaces.spark.reports import plots
from interfaces.spark.reports.page import facts, note, page, part, section, table
from tests.e2e.admin.console.conftest import browser  # noqa: F401
from tests.e2e.admin.console.test_accessibility import axe, faults  # noqa: F401
from tests.e2e.admin.console.test_screens import PHONE

LONG = "payments." + "very-long-name-of-a-team-and-its-service." * 5
TIMES = [(float(second), second * 1234.5) for second in range(1, 31)]
MANY = [(f"{LONG}{each % 3}", each, 10_000.0 * each) for each in range(40)]


@cache
def report() -> str:
    return page(
        f"Throughput: {LONG}",
        [
            facts({"published": "19,947 records/s", LONG: LONG, "n": 5}),
            note("A note."),
            section("Rates", plots.lines("Rates", [("a", TIMES), ("b", TIMES[:9])], "s", "ms")),
            section("One", plots.lines("One", [("a", TIMES[:1])], "s", "records/s")),
            section("Tail", plots.tail("Tail", [("a", [(0.0, 1), (99.9999, 7e5)])], "ms")),
            section(LONG, part("Topics", plots.partitions("Topics", MANY, "records"))),
            section("Topic", plots.partitions("Topic", [("t", n, 5.0) for n in range(100)], "b")),
            section("Table", table(["topic", *"abcdefgh"], [[LONG, *[1_234_567] * 8]])),
            section("Empty", plots.bars("Empty", [], "records"), table(["a"], [])),
        ],
    )


@pytest.mark.parametrize(
    "options",
    [pytest.param({"color_scheme": "dark"}, marks=pytest.mark.long), PHONE],
    ids=["dark", "phone"],
)
def test_a_report_has_no_serious_fault_and_no_overlaps_and_is_printed_dark_on_light(
    browser: Browser,  # noqa: F811
    axe: str,  # noqa: F811
    options: dict[str, Any],
) -> None:
    with closing(browser.new_context(**options)) as context:
        tab = context.new_page()
        tab.set_content(report())
        assert faults(tab, axe) == []
        assert tab.evaluate(OVERLAPS) == []
        width = tab.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert width[0] <= width[1]  # plots and tables scroll, the page does not
        tab.emulate_media(media="print")
        assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


#: Texts of a plot that lie on each other or reach over its edge.
OVERLAPS = """() => [...document.querySelectorAll('svg')].flatMap((svg) => {
  const edge = svg.getBoundingClientRect()
  const texts = [...svg.querySelectorAll('text')].map((each) => [each.textContent,
    each.getBoundingClientRect()])
  const on = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
  return texts.flatMap(([text, box], at) => [
    ...texts.slice(at + 1).filter(([, other]) => on(box, other))
      .map(([other]) => `${text} on ${other}`),
    ...(box.left < edge.left || box.right > edge.right ? [`${text} over the edge`] : [])
  ])
})"""
