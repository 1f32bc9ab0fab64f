from __future__ import annotations

from application.metrics.families.family import Histogram
from application.metrics.families.request_counts import STAGES, RequestCounts
from application.metrics.requests import Counted, RequestReadings
from tests.unit.application.metrics.figures import Figures, by_labels


def counts(*durations_ns: int, codes: tuple[int, ...] = ()) -> RequestCounts:
    counted = RequestCounts()
    for duration_ns in durations_ns:
        counted.total.add(duration_ns)
        counted.bytes_in += 100
        counted.bytes_out += 10
    counted.errors.update(codes)
    return counted


def figures_of(*counted: Counted) -> Figures:
    return by_labels(RequestReadings(lambda: counted, {3: "UNKNOWN", 6: "NOT_LEADER"}).read())


def test_counts_are_per_version_and_durations_per_api() -> None:
    figures = figures_of(
        ("Produce", 9, counts(5000, 5000, codes=(3,))),
        ("Produce", 7, counts(1 << 30, codes=(3, 6))),
        ("Fetch", 12, counts(7)),
        ("Metadata", 1, counts()),
    )
    number = "kafka_network_requestmetrics_requests_total"
    assert figures[number, "Produce", "9"] == 2 and figures[number, "Produce", "7"] == 1
    assert (number, "Metadata", "1") not in figures
    assert figures["ottla_request_bytes_total", "Produce"] == 300
    assert figures["ottla_response_bytes_total", "Fetch"] == 10
    errors = "kafka_network_requestmetrics_errors_total"
    assert figures[errors, "Produce", "UNKNOWN"] == 2
    assert figures[errors, "Produce", "NOT_LEADER"] == 1
    times = figures["ottla_request_duration_seconds", "Produce"]
    assert isinstance(times, Histogram)
    assert (times.count, times.sum) == (3, (10_000 + (1 << 30)) / 1e9)
    median = figures["kafka_network_requestmetrics_totaltimems", "Produce", "0.5"]
    assert isinstance(median, float) and 0.004 < median < 0.009


def test_every_stage_has_a_histogram() -> None:
    figures = figures_of(("Produce", 9, counts(5000)))
    stages = {key[2] for key in figures if key[0] == "ottla_request_stage_seconds"}
    assert stages == set(STAGES)
