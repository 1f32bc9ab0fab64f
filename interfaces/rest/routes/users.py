"""Users with SCRAM credentials, as DescribeUserScramCredentials and AlterUserScramCredentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from application.security.users import NONE, Deletion, Upsertion
from domain.errors import BrokerError
from domain.security.scram import Credentials
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pages import Paged
from interfaces.rest.pending import value_of, when_loaded
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, delete, get, route
from interfaces.rest.shapes.common import ListOf, body, fields
from interfaces.rest.shapes.users import MECHANISMS, CredentialBody, SetUser, UserBody
from interfaces.rest.urls import Urls


class UserRoutes(Routes):
    tag = "users"
    prefix = "/users"

    @get("", ListOf[UserBody])
    async def list_users(self, request: Request, page: Paged) -> Response:
        found = self._broker.security.users.describe(None)
        return await self._page(request, "KafkaUserList", page, list(found), str, self._body)

    @get("/{user_name}", UserBody)
    async def get_user(self, request: Request, user_name: str) -> JsonResponse:
        self._credentials(user_name)
        return JsonResponse(self._body(user_name, self._urls(request)))

    @route("PUT", "/{user_name}", UserBody)
    async def set_user(self, request: Request, user_name: str, body: SetUser) -> JsonResponse:
        """Creates the user, or changes the password. Only salted passwords are stored."""
        security = self._broker.security
        password = body.password.get_secret_value()
        upsertions = []
        for mechanism in dict.fromkeys(MECHANISMS[name] for name in body.mechanisms):
            salted = security.passwords.salted(mechanism, password, body.iterations)
            salt, salted_password = await value_of(salted)
            upsertions.append(
                Upsertion(user_name, mechanism, body.iterations, salt, salted_password)
            )
        await self._alter(request, user_name, upsertions)
        return await self.get_user(request, user_name)

    @delete("/{user_name}")
    async def delete_user(self, request: Request, user_name: str) -> Response:
        """Open connections of the user stay, until `connections.max.reauth.ms`."""
        deletions = [Deletion(user_name, one) for one in self._credentials(user_name)]
        await self._alter(request, user_name, deletions)
        return Response(status_code=204)

    async def _alter(
        self, request: Request, user: str, alterations: Sequence[Deletion | Upsertion]
    ) -> None:
        users, by = self._broker.security.users, exchange_of(request).requester
        for one in await when_loaded(lambda: users.alter_in_turn(alterations, by)):
            refused = (await value_of(one))[user]
            if refused is not None:
                raise refused

    def _credentials(self, name: str) -> Credentials:
        found = self._broker.security.users.describe([name])[name]
        if isinstance(found, BrokerError):
            raise found
        return found

    def _body(self, name: str, at: Urls) -> dict[str, Any]:
        found = self._broker.security.users.describe([name])[name]
        credentials = NONE if isinstance(found, BrokerError) else found
        return body(
            UserBody,
            at,
            user_name=name,
            credentials=[fields(CredentialBody, one) for one in credentials.values()],
        )
