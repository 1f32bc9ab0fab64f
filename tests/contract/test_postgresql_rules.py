"""Each fault in the rules of sessions and commits is found by what checks their outcomes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from infrastructure.storage.postgresql.session import Session
from tests.contract.any_faults import (
    DOUBLED,
    FOREIGN,
    KEPT,
    LOST,
    NOT_AGAIN,
    TAKEN,
    Wrong,
    any_faults,
    request_lost,
    response_lost,
    wrong_of,
)
from tests.contract.broken_rules import (
    Fault,
    fails_at_once_what_is_void,
    has_the_session_of_the_moment_of_sending,
    ignores_the_fence,
    reports_an_unknown_outcome_as_failure,
    reports_an_unknown_outcome_as_success,
    reports_an_unknown_outcome_on_the_loop_as_failure,
    reports_an_unknown_outcome_on_the_loop_as_success,
    reports_what_is_kept_as_failure,
    reports_what_is_void_as_success,
    sends_again_what_is_kept,
    sends_again_what_the_loop_has_sent,
    takes_a_session_after_its_own_was_ended,
)
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore

Scenario = Callable[[RelayedPostgres, RelayedStore], None]
TAKEN_BEFORE, TAKEN_WITH_THE_CONNECTION, TAKEN_MEANWHILE, TAKEN_BY_ONE_THAT_COMMITS = TAKEN
#: Each with scenarios that show it, and as what.
FAULTS: tuple[tuple[Fault, Scenario, str], ...] = (
    (takes_a_session_after_its_own_was_ended, TAKEN_BEFORE, FOREIGN),
    (takes_a_session_after_its_own_was_ended, TAKEN_WITH_THE_CONNECTION, FOREIGN),
    (takes_a_session_after_its_own_was_ended, TAKEN_MEANWHILE, FOREIGN),
    (takes_a_session_after_its_own_was_ended, TAKEN_BY_ONE_THAT_COMMITS, LOST),
    (has_the_session_of_the_moment_of_sending, TAKEN_BEFORE, FOREIGN),
    (ignores_the_fence, TAKEN_BEFORE, FOREIGN),
    (reports_an_unknown_outcome_as_failure, response_lost, KEPT),
    (reports_an_unknown_outcome_as_failure, request_lost, NOT_AGAIN),
    (reports_an_unknown_outcome_as_success, request_lost, LOST),
    (reports_what_is_kept_as_failure, response_lost, KEPT),
    (sends_again_what_is_kept, response_lost, KEPT),
    (fails_at_once_what_is_void, request_lost, NOT_AGAIN),
    (reports_what_is_void_as_success, request_lost, LOST),
)
#: In what the loop makes of a commit that it has sent.
LOOP_FAULTS: tuple[tuple[Fault, Scenario, str], ...] = (
    (reports_an_unknown_outcome_on_the_loop_as_failure, response_lost, KEPT),
    (reports_an_unknown_outcome_on_the_loop_as_failure, request_lost, NOT_AGAIN),
    (reports_an_unknown_outcome_on_the_loop_as_success, request_lost, LOST),
    (sends_again_what_the_loop_has_sent, response_lost, KEPT),
)
#: Kinds as which random faults may show it first.
BY_CHANCE: tuple[tuple[Fault, frozenset[str]], ...] = (
    (reports_an_unknown_outcome_as_failure, frozenset({KEPT, NOT_AGAIN})),
    (reports_an_unknown_outcome_as_success, frozenset({LOST})),
    (reports_what_is_kept_as_failure, frozenset({KEPT})),
    (sends_again_what_is_kept, frozenset({KEPT})),
    (fails_at_once_what_is_void, frozenset({NOT_AGAIN})),
    (reports_what_is_void_as_success, frozenset({LOST})),
)


@pytest.mark.parametrize("scenario", [response_lost, request_lost, *TAKEN])
def test_the_rules_hold(relayed: RelayedPostgres, opened: RelayedStore, scenario: Scenario) -> None:
    scenario(relayed, opened)


@pytest.mark.parametrize(
    "relayed, fault, scenario, kind",
    [
        pytest.param(sends, *one, id=f"{one[0].__name__}-{one[1].__name__}")
        for sends, faults in (("in_thread", FAULTS), ("later", LOOP_FAULTS))
        for one in faults
    ],
    indirect=["relayed"],
)
def test_a_fault_is_found(
    relayed: RelayedPostgres,
    opened: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
    fault: Fault,
    scenario: Scenario,
    kind: str,
) -> None:
    passages: list[None] = []
    fault(monkeypatch, lambda: passages.append(None))
    with pytest.raises(Wrong) as found:
        scenario(relayed, opened)
    assert passages, "the fault was never passed"
    assert found.value.kind == kind


@pytest.mark.parametrize("relayed", ["in_thread"], indirect=True)
@pytest.mark.parametrize("fault, kinds", BY_CHANCE, ids=[one.__name__ for one, _ in BY_CHANCE])
def test_random_faults_find_it(
    relayed: RelayedPostgres, monkeypatch: pytest.MonkeyPatch, fault: Fault, kinds: frozenset[str]
) -> None:
    passages: list[None] = []
    fault(monkeypatch, lambda: passages.append(None))
    with pytest.raises(Wrong) as found:
        any_faults(relayed, 0, 0)
    assert passages, "the fault was never passed"
    assert found.value.kind in kinds


@pytest.mark.parametrize(
    "found, kind",
    [([0, 1], None), ([0], LOST), ([1, 1], LOST), ([0, 1, 1], DOUBLED), ([0, 1, 2], KEPT)],
)
def test_what_is_there_has_a_kind(found: list[int], kind: str | None) -> None:
    assert wrong_of(found, [0, 1]) == kind


def test_a_session_that_fails_itself_is_no_finding(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an outdated fault does."""

    def outdated(self: Session, *_: object) -> None:
        raise TypeError("one argument too many")

    monkeypatch.setattr(Session, "_commit", outdated)
    with pytest.raises(AssertionError, match="one argument too many") as found:
        request_lost(relayed, opened)
    assert not isinstance(found.value, Wrong)
