"""kafka-acls and a broker with the standard authorizer."""

from __future__ import annotations

from pathlib import Path

from domain.configs.settings.access import STANDARD_AUTHORIZER
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.groups.kafka_tools import run_tool
from tests.e2e.line_process import LineProcess


def test_kafka_acls_adds_lists_and_removes_acls(tools: LineProcess, tmp_path: Path) -> None:
    settings = (f"authorizer.class.name={STANDARD_AUTHORIZER}", "super.users=User:ANONYMOUS")
    options = [word for one in settings for word in ("--set", one)]
    with BrokerProcess(tmp_path, "memory", options) as broker:

        def acls(*arguments: str) -> str:
            return run_tool(tools, "kafka-acls", broker.bootstrap, *arguments)

        orders = ("--allow-principal", "User:alice", "--topic", "orders", "--group", "g")
        assert "Adding ACLs for resource" in acls("--add", "--consumer", *orders)
        prefixed = ("--topic", "o", "--resource-pattern-type", "prefixed", "--operation", "Write")
        acls("--add", "--deny-principal", "User:bob", "--deny-host", "10.0.0.1", *prefixed)
        listed = acls("--list", "--topic", "orders", "--resource-pattern-type", "match")
        assert "(principal=User:alice, host=*, operation=READ, permissionType=ALLOW)" in listed
        assert "(principal=User:bob, host=10.0.0.1, operation=WRITE, permissionType=DENY)" in listed
        assert "resourceType=GROUP, name=g, patternType=LITERAL" in acls("--list")
        acls("--remove", "--force", "--topic", "orders", "--group", "g")
        left = acls("--list")
        assert "User:alice" not in left and "User:bob" in left
