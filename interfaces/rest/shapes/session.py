"""Who a client is as JSON, and how a user logs in. Confluent's v3 has neither."""

from __future__ import annotations

from pydantic import ConfigDict, Field, SecretStr
from typing_extensions import TypedDict

from interfaces.rest.shapes.common import RequestModel, example


class SessionBody(TypedDict):
    principal: str
    #: Of a session with a cookie, whose requests need it to change anything.
    csrf_token: str | None
    cluster_authorized_operations: list[str]


class LogIn(RequestModel):
    model_config = ConfigDict(
        extra="forbid",
        hide_input_in_errors=True,
        json_schema_extra=example(user="alice", password="a secret"),
    )

    user: str = Field(max_length=1000)
    password: SecretStr = Field(max_length=1000)
