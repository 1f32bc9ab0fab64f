"""Groups: members, lag, offsets that are reset after a preview, deletion."""

from __future__ import annotations

from uuid import uuid4

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.admin.conftest import commit_offset
from tests.e2e.admin.console import sample
from tests.e2e.admin.console.conftest import Console
from tests.e2e.admin.console.test_topics import press


@pytest.fixture
def group(console: Console) -> str:
    """A group without members, with committed offsets in the middle of the payments."""
    name = f"group-{uuid4().hex[:8]}"
    sample.commit(console.broker.bootstrap, name, "payments", 0.5)
    return name


def lag_rows(console: Console) -> Locator:
    return console.page.get_by_role("table", name="Lag by partition").locator("tr[data-row]")


def test_the_group_with_the_most_lag_comes_first(console: Console) -> None:
    page = console.open("#/groups", "Groups")
    texts = page.locator("tr[data-row] td:last-child").all_inner_texts()
    lags = [int(text.replace(",", "")) for text in texts]
    assert lags == sorted(lags, reverse=True)
    assert lags[0] > 0
    page.get_by_label("Search groups").fill("bill")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.get_by_role("link", name="billing").click()
    page.get_by_role("heading", name="billing", level=1).wait_for()


def test_an_active_group_shows_its_members_and_their_assignments(console: Console) -> None:
    name = f"group-{uuid4().hex[:8]}"
    with sample.members(console.broker.bootstrap, name, "clicks", 2) as consumers:
        consumers[0].commit(offsets=consumers[0].position(consumers[0].assignment()))
        console.has_history(f"**/groups/{name}/history", lag=120)
        page = console.open(f"#/groups/{name}", name)
        expect(console.chart("Lag")).to_contain_text("all partitions 120")
        expect(page.locator(".head")).to_contain_text("Stable")
        expect(page.locator(".head")).to_contain_text("2 members")
        members = page.get_by_role("table", name="Members")
        expect(members.locator("tr[data-row]")).to_have_count(2)
        expect(members).to_contain_text("clicks")
        # Offsets of an active group cannot be reset.
        dialog = press(page, "Reset offsets")
        dialog.get_by_role("button", name="Preview").click()
        expect(dialog.get_by_role("alert")).to_contain_text("current state is Stable")


def test_offsets_are_previewed_before_they_are_reset(console: Console, group: str) -> None:
    page = console.open(f"#/groups/{group}", group)
    lag = lag_rows(console)
    expect(lag).to_have_count(3)
    committed = lag.first.locator("td").nth(2)
    before = committed.inner_text()
    dialog = press(page, "Reset offsets")
    dialog.get_by_label("Reset to").select_option("shift_by")
    dialog.get_by_label("Records (negative: back)").fill("-5")
    dialog.get_by_role("button", name="Preview").click()
    rows = dialog.locator("tbody tr")
    expect(rows).to_have_count(3)
    then = rows.first.locator("td").nth(3).inner_text()
    assert int(then) == int(before) - 5
    # Nothing is reset yet, and a change of the form needs another preview.
    assert committed.inner_text() == before
    dialog.get_by_label("Topics").select_option("")
    expect(rows).to_have_count(0)
    dialog.get_by_role("button", name="Cancel").click()
    dialog = press(page, "Reset partition 0 of payments")
    expect(dialog.get_by_label("Topics")).to_have_value("payments")
    expect(dialog.get_by_label("Partitions")).to_have_value("0")
    dialog.get_by_label("Reset to").select_option("shift_by")
    dialog.get_by_label("Records (negative: back)").fill("-5")
    dialog.get_by_role("button", name="Preview").click()
    expect(rows).to_have_count(1)
    dialog.get_by_role("button", name="Reset 1 partition").click()
    expect(committed).to_have_text(then)
    expect(dialog).to_have_count(0)


@pytest.mark.long
def test_offsets_are_reset_to_either_end_an_offset_or_a_time(console: Console, group: str) -> None:
    page = console.open(f"#/groups/{group}", group)
    row = lag_rows(console).first
    for to, field, text, lag in (
        ("earliest", None, "", None),
        ("latest", None, "", "0"),
        ("offset", "Offset", "1", None),
        ("timestamp", "Time", "2100-01-01T00:00", "0"),
    ):
        dialog = press(page, "Reset offsets")
        dialog.get_by_label("Reset to").select_option(to)
        if field is not None:
            dialog.get_by_label(field, exact=True).fill(text)
        dialog.get_by_role("button", name="Preview").click()
        then = dialog.locator("tbody tr").first.locator("td").nth(3).inner_text()
        dialog.get_by_role("button", name="Reset 3 partitions").click()
        expect(row.locator("td").nth(2)).to_have_text(then)
        if lag is not None:
            expect(row.locator("td").nth(4)).to_have_text(lag)


@pytest.mark.parametrize(
    "group",
    [
        "..",
        pytest.param("a/b?c#d %2F größe", marks=pytest.mark.long),
        pytest.param("", marks=pytest.mark.long),
    ],
)
def test_a_group_of_any_id_is_found_reset_and_deleted(console: Console, group: str) -> None:
    """An empty id is shown as `no name`; Kafka refuses new commits for it."""
    commit_offset(console.broker, group, "orders")
    page = console.open("#/groups", "Groups")
    shown = group or "no name"
    page.get_by_role("link", name=shown, exact=True).click()
    page.get_by_role("heading", name=shown, exact=True, level=1).wait_for()
    row = lag_rows(console).first
    expect(row).to_contain_text("orders")
    if group:
        dialog = press(page, "Reset offsets")
        dialog.get_by_label("Reset to").select_option("offset")
        dialog.get_by_label("Offset", exact=True).fill("2")
        dialog.get_by_role("button", name="Preview").click()
        dialog.get_by_role("button", name="Reset 1 partition").click()
        expect(row.locator("td").nth(2)).to_have_text("2")
    else:
        expect(page.get_by_role("button", name="Reset offsets")).to_have_count(0)
    dialog = press(page, "Delete")
    delete = dialog.get_by_role("button", name="Delete")
    if group:
        expect(delete).to_be_disabled()
        dialog.get_by_label("to confirm").fill(group)
    delete.click()
    page.get_by_role("heading", name="Groups", exact=True, level=1).wait_for()
    expect(page.get_by_role("link", name=shown, exact=True)).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("alert")).to_be_visible()
