"""`settings_of_kafka.txt` has the broker settings that Kafka 4.2 describes."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.configs.alteration import Alteration, Operation, altered_broker_configs
from domain.configs.broker import BrokerConfig
from domain.configs.settings.absent import ABSENT, why_absent
from domain.errors import InvalidConfig

SETTINGS_OF_KAFKA = (Path(__file__).parent / "settings_of_kafka.txt").read_text().split()
ALIASES = {"broker.id", "log.dir"}
#: Kafka does not describe them: of the authorizer, and of each listener.
NOT_DESCRIBED = {"super.users", "allow.everyone.if.no.acl.found"}


def test_every_setting_of_kafka_is_a_setting_or_has_the_reason_why_not() -> None:
    ours = {name for name in SETTINGS_OF_KAFKA if name in BrokerConfig.definitions}
    absent = {name for name in SETTINGS_OF_KAFKA if why_absent(name) is not None}
    assert ours | absent | ALIASES == set(SETTINGS_OF_KAFKA)
    assert ours & absent == set()


def test_only_settings_of_kafka_have_a_reason() -> None:
    names = {name for names in ABSENT.values() for name in names}
    beginnings = tuple(name for name in names if name.endswith("."))
    assert names - set(SETTINGS_OF_KAFKA) - set(beginnings) <= NOT_DESCRIBED
    unused = {one for one in beginnings if not any(n.startswith(one) for n in SETTINGS_OF_KAFKA)}
    assert unused <= NOT_DESCRIBED


@pytest.mark.parametrize(
    "name, message",
    [
        ("num.io.threads", "num.io.threads has no effect in this broker: one loop serves all"),
        ("ssl.provider", "ssl.provider has no effect in this broker: OpenSSL decides"),
        ("retention.ms", "retention.ms is a topic config; the setting for its default is log.ret"),
        ("no.such.config", "Unknown broker config name: no.such.config"),
        ("sslx", "Unknown broker config name: sslx"),
    ],
)
def test_a_client_that_alters_one_gets_the_reason(name: str, message: str) -> None:
    alteration = Alteration(name, Operation.SET, "3")
    with pytest.raises(InvalidConfig) as refusal:
        altered_broker_configs({}, [alteration], BrokerConfig(), for_all=True)
    assert refusal.value.message.startswith(message)
