"""Users of the admin side, and how they authenticate."""

from __future__ import annotations

from base64 import b64encode

from application.ports.pending import Pending
from application.security.users import Upsertion
from domain.security.scram import ScramMechanism
from tests.fakes.broker import FakeBroker
from tests.fakes.sasl import PASSWORD, SALT, USER, salted


def add_user(fake: FakeBroker, name: str = USER, password: str = PASSWORD) -> None:
    mechanism = ScramMechanism.SHA_256
    upsertion = Upsertion(name, mechanism, 4096, SALT, salted(password, mechanism))
    altered = fake.broker.security.users.alter([], [upsertion])
    assert isinstance(altered, Pending)
    fake.run()
    assert altered.resolved


def basic(user: str, password: str) -> dict[str, str]:
    credential = b64encode(f"{user}:{password}".encode()).decode()
    return {"authorization": f"Basic {credential}"}
