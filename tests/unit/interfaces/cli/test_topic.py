"""What `ottla topic create` says of a timeout."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from interfaces.cli import topic
from interfaces.cli.client import Clients
from interfaces.cli.running import run
from interfaces.main.arguments import parser


class Failing(Clients):
    """All topics fail with this error."""

    code = 0

    def admin(self) -> Any:
        failed: Future[None] = Future()
        failed.set_exception(KafkaException(KafkaError(self.code)))
        self.is_diagnosed = True
        return SimpleNamespace(
            create_topics=lambda topics, **_: {one.topic: failed for one in topics}
        )


@pytest.mark.parametrize(
    ("code", "options", "is_open"),
    [
        (KafkaError._TIMED_OUT, (), True),
        (KafkaError.REQUEST_TIMED_OUT, (), True),
        (KafkaError.REQUEST_TIMED_OUT, ("--dry-run",), False),
        (KafkaError.INVALID_REPLICATION_FACTOR, (), False),
    ],
)
def test_a_topic_may_be_created_after_a_timeout(
    code: int,
    options: tuple[str, ...],
    is_open: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Failing, "code", code)
    monkeypatch.setattr(topic, "Clients", Failing)
    assert run(parser().parse_args(["topic", "create", "t", "-b", "127.0.0.1:1", *options])) == 1
    out, errors = capsys.readouterr()
    assert (out, errors.count("\n")) == ("", 1)
    assert errors.startswith("ottla: topic t: ")
    assert errors.endswith("; the topic may still be created\n") is is_open
