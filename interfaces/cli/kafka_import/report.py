"""What the command prints of a plan."""

from __future__ import annotations

from typing import Any

from interfaces.cli.kafka_import.plan import Plan
from interfaces.cli.output import cell, show, table

_TOPIC_COLUMNS = ("topic", "partitions", "records", "bytes")


def show_plan(plan: Plan, output: str) -> None:
    rows = [
        {
            "topic": topic.name,
            "partitions": len(topic.partitions),
            "records": topic.records,
            "bytes": topic.size_bytes,
        }
        for topic in plan.topics
    ]
    facts: dict[str, Any] = {
        "source": plan.source,
        "cluster_id": plan.cluster_id,
        "topics": len(plan.topics),
        "partitions": sum(1 for _ in plan.partitions()),
        "records": plan.records,
        "bytes": plan.size_bytes,
        "groups": len(plan.group_ids),
        "committed_offsets": len(plan.offsets),
        "transactional_ids": len(plan.transactions),
        "open_transactions": sum(one.is_open or one.is_prepared for one in plan.transactions),
        "users": len(plan.users),
        "acls": len(plan.acls),
        "quotas": len(plan.quotas),
        "configs": sum(len(configs) for configs in plan.configs.values()),
        "next_producer_id": plan.next_producer_id,
        "leader_epoch": plan.leader_epoch,
    }
    heads = [
        f"{name.upper().replace('_', ' '):<18} {value:,}"
        if isinstance(value, int)
        else f"{name.upper().replace('_', ' '):<18} {value}"
        for name, value in facts.items()
    ]
    details = {
        "topic_details": rows,
        "group_ids": plan.group_ids,
        "user_names": sorted(plan.users),
        "skipped": [one._asdict() for one in plan.skipped],
        "notes": plan.notes,
    }
    lines = [*heads, "", table(_TOPIC_COLUMNS, rows)]
    if plan.notes:
        lines += ["", "NOT IMPORTED, AND NOT NEEDED", *(f"  {cell(one)}" for one in plan.notes)]
    if plan.skipped:
        lines += ["", "CANNOT BE IMPORTED", *skipped_lines(plan)]
    show({**facts, **details}, output, "\n".join(lines))


def skipped_lines(plan: Plan) -> list[str]:
    return [f"  {cell(one.what)}: {cell(one.why)}" for one in plan.skipped]
