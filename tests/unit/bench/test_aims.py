from __future__ import annotations

from tests.bench.aims import AIMS, Aim, Outcome, outcomes
from tests.unit.bench.rows import produced, row


def outcome_of(title: str, rows: list[dict[str, object]]) -> Outcome:
    [found] = [one for one in outcomes(rows) if isinstance(one, Outcome) and one.aim.title == title]
    return found


def test_an_aim_has_one_limit() -> None:
    assert all((aim.at_least is None) != (aim.at_most is None) for aim in AIMS)


def test_an_aim_has_a_unit() -> None:
    assert all(aim.unit for aim in AIMS)
    assert {aim.absolute for aim in AIMS} <= {None, *(aim.unit for aim in AIMS)}


def test_an_absolute_aim_judges_the_figure_and_not_the_ratio() -> None:
    aim = Aim("", "", "", "", at_most=80, absolute="MB")
    assert Outcome(aim, ottla=79.0, beside=1.0).met
    assert not Outcome(aim, ottla=81.0, beside=1000.0).met


def test_a_ratio_needs_a_second_broker() -> None:
    assert Outcome(Aim("", "", "", "", at_least=1), ottla=5.0, beside=None).met is None


def test_an_exact_name_precedes_a_prefix() -> None:
    rows = [
        row("librdkafka", "consumer, 1 KB, kcat", "ottla os", mb_per_s=1.0),
        row("librdkafka", "consumer, 1 KB", "ottla os", mb_per_s=2.0),
    ]
    assert outcome_of("librdkafka consumer (Python), 1 KB: MB/s", rows).ottla == 2.0
    assert outcome_of("librdkafka consumer (kcat), 1 KB: MB/s", rows).ottla == 1.0


def test_an_aim_may_be_that_of_another_broker() -> None:
    rows = [
        row("engines-replicated", "1 KB, 50 x 2 in flight", broker, requests_per_s=rate)
        for broker, rate in (("ottla-postgresql commit", 30.0), ("kafka 3 nodes", 10.0))
    ]
    assert outcome_of("PostgreSQL beside three nodes of Kafka, 50 x 2: rate", rows).ratio == 3.0


def test_an_aim_may_be_relative_to_another_broker_than_kafka() -> None:
    brokers = ("ottla commit", 40.0), ("ottla-postgresql commit", 30.0), ("kafka commit", 10.0)
    rows = [
        row("engines-postgresql", "50 x 2 in flight", broker, requests_per_s=rate)
        for broker, rate in brokers
    ]
    assert outcome_of("PostgreSQL beside LMDB, 50 x 2: rate", rows).ratio == 0.75


def test_partitions_move_within_seconds_and_not_faster_than_those_of_kafka() -> None:
    rows = [
        row("failover", load, broker, served_ms=took_ms)
        for broker, took_ms in (("ottla-postgresql", 1100.0), ("kafka", 1200.0))
        for load in ("SIGKILL", "SIGTERM")
    ]
    assert outcome_of("1,000 partitions of a killed broker: led again, and served", rows).met
    assert not outcome_of("... of one that stops", rows).met


def test_the_size_of_the_data_may_follow_a_name() -> None:
    rows = [
        row("startup", "after SIGKILL, 2.0 GB", broker, recovered_s=seconds)
        for broker, seconds in (("ottla os", 0.5), ("kafka os", 10.0))
    ]
    assert outcome_of("start after SIGKILL", rows).ratio == 0.05


def test_memory_under_load_is_the_maximum_of_all_runs() -> None:
    rows = [produced("ottla os", 3000), produced("ottla commit", 9000)]
    assert outcome_of("memory (RssAnon), most under any load", rows).ottla == 90.0
