"""Settings of SASL that depend on each other."""

from __future__ import annotations

import pytest

from interfaces.main.settings.sasl import WrongSasl, check_sasl
from tests.fakes.sasl import security

OAUTH = {"sasl_enabled_mechanisms": "OAUTHBEARER"}


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"sasl_enabled_mechanisms": "PLAIN"},
        {"plain__sasl_jaas_config": "not PLAIN's line: it is not enabled"},
        OAUTH | {"sasl_oauthbearer_jwks_endpoint_url": "https://issuer/keys"},
        OAUTH | {"sasl_oauthbearer_jwks_endpoint_url": "file:///keys.json"},
        OAUTH | {"sasl_oauthbearer_unsecured_tokens": "true"},
    ],
)
def test_settings_that_fit(own: dict[str, str]) -> None:
    check_sasl(security(**own))


@pytest.mark.parametrize(
    ("own", "name"),
    [
        (OAUTH, "sasl.oauthbearer.jwks.endpoint.url: expected the URL"),
        (
            OAUTH | {"sasl_oauthbearer_jwks_endpoint_url": "keys.json"},
            "listener.name.login.sasl.oauthbearer.jwks.endpoint.url: expected the URL",
        ),
        *(
            (
                OAUTH | {"sasl_oauthbearer_jwks_endpoint_url": url},
                "listener.name.login.sasl.oauthbearer.jwks.endpoint.url: expected the URL",
            )
            for url in ("https://u:secret@issuer/keys", "https://u:secret/keys", "http://[::secret")
        ),
        (
            {"sasl_enabled_mechanisms": "PLAIN", "plain__sasl_jaas_config": 'user_ann="secret"'},
            "listener.name.login.plain.sasl.jaas.config: expected one login module",
        ),
    ],
)
def test_settings_that_do_not_fit_are_named_without_passwords(
    own: dict[str, str], name: str
) -> None:
    with pytest.raises(WrongSasl) as refusal:
        check_sasl(security(**own))
    assert str(refusal.value).startswith(name)
    assert "secret" not in str(refusal.value)
