"""An admin side beyond loopback needs TLS and users, or a setting that says it is meant."""

from __future__ import annotations

import pytest

from interfaces.main.settings.origin import Given, SettingsError
from interfaces.main.settings.sources import Settings

TLS = {"admin.ssl.keystore.location": "broker.pem"}
USERS = {"admin.authentication": "users"}


def _settings(**more: str) -> Settings:
    texts = {"admin.listeners": ":8082", "storage": "memory://"} | more
    return Settings({name: Given(text, "command line") for name, text in texts.items()}, None)


@pytest.mark.parametrize(
    "lacking, words",
    [
        ({}, "no TLS (admin.ssl.keystore.location) and no users (admin.authentication)"),
        (TLS, "no users (admin.authentication)"),
        (USERS, "no TLS (admin.ssl.keystore.location)"),
    ],
)
def test_without_tls_or_users_it_stays_on_loopback(lacking: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError) as refused:
        _settings(**lacking)
    assert words in str(refused.value)
    assert "admin.insecure.allowed=true" in str(refused.value)
    _settings(**lacking, **{"admin.insecure.allowed": "true"})
    _settings(**lacking, **{"admin.listeners": "localhost:8082"})


@pytest.mark.parametrize("enough", [USERS, {"admin.ssl.client.auth": "required"}])
def test_tls_with_users_or_client_certificates_is_enough(enough: dict[str, str]) -> None:
    assert _settings(**TLS, **enough).admin_scheme == "https"
