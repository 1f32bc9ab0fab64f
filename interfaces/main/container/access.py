"""Access control, if the settings turn it on."""

from __future__ import annotations

from application.ports.authorizer import Authorizer
from application.security.acl_authorizer import AclAuthorizer
from application.security.acls import AclService, AclState
from domain.security.authorization import AclIndex
from domain.security.principal import parse_principals
from interfaces.main.container.core import Core


def make_access(core: Core, without_acls: Authorizer) -> tuple[Authorizer, AclService | None]:
    config = core.config
    if not config.authorizer_class_name:
        return without_acls, None
    super_users = map(str, parse_principals(config.super_users))
    index = AclIndex(super_users, config.allow_everyone_if_no_acl_found)
    authorizer = AclAuthorizer(index)
    return authorizer, AclService(
        AclState(core.acls, authorizer, core.commits, core.cluster_changes)
    )
