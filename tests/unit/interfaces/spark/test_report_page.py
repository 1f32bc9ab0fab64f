"""Reports: well-formed pages without scripts and links."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from interfaces.spark.reports import plots
from interfaces.spark.reports.page import facts, note, page, section, shown, table

pytest.importorskip("matplotlib", reason="needs what Spark's extra brings")

NASTY = "<script>alert('1')</script> & \"so on\" $5 to $6"


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


def test_a_report_is_well_formed_without_scripts_or_links() -> None:
    text = whole()
    body = re.sub(r"<meta[^>]*>", "", text.removeprefix("<!doctype html>\n"))
    tree = ElementTree.fromstring(body)
    assert {each.tag for each in tree.iter()}.isdisjoint({"script", "link", "img", "iframe"})
    assert "http" not in text and "url(" not in text.replace("url(#", "")


def texts(drawn: str) -> list[str]:
    return re.findall("<text [^>]+>([^<]+)<", drawn)


@pytest.mark.parametrize(
    "drawn",
    [lambda: plots.lines("t", [], "x", "y"), lambda: plots.tail("t", [], "y"),
     lambda: plots.bars("t", [], "y"), lambda: plots.partitions("t", [], "y")],
)  # fmt: skip
def test_a_plot_without_data_is_empty(drawn: Callable[[], str]) -> None:
    assert "<svg" in drawn()


def test_bars_of_one_topic_are_named_by_their_partitions() -> None:
    drawn = plots.partitions("t", [("a-topic", each, 5) for each in range(4)], "records")
    assert {"0", "1", "2", "3", "partition", "records"} <= set(texts(drawn))
    assert "a-topic" not in drawn


def test_labels_of_many_topics_are_shortened_and_different() -> None:
    long = "payments." + "a-very-long-name." * 10
    drawn = plots.partitions("t", [(f"{long}{each}", 7, 5) for each in range(60)], "records")
    named = [text for text in texts(drawn) if "…" in text]
    assert 3 <= len(set(named)) <= 6
    assert all(re.fullmatch(r"payment….+\.\d+-7", each) for each in named)


def test_axes_have_the_colour_of_the_page() -> None:
    drawn = plots.tail("t", [("a", [(0, 1), (99.99, 7)])], "ms")
    assert "currentColor" in drawn and "#123456" not in drawn
    assert {"50", "90", "99", "99.9", "99.99"} <= set(texts(drawn))


@pytest.mark.parametrize(
    ("letters", "text"),
    [(10, "0123456789"), (9, "0123…6789"), (4, "0…9")],
)
def test_a_name_is_shortened_in_the_middle(letters: int, text: str) -> None:
    assert plots.shortened("0123456789", letters) == text
    assert len(text) <= letters


def test_an_empty_table_has_a_note_and_numbers_are_right_aligned() -> None:
    assert table(["a", "b"], []) == note("none")
    drawn = table(["a", "b", "c"], [["x", "1.5 %", 3], ["-", "-", None]])
    assert drawn.count('class="number"') == 2 * 3


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234567, "1,234,567"), (1234.5, "1,234"), (0.12345, "0.1235"), (True, "yes"), (None, "-")],
)
def test_numbers_are_readable(value: object, text: str) -> None:
    assert shown(value) == text
