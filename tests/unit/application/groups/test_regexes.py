from __future__ import annotations

from collections.abc import Collection

import pytest

from application.background.runner import SLICE_NS
from application.groups.regexes import GroupRegexes, Names, Regexes
from application.ports.patterns import Matches
from application.topics.create import NewTopic
from domain.errors import InvalidRegularExpression
from domain.groups.consumer.changes import MemberChanged
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.member import MemberSubscription
from infrastructure.patterns import compile_pattern
from tests.fakes.broker import FakeBroker


@pytest.fixture
def broker() -> FakeBroker:
    broker = FakeBroker()
    for name in ("ta", "tb", "u"):
        broker.topic(name)
    return broker


class World:
    """Regexes that record the names they match, and groups that use them."""

    def __init__(self, broker: FakeBroker) -> None:
        self.broker = broker
        self.matched: list[str] = []
        self.resolved: list[tuple[str, dict[str, Names]]] = []
        app = broker.broker
        self.groups = app.groups.registry
        self.regexes = Regexes(
            self.groups, app.catalog, self._compile, app.background, self._resolved
        )

    def _compile(self, regex: str) -> Matches:
        matches = compile_pattern(regex)

        def counted(name: str) -> bool:
            self.matched.append(name)
            return matches(name)

        return counted

    def _resolved(self, group: ConsumerGroup, regexes: GroupRegexes) -> None:
        found = regexes.resolve(list(group.used_regexes))
        self.resolved.append((group.group_id, found))

    def use(self, group_id: str, *regexes: str) -> None:
        group = ConsumerGroup(group_id)
        self.groups.put(group)
        for regex in regexes:
            group.apply(MemberChanged(group_id, regex, MemberSubscription(regex, regex=regex)))

    def look(self, group_id: str = "g") -> GroupRegexes:
        return GroupRegexes(self.regexes, group_id, {})

    def names(self, regex: str, group_id: str = "g") -> Collection[str] | None:
        return self.look(group_id).resolve([regex]).get(regex)

    def many_topics(self, count: int = 3000) -> None:
        for start in range(0, count, 500):
            new = [NewTopic(f"many-topics-{i}", 1, configs={}) for i in range(start, start + 500)]
            self.broker.broker.topics.create_topics.create(new, validate_only=False)
            self.broker.run()


@pytest.fixture
def world(broker: FakeBroker) -> World:
    return World(broker)


def test_a_regex_matches_whole_names_of_the_topics_there_are(
    world: World, broker: FakeBroker
) -> None:
    assert world.names("t") == set()
    assert world.names("t.") == {"ta", "tb"}
    broker.topic("tc")
    assert world.names("t.") == {"ta", "tb", "tc"}
    broker.broker.catalog.remove(broker.existing("ta"))
    assert world.names("t.") == {"tb", "tc"}


def test_a_regex_is_resolved_once_for_all_groups_until_topics_change(
    world: World, broker: FakeBroker
) -> None:
    first = world.names("t.")
    broker.broker.catalog.reconfigured()
    assert world.names("t.", "h") is first and len(world.matched) == 3
    broker.topic("x")
    assert world.names("t.") is first and len(world.matched) == 7


def test_many_topics_are_matched_in_slices(world: World, broker: FakeBroker) -> None:
    world.many_topics()
    for group_id in ("g", "h"):
        world.use(group_id, "many.*[02468]")
        look = world.look(group_id)
        assert (look.resolve(["many.*[02468]"]), look.is_complete) == ({}, False)
    world.matched.clear()
    slices = 0
    while len(world.resolved) < 2:
        before = len(world.matched)
        broker.scheduler.run_pass()
        assert len(world.matched) - before <= SLICE_NS // 1000
        slices += 1
    assert slices > 3 and len(world.matched) == 3003
    (one, found), (other, _) = world.resolved
    assert (one, other) == ("g", "h") and len(found["many.*[02468]"]) == 1500


def test_topics_that_change_during_the_matching_are_matched_afterwards(
    world: World, broker: FakeBroker
) -> None:
    world.many_topics()
    world.use("g", "many.*")
    world.names("many.*")
    for _ in range(3):
        broker.scheduler.run_pass()
    complete: list[bool] = []
    world.regexes._resolved = lambda group, regexes: complete.append(regexes.is_complete)
    broker.broker.topics.create_topics.create([NewTopic("many-more", 1, configs={})], False)
    broker.broker.topics.delete_topics.delete([broker.existing("many-topics-7")])
    broker.run()
    assert complete == [False]
    world.names("many.*")
    broker.run()
    found = world.names("many.*")
    assert complete == [False, True] and found is not None and len(found) == 3000
    assert "many-more" in found and "many-topics-7" not in found


def test_the_matching_is_abandoned_with_its_group(world: World, broker: FakeBroker) -> None:
    world.many_topics()
    world.use("g", "many.*")
    world.names("many.*")
    for _ in range(3):
        broker.scheduler.run_pass()
    world.groups.unload(lambda group_id: group_id == "g")
    before = len(world.matched)
    broker.run()
    assert len(world.matched) <= before + 1 and world.resolved == []
    world.use("g", "many.*")
    assert world.names("many.*") is None
    broker.run()
    [(group_id, found)] = world.resolved
    assert group_id == "g" and len(found["many.*"]) == 3000


def test_an_unused_regex_is_not_resolved(world: World, broker: FakeBroker) -> None:
    world.many_topics()
    world.names("many.*")
    world.matched.clear()
    broker.run()
    assert world.matched == [] and world.resolved == []


def test_a_group_with_more_regexes_than_are_cached_gets_all_its_topics(
    world: World, broker: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("application.groups.regexes.CACHED", 4)
    world.many_topics()
    regexes = [f"many.*|{number}" for number in range(6)]
    world.use("g", *regexes)
    assert world.look().resolve(regexes) == {}
    broker.run()
    [(_, found)] = world.resolved
    assert {len(names) for names in found.values()} == {3000} and len(found) == len(regexes)
    assert len(world.regexes._cached) == 4


def test_a_persisted_regex_that_does_not_compile_matches_nothing(
    world: World,
) -> None:
    assert world.names("(a") == set()


def test_an_invalid_regex_is_refused_with_kafkas_message(world: World) -> None:
    for regex, message in (
        ("(a", "`(a` is not a valid regular expression: missing"),
        ("a" * 30_000, ""),
    ):
        with pytest.raises(InvalidRegularExpression) as refusal:
            world.look().check(regex)
        assert message in refusal.value.message and len(refusal.value.message) < 400
