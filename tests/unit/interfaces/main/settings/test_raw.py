"""Raw listeners."""

from __future__ import annotations

import pytest

from domain.configs.listener_security import RAW
from interfaces.main.settings.origin import Given, SettingsError
from interfaces.main.settings.sources import Settings


def _settings(**more: str) -> Settings:
    texts = {"storage": "memory://"} | more
    return Settings({name: Given(text, "command line") for name, text in texts.items()}, None)


def test_there_is_no_raw_listener_unless_one_is_set() -> None:
    assert _settings().raw == ()
    assert RAW not in _settings().all_security
    found = _settings(**{"raw.listeners": "localhost:12000,[::1]:12001"})
    assert [(one.host, one.port) for one in found.raw] == [("localhost", 12000), ("::1", 12001)]


def test_a_keystore_of_its_own_turns_tls_on() -> None:
    own = _settings(**{"raw.listeners": ":1", "raw.ssl.keystore.location": "broker.pem"})
    assert own.all_security[RAW].protocol.needs_tls
    others = _settings(**{"raw.listeners": ":1", "ssl.keystore.location": "broker.pem"})
    assert not others.all_security[RAW].protocol.needs_tls


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("raw.listeners", "RAW://:1", "HOST:PORT, without a name"),
        ("raw.listeners", "foo", "HOST:PORT, without a name"),
        ("raw.ssl.client.auth", "required", "needs raw.ssl.keystore.location"),
        ("raw.topic", "a/b", "the name of a topic"),
        ("raw.auto.offset.reset", "latest", "earliest, none"),
    ],
)
def test_other_values_are_refused(name: str, value: str, words: str) -> None:
    with pytest.raises(SettingsError) as refused:
        _settings(**{name: value})
    assert name in str(refused.value) and words in str(refused.value)
