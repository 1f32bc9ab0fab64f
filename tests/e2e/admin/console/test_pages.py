"""Overview, requests, connections and configs; addresses of all views."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.e2e.admin.console.conftest import ADMIN, Console, MakeConsole
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import StartBroker


def test_the_overview_has_figures_and_charts_and_is_polled_while_visible(
    make_console: MakeConsole, shop: BrokerProcess
) -> None:
    console = make_console(shop)
    page = console.page
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.clock.install()
    console.has_history("**/history", messages_in_per_sec=700, commit_p99_us=5000)
    console.open("#/", "Overview")
    # Of the time before the page was opened.
    records = console.chart("Records")
    expect(records.locator("path.line")).to_have_attribute("d", re.compile("^M.*L"))
    expect(records).to_contain_text("in 700/s")
    expect(console.chart("Commit time")).to_contain_text("p99 5.0 ms")
    page.get_by_label("Time range").select_option("Last 5 minutes")
    expect(records).to_contain_text("1 min ago")
    tiles = page.locator(".tiles")
    expect(tiles).to_contain_text(re.compile(r"Topics\d+\d+ partitions"))
    expect(tiles).to_contain_text(re.compile("Data.* [KM]iBin memory"))
    expect(page.get_by_role("link", name="shipping")).to_have_attribute("href", "#/groups/shipping")
    expect(page.locator(".facts")).to_contain_text("PLAINTEXT://127.0.0.1")
    for _ in range(3):
        with page.expect_response("**/console/data/overview"):
            page.clock.run_for(2000)
    expect(records.locator(".key b")).to_have_text("0/s")

    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true})"
    changed = "document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate(f"{hide % 'true'}; {changed}")
    page.wait_for_load_state("networkidle")
    page.clock.run_for(2000)  # a response may still set a timer
    before = len(requests)
    page.clock.run_for(60_000)
    assert len(requests) == before
    with page.expect_response("**/console/data/overview"):
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
    console.open("#/nowhere/else")
    expect(page.locator("main")).to_contain_text("Page not found")


def test_requests_are_found_by_id_api_and_topic_and_have_their_stages(
    console: Console,
) -> None:
    page = console.open("#/requests", "Requests")
    row = page.locator("tr[data-row]").first
    expect(row.get_by_role("img")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Resume").click()
    page.get_by_label("API", exact=True).select_option("CreateTopics")
    expect(page).to_have_url(re.compile("api=CreateTopics"))
    expect(row).to_contain_text("CreateTopics")
    expect(page.locator("tr[data-row]", has_text="Produce")).to_have_count(0)
    number = row.locator("td").nth(2).inner_text()
    row.get_by_role("button").click()
    shown = page.get_by_role("region", name="One request")
    expect(shown.get_by_role("heading")).to_contain_text(f"correlation id {number}")
    expect(shown.locator(".stages li")).to_have_count(5)
    expect(shown).to_contain_text(re.compile(r"\d topic"))
    page.get_by_label("API", exact=True).select_option("All")
    page.get_by_label("Correlation id").fill("987654321")
    expect(page.locator("main .empty")).to_be_visible()
    page.get_by_label("Correlation id").fill(number)
    expect(page.locator("tr[data-row]").first).to_contain_text(number)
    page.get_by_label("Correlation id").fill("")
    page.get_by_label("Topic", exact=True).fill("orders")
    page.get_by_label("Hide successful Fetch").check()
    expect(page).to_have_url(re.compile("topic=orders.*polling=false"))
    expect(row).to_be_visible()
    expect(page.locator("tr[data-row]", has_text="Fetch")).to_have_count(0)
    page.get_by_label("Topic", exact=True).fill("")
    page.get_by_label("API", exact=True).select_option("HTTP")
    number = "order-17"
    page.request.get(f"{console.home}topics/not-there", headers={"X-Correlation-ID": number})
    page.get_by_label("Correlation id").fill(number)
    expect(shown.get_by_role("heading")).to_have_text(
        f"GET /topics/{{topic_name}}, correlation id {number}"
    )
    expect(shown).to_contain_text("topic not-there")
    expect(shown).to_contain_text("HTTP 404")


@pytest.mark.long
def test_a_request_has_the_time_of_its_log_line(
    make_console: MakeConsole, start_broker: StartBroker
) -> None:
    """To the millisecond, in the time zone that the page names."""
    broker = start_broker(*ADMIN, engine="memory")
    client = AdminClient({"bootstrap.servers": broker.bootstrap, "client.id": "till"})
    created = client.create_topics([NewTopic("not/legal", 1)])["not/legal"]
    assert created.exception(30) is not None
    console = make_console(broker, timezone_id="Africa/Nairobi")
    url = f"{console.home}requestz?client_id=till&errors=true"
    [[time], [again]] = [
        [one["time"] for one in console.page.request.get(url).json()["data"]] for _ in range(2)
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


def test_connections_are_listed_and_searched(console: Console) -> None:
    servers = {"bootstrap.servers": console.broker.bootstrap}
    clients = [AdminClient({**servers, "client.id": f"reader-{number}"}) for number in range(2)]
    for client in clients:
        client.list_topics(timeout=30)
    page = console.open("#/connections", "Connections")
    rows, search = page.locator("tr[data-row]"), page.get_by_label("Search connections")
    expect(rows.filter(has_text="reader-1").first).to_contain_text("127.0.0.1")
    search.fill("reader-0")
    expect(rows.filter(has_text="reader-1")).to_have_count(0)
    expect(rows.filter(has_text="reader-0").first).to_be_visible()
    search.fill("no client has this id")
    expect(page.locator("main")).to_contain_text("No connection matches")


def test_an_open_transaction_is_shown_and_aborted(console: Console) -> None:
    servers = {"bootstrap.servers": console.broker.bootstrap, "log_level": 0}
    producer = Producer({**servers, "transactional.id": "till/1"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("till", b"1")
    producer.flush()
    page = console.open("#/transactions", "Transactions")
    row = page.locator("tr[data-row]").filter(has_text="till/1")
    expect(row).to_contain_text("ONGOING")
    expect(row.get_by_role("link")).to_have_text("till-0")
    row.get_by_role("button", name="Abort till/1").click()
    page.get_by_role("dialog").get_by_role("button", name="Abort").click()
    expect(row).to_contain_text("EMPTY")
    with pytest.raises(KafkaException):
        producer.commit_transaction(30)


def test_records_are_committed_as_one_transaction_and_shown_with_their_states(
    console: Console,
) -> None:
    servers = {"bootstrap.servers": console.broker.bootstrap, "log_level": 0}
    producer = Producer({**servers, "transactional.id": "till/2"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("safe", b"regretted")
    producer.flush()
    producer.abort_transaction(30)

    page = console.open("#/topics/safe/produce", "safe")
    for value in ("debit", "credit"):
        page.get_by_label("Value", exact=True).fill(value)
        page.get_by_role("button", name="Add to a transaction").click()
    expect(page.locator(".notice")).to_contain_text("The transaction has 2 records")
    page.get_by_role("button", name="Commit 2 records").click()
    page.get_by_role("link", name="2 records").click()
    expect(page).to_have_url(re.compile("transactions=true"))
    states = page.locator("td.transaction")
    expect(states).to_have_text(["committed", "committed", "commit marker"])
    page.get_by_label("Show", exact=True).select_option("oldest")
    expect(states).to_have_text(
        ["aborted", "abort marker", "committed", "committed", "commit marker"]
    )
    page.get_by_label("Transactions", exact=True).select_option("")
    expect(states).to_have_count(0)
    expect(page.locator("main")).to_contain_text("regretted")


def test_settings_have_their_source_and_are_changed_and_reset(console: Console) -> None:
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
