from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench.report import BEGIN, END, main, markdown, replace
from tests.unit.bench.rows import produced, row, run

TWO_ROUNDS = [
    produced("ottla os", 3000),
    produced("kafka os", 1000),
    produced("ottla os", 1000),
    produced("kafka os", 1000),
]


def test_a_cell_holds_both_medians_and_their_ratio() -> None:
    assert "| 10 connections | 2,000 / 1,000 (2.00x) |" in markdown(run(TWO_ROUNDS))


def test_an_aim_is_met_or_missed_or_was_not_measured() -> None:
    lines = markdown(run(TWO_ROUNDS)).splitlines()
    [rate] = [line for line in lines if line.startswith("| one-record requests")]
    [cpu, *_] = [line for line in lines if line.startswith("| ... CPU per request")]
    assert rate.endswith("| 2,000 /s | 1,000 /s | 2.00x | met |")
    assert cpu.endswith("| 1.00x | **missed** |")
    assert any(line.startswith("| end to end") and "not measured" in line for line in lines)


def test_without_kafka_there_are_figures_and_no_aims() -> None:
    text = markdown(run([produced("ottla os", 3000)], kafka=None))
    assert "| 10 connections | 3,000 |" in text
    assert "Aims" not in text
    assert "; medians." in text


def test_each_of_our_brokers_has_a_row_with_its_ratio_to_kafka() -> None:
    rows = [
        produced("ottla-postgresql commit", 3000),
        produced("ottla-postgresql-standby commit", 500),
        produced("kafka 3 nodes", 1000),
    ]
    text = markdown(run(rows))
    assert "| 10 connections, ottla-postgresql | 3,000 / 1,000 (3.00x) |" in text
    assert "| ... ottla-postgresql-standby | 500 / 1,000 (0.50x) |" in text


@pytest.mark.parametrize(
    ("part", "cpu"),
    [
        ("engines-postgresql", "cpu_us_per_request"),
        ("engines-replicated", "whole_cpu_us_per_request"),
    ],
)
def test_loads_of_a_store_in_postgresql_have_rate_latencies_and_cpu(part: str, cpu: str) -> None:
    figures = {"requests_per_s": 3000.0, "mb_per_s": 3.0, "p50_us": 90.0, "p99_us": 200.0, cpu: 20}
    ours, theirs = ({key: times * value for key, value in figures.items()} for times in (1.0, 2.0))
    rows = [row(part, "a load", "ottla-postgresql commit", **ours)]
    rows += [row(part, "a load", "kafka commit", **theirs)]
    lines = markdown(run(rows)).splitlines()
    [line] = [one for one in lines if one.startswith("| a load, ottla-postgresql")]
    for cell in ("3,000 / 6,000", "3 / 6", "90 / 180", "200 / 400", "20 / 40"):
        assert f"| {cell} (0.50x) |" in line


def test_an_aim_relative_to_lmdb_says_so() -> None:
    rows = [
        row("engines-postgresql", "50 x 2 in flight", broker, requests_per_s=rate)
        for broker, rate in (("ottla commit", 1000), ("ottla-postgresql commit", 500))
    ]
    lines = markdown(run(rows)).splitlines()
    [aim] = [one for one in lines if one.startswith("| PostgreSQL beside LMDB")]
    assert aim.endswith("| ≥ 0.6x | 500 /s | 1,000 /s (LMDB) | 0.50x | **missed** |")


def test_a_failover_says_how_many_partitions_moved() -> None:
    rows = [
        row("failover", "SIGKILL", broker, moved=1000, led_ms=led_ms, served_ms=led_ms + 20)
        for broker, led_ms in (("ottla-postgresql", 6000), ("kafka", 8000))
    ]
    lines = markdown(run(rows)).splitlines()
    [killed] = [one for one in lines if one.startswith("| SIGKILL")]
    assert "| 1,000 / 1,000 (1.00x) | 6,000 / 8,000 (0.75x) | 6,020 / 8,020" in killed
    [aim] = [one for one in lines if one.startswith("| 1,000 partitions of a killed broker")]
    assert aim.endswith("| ≤ 8000 ms | 6,020 ms | 8,020 ms | 0.75x | met |")


def test_noise_is_the_spread_of_the_runs() -> None:
    assert "100% at the worst" in markdown(run(TWO_ROUNDS))


def test_a_page_of_a_quick_run_warns_that_its_figures_are_rough() -> None:
    short = markdown(run(TWO_ROUNDS, rounds=1, load_before=[3.0, 3.0, 3.0]))
    assert short.startswith("**A short run: rough figures, to be replaced. The machine had other")
    assert not markdown(run(TWO_ROUNDS, rounds=3)).startswith("**")


def test_failed_and_omitted_loads_are_listed() -> None:
    failed = {"part": "java", "load": "a load", "broker": "kafka os", "failed": "why\nand more"}
    text = markdown(run([*TWO_ROUNDS, failed], skipped={"a part": "no Go"}))
    assert "**failed**: java, a load, kafka os: why\n" in text
    assert "not measured: a part: no Go" in text


def test_memory_is_the_maximum_of_all_runs_and_that_of_an_idle_broker() -> None:
    idle = row("startup", "empty folder", "ottla os", rss_anon_mb=19.0, ready_ms=200.0)
    text = markdown(run([*TWO_ROUNDS, idle]) | {"kafka": ""})
    assert "| loaded | 30 / 10 (3.00x) |" in text
    assert "| idle | 19 |" in text


def test_only_text_between_the_marks_is_replaced() -> None:
    begin, end = BEGIN.format("bench"), END.format("bench")
    assert replace(f"a\n{begin}old{end}\nb", "new") == f"a\n{begin}\n\nnew\n\n{end}\nb"


def test_a_page_without_marks_is_unchanged() -> None:
    with pytest.raises(ValueError, match="the page has no"):
        replace("a page", "new")


MARKED = f"{BEGIN.format('bench')}old{END.format('bench')}"


def written(folder: Path, parts: list[str], **others: Any) -> str:
    """What stands on the page after a run was written to it."""
    (folder / "page.md").write_text(MARKED)
    (folder / "run.json").write_text(json.dumps(run(TWO_ROUNDS, **others)))
    main([str(folder / "run.json"), "--write", str(folder / "page.md")], folder, parts)
    return (folder / "page.md").read_text()


def test_a_page_is_written_from_a_run_of_all_parts(tmp_path: Path) -> None:
    assert "2,000 / 1,000" in written(tmp_path, ["produce"])


def test_a_page_is_not_written_from_some_of_the_parts(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"has only the parts produce; .* wants all, with --kafka"):
        written(tmp_path, ["produce", "micro"])
    assert (tmp_path / "page.md").read_text() == MARKED


def test_a_page_is_not_written_without_kafka(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="has only the parts produce, without Kafka;"):
        written(tmp_path, ["produce"], kafka=None)


def test_a_page_from_a_changed_tree_is_written_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "abc-dirty" in written(tmp_path, ["produce"], revision="abc-dirty")
    assert capsys.readouterr().err == "bench: the run is of a changed tree, abc-dirty\n"
