"""Groups: who is in them, how far they are; reset, with a look before; delete."""

from __future__ import annotations

from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.e2e.admin.console import sample
from tests.e2e.admin.console.conftest import Console
from tests.e2e.admin.test_group_names import commit


@pytest.fixture
def group(console: Console) -> str:
    """One that has read half of the payments and is gone."""
    name = f"group-{uuid4().hex[:8]}"
    sample.commit(console.broker.bootstrap, name, "payments", 0.5)
    return name


def test_the_group_with_the_most_lag_comes_first(console: Console) -> None:
    page = console.open("#/groups", "Groups")
    lags = [
        int(text.replace(",", ""))
        for text in page.locator("tr[data-row] td:last-child").all_inner_texts()
    ]
    assert lags == sorted(lags, reverse=True)
    assert lags[0] > 0
    page.get_by_label("Search groups").fill("bill")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.get_by_role("link", name="billing").click()
    page.get_by_role("heading", name="billing", level=1).wait_for()


def test_a_group_at_work_shows_its_members_and_what_each_reads(console: Console) -> None:
    name = f"group-{uuid4().hex[:8]}"
    with sample.members(console.broker.bootstrap, name, "clicks", 2) as consumers:
        consumers[0].commit(offsets=consumers[0].position(consumers[0].assignment()))
        page = console.open(f"#/groups/{name}", name)
        expect(page.locator(".head")).to_contain_text("Stable")
        expect(page.locator(".head")).to_contain_text("2 members")
        members = page.get_by_role("table", name="Members")
        expect(members.locator("tr[data-row]")).to_have_count(2)
        expect(members).to_contain_text("clicks")
        # Its offsets are not to be reset while it reads.
        page.get_by_role("button", name="Reset offsets").click()
        page.get_by_role("dialog").get_by_role("button", name="Preview").click()
        fault = page.get_by_role("dialog").get_by_role("alert")
        expect(fault).to_contain_text("is inactive, but the current state is Stable")


def test_offsets_are_shown_before_they_are_reset(console: Console, group: str) -> None:
    page = console.open(f"#/groups/{group}", group)
    lag = page.get_by_role("table", name="Lag by partition").locator("tr[data-row]")
    expect(lag).to_have_count(3)
    before = lag.first.locator("td").nth(2).inner_text()
    page.get_by_role("button", name="Reset offsets").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Go on at").select_option("shift_by")
    dialog.get_by_label("How many (negative: back)").fill("-5")
    dialog.get_by_role("button", name="Preview").click()
    rows = dialog.locator("tbody tr")
    expect(rows).to_have_count(3)
    then = rows.first.locator("td").nth(3).inner_text()
    assert int(then) == int(before) - 5
    # Nothing has happened yet, and another wish needs another look.
    assert lag.first.locator("td").nth(2).inner_text() == before
    dialog.get_by_label("Of").select_option("payments")
    expect(rows).to_have_count(0)
    dialog.get_by_label("Partitions").fill("0")
    dialog.get_by_role("button", name="Preview").click()
    expect(rows).to_have_count(1)
    dialog.get_by_role("button", name="Reset 1 partition").click()
    expect(lag.first.locator("td").nth(2)).to_have_text(then)
    expect(dialog).to_have_count(0)


@pytest.mark.parametrize(
    ("aim", "field", "typed", "lag"),
    [
        ("earliest", None, "", None),
        ("latest", None, "", "0"),
        ("offset", "Offset", "1", None),
        ("timestamp", "Time", "2100-01-01T00:00", "0"),
    ],
)
def test_offsets_are_reset_to(
    console: Console, group: str, aim: str, field: str | None, typed: str, lag: str | None
) -> None:
    page = console.open(f"#/groups/{group}", group)
    page.get_by_role("button", name="Reset offsets").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Go on at").select_option(aim)
    if field is not None:
        dialog.get_by_label(field, exact=True).fill(typed)
    dialog.get_by_role("button", name="Preview").click()
    then = dialog.locator("tbody tr").first.locator("td").nth(3).inner_text()
    dialog.get_by_role("button", name="Reset 3 partitions").click()
    row = page.get_by_role("table", name="Lag by partition").locator("tr[data-row]").first
    expect(row.locator("td").nth(2)).to_have_text(then)
    if lag is not None:
        expect(row.locator("td").nth(4)).to_have_text(lag)


def test_a_group_is_deleted_only_when_its_name_is_typed(console: Console, group: str) -> None:
    page = console.open(f"#/groups/{group}", group)
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Delete")).to_be_disabled()
    dialog.get_by_label("to confirm").fill(group)
    dialog.get_by_role("button", name="Delete").click()
    page.get_by_role("heading", name="Groups", exact=True, level=1).wait_for()
    expect(page.get_by_role("status").last).to_contain_text(f"Group {group} is deleted")
    page.go_back()
    expect(page.get_by_role("alert")).to_contain_text("not found")


@pytest.mark.parametrize("group", ["team/orders", "..", ".", "a?b#c %2F", "größe/日本"])
def test_a_group_of_any_name_is_found_moved_and_deleted(console: Console, group: str) -> None:
    commit(console.broker, group, "orders")
    page = console.open("#/groups", "Groups")
    page.get_by_role("link", name=group, exact=True).click()
    page.get_by_role("heading", name=group, exact=True, level=1).wait_for()
    page.get_by_role("button", name="Reset offsets").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Go on at").select_option("offset")
    dialog.get_by_label("Offset", exact=True).fill("2")
    dialog.get_by_role("button", name="Preview").click()
    dialog.get_by_role("button", name="Reset 1 partition").click()
    row = page.get_by_role("table", name="Lag by partition").locator("tr[data-row]").first
    expect(row.locator("td").nth(2)).to_have_text("2")
    page.get_by_role("button", name="Delete").click()
    dialog.get_by_label("to confirm").fill(group)
    dialog.get_by_role("button", name="Delete").click()
    page.get_by_role("heading", name="Groups", exact=True, level=1).wait_for()
    expect(page.get_by_role("link", name=group, exact=True)).to_have_count(0)


def test_a_group_without_a_name_is_found_and_deleted(console: Console) -> None:
    commit(console.broker, "", "orders")
    page = console.open("#/groups", "Groups")
    page.get_by_role("link", name="no name").click()
    page.get_by_role("heading", name="no name", level=1).wait_for()
    expect(page.get_by_role("table", name="Lag by partition")).to_contain_text("orders")
    expect(page.get_by_role("button", name="Reset offsets")).to_have_count(0)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("heading", name="Groups", exact=True, level=1).wait_for()
    expect(page.get_by_role("link", name="no name")).to_have_count(0)
