"""Users, how clients authenticate, and what they may do."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from application.broker import SecurityServices
from application.ports.token_validator import TokenValidator
from application.security.acls import AclService
from application.security.authentication import Authentication
from application.security.users import Users
from domain.configs.listener_security import ListenerSecurity
from domain.security.scram import Decoys
from infrastructure.security.password_hashing import InlineHashing, ThreadedHashing
from interfaces.main.container.core import Core

#: Runs a callback of a thread on the loop.
ToLoop = Callable[[Callable[[], None]], None]


def make_security(
    core: Core, decoy_secret: bytes, to_loop: ToLoop | None, acls: AclService | None
) -> SecurityServices:
    """Without `to_loop` passwords are salted on the loop; `acls`: of an authorizer."""

    def new_token_validator(security: ListenerSecurity) -> TokenValidator:
        from infrastructure.security.token_validator import token_validator

        return token_validator(security, core.clock, core.events, to_loop or core.scheduler.soon)

    passwords = InlineHashing() if to_loop is None else ThreadedHashing(to_loop)
    decoys = Decoys(decoy_secret)
    users = Users(core.users, decoys, core.commits, core.cluster_changes, core.events)
    return SecurityServices(
        users=users,
        passwords=passwords,
        authentication=Authentication(
            users,
            passwords,
            lambda: secrets.token_urlsafe(24),
            new_token_validator,
            core.clock,
        ),
        acls=acls,
    )
