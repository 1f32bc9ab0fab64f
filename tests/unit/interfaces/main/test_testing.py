"""A broker with `testing`: snapshots, and the broker that is composed again over them."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from domain.errors import InvalidRequest, ResourceNotFound, StorageFailed
from infrastructure.observability.event_log import open_event_log
from interfaces.main.container import testing
from interfaces.main.container.app import App
from interfaces.main.container.testing import BrokerTesting
from interfaces.rest.pending import value_of
from tests.fakes.settings import settings

Story = Callable[[App, BrokerTesting], Awaitable[None]]


def run(story: Story, **given: str) -> None:
    chosen = settings(**({"listeners": "127.0.0.1:0", "storage": "memory://"} | given))

    async def main() -> None:
        loop = asyncio.get_running_loop()
        app = App(chosen, loop, open_event_log(io.BytesIO(), "json"))
        app.start_upkeep()
        try:
            assert app._testing is not None
            await story(app, app._testing)
        finally:
            app.close()

    asyncio.run(main())


def test_a_restored_broker_is_a_new_one_behind_the_same_listeners() -> None:
    async def story(app: App, control: BrokerTesting) -> None:
        [listener], admin = app.listeners, app._admin_values
        before, shared, cluster_id = app.broker, listener.shared, app.cluster_id
        await control.restore_snapshot(control.take_snapshot())
        assert app.listeners == [listener]
        assert listener.shared is not shared and listener.shared.broker is app.broker
        assert admin.broker is app.broker is not before
        assert app.cluster_id == cluster_id
        assert before.background.is_over and not app.broker.background.is_over

    run(story, testing="true")


def test_timers_of_the_replaced_broker_are_cancelled() -> None:
    async def story(app: App, control: BrokerTesting) -> None:
        snapshot_id = control.take_snapshot()
        counts = []
        for _ in range(3):
            await control.restore_snapshot(snapshot_id)
            counts.append(len(control.scheduler.timers))
        assert len(set(counts)) == 1

    run(story, testing="true")


def test_producer_ids_of_surviving_clients_are_not_reused_after_a_restore() -> None:
    async def story(app: App, control: BrokerTesting) -> None:
        async def new_producer_id() -> int:
            new = await value_of(app.broker.messages.init_producer_id.new_producer_id())
            assert isinstance(new, int)
            return new

        snapshot_id = control.take_snapshot()
        producer_ids = []
        for _ in range(3):
            producer_ids.append(await new_producer_id())
            await control.restore_snapshot(snapshot_id)
            durable = int(app.storage.state.get("cluster", b"next_producer_id") or 0)
            assert durable > producer_ids[-1], "also if the broker is killed now"
        assert len(set(producer_ids)) == 3

    run(story, testing="true")


def test_a_commit_that_is_under_way_ends_before_the_data_is_replaced() -> None:
    async def story(app: App, control: BrokerTesting) -> None:
        snapshot_id = control.take_snapshot()
        outcomes: list[StorageFailed | None] = []
        app.storage.state.put("topics", b"staged", b"")
        app.broker.commits.when_committed(outcomes.append)
        await control.restore_snapshot(snapshot_id)
        assert outcomes == [None]
        assert app.storage.state.get("topics", b"staged") is None

    run(story, testing="true")


def test_the_broker_goes_on_with_its_data_if_a_snapshot_cannot_be_restored() -> None:
    class Damaged:
        def restore(self, stage: object) -> None:
            raise StorageFailed("no")

        def delete(self) -> None: ...

    async def story(app: App, control: BrokerTesting) -> None:
        control._take = Damaged
        with pytest.raises(StorageFailed):
            await control.restore_snapshot(control.take_snapshot())
        assert not app.broker.background.is_over
        assert app._admin_values.broker is app.broker

    run(story, testing="true")


def test_a_snapshot_is_not_deleted_while_it_is_restored() -> None:
    async def story(app: App, control: BrokerTesting) -> None:
        done: list[str] = []

        class Noting:
            def restore(self, stage: object) -> None:
                done.append("restored")

            def delete(self) -> None:
                done.append("deleted")

        control._take = Noting
        snapshot_id = control.take_snapshot()
        app.broker.commits.when_committed(lambda _failure: None)  # the restore waits for it
        await asyncio.gather(
            control.restore_snapshot(snapshot_id), control.delete_snapshot(snapshot_id)
        )
        assert done == ["restored", "deleted"]

    run(story, testing="true")


def test_the_number_of_snapshots_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "MAX_SNAPSHOTS", 1)

    async def story(app: App, control: BrokerTesting) -> None:
        snapshot_id = control.take_snapshot()
        with pytest.raises(InvalidRequest):
            control.take_snapshot()
        await control.delete_snapshot(snapshot_id)
        with pytest.raises(ResourceNotFound):
            await control.delete_snapshot(snapshot_id)
        control.take_snapshot()

    run(story, testing="true")


def test_offsets_in_a_database_are_not_part_of_a_snapshot(tmp_path: Path) -> None:
    async def story(app: App, control: BrokerTesting) -> None:
        with pytest.raises(InvalidRequest, match="offsets"):
            control.take_snapshot()

    data = {"storage": f"lmdb://{tmp_path}", "offsets": "sqlite://", "testing": "true"}
    run(story, **data)


def test_a_broker_without_testing_has_nothing_of_it() -> None:
    async def main() -> None:
        chosen = settings(listeners="127.0.0.1:0", storage="memory://")
        loop = asyncio.get_running_loop()
        app = App(chosen, loop, open_event_log(io.BytesIO(), "json"))
        assert app._testing is app._admin_values.testing is None
        route = app.listeners[0].shared.routes.find(18, 4)
        assert route is not None and route.cached_responses is not None
        assert route.handle is route.api.handler().handle
        app.close()

    asyncio.run(main())
