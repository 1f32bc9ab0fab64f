from __future__ import annotations

from application.metrics.authentication import AuthenticationReadings
from application.metrics.families import jmx
from tests.fakes.broker import FakeBroker
from tests.fakes.sasl import SaslKafka


def test_attempts_are_counted_by_listener_and_mechanism() -> None:
    kafka = SaslKafka({"sasl_enabled_mechanisms": "PLAIN,SCRAM-SHA-256"})
    for succeeded in (True, True, False):
        kafka.authentication.note("PLAIN", succeeded, again=False)
    kafka.authentication.note("SCRAM-SHA-256", succeeded=True, again=True)
    kafka.authentication.expired = 3
    read = dict(AuthenticationReadings(kafka.broker.security.authentication).read())
    plain, scram = ("LOGIN", "PLAIN"), ("LOGIN", "SCRAM-SHA-256")
    assert read[jmx.SUCCESSFUL_AUTHENTICATIONS] == [(plain, 2), (scram, 0)]
    assert read[jmx.FAILED_AUTHENTICATIONS] == [(plain, 1), (scram, 0)]
    assert read[jmx.SUCCESSFUL_REAUTHENTICATIONS] == [(plain, 0), (scram, 1)]
    assert read[jmx.FAILED_REAUTHENTICATIONS] == [(plain, 0), (scram, 0)]
    assert read[jmx.EXPIRED_CONNECTIONS] == [(("LOGIN",), 3)]


def test_a_broker_without_sasl_has_no_samples() -> None:
    read = AuthenticationReadings(FakeBroker().broker.security.authentication).read()
    assert [samples for _, samples in read] == [[]] * 5
