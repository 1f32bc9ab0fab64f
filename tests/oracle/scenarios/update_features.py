"""No request changes a level: later scenarios need the features."""

from __future__ import annotations

from interfaces.kafka.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

GROUP, TRANSACTION = "group.version", "transaction.version"
UNKNOWN, UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = range(4)


def to(feature: str, level: int, kind: int = UPGRADE, downgrade: bool = False) -> FeatureUpdateKey:
    return FeatureUpdateKey(
        feature=feature, max_version_level=level, upgrade_type=kind, allow_downgrade=downgrade
    )


def request(*updates: FeatureUpdateKey) -> UpdateFeaturesRequest:
    return UpdateFeaturesRequest(feature_updates=list(updates))


@scenario("update_features", first=1)
def validation(run: ScenarioRun) -> None:
    def send(step: str, *updates: FeatureUpdateKey) -> None:
        run.send(step, UpdateFeaturesRequest(feature_updates=list(updates), validate_only=True))

    send("the current level", to(GROUP, 1))
    send("a higher level", to(GROUP, 2))
    send("a safe downgrade", to(GROUP, 0, SAFE_DOWNGRADE))
    send("an unsafe downgrade", to(GROUP, 0, UNSAFE_DOWNGRADE))
    send("a downgrade without its type", to(GROUP, 0))
    send("another level of metadata.version", to("metadata.version", 7))
    send("an unknown feature", to("no.such.feature", 1))
    send("none")
    send("a lower level of transactions", to(TRANSACTION, 1, SAFE_DOWNGRADE))
    send("the lowest level of transactions", to(TRANSACTION, 0, UNSAFE_DOWNGRADE))
    send("a lower level of transactions without its type", to(TRANSACTION, 1))
    send("a higher level of transactions", to(TRANSACTION, 3))
    send("the level of transactions", to(TRANSACTION, 2))


@scenario("update_features", first=1)
def kinds_of_upgrades(run: ScenarioRun) -> None:
    for step, kind in (
        ("safe downgrade", SAFE_DOWNGRADE),
        ("unsafe downgrade", UNSAFE_DOWNGRADE),
        ("unknown", UNKNOWN),
        ("out of range", 9),
        ("negative", -1),
    ):
        run.send(f"{step}, the current level", request(to(GROUP, 1, kind)))
        run.send(f"{step}, a higher level", request(to(GROUP, 2, kind)))


@scenario("update_features")
def levels(run: ScenarioRun) -> None:
    run.send("the current one", request(to(GROUP, 1)))
    run.send("a higher one", request(to(GROUP, 2)))
    run.send("a negative one", request(to(GROUP, -1)))
    run.send("a lower one", request(to(GROUP, 0)))


@scenario("update_features", last=0)
def allowed_downgrades(run: ScenarioRun) -> None:
    run.send("the current level", request(to(GROUP, 1, downgrade=True)))
    run.send("a higher level", request(to(GROUP, 2, downgrade=True)))
    run.send("a negative level", request(to(GROUP, -1, downgrade=True)))


@scenario("update_features")
def features(run: ScenarioRun) -> None:
    run.send("an unknown one", request(to("no.such.feature", 1)))
    run.send("an unknown one, level 0", request(to("no.such.feature", 0)))
    run.send("an empty name", request(to("", 1)))
    run.send("none", request())
    run.send("a known and an unknown one", request(to(GROUP, 1), to("no.such.feature", 1)))
    run.send("an unknown and a known one", request(to("no.such.feature", 1), to(GROUP, 1)))
    run.send("two unknown ones", request(to("no.such.feature", 1), to("nor.this", 2)))
    run.send("one twice", request(to(GROUP, 1), to(GROUP, 2)))


@scenario("update_features")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "update_features", b"")
