"""A new topic that matches a pattern: in the consumer protocol the broker looks for it.

Apache Kafka does so every ten seconds at the most.
"""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Broker
from tests.e2e.groups.conftest import Join
from tests.e2e.groups.members import Flavour, wait_for_shares
from tests.e2e.groups.numbers import Numbers


@pytest.mark.long
@pytest.mark.parametrize("client", ["confluent", "java"])
def test_a_new_topic_that_matches_is_read(
    client: str, broker: Broker, bootstrap: str, group: str, join: Join
) -> None:
    def created(name: str) -> str:
        with broker.connect() as connection:
            assert connection.create_topic(name) == 0
        return name

    first = created(f"{group}-a")
    member = join(f"^{group}-.*", flavour=Flavour(client, {"protocol": "consumer"}))
    wait_for_shares([member], first, 1)
    later = created(f"{group}-b")
    Numbers(bootstrap, later).produce(5)
    assert {record.topic for record in member.take(5)} == {later}
