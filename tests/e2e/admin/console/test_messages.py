"""Records are read from where one wants, filtered, watched, produced, replayed and downloaded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import Console
from tests.e2e.admin.console.test_topics import new_topic


def rows(page: Page) -> list[list[str]]:
    cells = "rows => rows.map((row) => Array.from(row.cells, (cell) => cell.innerText))"
    found: list[list[str]] = page.locator("tr.pressable").evaluate_all(cells)
    return found


def produce(console: Console, topic: str, *records: tuple[object, object]) -> None:
    producer = Producer({"bootstrap.servers": console.broker.bootstrap})
    for key, value in records:
        producer.produce(topic, value, key=key)
    assert producer.flush(30) == 0


def test_nothing_the_empty_text_and_the_word_null_do_not_look_alike(console: Console) -> None:
    page = console.open("#/topics/shipments?from=oldest&partition=0", "shipments")
    expect(page.locator("tr.pressable")).to_have_count(5)
    cells = page.locator("tr.pressable").nth(0).locator("td")
    expect(cells.nth(4).locator(".nothing")).to_have_text("null")
    cells = page.locator("tr.pressable").nth(1).locator("td")
    expect(cells.nth(4).locator(".nothing")).to_have_text("empty")
    cells = page.locator("tr.pressable").nth(2).locator("td")
    expect(cells.nth(4)).to_have_text("null")
    expect(cells.nth(4).locator(".nothing")).to_have_count(0)


def test_a_record_opens_into_all_there_is_of_it(console: Console) -> None:
    page = console.open("#/topics/orders?from=oldest&partition=0", "orders")
    page.locator("tr.pressable").first.click()
    record = page.locator(".record")
    value = record.get_by_label("Value", exact=True)
    expect(value).to_contain_text('\n  "order": ')
    record.get_by_role("button", name="Text").last.click()
    assert isinstance(json.loads(value.inner_text()), dict)
    assert "\n" not in value.inner_text()
    record.get_by_role("button", name="Hex").last.click()
    expect(value).to_contain_text("000000  7b 22 6f 72 64 65 72")
    expect(record.locator(".headers")).to_contain_text("webshop")
    page.locator("tr.pressable").first.get_by_role("button").click()
    expect(record).to_have_count(0)


def test_bytes_that_are_no_text_are_shown_in_hex(console: Console) -> None:
    page = console.open("#/topics/shipments?from=oldest&partition=1", "shipments")
    page.locator("tr.pressable").first.click()
    record = page.locator(".record")
    expect(record.get_by_label("Key", exact=True)).to_have_text("000000  80" + " " * 47 + "·")
    expect(record.get_by_label("Value", exact=True)).to_contain_text("00 01 fe ff 20 62")
    expect(record.get_by_role("button", name="Text")).to_have_count(0)


@pytest.mark.parametrize(
    "value",
    [
        *(b"\0\0\0\x2a", b"\0\1\2", b"\x1b[31mred", b"feed\f", b"delete\x7f"),
        *("next\x85line".encode(), "\ufffe".encode(), "\ufdd0".encode(), "\U0001ffff".encode()),
    ],
    ids=bytes.hex,
)
def test_utf8_by_chance_is_shown_in_hex(console: Console, value: bytes) -> None:
    topic = new_topic(console)
    producer = Producer({"bootstrap.servers": console.broker.bootstrap})
    producer.produce(topic, value, key=value, headers=[("header", value)])
    assert producer.flush(30) == 0
    shown = value.hex(" ")
    page = console.open(f"#/topics/{topic}?from=oldest", topic)
    cells = page.locator("tr.pressable td")
    assert shown in cells.nth(4).inner_text()
    assert shown in cells.nth(5).inner_text()
    page.locator("tr.pressable").click()
    record = page.locator(".record")
    expect(record.get_by_label("Key", exact=True)).to_contain_text(f"000000  {shown}")
    expect(record.get_by_label("Value", exact=True)).to_contain_text(f"000000  {shown}")
    expect(record.locator(".headers td")).to_have_text(shown)
    expect(record.get_by_text("binary", exact=True)).to_have_count(2)
    expect(record.get_by_role("button", name="Text")).to_have_count(0)


def test_tabs_and_ends_of_lines_are_text(console: Console) -> None:
    topic = new_topic(console)
    produce(console, topic, ("k\tk", "\ufeffone\r\ntwo \U0001f4e6\n"))
    page = console.open(f"#/topics/{topic}?from=oldest", topic)
    page.locator("tr.pressable").click()
    record = page.locator(".record")
    expect(record.get_by_text("binary", exact=True)).to_have_count(0)
    assert (
        record.get_by_label("Value", exact=True).text_content() == "\ufeffone\r\ntwo \U0001f4e6\n"
    )
    expect(record.get_by_role("button", name="Hex")).to_have_count(2)


def test_json_is_shown_as_it_is_written(console: Console) -> None:
    """Parsed and written anew, a long number would be another one."""
    page = console.open("#/topics/shipments?from=oldest&partition=2", "shipments")
    page.locator("tr.pressable").first.click()
    expect(page.get_by_label("Value", exact=True)).to_have_text(
        '{ "id": 12345678901234567890, "a": 1, "a": 1.0 }'
    )


def test_records_come_from_where_one_wants(console: Console) -> None:
    page = console.open("#/topics/orders?partition=0", "orders")
    newest = int(rows(page)[0][2])
    page.get_by_label("Show", exact=True).select_option("oldest")
    expect(page.locator("tr.pressable td").nth(2)).to_have_text("0")
    page.get_by_label("Show", exact=True).select_option("offset")
    page.get_by_label("Offset", exact=True).fill("17")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("tr.pressable td").nth(2)).to_have_text("17")
    expect(page).to_have_url(re.compile("from=offset.*offset=17|offset=17.*from=offset"))
    page.get_by_label("Show", exact=True).select_option("time")
    page.get_by_label("Time", exact=True).fill("2026-05-28T20:30:00")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("tr.pressable td").nth(3)).to_contain_text("2026-05-28 20:30")
    assert newest > 17
    page.reload()
    console.settled()
    expect(page.locator("tr.pressable td").nth(3)).to_contain_text("2026-05-28 20:30")


def test_more_records_come_below(console: Console) -> None:
    page = console.open("#/topics/orders?from=oldest", "orders")
    expect(page.locator("tr.pressable")).to_have_count(50)
    page.get_by_role("button", name="More").click()
    expect(page.locator("tr.pressable")).to_have_count(100)
    seen = {(row[1], row[2]) for row in rows(page)}
    assert len(seen) == 100


@pytest.mark.parametrize(
    ("where", "text", "found"),
    [
        ("text", '"order": 1234,', 1),
        ("key_contains", "c-036", 16),
        ("value_contains", "c-036", 16),
        ("header_contains", "nobody-sent-this", 0),
    ],
)
def test_records_are_filtered(console: Console, where: str, text: str, found: int) -> None:
    page = console.open("#/topics/orders?from=oldest", "orders")
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_label("Search in").select_option(where)
    if found:
        expect(page.locator("tr.pressable")).to_have_count(found)
        expect(page.locator("main")).to_contain_text("of 600 looked through")
    else:
        expect(page.locator("main")).to_contain_text("No record fits")


def test_records_are_watched_as_they_come_and_held_back(console: Console) -> None:
    topic = new_topic(console)
    page = console.open(f"#/topics/{topic}?from=live", topic)
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    produce(console, topic, ("k", "first"))
    expect(page.locator("tr.pressable")).to_have_count(1)
    page.get_by_role("button", name="Pause").click()
    produce(console, topic, ("k", "second"), ("k", "third"))
    expect(page.locator("main")).to_contain_text("3 records seen, 2 held back")
    expect(page.locator("tr.pressable")).to_have_count(1)
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("tr.pressable")).to_have_count(3)
    expect(page.locator("tr.pressable").first).to_contain_text("third")


def test_a_tail_ends_with_its_topic(console: Console) -> None:
    topic = new_topic(console)
    page = console.open(f"#/topics/{topic}?from=live", topic)
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    admin = AdminClient({"bootstrap.servers": console.broker.bootstrap})
    admin.delete_topics([topic])[topic].result(30)
    expect(page.locator(".badge.bad")).to_be_visible()


def test_a_record_is_produced_with_key_value_headers_and_partition(console: Console) -> None:
    topic = new_topic(console, 3)
    page = console.open(f"#/topics/{topic}/produce", topic)
    page.get_by_label("Key: type").select_option("text")
    page.get_by_label("Key", exact=True).fill("the key")
    page.get_by_label("Value: type").select_option("json")
    page.get_by_label("Value", exact=True).fill('{"n": 1e2}')
    page.get_by_role("button", name="Add a header").click()
    page.get_by_label("Name of the header").fill("kind")
    page.get_by_label("Type of the header").select_option("hex")
    page.get_by_label("Value of the header").fill("00 ff")
    page.get_by_label("Partition", exact=True).select_option("2")
    page.get_by_label("Time", exact=True).fill("2020-02-02T02:02:02")
    page.get_by_role("button", name="Produce", exact=True).click()
    page.get_by_role("link", name="0 of partition 2").click()
    page.locator("tr.pressable").first.click()
    record = page.locator(".record")
    expect(record).to_contain_text("2020-02-02 02:02:02.000 UTC+00:00")
    expect(record.get_by_label("Key", exact=True)).to_have_text("the key")
    expect(record.get_by_label("Value", exact=True)).to_have_text('{ "n": 1e2 }')
    expect(record.locator(".headers")).to_contain_text("00 ff")


def test_what_cannot_be_produced_says_why(console: Console) -> None:
    topic = new_topic(console)
    page = console.open(f"#/topics/{topic}/produce", topic)
    page.get_by_label("Value: type").select_option("json")
    page.get_by_label("Value", exact=True).fill("{")
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.locator(".fault")).to_contain_text("Value: ")
    page.get_by_label("Value: type").select_option("hex")
    page.get_by_label("Value", exact=True).fill("0")
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.locator(".fault")).to_contain_text("two hex digits make a byte")
    page = console.open("#/topics/customers/produce", "customers")
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.locator(".fault")).to_contain_text("correlation id console-")


@pytest.mark.parametrize(("partition", "offset"), [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (2, 0)])
def test_a_record_is_replayed_as_it_was(console: Console, partition: int, offset: int) -> None:
    """Byte by byte, also where it is no text, empty or nothing."""
    at = f"#/topics/shipments?from=offset&partition={partition}&offset="
    page = console.open(f"{at}{offset}", "shipments")
    said = rows(page)[0][4:]
    page.locator("tr.pressable").first.click()
    page.get_by_role("link", name="Replay").click()
    expect(page.locator("main")).to_contain_text(f"A copy of record {offset} of partition")
    page.get_by_role("button", name="Produce", exact=True).click()
    page.locator(".done a").click()
    expect(page.locator("tr.pressable")).to_have_count(1)
    assert rows(page)[0][4:] == said
    assert f"offset={offset}&" not in f"{page.url}&"


def test_records_are_downloaded(console: Console, tmp_path: Path) -> None:
    page = console.open(
        "#/topics/orders?from=oldest&partition=1&where=key_contains&text=c-0", "orders"
    )
    for form in ("ndjson", "csv"):
        with page.expect_download() as started:
            page.get_by_role("link", name=f"Download as {form}").click()
        assert started.value.suggested_filename == f"orders.{form}"
        started.value.save_as(tmp_path / form)
    lines = [json.loads(line) for line in (tmp_path / "ndjson").read_text().splitlines()]
    assert lines
    assert {line["partition_id"] for line in lines} == {1}
    assert len((tmp_path / "csv").read_text().splitlines()) == len(lines) + 1


def test_a_download_that_is_refused_says_why(console: Console) -> None:
    page = console.open("#/topics/orders", "orders")
    why = "Parquet needs a library in the broker's environment: pip install pyarrow"
    said = {"error_code": 501, "message": why, "correlation_id": "refused-2"}
    console.refuse("**/records:download?*format=parquet*", 501, said)
    page.get_by_role("link", name="Download as parquet").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(why)
    expect(alert).to_contain_text("refused-2")
    with page.expect_download():
        page.get_by_role("link", name="Download as csv").click()
    expect(alert).to_have_count(0)


def test_an_offset_past_the_end_is_told_from_an_empty_topic(console: Console) -> None:
    name = new_topic(console, 1)
    page = console.open(f"#/topics/{name}/messages?from=offset&offset=5", name)
    expect(page.locator("main")).to_contain_text("There are no records here")
    produce(console, name, *((None, f"value {number}") for number in range(3)))
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("main")).to_contain_text("Offset 5 lies past the end")
    expect(page.locator("main")).to_contain_text("The log of partition 0 ends at 3")
    page.get_by_label("Offset", exact=True).fill("2")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("tr.pressable")).to_have_count(1)
    page = console.open("#/topics/orders/messages?from=offset&offset=99999999", "orders")
    expect(page.locator("main")).to_contain_text("Offset 99,999,999 lies past the end")
    expect(page.locator("main")).to_contain_text("The longest log, of partition")
