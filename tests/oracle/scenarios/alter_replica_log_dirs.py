from __future__ import annotations

from interfaces.kafka.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from interfaces.kafka.wire.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from tests.oracle.requests import UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

NOWHERE = "/no/such/log/dir"


def to(path: str, *topics: tuple[str, list[int]]) -> AlterReplicaLogDir:
    return AlterReplicaLogDir(
        path=path,
        topics=[AlterReplicaLogDirTopic(name=name, partitions=them) for name, them in topics],
    )


def request(*dirs: AlterReplicaLogDir) -> AlterReplicaLogDirsRequest:
    return AlterReplicaLogDirsRequest(dirs=list(dirs))


def log_dir(run: ScenarioRun) -> str:
    """The only one of the broker."""
    described = run.call(DescribeLogDirsRequest(topics=[]), DescribeLogDirsResponse, 4)
    path: str = described.results[0].log_dir
    run.placeholders.add_name(path, "log dir")
    return path


@scenario("alter_replica_log_dirs")
def current_log_dir(run: ScenarioRun) -> None:
    topic, other, here = run.topic("a", 3), run.topic("b"), log_dir(run)
    run.send("one", request(to(here, (topic.name, [0]))))
    run.send("some", request(to(here, (topic.name, [2, 0]), (other.name, [0]))))
    run.send("a partition twice", request(to(here, (topic.name, [1, 1]))))
    run.send("a topic twice", request(to(here, (topic.name, [1]), (topic.name, [0]))))
    run.send("no partitions", request(to(here, (topic.name, []))))
    run.send("no topics", request(to(here)))
    run.send("none", request())


@scenario("alter_replica_log_dirs")
def unknown_log_dirs(run: ScenarioRun) -> None:
    topic, here = run.topic("a", 2), log_dir(run)
    run.send("one", request(to(NOWHERE, (topic.name, [0]))))
    run.send("an empty path", request(to("", (topic.name, [0]))))
    run.send("a slash behind the path", request(to(f"{here}/", (topic.name, [0]))))
    run.send("no topics", request(to(NOWHERE)))
    run.send(
        "beside the current one",
        request(to(NOWHERE, (topic.name, [0])), to(here, (topic.name, [1]))),
    )
    run.send(
        "a partition in both, the current one last",
        request(to(NOWHERE, (topic.name, [0])), to(here, (topic.name, [0]))),
    )
    run.send(
        "a partition in both, the current one first",
        request(to(here, (topic.name, [0])), to(NOWHERE, (topic.name, [0]))),
    )


@scenario("alter_replica_log_dirs")
def unknown_topics_and_partitions(run: ScenarioRun) -> None:
    topic, here = run.topic("a", 2), log_dir(run)
    run.send("a partition", request(to(here, (topic.name, [0, 2]))))
    run.send("a negative partition", request(to(here, (topic.name, [-1]))))
    run.send("a topic", request(to(here, (UNKNOWN_TOPIC.name, [0]))))
    run.send("an illegal name", request(to(here, ("a b", [0]))))
    run.send("an empty name", request(to(here, ("", [0]))))
    run.send("a long name", request(to(here, ("a" * 249, [0]))))
    run.send("a topic, an unknown log dir", request(to(NOWHERE, (UNKNOWN_TOPIC.name, [0]))))


@scenario("alter_replica_log_dirs")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "alter_replica_log_dirs", b"")
