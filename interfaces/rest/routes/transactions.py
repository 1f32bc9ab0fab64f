"""Transactions: their producers, and the partitions in which they are open."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from domain.errors import BrokerError, TransactionalIdNotFound
from domain.security.access import ResourceType
from domain.transactions.transaction import Transaction
from interfaces.rest.exchange import Exchange, exchange_of
from interfaces.rest.pages import Paged
from interfaces.rest.pending import value_of
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, get, post
from interfaces.rest.shapes.common import ListOf, body
from interfaces.rest.shapes.transactions import TransactionBody
from interfaces.rest.urls import Urls


class TransactionRoutes(Routes):
    tag = "transactions"
    prefix = "/transactions"

    @get("", ListOf[TransactionBody])
    async def list_transactions(self, request: Request, page: Paged) -> Response:
        found = self._describable(
            request,
            ResourceType.TRANSACTIONAL_ID,
            self._broker.transactions.registry,
            _transactional_id,
        )
        transactions = sorted(found, key=_transactional_id)
        return await self._page(
            request,
            "KafkaTransactionList",
            page,
            transactions,
            _transactional_id,
            partial(self._body, exchange_of(request)),
        )

    @get("/{transactional_id}", TransactionBody)
    async def get_transaction(self, request: Request, transactional_id: str) -> JsonResponse:
        found = self._transaction(transactional_id)
        return JsonResponse(self._body(exchange_of(request), found, self._urls(request)))

    @post("/{transactional_id}:abort", TransactionBody)
    async def abort_transaction(self, request: Request, transactional_id: str) -> JsonResponse:
        """Aborts the open transaction, if there is one, and fences the producer."""
        found = self._transaction(transactional_id)
        outcome = await value_of(
            self._broker.transactions.take_over.run(transactional_id, found.timeout_ms)
        )
        if isinstance(outcome, BrokerError):
            raise outcome
        return await self.get_transaction(request, transactional_id)

    def _transaction(self, transactional_id: str) -> Transaction:
        registry = self._broker.transactions.registry
        registry.check_here(transactional_id)
        found = registry.find(transactional_id)
        if found is None:
            raise TransactionalIdNotFound(f"There is no transactional id {transactional_id}")
        return found

    def _body(self, exchange: Exchange, one: Transaction, at: Urls) -> dict[str, Any]:
        """Without topics and groups that the principal may not describe."""
        open_for_ms = self._admin.clock.now_ms() - one.started_ms if one.is_open else None
        return body(
            TransactionBody,
            at,
            one,
            open_for_ms=open_for_ms,
            partitions=[
                self._partition_body(one, name, index)
                for name, index in sorted(one.partitions)
                if exchange.may_describe(ResourceType.TOPIC, name)
            ],
            consumer_groups=[
                group
                for group in sorted(one.groups)
                if exchange.may_describe(ResourceType.GROUP, group)
            ],
        )

    def _partition_body(self, one: Transaction, name: str, index: int) -> dict[str, Any]:
        topic = self._broker.catalog.topic(name)
        found = None if topic is None else self._broker.catalog.loaded_partition(topic, index)
        return {
            "topic_name": name,
            "partition_id": index,
            "first_offset": found and found.transactions.first_offset(one.producer_id),
            "last_stable_offset": found and found.last_stable_offset,
            "high_watermark": found and found.high_watermark,
        }


def _transactional_id(one: Transaction) -> str:
    return one.transactional_id
