"""ACLs, in the shapes of Confluent's v3, and the question what somebody may do."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from application.security.acls import AclService
from domain.errors import SecurityDisabled
from domain.security.acl import AclFilter
from domain.security.principal import Principal, parse_principals
from interfaces.rest.errors import RestError
from interfaces.rest.pending import only
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, get, post, route
from interfaces.rest.shapes.acls import (
    AclBody,
    AclDecision,
    AclFields,
    AclQuery,
    TestAcl,
    acl_body,
    asked,
)
from interfaces.rest.shapes.common import ListOf

_LIST = "KafkaAclList"


class AclRoutes(Routes):
    tag = "acls"
    prefix = "/acls"

    @get("", ListOf[AclBody])
    async def list_acls(self, request: Request, query: Annotated[AclQuery, Query()]) -> Response:
        at = self._urls(request)
        found = sorted(self._acls().find(query.filter()), key=str)
        return await self._list(request, _LIST, (acl_body(one, at) for one in found))

    @post("", AclBody, status_code=201)
    async def create_acl(self, request: Request, body: AclFields) -> JsonResponse:
        """One that exists already is created again without an error."""
        binding = body.binding()
        await only(lambda: self._acls().create([binding]))
        return JsonResponse(acl_body(binding, self._urls(request)), 201)

    @route("DELETE", "", ListOf[AclBody])
    async def delete_acls(self, request: Request, query: Annotated[AclQuery, Query()]) -> Response:
        """Deletes those that match, and responds with them; at least one field is needed."""
        matching, at = query.filter(), self._urls(request)
        if matching == AclFilter():
            raise RestError(422, "name at least one field of the ACLs to delete", 42201)
        deleted = await only(lambda: self._acls().delete([matching]))
        return await self._list(request, _LIST, (acl_body(one, at) for one in deleted))

    @post(":test", AclDecision)
    async def test_acl(self, request: Request, body: TestAcl) -> JsonResponse:
        """Whether a principal may do something, and why; changes nothing."""
        kind, _, name = body.principal.partition(":")
        principal = Principal(kind, name)
        operation, resource_type = asked(body)
        allowed, acl = self._acls().decide(
            principal, body.host, operation, resource_type, body.resource_name
        )
        if acl is not None:
            why = "this ACL decides"
        elif not allowed:
            why = f"no ACL allows {principal} {operation.value} of {body.resource_name}"
        elif principal in parse_principals(self._broker.config.super_users):
            why = f"{principal} is in super.users"
        else:
            why = "the resource has no ACL, and allow.everyone.if.no.acl.found is true"
        found = None if acl is None else acl_body(acl, self._urls(request))
        return JsonResponse({"allowed": allowed, "reason": why, "acl": found})

    def _acls(self) -> AclService:
        acls = self._broker.security.acls
        if acls is None:
            raise SecurityDisabled("the broker has no authorizer (authorizer.class.name)")
        return acls
