"""Records: shown, searched, live, produced, replayed and downloaded."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import Console
from tests.e2e.admin.console.test_topics import new_topic
from tests.e2e.broker_process import ROOT

#: Valid UTF-8 with characters that no text has.
BINARY = (
    *(b"\0\0\0\x2a", b"\x1b[31mred", b"delete\x7f"),
    *("next\x85line".encode(), "\ufdd0".encode()),
)


def rows(page: Page) -> list[list[str]]:
    cells = "rows => rows.map((row) => Array.from(row.cells, (cell) => cell.innerText))"
    found: list[list[str]] = page.locator("tr.pressable").evaluate_all(cells)
    return found


def produce(console: Console, topic: str, *records: tuple[object, object]) -> None:
    producer = Producer({"bootstrap.servers": console.broker.bootstrap})
    for key, value in records:
        producer.produce(topic, value, key=key, headers=[("header", value)])
    assert producer.flush(30) == 0


def test_null_empty_binary_and_json_are_shown_as_they_are(console: Console) -> None:
    page = console.open("#/topics/shipments?from=oldest&partition=0", "shipments")
    expect(page.locator("tr.pressable")).to_have_count(5)
    keys = [page.locator("tr.pressable").nth(row).locator("td").nth(4) for row in range(3)]
    expect(keys[0].locator(".nothing")).to_have_text("null")
    expect(keys[1].locator(".nothing")).to_have_text("empty")
    expect(keys[2]).to_have_text("null")
    expect(keys[2].locator(".nothing")).to_have_count(0)

    page = console.open("#/topics/shipments?from=oldest&partition=1", "shipments")
    page.locator("tr.pressable").first.click()
    record = page.locator(".record")
    value = record.get_by_label("Value", exact=True)
    expect(record.get_by_label("Key", exact=True)).to_have_text("000000  80" + " " * 47 + "·")
    expect(value).to_contain_text("00 01 fe ff 20 62")
    expect(record.get_by_role("button", name="Text")).to_have_count(0)

    # Formatting parsed JSON would change the long number.
    page = console.open("#/topics/shipments?from=oldest&partition=2", "shipments")
    page.locator("tr.pressable").first.click()
    expect(value).to_have_text('{ "id": 12345678901234567890, "a": 1, "a": 1.0 }')


def test_a_record_opens_into_its_details(console: Console) -> None:
    page = console.open("#/topics/orders?from=oldest&partition=0", "orders")
    page.locator("tr.pressable").first.click()
    record = page.locator(".record")
    value = record.get_by_label("Value", exact=True)
    expect(value).to_contain_text('\n  "order": ')
    city = value.get_by_text('"city"')
    expect(city).to_be_visible()
    value.get_by_text('"customer"').click()
    expect(city).to_be_hidden()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    record.get_by_role("button", name="Copy", exact=True).last.click()
    expect(record.get_by_role("button", name="Copied")).to_be_visible()
    assert '"city"' in page.evaluate("navigator.clipboard.readText()")
    record.get_by_role("button", name="Text").last.click()
    assert isinstance(json.loads(value.inner_text()), dict)
    assert "\n" not in value.inner_text()
    record.get_by_role("button", name="Hex").last.click()
    expect(value).to_contain_text("000000  7b 22 6f 72 64 65 72")
    expect(record.locator(".headers")).to_contain_text("webshop")
    page.locator("tr.pressable").first.get_by_role("button").click()
    expect(record).to_have_count(0)


def output_of(command: str) -> str:
    program, *arguments = shlex.split(command)
    start = [sys.executable, "-m", "interfaces.main"] if program == "ottla" else [program]
    ran = subprocess.run([*start, *arguments], cwd=ROOT, capture_output=True, timeout=30, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_record_is_copied_as_json_and_as_commands_that_read_it(console: Console) -> None:
    page = console.open("#/topics/orders?from=offset&partition=4&offset=7", "orders")
    page.locator("tr.pressable").first.click()
    page.get_by_role("button", name="Copy as").click()
    dialog = page.get_by_role("dialog")
    copied = {name: dialog.get_by_label(name).inner_text() for name in ("JSON", "curl", "ottla")}
    record = json.loads(copied["JSON"])
    assert (record["partition"], record["offset"]) == (4, 7)
    assert json.loads(output_of(copied["ottla"])) == record
    [read] = json.loads(output_of(copied["curl"]))["data"]
    assert (read["partition_id"], read["offset"]) == (4, 7)
    if shutil.which("kcat") is None:
        pytest.skip("no kcat on this machine")
    assert output_of(dialog.get_by_label("kcat").inner_text()) == record["value"] + "\n"


def test_a_long_value_is_shown_in_part_until_the_user_asks_for_all(console: Console) -> None:
    topic = new_topic(console)
    for length in (2000, 20_000):
        produce(console, topic, ("k", json.dumps({"items": list(range(length)), "end": True})))
    page = console.open(f"#/topics/{topic}?from=oldest", topic)
    for row in (0, 1):
        page.locator("tr.pressable").nth(row).click()
        value = page.locator(".record").nth(row).get_by_label("Value", exact=True)
        expect(value).not_to_contain_text('"end": true')
        page.get_by_role("button", name="Show all").first.click()
        expect(value).to_contain_text('"end": true')


def test_chosen_columns_are_those_of_all_topics_also_after_a_reload(console: Console) -> None:
    page = console.open("#/topics/orders?from=oldest", "orders")
    heads = page.get_by_role("columnheader")
    default = ["Open", "Partition", "Offset", "Timestamp (UTC)", "Key", "Value"]
    expect(heads).to_have_text(default)

    def switch_four() -> None:
        page.get_by_role("button", name="Columns").click()
        for name in ("Partition", "Timestamp (UTC)", "Size", "Headers"):
            page.get_by_role("checkbox", name=name).click()

    switch_four()
    chosen = ["Open", "Offset", "Size", "Key", "Headers", "Value"]
    expect(heads).to_have_text(chosen)
    assert rows(page)[0][1:5] == ["0", "196 B", "c-000", rows(page)[0][4]]
    assert rows(page)[0][4].startswith("source=webshop trace=00 01")
    page.reload()
    expect(heads).to_have_text(chosen)
    console.open("#/topics/payments", "payments")
    expect(heads).to_have_text(chosen)
    switch_four()
    expect(heads).to_have_text(default)


def test_control_characters_are_shown_in_hex_except_tabs_and_line_ends(console: Console) -> None:
    topic = new_topic(console)
    text = "\ufeffone\r\ntwo \U0001f4e6\n"
    produce(console, topic, *((value, value) for value in BINARY), ("k\tk", text))
    page = console.open(f"#/topics/{topic}?from=oldest", topic)
    record = page.locator(".record")
    value = record.get_by_label("Value", exact=True)
    for number, data in enumerate(BINARY):
        shown = data.hex(" ")
        assert rows(page)[number][4].strip() == shown
        page.locator("tr.pressable").nth(number).click()
        expect(record.get_by_label("Key", exact=True)).to_contain_text(f"000000  {shown}")
        expect(value).to_contain_text(f"000000  {shown}")
        expect(record.locator(".headers td")).to_have_text(shown)
        expect(record.get_by_text("binary", exact=True)).to_have_count(2)
        page.locator("tr.pressable").nth(number).click()
    page.locator("tr.pressable").last.click()
    expect(record.get_by_text("binary", exact=True)).to_have_count(0)
    assert value.text_content() == text


def test_records_are_read_from_any_position_filtered_and_by_page(console: Console) -> None:
    page = console.open("#/topics/orders?partition=0", "orders")
    cells = page.locator("tr.pressable td")
    show, text = page.get_by_label("Show", exact=True), page.get_by_label("Text", exact=True)
    assert int(rows(page)[0][2]) > 17
    show.select_option("oldest")
    expect(cells.nth(2)).to_have_text("0")
    show.select_option("offset")
    page.get_by_label("Offset", exact=True).fill("17")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(cells.nth(2)).to_have_text("17")
    expect(page).to_have_url(re.compile("from=offset.*offset=17|offset=17.*from=offset"))
    show.select_option("time")
    page.get_by_label("Time", exact=True).fill("2026-05-28T20:30:00")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(cells.nth(3)).to_contain_text("2026-05-28 20:30")

    page = console.open("#/topics/orders?from=oldest", "orders")
    expect(page.locator("tr.pressable")).to_have_count(50)
    page.get_by_role("button", name="More").click()
    expect(page.locator("tr.pressable")).to_have_count(100)
    assert len({(row[1], row[2]) for row in rows(page)}) == 100
    for where, sought, found in (
        ("text", '"order": 1234,', 1),
        ("key_contains", "c-036", 16),
        ("header_contains", "no-record-has-this", 0),
    ):
        text.fill(sought)
        page.get_by_label("Search in").select_option(where)
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.locator("tr.pressable")).to_have_count(found)
    expect(page.locator("main .empty")).to_be_visible()

    page.get_by_label("Search in").select_option("json")
    for field, operator, value, condition, found in (
        ("total", ">", "49", "$.total > 49", 50),
        ("items[0].sku", "contains", "u-10", "$.items[0].sku contains u-10", 50),
        ("['order']", "==", "1234", "$['order'] == 1234", 1),
    ):
        page.get_by_label("Field", exact=True).fill(field)
        page.get_by_label("Value", exact=True).fill(value)
        page.get_by_label("Operator").select_option(operator)
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.get_by_text(condition)).to_be_visible()
        expect(page.locator("tr.pressable")).to_have_count(found)
    page.get_by_label("Operator").select_option("exists")
    expect(page.locator("tr.pressable")).to_have_count(50)
    page.reload()
    expect(page.get_by_label("Field", exact=True)).to_have_value("['order']")


def test_an_offset_past_the_end_differs_from_an_empty_topic(console: Console) -> None:
    name = new_topic(console, 1)
    page = console.open(f"#/topics/{name}/messages?from=offset&offset=5", name)
    main = page.locator("main")
    expect(main).to_contain_text("No records")
    produce(console, name, *((None, f"value {number}") for number in range(3)))
    page.get_by_role("button", name="Show", exact=True).click()
    expect(main).to_contain_text("Offset 5 lies past the end")
    expect(main).to_contain_text("offset 2.")


def test_live_records_are_paused_and_end_with_the_topic(console: Console) -> None:
    topic = new_topic(console)
    page = console.open(f"#/topics/{topic}?from=live", topic)
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    produce(console, topic, ("k", "first"))
    expect(page.locator("tr.pressable")).to_have_count(1)
    page.get_by_role("button", name="Pause").click()
    produce(console, topic, ("k", "second"), ("k", "third"))
    expect(page.locator("main")).to_contain_text("3 records received, 2 not shown yet")
    expect(page.locator("tr.pressable")).to_have_count(1)
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("tr.pressable")).to_have_count(3)
    expect(page.locator("tr.pressable").first).to_contain_text("third")
    admin = AdminClient({"bootstrap.servers": console.broker.bootstrap})
    admin.delete_topics([topic])[topic].result(30)
    expect(page.locator(".badge.bad")).to_be_visible()


def test_a_record_is_produced_with_key_value_headers_and_partition(console: Console) -> None:
    topic = new_topic(console, 3)
    page = console.open(f"#/topics/{topic}/produce", topic)
    value = page.get_by_label("Value", exact=True)
    send = page.get_by_role("button", name="Produce", exact=True)
    for kind, wrong in (("json", "{"), ("hex", "0")):
        page.get_by_label("Value: type").select_option(kind)
        value.fill(wrong)
        send.click()
        expect(page.locator(".fault")).to_contain_text("Value: ")
    page.get_by_label("Key: type").select_option("text")
    page.get_by_label("Key", exact=True).fill("the key")
    page.get_by_label("Value: type").select_option("json")
    value.fill('{"n": 1e2}')
    page.get_by_role("button", name="Add a header").click()
    page.get_by_label("Name of the header").fill("kind")
    page.get_by_label("Type of the header").select_option("hex")
    page.get_by_label("Value of the header").fill("00 ff")
    page.get_by_label("Partition", exact=True).select_option("2")
    page.get_by_label("Timestamp", exact=True).fill("2020-02-02T02:02:02")
    send.click()
    page.get_by_role("link", name="0 of partition 2").click()
    page.locator("tr.pressable").first.click()
    record = page.locator(".record")
    expect(record).to_contain_text("2020-02-02 02:02:02.000 UTC+00:00")
    expect(record.get_by_label("Key", exact=True)).to_have_text("the key")
    expect(record.get_by_label("Value", exact=True)).to_have_text('{ "n": 1e2 }')
    expect(record.locator(".headers")).to_contain_text("00 ff")
    page = console.open("#/topics/customers/produce", "customers")
    send.click()
    expect(page.locator(".fault")).to_contain_text("correlation id console-")


def test_a_record_is_replayed_byte_by_byte(console: Console) -> None:
    for partition, offset in ((0, 0), (0, 1), (1, 0)):
        at = f"#/topics/shipments?from=offset&partition={partition}&offset={offset}"
        page = console.open(at, "shipments")
        original = rows(page)[0][4:]
        page.locator("tr.pressable").first.click()
        page.get_by_role("link", name="Replay").click()
        expect(page.locator("main")).to_contain_text(f"A copy of record {offset} of partition")
        page.get_by_role("button", name="Produce", exact=True).click()
        page.locator(".done a").click()
        expect(page.locator("tr.pressable")).to_have_count(1)
        assert rows(page)[0][4:] == original
        assert f"offset={offset}&" not in f"{page.url}&"


def test_records_are_downloaded_or_the_refusal_is_shown(console: Console, tmp_path: Path) -> None:
    page = console.open(
        "#/topics/orders?from=oldest&partition=1&where=key_contains&text=c-0", "orders"
    )
    why = {"error_code": 501, "message": "no pyarrow here", "correlation_id": "refused-2"}
    console.refuse("**/records:download?*format=parquet*", 501, why)
    page.get_by_role("link", name="Download as parquet").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("no pyarrow here")
    expect(alert).to_contain_text("refused-2")
    for form in ("ndjson", "csv"):
        with page.expect_download() as started:
            page.get_by_role("link", name=f"Download as {form}").click()
        assert started.value.suggested_filename == f"orders.{form}"
        started.value.save_as(tmp_path / form)
    expect(alert).to_have_count(0)
    lines = [json.loads(line) for line in (tmp_path / "ndjson").read_text().splitlines()]
    assert lines
    assert {line["partition_id"] for line in lines} == {1}
    assert len((tmp_path / "csv").read_text().splitlines()) == len(lines) + 1
