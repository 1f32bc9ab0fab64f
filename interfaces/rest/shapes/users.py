"""Users with SCRAM credentials as JSON. Confluent's v3 has none."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, SecretStr
from typing_extensions import TypedDict

from domain.security.scram import MAX_ITERATIONS, MIN_ITERATIONS, ScramMechanism
from interfaces.rest.shapes.common import RequestModel, Resource, example, resource

#: Of a password.
_MOST_CHARACTERS = 1000
Mechanism = Literal["SCRAM-SHA-256", "SCRAM-SHA-512"]
MECHANISMS: dict[Mechanism, ScramMechanism] = {
    "SCRAM-SHA-256": ScramMechanism.SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SHA_512,
}


class CredentialBody(TypedDict):
    mechanism: Annotated[str, attrgetter("mechanism.sasl_name")]
    iterations: int


@resource("KafkaUser", "users/{user_name}")
class UserBody(Resource):
    user_name: str
    credentials: list[CredentialBody]


class SetUser(RequestModel):
    """Credentials of other mechanisms stay as they are."""

    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, json_schema_extra=example(password="a secret")
    )

    password: SecretStr = Field(min_length=1, max_length=_MOST_CHARACTERS)
    mechanisms: list[Mechanism] = Field(default=list(MECHANISMS), min_length=1)
    iterations: int = Field(default=MIN_ITERATIONS, ge=MIN_ITERATIONS, le=MAX_ITERATIONS)
