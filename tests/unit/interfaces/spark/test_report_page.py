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
    for drawn in (plot(*arguments), plots.bars("t", [], "y"), plots.partitions("t", [], "y")):  # type: ignore[operator]
        assert "<svg" in drawn and "<rect" not in drawn
        assert not re.search('points="[^"]', drawn)


def below(drawn: str) -> list[str]:
    """What is written below the bars."""
    return re.findall(r'y="252.0" text-anchor="middle">([^<]+)<', drawn)


def test_bars_of_one_topic_are_named_by_their_partitions() -> None:
    drawn = plots.partitions(
        "t", [("ottla-perf-e563a1-0", each, 5) for each in range(4)], "records"
    )
    assert below(drawn) == ["0", "1", "2", "3"]
    assert "partition</text>" in drawn
    assert re.findall("<title>([^<]+)</title>", drawn)[3] == "3: 5 records"


def test_names_of_many_topics_are_shortened_where_they_are_alike_and_tooltips_are_whole() -> None:
    long = "payments." + "a-very-long-name." * 10
    drawn = plots.partitions("t", [(f"{long}{each}", 7, 5) for each in range(2)], "records")
    assert len(set(below(drawn))) == 2
    assert all(re.fullmatch(r"payments\..+….+\.[01]-7", each) for each in below(drawn))
    assert f"<title>{long}1-7: 5 records</title>" in drawn
    many = plots.partitions("t", [(f"{long}{each}", 7, 5) for each in range(60)], "records")
    assert 3 <= len(below(many)) <= 6 and all(len(each) <= 20 for each in below(many))


@pytest.mark.parametrize(
    ("letters", "text"),
    [(10, "0123456789"), (9, "0123…6789"), (4, "01…9"), (2, "0…"), (1, "…")],
)
def test_a_name_is_shortened_in_the_middle(letters: int, text: str) -> None:
    assert plots.shortened("0123456789", letters) == text
    assert len(text) <= letters


def test_a_single_moment_is_a_dot_that_is_seen() -> None:
    drawn = plots.lines("t", [("a", [(3, 5)])], "s", "ms")
    assert 'class="only c0"' in drawn and 'class="dot' not in drawn
    assert below(drawn) == ["3"]
    assert "<title>a: 5 ms at 3 s</title>" in drawn


def test_a_table_without_rows_says_so_and_figures_stand_at_the_right() -> None:
    assert table(["a", "b"], []) == note("none")
    drawn = table(["a", "b", "c"], [["x", "1.5 %", 3], ["-", "-", None]])
    assert drawn.count('class="number"') == 2 * 3


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
