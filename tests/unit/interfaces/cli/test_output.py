from __future__ import annotations

from interfaces.cli.kafka_tables import GROUPS, OFFSETS, RESET, STATE, Column, laid_out
from interfaces.cli.output import table
from interfaces.cli.perf.latencies import Latencies, total_line, window_line


def test_a_table_is_as_wide_as_its_cells() -> None:
    rows = [{"name": "a", "left_over": None}, {"name": "longer", "left_over": [1, 2]}]
    assert table(("name", "left_over"), rows).splitlines() == [
        "NAME    LEFT-OVER",
        "a       -",
        "longer  1,2",
    ]


def test_control_characters_are_escaped() -> None:
    assert "\x1b" not in table(("name",), [{"name": "\x1b[31mred\n"}])


def printed(columns: tuple[Column, ...], *cells: object) -> list[str]:
    row = dict(zip((one.head for one in columns), cells, strict=True))
    return laid_out(columns, [row]).split("\n")


def test_groups_are_printed_as_by_kafka_consumer_groups() -> None:
    """Output of Kafka 4.2; tests/e2e/groups/test_kafka_tools.py runs the tool."""
    cells = ("test-group-1795322292123", "perf", 0, 7, 9, 2, None, None, None)
    assert printed(OFFSETS, *cells) == [
        "GROUP                    TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG"
        "             CONSUMER-ID     HOST            CLIENT-ID",
        "test-group-1795322292123 perf            0          7               9               2"
        "               -               -               -",
    ]
    assert printed(STATE, "g1", "127.0.0.1:35267  (1)", None, "Empty", 0) == [
        "GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                "
        "#MEMBERS",
        "g1              127.0.0.1:35267  (1)      -                    Empty                0",
    ]
    assert printed(GROUPS, "a-very-long-group-name-that-is-long", "Classic", "Empty") == [
        "GROUP                                         TYPE                 STATE               ",
        "a-very-long-group-name-that-is-long           Classic              Empty               ",
    ]
    assert printed(RESET, "g1", "t1", 0, 3, 1) == [
        "GROUP           TOPIC           PARTITION  NEW-OFFSET      PRIOR-OFFSET",
        "g1              t1              0          3               1",
    ]


def test_perf_lines_are_those_of_kafkas_tools() -> None:
    latencies = Latencies()
    for milliseconds in range(1, 1001):
        latencies.add(milliseconds / 10)
    assert window_line(100, 2.0, latencies) == (
        "1000 records sent, 500.0 records/sec (0.05 MB/sec), 50.0 ms avg latency, "
        "100.0 ms max latency."
    )
    assert total_line(100, 2.0, latencies) == (
        "1000 records sent, 500.000000 records/sec (0.05 MB/sec), 50.05 ms avg latency, "
        "100.00 ms max latency, 50 ms 50th, 95 ms 95th, 99 ms 99th, 100 ms 99.9th."
    )
