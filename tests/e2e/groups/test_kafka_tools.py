"""Apache Kafka's own tools: kafka-consumer-groups, on groups of both protocols, and more."""

from __future__ import annotations

import json
import re
import subprocess
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from tests.e2e.broker_process import PATIENCE_S, command, environment
from tests.e2e.conftest import CreateTopic, StartBroker, new_topic
from tests.e2e.groups.conftest import Join
from tests.e2e.groups.kafka_tools import Tool, run_tool
from tests.e2e.groups.members import Flavour, Member, wait_for_shares
from tests.e2e.groups.numbers import Numbers
from tests.e2e.groups.stories import commit
from tests.e2e.line_process import LineProcess

Row = dict[str, str]
#: tests/e2e/cluster/test_kafka_tools.py has three of them.
ONE_BROKER = pytest.mark.parametrize("group_broker", ["lmdb"], indirect=True)


@pytest.fixture
def flavour(request: pytest.FixtureRequest) -> Flavour:
    return Flavour("confluent", {"protocol": getattr(request, "param", "consumer")})


BOTH_PROTOCOLS = pytest.mark.parametrize("flavour", ["classic", "consumer"], indirect=True)


@pytest.fixture
def tool(tools: LineProcess, bootstrap: str) -> Tool:
    return partial(run_tool, tools, "kafka-consumer-groups", bootstrap)


def table(printed: str) -> list[Row]:
    """Returns rows by column names; lines before the table are skipped."""
    lines = [line.split() for line in printed.splitlines() if line.strip()]
    heads = [n for n, line in enumerate(lines) if line[0] == "GROUP"]
    assert heads, printed
    names = lines[heads[0]]
    return [dict(zip(names, line, strict=False)) for line in lines[heads[0] + 1 :]]


@pytest.fixture
def topic(create_topic: CreateTopic) -> str:
    return create_topic(2)


@pytest.fixture
def idle_group(bootstrap: str, topic: str, group: str, join: Join) -> str:
    """Ten records in each of two partitions, all read, no members."""
    Numbers(bootstrap, topic, partitions=2).produce(20)
    member = join(topic)
    member.take(20)
    member.leave()
    return group


@pytest.fixture
def live_group(bootstrap: str, topic: str, group: str, join: Join) -> tuple[str, list[Member]]:
    """Two members, a partition each; of its ten records 4 are committed."""
    Numbers(bootstrap, topic, partitions=2).produce(20)
    members = [join(topic, commit="manual") for _ in range(2)]
    wait_for_shares(members, topic, 2)
    for member in members:
        member.do("commit", *[(topic, partition, 4) for _, partition in member.assigned])
    return group, members


def ottla(bootstrap: str, *arguments: str) -> str:
    done = subprocess.run(
        command(*arguments, "-b", bootstrap),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return done.stdout


def same_table(tool_printed: str, bootstrap: str, *arguments: str, group: str = "") -> None:
    """Compares header and rows with the tool's, in any order; of `group` only."""
    lines = tool_printed.splitlines()
    heads = [n for n, line in enumerate(lines) if line.startswith("GROUP ")]
    assert heads, tool_printed
    head, *rows = [line for line in lines[heads[0] :] if line]
    printed_head, *printed = ottla(bootstrap, *arguments).splitlines()
    expected = sorted(row for row in rows if row.startswith(group))
    assert expected
    assert (printed_head, sorted(r for r in printed if r.startswith(group))) == (head, expected)


def offsets(printed: str, column: str) -> dict[int, str]:
    return {int(row["PARTITION"]): row[column] for row in table(printed)}


@BOTH_PROTOCOLS
def test_a_live_group_is_listed_and_described(
    tool: Tool, flavour: Flavour, topic: str, live_group: tuple[str, list[Member]]
) -> None:
    group, members = live_group
    assert group in tool("--list").splitlines()
    [row] = [row for row in table(tool("--list", "--state")) if row["GROUP"] == group]
    assert row["STATE"] == "Stable"
    assert group not in tool("--list", "--state", "empty")
    [row] = [row for row in table(tool("--list", "--type")) if row["GROUP"] == group]
    assert row["TYPE"].lower() == flavour.settings["protocol"]

    rows = table(tool("--describe", "--group", group))
    assert [(r["TOPIC"], r["CURRENT-OFFSET"], r["LOG-END-OFFSET"], r["LAG"]) for r in rows] == [
        (topic, "4", "10", "6")
    ] * 2
    assert len({row["CONSUMER-ID"] for row in rows}) == len(members)

    rows = table(tool("--describe", "--group", group, "--members"))
    assert [row["#PARTITIONS"] for row in rows] == ["1", "1"]
    verbose = tool("--describe", "--group", group, "--members", "--verbose")
    assert f"{topic}:0" in verbose.replace("(", ":").replace(")", "")
    [row] = table(tool("--describe", "--group", group, "--state"))
    assert row["GROUP"] == group
    assert "Stable" in row.values()
    assert "Stable" in tool("--describe", "--group", group, "--state", "--verbose")


@BOTH_PROTOCOLS
def test_ottla_prints_a_live_group_as_the_tool_does(
    tool: Tool, bootstrap: str, live_group: tuple[str, list[Member]]
) -> None:
    group, _ = live_group
    described = tool("--describe", "--group", group)
    same_table(described, bootstrap, "group", "describe", group)
    state = tool("--describe", "--group", group, "--state")
    same_table(state, bootstrap, "group", "describe", group, "-s")
    # Groups of other tests may change their state in between.
    same_table(tool("--list", "--state", "--type"), bootstrap, "group", "list", group=group)


@pytest.mark.parametrize("group", ["g"])
def test_ottla_prints_an_idle_group_as_the_tool_does(
    tool: Tool, bootstrap: str, topic: str, idle_group: str, tmp_path: Path
) -> None:
    def without_note(*arguments: str) -> str:
        return re.sub(r"\nConsumer group '.*' has no active members\.\n", "", tool(*arguments))

    described = without_note("--describe", "--group", idle_group)
    same_table(described, bootstrap, "group", "describe", idle_group)
    state = without_note("--describe", "--group", idle_group, "--state")
    same_table(state, bootstrap, "group", "describe", idle_group, "-s")
    reset = ("--reset-offsets", "--group", idle_group, "--topic", topic, "--shift-by", "-3")
    wider = [
        # Where the tool has no fifth column, ours has what was there before.
        f"{line:<{line.rfind(' ') + 1 + 15}} {'PRIOR-OFFSET' if 'GROUP' in line else 10}"
        for line in tool(*reset, "--dry-run").splitlines()
        if line
    ]
    moved = ("group", "seek", idle_group, "-t", topic, "--to", "-3", "--dry-run")
    same_table("\n".join(wider), bootstrap, *moved)
    file = tmp_path / "offsets.csv"
    file.write_text(exported := ottla(bootstrap, "group", "describe", idle_group, "--export"))
    current = ("--reset-offsets", "--group", idle_group, "--topic", topic, "--to-current")
    assert sorted(exported.split()) == sorted(tool(*current, "--dry-run", "--export").split())
    from_file = ("--reset-offsets", "--group", idle_group, "--from-file", str(file), "--dry-run")
    assert offsets(tool(*from_file), "NEW-OFFSET") == {0: "10", 1: "10"}
    tool("--delete", "--group", idle_group)


def test_a_live_group_is_neither_reset_nor_deleted(
    tool: Tool, live_group: tuple[str, list[Member]]
) -> None:
    group, _ = live_group
    reset = ("--reset-offsets", "--group", group, "--all-topics", "--to-earliest", "--execute")
    assert "inactive" in tool(*reset)
    assert offsets(tool("--describe", "--group", group), "CURRENT-OFFSET") == {0: "4", 1: "4"}
    assert "GroupNotEmptyException" in tool("--delete", "--group", group)


def test_offsets_are_reset_after_a_dry_run(tool: Tool, idle_group: str, topic: str) -> None:
    def reset(*how: str) -> dict[int, str]:
        where = ("--reset-offsets", "--group", idle_group, "--topic", topic)
        return offsets(tool(*where, *how), "NEW-OFFSET")

    def current() -> dict[int, str]:
        return offsets(tool("--describe", "--group", idle_group), "CURRENT-OFFSET")

    assert current() == {0: "10", 1: "10"}
    assert reset("--to-earliest", "--dry-run") == {0: "0", 1: "0"}
    assert current() == {0: "10", 1: "10"}
    assert reset("--shift-by", "-3", "--execute") == {0: "7", 1: "7"}
    assert current() == {0: "7", 1: "7"}
    assert reset("--to-offset", "5", "--execute") == {0: "5", 1: "5"}
    assert reset("--to-earliest", "--execute") == {0: "0", 1: "0"}
    assert current() == {0: "0", 1: "0"}


def test_a_group_continues_at_its_reset_offset(
    tool: Tool, idle_group: str, topic: str, join: Join
) -> None:
    where = ("--reset-offsets", "--group", idle_group, "--topic", f"{topic}:1")
    tool(*where, "--to-offset", "7", "--execute")
    assert [(r.partition, r.offset) for r in join(topic).take(3)] == [(1, 7), (1, 8), (1, 9)]


def test_offsets_and_groups_are_deleted(tool: Tool, idle_group: str, topic: str) -> None:
    printed = tool("--delete-offsets", "--group", idle_group, "--topic", f"{topic}:0")
    assert "Successful" in printed, printed
    assert offsets(tool("--describe", "--group", idle_group), "CURRENT-OFFSET") == {1: "10"}
    assert "was successful" in tool("--delete", "--group", idle_group)
    assert idle_group not in tool("--list").splitlines()
    assert "GroupIdNotFoundException" in tool("--describe", "--group", idle_group)


@pytest.mark.parametrize(
    "groups",
    [("g", "h"), pytest.param(("g",), marks=pytest.mark.long)],
    ids=("two groups", "one group"),
)
def test_committed_offsets_are_moved_out_of_a_database_by_a_file(
    start_broker: StartBroker, tools: LineProcess, tmp_path: Path, groups: tuple[str, ...]
) -> None:
    """The steps of docs/storage.md."""
    broker = start_broker("--set", "offsets=sqlite://")
    topic = new_topic(broker, 2)
    Numbers(broker.bootstrap, topic, partitions=2).produce(20)
    commit(broker.bootstrap, "g", topic, 3, 4)
    commit(broker.bootstrap, "h", topic, 5, 10)

    def tool(*arguments: str) -> str:
        return run_tool(tools, "kafka-consumer-groups", broker.bootstrap, *arguments)

    def start_with(*arguments: str) -> None:
        assert broker.terminate() == 0, broker.log()
        broker.arguments[:] = arguments
        broker.start()

    options = [word for one in groups for word in ("--group", one)]
    scope = ("--reset-offsets", *options, "--all-topics")
    exported = tool(*scope, "--to-current", "--export", "--dry-run")
    file = tmp_path / "offsets.csv"
    file.write_text(exported)
    start_with("--set", "offsets=memory://")
    assert not tool("--list").strip()
    start_with()
    tool("--reset-offsets", *options, "--from-file", str(file), "--execute")
    expected = {"g": {0: "3", 1: "4"}, "h": {0: "5", 1: "10"}}
    for one in groups:
        assert offsets(tool("--describe", "--group", one), "CURRENT-OFFSET") == expected[one]
    assert sorted(tool("--list").split()) == list(groups)
    assert broker.terminate() == 0, broker.log()


def test_records_are_deleted_and_sizes_reported(
    tools: LineProcess, bootstrap: str, topic: str, tmp_path: Path
) -> None:
    def sizes() -> dict[str, int]:
        printed = run_tool(tools, "kafka-log-dirs", bootstrap, "--describe", "--topic-list", topic)
        [described] = [line for line in printed.splitlines() if line.startswith("{")]
        folders = [one for broker in json.loads(described)["brokers"] for one in broker["logDirs"]]
        assert {one["error"] for one in folders} == {None}
        return {one["partition"]: one["size"] for folder in folders for one in folder["partitions"]}

    Numbers(bootstrap, topic, partitions=2).produce(20)
    before = sizes()
    assert before.keys() == {f"{topic}-0", f"{topic}-1"}
    assert all(size > 0 for size in before.values())

    partitions = [{"topic": topic, "partition": 0, "offset": 4}]
    partitions += [{"topic": topic, "partition": 1, "offset": -1}]
    offsets = tmp_path / "offsets.json"
    offsets.write_text(json.dumps({"version": 1, "partitions": partitions}))
    printed = run_tool(tools, "kafka-delete-records", bootstrap, "--offset-json-file", str(offsets))

    assert f"partition: {topic}-0\tlow_watermark: 4" in printed, printed
    assert f"partition: {topic}-1\tlow_watermark: 10" in printed, printed


@ONE_BROKER
def test_one_broker_without_security_is_described_and_reassigned_to_itself(
    tools: LineProcess, bootstrap: str, topic: str, tmp_path: Path
) -> None:
    def tool(name: str, *arguments: str) -> str:
        return run_tool(tools, name, bootstrap, *arguments)

    acls = tool("kafka-acls", "--list")
    assert "SecurityDisabledException: No Authorizer is configured on the broker" in acls
    for entity in ("users", "clients", "ips"):
        assert tool("kafka-configs", "--describe", "--entity-type", entity) == ""

    assert "No partition reassignments found." in tool("kafka-reassign-partitions", "--list")
    moves = tmp_path / "moves.json"
    partitions = [{"topic": topic, "partition": 0, "replicas": [1]}]
    moves.write_text(json.dumps({"version": 1, "partitions": partitions}))
    reassign = ("kafka-reassign-partitions", "--reassignment-json-file", str(moves))
    assert f"Successfully started partition reassignment for {topic}-0" in tool(
        *reassign, "--execute"
    )
    assert f"Reassignment of partition {topic}-0 is completed." in tool(*reassign, "--verify")

    preferred = ("kafka-leader-election", "--election-type", "preferred")
    assert tool(*preferred, "--all-topic-partitions") == ""
    elected = tool(*preferred, "--topic", topic, "--partition", "0")
    assert f"Valid replica already elected for partitions {topic}-0" in elected


@ONE_BROKER
def test_the_tools_of_a_cluster_work_with_one_broker(
    tools: LineProcess, bootstrap: str, topic: str, tmp_path: Path
) -> None:
    def tool(name: str, *arguments: str) -> str:
        return run_tool(tools, name, bootstrap, *arguments)

    def reassign(action: str, log_dir: str = "any") -> str:
        moved = {"topic": topic, "partition": 0, "replicas": [1], "log_dirs": [log_dir]}
        moves.write_text(json.dumps({"version": 1, "partitions": [moved]}))
        return tool("kafka-reassign-partitions", action, "--reassignment-json-file", str(moves))

    moves = tmp_path / "moves.json"
    status = tool("kafka-metadata-quorum", "describe", "--status")
    assert re.search(r"MaxFollowerLag: +0\nMaxFollowerLagTimeMs: +0\n", status), status
    assert f"PLAINTEXT://{bootstrap}" in status
    replication = tool("kafka-metadata-quorum", "describe", "--replication")
    assert replication.split()[-1] == "Leader"

    levels = r"group.version\s+SupportedMinVersion: 1\s.*FinalizedVersionLevel: 1\s"
    assert re.search(levels, tool("kafka-features", "describe"))
    upgrade = ("kafka-features", "upgrade", "--feature")
    assert tool(*upgrade, "group.version=1") == "group.version was upgraded to 1.\n"
    assert "Could not upgrade group.version to 2." in tool(*upgrade, "group.version=2")

    cluster_id = re.search("ClusterId: +(.+)", status)
    assert cluster_id
    assert tool("kafka-cluster cluster-id") == f"Cluster ID: {cluster_id[1]}\n"
    unregister = ("kafka-cluster unregister", "--id")
    assert "Broker ID 9 is not currently registered" in tool(*unregister, "9")
    assert "InvalidRequestException" in tool(*unregister, "1")
    assert " unfenced " in tool("kafka-cluster list-endpoints")

    topics = tmp_path / "topics.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": topic}]}))
    chosen = ("--topics-to-move-json-file", str(topics), "--broker-list", "1")
    generated = tool("kafka-reassign-partitions", "--generate", *chosen)
    now, proposed = (json.loads(line) for line in re.findall("{.*}", generated))
    assert [one["log_dirs"] for one in proposed["partitions"]] == [["any"], ["any"]]
    [log_dir] = now["partitions"][0]["log_dirs"]
    assert "Successfully started moving log directory" in reassign("--execute", log_dir)
    assert f"Reassignment of replica {topic}-0-1 completed" in reassign("--verify", log_dir)
    assert "LogDirNotFoundException" in reassign("--execute", "/no/such/log/dir")
    assert "None of the specified partition reassignments are active." in reassign("--cancel")

    unclean = ("kafka-leader-election", "--election-type", "unclean", "--all-topic-partitions")
    assert tool(*unclean) == ""


@ONE_BROKER
def test_transactions_are_listed_described_and_terminated(
    tools: LineProcess, bootstrap: str, topic: str
) -> None:
    def run(*arguments: str) -> str:
        printed = run_tool(tools, "kafka-transactions", bootstrap, *arguments)
        return "".join(line for line in printed.splitlines(True) if not line.startswith("SLF4J"))

    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic, "log_level": 0})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    producer.produce(topic, b"1", partition=1)
    producer.flush()
    assert ottla(bootstrap, "txn", "list") == run("list")
    described = run("describe", "--transactional-id", topic).splitlines()[1].split()
    same = ottla(bootstrap, "txn", "describe", topic).splitlines()[1].split()
    assert (described[:7], described[8]) == (same[:7], same[8])
    assert (described[4], described[8]) == ("Ongoing", f"{topic}-1")
    producers = run("describe-producers", "--topic", topic, "--partition", "1")
    assert ottla(bootstrap, "txn", "describe-producers", topic, "1") == producers
    assert producers.splitlines()[1].split()[-1] == "0"
    hanging = run("find-hanging", "--topic", topic, "--max-transaction-timeout", "0")
    assert ottla(bootstrap, "txn", "find-hanging", topic) == hanging

    run("forceTerminateTransaction", "--transactionalId", topic)
    with pytest.raises(KafkaException):
        producer.commit_transaction(PATIENCE_S)
    assert run("abort", "--topic", topic, "--partition", "1", "--start-offset", "0").startswith(
        "Could not find any open transactions"
    )
    assert "Ongoing" not in run("list", "--transactional-id-pattern", topic)
