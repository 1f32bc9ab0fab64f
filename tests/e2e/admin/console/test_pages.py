"""Each page shows what the broker has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.e2e.admin.console import sample
from tests.e2e.admin.console.conftest import Console, MakeConsole
from tests.e2e.broker_process import BrokerProcess


def test_the_overview_has_figures_and_charts_that_go_on(own_context: Console) -> None:
    own_context.page.clock.install()
    page = own_context.open("#/", "Overview")
    tiles = page.locator(".tiles")
    expect(tiles).to_contain_text(re.compile(r"Topics\d+\d+ partitions"))
    expect(tiles).to_contain_text(re.compile("Data.* [KM]iBin memory"))
    expect(page.get_by_role("link", name="shipping")).to_have_attribute("href", "#/groups/shipping")
    expect(page.locator(".facts")).to_contain_text("PLAINTEXT://127.0.0.1")
    records = page.locator("figure", has_text="Records")
    for _ in range(3):
        with page.expect_response("**/console/data/overview"):
            page.clock.run_for(2000)
    # A rate needs two polls, a line three.
    expect(records.locator("path.line")).to_have_attribute("d", re.compile("^M.*L"))
    expect(records.locator(".key b")).to_have_text(re.compile("/s$"))


def test_a_hidden_page_sends_no_requests(own_context: Console) -> None:
    page = own_context.page
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.clock.install()
    own_context.open("#/groups", "Groups")
    for _ in range(3):
        with page.expect_response("**/console/data/overview"):
            page.clock.run_for(2000)
    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true})"
    changed = "document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate(f"{hide % 'true'}; {changed}")
    page.wait_for_load_state("networkidle")
    page.clock.run_for(2000)  # a request in flight may still set a timer
    before = len(requests)
    page.clock.run_for(600_000)
    assert len(requests) == before
    with page.expect_response("**/console/data/groups"):
        page.evaluate(f"{hide % 'false'}; {changed}")


def test_every_view_has_an_address_and_the_back_button_works(console: Console) -> None:
    page = console.open("#/", "Overview")
    for name, address in (
        ("Topics", "#/topics"),
        ("Groups", "#/groups"),
        ("Requests", "#/requests"),
        ("Connections", "#/connections"),
        ("Configs", "#/configs"),
    ):
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        page.get_by_role("heading", name=name, exact=True, level=1).wait_for()
        expect(page).to_have_url(re.compile(f"{re.escape(address)}$"))
    page.go_back()
    page.get_by_role("heading", name="Connections", exact=True, level=1).wait_for()
    page.go_back()
    page.get_by_role("heading", name="Requests", exact=True, level=1).wait_for()
    console.open("#/groups/billing", "billing")
    console.open("#/nowhere")
    expect(page.locator("main")).to_contain_text("There is no such page")


def test_a_request_is_found_by_its_correlation_id_and_its_stages_are_drawn(
    console: Console,
) -> None:
    page = console.open("#/requests", "Requests")
    row = page.locator("tr[data-row]").first
    expect(row.get_by_role("img")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Resume").click()
    page.get_by_label("API", exact=True).fill("CreateTopics")
    expect(page).to_have_url(re.compile("api=CreateTopics"))
    expect(row).to_contain_text("CreateTopics")
    expect(page.locator("tr[data-row]", has_text="Produce")).to_have_count(0)
    number = row.locator("td").nth(2).inner_text()
    row.get_by_role("button").click()
    shown = page.get_by_role("region", name="One request")
    expect(shown.get_by_role("heading")).to_contain_text(f"correlation id {number}")
    expect(shown.locator(".stages li")).to_have_count(5)
    expect(shown).to_contain_text(re.compile(r"\d topic"))
    page.get_by_label("API", exact=True).fill("")
    page.get_by_label("Correlation id").fill("987654321")
    expect(page.locator("main .empty")).to_be_visible()
    page.get_by_label("Correlation id").fill(number)
    expect(page.locator("tr[data-row]").first).to_contain_text(number)
    page.get_by_label("Correlation id").fill("console-1a2b")
    expect(page.locator("main .empty")).to_contain_text("log of the broker")


@pytest.mark.long
@pytest.mark.parametrize("width", [360, 1280])
def test_a_request_that_failed_is_seen_to_have_failed(
    make_console: MakeConsole, shop: BrokerProcess, width: int
) -> None:
    console = make_console(shop, viewport={"width": width, "height": 800})
    errors = ["UNKNOWN_TOPIC_OR_PARTITION", "OFFSET_OUT_OF_RANGE", "NOT_LEADER_OR_FOLLOWER"]
    answer = console.page.request.get(f"{console.home}requestz?limit=1").json()
    answer["data"][0]["errors"] = errors
    console.refuse("**/requestz?*", 200, answer)
    page = console.open("#/requests", "Requests")
    words = ", ".join(errors)
    row = page.locator("tr[data-row]")
    if width < 820:
        expect(row.get_by_label(f"failed: {words}")).to_be_visible()
        return
    mark = row.locator(".badge")
    expect(mark).to_be_visible()
    cell = row.locator("td").last
    ends = [one.evaluate("one => one.getBoundingClientRect().right") for one in (mark, cell)]
    assert ends[0] <= ends[1]
    assert mark.evaluate("one => getComputedStyle(one).textOverflow") == "ellipsis"
    assert mark.evaluate("one => one.scrollWidth > one.clientWidth")


@pytest.mark.long
def test_names_of_failures_and_apis_are_whole_where_there_is_room(
    make_console: MakeConsole, shop: BrokerProcess
) -> None:
    console = make_console(shop, viewport={"width": 1280, "height": 800})
    answer = console.page.request.get(f"{console.home}requestz?limit=3").json()
    errors = ("TOPIC_ALREADY_EXISTS", "INVALID_CONFIG", "UNKNOWN_TOPIC_OR_PARTITION")
    apis = ("CreateTopics", "IncrementalAlterConfigs", "ConsumerGroupDescribe")
    for one, error, api in zip(answer["data"], errors, apis, strict=True):
        one.update(errors=[error], api=api, version=1)
    console.refuse("**/requestz?*", 200, answer)
    page = console.open("#/requests", "Requests")
    expect(page.locator("tr[data-row]")).to_have_count(3)
    cut = "(all) => all.filter((c) => c.scrollWidth > c.clientWidth).map((c) => c.innerText)"
    assert page.locator("tr[data-row] td, tr[data-row] .badge").evaluate_all(cut) == []


@pytest.mark.long
def test_a_request_has_one_time_however_often_it_is_looked_at(
    make_console: MakeConsole, own_console: Callable[..., BrokerProcess]
) -> None:
    """That of its line in the log, to the millisecond, in the zone that the page names."""
    broker = own_console()
    found = AdminClient({"bootstrap.servers": broker.bootstrap, "client.id": "till"})
    made = found.create_topics([NewTopic("not/legal", 1)])["not/legal"]
    assert made.exception(30) is not None
    console = make_console(broker, timezone_id="Africa/Nairobi")
    asked = f"{console.home}requestz?client_id=till&errors=true"
    [[time], [again]] = [
        [one["time"] for one in console.page.request.get(asked).json()["data"]] for _ in range(2)
    ]
    line = json.loads(broker.log_line('"CreateTopics"'))
    assert time == again == line["time"]
    local = datetime.fromisoformat(time).astimezone(timezone(timedelta(hours=3)))
    clock = local.isoformat(" ", "milliseconds")[11:23]
    for _ in range(2):
        page = console.open("#/requests?client_id=till&errors=true", "Requests")
        press = page.locator("tr[data-row]").get_by_role("button")
        expect(press).to_have_text(clock)
        expect(press).to_have_attribute("title", f"{local:%Y-%m-%d} {clock} UTC+03:00")
        expect(page.get_by_text("Times in Africa/Nairobi")).to_be_visible()
        page.reload()


def test_connections_are_listed_and_searched(console: Console, shop: BrokerProcess) -> None:
    with sample.members(shop.bootstrap, "readers", "clicks", 2):
        page = console.open("#/connections", "Connections")
        row = page.locator("tr[data-row]", has_text="readers-1").first
        expect(row).to_contain_text("127.0.0.1")
        page.get_by_label("Search connections").fill("readers-0")
        expect(page.locator("tr[data-row]", has_text="readers-1")).to_have_count(0)
        expect(page.locator("tr[data-row]", has_text="readers-0").first).to_be_visible()
        page.get_by_label("Search connections").fill("nobody has this name")
        expect(page.locator("main")).to_contain_text("No connection matches")


def test_configs_say_what_is_set_and_a_setting_is_changed_and_reset(console: Console) -> None:
    page = console.open("#/configs", "Configs")
    storage = page.locator(".config", has=page.get_by_text("storage", exact=True))
    expect(storage).to_contain_text("memory://")
    expect(storage).to_contain_text("from command line")
    page.get_by_label("Which settings").select_option("set")
    expect(page.locator(".config:visible .badge").first).to_have_text("set")
    expect(page).to_have_url(re.compile(r"\?only=set$"))
    page.get_by_label("Which settings").select_option("")
    page.get_by_label("Search settings").fill("log.flush.interval.messages")
    row = page.locator(".config:visible")
    expect(row).to_have_count(1)
    dialog = page.get_by_role("dialog")

    def change(value: str) -> None:
        page.get_by_role("button", name="Change log.flush.interval.messages").click()
        dialog.get_by_label("Value").fill(value)
        page.get_by_role("button", name="Save").click()

    change("many")
    expect(page.get_by_role("alert")).to_contain_text("correlation id console-")
    dialog.get_by_role("button", name="Cancel").click()
    change("12345")
    expect(row).to_contain_text("12345")
    expect(row.locator(".badge")).to_have_text(["set", "no effect"])
    change("")
    expect(row).not_to_contain_text("12345")
