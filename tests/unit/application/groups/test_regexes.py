from __future__ import annotations

from collections.abc import Callable

import pytest

from application.background.runner import SLICE_NS
from application.groups.regexes import KEPT, Look, Regexes
from application.ports.patterns import Pattern
from application.topics.create import NewTopic
from domain.errors import InvalidRegularExpression
from domain.groups.consumer.group import NEVER
from infrastructure.patterns import Re2Patterns
from tests.fakes.broker import FakeBroker


class CountingPatterns(Re2Patterns):
    def __init__(self) -> None:
        self.compiled: list[str] = []
        self.looked_at: list[str] = []

    def compile(self, pattern: str) -> Pattern:
        self.compiled.append(pattern)
        return CountedPattern(super().compile(pattern), self.looked_at.append)


class CountedPattern:
    def __init__(self, pattern: Pattern, count: Callable[[str], None]) -> None:
        self.worst_ns = pattern.worst_ns
        self._pattern = pattern
        self._count = count

    def matches(self, name: str) -> bool:
        self._count(name)
        return self._pattern.matches(name)


class Told(list[str]):
    """Groups that were told, and whether groups want anything."""

    want = True

    def uses_regex(self, group_id: str, regex: str) -> bool:
        return self.want

    def regexes_resolved(self, group_id: str) -> None:
        self.append(group_id)


@pytest.fixture
def broker() -> FakeBroker:
    broker = FakeBroker()
    for name in ("ta", "tb", "u"):
        broker.topic(name)
    return broker


@pytest.fixture
def patterns() -> CountingPatterns:
    return CountingPatterns()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def regexes(broker: FakeBroker, patterns: CountingPatterns, told: Told) -> Regexes:
    return Regexes(patterns, broker.broker.catalog, broker.broker.background, told)


def meant(regexes: Regexes, regex: str, group_id: str = "g") -> frozenset[str] | None:
    return regexes.look(group_id).names(regex, None, NEVER)


def many_topics(broker: FakeBroker, count: int = 3000) -> None:
    for start in range(0, count, 500):
        new = [NewTopic(f"many-topics-{i}", 1, configs={}) for i in range(start, start + 500)]
        broker.broker.create_topics.create(new, validate_only=False)
        broker.run()


def test_it_means_the_topics_whose_whole_names_match(regexes: Regexes) -> None:
    assert meant(regexes, "t.") == {"ta", "tb"}
    assert meant(regexes, "t") == set()


def test_a_topic_that_comes_or_goes_is_noticed(regexes: Regexes, broker: FakeBroker) -> None:
    assert meant(regexes, "t.") == {"ta", "tb"}
    broker.topic("tc")
    assert meant(regexes, "t.") == {"ta", "tb", "tc"}
    broker.broker.catalog.remove(broker.existing("ta"))
    assert meant(regexes, "t.") == {"tb", "tc"}


def test_what_means_the_same_is_one_set_of_names(regexes: Regexes, broker: FakeBroker) -> None:
    assert meant(regexes, "t.") is meant(regexes, "t[ab]")
    broker.topic("tc")
    assert meant(regexes, "t.") == {"ta", "tb", "tc"}
    assert meant(regexes, "t[ab]") == {"ta", "tb"}
    assert meant(regexes, "t[abc]") is meant(regexes, "t.")


def test_names_are_looked_at_once_for_all_groups(
    regexes: Regexes, patterns: CountingPatterns
) -> None:
    for group_id in "ghi":
        meant(regexes, "t.", group_id)
    assert (patterns.compiled, len(patterns.looked_at)) == (["t."], 3)


def test_only_names_that_came_or_went_are_looked_at_again(
    regexes: Regexes, patterns: CountingPatterns, broker: FakeBroker
) -> None:
    meant(regexes, "t.")
    patterns.looked_at.clear()
    broker.topic("tc")
    meant(regexes, "t.")
    assert patterns.looked_at == ["tc"]
    broker.broker.catalog.reconfigured()
    meant(regexes, "t.")
    assert patterns.looked_at == ["tc"]


def test_what_is_much_to_look_at_is_found_in_slices(
    regexes: Regexes, patterns: CountingPatterns, broker: FakeBroker, told: Told
) -> None:
    many_topics(broker)
    assert meant(regexes, "many.*[02468]") is None
    assert meant(regexes, "many.*[02468]", "h") is None
    assert patterns.looked_at == []
    slices = 0
    while not told:
        before = len(patterns.looked_at)
        broker.scheduler.run_pass()
        assert len(patterns.looked_at) - before <= SLICE_NS // 1000
        slices += 1
    broker.run()
    assert slices > 3 and told == ["g", "h"]
    assert len(patterns.looked_at) == 3003
    found = meant(regexes, "many.*[02468]")
    assert found is not None and len(found) == 1500


def test_what_comes_and_goes_while_it_looks_is_not_missed(
    regexes: Regexes, broker: FakeBroker, told: Told
) -> None:
    many_topics(broker)
    meant(regexes, "many.*")
    for _ in range(3):
        broker.scheduler.run_pass()
    broker.broker.create_topics.create([NewTopic("many-more", 1, configs={})], False)
    broker.broker.delete_topics.delete([broker.existing("many-topics-7")])
    broker.run()
    assert told == ["g"]
    found = meant(regexes, "many.*")
    assert found is not None
    assert "many-more" in found and "many-topics-7" not in found and len(found) == 3000


def test_what_nobody_wants_any_more_is_not_looked_for(
    regexes: Regexes, patterns: CountingPatterns, broker: FakeBroker, told: Told
) -> None:
    many_topics(broker)
    meant(regexes, "many.*")
    told.want = False
    broker.run()
    assert patterns.looked_at == []


def test_a_flood_of_others_takes_nothing_from_a_group_that_waits(
    broker: FakeBroker, patterns: CountingPatterns
) -> None:
    many_topics(broker)
    taken: list[int] = []

    class Flood:
        def uses_regex(self, group_id: str, regex: str) -> bool:
            for number in range(2 * KEPT):
                regexes.check(f"{number}{len(taken)}")
            return True

        def regexes_resolved(self, group_id: str) -> None:
            found = meant(regexes, "many.*")
            taken.append(-1 if found is None else len(found))

    regexes = Regexes(patterns, broker.broker.catalog, broker.broker.background, Flood())
    meant(regexes, "many.*")
    meant(regexes, "many-t.*")
    broker.run()
    assert taken == [3000]


def test_a_group_that_knows_what_its_own_means_needs_no_more_than_the_news(
    regexes: Regexes, patterns: CountingPatterns, broker: FakeBroker
) -> None:
    """Also when its expression is not remembered any more: more are alive than that."""
    known = meant(regexes, "t.")
    as_of = broker.broker.catalog.layout_revision
    for number in range(KEPT):
        regexes.check(f"t{number}")
    patterns.looked_at.clear()
    assert regexes.look("g").names("t.", known, as_of) is known
    assert patterns.compiled.count("t.") == 1
    broker.topic("tc")
    assert regexes.look("g").names("t.", known, as_of) == {"ta", "tb", "tc"}
    assert patterns.looked_at == ["tc"]


def test_only_so_many_are_kept_and_those_that_are_asked_for(
    regexes: Regexes, patterns: CountingPatterns
) -> None:
    for number in range(KEPT):
        meant(regexes, f"t{number}")
    meant(regexes, "t0")
    meant(regexes, "one more")
    assert len(regexes._known) == KEPT
    meant(regexes, "t0")
    meant(regexes, "t1")
    assert (patterns.compiled.count("t0"), patterns.compiled.count("t1")) == (1, 2)


def test_one_decision_looks_at_so_much_and_no_more(
    regexes: Regexes, patterns: CountingPatterns, told: Told, broker: FakeBroker
) -> None:
    look: Look = regexes.look("g")
    found = [look.names(f"t.{{{number}}}", None, NEVER) for number in range(50)]
    assert found[0] is not None and found[-1] is None and not look.is_complete
    assert len(patterns.compiled) < 15
    broker.run()
    assert told == ["g"]


def test_a_kept_expression_that_is_none_any_more_hurts_nobody(regexes: Regexes) -> None:
    assert meant(regexes, "(a") == set()
    with pytest.raises(InvalidRegularExpression):
        regexes.check("(a")


def test_what_is_no_expression_is_refused_with_kafkas_words(regexes: Regexes) -> None:
    with pytest.raises(InvalidRegularExpression) as refusal:
        regexes.check("(a")
    assert refusal.value.message == (
        "SubscribedTopicRegex `(a` is not a valid regular expression: missing closing )."
    )


def test_of_a_long_one_only_the_beginning_is_told(regexes: Regexes) -> None:
    with pytest.raises(InvalidRegularExpression) as refusal:
        regexes.check("a" * 30_000)
    assert len(refusal.value.message) < 400
