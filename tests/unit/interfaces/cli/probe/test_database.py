from __future__ import annotations

import pytest

from infrastructure.storage.postgresql.facts import BucketFacts, Facts, ServerFacts, StoreFacts
from interfaces.cli.probe.database import findings
from interfaces.cli.probe.finding import NOTE, OK, PROBLEM, Finding

SERVER = ServerFacts(
    version="17.2",
    synchronous_commit="on",
    synchronous_standby_names="ANY 1 (b, c)",
    synchronous_standbys=1,
    copies=2,
    hidden_standbys=0,
    connections=92,
    autovacuum=True,
    longest_transaction_s=2.0,
    round_trip_s=0.0004,
    ahead_s=-0.01,
)
STORE = StoreFacts(3, 3, [1, 2], [])


def bad(
    store: StoreFacts | None = STORE, bucket: BucketFacts | None = None, **facts: object
) -> Finding:
    """The one finding that is not ok."""
    server = SERVER._replace(**facts)  # type: ignore[arg-type]
    [found] = (one for one in findings(Facts(server, store, bucket)) if one.level != OK)
    return found


def test_a_good_server_has_no_problem() -> None:
    found = list(findings(Facts(SERVER, STORE, None)))
    assert {one.level for one in found} == {OK}
    assert "brokers may have 92 connections, 13 are needed for 2 brokers" in [
        one.what for one in found
    ]


@pytest.mark.parametrize(
    ("level", "text", "facts"),
    [
        (PROBLEM, "synchronous_commit is off", {"synchronous_commit": "off"}),
        (PROBLEM, "do not wait for the sync", {"synchronous_commit": "local"}),
        (NOTE, "there is one copy", {"synchronous_standby_names": "", "synchronous_standbys": 0}),
        (PROBLEM, "commits wait for one", {"synchronous_standbys": 0}),
        (NOTE, "may not see which", {"synchronous_standbys": 0, "hidden_standbys": 2}),
        (PROBLEM, "brokers may have 12 connections", {"connections": 12}),
        (NOTE, "a round trip takes 8.0 ms", {"round_trip_s": 0.008}),
        (NOTE, "its clock is 3.0 s behind", {"ahead_s": -3.0}),
        (NOTE, "its clock is 3.0 s ahead of", {"ahead_s": 3.0}),
        (PROBLEM, "autovacuum is off", {"autovacuum": False}),
        (NOTE, "open for 20 minutes", {"longest_transaction_s": 1200.0}),
    ],
)
def test_what_is_wrong_has_a_finding(level: str, text: str, facts: dict[str, object]) -> None:
    found = bad(**facts)
    assert found.level == level
    assert text in found.what
    assert found.remedy


def test_what_is_known_of_the_store() -> None:
    assert "no store yet" in bad(store=None).what
    assert "migrates it" in bad(store=STORE._replace(format=2)).what
    assert bad(store=STORE._replace(alive=[1], fenced=[2, 3])).what.endswith("1; not alive: 2, 3")


def test_what_is_known_of_its_objects() -> None:
    bucket = BucketFacts("s3://bucket/a", None)
    found = list(findings(Facts(SERVER, STORE, bucket)))
    assert "objects can be written to s3://bucket/a" in found[1].what
    assert {one.level for one in found} == {OK}
    denied = bucket._replace(problem="access denied")
    assert bad(bucket=denied).what.endswith("access denied")
