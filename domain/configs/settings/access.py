"""Access control: the authorizer and what it allows without an ACL."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind

STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class AccessSettings:
    authorizer_class_name: str = setting(
        "authorizer.class.name",
        STRING,
        "",
        "With Kafka's standard authorizer, ACLs decide what each client may do; empty: every "
        "client may do everything.",
        choices=("", STANDARD_AUTHORIZER),
    )
    super_users: str = setting(
        "super.users",
        STRING,
        "",
        "Principals that may do everything, separated by semicolons, as in User:admin;User:ops.",
    )
    allow_everyone_if_no_acl_found: bool = setting(
        "allow.everyone.if.no.acl.found",
        BOOLEAN,
        False,
        "Whether everybody may use a resource without any ACL; otherwise only super users may.",
    )
