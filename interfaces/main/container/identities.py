"""Random id generators: topic, cluster, member and session ids; and secrets."""

from __future__ import annotations

import base64
import random
import secrets
import uuid


def new_topic_id() -> bytes:
    return uuid.uuid4().bytes


def new_short_uuid() -> str:
    """Cluster ids and member ids of the consumer protocol, as in Kafka: 22 characters."""
    return base64.urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode()


def new_uuid() -> str:
    return str(uuid.uuid4())


def new_marker_id() -> bytes:
    return uuid.uuid4().bytes


def new_session_id() -> int:
    return random.randrange(1, 2**31)


def new_decoy_secret() -> bytes:
    return secrets.token_bytes(32)
