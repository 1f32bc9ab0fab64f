"""Names in client certificates, and what rules make of them, as Java and Kafka do."""

from __future__ import annotations

import pytest

from domain.security.principal_mapping import NoMatchingRule, PrincipalMapper
from infrastructure.security.distinguished_name import elements, name_of
from tests.golden.distinguished_names import RECORDED

LINES = [line.split("\t") for line in RECORDED.read_text().splitlines()]


@pytest.mark.parametrize("der, recorded", [line[1:] for line in LINES if line[0] == "name"])
def test_a_name_is_written_as_java_writes_it(der: str, recorded: str) -> None:
    [name] = elements(bytes.fromhex(der))
    assert name_of(name.content) == bytes.fromhex(recorded).decode()


@pytest.mark.parametrize("rules, name, recorded", [line[1:] for line in LINES if line[0] == "rule"])
def test_rules_make_the_user_that_kafka_makes(rules: str, name: str, recorded: str) -> None:
    try:
        found = PrincipalMapper(rules).name_of(name)
    except NoMatchingRule:
        assert recorded in ("!NoMatchingRule", "!IndexOutOfBoundsException")
    except ValueError:
        assert recorded in ("!IllegalArgumentException", "!PatternSyntaxException")
    else:
        assert (found, recorded) == (found, found.encode().hex())
