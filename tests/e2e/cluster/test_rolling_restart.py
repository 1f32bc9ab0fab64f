"""All brokers are restarted one after the other: no error reaches an application."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.cluster.brokers import Brokers
from tests.e2e.cluster.clients import producers
from tests.e2e.cluster.conftest import NODE_IDS, NewTopic
from tests.e2e.conftest import unused_topic_name
from tests.e2e.groups.members import ClientProcess, Member, wait_for_all, wait_for_shares
from tests.e2e.groups.numbers import Numbers

PARTITIONS = 6
#: A client, and the protocol of its group.
MEMBERS = (
    ("confluent", "classic"),
    ("confluent", "consumer"),
    ("kafkajs", "classic"),
    ("java", "classic"),
    ("java", "consumer"),
)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_applications_notice_no_rolling_restart(
    cluster: Brokers,
    new_topic: NewTopic,
    client_process: Callable[..., ClientProcess],
    tmp_path: Path,
) -> None:
    topic = new_topic(PARTITIONS)
    members: list[Member] = []
    for client, protocol in MEMBERS:
        joined = client_process(client).join(
            bootstrap=cluster.bootstrap, group=unused_topic_name(), topics=topic, protocol=protocol
        )
        wait_for_shares([joined], topic, PARTITIONS)
        members.append(joined)
    numbers, others = Numbers(cluster.bootstrap, topic, partitions=PARTITIONS), producers(tmp_path)
    values = []
    with ExitStack() as stack:
        for name, process in others.items():
            stack.callback(process.close)
            start = ("start", cluster.bootstrap, topic, str(PARTITIONS), name)
            assert process.request("\t".join(start)) == "ok"
        with numbers.flowing():
            for node_id in NODE_IDS:
                assert cluster[node_id].terminate() == 0
                cluster[node_id].start()
                cluster.wait_for_nodes()
        for name, process in others.items():
            outcome = json.loads(process.request("stop"))
            assert outcome["errors"] == [], name
            assert outcome["sent"] > 20  # KafkaJS pauses after an error
            values += [f"{name}:{number}" for number in range(outcome["sent"])]
    for member in members:
        wait_for_all([*numbers.all(), *values], [member])
        assert member.troubles == []
        member.leave()
