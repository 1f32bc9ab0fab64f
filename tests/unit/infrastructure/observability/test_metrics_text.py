from __future__ import annotations

from itertools import chain
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from application.metrics.families.durations import NUMBERS, SECONDS, Durations, Numbers
from application.metrics.families.family import Family, Kind, Source
from application.metrics.families.request_counts import RequestCounts
from application.metrics.requests import RequestReadings
from application.metrics.topics import TopicReadings
from infrastructure.observability.metrics_text import MetricsText
from tests.fakes.broker import FakeBroker

GAUGE = Family("a_gauge", Kind.GAUGE, 'Says "what\\it" is.\nTwice.', ("one", "two"))
HISTOGRAM = Family("a_histogram", Kind.HISTOGRAM, "How long.", ("api",))


def parsed(text: bytes) -> dict[str, Any]:
    return {family.name: family for family in text_string_to_metric_families(text.decode())}


@given(st.text(), st.text(), st.integers(0, 1 << 60))
def test_any_label_can_be_parsed_again(one: str, two: str, number: int) -> None:
    text = MetricsText().of((GAUGE, [((one, two), number)]))
    [sample] = parsed(text)["a_gauge"].samples
    expected = {"one": one, "two": two}
    read = {name: label.encode("utf-8", "backslashreplace") for name, label in expected.items()}
    assert {name: label.encode() for name, label in sample.labels.items()} == read
    assert sample.value == number


def test_a_family_has_one_header_also_without_samples() -> None:
    text = MetricsText()
    assert text.of((GAUGE, [])) == (
        b'# HELP a_gauge Says "what\\\\it" is.\\nTwice.\n# TYPE a_gauge gauge\n'
    )
    assert text.of((GAUGE, [(("a", "b"), 1.5)])) == b'a_gauge{one="a",two="b"} 1.5\n'
    assert text.of((GAUGE, [])) == b""


def test_a_family_without_labels() -> None:
    alone = Family("alone_total", Kind.COUNTER, "Alone.")
    assert MetricsText().of((alone, [((), 3)])).splitlines()[-1] == b"alone_total 3"


def test_the_buckets_of_a_histogram_are_cumulative() -> None:
    durations = Durations()
    lengths = [0, 1, 2047, 2048, 5000, 1 << 33, (1 << 34) - 1, 1 << 34, 1 << 60]
    for length in lengths:
        durations.add(length)
    text = MetricsText().of((HISTOGRAM, [(("x",), durations.histogram())]))
    samples = parsed(text)["a_histogram"].samples
    buckets = [(s.labels["le"], s.value) for s in samples if s.name.endswith("_bucket")]
    assert [bound for bound, _ in buckets] == [*map(repr, SECONDS), "+Inf"]
    for bound, count in buckets:
        assert count == sum(length / 1e9 < float(bound) for length in lengths)
    [total] = [s.value for s in samples if s.name.endswith("_sum")]
    assert total == sum(lengths) / 1e9
    assert [s.value for s in samples if s.name.endswith("_count")] == [len(lengths)]


def test_numbers_are_counted_in_their_buckets() -> None:
    numbers = Numbers()
    given_numbers = [0, 1, 2, 3, 4, 100, 16383, 16384, 1 << 40]
    for number in given_numbers:
        numbers.add(number)
    made = numbers.histogram()
    so_far = 0
    for bound, count in zip((*NUMBERS, float("inf")), made.counts, strict=True):
        so_far += count
        assert so_far == sum(number <= bound for number in given_numbers)
    assert (made.sum, made.count) == (sum(given_numbers), len(given_numbers))


def test_a_quantile_is_exact_to_a_power_of_two() -> None:
    durations = Durations()
    for length in (1000, 1010, 1020, 9000):
        durations.add(length)
    assert 512 <= durations.quantile_ns(0.5) <= 1024
    assert 8192 <= durations.quantile_ns(0.99) <= 16384
    assert Durations().quantile_ns(0.5) == 0


def lines_of(*sources: Source) -> int:
    text = MetricsText()
    readings = chain.from_iterable(source() for source in sources)
    return b"".join(map(text.of, readings)).count(b"\n")


def test_an_api_in_use_is_forty_lines_of_a_scrape_and_a_partition_eight() -> None:
    def of_apis(*apis: str) -> int:
        used = RequestCounts()
        used.total.add(5000)
        return lines_of(RequestReadings(lambda: [(api, 1, used) for api in apis], {}).read)

    def of_partitions(count: int) -> int:
        fake = FakeBroker()
        fake.topic("t", count)
        return lines_of(TopicReadings(fake.broker.catalog, fake.clock, fake.broker.placement).read)

    assert of_apis("Fetch", "Produce") - of_apis("Fetch") <= 40
    assert of_partitions(2) - of_partitions(1) <= 8
