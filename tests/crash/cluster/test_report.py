"""What a report says of a run, and that it names clients that did nothing."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.crash.cluster.attempts import Attempt, Outcome
from tests.crash.cluster.load import Silence
from tests.crash.cluster.report import ABORTED, MOST_REPLACED, STOPS, Report, report_of
from tests.crash.cluster.run import ONE_AT_A_TIME, SENDERS, Torture
from tests.crash.cluster.stopping import SENT, STAGED
from tests.crash.group_readers import GroupReader
from tests.crash.repeating import Repeating

NOT_COORDINATOR = "Broker: Not coordinator"
QUIET = '{"event":"broker_started"}'


def attempt(outcome: Outcome) -> Attempt:
    one = Attempt("t:0", [0], None)
    one.outcome = outcome
    return one


def torture(**changed: Any) -> Torture:
    """A run of a minute, of which nothing is left but what was counted."""
    watchers = [
        SimpleNamespace(
            _group=group,
            polls=4,
            late=1,
            _readers=[
                SimpleNamespace(
                    commits=SimpleNamespace(count=count),
                    replaced=Counter({NOT_COORDINATOR: count // 5}),
                )
                for count in (0, 5)
            ],
        )
        for group in ("classic", "consumer")
    ]
    producer = SimpleNamespace(
        _name="t", attempts=[attempt(Outcome.COMMITTED), attempt(Outcome.ABORTED)]
    )
    made = {
        "seed": 7,
        "kinds": Counter({"SIGKILL": 2}),
        "began_s": 5.0,
        "elapsed_s": 60.0,
        "brokers": SimpleNamespace(all={1: None, 2: None}),
        "log_lines": lambda node_id: iter([QUIET, "no JSON"]),
        "senders": [SimpleNamespace(_name="i", count=3, longest=Silence(0.5, 2, 8.0))],
        "transactions": SimpleNamespace(
            senders=[producer],
            values={0: ["t:0"]},
            summary=["2 of t"],
            reader=SimpleNamespace(deadlocks=1),
        ),
        "readers": [one for watcher in watchers for one in watcher._readers],
        "offsets": watchers,
        "leaders": SimpleNamespace(polls=9, late=2),
        "live": SimpleNamespace(positions=[3, 0], deadlocks=0),
        "history": SimpleNamespace(acknowledgements=3, epochs=2, sent_again=0, without_offset=1),
        "machines": SimpleNamespace(
            stopped=Counter({STAGED: 2}), missed=Counter({SENT: 1}), ended=["broker 1, -6"]
        ),
    }
    return cast(Torture, SimpleNamespace(**made | changed))


def test_a_run_is_reported() -> None:
    report = report_of(torture(), ["lost record: 0/1"])
    assert report.findings == ["lost record: 0/1"]
    assert report.faults == 2
    assert report.idle == []
    assert report.outdated == ()
    assert not report.is_good
    assert report.events == {ABORTED: 1, STOPS[STAGED]: 2}
    assert report.lines == [
        "seed 7: 2 faults in 60 s: 2 SIGKILL",
        "3 acknowledged records, 2 leader epochs, 10 commits of members, 17 polls, 4 responses of "
        "leaders of the past",
        f"members replaced: 2 {NOT_COORDINATOR}; readers: 1",
        "3 of i, 0 sent again in a new epoch of the producer, 1 acknowledged without an offset",
        "2 of t",
        "longest silence 0.5 s: i, partition 2, until 3.0 s",
        "events: 2 broker_started, 2 a line that is no JSON",
        f"did not stop at {SENT}: 1",
        "ended by itself: broker 1, -6",
    ]


def test_clients_that_did_nothing_are_named() -> None:
    idle = torture(
        senders=[
            SimpleNamespace(_name=name, count=0, longest=Silence(0.0, 0, 5.0))
            for name in ("i", "java")
        ],
        live=SimpleNamespace(positions=[0, 0], deadlocks=0),
        leaders=SimpleNamespace(polls=0, late=0),
        transactions=SimpleNamespace(
            senders=[SimpleNamespace(_name="t", attempts=[attempt(Outcome.ABORTED)])],
            values={0: []},
            summary=[],
            reader=SimpleNamespace(deadlocks=0),
        ),
    )
    report = report_of(idle, [])
    assert not report.is_good
    assert report.idle == [
        "records of i",
        "records of java",
        "transactions of t",
        "records that were read",
        "records that were read committed",
        "questions for leaders",
    ]


@pytest.mark.parametrize("count", [MOST_REPLACED, MOST_REPLACED + 1])
def test_members_are_replaced_for_so_long(count: int) -> None:
    """An error of brokers may look like one of the client."""
    often = SimpleNamespace(
        commits=SimpleNamespace(count=1), replaced=Counter({NOT_COORDINATOR: count})
    )
    report = report_of(torture(readers=[often]), [])
    finding = f"members replaced too often: {count} {NOT_COORDINATOR}"
    assert report.findings == [finding] * (count > MOST_REPLACED)


def test_errors_of_a_patch_are_named() -> None:
    line = '{"event":"commit_failed","error":"A commit ended with TypeError(1)"}'
    report = report_of(torture(log_lines=lambda node_id: iter([QUIET, line][:node_id])), [])
    assert report.outdated == (line,)
    assert not report.is_good
    good = Report(1, [], Counter(), [])
    assert good.idle == []
    assert good.is_good


class Failing(GroupReader):
    def _read(self) -> None:
        raise ValueError("of a test")


def test_a_member_that_fails_is_a_finding() -> None:
    member, other = Failing("", "classic", "classic", "torture"), Repeating()
    member.start()
    member.join()
    run: Torture = torture(
        senders=[],
        transactions=SimpleNamespace(senders=[], reader=other),
        live=other,
        leaders=other,
        offsets=[],
        readers=[member],
        machines=SimpleNamespace(wrong=[], away_s=0.0),
        log_lines=lambda node_id: iter([QUIET]),
        _repeating=lambda: Torture._repeating(run),
    )
    assert Torture._errors(run) == ["Failing: ValueError('of a test')"]


@pytest.mark.parametrize(("away_s", "is_finding"), [(19.0, True), (21.0, False)])
def test_commits_may_be_given_up_while_postgresql_is_away(away_s: float, is_finding: bool) -> None:
    line = '{"level":"error","event":"storage_failed","error":"PostgreSQL cannot be reached: ..."}'
    run = torture(
        machines=SimpleNamespace(wrong=[], away_s=away_s),
        log_lines=lambda node_id: iter([line] if node_id == 1 else []),
        _repeating=list,
    )
    assert Torture._errors(run) == [f"log of broker 1: {line}"] * is_finding


def test_one_producer_has_one_request_at_a_time() -> None:
    """Of which no record may be doubled."""
    assert SENDERS[ONE_AT_A_TIME] == {"enable.idempotence": True, "max.in.flight": 1}
    others = [name for name, one in SENDERS.items() if one == {"enable.idempotence": True}]
    assert len(others) == 2
